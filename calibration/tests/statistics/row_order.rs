//! The order of rows is no evidence: where rows number their repeats, every figure is the same in any order.

use assize_calibration::audit::result::{Audit, Measure};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Choice, Judgement, Order};
use assize_calibration::log::Log;

use crate::small_logs::{Rows, close};

/// Scores with confidences, two a group, three repeats each, in an order that `step` decides.
fn audited(step: usize) -> Audit {
    const N_ROWS: usize = 180;
    let mut log = Rows::default();
    // The first row fixes who is first in the log; a step that has no divisor in common with 180 meets every row.
    for row in (0..N_ROWS).map(|row| row * step % N_ROWS) {
        let (item, repeat) = (row / 3, row % 3);
        let noise = (item * 37 + repeat * 11) % 17;
        log.push(
            item,
            Judgement {
                score: Some(((item * 7 + noise) % 10 + 1) as f64),
                confidence: Some((noise as f64 + 1.0) / 20.0),
                label: Some(if (item * 5 + 1) % 10 < 6 { "1" } else { "0" }.into()),
                group: Some((item / 2).to_string().into()),
                repeat: Some(u32::try_from(repeat).unwrap()),
                ..Judgement::default()
            },
        );
    }
    let config = AuditConfig { accept_at: Some(6.0), good_at: Some(1.0), ..Default::default() };
    audit(&log.0, &config, &Gate::built_in()).unwrap()
}

fn same(id: &str, a: &Measure, b: &Measure) {
    close(a.estimate, b.estimate, 1e-6);
    for (a, b) in [(a.low, b.low), (a.high, b.high)] {
        match (a, b) {
            (Some(a), Some(b)) => close(a, b, 1e-6),
            (a, b) => assert_eq!(a, b, "{id}"),
        }
    }
    for (name, value) in &a.details {
        close(*value, b.details[name], 1e-6);
    }
}

#[test]
fn the_order_of_rows_changes_no_figure() {
    let (mut one, mut other) = (audited(1), audited(77));
    let (one, other) = (one.judges.remove(0), other.judges.remove(0));
    assert!(one.measures.contains_key("ece_excess") && one.measures.contains_key("pairwise_accuracy"));
    assert_eq!(one.measures.len(), other.measures.len());
    for (id, measure) in &one.measures {
        same(id, measure, &other.measures[id]);
    }
    let held_out = |judge: &assize_calibration::audit::result::JudgeAudit| {
        judge.thresholds.as_ref().unwrap().cross_validated.clone().unwrap().false_accept_rate
    };
    same("cross-validated", &held_out(&one), &held_out(&other));
    let gains = |judge: &assize_calibration::audit::result::JudgeAudit| {
        let recalibrations = judge.reliability.iter().flat_map(|of| &of.recalibrations);
        recalibrations.filter_map(|found| found.brier_gain.clone()).collect::<Vec<_>>()
    };
    assert!(!gains(&one).is_empty());
    for (a, b) in gains(&one).iter().zip(&gains(&other)) {
        same("recalibrated", a, b);
    }
    let named = |judge: &assize_calibration::audit::result::JudgeAudit| {
        judge.worst_items.iter().map(|worst| (worst.reason.clone(), worst.item.clone())).collect::<Vec<_>>()
    };
    assert_eq!(named(&one), named(&other));
}

/// Position is looked at under one set of anchors where there are several: the first by name, whichever row comes first.
#[test]
fn position_under_several_sets_of_anchors_does_not_depend_on_the_order_of_rows() {
    let measures = |is_reversed: bool| {
        let mut judgements = Vec::new();
        for item in 0..40_u32 {
            for set in ["s2", "s1"] {
                for order in [Order::Ab, Order::Ba] {
                    for repeat in 1..=3 {
                        let is_first = set == "s1" || (item + repeat) % 3 == 0;
                        let choice = if is_first == (order == Order::Ab) { Choice::A } else { Choice::B };
                        judgements.push(Judgement {
                            item: format!("i{item}").into(),
                            judge: "j".into(),
                            choice: Some(choice),
                            order: Some(order),
                            repeat: Some(repeat),
                            anchors: Some(2),
                            anchor_set: Some(set.into()),
                            ..Judgement::default()
                        });
                    }
                }
            }
        }
        if is_reversed {
            judgements.reverse();
        }
        let mut log = Log::default();
        for judgement in &judgements {
            log.push(judgement, 0);
        }
        let audit = audit(&log, &AuditConfig::default(), &Gate::built_in()).unwrap();
        let judge = audit.judges.into_iter().next().unwrap();
        ["position_excess", "first_position_preference"].map(|id| judge.measures[id].estimate)
    };
    assert_eq!(measures(false), measures(true));
}
