//! Values of flags: how they are written, and what they mean to the library.

use assize_calibration::audit::{Calendar, LookOrder, Windows};
use assize_calibration::judgement::OutcomeKind;
use assize_calibration::prevalence::LabelSampling;
use clap::ValueEnum;

/// Which outcome.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Outcome {
    Score,
    Verdict,
    Choice,
    Category,
}

impl From<Outcome> for OutcomeKind {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Score => Self::Score,
            Outcome::Verdict => Self::Verdict,
            Outcome::Choice => Self::Choice,
            Outcome::Category => Self::Category,
        }
    }
}

/// The order in which evidence that allows a look after every item takes them.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Anytime {
    /// As the log completes them
    Log,
    /// Shuffled by the seed
    Shuffled,
}

impl From<Anytime> for LookOrder {
    fn from(order: Anytime) -> Self {
        match order {
            Anytime::Log => Self::Log,
            Anytime::Shuffled => Self::Shuffled,
        }
    }
}

/// How the labelled items were chosen.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum LabelsAre {
    /// A random sample of the stream that the other items are from
    Random,
    /// Chosen by their labels, such as half right and half wrong
    ByLabel,
    /// Nobody knows
    Unknown,
}

impl From<LabelsAre> for LabelSampling {
    fn from(chosen: LabelsAre) -> Self {
        match chosen {
            LabelsAre::Random => Self::Random,
            LabelsAre::ByLabel => Self::ByLabel,
            LabelsAre::Unknown => Self::Unknown,
        }
    }
}

/// Reads `5:1`; what range the numbers must be in the configuration says.
pub(super) fn costs(text: &str) -> Result<[f64; 2], String> {
    let parts = text.split_once(':').or_else(|| text.split_once(','));
    let numbers = parts.and_then(|(fa, fr)| Some([fa.trim().parse().ok()?, fr.trim().parse().ok()?]));
    numbers.ok_or_else(|| "write the cost of a false accept and that of a false reject, such as 5:1".to_owned())
}

/// Reads `1-10`, `-5..5`, `0,1`.
pub(super) fn scale(text: &str) -> Result<[f64; 2], String> {
    let hyphen = |text: &str| text.char_indices().skip(1).find(|&(_, character)| character == '-').map(|(at, _)| at);
    let parts = text
        .split_once("..")
        .or_else(|| text.split_once([',', ':']))
        .or_else(|| hyphen(text).map(|at| (&text[..at], &text[at + 1..])));
    let numbers = parts.and_then(|(low, high)| Some([low.trim().parse().ok()?, high.trim().parse().ok()?]));
    let scale: [f64; 2] = numbers.ok_or("write the lowest and the highest score, such as 1-10")?;
    if scale[0] < scale[1] { Ok(scale) } else { Err("the lowest score must come first".to_owned()) }
}

/// Reads `day`, `week` or a number of windows.
pub(super) fn windows(text: &str) -> Result<Windows, String> {
    match text.trim() {
        "day" | "days" => Ok(Windows::Calendar(Calendar::Day)),
        "week" | "weeks" => Ok(Windows::Calendar(Calendar::Week)),
        number => number
            .parse()
            .ok()
            .filter(|n| *n > 0)
            .map(Windows::Count)
            .ok_or_else(|| "write day, week, or a whole number of at least 1".to_owned()),
    }
}

/// Reads a seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_not_one| format!("write a whole number from 0 to {}", u64::MAX))
}

/// Reads a count.
pub(super) fn count<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_not_one| "write a whole number of at least 0, such as 50".to_owned())
}

/// Writes windows as `windows` reads them.
pub(super) fn window_words(windows: Windows) -> String {
    match windows {
        Windows::Calendar(Calendar::Day) => "day".to_owned(),
        Windows::Calendar(Calendar::Week) => "week".to_owned(),
        Windows::Count(n) => n.to_string(),
    }
}

/// Writes a value of a set as the command line does.
pub(super) fn word(value: &impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_read_with_negative_ends() {
        assert_eq!(scale("1-10"), Ok([1.0, 10.0]));
        assert_eq!(scale("-5..5"), Ok([-5.0, 5.0]));
        assert_eq!(scale("-5--1"), Ok([-5.0, -1.0]));
        assert_eq!(scale("0, 1"), Ok([0.0, 1.0]));
        for wrong in ["", "5", "10-1", "1-", "nan-1", "a-b", "1-1"] {
            scale(wrong).unwrap_err();
        }
    }

    #[test]
    fn costs_are_two_numbers() {
        assert_eq!(costs("5:1"), Ok([5.0, 1.0]));
        assert_eq!(costs("0.5, 2"), Ok([0.5, 2.0]));
        for wrong in ["", "5", "5:", ":1", "a:b"] {
            costs(wrong).unwrap_err();
        }
    }
}
