//! How often the intervals of an audit hold the truth: simulates judges whose truth is known and prints a table.
//!
//! `cargo run --release -p assize-calibration --example coverage -- [REPLICATES] [MEASURE] [WORDS]`, the words being part of what is drawn

#![expect(clippy::print_stdout, reason = "the table is what this is for")]

mod scenarios;
mod simulate;

use rayon::prelude::*;

fn main() {
    let mut args = std::env::args().skip(1);
    let n = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(4_000);
    let measure = args.next();
    let words = args.next().unwrap_or_default();
    let scenarios: Vec<_> = scenarios::all()
        .into_iter()
        .filter(|scenario| measure.as_ref().is_none_or(|measure| scenario.measure == measure))
        .filter(|scenario| scenario.name.contains(&words))
        .collect();
    let lines: Vec<String> = scenarios
        .par_iter()
        .map(|scenario| {
            let found = simulate::simulate(scenario, n, 2026);
            let mark = if found.is_acceptable(scenario) { "" } else { " ✗" };
            let gate = found.wrongly_met.map_or_else(
                || "–".to_owned(),
                |[most, least]| format!("{most:.3}, {least:.3}{}", if found.is_safe_to_gate() { "" } else { " ✗" }),
            );
            let other = found.other.map_or_else(String::new, |(held, _)| format!("{held:.3}"));
            format!(
                "| `{}` | {} | {:.3} | {:.3}{mark} | {:.3} | {:.3} | {:.3} | {:.3} | {gate} | {other} |",
                scenario.measure,
                scenario.name,
                scenario.truth,
                found.held,
                found.below,
                found.above,
                found.width,
                found.undefined,
            )
        })
        .collect();
    println!(
        "| measure | drawn | truth | holds it | all below | all above | width | none | gate wrong | Thomas–Hultquist |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for line in lines {
        println!("{line}");
    }
}
