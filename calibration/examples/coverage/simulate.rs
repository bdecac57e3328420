//! Draws logs, audits them, and counts how often the interval holds the truth.

use assize_calibration::audit::audit;
use assize_calibration::gate::{Gate, Limit, LimitState};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::scenarios::Scenario;

/// What became of the intervals of a scenario.
pub(crate) struct Coverage {
    pub(crate) n: u32,
    /// Share of intervals that hold the truth.
    pub(crate) held: f64,
    /// Share of intervals that lie below it.
    pub(crate) below: f64,
    /// Share of intervals that lie above it.
    pub(crate) above: f64,
    pub(crate) width: f64,
    /// Share of logs without an interval; the other shares leave them out.
    pub(crate) undefined: f64,
    /// The share held and the mean width of the other interval that the measure states, if it does.
    pub(crate) other: Option<(f64, f64)>,
    /// How often a gate calls a limit met that the truth just misses: the limit being a most, and a least. `None` where no gate may use it.
    pub(crate) wrongly_met: Option<[f64; 2]>,
}

impl Coverage {
    /// Whether a gate is wrong about either limit at most .03 of the time, less three Monte-Carlo standard errors; what no gate may use is.
    pub(crate) fn is_safe_to_gate(&self) -> bool {
        let most = 0.03 + 3.0 * (0.03 * 0.97 / f64::from(self.n)).sqrt();
        self.wrongly_met.is_none_or(|shares| shares.iter().all(|share| *share <= most))
    }

    /// Whether it holds the truth at least .945 of the time, at most .985 where there is enough to see, and misses on either
    /// side at most .03 of the time, each less three Monte-Carlo standard errors.
    pub(crate) fn is_acceptable(&self, scenario: &Scenario) -> bool {
        let error = |p: f64| 3.0 * (p * (1.0 - p) / f64::from(self.n)).sqrt();
        let p = scenario.truth.abs();
        let sees_enough = f64::from(scenario.n_clusters) * p.min(1.0 - p) >= 10.0;
        self.held >= 0.945 - error(0.945)
            && (!sees_enough || self.held <= 0.985 + error(0.985))
            && self.below.max(self.above) <= 0.03 + error(0.03)
    }
}

/// Simulates `n` replicates, each with its own stream of `seed`.
pub(crate) fn simulate(scenario: &Scenario, n: u32, seed: u64) -> Coverage {
    let (mut below, mut above, mut defined, mut width) = (0_u32, 0_u32, 0_u32, 0.0);
    let (mut other_n, mut other_held, mut other_width) = (0_u32, 0_u32, 0.0);
    let (mut is_gatable, mut met) = (false, [0_u32; 2]);
    // The truth misses either by a hair. A least that is broken wrongly is a most that is met wrongly, and the other way round.
    let limit = Limit { min: Some(scenario.truth + 1e-9), max: Some(scenario.truth - 1e-9), ..Limit::default() };
    let limits = [(scenario.measure.to_owned(), limit)].into();
    let gate = Gate { name: String::new(), limits, truth_optional: true };
    for replicate in 0..n {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::from(replicate));
        let log = (scenario.draw)(&mut rng);
        let Ok(audit) = audit(&log, &scenario.config, &gate) else { continue };
        let Some(measure) = audit.judges[0].measures.get(scenario.measure) else { continue };
        for result in &audit.judges[0].limits {
            is_gatable |= result.state != LimitState::Unmeasured;
            met[usize::from(result.side == "min")] += u32::from(result.state == LimitState::Met);
        }
        let stated = |name: &str| measure.details.get(name).copied();
        if let (Some(low), Some(high)) = (stated("thomas_hultquist_low"), stated("thomas_hultquist_high")) {
            other_n += 1;
            other_held += u32::from(low <= scenario.truth && scenario.truth <= high);
            other_width += high - low;
        }
        let (Some(low), Some(high)) = (measure.low, measure.high) else { continue };
        // Rounding decides nothing: a truth at the end of its range is held by an interval that ends there.
        below += u32::from(high < scenario.truth - 1e-9);
        above += u32::from(low > scenario.truth + 1e-9);
        defined += 1;
        width += high - low;
    }
    let share = |count: u32| f64::from(count) / f64::from(defined.max(1));
    Coverage {
        n: defined.max(1),
        held: 1.0 - share(below) - share(above),
        below: share(below),
        above: share(above),
        width: width / f64::from(defined.max(1)),
        undefined: 1.0 - f64::from(defined) / f64::from(n),
        wrongly_met: is_gatable.then(|| met.map(share)),
        other: (other_n > 0).then(|| (f64::from(other_held) / f64::from(other_n), other_width / f64::from(other_n))),
    }
}
