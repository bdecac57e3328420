//! What looking again and again does to a test that was made for one look.

use crate::distribution::normal_cdf;

/// Points of the grid on either side of 0, in standard deviations of the score at a look.
const REACH: f64 = 8.0;
const N_STEPS: usize = 320;

/// Returns the probability that a standardised mean passes `boundary` (upwards) at one look at least, when it is tested at each of `sizes`
/// observations in all, and the truth is exactly at the limit. `sizes` must grow; a look at no more than the one before adds nothing.
///
/// The score of a look is that of the one before plus an independent normal part: its density is carried from look to look on a
/// grid and cut off above the boundary (Armitage, `McPherson` & Rowe 1969). Exact for means of many observations. The two-sided probability
/// agrees with their table 2 (twice this, less what passes both).
///
/// Returns 0 without looks. Cost: looks × grid².
#[must_use]
pub fn repeated_looks(sizes: &[f64], boundary: f64) -> f64 {
    let mut sizes = sizes.iter().copied().filter(|n| *n > 0.0 && n.is_finite());
    let Some(first) = sizes.next() else { return 0.0 };
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let step = (REACH + boundary) / N_STEPS as f64;
    // The grid of standardised scores below the boundary, at the middle of each cell.
    let grid: Vec<f64> = (0..N_STEPS).map(|idx| step.mul_add(idx as f64 + 0.5, -REACH)).collect();
    let mut alive: Vec<f64> = grid.iter().map(|z| density(*z) * step).collect();
    let mut passed = 1.0 - normal_cdf(boundary);
    let mut n_before = first;
    for n in sizes {
        if n <= n_before {
            continue;
        }
        // z·√n = z′·√n′ + a normal part with variance n − n′.
        let (scale, spread) = ((n_before / n).sqrt(), ((n - n_before) / n).sqrt());
        // A step much smaller than the grid's cells would fall between them.
        let n_fine = (2.0 * step / spread).ceil().max(1.0);
        let mut next = vec![0.0; N_STEPS];
        let mut passing = 0.0;
        for (z, mass) in grid.iter().zip(&alive).filter(|(_, mass)| **mass > 1e-14) {
            let mean = z * scale;
            passing += mass * (1.0 - normal_cdf((boundary - mean) / spread));
            for (there, next) in grid.iter().zip(&mut next) {
                let distance = (there - mean) / spread;
                if distance.abs() > 8.0 + n_fine {
                    continue;
                }
                let (low, high) = (distance - 0.5 * step / spread, distance + 0.5 * step / spread);
                *next += mass
                    * if n_fine > 1.0 { normal_cdf(high) - normal_cdf(low) } else { density(distance) * step / spread };
            }
        }
        passed += passing;
        alive = next;
        n_before = n;
    }
    passed.clamp(0.0, 1.0)
}
