//! Items that a person should look at.

use std::collections::BTreeSet;

use assize_calibration::audit::result::{Escalation, Picked, Purpose};
use assize_calibration::audit::{AuditConfig, EscalateConfig, escalate};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Judgement, Verdict};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::small_logs::{Rows, close};

fn verdict(accepts: bool) -> Verdict {
    if accepts { Verdict::Accept } else { Verdict::Reject }
}

fn listed(rows: &Rows, how: EscalateConfig) -> Escalation {
    escalate(&rows.0, &AuditConfig::default(), &Gate::built_in(), how).unwrap()
}

const TOP: EscalateConfig = EscalateConfig { top: 10, random: 0 };

/// Four answers an item: those whose number divides by five are split, by ten evenly. Every third item is labelled, as usually answered.
fn mixed(n: usize) -> Rows {
    let mut rows = Rows::default();
    for item in 0..n {
        let usual = item % 2 == 0;
        let others = if item % 10 == 0 { 2 } else { usize::from(item % 5 == 0) };
        for answer in 0..4 {
            let label = (item % 3 == 0).then(|| if usual { "1" } else { "0" }.into());
            let group = Some(format!("g{}", item % 4).into());
            rows.push(
                item,
                Judgement { verdict: Some(verdict(usual == (answer >= others))), label, group, ..Judgement::default() },
            );
        }
    }
    rows
}

#[test]
fn doubtful_items_without_a_label_come_first_and_groups_take_turns() {
    let found = listed(&mixed(120), EscalateConfig { top: 8, random: 0 });
    assert_eq!((found.n_items, found.n_unlabelled), (120, 80));
    let to_label: Vec<_> = found.items.iter().filter(|item| item.purpose == Purpose::Label).collect();
    assert_eq!(to_label.len(), 8);
    assert!(to_label.iter().all(|item| item.label.is_none() && item.doubt > 0.5), "{to_label:?}");
    close(to_label[0].score, 1.0, 1e-12);
    assert!(to_label.windows(2).all(|pair| pair[1].score <= pair[0].score + 1e-12));
    // Items divisible by five lie in all four groups, and no group has more than its turn.
    let groups: BTreeSet<_> = to_label.iter().map(|item| item.group.clone().unwrap()).collect();
    assert!(groups.len() >= 2, "{groups:?}");
    assert!(to_label[0].why.contains("answers change"), "{}", to_label[0].why);
    assert!(to_label[0].changes.contains("false accepts from"), "{}", to_label[0].changes);
    assert!(found.notes.iter().any(|note| note.contains("no random sample")));
}

/// Picking the largest reduction again and again is Neyman's allocation: strata get labels in proportion to W σ.
#[test]
fn labels_are_allotted_by_neyman() {
    let mut rows = Rows::default();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for item in 0..2_000 {
        let torn = item % 4 == 0;
        // Labels by lot: of torn items two fifths are answered wrongly, of others one in twenty.
        let is_labelled = rng.random::<f64>() < 0.1;
        let errs = rng.random::<f64>() < if torn { 0.4 } else { 0.05 };
        for answer in 0..5 {
            let accepts = !torn || answer < 3;
            let label = is_labelled.then(|| if errs { "0" } else { "1" }.into());
            rows.push(item, Judgement { verdict: Some(verdict(accepts)), label, ..Judgement::default() });
        }
    }
    let found = listed(&rows, EscalateConfig { top: 800, random: 0 });
    let [sure, torn] = &found.strata[..] else { panic!("{:?}", found.strata) };
    let want = |e: f64, n: u64| n as f64 * (e * (1.0 - e)).sqrt();
    let (w_sure, w_torn) = (want(sure.error_rate, sure.n_items), want(torn.error_rate, torn.n_items));
    let total = (sure.n_labelled + torn.n_labelled + 800) as f64;
    let got = (torn.n_labelled + torn.n_picked) as f64;
    // Up to the torn items there are.
    let wanted = (total * w_torn / (w_sure + w_torn)).min(torn.n_items as f64);
    assert!((got - wanted).abs() <= 0.03 * wanted, "{got} {wanted}");
}

#[test]
fn a_lot_is_drawn_from_all_items_without_a_label_and_depends_on_the_seed() {
    let rows = mixed(120);
    let how = EscalateConfig { top: 5, random: 20 };
    let found = listed(&rows, how);
    let of = |found: &Escalation, picked: Picked| -> BTreeSet<String> {
        let items = found.items.iter().filter(|item| item.purpose == Purpose::Label && item.picked == picked);
        items.map(|item| item.item.clone()).collect()
    };
    let (random, ranked) = (of(&found, Picked::Random), of(&found, Picked::Ranked));
    assert_eq!((random.len(), ranked.len()), (20, 5));
    assert!(random.is_disjoint(&ranked));
    assert_eq!(found, listed(&rows, how));
    let other = AuditConfig { seed: 2, ..AuditConfig::default() };
    let other = escalate(&rows.0, &other, &Gate::built_in(), how).unwrap();
    assert_ne!(of(&other, Picked::Random), random);
    // Every item is as likely as any: over seeds each comes up about a quarter of the time.
    let mut count = 0;
    for seed in 0..100 {
        let config = AuditConfig { seed, ..AuditConfig::default() };
        let found = escalate(&rows.0, &config, &Gate::built_in(), EscalateConfig { top: 0, random: 20 }).unwrap();
        count += usize::from(found.items.iter().any(|item| item.item == "1"));
    }
    assert!((12..=40).contains(&count), "{count}");
    let all = listed(&rows, EscalateConfig { top: 0, random: 1_000 });
    assert_eq!(all.items.iter().filter(|item| item.purpose == Purpose::Label).count(), 80);
}

fn labelled(n: usize, frr: impl Fn(usize) -> bool, wrong_labels: &[usize]) -> Rows {
    let mut rows = Rows::default();
    for item in 0..n {
        let truth = item % 2 == 0;
        let accepts = if truth && frr(item) { false } else { truth };
        let label = truth != wrong_labels.contains(&item);
        for judge in ["a", "b", "c"] {
            let label = Some(if label { "1" } else { "0" }.into());
            rows.push(
                item,
                Judgement { judge: judge.into(), verdict: Some(verdict(accepts)), label, ..Judgement::default() },
            );
        }
    }
    rows
}

#[test]
fn labels_that_a_good_panel_speaks_against_are_suspect_and_those_a_bad_one_does_are_not() {
    let found = listed(&labelled(200, |_| false, &[7, 40]), TOP);
    let checks: Vec<_> = found.items.iter().filter(|item| item.purpose == Purpose::Check).collect();
    let names: BTreeSet<&str> = checks.iter().map(|item| item.item.as_str()).collect();
    assert_eq!(names, ["40", "7"].into());
    assert!(checks.iter().all(|item| item.score > 0.7 && item.why.contains("all 3 judges")), "{checks:?}");
    assert!(checks[0].changes.starts_with("were the label wrong"));
    // A panel that rejects half of the right items says nothing of their labels.
    let found = listed(&labelled(200, |item| item % 4 == 0, &[]), TOP);
    assert!(found.items.is_empty(), "{:?}", found.items);
    assert!(found.notes.iter().any(|note| note.contains("too often")), "{:?}", found.notes);
}

#[test]
fn scores_near_the_threshold_are_doubtful() {
    let mut rows = Rows::default();
    for item in 0..40 {
        rows.score(item, (item % 10) as f64);
    }
    let config = AuditConfig { accept_at: Some(5.0), scale: Some([0.0, 9.0]), ..AuditConfig::default() };
    let found = escalate(&rows.0, &config, &Gate::built_in(), TOP).unwrap();
    let first: usize = found.items[0].item.parse().unwrap();
    assert!([4, 5].contains(&(first % 10)), "{:?}", found.items[0]);
    // Without a threshold nothing is near anything, which is said.
    let found = listed(&rows, TOP);
    assert!(found.notes.iter().any(|note| note.contains("nothing says which items are doubtful")), "{:?}", found.notes);
}

#[test]
fn odd_logs_are_listed_without_a_panic() {
    assert!(escalate(&Rows::default().0, &AuditConfig::default(), &Gate::built_in(), TOP).is_err());
    let mut rows = Rows::default();
    rows.push(0, Judgement::default());
    rows.push(1, Judgement { verdict: Some(verdict(true)), ..Judgement::default() });
    let found = listed(&rows, TOP);
    assert_eq!(found.items.len(), 2);
    assert!(found.items.iter().any(|item| item.why.contains("no reply could be read")));
    let mut people = Rows::default();
    people.push(0, Judgement { rater: Some("r".into()), verdict: Some(verdict(true)), ..Judgement::default() });
    assert!(escalate(&people.0, &AuditConfig::default(), &Gate::built_in(), TOP).is_err());
}

proptest! {
    #[test]
    fn lists_hold_no_item_twice_and_no_score_outside_its_range(
        answers in prop::collection::vec((0_usize..20, prop::option::of(prop::bool::ANY), prop::option::of(prop::bool::ANY)), 1..80),
        top in 0_usize..30, random in 0_usize..30,
    ) {
        let mut rows = Rows::default();
        for (item, accepts, label) in answers {
            // One label an item.
            let label = label.filter(|_| item % 2 == 0).map(|_| if item % 4 == 0 { "1" } else { "0" }.into());
            rows.push(item, Judgement { verdict: accepts.map(verdict), label, ..Judgement::default() });
        }
        if let Ok(found) = escalate(&rows.0, &AuditConfig::default(), &Gate::built_in(), EscalateConfig { top, random }) {
            let names: Vec<&str> = found.items.iter().map(|item| item.item.as_str()).collect();
            let distinct: BTreeSet<&&str> = names.iter().collect();
            prop_assert_eq!(distinct.len(), names.len());
            prop_assert!(found.items.iter().all(|item| (0.0..=1.0).contains(&item.score) && (0.0..=1.0).contains(&item.doubt)));
        }
    }
}
