//! The library's side of `run.py`: times each task on the data it is given, in answer to lines of `task threads`.
//!
//! Files are read before any clock starts. What takes less than five milliseconds is repeated and divided.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set itself up fails by panicking")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its own small whole numbers")]

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use assize_calibration::agreement::alpha::Metric;
use assize_calibration::agreement::kappa::{Chance, Weighting};
use assize_calibration::agreement::multi::{ManyRaters, fleiss_kappa, gwet_ac};
use assize_calibration::agreement::resampled::{alpha_bootstrap, kappa_bootstrap};
use assize_calibration::bootstrap::{BootstrapConfig, Patterns, bootstrap};
use assize_calibration::icc::{IccModel, IccUnit, icc, mean_squares};
use assize_calibration::prevalence::{LabelSampling, Labelled, PowerTuning, Unlabelled, ppi_mean};
use assize_calibration::raters::dawid_skene::{DawidSkeneConfig, dawid_skene};
use assize_calibration::raters::glad::glad;
use assize_calibration::raters::mace::{MaceConfig, mace};
use assize_calibration::raters::{EmConfig, Posterior, Rating, Ratings};
use assize_calibration::roc::auc;
use assize_calibration::sequential::{Boundary, ConfidenceSequence};

const SEED: u64 = 1;

/// As many iterations as asked for, whatever they gain.
fn exactly(max_iterations: u32) -> EmConfig {
    EmConfig { max_iterations, tolerance: f64::NEG_INFINITY }
}

struct Data {
    icc: Vec<f64>,
    ratings: Vec<Rating>,
    pairs: Vec<(u32, u32)>,
    /// Units × 5 raters, 0 where missing.
    units: Vec<f64>,
    clusters: Vec<f64>,
    labelled: Vec<f64>,
    stream: Vec<f64>,
    skewed: Vec<f64>,
    /// Truth and what was judged of the labelled; what was judged of the others.
    ppi: [Vec<f64>; 3],
    betting: Vec<f64>,
    scores: Vec<f64>,
    is_good: Vec<bool>,
}

fn read(folder: &Path, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(folder.join(name).with_extension("csv")).unwrap();
    text.split([',', '\n']).filter(|cell| !cell.is_empty()).map(|cell| cell.trim().parse().unwrap()).collect()
}

impl Data {
    fn read(folder: &Path) -> Self {
        let whole = |x: f64| x as u32;
        let verdicts = read(folder, "judgy");
        let (labelled, stream): (Vec<&[f64]>, Vec<&[f64]>) = verdicts.chunks_exact(2).partition(|row| row[0] >= 0.0);
        let scored = read(folder, "auc");
        let powered = read(folder, "ppi");
        let (known, open): (Vec<&[f64]>, Vec<&[f64]>) = powered.chunks_exact(2).partition(|row| row[0] >= 0.0);
        let column = |rows: &[&[f64]], idx: usize| rows.iter().map(|row| row[idx]).collect();
        Self {
            icc: read(folder, "icc"),
            ratings: read(folder, "ratings")
                .chunks_exact(3)
                .map(|row| Rating { item: whole(row[0]), rater: whole(row[1]), category: whole(row[2]) })
                .collect(),
            pairs: read(folder, "kappa").chunks_exact(2).map(|row| (whole(row[0]), whole(row[1]))).collect(),
            units: read(folder, "alpha"),
            clusters: read(folder, "clusters"),
            labelled: labelled.concat(),
            stream: stream.iter().map(|row| row[1]).collect(),
            skewed: read(folder, "bca"),
            ppi: [column(&known, 0), column(&known, 1), column(&open, 1)],
            betting: read(folder, "betting"),
            scores: scored.iter().copied().step_by(2).collect(),
            is_good: scored.iter().skip(1).step_by(2).map(|label| *label > 0.5).collect(),
        }
    }

    fn checked_ratings(&self) -> Ratings {
        Ratings::new(&self.ratings, 2_000, 10, 3).unwrap()
    }

    /// How often each of five values was given to each unit.
    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.units.len()];
        for (unit, counts) in self.units.chunks_exact(5).zip(counts.chunks_exact_mut(5)) {
            for value in unit.iter().filter(|value| **value > 0.0) {
                counts[*value as usize - 1] += 1;
            }
        }
        counts
    }

    /// Does a task and returns what `run.py` compares.
    fn compute(&self, task: &str) -> Vec<f64> {
        let resamples = |n_resamples| BootstrapConfig { n_resamples, seed: SEED };
        match task {
            "ready" => Vec::new(),
            "icc" => {
                let squares = mean_squares(&self.icc, 5).unwrap();
                let forms = [IccUnit::Single, IccUnit::Mean].into_iter().flat_map(|unit| {
                    [IccModel::OneWay, IccModel::TwoWayRandom, IccModel::TwoWayMixed].map(|model| (model, unit))
                });
                forms.map(|(model, unit)| icc(&squares, model, unit, 0.95).unwrap().estimate).collect()
            }
            "mace" => {
                let config = MaceConfig { em: exactly(50), ..MaceConfig::with_seed(SEED) };
                labels(&mace(&self.checked_ratings(), config).posterior)
            }
            "glad" => {
                let found = glad(&self.checked_ratings(), EmConfig::default());
                let objective = found.objective.last().copied();
                labels(&found.posterior).into_iter().chain(objective).collect()
            }
            "dawid_skene" => {
                let config = DawidSkeneConfig { em: exactly(20), pseudo_count: 0.0 };
                let posterior = dawid_skene(&self.checked_ratings(), config).posterior;
                (0..posterior.n_items()).flat_map(|item_idx| posterior.of_item(item_idx).to_vec()).collect()
            }
            "kappa" => {
                let found = kappa_bootstrap(&self.pairs, None, 5, Chance::Cohen, &Weighting::Quadratic, resamples(200))
                    .unwrap();
                vec![found.estimate.unwrap(), found.standard_error().unwrap()]
            }
            "irr" => {
                let counts = self.counts();
                let both = |found: Option<ManyRaters>| {
                    let found = found.unwrap();
                    [found.agreement.kappa, found.standard_error().unwrap()]
                };
                [
                    both(fleiss_kappa(&counts, 5, &Weighting::Unweighted)),
                    both(gwet_ac(&counts, 5, &Weighting::Unweighted)),
                    both(gwet_ac(&counts, 5, &Weighting::Quadratic)),
                ]
                .concat()
            }
            "ppi" => {
                let [truths, judged, open] = &self.ppi;
                let found = ppi_mean(
                    Labelled { truths, judged, weights: None, clusters: None },
                    Unlabelled { judged: open, weights: None, clusters: None },
                    LabelSampling::Random,
                    PowerTuning::Tuned,
                    0.95,
                );
                let found = found.unwrap();
                vec![found.estimate, found.standard_error]
            }
            "betting" => {
                let mut sequence =
                    ConfidenceSequence::new(Boundary::Betting { n_grid: 1_000 }, [0.0, 1.0], 0.95).unwrap();
                let mut ends = Vec::new();
                for (idx, value) in self.betting.iter().enumerate() {
                    sequence.update(*value).unwrap();
                    if idx == 99 || idx == self.betting.len() - 1 {
                        let interval = sequence.interval().unwrap();
                        ends.extend([interval.low, interval.high]);
                    }
                }
                ends
            }
            "alpha" => {
                let counts = self.counts();
                let values = [1.0, 2.0, 3.0, 4.0, 5.0];
                let found = alpha_bootstrap(&counts, &values, Metric::Ordinal, None, resamples(50)).unwrap();
                vec![found.estimate.unwrap(), found.standard_error().unwrap()]
            }
            "clusters_mean" | "judgecal" => {
                let tallies: Vec<f64> =
                    self.clusters.chunks_exact(8).flat_map(|cluster| [cluster.iter().sum(), 8.0]).collect();
                let patterns = Patterns::of_clusters(&tallies, 2).unwrap();
                let found = bootstrap(&[patterns], &[&|sums| Some(sums[0] / sums[1])], resamples(2_000)).unwrap();
                let (low, high) = found[0].percentile(0.95).unwrap();
                vec![found[0].estimate.unwrap(), low, high]
            }
            "judgy" => {
                let tallies: Vec<f64> = self
                    .labelled
                    .chunks_exact(2)
                    .flat_map(|row| [row[0] * row[1], row[0], (1.0 - row[0]) * (1.0 - row[1]), 1.0 - row[0]])
                    .collect();
                let patterns = Patterns::of_clusters(&tallies, 4).unwrap();
                let passed = self.stream.iter().sum::<f64>() / self.stream.len() as f64;
                let corrected = |sums: &[f64]| {
                    let (accepts, rejects) = (sums[0] / sums[1], sums[2] / sums[3]);
                    let informedness = accepts + rejects - 1.0;
                    (informedness > 0.0).then(|| ((passed + rejects - 1.0) / informedness).clamp(0.0, 1.0))
                };
                let found = bootstrap(&[patterns], &[&corrected], resamples(20_000)).unwrap();
                let (low, high) = found[0].percentile(0.95).unwrap();
                vec![found[0].estimate.unwrap(), low, high]
            }
            "bca" => {
                let tallies: Vec<f64> = self.skewed.iter().flat_map(|value| [*value, 1.0]).collect();
                let patterns = Patterns::of_clusters(&tallies, 2).unwrap();
                let found = bootstrap(&[patterns], &[&|sums| Some(sums[0] / sums[1])], resamples(9_999)).unwrap();
                let (low, high) = found[0].bca(0.95).unwrap();
                vec![low, high]
            }
            "auc" => {
                let found = auc(&self.scores, &self.is_good, None, None).unwrap();
                vec![found.estimate, found.standard_error.unwrap()]
            }
            _ => panic!("there is no task {task}"),
        }
    }
}

/// Returns each item's label, -1 for a tie.
fn labels(posterior: &Posterior) -> Vec<f64> {
    posterior.labels().into_iter().map(|label| label.map_or(-1.0, f64::from)).collect()
}

/// Returns the milliseconds and the values of a task.
fn timed(data: &Data, task: &str) -> (f64, Vec<f64>) {
    let start = Instant::now();
    let values = data.compute(task);
    let once = start.elapsed().as_secs_f64();
    let n = (0.005 / once.max(1e-9)) as u32;
    if n < 1 {
        return (1e3 * once, values);
    }
    let n = n.min(10_000);
    let start = Instant::now();
    for _ in 0..n {
        std::hint::black_box(data.compute(task));
    }
    (1e3 * start.elapsed().as_secs_f64() / f64::from(n), values)
}

fn main() {
    // `cargo bench` adds a flag of its own.
    let folder: Option<PathBuf> = std::env::args().skip(1).find(|argument| !argument.starts_with("--")).map(Into::into);
    let Some(folder) = folder else {
        println!("run by benches/against_references/run.py, with the folder of its data");
        return;
    };
    let data = Data::read(&folder);
    let pools = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (task, n_threads) = line.split_once(' ').unwrap();
        let n_threads: usize = n_threads.parse().unwrap();
        let (ms, values) = pools[n_threads - 1].install(|| timed(&data, task));
        println!("{}", serde_json::json!({ "ms": ms, "values": values }));
        std::io::stdout().flush().unwrap();
    }
}
