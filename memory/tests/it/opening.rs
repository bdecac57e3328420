//! Files that are no store, or not one that can be used.

use std::fs;

use assize_memory::store::{Opening, Store, StoreError};
use rusqlite::Connection;

use crate::made::{Shelf, entries};

fn opened(shelf: &Shelf) -> Result<Store, StoreError> {
    Store::open(&shelf.path, Opening::Existing)
}

#[test]
fn a_missing_file_is_made_only_on_request() {
    let shelf = Shelf::new();
    let error = opened(&shelf).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    assert!(!shelf.path.exists());
    drop(shelf.open());
    opened(&shelf).unwrap();
}

#[test]
fn a_directory_that_is_not_there_is_told() {
    let shelf = Shelf::new();
    let error = Store::open(&shelf.dir.path().join("absent/memory.db"), Opening::Create).unwrap_err();
    assert!(error.to_string().starts_with("failed to open "), "{error}");
    let error = Store::open(shelf.dir.path(), Opening::Create).unwrap_err();
    assert!(error.to_string().starts_with("failed to open "), "{error}");
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_as_it_is() {
    let shelf = Shelf::new();
    drop(shelf.open());
    let conn = Connection::open(&shelf.path).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let error = Store::open(&shelf.path, Opening::Create).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, known: 1, .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .ends_with("has version 99 of the schema, from a newer assize; this one knows versions up to 1")
    );
    let conn = Connection::open(&shelf.path).unwrap();
    assert_eq!(conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap(), 99);
}

#[test]
fn what_somebody_else_keeps_is_refused_and_left_as_it_is() {
    for (name, sql) in [
        ("notes", None),
        ("tables", Some("CREATE TABLE t (x)")),
        ("version", Some("PRAGMA user_version = 1")),
        ("id", Some("CREATE TABLE t (x); PRAGMA user_version = 1; PRAGMA application_id = 7")),
    ] {
        let shelf = Shelf::new();
        match sql {
            Some(sql) => Connection::open(&shelf.path).unwrap().execute_batch(sql).unwrap(),
            None => fs::write(&shelf.path, "notes\n".repeat(1_000)).unwrap(),
        }
        let before = fs::read(&shelf.path).unwrap();
        let error = Store::open(&shelf.path, Opening::Create).unwrap_err();
        assert!(matches!(error, StoreError::NotAStore { .. }), "{name}: {error:?}");
        assert_eq!(fs::read(&shelf.path).unwrap(), before, "{name}");
    }
}

#[test]
fn damage_is_told_and_never_a_panic() {
    let shelf = Shelf::new();
    shelf.open().add(&entries(0..300)).unwrap();
    let whole = fs::read(&shelf.path).unwrap();
    let mut n_damaged = 0;
    for page in 1..whole.len() / 4_096 {
        let mut spoilt = whole.clone();
        spoilt[page * 4_096..(page + 1) * 4_096].fill(0xA5);
        fs::write(&shelf.path, spoilt).unwrap();
        let read = opened(&shelf).and_then(|store| Ok((store.stats()?, store.page(0, 1_000)?)));
        n_damaged += usize::from(matches!(read, Err(StoreError::Damaged { .. })));
    }
    assert!(n_damaged > 10, "{n_damaged}");
    for length in [0, 10, 100, 1_000, 5_000, whole.len() / 2] {
        fs::write(&shelf.path, &whole[..length]).unwrap();
        opened(&shelf).and_then(|store| store.stats()).ok();
    }
}

#[test]
fn values_that_no_version_wrote_are_damage() {
    let shelf = Shelf::new();
    shelf.open().add(&entries(0..1)).unwrap();
    let conn = Connection::open(&shelf.path).unwrap();
    conn.execute_batch("PRAGMA ignore_check_constraints = true; UPDATE experience SET severity = 'urgent'").unwrap();
    let error = opened(&shelf).unwrap().page(0, 1).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn the_tables_refuse_what_is_no_experience() {
    let shelf = Shelf::new();
    shelf.open().add(&entries(0..1)).unwrap();
    let conn = Connection::open(&shelf.path).unwrap();
    for (column, value) in [
        ("severity", "'urgent'"),
        ("trust", "'me'"),
        ("evidence", "'not json'"),
        ("evidence", "'[]'"),
        ("digest", "'short'"),
        ("dimension", "''"),
        ("time_ms", "'yesterday'"),
        ("round", "-1"),
        ("task_family", "'without key'"),
    ] {
        conn.execute(&format!("UPDATE experience SET {column} = {value}"), []).unwrap_err();
    }
    conn.execute_batch("PRAGMA foreign_keys = true").unwrap();
    conn.execute("INSERT INTO experience_tag VALUES (99, 't', 't')", []).unwrap_err();
}

#[test]
fn names_that_mean_something_to_sqlite_are_names_of_files() {
    let shelf = Shelf::new();
    for name in ["file:x?mode=memory", "a ü 文.db", ":memory:"] {
        let path = shelf.dir.path().join(name);
        drop(Store::open(&path, Opening::Create).unwrap());
        assert!(path.exists(), "{name}");
    }
    Store::open("".as_ref(), Opening::Create).unwrap_err();
}
