//! Planning: closed forms against reference values and against the rules themselves, and plans of pilots.

use assize_calibration::audit::{AuditConfig, plan_study};
use assize_calibration::gate::{Gate, Limit};
use assize_calibration::paired::McNemarTest;
use assize_calibration::planning::assumed::Assumed;
use assize_calibration::planning::comparing::{
    connor_items, detectable_difference, independent_discordance, mcnemar_power, miettinen_items,
};
use assize_calibration::planning::components::{Components, Design, best_repeats};
use assize_calibration::planning::power::{
    LimitSide, Sample, Simulated, items_for_rate, mean_power, rate_power, share_with_event, simulated_power,
};
use assize_calibration::planning::result::{Aim, Costs, Plan, Scenario, Wishes};
use assize_calibration::planning::{cheapest, plan, row};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden};
use crate::small_logs::{Rows, at_most, close};

fn wishes(label: f64, call: f64) -> Wishes {
    Wishes { level: 0.95, power: 0.8, costs: Costs { label, call, basis: "stated".to_owned() } }
}

fn gate(limits: &[(&str, Limit)]) -> Gate {
    Gate {
        name: "test".to_owned(),
        limits: limits.iter().map(|(id, limit)| ((*id).to_owned(), limit.clone())).collect(),
        truth_optional: true,
    }
}

/// A sample of n items that answer once.
fn single(n: f64, p: f64) -> Sample {
    Sample { truth: p, variance: p * (1.0 - p) / n, n_clusters: n, n_judgements: n, clusters_that_show: [p, 1.0 - p] }
}

#[test]
fn sample_sizes_of_mcnemar_are_those_of_the_formulas() {
    for case in golden("planning")["sizes"].as_array().unwrap() {
        let of = |name: &str| case[name].as_f64().unwrap();
        let (d, psi, level, power) = (of("difference"), of("discordance"), of("level"), of("power"));
        assert_close(connor_items(d, psi, level, power).unwrap(), of("connor"), 1e-9, "Connor");
        assert_close(miettinen_items(d, psi, level, power).unwrap(), of("miettinen"), 1e-9, "Miettinen");
        // What is detectable with so many items is that difference.
        let back = detectable_difference(of("connor"), psi, level, power).unwrap();
        assert_close(back, d.abs(), 1e-9, "detectable difference");
    }
    assert_eq!(connor_items(0.0, 0.2, 0.95, 0.8), None);
    assert_eq!(connor_items(0.3, 0.2, 0.95, 0.8), None);
    assert_eq!(detectable_difference(5.0, 0.1, 0.95, 0.8), None);
    assert_eq!(detectable_difference(500.0, 0.0, 0.95, 0.8), None);
    close(independent_discordance(0.9, 0.8), 0.26, 1e-12);
}

#[test]
fn powers_of_mcnemar_are_sums_over_all_outcomes() {
    for case in golden("planning")["mcnemar_power"].as_array().unwrap() {
        let of = |name: &str| case[name].as_f64().unwrap();
        let test = if case["test"] == "exact" { McNemarTest::Exact } else { McNemarTest::MidP };
        let found = mcnemar_power(of("n") as u64, of("difference"), of("discordance"), of("level"), test).unwrap();
        assert_close(found, of("power"), 1e-9, "power");
    }
    // Connor's number of items has the power that is said, by the test that comparisons use.
    for (d, psi) in [(0.1, 0.2), (0.2, 0.4), (0.12, 0.3)] {
        let n = connor_items(d, psi, 0.95, 0.8).unwrap().ceil() as u64;
        let power = mcnemar_power(n, d, psi, 0.95, McNemarTest::MidP).unwrap();
        assert!((0.78..=0.83).contains(&power), "{d} {psi}: {power}");
    }
}

#[test]
fn powers_of_rates_are_sums_over_all_outcomes() {
    for case in golden("planning")["rate_power"].as_array().unwrap() {
        let of = |name: &str| case[name].as_f64().unwrap();
        let (n, p, limit, level) = (of("n"), of("p"), of("limit"), of("level"));
        let found = rate_power(&single(n, p), limit, LimitSide::Max, level);
        assert_close(found, of("power"), 1e-9, &format!("{n} {p} {limit}"));
        // A limit from below is one from above of the other outcome.
        let mirrored = rate_power(&single(n, 1.0 - p), 1.0 - limit, LimitSide::Min, level);
        close(mirrored, found, 1e-9);
    }
}

#[test]
fn shares_of_pairs_vary_as_those_of_beta_binomials() {
    for case in golden("planning")["pair_variance"].as_array().unwrap() {
        let of = |name: &str| case[name].as_f64().unwrap();
        let components = Components::of_flips(of("flip"), of("share")).unwrap();
        let design = Design { n_items: 1, repeats: of("repeats") as u32, orders: 1 };
        assert_close(components.of_item(&design, 1.0).unwrap(), of("variance"), 1e-9, "variance");
    }
    let once = Design { n_items: 1, repeats: 1, orders: 1 };
    assert_eq!(Components::of_flips(0.1, 0.5).unwrap().of_item(&once, 1.0), None);
    assert_eq!(Components::of_flips(0.6, 0.5), None);
}

#[test]
fn the_best_number_of_answers_has_the_least_variance_for_its_cost() {
    for case in golden("planning")["best_repeats"].as_array().unwrap() {
        let of = |name: &str| case[name].as_f64().unwrap();
        let components = Components { within: of("within"), between_items: of("between"), ..Components::default() };
        let found = best_repeats(of("cost_item"), of("cost_call"), &components).unwrap();
        // The reference is a numerical minimum, flat to half of the digits.
        assert_close(found, of("repeats"), 1e-5, "k*");
    }
    let alike = Components { within: 1.0, ..Components::default() };
    assert_eq!(best_repeats(10.0, 1.0, &alike), None);
    assert_eq!(best_repeats(0.0, 1.0, &Components { between_items: 1.0, ..alike }), Some(1.0));
    assert_eq!(best_repeats(1.0, 0.0, &Components { between_items: 1.0, ..alike }), None);
}

#[test]
fn clusters_show_events_as_beta_binomials_do() {
    for case in golden("planning")["share_with_event"].as_array().unwrap() {
        let of = |name: &str| case[name].as_f64().unwrap();
        let found = share_with_event(of("p"), of("icc"), of("repeats"), of("n_items"));
        assert_close(found, of("share"), 1e-9, "share");
    }
    assert_eq!(share_with_event(0.0, 0.3, 5.0, 4.0), 0.0);
    assert_eq!(share_with_event(1.0, 0.3, 5.0, 4.0), 1.0);
}

/// The closed form against the rule itself, on drawn items: answers once, and several times.
#[test]
fn the_closed_form_of_power_agrees_with_the_rule() {
    let mut differences = Vec::new();
    for (rate, limit, side) in [
        (0.05, 0.10, LimitSide::Max),
        (0.10, 0.20, LimitSide::Max),
        (0.90, 0.80, LimitSide::Min),
        (0.20, 0.10, LimitSide::Max),
    ] {
        for (icc, repeats) in [(1.0, 1), (0.7, 3), (0.3, 5)] {
            for n_items in [100, 300] {
                let components = Components::of_rate(rate, icc, 0.0);
                let design = Design { n_items: u64::from(n_items), repeats, orders: 1 };
                let (n, k) = (f64::from(n_items), f64::from(repeats));
                let sample = Sample {
                    truth: rate,
                    variance: components.of_item(&design, 1.0).unwrap() / n,
                    n_clusters: n,
                    n_judgements: n * k,
                    clusters_that_show: [
                        share_with_event(rate, icc, k, 1.0),
                        share_with_event(1.0 - rate, icc, k, 1.0),
                    ],
                };
                let closed = rate_power(&sample, limit, side, 0.95);
                let drawn = Simulated { rate, icc, n_items, repeats, n_replicates: 500, seed: 11 };
                let found = simulated_power(&drawn, limit, side, 0.95);
                differences.push((closed - found).abs());
                // Four Monte-Carlo errors, and what a normal count says of one that comes in fractions.
                assert!(
                    (closed - found).abs() < 4.0 * 0.0224 + 0.03,
                    "{rate} {limit} {icc} {n_items}: {closed:.3} {found:.3}"
                );
            }
        }
    }
    // On the whole they differ far less: some .03 of power, of which Monte-Carlo error is .01.
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    assert!(mean < 0.04, "{mean}");
}

/// Six limits of 80 % power each pass together 26 % of the time: a plan for all of them is larger than any of theirs.
#[test]
fn limits_are_planned_together() {
    let assumed =
        Assumed { far: Some(0.05), frr: Some(0.1), flip: Some(0.05), unparsed: Some(0.01), ..Assumed::default() };
    let pilot = assumed.pilot(&Gate::built_in()).unwrap();
    let planned = plan(pilot, &wishes(10.0, 1.0), "built in");
    let chosen = &planned.chosen[0];
    let row = chosen.row.as_ref().unwrap();
    assert_eq!(chosen.aim, Aim::Fit);
    assert!((0.8..0.85).contains(&row.joint_power.unwrap()));
    let product: f64 = row.figures.iter().filter_map(|figure| figure.power).product();
    close(row.joint_power.unwrap(), product, 1e-12);
    assert!(row.joint_power_at_least.unwrap() <= product);
    let most = planned.alone.iter().filter_map(|alone| alone.n_items[0]).max().unwrap();
    assert!(row.design.n_items > most, "{} {most}", row.design.n_items);
    close(0.8_f64.powi(6), 0.262, 1e-3);
    // Each limit's own number is near that of the formula where answers are few kinds and many items.
    for alone in planned.alone.iter().filter(|alone| alone.by_formula.is_some()) {
        let (exact, formula) = (alone.n_items[0].unwrap() as f64, alone.by_formula.unwrap() as f64);
        assert!((exact / formula - 1.0).abs() < 0.35, "{}: {exact} {formula}", alone.measure);
    }
}

#[test]
fn the_cheapest_design_answers_to_its_costs() {
    let assumed = Assumed { far: Some(0.05), frr: Some(0.1), icc: Some(0.4), ..Assumed::default() };
    let pilot =
        assumed.pilot(&gate(&[("false_accept_rate", at_most(0.1)), ("false_reject_rate", at_most(0.2))])).unwrap();
    let answers = |label: f64| cheapest(&pilot, &wishes(label, 1.0), Scenario::Estimate).unwrap().design.repeats;
    assert_eq!(answers(0.0), 1);
    assert!(answers(100.0) >= 5);
    let (cheap, dear) = (answers(1.0), answers(20.0));
    assert!(cheap <= dear);
}

#[test]
fn nothing_decides_at_the_limit_itself() {
    let assumed = Assumed { far: Some(0.1), ..Assumed::default() };
    let planned =
        plan(assumed.pilot(&gate(&[("false_accept_rate", at_most(0.1))])).unwrap(), &wishes(1.0, 1.0), "test");
    assert_eq!(planned.chosen[0].aim, Aim::Neither);
    assert_eq!(planned.chosen[0].row, None);
    assert!(planned.chosen[0].says.as_ref().unwrap().contains("no number of items decides"));
    assert_eq!(planned.alone[0].n_items, [None; 3]);
    assert_eq!(items_for_rate(0.1, 0.1, 0.09, 0.95, 0.8), None);
    // A gate without a limit that is assumed: intervals only.
    let none = plan(assumed.pilot(&gate(&[("auc", at_most(0.9))])).unwrap(), &wishes(1.0, 1.0), "test");
    assert_eq!(none.chosen[0].aim, Aim::Neither);
    assert!(none.designs.iter().all(|row| row.joint_power == Some(0.0) && row.assurance.is_none()));
}

#[test]
fn assumptions_that_cannot_be_are_refused() {
    let refused = |assumed: Assumed| assumed.pilot(&Gate::built_in()).unwrap_err().name;
    assert_eq!(refused(Assumed { far: Some(1.5), ..Assumed::default() }), "far");
    assert_eq!(refused(Assumed { far: Some(f64::NAN), ..Assumed::default() }), "far");
    assert_eq!(refused(Assumed { far: Some(0.1), icc: Some(-1.0), ..Assumed::default() }), "icc");
    assert_eq!(refused(Assumed { far: Some(0.1), right_share: 1.0, ..Assumed::default() }), "right share");
    assert_eq!(refused(Assumed { far: Some(0.1), items_per_group: 0.0, ..Assumed::default() }), "items per group");
    assert_eq!(refused(Assumed { flip: Some(0.7), ..Assumed::default() }), "flip");
    assert_eq!(refused(Assumed::default()), "far");
    let both = Assumed { far: Some(0.05), frr: Some(0.1), flip: Some(0.12), icc: Some(0.7), ..Assumed::default() };
    assert!(both.pilot(&Gate::built_in()).unwrap().notes[0].contains("do not go together"));
}

#[test]
fn means_are_decided_by_t() {
    // 100 items of variance 4, half a point from the limit: z = 2.5 standard errors.
    let sample =
        Sample { truth: 1.0, variance: 0.04, n_clusters: 100.0, n_judgements: 100.0, clusters_that_show: [1.0; 2] };
    close(mean_power(&sample, 1.5, 0.95), 0.697, 2e-3);
    assert_eq!(mean_power(&sample, 1.0, 0.95), 0.0);
    assert_eq!(mean_power(&Sample { n_clusters: 1.0, ..sample }, 1.5, 0.95), 0.0);
    assert_eq!(mean_power(&Sample { variance: 0.0, ..sample }, 1.5, 0.95), 1.0);
}

proptest! {
    #[test]
    fn powers_are_probabilities_whatever_is_asked(
        p in 0.0..=1.0_f64, limit in 0.0..=1.0_f64, n in 0.5..5e5_f64, deff in 0.05..8.0_f64, show in 0.0..=1.0_f64,
        level in 0.5..0.999_f64,
    ) {
        let variance = p * (1.0 - p) * deff / n;
        let sample = Sample { truth: p, variance, n_clusters: n.max(1.0), n_judgements: 3.0 * n, clusters_that_show: [show, 1.0 - show] };
        for side in [LimitSide::Min, LimitSide::Max] {
            let power = rate_power(&sample, limit, side, level);
            prop_assert!((0.0..=1.0).contains(&power), "{power}");
        }
        if let Some(interval) = sample.rate_interval(level) {
            prop_assert!(0.0 <= interval.low && interval.low <= interval.high && interval.high <= 1.0);
        }
    }
}

/// Verdicts on `n` items, half of them right, of a judge with these errors; items' shares are Beta.
fn pilot_log(n: usize, repeats: u32, errors: [f64; 2], icc: f64, seed: u64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rows = Rows::default();
    for item in 0..n {
        let good = item % 2 == 0;
        let error = errors[usize::from(good)];
        let s = 1.0 / icc - 1.0;
        let share = assize_calibration::distribution::beta_quantile(rng.random(), error * s, (1.0 - error) * s);
        for _ in 0..repeats {
            let errs = rng.random::<f64>() < share;
            rows.verdict(item, Some(good != errs), good);
        }
    }
    rows
}

fn planned(rows: &Rows, gate: &Gate) -> Plan {
    plan_study(&rows.0, &AuditConfig::default(), gate, &wishes(10.0, 1.0)).unwrap()
}

#[test]
fn a_pilot_gives_back_where_variance_comes_from() {
    let rows = pilot_log(1_200, 4, [0.2, 0.3], 0.5, 3);
    let planned = planned(&rows, &gate(&[("false_accept_rate", at_most(0.3)), ("false_reject_rate", at_most(0.4))]));
    for (figure, rate) in planned.pilot.figures.iter().zip([0.2, 0.3]) {
        let parts = &figure.components;
        let spread = rate * (1.0 - rate);
        close(figure.truth, rate, 0.04);
        close(parts.within, 0.5 * spread, 0.02);
        close(parts.between_items, 0.5 * spread, 0.02);
        close(parts.between_groups, 0.0, 1e-12);
        close(figure.class_share, 0.5, 1e-12);
    }
    let [estimate, better, worse] = &planned.chosen[..] else { panic!("three scenarios") };
    assert_eq!(
        [estimate.scenario, better.scenario, worse.scenario],
        [Scenario::Estimate, Scenario::BetterEnds, Scenario::WorseEnds]
    );
    let items = |chosen: &assize_calibration::planning::result::Chosen| chosen.row.as_ref().unwrap().design.n_items;
    assert!(items(better) < items(estimate) && items(estimate) < items(worse));
    // The gate itself, on simulated studies, decides as often as was planned.
    let simulated = estimate.simulated.as_ref().unwrap();
    assert!(simulated.is_enough && simulated.power < 0.93, "{simulated:?}");
    assert!(estimate.row.as_ref().unwrap().assurance.unwrap() < 0.85);
}

#[test]
fn flips_of_a_pilot_give_back_their_moments() {
    let rows = pilot_log(2_000, 5, [0.3, 0.3], 0.4, 5);
    let planned = planned(&rows, &gate(&[("flip_rate", at_most(0.4))]));
    let figure = planned.pilot.figures.iter().find(|figure| figure.measure == "flip_rate").unwrap();
    // Answers accept half of the time, items of either kind mirrored: pq is that of Beta(.3, .4) whatever the kind.
    let truth = Components::of_flips(2.0 * 0.6 * 0.3 * 0.7, 0.3).unwrap();
    close(figure.truth, 0.252, 0.02);
    for repeats in [2, 3, 8] {
        let design = Design { n_items: 1, repeats, orders: 1 };
        let (found, expected) =
            (figure.components.of_item(&design, 1.0).unwrap(), truth.of_item(&design, 1.0).unwrap());
        assert!((found / expected - 1.0).abs() < 0.12, "{repeats}: {found} {expected}");
    }
    assert_eq!(figure.needs_repeats, 2);
}

#[test]
fn a_plan_is_the_same_on_any_number_of_threads_and_the_seed_counts() {
    let rows = pilot_log(80, 2, [0.05, 0.1], 0.5, 9);
    let gate = gate(&[("accuracy", Limit { min: Some(0.8), ..Limit::default() })]);
    let on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| planned(&rows, &gate))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn small_and_odd_pilots_are_planned_or_refused_in_words() {
    let built_in = Gate::built_in();
    let ask = |rows: &Rows| plan_study(&rows.0, &AuditConfig::default(), &built_in, &wishes(1.0, 1.0));
    assert!(ask(&Rows::default()).is_err());
    let mut one = Rows::default();
    one.verdict(0, Some(true), true);
    assert!(ask(&one).unwrap().chosen[0].row.is_none());
    let mut unparsed = Rows::default();
    (0..5).for_each(|item| unparsed.verdict(item, (item == 0).then_some(true), item % 2 == 0));
    let plan = ask(&unparsed).unwrap();
    let json = serde_json::to_string(&plan).unwrap();
    assert!(!json.contains("NaN"));
    // A judge that never errs: intervals at 0 and 1, one answer an item, all finite.
    let mut perfect = Rows::default();
    for item in 0..30 {
        (0..3).for_each(|_| perfect.verdict(item, Some(item % 2 == 0), item % 2 == 0));
    }
    let plan = ask(&perfect).unwrap();
    let row = plan.chosen[0].row.as_ref().unwrap();
    assert_eq!(row.design.repeats, 2, "the flip rate takes two answers, and more bring nothing: {row:?}");
    let mut scores = Rows::default();
    (0..40).for_each(|item| (0..2).for_each(|k| scores.score(item, 1e300 * (item + k) as f64)));
    assert!(ask(&scores).is_ok());
}

#[test]
fn a_row_without_the_repeats_or_orders_a_limit_takes_has_no_joint_power() {
    let assumed = Assumed { flip: Some(0.05), ..Assumed::default() };
    let pilot = assumed.pilot(&Gate::built_in()).unwrap();
    let design = Design { n_items: 500, repeats: 1, orders: 1 };
    let once = row(&pilot, &wishes(1.0, 1.0), design, Scenario::Estimate);
    assert_eq!((once.joint_power, once.figures[0].power), (None, None));
    let twice = row(&pilot, &wishes(1.0, 1.0), Design { repeats: 2, ..design }, Scenario::Estimate);
    assert!(twice.joint_power.unwrap() > 0.9);
}

/// Of a side's 2.5 %: none of 72 clusters shows at most 5 %, none of 71 does not; of half of them as many again.
#[test]
fn none_of_72_shows_5_per_cent_in_plans_as_in_audits() {
    let limit = [("false_accept_rate", at_most(0.05))];
    let gate = gate(&limit);
    let assumed = |right_share: f64| Assumed { far: Some(0.0), right_share, ..Assumed::default() };
    let planned = |right_share: f64| {
        let planned = plan(assumed(right_share).pilot(&gate).unwrap(), &wishes(10.0, 1.0), "test");
        assert_eq!(planned.alone[0].n_items[0], planned.alone[0].by_formula, "{right_share}");
        planned.chosen[0].row.as_ref().unwrap().design.n_items
    };
    // Of 143 wrong ones in halves 71 are whole.
    assert_eq!(planned(0.5), 144);
    let audited = |n: usize| {
        let mut rows = Rows::default();
        (0..n).for_each(|item| rows.verdict(item, Some(false), false));
        rows.with_limit("false_accept_rate", at_most(0.05)).limits.remove(0)
    };
    assert_eq!(audited(20).further_items, Some(52));
    assert_eq!(audited(71).further_items, Some(1));
    assert_eq!(audited(72).state, assize_calibration::gate::LimitState::Met);
}

/// Where an item always answers the same, more answers change what is counted by the rule's t alone.
#[test]
fn answers_that_are_all_alike_plan_as_one() {
    let gate = gate(&[("accuracy", Limit { min: Some(0.8), ..Limit::default() })]);
    let assumed = Assumed { accuracy: Some(0.9), icc: Some(1.0), ..Assumed::default() };
    let pilot = assumed.pilot(&gate).unwrap();
    let power = |n_items: u64, repeats: u32| {
        let design = Design { n_items, repeats, orders: 1 };
        row(&pilot, &wishes(10.0, 1.0), design, Scenario::Estimate).joint_power.unwrap()
    };
    for n_items in [50, 100, 137, 200] {
        // The count that is kept may be one less.
        let (one, eight) = (power(n_items, 1), power(n_items, 8));
        assert!(one >= eight && one - eight < 0.1, "{n_items}: {one} {eight}");
        assert_eq!(power(n_items, 5).to_bits(), eight.to_bits(), "{n_items}");
    }
}

#[test]
fn assumptions_that_contradict_each_other_are_told() {
    let gate = gate(&[("accuracy", Limit { min: Some(0.8), ..Limit::default() })]);
    let pilot = |accuracy: f64, frr: f64| {
        let assumed = Assumed { far: Some(0.05), frr: Some(frr), accuracy: Some(accuracy), ..Assumed::default() };
        assumed.pilot(&gate)
    };
    let refused = pilot(0.2, 0.1).unwrap_err();
    assert_eq!(refused.name, "accuracy");
    assert!(refused.must.contains("from 0.9 to 0.95"), "{}", refused.must);
    let told = pilot(0.91, 0.1).unwrap().notes;
    assert!(told.iter().any(|note| note.contains("right share = 0.80")), "{told:?}");
    assert!(pilot(0.925, 0.1).unwrap().notes.is_empty());
    assert!(pilot(0.95, 0.05).unwrap().notes.is_empty());
}
