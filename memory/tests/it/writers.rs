//! Several writers at once. Processes, and what kills them, are tested through the command line.

use std::sync::Barrier;
use std::thread;

use assize_memory::store::Added;
use rusqlite::Connection;

use crate::made::{Shelf, entries};

const N_WRITERS: u32 = 4;

#[test]
fn writers_that_begin_together_lose_nothing() {
    let shelf = Shelf::new();
    let start = Barrier::new(N_WRITERS as usize);
    let n_new: usize = thread::scope(|scope| {
        let write = |writer: u32| {
            start.wait();
            // The file is made by whoever comes first.
            let mut store = shelf.open();
            // Ten of their own, and ten that all of them have.
            let own = entries(writer * 10..(writer + 1) * 10);
            let shared = entries(1_000..1_010);
            own.iter()
                .chain(&shared)
                .flat_map(|entry| store.add(std::slice::from_ref(entry)).unwrap())
                .collect::<Vec<_>>()
        };
        let writers: Vec<_> = (0..N_WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        let added = writers.into_iter().flat_map(|writer| writer.join().unwrap());
        added.filter(|added| *added == Added::New).count()
    });
    assert_eq!(n_new, 50);
    assert_eq!(shelf.open().stats().unwrap().n_experiences, 50);
}

#[test]
fn readers_do_not_wait_for_a_writer() {
    let shelf = Shelf::new();
    shelf.open().add(&entries(0..3)).unwrap();
    let writer = Connection::open(&shelf.path).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM experience").unwrap();
    let reader = shelf.open();
    assert_eq!(reader.stats().unwrap().n_experiences, 3);
    writer.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn what_a_writer_did_not_finish_is_not_there() {
    let shelf = Shelf::new();
    shelf.open().add(&entries(0..3)).unwrap();
    let mut spoilt = shelf.open();
    // A trigger that fails stands for a disk that does.
    let conn = Connection::open(&shelf.path).unwrap();
    let description = entries(5..6)[0].experience().issue.description.clone();
    conn.execute_batch(&format!(
        "CREATE TRIGGER fail BEFORE INSERT ON experience WHEN NEW.description = '{description}' \
         BEGIN SELECT raise(ABORT, 'no'); END"
    ))
    .unwrap();
    spoilt.add(&entries(3..8)).unwrap_err();
    assert_eq!(spoilt.stats().unwrap().n_experiences, 3);
}
