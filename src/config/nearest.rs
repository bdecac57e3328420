//! Which of the known words was meant.

/// Below this similarity a word is not taken for a slip of another.
const SIMILAR: f64 = 0.7;

/// Returns the known word most like `word`, or `None` if none is much like it. Of equals the first.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase().replace(['-', ' '], "_");
    let mut best = None;
    for candidate in known {
        let similarity = strsim::jaro_winkler(&folded, candidate);
        if similarity > best.map_or(SIMILAR, |(known, _)| known) {
            best = Some((similarity, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["flip_rate", "accuracy", "kappa"];
        assert_eq!(nearest("Flip-Rat", known), Some("flip_rate"));
        assert_eq!(nearest("acuracy", known), Some("accuracy"));
        assert_eq!(nearest("zzz", known), None);
    }
}
