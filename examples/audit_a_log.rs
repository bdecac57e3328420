//! Audits a log from a program: collect judgements, audit, read the verdict and a measure.
//!
//! ```sh
//! cargo run -p assize-reports --example audit_a_log
//! ```

use std::io::Write as _;

use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut log = Log::default();
    for item in 0..200_u32 {
        let (is_good, is_mistaken) = (item % 2 == 0, item % 25 == 0);
        let judgement = Judgement {
            item: item.to_string().into(),
            judge: "my-judge".into(),
            verdict: Some(if is_good == is_mistaken { Verdict::Reject } else { Verdict::Accept }),
            label: Some(if is_good { "1" } else { "0" }.into()),
            ..Judgement::default()
        };
        log.push(&judgement, u64::from(item) + 1);
    }
    let audit = audit(&log, &AuditConfig::default(), &Gate::built_in())?;
    let accuracy = &audit.judges[0].measures["accuracy"];
    let (estimate, low) = (accuracy.estimate, accuracy.low.unwrap_or(0.0));
    let report = assize_reports::markdown(&audit);
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{report}\nAccuracy {estimate:.3}, at least {low:.3}: {:?}", audit.fitness)?;
    Ok(())
}
