//! Experiences made for tests.

use std::collections::BTreeSet;
use std::path::PathBuf;

use assize_memory::entry::Entry;
use assize_memory::experience::{Evidence, Experience, Issue, Origin, Severity, Trust};
use assize_memory::store::{Opening, Store};
use assize_memory::time::Time;
use proptest::prelude::*;
use tempfile::TempDir;

/// A store in a directory of its own.
pub(crate) struct Shelf {
    pub(crate) dir: TempDir,
    pub(crate) path: PathBuf,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        Self { dir, path }
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path, Opening::Create).unwrap()
    }
}

/// Returns an experience that no other number has.
pub(crate) fn experience(number: u32) -> Experience {
    Experience {
        time: Time::from_unix_ms(1_796_000_000_000 + i64::from(number)).unwrap(),
        trust: Trust::Tool,
        issue: Issue {
            dimension: "clarity".to_owned(),
            location: None,
            severity: Severity::Medium,
            description: format!("step {number} is not explained"),
            suggestion: None,
        },
        fix: "explain it".to_owned(),
        before: None,
        after: None,
        evidence: Evidence::default(),
        origin: Origin { task: "write a guide".to_owned(), task_family: None, loop_id: None, round: None, model: None },
        tags: BTreeSet::new(),
    }
}

/// Returns the entries of the experiences of these numbers.
pub(crate) fn entries(numbers: std::ops::Range<u32>) -> Vec<Entry> {
    numbers.map(|number| Entry::new(experience(number)).unwrap()).collect()
}

fn text() -> impl Strategy<Value = String> {
    // Any character at all, the NUL too, and scripts that are more likely to be met.
    prop_oneof![
        any::<String>(),
        "[\u{0}-\u{7f}]{0,20}",
        "[\u{4e00}-\u{9fff}]{1,8}",
        "[\u{5d0}-\u{5ea}\u{1f600}-\u{1f64f}]{1,8}"
    ]
}

fn said() -> impl Strategy<Value = String> {
    text().prop_filter("says something", |text| !text.trim().is_empty())
}

fn name() -> impl Strategy<Value = String> {
    said().prop_filter("can be seen", |name| !name.chars().any(char::is_control))
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("finite", |score| score.is_finite()), (-10..=100).prop_map(f64::from)]
}

prop_compose! {
    fn issue()(
        dimension in name(), location in prop::option::of(said()), severity in prop::sample::select(Severity::ALL),
        description in said(), suggestion in prop::option::of(said()),
    ) -> Issue {
        Issue { dimension, location, severity, description, suggestion }
    }
}

prop_compose! {
    fn evidence()(
        text in prop::option::of(said()), score_before in prop::option::of(score()), score_after in prop::option::of(score()),
    ) -> Evidence {
        Evidence { text, score_before, score_after }
    }
}

prop_compose! {
    fn origin()(
        task in said(), task_family in prop::option::of(name()), loop_id in prop::option::of(name()),
        round in prop::option::of(any::<u32>()), model in prop::option::of(name()),
    ) -> Origin {
        Origin { task, task_family, loop_id, round, model }
    }
}

prop_compose! {
    /// Any experience that may be stored.
    pub(crate) fn any_experience()(
        unix_ms in -62_167_219_200_000..=253_402_300_799_999_i64, trust in prop::sample::select(Trust::ALL),
        issue in issue(), fix in said(), before in prop::option::of(text()), after in prop::option::of(text()),
        evidence in evidence(), origin in origin(), tags in prop::collection::btree_set(name(), 0..4),
    ) -> Experience {
        let time = Time::from_unix_ms(unix_ms).unwrap();
        Experience { time, trust, issue, fix, before, after, evidence, origin, tags }
    }
}
