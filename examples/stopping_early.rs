//! How many judgements does a verdict take when one looks after every item, and is it as often wrong? On the recorded examples.
//!
//! ```sh
//! cargo run --release --example stopping_early        # 200 draws a judge
//! cargo run --release --example stopping_early -- 50  # fewer, the first of them
//! ```
//!
//! The items of each example are taken as all there are, so that it is known which limits its judge keeps. Items are drawn from them with
//! replacement and audited: once at 400 of them; along a plan of 400, until the first verdict or until none is likely any more; after every item, by
//! evidence that holds for ever, until the first verdict, at most 400; and the same, at most 1,200.
//! Prints the table of `docs/explanation/stopping-early.md`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use assize::config::read_settings;
use assize::formats::columns::ColumnMap;
use assize::formats::{ReadError, ReadOptions, Sink, read};
use assize_calibration::audit::result::{Fitness, JudgeAudit};
use assize_calibration::audit::{AuditConfig, LookOrder, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::Judgement;
use assize_calibration::log::Log;
use assize_calibration::problem::Problem;
use rayon::prelude::*;

/// The limits watched: those of the built-in gate that are means of items.
const WATCHED: [&str; 7] = [
    "unparsed_rate",
    "flip_rate",
    "moved_over_one_point",
    "swap_consistency",
    "accuracy",
    "false_accept_rate",
    "false_reject_rate",
];
/// Draws a judge, where the command line asks for no other number.
const N_RUNS: u64 = 200;
/// Items of the design that is looked at once; whoever may stop early may also go on longer.
const N_ITEMS: usize = 400;
const N_LONGER: usize = 3;

/// Judgements by judge and arm, then by cluster.
#[derive(Default)]
struct Population {
    by_judge: BTreeMap<(String, Option<String>), BTreeMap<String, Vec<Judgement<'static>>>>,
}

impl Sink for Population {
    fn judgement(&mut self, judgement: &Judgement<'_>, _line: u64) -> Result<(), ReadError> {
        // Through its own notation, so that it owns its text.
        let text = serde_json::to_string(judgement).expect("a judgement is plain data");
        let owned: Judgement<'static> = serde_json::from_str(&text).expect("what was written can be read");
        if owned.rater.is_none() {
            let judge = (owned.judge.clone().into_owned(), owned.arm.clone().map(std::borrow::Cow::into_owned));
            let cluster = owned.group.as_ref().unwrap_or(&owned.item).clone().into_owned();
            self.by_judge.entry(judge).or_default().entry(cluster).or_default().push(owned);
        }
        Ok(())
    }

    fn problem(&mut self, _problem: Problem) {}
}

/// A small generator of its own, so that the table is the same whatever the versions of crates.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((u128::from(self.0) * n as u128) >> 64).expect("it is below n")
    }
}

/// Returns a log of `clusters`, each under a name of its own.
fn log_of(clusters: &[&Vec<Judgement<'static>>]) -> Log {
    let mut log = Log::default();
    for (idx, rows) in clusters.iter().enumerate() {
        for row in *rows {
            let item = format!("{idx}:{}", row.item).into();
            let group = row.group.is_some().then(|| idx.to_string().into());
            log.push(&Judgement { item, group, content: None, ..row.clone() }, 0);
        }
    }
    log
}

/// What became of one way to audit over all runs.
#[derive(Default)]
struct Outcome {
    right: u64,
    wrong: u64,
    /// Runs that came to what one look at all came to, were it "inconclusive".
    same: u64,
    /// Judgements of each run, as a share of those of one look.
    shares: Vec<f64>,
}

impl Outcome {
    fn add(&mut self, fitness: Fitness, [truth, once]: [Fitness; 2], share: f64) {
        self.right += u64::from(fitness == truth);
        self.wrong += u64::from(fitness != truth && fitness != Fitness::Inconclusive);
        self.same += u64::from(fitness == once);
        self.shares.push(share);
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Returns which verdict would be right, were these all the items there are.
fn truth(judge: &JudgeAudit) -> Fitness {
    let is_kept = judge.limits.iter().all(|limit| {
        judge.measures.get(&limit.measure).is_none_or(|measure| match limit.side.as_str() {
            "min" => measure.estimate >= limit.limit,
            _ => measure.estimate <= limit.limit,
        })
    });
    if is_kept { Fitness::Fit } else { Fitness::Unfit }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut stdout = std::io::stdout();
    let n_runs: u64 = std::env::args().nth(1).map_or(Ok(N_RUNS), |n| n.parse())?;
    let mut gate = Gate { truth_optional: true, ..Gate::built_in() };
    gate.limits.retain(|id, _| WATCHED.contains(&id.as_str()));
    writeln!(
        stdout,
        "| set | judge | in truth | once: right, wrong | planned: right, wrong, as once, judgements (median) | \
         for ever: right, wrong, judgements | longer: right, wrong, judgements |"
    )?;
    writeln!(stdout, "|---|---|---|---|---|---|---|")?;
    let mut used: [Vec<f64>; 3] = Default::default();
    for (name, file) in [
        ("rewardbench2", "scores.csv"),
        ("xstest", "verdicts.csv"),
        ("llmbar", "verdicts.csv"),
        ("position-bias", "verdicts.csv"),
    ] {
        let folder = Path::new("examples").join(name);
        let settings = read_settings(&folder.join("audit.toml"))?;
        let columns = settings.columns.unwrap_or_else(ColumnMap::default);
        let mut population = Population::default();
        read(&folder.join(file), &ReadOptions { columns }, &mut population)?;
        let once = AuditConfig { judge: None, arm: None, ..settings.audit };
        let anytime = AuditConfig { anytime: Some(LookOrder::Log), ..once.clone() };
        let planned = AuditConfig { planned_items: Some(N_ITEMS as u64), ..once.clone() };
        for ((judge, arm), clusters) in &population.by_judge {
            let clusters: Vec<_> = clusters.values().collect();
            let everything = audit(&log_of(&clusters), &once, &gate)?.judges.remove(0);
            let n = N_ITEMS * clusters.len() / usize::try_from(everything.n_items)?;
            let truth = truth(&everything);
            type Taken = [(Fitness, f64); 4];
            let draw = |run: u64| -> Result<Taken, Box<dyn std::error::Error + Send + Sync>> {
                let mut random = Lcg(run);
                // Neighbouring seeds begin alike.
                (0..8).for_each(|_| {
                    random.below(2);
                });
                let drawn: Vec<_> = (0..N_LONGER * n).map(|_| clusters[random.below(clusters.len())]).collect();
                let fixed = audit(&log_of(&drawn[..n]), &once, &gate)?.judges.remove(0);
                let mut taken = [(fixed.fitness, 1.0); 4];
                let ways = [(&planned, n), (&anytime, n), (&anytime, N_LONGER * n)];
                for (taken, (config, n)) in taken[1..].iter_mut().zip(ways) {
                    let looks = audit(&log_of(&drawn[..n]), config, &gate)?.judges.remove(0).looks;
                    let looks = looks.ok_or("looks were asked for")?;
                    // Whichever comes first: what came after giving up was not asked for.
                    let (fitness, n_judgements) = match (looks.futile, looks.decided) {
                        (Some(futile), _) => (Fitness::Inconclusive, futile.n_judgements),
                        (None, Some(decided)) => (decided.fitness, decided.n_judgements),
                        (None, None) => (Fitness::Inconclusive, looks.n_judgements),
                    };
                    *taken = (fitness, n_judgements as f64 / fixed.n_judgements as f64);
                }
                Ok(taken)
            };
            let runs: Result<Vec<Taken>, _> = (0..n_runs).into_par_iter().map(draw).collect();
            let mut outcomes: [Outcome; 4] = Default::default();
            for taken in runs.map_err(|err| err.to_string())? {
                for (outcome, (fitness, share)) in outcomes.iter_mut().zip(taken) {
                    outcome.add(fitness, [truth, taken[0].0], share);
                }
            }
            let share = |n: u64| 100.0 * n as f64 / n_runs as f64;
            let arm = arm.as_deref().map_or_else(String::new, |arm| format!(", {arm}"));
            let truth = if truth == Fitness::Fit { "fit" } else { "unfit" };
            write!(stdout, "| {name} | {judge}{arm} | {truth} |")?;
            for (idx, outcome) in outcomes.iter().enumerate() {
                write!(stdout, " {:.0} %, {:.1} %", share(outcome.right), share(outcome.wrong))?;
                if idx == 1 {
                    write!(stdout, ", {:.0} %", share(outcome.same))?;
                }
                if idx > 0 {
                    used[idx - 1].push(mean(&outcome.shares));
                    write!(stdout, ", {:.0} %", 100.0 * mean(&outcome.shares))?;
                }
                if idx == 1 {
                    write!(stdout, " ({:.0} %)", 100.0 * median(&outcome.shares))?;
                }
                write!(stdout, " |")?;
            }
            writeln!(stdout)?;
        }
    }
    for (used, name) in used.iter().zip(["planned", "for ever", "longer"]) {
        writeln!(
            stdout,
            "\n{name}: mean {:.0} %, median {:.0} % of the judgements of one look; at most half for {} of {} judges",
            100.0 * mean(used),
            100.0 * median(used),
            used.iter().filter(|used| **used <= 0.5).count(),
            used.len()
        )?;
    }
    Ok(())
}
