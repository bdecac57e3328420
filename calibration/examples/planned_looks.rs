//! How often a judge exactly at its limit gets a verdict along a plan of looks, beside one look at its end:
//! `cargo run --release -p assize-calibration --example planned_looks -- RUNS`.
//!
//! Either verdict should be as rare as 2.5 %. The figures are in docs/explanation/stopping-early.md.

use std::collections::BTreeMap;

use assize_calibration::audit::result::Fitness;
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::{Gate, Limit};
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// A rate, which is the limit, too; items; draws of each; the share of items whose draws all go together.
type Case = (f64, u32, u32, f64);

const CASES: [Case; 8] = [
    (0.05, 120, 1, 0.0),
    (0.05, 200, 1, 0.0),
    (0.1, 60, 4, 0.5),
    (0.1, 100, 4, 0.5),
    (0.3, 60, 4, 0.9),
    (0.3, 120, 4, 0.9),
    (0.5, 40, 2, 0.0),
    (0.5, 60, 2, 0.0),
];

/// Wrong items only, so that every accept is a false one.
fn drawn((rate, n_items, n_draws, alike): Case, rng: &mut ChaCha8Rng) -> Log {
    let mut log = Log::default();
    for item in 0..n_items {
        let common = (rng.random::<f64>() < alike).then(|| rng.random::<f64>() < rate);
        for repeat in 1..=n_draws {
            let accepts = common.unwrap_or_else(|| rng.random::<f64>() < rate);
            let judgement = Judgement {
                item: item.to_string().into(),
                judge: "at its limit".into(),
                verdict: Some(if accepts { Verdict::Accept } else { Verdict::Reject }),
                repeat: Some(repeat),
                label: Some("0".into()),
                ..Judgement::default()
            };
            log.push(&judgement, 0);
        }
    }
    log
}

/// Returns the verdict along a plan, where one was given, and that of one look.
fn verdicts(case: Case, run: u64) -> [Option<Fitness>; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    rng.set_stream(run);
    let log = drawn(case, &mut rng);
    let limit = Limit { max: Some(case.0), ..Limit::default() };
    let limits = BTreeMap::from([("false_accept_rate".to_owned(), limit)]);
    let gate = Gate { name: "at its limit".to_owned(), limits, truth_optional: true };
    let judge = |planned_items| {
        let config = AuditConfig { planned_items, ..AuditConfig::default() };
        let audited = audit(&log, &config, &gate).expect("a drawn log can be audited");
        audited.judges.into_iter().next().expect("a drawn log has one judge")
    };
    let along = judge(Some(u64::from(case.1))).looks.and_then(|looks| looks.decided).map(|decided| decided.fitness);
    let once = Some(judge(None).fitness).filter(|fitness| *fitness != Fitness::Inconclusive);
    [along, once]
}

#[expect(clippy::print_stdout, reason = "the example is there to print")]
fn main() {
    let n_runs = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(1_000_u64);
    println!("| rate and limit | items × draws | alike | plan: fit, unfit | once: fit, unfit |");
    println!("|---|---|---|---|---|");
    for case in CASES {
        let found: Vec<[Option<Fitness>; 2]> = (0..n_runs).into_par_iter().map(|run| verdicts(case, run)).collect();
        let share = |which: usize, fitness: Fitness| {
            found.iter().filter(|run| run[which] == Some(fitness)).count() as f64 / n_runs as f64
        };
        let (rate, n_items, n_draws, alike) = case;
        println!(
            "| {rate} | {n_items} × {n_draws} | {alike} | {:.3}, {:.3} | {:.3}, {:.3} |",
            share(0, Fitness::Fit),
            share(0, Fitness::Unfit),
            share(1, Fitness::Fit),
            share(1, Fitness::Unfit)
        );
    }
}
