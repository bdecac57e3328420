//! Exports, imports and the way there and back.

use std::io::{self, BufRead as _, Read};

use assize_memory::entry::Entry;
use assize_memory::exchange::{ImportError, Imported, MAX_LINE_BYTES, Target, from_line, import, to_line};
use assize_memory::store::Store;
use proptest::prelude::*;

use crate::made::{Shelf, any_experience, experience};

/// Exports in pages of two, so that there are several.
fn export(store: &Store) -> String {
    let mut text = String::new();
    let mut last = 0;
    loop {
        let page = store.page(last, 2).unwrap();
        let Some(end) = page.last() else { return text };
        last = end.number;
        for stored in &page {
            text.push_str(&to_line(&stored.experience));
            text.push('\n');
        }
    }
}

fn import_text(text: impl AsRef<[u8]>, target: Target<'_>) -> Imported {
    import(&mut text.as_ref(), target).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_experience_comes_back_as_it_was(experiences in prop::collection::vec(any_experience(), 1..12)) {
        let shelf = Shelf::new();
        let mut store = shelf.open();
        let entries: Vec<Entry> = experiences.iter().map(|experience| Entry::new(experience.clone()).unwrap()).collect();
        store.add(&entries).unwrap();
        for entry in &entries {
            let found = store.find(&entry.digest().to_string(), 2).unwrap();
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].experience, entry.experience());
        }
        let text = export(&store);
        let copy_shelf = Shelf::new();
        let mut copy = copy_shelf.open();
        let imported = import_text(&text, Target::Write(&mut copy));
        prop_assert_eq!(imported.n_added, text.lines().count() as u64, "{:?}", imported);
        prop_assert_eq!(export(&copy), text);
    }

    #[test]
    fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let imported = import_text(bytes, Target::CompareEmpty);
        prop_assert_eq!(imported.n_added, 0);
    }
}

#[test]
fn importing_again_adds_nothing() {
    let shelf = Shelf::new();
    let mut store = shelf.open();
    let text: String = (0..1_200).map(|number| to_line(&experience(number)) + "\n").collect();
    let first = import_text(&text, Target::Write(&mut store));
    assert_eq!((first.n_added, first.n_already_there, first.n_rejected), (1_200, 0, 0));
    let second = import_text(&text, Target::Write(&mut store));
    assert_eq!((second.n_added, second.n_already_there, second.n_rejected), (0, 1_200, 0));
    assert_eq!(export(&store), text);
}

#[test]
fn comparing_says_what_writing_would_do_and_does_nothing() {
    let shelf = Shelf::new();
    let mut store = shelf.open();
    let line = |number| to_line(&experience(number)) + "\n";
    import_text(line(0), Target::Write(&mut store));
    let text = [line(0), line(1), line(1), "{}\n".to_owned()].concat();
    let would = import_text(&text, Target::Compare(&store));
    assert_eq!(export(&store), line(0));
    assert_eq!((would.n_added, would.n_already_there, would.n_rejected), (1, 2, 1));
    assert_eq!(import_text(&text, Target::Write(&mut store)), would);
    let empty = import_text(&text, Target::CompareEmpty);
    assert_eq!((empty.n_added, empty.n_already_there, empty.n_rejected), (2, 1, 1));
}

#[track_caller]
fn check_rejected(line: &str, expected: &str) {
    assert_eq!(from_line(line.as_bytes()).unwrap_err().to_string(), expected, "{line}");
}

#[test]
fn what_is_wrong_with_a_line_is_said_with_its_place() {
    let good = to_line(&experience(1));
    check_rejected("nonsense", "expected ident (column 2)");
    check_rejected(&good[..20], "EOF while parsing a string (column 20)");
    check_rejected(
        &good.replace("\"medium\"", "\"urgent\""),
        "unknown variant `urgent`, expected one of `high`, `medium`, `low` (column 100)",
    );
    check_rejected(
        &good.replace("\"fix\":", "\"fixed\":"),
        "unknown field `fixed`, expected one of `time`, `trust`, `issue`, `fix`, `before`, `after`, `evidence`, `origin`, `tags` (column 149)",
    );
    check_rejected(
        &good.replace("explain it", " "),
        "`fix` is blank; say something or leave it out where it is optional",
    );
    check_rejected(
        &good.replace("T00", " at "),
        "`2026-11-30 at :53:20.001Z` is no time; write it like 2026-11-30T20:53:32Z or 2026-11-30T20:53:32+01:00 (column 35)",
    );
}

#[test]
fn bad_lines_are_counted_and_the_good_ones_between_them_taken() {
    let shelf = Shelf::new();
    let mut store = shelf.open();
    let good = |number| to_line(&experience(number)).into_bytes();
    let lines: [&[u8]; 7] =
        [&[b"\xef\xbb\xbf".as_slice(), &good(1)].concat(), b"", b"{", &good(2), b"\xff\xfe", b" \r", &good(3)];
    let imported = import_text(lines.join(&b"\r\n"[..]), Target::Write(&mut store));
    assert_eq!((imported.n_added, imported.n_rejected), (3, 2), "{imported:?}");
    assert_eq!(imported.rejected.iter().map(|rejection| rejection.line).collect::<Vec<_>>(), [3, 5]);
}

#[test]
fn many_bad_lines_are_all_counted_and_some_told() {
    let imported = import_text("x\n".repeat(1_000), Target::CompareEmpty);
    assert_eq!((imported.n_rejected, imported.rejected.len()), (1_000, 100));
}

#[test]
fn a_line_without_end_is_passed_over_in_little_memory() {
    let long = io::repeat(b' ').take(MAX_LINE_BYTES + 1);
    let good = to_line(&experience(1));
    let mut input = io::BufReader::new(long.chain(&b"\n"[..]).chain(good.as_bytes()));
    let imported = import(&mut input, Target::CompareEmpty).unwrap();
    assert_eq!((imported.n_added, imported.n_rejected, imported.rejected[0].line), (1, 1, 1));
    assert!(input.fill_buf().unwrap().is_empty());
}

#[test]
fn secrets_are_told_with_their_line_and_not_stored() {
    let shelf = Shelf::new();
    let mut store = shelf.open();
    let key = format!("sk-proj-{}", "a1B2c3D4".repeat(5));
    let mut leaking = experience(2);
    leaking.before = Some(format!("client({key})"));
    let text = [to_line(&experience(1)), to_line(&leaking)].join("\n");
    let imported = import_text(&text, Target::Write(&mut store));
    assert_eq!(imported.n_redacted, 1);
    let told = imported.redacted[0].to_string();
    assert_eq!(told, "line 2: `before` held what looks like a secret (API key); it was taken out");
    drop(store);
    for file in std::fs::read_dir(shelf.dir.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()));
    }
}

#[test]
fn what_was_written_before_the_input_broke_stays() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is out"))
        }
    }
    let shelf = Shelf::new();
    let mut store = shelf.open();
    let text: String = (0..600).map(|number| to_line(&experience(number)) + "\n").collect();
    let mut input = io::BufReader::new(text.as_bytes().chain(Broken));
    let error = import(&mut input, Target::Write(&mut store)).unwrap_err();
    assert!(matches!(error, ImportError::Read { line: 601, .. }), "{error:?}");
    assert_eq!(store.stats().unwrap().n_experiences, 500);
}
