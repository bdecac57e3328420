//! Tables read in blocks, in parts and by the short way: the same rows as one by one.

use std::io::Cursor;
use std::path::Path;

use super::read_as;
use crate::formats::source::ROW_BYTES;
use crate::formats::{Collector, LogWriter, ReadOptions, Tee, read_source, source};

#[test]
fn a_table_whose_lines_end_in_cr_alone_loses_no_row() {
    const N_ROWS: u64 = 100_000;
    for quote in ["", "\""] {
        let rows: Vec<String> = (0..N_ROWS).map(|row| format!("{quote}item {row}{quote},3\r")).collect();
        let kept = read_as(format!("item,score\r{}", rows.concat()), "");
        assert_eq!(kept.codes(), []);
        assert!(kept.rows.iter().map(|(_, line)| *line).eq(2..N_ROWS + 2));
    }
}

/// A table of several blocks, with a broken row in each: what is read on all cores is what is read row by row.
#[test]
fn a_table_read_in_parts_is_the_one_read_row_by_row() {
    use std::fmt::Write as _;

    let mut table = String::from("item,judge,repeat,verdict,label,price\n");
    for row in 0..60_000 {
        let (item, judge) = (row / 3, if row % 7 == 0 { "\"judge, two\"" } else { "g" });
        let verdict = ["accept", "reject", "perhaps"][row % 3];
        writeln!(table, "item {item},{judge},{},{verdict},{},0.001", row % 3 + 1, item % 2).expect("memory takes it");
        if row % 9_000 == 5 {
            table.push_str("a row of three,g,1\n\n");
        }
    }
    let one_by_one = read_as(&table, "");
    let read = |n_threads: usize| {
        let stream = Box::new(Cursor::new(table.clone().into_bytes()));
        let source = source::from_stream(Path::new("judge-x.csv"), stream).expect("opens");
        let written = tempfile::NamedTempFile::with_suffix(".jsonl").expect("a temporary file");
        let mut writer = LogWriter::create(written.path()).expect("can be written");
        let mut collector = Collector::default();
        let mut both = Tee { first: &mut collector, second: &mut writer };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads start");
        let options = ReadOptions::default();
        pool.install(|| read_source(source, &options, ROW_BYTES, &mut both)).expect("reads");
        writer.finish().expect("is written");
        (std::fs::read_to_string(written.path()).expect("is text"), collector)
    };
    let ((text, collector), (other_text, other)) = (read(1), read(3));
    assert!(text.lines().eq(one_by_one.json()));
    assert_eq!(text, other_text);
    assert_eq!(collector.problems.as_slice(), one_by_one.problems);
    assert_eq!(other.problems, collector.problems);
    assert!(one_by_one.codes().contains(&("wrong-number-of-fields", 7, 8)));
    let log = collector.log;
    assert_eq!((log.len(), log.items.len(), log.judges.len()), (60_000, 20_000, 2));
    for (row_idx, (judgement, line)) in one_by_one.rows.iter().enumerate() {
        assert_eq!(log.items.name(log.item[row_idx]), judgement.item);
        assert_eq!(log.judges.name(log.judge.at(row_idx)), judgement.judge);
        assert_eq!((log.line(row_idx), Some(log.repeat.at(row_idx))), (*line, judgement.repeat));
    }
    assert_eq!(log.price.0.to_bits(), other.log.price.0.to_bits());
}

/// A vocabulary that changes no word sends every row the long way.
#[test]
fn the_short_way_and_the_long_way_read_the_same() {
    for outcome in ["verdict", "score"] {
        let mut table = format!("item,judge,repeat,{outcome},label,group,arm,dimension\n");
        for cell in ["accept", "Yes", "0", "1", "7.50", "NaN", "inf", "", " pass ", "perhaps"] {
            for (repeat, label) in [("1", "1"), ("", ""), ("0", "x"), ("2.0", "1.0"), ("two", "1")] {
                table.push_str(
                    &["q,,", repeat, ",", cell, ",", label, ",g,,d\n,j,", repeat, ",", cell, ",1,,a,\n"].concat(),
                );
            }
        }
        let (short, long) = (read_as(&table, ""), read_as(&table, "values={nothing=unparsed}"));
        assert!(short.rows.len() > 10);
        assert_eq!(short.rows, long.rows, "{outcome}");
        assert_eq!(short.codes(), long.codes(), "{outcome}");
    }
}
