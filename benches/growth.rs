//! How time and memory grow from a hundred thousand ratings to ten million: `cargo bench -p assize-calibration --bench growth`.
//!
//! A line for each measurement and size: nanoseconds a rating of all threads' computing, which other work on the machine hardly
//! changes (by the clock where the system does not tell), seconds by the clock, the least of the rounds, and the most memory held, the
//! data included. What is flat from line to line is linear. Sorting (n log n) is part of the audit of a log in no order and of tallies.
//! Give a number to stop at fewer ratings.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set itself up fails by panicking")]

use std::time::{Duration, Instant};

use assize_calibration::agreement::alpha::{Metric, krippendorff_alpha};
use assize_calibration::agreement::kappa::{Chance, Weighting};
use assize_calibration::agreement::resampled::{alpha_bootstrap, kappa_bootstrap};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::bootstrap::BootstrapConfig;
use assize_calibration::gate::Gate;
use assize_calibration::icc::mean_squares;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use assize_calibration::raters::dawid_skene::{DawidSkeneConfig, dawid_skene};
use assize_calibration::raters::glad::glad;
use assize_calibration::raters::mace::{MaceConfig, mace};
use assize_calibration::raters::{EmConfig, Rating, Ratings};
use assize_calibration::roc::auc;
use assize_calibration::tally::DrawTally;

const SIZES: [u32; 3] = [100_000, 1_000_000, 10_000_000];
const LEAST_ROUNDS: u32 = 2;

/// A small generator of its own, so that data are the same whatever the versions of crates.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number below n")]
    fn below(&mut self, n: u32) -> u32 {
        (self.next() * f64::from(n)) as u32
    }
}

/// Items of five judgements, in order or as if shuffled.
fn log(n: u32, is_score: bool, is_shuffled: bool) -> Log {
    let mut log = Log::default();
    let mut random = Lcg(1);
    let n_items = n / 5;
    for row in 0..n {
        // A step that shares no factor with the number of items visits all of them.
        #[expect(clippy::cast_possible_truncation, reason = "a remainder of a u32")]
        let visited = (u64::from(row) * 1_000_003 % u64::from(n_items)) as u32;
        let item = if is_shuffled { visited } else { row / 5 };
        let mut of_item = Lcg(u64::from(item));
        let is_good = of_item.next() < 0.6;
        let base = if is_good { 0.85 } else { 0.2 } + 0.3 * (of_item.next() - 0.5);
        let answer = (base + 0.25 * (random.next() - 0.5)).clamp(0.0, 1.0);
        let verdict = if random.next() < base { Verdict::Accept } else { Verdict::Reject };
        log.push(
            &Judgement {
                item: item.to_string().into(),
                label: Some(if is_good { "1" } else { "0" }.into()),
                score: is_score.then(|| (1.0 + 9.0 * answer).round()),
                verdict: (!is_score).then_some(verdict),
                ..Judgement::default()
            },
            0,
        );
    }
    log
}

/// Items of `n_raters` ratings of three categories, raters right between .5 and .9 of the time.
fn ratings(n: u32, n_raters: u32) -> Vec<Rating> {
    let mut random = Lcg(2);
    let mut list = Vec::with_capacity(n as usize);
    for item in 0..n / n_raters {
        let truth = random.below(3);
        for rater in 0..n_raters {
            let is_right = random.next() < 0.5 + 0.4 * f64::from(rater) / f64::from(n_raters);
            let category = if is_right { truth } else { (truth + 1 + random.below(2)) % 3 };
            list.push(Rating { item, rater, category });
        }
    }
    list
}

/// Returns the most memory this process has held, in MiB, where the system tells it.
fn peak_memory_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

/// Returns the seconds that all threads of this process have computed, in hundredths, where the system tells them.
fn computed() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = status.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

/// Prints what a rating takes.
fn measure<T>(what: &str, n: u32, compute: impl Fn() -> T) {
    const ENOUGH: Duration = Duration::from_millis(400);
    // Begins the count of memory anew, where the system lets it.
    let _is_reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let (began, computed_before) = (Instant::now(), computed());
    let (mut n_rounds, mut least) = (0, Duration::MAX);
    while n_rounds < LEAST_ROUNDS || began.elapsed() < ENOUGH {
        let start = Instant::now();
        std::hint::black_box(compute());
        least = least.min(start.elapsed());
        n_rounds += 1;
    }
    let seconds = match (computed_before, computed()) {
        (Some(before), Some(after)) => after - before,
        _ => began.elapsed().as_secs_f64(),
    };
    let memory = peak_memory_mib().map_or_else(String::new, |mib| format!("{mib} MiB"));
    let nanoseconds = seconds * 1e9 / f64::from(n_rounds) / f64::from(n);
    println!("| {what} | {n} | {nanoseconds:.1} | {:.3} | {memory} |", least.as_secs_f64());
}

fn main() {
    let most: u32 = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(u32::MAX);
    println!("| measurement | ratings | ns a rating, computing | seconds, clock | memory |\n|---|---:|---:|---:|---:|");
    for n in SIZES.into_iter().filter(|n| *n <= most) {
        let em = EmConfig { max_iterations: 10, tolerance: f64::NEG_INFINITY };
        {
            let mut random = Lcg(3);
            let scores: Vec<f64> = (0..n).map(|_| random.next().round()).collect();
            let is_good: Vec<bool> = scores.iter().map(|score| random.next() < 0.3 + 0.4 * score).collect();
            measure("ICC mean squares, 5 raters", n, || mean_squares(&scores, 5));
            measure("AUC with DeLong's error", n, || auc(&scores, &is_good, None, None));
        }
        {
            let mut random = Lcg(4);
            let pairs: Vec<(u32, u32)> = (0..n).map(|_| (random.below(5), random.below(5))).collect();
            let config = BootstrapConfig { n_resamples: 2_000, seed: 1 };
            measure("kappa, 2,000 resamples", n, || {
                kappa_bootstrap(&pairs, None, 5, Chance::Cohen, &Weighting::Quadratic, config)
            });
            let mut counts = vec![0; n as usize];
            for unit in counts.chunks_exact_mut(5) {
                (0..5).for_each(|_| unit[random.below(5) as usize] += 1);
            }
            let values = [1.0, 2.0, 3.0, 4.0, 5.0];
            measure("ordinal alpha, 5 raters", n, || krippendorff_alpha(&counts, &values, Metric::Ordinal));
            measure("ordinal alpha, 5 raters, 2,000 resamples", n, || {
                alpha_bootstrap(&counts, &values, Metric::Ordinal, None, config)
            });
        }
        for n_raters in [3, 10] {
            let list = ratings(n, n_raters);
            let n_items = (n / n_raters) as usize;
            measure(&format!("ratings checked and sorted, {n_raters} raters"), n, || {
                Ratings::new(&list, n_items, n_raters as usize, 3)
            });
            let checked = Ratings::new(&list, n_items, n_raters as usize, 3).unwrap();
            measure(&format!("Dawid–Skene, 10 iterations, {n_raters} raters"), n, || {
                dawid_skene(&checked, DawidSkeneConfig { em, pseudo_count: 0.0 })
            });
            measure(&format!("MACE, 2 restarts of 10 iterations, {n_raters} raters"), n, || {
                mace(&checked, MaceConfig { em, n_restarts: 2, ..MaceConfig::with_seed(1) })
            });
            measure(&format!("GLAD, 10 iterations, {n_raters} raters"), n, || glad(&checked, em));
        }
        for (what, is_score, is_shuffled) in
            [("verdicts", false, false), ("scores", true, false), ("verdicts in no order", false, true)]
        {
            let log = log(n, is_score, is_shuffled);
            measure(&format!("audit of {what}"), n, || audit(&log, &AuditConfig::default(), &Gate::built_in()));
        }
        measure("tally of draws, and their flip rate", n, || {
            let mut random = Lcg(5);
            let mut tally = DrawTally::default();
            for row in 0..n {
                tally.add(u64::from(row / 5), u64::from(row / 5), 0, f64::from(random.below(5)));
            }
            tally.flip_rate()
        });
    }
}
