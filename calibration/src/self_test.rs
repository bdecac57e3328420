//! The audit put on trial: judges with planted faults, and whether the audit finds what was planted and nothing else.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::result::{Audit, FindingWeight, Fitness, Measure};
use crate::audit::{AuditConfig, audit};
use crate::gate::Gate;
use crate::log::NONE;
use crate::simulate::{ChoiceJudge, EFFECTIVE_JUDGES, PanelOfJudges, Planted, ScoreJudge, Simulated, VerdictJudge};

/// The name of this schema.
pub const SCHEMA: &str = "assize.self-test/1";
/// The chance that a right audit misses any planted value in the table of one run.
const ERROR_OF_TABLE: f64 = 0.01;

/// What the audit of simulated judges came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTest {
    /// `assize.self-test/1`.
    pub schema: String,
    /// The seed of the simulated judges.
    pub seed: u64,
    /// Whether every planted value was found and the clean judges raised nothing.
    pub passed: bool,
    /// Confidence level of each interval of the table and of the clean judges' audits, so that all hold together with probability .99.
    pub level: f64,
    /// One planted value each.
    pub planted: Vec<Check>,
    /// One clean judge each.
    pub clean: Vec<CleanCheck>,
    /// How many further simulated judges of each kind were audited for `held` and `raised`, at 95 %; 0: none.
    pub runs: u32,
}

/// A planted value, and what the audit says of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Which simulated judge.
    pub judge: String,
    /// What was planted, in words.
    pub fault: String,
    /// The measure that is to find it.
    pub measure: String,
    /// The true value.
    pub planted: f64,
    /// What the audit measured. Absent: it did not measure it.
    pub estimate: Option<f64>,
    /// The lower end of the interval.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// Whether the interval holds the true value.
    pub found: bool,
    /// Share of the further runs whose 95 % interval holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<f64>,
}

/// A judge without faults, and what the audit raised against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CleanCheck {
    /// Which simulated judge.
    pub judge: String,
    /// The verdict.
    pub fitness: Fitness,
    /// Findings that ask for a change.
    pub raised: Vec<String>,
    /// Share of the further runs that raised anything or were called unfit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub falsely_raised: Option<f64>,
}

/// A kind of simulated judge.
enum Simulator {
    Verdict(VerdictJudge),
    Choice(ChoiceJudge),
    Score(ScoreJudge),
    Panel(PanelOfJudges),
}

impl Simulator {
    fn name(&self) -> &'static str {
        match self {
            Self::Verdict(_) => "judge that accepts and rejects",
            Self::Choice(_) => "judge that chooses between two",
            Self::Score(_) => "judge that scores",
            Self::Panel(_) => "panel of seven judges",
        }
    }

    fn log(&self, seed: u64) -> Simulated {
        match self {
            Self::Verdict(judge) => judge.log(seed),
            Self::Choice(judge) => judge.log(seed),
            Self::Score(judge) => judge.log(seed),
            Self::Panel(panel) => panel.log(seed),
        }
    }

    fn faulty() -> [Self; 4] {
        [
            Self::Verdict(VerdictJudge {
                n_items: 800,
                n_repeats: 4,
                base_rate: 0.6,
                lenient: 0.25,
                strict: 0.1,
                noise: 0.1,
                unparsed: 0.03,
            }),
            Self::Choice(ChoiceJudge { n_items: 500, n_repeats: 3, right: 0.85, swayed: 0.3, noise: 0.05 }),
            Self::Score(ScoreJudge {
                n_items: 600,
                n_repeats: 3,
                inflation: 0.8,
                per_doubling: 0.4,
                own: 0.6,
                opinion_sd: 0.7,
                noise_sd: 0.6,
            }),
            Self::Panel(PanelOfJudges { n_items: 800, n_judges: 7, error: 0.2, shared: 0.4 }),
        ]
    }

    fn clean() -> [Self; 4] {
        [
            Self::Verdict(VerdictJudge {
                n_items: 800,
                n_repeats: 4,
                base_rate: 0.6,
                lenient: 0.02,
                strict: 0.03,
                noise: 0.01,
                unparsed: 0.0,
            }),
            Self::Choice(ChoiceJudge { n_items: 500, n_repeats: 3, right: 0.95, swayed: 0.0, noise: 0.02 }),
            Self::Score(ScoreJudge {
                n_items: 600,
                n_repeats: 3,
                inflation: 0.0,
                per_doubling: 0.0,
                own: 0.0,
                opinion_sd: 0.5,
                noise_sd: 0.15,
            }),
            Self::Panel(PanelOfJudges { n_items: 800, n_judges: 7, error: 0.05, shared: 0.0 }),
        ]
    }
}

/// Audits simulated judges, once for the table and `runs` times more for how often its 95 % intervals hold.
#[must_use]
pub fn self_test(seed: u64, runs: u32) -> SelfTest {
    let faulty = Simulator::faulty();
    let n_planted: usize = faulty.iter().map(|simulator| simulator.log(seed).planted.len()).sum();
    let level = 1.0 - ERROR_OF_TABLE / n_planted as f64;
    let planted: Vec<Check> = faulty.iter().flat_map(|simulator| checks(simulator, seed, level, runs)).collect();
    let clean: Vec<CleanCheck> =
        Simulator::clean().iter().map(|simulator| clean_check(simulator, seed, level, runs)).collect();
    let passed = planted.iter().all(|check| check.found)
        && clean.iter().all(|check| check.raised.is_empty() && check.fitness != Fitness::Unfit);
    SelfTest { schema: SCHEMA.to_owned(), seed, passed, level, planted, clean, runs }
}

fn audited(simulated: &Simulated, level: f64) -> Audit {
    let config = AuditConfig { level, ..AuditConfig::default() };
    audit(&simulated.log, &config, &Gate::built_in())
        .expect("a simulated log has judgements and the settings are in range")
}

/// Returns the measure, of the first judge or of the panel.
fn measure_of<'a>(audit: &'a Audit, id: &str) -> Option<&'a Measure> {
    if id == EFFECTIVE_JUDGES {
        return audit.panels.first()?.worth.as_ref()?.n_effective.as_ref();
    }
    audit.judges.first()?.measures.get(id)
}

fn holds(measure: Option<&Measure>, value: f64) -> bool {
    measure
        .is_some_and(|measure| measure.low.zip(measure.high).is_some_and(|(low, high)| (low..=high).contains(&value)))
}

fn checks(simulator: &Simulator, seed: u64, level: f64, runs: u32) -> Vec<Check> {
    let simulated = simulator.log(seed);
    let audit = audited(&simulated, level);
    let held: Vec<u32> = (0..runs)
        .into_par_iter()
        .map(|run| {
            let again = simulator.log(further_seed(seed, run));
            let audit = audited(&again, 0.95);
            again
                .planted
                .iter()
                .map(|planted| u32::from(holds(measure_of(&audit, planted.measure), planted.value)))
                .collect()
        })
        .reduce(
            || vec![0; simulated.planted.len()],
            |a: Vec<u32>, b: Vec<u32>| a.iter().zip(&b).map(|(a, b)| a + b).collect(),
        );
    let check = |(planted, held): (&Planted, u32)| {
        let measure = measure_of(&audit, planted.measure);
        Check {
            judge: simulator.name().to_owned(),
            fault: planted.fault.clone(),
            measure: planted.measure.to_owned(),
            planted: planted.value,
            estimate: measure.map(|measure| measure.estimate),
            low: measure.and_then(|measure| measure.low),
            high: measure.and_then(|measure| measure.high),
            found: holds(measure, planted.value),
            held: (runs > 0).then(|| f64::from(held) / f64::from(runs)),
        }
    };
    simulated.planted.iter().zip(held).map(check).collect()
}

fn clean_check(simulator: &Simulator, seed: u64, level: f64, runs: u32) -> CleanCheck {
    let raised = |audit: &Audit| -> Vec<String> {
        let of_panels = audit.panels.iter().flat_map(|panel| &panel.findings);
        let findings = audit.judges.iter().flat_map(|judge| &judge.findings).chain(of_panels);
        findings.filter(|finding| finding.weight == FindingWeight::Bad).map(|finding| finding.what.clone()).collect()
    };
    let audit = audited(&simulator.log(seed), level);
    let n_raised = (0..runs)
        .into_par_iter()
        .filter(|run| {
            let audit = audited(&simulator.log(further_seed(seed, *run)), 0.95);
            !raised(&audit).is_empty() || audit.fitness == Fitness::Unfit
        })
        .count();
    CleanCheck {
        judge: simulator.name().to_owned(),
        fitness: audit.fitness,
        raised: raised(&audit),
        falsely_raised: (runs > 0).then(|| n_raised as f64 / f64::from(runs)),
    }
}

/// Seeds of further runs, apart from that of the table.
fn further_seed(seed: u64, run: u32) -> u64 {
    seed ^ (u64::from(run) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(NONE)
}
