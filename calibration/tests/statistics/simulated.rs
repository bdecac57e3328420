//! Whole audits of judges whose truth is known: a few scenarios of `examples/coverage`, which runs them all.

#[path = "../../examples/coverage/scenarios.rs"]
mod scenarios;
#[path = "../../examples/coverage/simulate.rs"]
mod simulate;

/// One scenario of a family is as good as its neighbours here; the table in `docs/explanation/coverage.md` has all.
const TESTED: [(&str, &str); 19] = [
    ("false_accept_rate", "50 items × 5, rate 0.2, correlation within an item 0.5"),
    ("false_accept_rate", "20 groups of 1 to 9 items × 1, rate 0.3"),
    ("flip_rate", "50 items × 5, 0.2 of them"),
    ("mean_abs_difference", "50 items × 5, 0.5 of them"),
    ("moved_over_one_point", "50 items × 5, 0.4 of them"),
    ("swap_consistency", "50 items × 2 in both orders, 0.3 of them"),
    ("icc_single", "50 items × 3, ICC 0.9, items two camps, noise uneven"),
    ("repeat_alpha", "50 items × 5, share of one answer 0.5, alpha 0.60"),
    ("kappa", "50 items × 5, 0.5 of them right, accepted 0.9"),
    ("weighted_kappa", "50 items × 5, five lopsided levels, 0.1 of scores"),
    ("false_accept_rate", "100 items × 5, weights 0.2 and 1.8, rates 0.4"),
    ("length_effect", "12 groups of 5 items, noise growing"),
    ("self_preference", "two judges, 60 items, 6 of them"),
    ("expected_cost", "60 groups of 6 items, lenient or strict"),
    ("corrected_pass_rate", "40 labels a class, 300 without"),
    ("brier_score", "30 items, confidence too sharp, of mostly good items"),
    ("pearson", "20 groups of 6 items, half of them alike, labels even, .94"),
    ("place_slope", "20 items at four places"),
    ("precision", "100 items × 1, half of them right, false accepts 0.1"),
];

#[test]
fn intervals_of_audits_hold_the_truth() {
    let all = scenarios::all();
    for (measure, name) in TESTED {
        let scenario = all.iter().find(|s| s.measure == measure && s.name.starts_with(name)).unwrap();
        let found = simulate::simulate(scenario, 200, 7);
        assert!(found.is_safe_to_gate(), "{measure}, {name}: limits wrongly met {:?}", found.wrongly_met);
        assert!(
            found.is_acceptable(scenario),
            "{measure}, {name}: {:.3}, {:.3} below, {:.3} above, {:.3} none, width {:.3}; beside it {:?}",
            found.held,
            found.below,
            found.above,
            found.undefined,
            found.width,
            found.other
        );
    }
}
