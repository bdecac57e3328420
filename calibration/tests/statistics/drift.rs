//! Judges over time: against numpy and statsmodels, by simulation, and where there is nothing to see.

use assize_calibration::audit::result::{Audit, Drift, DriftFigure, FindingWeight};
use assize_calibration::audit::{AuditConfig, Calendar, Windows, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use rand::RngExt as _;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden, numbers, rows};
use crate::small_logs::close;

const DAY_MS: i64 = 86_400_000;
/// A Thursday's midnight.
const START_MS: i64 = 1_796_256_000_000;

fn push(log: &mut Log, item: &str, accepts: bool, time_ms: i64) {
    let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
    let time = Some(time_ms.to_string().into());
    log.push(&Judgement { item: item.into(), verdict, time, ..Judgement::default() }, 0);
}

fn audited(log: &Log, windows: Option<Windows>) -> Audit {
    audit(log, &AuditConfig { windows, ..AuditConfig::default() }, &Gate::built_in()).unwrap()
}

fn drift(log: &Log, windows: Option<Windows>) -> Drift {
    audited(log, windows).judges.remove(0).drift.unwrap()
}

#[track_caller]
fn of<'a>(drift: &'a Drift, id: &str) -> &'a DriftFigure {
    drift.figures.iter().find(|figure| figure.measure == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn change_over_time_agrees_with_numpy_and_statsmodels() {
    let golden = golden("drift");
    let [item, time, accepts] = ["item", "time", "accepts"].map(|key| numbers(&golden[key]));
    let mut log = Log::default();
    for ((item, time), accepts) in item.iter().zip(&time).zip(&accepts) {
        push(&mut log, &item.to_string(), *accepts > 0.5, *time as i64);
    }
    let found = drift(&log, Some(Windows::Calendar(Calendar::Day)));
    assert_eq!((found.windows.len(), found.n_items_in_several, found.n_untimed), (8, 15, 0));
    assert!(found.windows.iter().all(|window| window.n_judgements == 40 && window.n_items == 40));
    let figure = of(&found, "accept_rate");
    let trend = figure.trend.as_ref().unwrap();
    let actual = [Some(trend.estimate), trend.low, trend.high, figure.p_trend];
    for (actual, expected) in actual.into_iter().zip(numbers(&golden["trend"])) {
        assert_close(actual.unwrap(), expected, 1e-8, "trend");
    }
    let (odd, expected) = (figure.odd_window.as_ref().unwrap(), numbers(&golden["odd_window"]));
    assert_close(odd.p_value, expected[0], 1e-8, "odd window");
    close(odd.window as f64, expected[1], 0.0);
    assert_close(odd.difference.estimate, expected[2], 1e-9, "odd window");
    close(figure.same_items.as_ref().unwrap().estimate, golden["same_items"].as_f64().unwrap(), 1e-12);
    assert!(figure.has_drifted);
    let (point, expected) = (figure.change_point.as_ref().unwrap(), &golden["change_point"]);
    close(point.at_ms as f64, expected["at_ms"].as_f64().unwrap(), 2.0);
    close(point.before, expected["before"].as_f64().unwrap(), 1e-12);
    close(point.after, expected["after"].as_f64().unwrap(), 1e-12);
    assert!(point.low_ms <= point.at_ms && point.at_ms <= point.high_ms);
    assert!(!of(&found, "unparsed_rate").has_drifted);
    let audit = audited(&log, None);
    let finding = audit.judges[0].findings.iter().find(|finding| finding.what.contains("changed over time")).unwrap();
    assert_eq!(finding.weight, FindingWeight::Bad);
}

/// Of the same items with one answer each, the test is `McNemar`'s: z = (b − c)/√(b + c).
#[test]
fn the_same_items_asked_twice_are_mcnemar_s_test() {
    let set = &golden("drift")["two_windows"];
    let mut log = Log::default();
    for (item, answers) in rows(&set["answers"]).into_iter().enumerate() {
        for (begin, answer) in [START_MS, START_MS + 10 * DAY_MS].into_iter().zip(answers) {
            push(&mut log, &item.to_string(), answer > 0.5, begin + i64::try_from(item).unwrap());
        }
    }
    let found = drift(&log, Some(Windows::Count(2)));
    assert_eq!(found.windows.len(), 2);
    let figure = of(&found, "accept_rate");
    assert_close(figure.p_same_items.unwrap(), set["p"].as_f64().unwrap(), 1e-6, "McNemar");
    assert_eq!(figure.odd_window, None, "of two windows the one departs as the other");
}

/// A judge that does not change is said to have changed at most 5 % of the time, whatever is asked of it; one that does is found.
#[test]
fn a_steady_judge_is_seldom_said_to_drift() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut run = |jump: f64| {
        let mut log = Log::default();
        for row in 0..240_i64 {
            // A third are always the same twenty items, which differ in how often they are accepted.
            let item = if row % 3 == 0 { (row / 3) % 20 } else { 1000 + row };
            let rate = 0.2 + 0.5 * ((item * 7919) % 100) as f64 / 100.0 + if row >= 120 { jump } else { 0.0 };
            push(&mut log, &item.to_string(), rng.random::<f64>() < rate, START_MS + row * DAY_MS / 20);
        }
        drift(&log, None)
    };
    // What was not found says what would have been.
    let mut steady = Log::default();
    for row in 0..240_i64 {
        push(&mut steady, &row.to_string(), row % 3 == 0, START_MS + row * DAY_MS / 20);
    }
    let judge = audited(&steady, None).judges.remove(0);
    let said = judge.findings.iter().find(|finding| finding.what.contains("no drift was found")).unwrap();
    let figures = &judge.drift.as_ref().unwrap().figures;
    let trend = figures.iter().find_map(|figure| figure.trend.as_ref().filter(|trend| trend.low.is_some())).unwrap();
    let smallest =
        format!("A change of {:.1} pp or more would have been seen", 100.0 * trend.details["minimal_detectable"]);
    assert!(said.what.contains(&smallest), "{}", said.what);
    let n = 300;
    let n_wrong = (0..n).filter(|_| run(0.0).figures.iter().any(|figure| figure.has_drifted)).count();
    // Three Monte-Carlo standard errors of .05.
    assert!(n_wrong as f64 / f64::from(n) <= 0.05 + 0.038, "{n_wrong}");
    let (mut n_found, mut n_held) = (0, 0);
    for _ in 0..100 {
        let found = run(0.3);
        let figure = of(&found, "accept_rate");
        n_found += u32::from(figure.has_drifted);
        if let Some(point) = &figure.change_point {
            n_held += u32::from((point.low_ms..=point.high_ms).contains(&(START_MS + 120 * DAY_MS / 20)));
        }
    }
    assert!(n_found >= 90, "{n_found} of 100");
    assert!(f64::from(n_held) >= 0.88 * f64::from(n_found), "{n_held} of {n_found} intervals hold the moment");
}

/// Scores that rise evenly have no moment of change, whatever step fits them best; those that jump do.
#[test]
fn a_steady_change_has_no_moment() {
    let changed = |score: &dyn Fn(i64) -> f64| {
        let mut log = Log::default();
        for row in 0..200_i64 {
            let time = Some((START_MS + row * DAY_MS / 10).to_string().into());
            let item = row.to_string().into();
            log.push(&Judgement { item, time, score: Some(score(row)), ..Judgement::default() }, 0);
        }
        let found = drift(&log, None);
        let point = of(&found, "mean_score").change_point.clone().unwrap();
        let said =
            audited(&log, None).judges[0].findings.iter().any(|finding| finding.what.contains("no moment stands out"));
        assert_eq!(said, point.is_gradual);
        point
    };
    let noise = |row: i64| ((row * 7919) % 10) as f64 / 10.0;
    let rising = changed(&|row| 1.0 + row as f64 / 40.0 + noise(row));
    assert!(rising.is_gradual);
    assert_eq!([rising.low_ms, rising.high_ms], [START_MS, START_MS + 199 * DAY_MS / 10]);
    let jumping = changed(&|row| if row < 80 { 3.0 } else { 5.0 } + noise(row));
    assert!(!jumping.is_gradual && jumping.high_ms - jumping.low_ms < DAY_MS);
}

#[test]
fn logs_without_times_say_nothing_of_time() {
    let mut log = Log::default();
    log.push(&Judgement { item: "1".into(), verdict: Some(Verdict::Accept), ..Judgement::default() }, 0);
    assert_eq!(audited(&log, None).judges[0].drift, None);
    let json = serde_json::to_value(&audited(&log, None).judges[0]).unwrap();
    assert!(json.get("drift").is_none());
    // One moment is no time to change in.
    let mut log = Log::default();
    (0..50).for_each(|item| push(&mut log, &item.to_string(), true, START_MS));
    assert_eq!(audited(&log, None).judges[0].drift, None);
}

#[test]
fn times_that_are_none_are_told_with_their_line() {
    let mut log = Log::default();
    for (line, time) in ["2026-12-01T00:00:00Z", "yesterday", "2026-12-02", "noon"].into_iter().enumerate() {
        let row = Judgement { item: line.to_string().into(), time: Some(time.into()), ..Judgement::default() };
        log.push(&Judgement { verdict: Some(Verdict::Accept), ..row }, line as u64 + 2);
    }
    let problems = audited(&log, None).problems;
    let problem = problems.iter().find(|problem| problem.code == "unreadable-time").unwrap();
    assert_eq!((problem.count, problem.line, problem.column.as_deref()), (2, Some(3), Some("time")));
}

#[test]
fn arms_asked_at_other_times_are_told() {
    let told = |times: [&[i64]; 2]| {
        let mut log = Log::default();
        for (arm, times) in ["x", "y"].into_iter().zip(times) {
            for (item, time) in times.iter().enumerate() {
                let time = Some((START_MS + time * 3_600_000).to_string().into());
                let row =
                    Judgement { item: item.to_string().into(), arm: Some(arm.into()), time, ..Judgement::default() };
                log.push(&Judgement { verdict: Some(Verdict::Accept), ..row }, 0);
            }
        }
        audited(&log, None)
            .problems
            .into_iter()
            .find(|problem| problem.code == "asked-apart")
            .map(|problem| problem.message)
    };
    assert!(told([&[1, 2], &[3, 4]]).unwrap().contains("times that do not overlap"));
    assert!(told([&[9, 33], &[20, 44]]).unwrap().contains("hours of the day"));
    assert_eq!(told([&[9, 20], &[10, 20]]), None);
}

#[test]
fn windows_are_days_weeks_or_as_many_each() {
    let mut log = Log::default();
    // From a Thursday on, one an hour.
    (0..24 * 12).for_each(|hour| push(&mut log, &hour.to_string(), hour % 3 == 0, START_MS + hour * 3_600_000));
    let n = |windows| drift(&log, windows).windows.iter().map(|window| window.n_judgements).collect::<Vec<_>>();
    assert_eq!(n(Some(Windows::Calendar(Calendar::Day))), [24; 12]);
    assert_eq!(n(Some(Windows::Calendar(Calendar::Week))), [96, 168, 24]);
    assert_eq!(n(Some(Windows::Count(3))), [96; 3]);
    assert_eq!(n(None).len(), 12);
}
