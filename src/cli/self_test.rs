//! `assize self-test`: the audit itself on trial, by simulated judges whose faults are known.

use std::fmt::Write as _;

use assize_calibration::audit::catalogue;
use assize_calibration::audit::result::Fitness;
use assize_calibration::self_test::{Check, SelfTest, self_test};
use assize_calibration::simulate::EFFECTIVE_JUDGES;

use super::printer::{Form, Printer};
use super::progress::{Gauge, Progress};
use super::status::{Failure, Status};
use super::values::{count, seed};

/// Put assize itself on trial: simulated judges with planted faults
///
/// Plants noise, position bias, leniency, effects of length, preference for its own work and shared errors in simulated judges,
/// audits them, and shows whether each interval holds what was planted. Judges without faults must raise nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize self-test
  assize self-test --seed 7
  assize self-test --runs 40        how often the 95 % intervals hold, too

Exit status: 0 everything was found and nothing else, 70 not.")]
pub(super) struct Args {
    /// Seed of the simulated judges
    #[arg(long, value_parser = seed, default_value = "1", allow_negative_numbers = true)]
    seed: u64,
    /// Further simulated judges of each kind, to see how often 95 % intervals hold
    #[arg(long, value_name = "N", value_parser = count::<u32>, default_value_t = 0)]
    runs: u32,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Status, Failure> {
    let progress = Progress::start(printer, "auditing simulated judges".to_owned(), Gauge::default());
    let result = self_test(args.seed, args.runs);
    drop(progress);
    let text = match printer.form() {
        Form::Json => format!("{:#}\n", serde_json::json!(result)),
        Form::Text => table(&result),
    };
    printer.data(&text)?;
    Ok(if result.passed { Status::Done } else { Status::Internal })
}

pub(super) fn table(result: &SelfTest) -> String {
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| {
        let _infallible = writeln!(text, "{line}");
    };
    let n_found = result.planted.iter().filter(|check| check.found).count();
    let n_clean = result.clean.iter().filter(|check| check.raised.is_empty()).count();
    line(format_args!(
        "{}: {n_found} of {} planted values found, {n_clean} of {} clean judges raise nothing (seed {})",
        if result.passed { "PASSED" } else { "FAILED" },
        result.planted.len(),
        result.clean.len(),
        result.seed
    ));
    let mut last_judge = "";
    for check in &result.planted {
        if check.judge != last_judge {
            last_judge = &check.judge;
            let held = check.held.map_or("", |_| "             95 % holds");
            line(format_args!("\n{last_judge:<37} planted  measured  interval{held}"));
        }
        line(format_args!("{}", row(check)));
    }
    line(format_args!("\nJudges without faults"));
    for check in &result.clean {
        let verdict = match check.fitness {
            Fitness::Fit => "fit",
            Fitness::Unfit => "unfit",
            Fitness::Inconclusive => "inconclusive",
        };
        let raised = if check.raised.is_empty() { "nothing raised".to_owned() } else { check.raised.join(" ") };
        let falsely = check.falsely_raised.map_or_else(String::new, |share| {
            format!("; of {} more, {:.1} % raised something", result.runs, 100.0 * share)
        });
        line(format_args!("  {:<31} {verdict}, {raised}{falsely}", check.judge));
    }
    line(format_args!(
        "\nIntervals of this table are at {:.3} %, so that all of them hold together with 99 %.",
        100.0 * result.level
    ));
    text
}

fn row(check: &Check) -> String {
    let title = match check.measure.as_str() {
        EFFECTIVE_JUDGES => "Independent judges it is worth",
        id => catalogue::info(id).map_or(id, |info| info.title),
    };
    let mark = if check.found { "✓" } else { "✗" };
    let measured = match (check.estimate, check.low, check.high) {
        (Some(estimate), Some(low), Some(high)) => format!("{estimate:>8.3}  [{low:.3}, {high:.3}]"),
        (Some(estimate), ..) => format!("{estimate:>8.3}  no interval"),
        _ => "not measured".to_owned(),
    };
    let held = check.held.map_or_else(String::new, |held| format!("{:>8.1} %", 100.0 * held));
    format!("  {mark} {title:<33} {:>8.3}  {measured:<28}{held}", check.planted).trim_end().to_owned()
}
