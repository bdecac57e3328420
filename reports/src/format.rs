//! Numbers and words for people. The only place where a probability becomes per cent.
//!
//! Nothing here prints "NaN": a number that is not finite is "not defined".

use assize_calibration::audit::catalogue::{self, Family, Unit};
use assize_calibration::audit::result::{Fitness, Measure, Standing};
use assize_calibration::gate::LimitState;
use assize_calibration::judgement::OutcomeKind;

/// What stands in place of a number that is not finite.
pub(crate) const UNDEFINED: &str = "not defined";

/// Returns `digits` with a true minus sign, and without one before a zero.
fn signed(digits: String) -> String {
    match digits.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.' | ',')) => rest.to_owned(),
        Some(rest) => format!("\u{2212}{rest}"),
        None => digits,
    }
}

/// Returns a share as a number of per cent without the sign: one decimal, more only where one decimal would
/// claim that a rare event never happens, or that a common one always does.
fn per_cent_digits(share: f64) -> String {
    if !share.is_finite() {
        return UNDEFINED.to_owned();
    }
    let per_cent = share * 100.0;
    let from_certainty = per_cent.abs().min((100.0 - per_cent.abs()).abs());
    // Nearer than three decimals can show, `100.000` would say no more than `100.0`.
    let is_exact = from_certainty < 0.0005;
    let decimals = if is_exact || from_certainty >= 0.05 {
        1
    } else if from_certainty >= 0.005 {
        2
    } else {
        3
    };
    signed(format!("{per_cent:.decimals$}"))
}

/// Returns a share in per cent with one decimal: `12.3 %`.
#[must_use]
pub(crate) fn per_cent(share: f64) -> String {
    if share.is_finite() { format!("{}\u{a0}%", per_cent_digits(share)) } else { UNDEFINED.to_owned() }
}

/// Returns a number with three significant digits, and at most four decimals.
#[must_use]
pub(crate) fn significant(value: f64) -> String {
    if !value.is_finite() {
        return UNDEFINED.to_owned();
    }
    let size = value.abs();
    if size >= 1000.0 {
        return signed(grouped(&format!("{value:.0}")));
    }
    let decimals = if size >= 100.0 {
        0
    } else if size >= 10.0 {
        1
    } else if size >= 1.0 || size == 0.0 {
        2
    } else if size >= 0.1 {
        3
    } else {
        4
    };
    signed(format!("{value:.decimals$}"))
}

/// Returns a number as short as it can be written: limits, thresholds and settings, which people chose.
#[must_use]
pub(crate) fn plain(value: f64) -> String {
    if !value.is_finite() {
        return UNDEFINED.to_owned();
    }
    let rounded = format!("{value:.6}");
    signed(rounded.trim_end_matches('0').trim_end_matches('.').to_owned())
}

fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a count with thousands separated: `12,345`.
#[must_use]
pub(crate) fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// Returns a count with its noun in the right number: `1 item`, `2 items`.
#[must_use]
pub(crate) fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{}\u{a0}{noun}{plural}", count(n))
}

/// Returns a value in its unit.
#[must_use]
pub(crate) fn value(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => per_cent(number),
        Unit::Points | Unit::Coefficient | Unit::Loss => significant(number),
    }
}

/// Returns a limit in its unit, with no more decimals than were chosen.
#[must_use]
pub(crate) fn limit(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Share if number.is_finite() => format!("{}\u{a0}%", plain(number * 100.0)),
        _ => plain(number),
    }
}

fn interval_end(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => per_cent_digits(number),
        Unit::Points | Unit::Coefficient | Unit::Loss => significant(number),
    }
}

/// Returns the interval of a measure as `[9.8, 15.1]`, or `None` where it has none.
#[must_use]
pub(crate) fn interval(measure: &Measure, unit: Unit) -> Option<String> {
    let low = measure.low.filter(|end| end.is_finite())?;
    let high = measure.high.filter(|end| end.is_finite())?;
    Some(format!("[{}, {}]", interval_end(low, unit), interval_end(high, unit)))
}

/// Returns a measure with its interval: `12.3 % [9.8, 15.1]`.
#[must_use]
pub(crate) fn measure(measure: &Measure, unit: Unit) -> String {
    let estimate = value(measure.estimate, unit);
    match interval(measure, unit) {
        Some(interval) => format!("{estimate} {interval}"),
        None => format!("{estimate} (no interval)"),
    }
}

/// Returns a p value: `p = 0.034`, `p < 0.001`.
#[must_use]
pub(crate) fn p_value(p: f64) -> String {
    if !p.is_finite() {
        return "p not defined".to_owned();
    }
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// Returns a confidence level: `95 %`.
#[must_use]
pub(crate) fn level(level: f64) -> String {
    limit(level, Unit::Share)
}

/// Measures that are no judge's and so are not in the catalogue: agreement among raters, and a plain comparison.
const OTHERS: [(&str, &str, Unit); 16] = [
    ("accept_rate", "Accepted", Unit::Share),
    ("percent_agreement", "Agreement", Unit::Share),
    ("alpha_nominal", "Krippendorff's alpha, nominal", Unit::Coefficient),
    ("alpha_ordinal", "Krippendorff's alpha, ordinal", Unit::Coefficient),
    ("alpha_interval", "Krippendorff's alpha, interval", Unit::Coefficient),
    ("alpha_ratio", "Krippendorff's alpha, ratio", Unit::Coefficient),
    ("fleiss_kappa", "Fleiss' kappa", Unit::Coefficient),
    ("conger_kappa", "Conger's kappa", Unit::Coefficient),
    ("brennan_prediger", "Brennan–Prediger", Unit::Coefficient),
    ("ac2", "Gwet's AC2, quadratic", Unit::Coefficient),
    ("icc_agreement", "ICC, agreement of raters", Unit::Coefficient),
    ("icc_consistency", "ICC, consistency of raters", Unit::Coefficient),
    ("icc_average", "ICC, mean of raters", Unit::Coefficient),
    ("score", "Score", Unit::Points),
    ("mean_score", "Mean score", Unit::Points),
    ("gate_risk", "Risk of the gate", Unit::Share),
];

/// Returns the title of a measure, or its id for one that is not known.
#[must_use]
pub(crate) fn title(id: &str) -> &str {
    let other = || OTHERS.iter().find(|(other, ..)| *other == id).map_or(id, |(_, title, _)| title);
    catalogue::info(id).map_or_else(other, |info| info.title)
}

/// Returns the unit of a measure. One that is not known is a plain number.
#[must_use]
pub(crate) fn unit(id: &str) -> Unit {
    let other = || OTHERS.iter().find(|(other, ..)| *other == id).map_or(Unit::Coefficient, |(.., unit)| *unit);
    catalogue::info(id).map_or_else(other, |info| info.unit)
}

/// Returns the verdict in capitals.
#[must_use]
pub(crate) const fn fitness(fitness: Fitness) -> &'static str {
    match fitness {
        Fitness::Fit => "FIT",
        Fitness::Inconclusive => "INCONCLUSIVE",
        Fitness::Unfit => "UNFIT",
    }
}

/// Returns how the second judge stands to the first, in one word.
#[must_use]
pub(crate) const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Better => "better",
        Standing::Equivalent => "equivalent",
        Standing::Undecided => "undecided",
        Standing::Different => "different",
        Standing::Worse => "worse",
    }
}

/// Returns a difference with its interval: of shares, in percentage points.
#[must_use]
pub(crate) fn difference(difference: &Measure, unit: Unit) -> String {
    let sign = if difference.estimate > 0.0 { "+" } else { "" };
    let estimate = value(difference.estimate, unit).replace('%', "pp");
    match interval(difference, unit) {
        Some(interval) => format!("{sign}{estimate} {interval}"),
        None => format!("{sign}{estimate} (no interval)"),
    }
}

/// Returns the state of a limit in one word.
#[must_use]
pub(crate) const fn state(state: LimitState) -> &'static str {
    match state {
        LimitState::Met => "met",
        LimitState::Broken => "broken",
        LimitState::Undecided => "undecided",
        LimitState::Unmeasured => "not measured",
    }
}

/// Returns the question that a family of measures answers.
#[must_use]
pub(crate) const fn question(family: Family) -> &'static str {
    match family {
        Family::Parsing => "Can its answers be read?",
        Family::Stability => "Is it stable?",
        Family::Position => "Does position matter?",
        Family::Bias => "Does anything else sway it?",
        Family::Truth => "Is it right?",
        Family::Scale => "Does it use its scale?",
        Family::People => "Could it stand in for a person?",
    }
}

/// Returns what a kind of outcome is called.
#[must_use]
pub(crate) const fn outcome(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Score => "scores",
        OutcomeKind::Verdict => "verdicts (accept or reject)",
        OutcomeKind::Choice => "choices (A, B or tie)",
        OutcomeKind::Category => "categories",
    }
}

/// Returns an identifier as words: `within_item_sd` → `within item sd`.
#[must_use]
pub(crate) fn words(id: &str) -> String {
    id.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_one_decimal_unless_that_would_claim_certainty() {
        let cases = [
            (0.1234, "12.3\u{a0}%"),
            (0.0, "0.0\u{a0}%"),
            (1.0, "100.0\u{a0}%"),
            (0.0004, "0.04\u{a0}%"),
            (0.9997, "99.97\u{a0}%"),
            (-0.021, "\u{2212}2.1\u{a0}%"),
            (-0.0, "0.0\u{a0}%"),
            (f64::NAN, UNDEFINED),
            (f64::INFINITY, UNDEFINED),
        ];
        for (share, expected) in cases {
            assert_eq!(per_cent(share), expected, "{share}");
        }
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        let cases =
            [(0.84321, "0.843"), (12.345, "12.3"), (123_456.0, "123,456"), (1.0, "1.00"), (-0.5, "\u{2212}0.500")];
        for (number, expected) in cases {
            assert_eq!(significant(number), expected);
        }
    }

    #[test]
    fn limits_are_written_as_they_were_chosen() {
        assert_eq!(limit(0.1, Unit::Share), "10\u{a0}%");
        assert_eq!(limit(0.025, Unit::Share), "2.5\u{a0}%");
        assert_eq!(limit(0.8, Unit::Coefficient), "0.8");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "item"), "1\u{a0}item");
    }
}
