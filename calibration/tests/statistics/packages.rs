//! What evaluation packages say of the same data, and where it differs from what is said here.

use assize_calibration::cluster::{UnitValue, clustered_mean};
use assize_calibration::interval::Spread;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::prevalence::{Trials, rogan_gladen};

use crate::golden::{assert_close, golden, numbers};
use crate::small_logs::{Rows, close};

/// inspect-ai's clustered error has the factor m/(m − 1), as this has: they are equal. Its t interval is that of the same error.
#[test]
fn clustered_errors_are_inspects() {
    for set in golden("packages")["clustered"].as_array().unwrap() {
        let (values, clusters) = (numbers(&set["values"]), numbers(&set["clusters"]));
        let units: Vec<UnitValue> = values
            .iter()
            .zip(&clusters)
            .map(|(&value, cluster)| UnitValue { value, weight: 1.0, cluster: *cluster as u32 })
            .collect();
        let mean = clustered_mean(&units).unwrap();
        let expected = |key: &str| set[key].as_f64().unwrap();
        assert_close(mean.estimate, expected("mean"), 1e-12, "mean");
        close(mean.variance.sqrt(), expected("stderr"), 1e-12);
        let standard_error = mean.variance.sqrt();
        if standard_error > 0.0 {
            let degrees = mean.n_clusters as f64 - 1.0;
            let range = [f64::NEG_INFINITY, f64::INFINITY];
            let interval = Spread::Student { standard_error, degrees, range }.interval(mean.estimate, 0.95).unwrap();
            let t = numbers(&set["t"]);
            assert_close(interval.low, t[0], 1e-9, "low");
            assert_close(interval.high, t[1], 1e-9, "high");
        }
    }
}

/// Where every answer is right, inspect-ai's t interval has no width and its Wilson interval counts judgements; here clusters count.
#[test]
fn where_nothing_varies_clusters_count_here() {
    let set = &golden("packages")["clustered"][4];
    let (values, clusters) = (numbers(&set["values"]), numbers(&set["clusters"]));
    assert!(values.iter().all(|value| *value == 1.0));
    let (t, wilson) = (numbers(&set["t"]), numbers(&set["wilson"]));
    assert_eq!(t, [1.0, 1.0]);
    let mut log = Rows::default();
    for (item, cluster) in clusters.iter().enumerate() {
        let row = Judgement {
            verdict: Some(Verdict::Accept),
            label: Some("1".into()),
            group: Some(cluster.to_string().into()),
            ..Judgement::default()
        };
        log.push(item, row);
    }
    let low = log.judge().measures["accuracy"].low.unwrap();
    // None of 25 clusters: Clopper and Pearson's bound.
    close(low, 0.025_f64.powf(1.0 / 25.0), 1e-9);
    assert!(low < wilson[0] - 0.05, "{low} {}", wilson[0]);
}

/// cigate's analytic interval is Lang and Reiczigel's too; its estimate is clipped, and it does not ask whether the judge may be guessing.
#[test]
fn corrected_pass_rates_are_cigates_where_the_judge_tells_apart() {
    for set in golden("packages")["corrected"].as_array().unwrap() {
        let counts = numbers(&set["counts"]);
        let trials = |i: usize| Trials::counted(counts[i], counts[i + 1]).unwrap();
        let found = rogan_gladen(trials(0), trials(2), trials(4), 0.95).unwrap();
        assert_close(found.estimate.unwrap().clamp(0.0, 1.0), set["estimate"].as_f64().unwrap(), 1e-9, "estimate");
        let interval = numbers(&set["interval"]);
        close(found.interval.low, interval[0], 1e-9);
        close(found.interval.high, interval[1], 1e-9);
    }
}
