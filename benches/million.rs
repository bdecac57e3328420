//! One million judgements against merely parsing the same file: `cargo bench --bench million`.
//!
//! Writes a seeded CSV of 200,000 labelled items × 5 judgements to a temporary folder, reads it with the `csv` crate
//! alone, then audits it with every interval. Prints both times, their ratio (the aim: at most 4) and the peak memory
//! (the aim: under 1 GiB). Ratios are taken within a round, so that a machine that is slow at times does not decide them.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set itself up fails by panicking")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use assize::formats::{Collector, ReadOptions, read};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;

const N_ITEMS: u32 = 200_000;
const N_REPEATS: u32 = 5;
const N_ROUNDS: usize = 11;

/// A small generator of its own, so that the file is the same whatever the versions of crates.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Writes the log: accepting verdicts, or scores of 1 to 10.
fn write_log(path: &Path, is_score: bool) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let column = if is_score { "score" } else { "verdict" };
    writeln!(file, "item,judge,repeat,{column},label").unwrap();
    let mut random = Lcg(1);
    for item in 0..N_ITEMS {
        let is_good = random.next() < 0.6;
        let base = if is_good { 0.85 } else { 0.2 } + 0.3 * (random.next() - 0.5);
        for repeat in 1..=N_REPEATS {
            let answer = if is_score {
                (1.0 + 9.0 * (base + 0.25 * (random.next() - 0.5)).clamp(0.0, 1.0)).round().to_string()
            } else {
                if random.next() < base { "accept" } else { "reject" }.to_owned()
            };
            writeln!(file, "item-{item:06},gpt-x,{repeat},{answer},{}", u8::from(is_good)).unwrap();
        }
    }
    file.flush().unwrap();
}

fn parse_only(path: &Path) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let mut record = csv::StringRecord::new();
    let mut n_bytes = 0;
    while reader.read_record(&mut record).unwrap() {
        n_bytes += record.iter().map(str::len).sum::<usize>();
    }
    assert!(n_bytes > 0);
}

/// Times of one round.
#[derive(Clone, Copy)]
struct Round {
    parse: Duration,
    read: Duration,
    audit: Duration,
}

impl Round {
    fn ratio(&self) -> f64 {
        (self.read + self.audit).as_secs_f64() / self.parse.as_secs_f64()
    }
}

fn round(path: &Path) -> Round {
    let start = Instant::now();
    parse_only(path);
    let parse = start.elapsed();
    let start = Instant::now();
    let mut collector = Collector::default();
    read(path, &ReadOptions::default(), &mut collector).unwrap();
    let read = start.elapsed();
    let audited = audit(&collector.log, &AuditConfig::default(), &Gate::built_in()).unwrap();
    assert_eq!(audited.data.n_judgements, u64::from(N_ITEMS * N_REPEATS));
    Round { parse, read, audit: start.elapsed().saturating_sub(read) }
}

/// Returns the most memory this process has held, in MiB, where the system tells it.
fn peak_memory_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    for (name, is_score) in [("verdicts", false), ("scores", true)] {
        let path = folder.path().join(name).with_extension("csv");
        write_log(&path, is_score);
        // Machines slow down and speed up by themselves: what is compared follows one upon the other.
        let mut rounds: Vec<Round> = (0..N_ROUNDS).map(|_| round(&path)).collect();
        rounds.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        let Round { parse, read, audit } = rounds[N_ROUNDS / 2];
        println!(
            "1,000,000 {name}: csv alone {parse:.0?}, read {read:.0?} + audit {audit:.0?}, ratio {:.2} \
             (median of {N_ROUNDS} rounds, {:.2} to {:.2})",
            rounds[N_ROUNDS / 2].ratio(),
            rounds[0].ratio(),
            rounds[N_ROUNDS - 1].ratio()
        );
    }
    if let Some(peak) = peak_memory_mib() {
        println!("peak memory {peak} MiB");
    }
}
