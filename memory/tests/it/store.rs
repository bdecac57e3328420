//! What goes in comes out.

use assize_memory::entry::Entry;
use assize_memory::experience::{Evidence, Severity, Trust};
use assize_memory::store::{Added, Count, Filter, Store};

use crate::made::{Shelf, entries, experience};

/// Returns the numbers in the descriptions of what is found.
#[track_caller]
fn check_list(store: &Store, filter: &Filter, limit: u32, expected: &[u32], n_matching: u64) {
    let listing = store.list(filter, limit).unwrap();
    let found: Vec<String> =
        listing.experiences.into_iter().map(|stored| stored.experience.issue.description).collect();
    let expected: Vec<String> = expected.iter().map(|&number| experience(number).issue.description).collect();
    assert_eq!((found, listing.n_matching), (expected, n_matching), "{filter:?}");
}

#[test]
fn adding_again_changes_nothing() {
    let shelf = Shelf::new();
    let mut store = shelf.open();
    assert_eq!(store.add(&entries(0..2)).unwrap(), [Added::New, Added::New]);
    let mut again = experience(1);
    again.trust = Trust::Person;
    again.tags.insert("later".to_owned());
    let again = [Entry::new(again).unwrap(), entries(2..3).remove(0), entries(2..3).remove(0)];
    assert_eq!(store.add(&again).unwrap(), [Added::AlreadyThere, Added::New, Added::AlreadyThere]);
    let stored: Vec<_> = store.page(0, 10).unwrap().into_iter().map(|stored| stored.experience).collect();
    assert_eq!(stored, [0, 1, 2].map(experience));
}

#[test]
fn what_was_added_is_there_after_opening_again() {
    let shelf = Shelf::new();
    shelf.open().add(&entries(0..3)).unwrap();
    let store = shelf.open();
    let digest = entries(2..3)[0].digest();
    assert!(store.contains(digest).unwrap());
    assert!(!store.contains(entries(3..4)[0].digest()).unwrap());
    let hex = digest.to_string();
    for prefix in [&hex, &hex[..8], &hex[..8].to_uppercase()] {
        let found = store.find(prefix, 10).unwrap();
        assert_eq!((found.len(), found[0].digest, &found[0].experience), (1, digest, &experience(2)), "{prefix}");
    }
    assert_eq!(store.find("", 2).unwrap().len(), 2);
    for nothing in ["g", "%", "'; DROP TABLE experience; --", "清"] {
        assert_eq!(store.find(nothing, 10).unwrap(), [], "{nothing}");
    }
}

#[test]
fn lists_hold_the_newest_that_fit_every_part() {
    let shelf = Shelf::new();
    let mut store = shelf.open();
    let changed = |number: u32| {
        let mut experience = experience(number);
        if number % 2 == 1 {
            experience.issue.dimension = "Error Handling".to_owned();
            experience.issue.severity = Severity::High;
        }
        if number >= 4 {
            experience.issue.dimension = "清晰度".to_owned();
            experience.origin.task_family = Some("接口 文档".to_owned());
            experience.tags = ["Über".to_owned(), "x".to_owned()].into();
            experience.trust = Trust::Person;
        }
        Entry::new(experience).unwrap()
    };
    // Not added in the order of their times.
    store.add(&[3, 0, 5, 1, 4, 2].map(changed)).unwrap();
    let some = |text: &str| Some(text.to_owned());
    check_list(&store, &Filter::default(), 10, &[5, 4, 3, 2, 1, 0], 6);
    check_list(&store, &Filter::default(), 2, &[5, 4], 6);
    check_list(&store, &Filter { dimension: some("error_handling"), ..Filter::default() }, 10, &[3, 1], 2);
    check_list(&store, &Filter { dimension: some("清晰度"), ..Filter::default() }, 10, &[5, 4], 2);
    check_list(&store, &Filter { task_family: some("接口-文档"), ..Filter::default() }, 10, &[5, 4], 2);
    check_list(&store, &Filter { tag: some("ÜBER"), ..Filter::default() }, 10, &[5, 4], 2);
    check_list(&store, &Filter { trust: Some(Trust::Tool), ..Filter::default() }, 1, &[3], 4);
    let both = Filter { severity: Some(Severity::High), tag: some("x"), ..Filter::default() };
    check_list(&store, &both, 10, &[5], 1);
    check_list(&store, &Filter { dimension: some("' OR 1 --"), ..Filter::default() }, 10, &[], 0);
}

#[test]
fn stats_count_what_is_there() {
    let shelf = Shelf::new();
    let mut store = shelf.open();
    assert_eq!(store.stats().unwrap().n_experiences, 0);
    assert_eq!(store.stats().unwrap().oldest, None);
    let mut with_texts = experience(7);
    "CLARITY".clone_into(&mut with_texts.issue.dimension);
    (with_texts.before, with_texts.after) = (Some(String::new()), Some("\0".to_owned()));
    let mut with_scores = experience(8);
    "accuracy".clone_into(&mut with_scores.issue.dimension);
    with_scores.evidence = Evidence { text: None, score_before: Some(0.0), score_after: Some(-1e300) };
    with_scores.origin.task_family = Some("f".to_owned());
    store.add(&[entries(6..7).remove(0), Entry::new(with_texts).unwrap(), Entry::new(with_scores).unwrap()]).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.n_experiences, stats.n_with_texts, stats.n_with_scores), (3, 1, 1));
    assert_eq!((stats.oldest, stats.newest), (Some(experience(6).time), Some(experience(8).time)));
    let count = |name: &str, n| Count { name: name.to_owned(), n };
    assert_eq!(stats.dimensions, [count("CLARITY", 2), count("accuracy", 1)]);
    assert_eq!(stats.task_families, [count("f", 1)]);
    assert_eq!((stats.severities, stats.trust), (vec![count("medium", 3)], vec![count("tool", 3)]));
    assert!(stats.n_bytes > 0);
}
