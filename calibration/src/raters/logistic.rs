//! The logistic function and its integral from a table, where a model asks for them once a rating.
//!
//! The function is exact to 1e-14, the integral to rounding, at a fraction of the time of an exponential and a logarithm.

/// Steps of the table a unit.
const STEPS: f64 = 32.0;

/// Beyond this the smaller of both tails is below 5e-18, less than rounding of the sums it enters.
const END: f64 = 40.0;

/// Values of log(1 + exp(u)) and 1/(1 + exp(−u)) at u = 0, −1/32, −2/32, …
#[derive(Clone, Debug)]
pub(super) struct Logistic(Vec<[f64; 2]>);

impl Logistic {
    pub(super) fn new() -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1,280")]
        let last = (END * STEPS) as u32;
        Self(
            (0..=last)
                .map(|step| {
                    let tail = (-f64::from(step) / STEPS).exp();
                    [tail.ln_1p(), tail / (1.0 + tail)]
                })
                .collect(),
        )
    }

    /// Returns 1/(1 + exp(−x)) and log(1 + exp(x)).
    ///
    /// From the nearest value of the table by Taylor's series, all of whose derivatives are polynomials of the first: of order 6, at
    /// a distance of 1/64 at most.
    #[inline]
    pub(super) fn of(&self, x: f64) -> (f64, f64) {
        let distance = x.abs();
        if distance >= END {
            return (if x > 0.0 { 1.0 } else { 0.0 }, x.max(0.0));
        }
        let step = (distance * STEPS).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..=1280; NaN becomes 0")]
        let [integral, chance] = self.0[step as usize];
        let h = step / STEPS - distance;
        let (v, w) = (chance * (1.0 - chance), 1.0 - 2.0 * chance);
        // The derivatives of the logistic function at the table's point.
        let [d2, d3, d4, d5] =
            [v * w, v * (1.0 - 6.0 * v), v * w * (1.0 - 12.0 * v), v * (1.0 - 30.0 * v + 120.0 * v * v)];
        let tail = chance + h * (v + h / 2.0 * (d2 + h / 3.0 * (d3 + h / 4.0 * (d4 + h / 5.0 * d5))));
        let below =
            integral + h * (chance + h / 2.0 * (v + h / 3.0 * (d2 + h / 4.0 * (d3 + h / 5.0 * (d4 + h / 6.0 * d5)))));
        (if x < 0.0 { tail } else { 1.0 - tail }, x.max(0.0) + below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_gives_what_the_functions_do() {
        let logistic = Logistic::new();
        for step in -50_000..=50_000 {
            let x = f64::from(step) * 0.001_003;
            let tail = (-x.abs()).exp();
            let exact = (if x < 0.0 { tail } else { 1.0 } / (1.0 + tail), x.max(0.0) + tail.ln_1p());
            let found = logistic.of(x);
            assert!((found.0 - exact.0).abs() < 1e-14, "{x}: {found:?} is not {exact:?}");
            assert!((found.1 - exact.1).abs() < 2e-15 * (1.0 + x.abs()), "{x}: {found:?} is not {exact:?}");
        }
        assert!(logistic.of(f64::NAN).1.is_nan());
        assert_eq!((logistic.of(f64::INFINITY), logistic.of(f64::NEG_INFINITY)), ((1.0, f64::INFINITY), (0.0, 0.0)));
    }
}
