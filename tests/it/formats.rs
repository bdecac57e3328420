//! Reading and writing logs: what the documentation says is what happens.

use std::fs;
use std::path::{Path, PathBuf};

use assize::formats::columns::ColumnMap;
use assize::formats::{Collector, LogWriter, OutputFormat, ReadError, ReadOptions, ReadSummary, Sink, Tee, read};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Judgement, OutcomeKind};
use assize_calibration::log::{Log, NONE};
use assize_calibration::problem::{Problem, Severity};

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests are told by the environment where opt-in data lies")]
    std::env::var(name).ok()
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn collect(path: &Path, columns: ColumnMap) -> (Result<ReadSummary, ReadError>, Collector) {
    let mut collector = Collector::default();
    let summary = read(path, &ReadOptions { columns }, &mut collector);
    (summary, collector)
}

/// The commands in the how-to: file and mapping.
fn documented_commands() -> Vec<(String, String)> {
    let text = fs::read_to_string(repository("docs/how-to/audit-your-log.md")).expect("the how-to is there");
    let command = |line: &str| {
        let rest = line.strip_prefix("assize audit ")?;
        let (file, mapping) = rest.split_once(" --columns ")?;
        Some((file.to_owned(), mapping.trim().trim_matches('"').to_owned()))
    };
    text.lines().filter_map(command).collect()
}

#[test]
fn every_mapping_in_the_docs_and_examples_is_well_formed() {
    let commands = documented_commands();
    assert!(commands.len() > 20, "the how-to shows its commands");
    for (file, mapping) in commands {
        if let Err(error) = mapping.parse::<ColumnMap>() {
            panic!("{file}: {error}");
        }
    }
    let mut n_examples = 0;
    for entry in fs::read_dir(repository("examples/columns")).expect("examples are there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            n_examples += 1;
            let text = fs::read_to_string(&path).expect("a text");
            if let Err(error) = ColumnMap::from_toml(&text) {
                panic!("{}: {error}", path.display());
            }
        }
    }
    assert!(n_examples >= 8);
}

/// File, rows seen, judgements, of these people's ratings, unparsed ones: counted apart from this code.
const EXPECTED: [(&str, u64, usize, usize, usize); 25] = [
    ("reflexion_programming.csv", 1248, 164, 0, 0),
    ("reflexion_programming.csv", 1248, 246, 0, 0),
    ("clusters_stackoverflow_2k.csv", 2000, 2000, 0, 0),
    ("clusters_nlbse_titles_train_by_repo.csv", 1500, 1500, 0, 0),
    ("clusters_thucnews_dev_10k.csv", 10_000, 10_000, 0, 0),
    ("rb2_scores_base_both_k8.csv", 13_840, 110_720, 0, 38),
    ("rb2_scores_cal-low_both_k8.csv", 13_952, 111_616, 0, 520),
    ("rb2_scores_base_full_k8_t0.0.csv", 6920, 55_360, 0, 18),
    ("rb2_scores_base_full_k8_t0.3.csv", 6924, 55_392, 0, 17),
    ("rb2_scores_base_full_k8_t0.7.csv", 6936, 55_488, 0, 14),
    ("coinflip_exp2.csv", 58, 580, 0, 0),
    ("schroeder_verdicts.csv", 275, 27_500, 0, 5441),
    ("llmbar_verdicts.csv", 21_190, 42_380, 0, 88),
    ("judgebench_haiku.csv", 270, 540, 0, 13),
    ("autoj_evalp.csv", 1392, 2784, 0, 0),
    ("pba_MTBench_repetition_verdicts.csv", 5184, 5184, 0, 28),
    ("icescore_humaneval.csv", 6439, 12_878, 0, 0),
    ("conala_grades.csv", 2500, 21_033, 11_033, 6),
    ("xstest_verdicts.csv", 1350, 5400, 2700, 0),
    ("manyraters.csv", 1992, 11_376, 11_376, 0),
    ("prd_vicuna80_verdicts.csv", 10_400, 10_400, 7040, 0),
    ("crowd_dog_answer.csv", 8070, 8070, 8070, 0),
    ("crowd_duck_answer.csv", 4212, 4212, 4212, 0),
    ("crowd_dog_answer.csv", 8070, 8070, 0, 0),
    ("crowd_duck_answer.csv", 4212, 4212, 0, 0),
];

/// The same for the last section.
const EXPECTED_PREFERENCES: [(&str, u64, usize, usize, usize); 3] = [
    ("alpacaeval_preferences.csv", 1610, 805, 0, 0),
    ("alpacaeval_preferences.csv", 1610, 1610, 0, 0),
    ("alpacaeval_preferences.csv", 1610, 1610, 0, 0),
];

const KINDS: [OutcomeKind; 4] = [OutcomeKind::Score, OutcomeKind::Verdict, OutcomeKind::Choice, OutcomeKind::Category];

fn counts(log: &Log) -> (usize, usize, usize) {
    let n_people = (0..log.len()).filter(|&row_idx| log.rater.at(row_idx) != NONE).count();
    let is_unparsed = |row_idx: &usize| KINDS.iter().all(|kind| log.answer(*row_idx, *kind).is_none());
    (log.len(), n_people, (0..log.len()).filter(is_unparsed).count())
}

/// Audits the public tables that `find` finds with the commands of the how-to: all rows are understood, nothing
/// contradicts itself. Returns how many were audited.
fn audit_as_documented(find: impl Fn(&str) -> Option<PathBuf>) -> usize {
    let commands: Vec<_> = documented_commands().into_iter().filter(|(file, _)| file != "answers.csv").collect();
    assert_eq!(commands.len(), EXPECTED.len() + EXPECTED_PREFERENCES.len(), "one expectation a command");
    let mut n_audited = 0;
    for ((file, mapping), expected) in commands.into_iter().zip(EXPECTED.iter().chain(&EXPECTED_PREFERENCES)) {
        let (name, n_rows, n_judgements, n_people, n_unparsed) = *expected;
        assert_eq!(file, name);
        let Some(path) = find(&file) else { continue };
        let (summary, Collector { log, problems, .. }) = collect(&path, mapping.parse().expect("parses"));
        let summary = summary.expect("reads");
        assert_eq!((summary.n_rows, summary.n_bad_rows), (n_rows, 0), "{file}");
        assert_eq!(counts(&log), (n_judgements, n_people, n_unparsed), "{file} {mapping}");
        let is_told = |severity: Severity| move |problem: &&Problem| problem.severity >= severity;
        let told: Vec<&Problem> = problems.as_slice().iter().filter(is_told(Severity::Warning)).collect();
        assert!(told.is_empty(), "{file}: {told:?}");
        let audited = audit(&log, &AuditConfig::default(), &Gate::built_in());
        let audited = audited.unwrap_or_else(|error| panic!("{file} {mapping}: {error}"));
        let errors: Vec<&Problem> = audited.problems.iter().filter(is_told(Severity::Error)).collect();
        assert!(errors.is_empty(), "{file} {mapping}: {errors:?}");
        n_audited += 1;
    }
    n_audited
}

#[test]
fn the_bundled_tables_are_audited_with_the_commands_of_the_docs() {
    let bundled = |file: &str| {
        let path = repository("tests/golden/data").join(format!("{file}.gz"));
        path.exists().then_some(path)
    };
    assert_eq!(audit_as_documented(bundled), 8);
}

/// Opt-in: `ASSIZE_DATA` names the folder of the public data sets.
#[test]
fn every_public_table_is_audited_with_the_command_of_the_docs() {
    let Some(folder) = variable("ASSIZE_DATA") else { return };
    let n_audited = audit_as_documented(|file| Some(Path::new(&folder).join(file)));
    assert_eq!(n_audited, EXPECTED.len() + EXPECTED_PREFERENCES.len());
}

/// Opt-in: a few cells, looked up by hand in the tables.
#[test]
fn cells_of_public_tables_become_what_they_say() {
    let Some(folder) = variable("ASSIZE_DATA") else { return };
    let commands = documented_commands();
    let first_rows = |file: &str, n_rows: usize| {
        let (_, mapping) = commands.iter().find(|(name, _)| name == file).expect("is documented");
        let folder_out = tempfile::tempdir().expect("a folder");
        let path = folder_out.path().join("log.jsonl");
        let mut writer = LogWriter::create(&path).expect("opens");
        let options = ReadOptions { columns: mapping.parse().expect("parses") };
        read(&Path::new(&folder).join(file), &options, &mut writer).expect("reads");
        writer.finish().expect("writes");
        let text = fs::read_to_string(&path).expect("is there");
        text.lines().take(n_rows).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        first_rows("llmbar_verdicts.csv", 2),
        [
            r#"{"item":"Adversarial/GPTInst/0","judge":"ChatGPT-0301","choice":"a","order":"ab","arm":"CoT","label":"b"}"#,
            r#"{"item":"Adversarial/GPTInst/0","judge":"ChatGPT-0301","choice":"b","order":"ba","arm":"CoT","label":"b"}"#,
        ]
    );
    assert_eq!(
        first_rows("autoj_evalp.csv", 2),
        [
            r#"{"item":"0","judge":"autoj_evalp","choice":"a","order":"ab","label":"b"}"#,
            r#"{"item":"0","judge":"autoj_evalp","choice":"a","order":"ba","label":"b"}"#,
        ]
    );
    assert_eq!(
        first_rows("pba_MTBench_repetition_verdicts.csv", 1),
        [
            r#"{"item":"129/stablelm-tuned-alpha-7b/vicuna-13b-v1.3","judge":"claude-3-haiku-20240307","choice":"b","repeat":1,"order":"ba","group":"129"}"#,
        ]
    );
    assert_eq!(first_rows("crowd_dog_answer.csv", 1), [r#"{"item":"1","category":"3","label":3,"rater":"1"}"#,]);
}

const LOG: [&str; 3] = [
    r#"{"item":"q,1","judge":"g","score":7.5,"repeat":1,"label":"0042","raw":"said \"7.5\"\nand more"}"#,
    r#"{"item":"q,1","judge":"g","repeat":2,"label":8,"raw":"?","error":"timeout"}"#,
    r#"{"item":"题","judge":"g","score":-0.1,"repeat":1}"#,
];

fn convert(from: &Path, to: &Path) {
    let mut writer = LogWriter::create(to).expect("opens");
    read(from, &ReadOptions::default(), &mut writer).expect("reads");
    writer.finish().expect("writes");
}

#[test]
fn a_log_survives_every_format_and_packing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let text = LOG.join("\n") + "\n";
    fs::write(at("g.jsonl"), &text).expect("writes");
    for name in ["a.csv", "b.tsv", "c.jsonl.gz", "d.csv.zst", "e.ndjson"] {
        convert(&at("g.jsonl"), &at(name));
        convert(&at(name), &at("back.jsonl"));
        assert_eq!(fs::read_to_string(at("back.jsonl")).expect("is there"), text, "{name}");
    }
    let table = fs::read_to_string(at("a.csv")).expect("is there");
    assert_eq!(table.lines().next(), Some("item,judge,score,repeat,label,raw,error"));
}

#[test]
fn a_log_appears_only_when_it_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.csv");
    fs::write(&path, "older").expect("writes");
    let mut writer = LogWriter::create(&path).expect("opens");
    writer.judgement(&Judgement { item: "a".into(), ..Judgement::default() }, 1).expect("takes it");
    drop(writer);
    assert_eq!(fs::read_to_string(&path).expect("is there"), "older");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "no scratch file stays");
    let error = LogWriter::create(&folder.path().join("log.xlsx")).err().expect("is refused").to_string();
    assert!(error.contains(".jsonl, .csv or .tsv"), "{error}");
    let error = LogWriter::create(&folder.path().join("no/such/log.csv")).err().expect("is refused").to_string();
    assert!(error.contains("failed to write"), "{error}");
}

/// A disk with room for a number of bytes.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    for format in [OutputFormat::Jsonl, OutputFormat::Csv] {
        let mut writer = LogWriter::to_stream(Path::new("out/log"), Box::new(Full(5)), format).expect("opens");
        writer.judgement(&Judgement { item: "a".into(), ..Judgement::default() }, 1).expect("is buffered");
        match writer.finish() {
            Err(ReadError::Write { path, source }) => {
                assert_eq!((path.as_path(), source.kind()), (Path::new("out/log"), std::io::ErrorKind::StorageFull));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_tee_feeds_both_and_tells_problems_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.csv");
    fs::write(&path, "item,verdict\na,yes\nb,hm\n").expect("writes");
    let mut collector = Collector::default();
    let mut writer = LogWriter::create(&folder.path().join("log.jsonl")).expect("opens");
    let mut tee = Tee { first: &mut collector, second: &mut writer };
    read(&path, &ReadOptions::default(), &mut tee).expect("reads");
    assert_eq!((collector.log.len(), collector.problems.as_slice().len()), (2, 1));
    assert!(writer.problems.as_slice().is_empty());
    assert_eq!(writer.finish().expect("writes"), 2);
}

#[test]
fn folders_and_missing_files_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = collect(folder.path(), ColumnMap::default()).0.expect_err("is refused").to_string();
    assert!(error.contains("is a folder"), "{error}");
    let error = collect(&folder.path().join("gone.csv"), ColumnMap::default()).0.expect_err("is refused").to_string();
    assert!(error.contains("failed to read") && error.contains("gone.csv"), "{error}");
}

#[test]
fn labels_are_joined_from_another_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("g.csv"), "q,a\n1,yes\n2,no\n3,no\n").expect("writes");
    fs::write(at("t.jsonl"), "{\"id\":1,\"t\":1}\n{\"id\":2,\"t\":0}\n").expect("writes");
    let map = "item=q, verdict=a, labels={file=t.jsonl, item=id, label=t}";
    let (summary, Collector { log, problems, .. }) = collect(&at("g.csv"), map.parse().expect("parses"));
    summary.expect("reads");
    assert_eq!(log.labels.iter().collect::<Vec<_>>(), ["1", "0"]);
    assert_eq!(log.label.at(2), NONE);
    assert!(problems.as_slice().iter().any(|problem| problem.code == "item-not-in-labels" && problem.count == 1));
    fs::write(at("t.jsonl"), "{\"id\":1,\"t\":1}\n{\"id\":1,\"t\":0}\n").expect("writes");
    let error = collect(&at("g.csv"), map.parse().expect("parses")).0.expect_err("is refused").to_string();
    assert!(error.contains("item `1` has two labels, `1` and `0`"), "{error}");
    // Written otherwise, and the same.
    fs::write(at("t.jsonl"), "{\"id\":1,\"t\":\"1\"}\n{\"id\":1,\"t\":\"1.0\"}\n").expect("writes");
    collect(&at("g.csv"), map.parse().expect("parses")).0.expect("reads");
}

/// Writes a table of this many rows, each with an item of its own and a score.
#[cfg(feature = "parquet")]
pub(crate) fn write_parquet(path: &Path, n_rows: usize) {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    let schema = "message m { REQUIRED BYTE_ARRAY item (UTF8); REQUIRED DOUBLE repeat; REQUIRED DOUBLE score; }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = fs::File::create(path).expect("creates");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).expect("opens");
    let mut group = writer.next_row_group().expect("a row group");
    let mut column = group.next_column().expect("ok").expect("item");
    let items: Vec<ByteArray> =
        (0..n_rows).map(|row| ByteArray::from(format!("the item number {row}").as_str())).collect();
    column.typed::<ByteArrayType>().write_batch(&items, None, None).expect("writes");
    column.close().expect("closes");
    for values in [vec![0.0; n_rows], (0..n_rows).map(|row| row as f64).collect()] {
        let mut column = group.next_column().expect("ok").expect("repeat and score");
        column.typed::<DoubleType>().write_batch(&values, None, None).expect("writes");
        column.close().expect("closes");
    }
    group.close().expect("closes");
    writer.close().expect("closes");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_table_is_read_packed_or_not() {
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::io::Write;
    use std::sync::Arc;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.parquet");
    let schema = "message m { REQUIRED BYTE_ARRAY item (UTF8); REQUIRED INT64 epoch; OPTIONAL DOUBLE score; \
                  REQUIRED BOOLEAN label; REQUIRED group meta { REQUIRED BYTE_ARRAY arm (UTF8); } }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = fs::File::create(&path).expect("creates");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).expect("opens");
    let mut group = writer.next_row_group().expect("a row group");
    let texts = |a: &str, b: &str| [ByteArray::from(a), ByteArray::from(b)];
    let mut column = group.next_column().expect("ok").expect("item");
    column.typed::<ByteArrayType>().write_batch(&texts("q", "题"), None, None).expect("writes");
    column.close().expect("closes");
    let mut column = group.next_column().expect("ok").expect("epoch");
    column.typed::<Int64Type>().write_batch(&[0, 1], None, None).expect("writes");
    column.close().expect("closes");
    let mut column = group.next_column().expect("ok").expect("score");
    column.typed::<DoubleType>().write_batch(&[7.25], Some(&[1, 0]), None).expect("writes");
    column.close().expect("closes");
    let mut column = group.next_column().expect("ok").expect("label");
    column.typed::<BoolType>().write_batch(&[true, false], None, None).expect("writes");
    column.close().expect("closes");
    let mut column = group.next_column().expect("ok").expect("arm");
    column.typed::<ByteArrayType>().write_batch(&texts("t0", "t1"), None, None).expect("writes");
    column.close().expect("closes");
    group.close().expect("closes");
    writer.close().expect("closes");

    let packed = folder.path().join("g.parquet.gz");
    let mut gz =
        flate2::write::GzEncoder::new(fs::File::create(&packed).expect("creates"), flate2::Compression::fast());
    gz.write_all(&fs::read(&path).expect("reads")).expect("writes");
    gz.finish().expect("ends");
    for path in [path, packed] {
        let out = folder.path().join("out.jsonl");
        let mut writer = LogWriter::create(&out).expect("opens");
        let options = ReadOptions { columns: "arm=meta.arm".parse().expect("parses") };
        let summary = read(&path, &options, &mut writer).expect("reads");
        writer.finish().expect("writes");
        assert_eq!((summary.format.as_str(), summary.n_rows), ("parquet", 2));
        assert_eq!(
            fs::read_to_string(&out).expect("is there").lines().collect::<Vec<_>>(),
            [
                r#"{"item":"q","judge":"g","score":7.25,"repeat":0,"arm":"t0","label":1}"#,
                r#"{"item":"题","judge":"g","repeat":1,"arm":"t1","label":0}"#,
            ]
        );
    }
}

/// Written anew where `ASSIZE_BLESS=1`.
#[test]
fn the_schema_of_the_log_is_that_of_the_type() {
    let schema = schemars::schema_for!(Judgement<'static>);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
    let path = repository("docs/reference/log.schema.json");
    if variable("ASSIZE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &text).expect("writes");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/reference/log.schema.json is not current; run the tests with ASSIZE_BLESS=1");
}
