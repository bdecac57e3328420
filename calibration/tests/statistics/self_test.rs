//! The audit finds what was planted in simulated judges, and nothing in clean ones; and it would be noticed if it did not.

use assize_calibration::audit::result::Fitness;
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::self_test::self_test;
use assize_calibration::simulate::{ChoiceJudge, ScoreJudge, VerdictJudge};

#[test]
fn what_is_planted_is_found_and_nothing_else() {
    for seed in [1, 2, 3] {
        let result = self_test(seed, 0);
        for check in &result.planted {
            assert!(check.found, "seed {seed}: {check:?}");
        }
        for clean in &result.clean {
            assert!(clean.raised.is_empty() && clean.fitness != Fitness::Unfit, "seed {seed}: {clean:?}");
        }
        assert!(result.passed);
        assert_eq!(result, self_test(seed, 0));
    }
}

/// Every faulty judge of the table is called unfit or has findings; none passes by being left out.
#[test]
fn further_runs_say_how_often_intervals_hold() {
    let result = self_test(5, 16);
    assert!(result.planted.len() >= 18, "{}", result.planted.len());
    for check in &result.planted {
        // Sixteen runs at 95 %: fewer than 12 hold with probability .001 at most.
        assert!(check.held.is_some_and(|held| held >= 12.0 / 16.0), "{check:?}");
    }
    for clean in &result.clean {
        assert!(clean.falsely_raised.is_some_and(|share| share <= 0.25), "{clean:?}");
    }
}

/// Planted values are expectations: the mean over many logs comes to them, with no audit in between.
#[test]
fn planted_values_are_what_logs_come_to_on_average() {
    let verdicts = VerdictJudge {
        n_items: 400,
        n_repeats: 2,
        base_rate: 0.3,
        lenient: 0.4,
        strict: 0.1,
        noise: 0.2,
        unparsed: 0.1,
    };
    let choices = ChoiceJudge { n_items: 300, n_repeats: 2, right: 0.7, swayed: 0.5, noise: 0.1 };
    let scores = ScoreJudge {
        n_items: 300,
        n_repeats: 2,
        inflation: -1.0,
        per_doubling: 0.3,
        own: 1.0,
        opinion_sd: 0.2,
        noise_sd: 1.0,
    };
    let logs: [&dyn Fn(u64) -> assize_calibration::simulate::Simulated; 3] =
        [&|seed| verdicts.log(seed), &|seed| choices.log(seed), &|seed| scores.log(seed)];
    for log in logs {
        const N: u64 = 12;
        let mut sums: Vec<(f64, f64)> = Vec::new();
        let mut planted = Vec::new();
        for seed in 0..N {
            let simulated = log(seed);
            let audit = audit(&simulated.log, &AuditConfig::default(), &Gate::built_in()).unwrap();
            planted = simulated.planted;
            sums.resize(planted.len(), (0.0, 0.0));
            for (sum, planted) in sums.iter_mut().zip(&planted) {
                let estimate = audit.judges[0].measures[planted.measure].estimate;
                *sum = (sum.0 + estimate, sum.1 + estimate * estimate);
            }
        }
        for ((sum, squares), planted) in sums.into_iter().zip(planted) {
            let n = N as f64;
            let mean = sum / n;
            let standard_error = ((squares / n - mean * mean) / (n - 1.0)).sqrt();
            // Ratios are biased by a little more than nothing.
            assert!((mean - planted.value).abs() < 4.0 * standard_error + 0.002, "{planted:?}: {mean}");
        }
    }
}
