//! Evidence on either side of a limit, always valid: bets at fair odds against "the mean is beyond it".

use super::SequenceError;

/// Bets a side, each a constant share of the largest one that cannot lose more than the stake.
const N_BETS: usize = 64;

/// A test of a mean against one limit, updated value by value, that may be stopped at any time.
///
/// On either side, 64 players hold equal stakes and bet on the mean lying beyond the limit, the j-th a constant share
/// (j + ½)/64 of the largest bet that cannot ruin it by more than its stake. Were the mean exactly at the limit, or on its other
/// side, their common capital would be a non-negative supermartingale that starts at 1; it ever reaches 1/p with probability at most
/// p (Ville 1939). So 1 over the largest capital so far is a p value at every look together. For answers of two kinds a constant share
/// is the best bet against one alternative (Kelly 1956), and the mixture falls short of the best one by no more than the
/// logarithm of their number (Waudby-Smith & Ramdas 2024, section 4.2 and appendix B).
///
/// What it needs is what [`super::ConfidenceSequence`] needs: one value a completed item, items in random order, the range known beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitTest {
    low: f64,
    width: f64,
    /// The limit on the scale of 0 to 1.
    limit: f64,
    /// Capitals of those who bet that the mean is above, and below.
    above: [f64; N_BETS],
    below: [f64; N_BETS],
    /// The largest mean capital so far on either side.
    most_above: f64,
    most_below: f64,
    n: u64,
}

impl LimitTest {
    /// Begins a test of whether the mean of values in `range` is above or below `limit`.
    ///
    /// # Errors
    /// [`SequenceError::Settings`] (its level is NaN) unless the range is finite and not empty. A limit at or beyond an end of the range is allowed:
    /// nothing can show that a mean lies beyond an end.
    pub fn new(limit: f64, range: [f64; 2]) -> Result<Self, SequenceError> {
        let [low, high] = range;
        let width = high - low;
        let is_usable = width > 0.0 && width.is_finite() && limit.is_finite();
        if !is_usable {
            return Err(SequenceError::Settings { low, high, level: f64::NAN });
        }
        Ok(Self {
            low,
            width,
            limit: (limit - low) / width,
            above: [1.0; N_BETS],
            below: [1.0; N_BETS],
            most_above: 1.0,
            most_below: 1.0,
            n: 0,
        })
    }

    /// Adds the value of one completed item.
    ///
    /// # Errors
    /// [`SequenceError::OutOfRange`], also for NaN; the test stays as it was.
    pub fn update(&mut self, value: f64) -> Result<(), SequenceError> {
        self.bet_above(value)?;
        self.bet_below(value)?;
        self.n += 1;
        Ok(())
    }

    /// Settles the bets on "above" alone.
    pub(super) fn bet_above(&mut self, value: f64) -> Result<(), SequenceError> {
        let gain = self.gain(value)?;
        // That the mean is 0 at least, or 1 at most, is certain: a limit outside is passed by any value, one at an end by any that is not there.
        if self.limit > 0.0 {
            self.most_above = self.most_above.max(bet(&mut self.above, gain / self.limit));
        } else if gain > 0.0 {
            self.most_above = f64::INFINITY;
        }
        Ok(())
    }

    /// Settles the bets on "below" alone.
    pub(super) fn bet_below(&mut self, value: f64) -> Result<(), SequenceError> {
        let gain = self.gain(value)?;
        if self.limit < 1.0 {
            self.most_below = self.most_below.max(bet(&mut self.below, -gain / (1.0 - self.limit)));
        } else if gain < 0.0 {
            self.most_below = f64::INFINITY;
        }
        Ok(())
    }

    /// Returns how far a value lies above the limit, on the scale of 0 to 1.
    fn gain(&self, value: f64) -> Result<f64, SequenceError> {
        let is_inside = value >= self.low && value <= self.low + self.width;
        if !is_inside {
            return Err(SequenceError::OutOfRange(value));
        }
        Ok(((value - self.low) / self.width).clamp(0.0, 1.0) - self.limit)
    }

    /// Returns the p value, at all looks so far together, of the mean being at most the limit. Small: it is above. 0 once that is
    /// certain, 1 where nothing can be above.
    #[must_use]
    pub fn p_at_most(&self) -> f64 {
        1.0 / self.most_above
    }

    /// Returns the p value, at all looks so far together, of the mean being at least the limit. Small: it is below.
    #[must_use]
    pub fn p_at_least(&self) -> f64 {
        1.0 / self.most_below
    }

    /// Returns how many values there were.
    #[must_use]
    pub const fn n(&self) -> u64 {
        self.n
    }
}

/// Settles all bets on a gain in stakes of the largest bet, and returns the mean capital.
fn bet(capitals: &mut [f64; N_BETS], gain: f64) -> f64 {
    let mut sum = 0.0;
    for (idx, capital) in capitals.iter_mut().enumerate() {
        let share = (idx as f64 + 0.5) / N_BETS as f64;
        // A capital that overflows has long won.
        *capital = (*capital * (1.0 + share * gain)).min(f64::MAX / N_BETS as f64);
        sum += *capital;
    }
    sum / N_BETS as f64
}

/// Returns the share of the error that look `look_idx` (from 0) may spend when looks are few and their number is not known:
/// 1/((j + 1)(j + 2)). All together spend 1, so that p divided by its share is valid at all of them (Bonferroni, weighted).
#[must_use]
pub fn spent(look_idx: u32) -> f64 {
    let look = f64::from(look_idx);
    1.0 / ((look + 1.0) * (look + 2.0))
}
