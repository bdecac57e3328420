//! The interval that belongs to the bets against a limit: all limits that they do not reject.

use super::{LimitTest, SequenceError};
use crate::proportion::Interval;

/// Halvings of the range within which an end is looked for.
const N_HALVINGS: usize = 24;

/// Returns the means that [`LimitTest`] rejects at none of its looks at `values`, each side at half of `1 - level`.
///
/// Being the very test turned round, it holds `limit` exactly where the test of `limit` rejects on neither side: an interval beyond a limit and a limit
/// still open never come together. Where the limit is rejected and the end is nearer to it than 2⁻²⁴ of the range, the end is the limit. It is always valid, as
/// the test is. `None` once no mean is left: the values did not come in random order, or this is one of the cases in which it errs.
///
/// The stake left to those who bet on "above" falls as the limit rises, whatever the values, so that what they reject ends
/// at one point, found by halving; each halving plays all bets again, which costs 64 products a value.
///
/// # Errors
/// As [`LimitTest::new`] and [`LimitTest::update`].
pub fn unrejected_means(
    values: &[f64],
    range: [f64; 2],
    level: f64,
    limit: f64,
) -> Result<Option<Interval>, SequenceError> {
    let [low, high] = range;
    let alpha = (1.0 - level) / 2.0;
    let plays = |mean: f64, side: Side| -> Result<bool, SequenceError> {
        let mut test = LimitTest::new(mean, range)?;
        for &value in values {
            match side {
                Side::Above => test.bet_above(value)?,
                Side::Below => test.bet_below(value)?,
            }
            // The largest capital counts: what is rejected stays so.
            if side.p(&test) < alpha {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let end = |side: Side, from: f64, to: f64| -> Result<f64, SequenceError> {
        // `from` is rejected, or as far as a mean can be; `to` is not.
        let (mut rejected, mut left) = (from, to);
        if limit > low && limit < high {
            if plays(limit, side)? { rejected = limit } else { left = limit }
        }
        for _ in 0..N_HALVINGS {
            let middle = f64::midpoint(rejected, left);
            if plays(middle, side)? { rejected = middle } else { left = middle }
        }
        Ok(rejected)
    };
    let interval = Interval { low: end(Side::Above, low, high)?, high: end(Side::Below, high, low)? };
    Ok((interval.low <= interval.high).then_some(interval))
}

#[derive(Clone, Copy)]
enum Side {
    Above,
    Below,
}

impl Side {
    fn p(self, test: &LimitTest) -> f64 {
        match self {
            Self::Above => test.p_at_most(),
            Self::Below => test.p_at_least(),
        }
    }
}
