//! What a comparison of two judges says, on one that is undecided.

use assize_calibration::audit::result::SideBySide;
use assize_calibration::audit::{AuditConfig, CompareConfig, Side, Sides, compare_sides};
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use assize_reports::{TerminalOptions, comparison};

/// Two judges wrong on every fifth item, and on every seventh.
fn undecided() -> SideBySide {
    let side = |step: usize| {
        let mut log = Log::default();
        for item in 0..60_usize {
            let is_good = item % 2 == 0;
            let accepts = is_good != (item % step == 0);
            let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
            let label = Some(if is_good { "1" } else { "0" }.into());
            log.push(&Judgement { item: item.to_string().into(), verdict, label, ..Judgement::default() }, 0);
        }
        Box::new(Side { log, name: None })
    };
    let config = AuditConfig { costs: Some([5.0, 1.0]), ..AuditConfig::default() };
    compare_sides(Sides::Apart(side(5), side(7)), &config, &CompareConfig::default()).unwrap()
}

#[test]
fn what_is_undecided_says_what_would_have_been_seen() {
    let compared = undecided();
    let said = "or more would have been seen (80 % power)";
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\\', "");
    for text in [
        comparison::terminal(&compared, &TerminalOptions::default()),
        comparison::html(&compared).unwrap(),
        comparison::markdown(&compared),
    ] {
        assert!(flat(&text).contains(said), "{text}");
    }
}

#[test]
fn losses_have_a_table_of_their_own() {
    let page = comparison::html(&undecided()).unwrap();
    assert!(page.contains("Losses and costs") && page.contains("expected_cost"), "{page}");
}
