//! A comparison of two judges on one screen: whether the second may take the first one's place, then what that rests on.

use assize_calibration::audit::result::{MeasuredDifference, SideBySide, Standing};
use unicode_width::UnicodeWidthStr as _;

use super::{NAME_WIDTH, Screen, TerminalOptions, Tone, cut_to, padded};
use crate::{comparison, format, words};

/// Most measures shown besides the primary ones.
const MAX_OTHERS: usize = 10;

/// Returns the comparison as text for a terminal, ending in a line feed.
#[must_use]
pub(crate) fn side_by_side(compared: &SideBySide, options: &TerminalOptions) -> String {
    let options = TerminalOptions { width: options.width.max(40), ..*options };
    let mut screen = Screen { options, out: String::new() };
    screen.head(compared);
    let (primary, others): (Vec<_>, Vec<_>) = compared.measures.iter().partition(|measure| measure.is_primary);
    if !primary.is_empty() {
        screen.heading("What decides");
        screen.differences(&primary);
        for measure in &primary {
            let title = format::title(&measure.measure);
            screen.wrapped(&format!("{title}: {}.", measure.why), 2, 4);
        }
    }
    let level = format::level(compared.config.level);
    if !others.is_empty() {
        screen.heading(&format!("Beside it: B less A, with {level} intervals"));
        let mut shown = others.clone();
        // What differs first, in the order of the report else.
        shown
            .sort_by_key(|measure| measure.standing == Standing::Undecided || measure.standing == Standing::Equivalent);
        screen.differences(&shown[..shown.len().min(MAX_OTHERS)]);
        if shown.len() > MAX_OTHERS {
            screen.wrapped(&format!("{} more in the report.", shown.len() - MAX_OTHERS), 2, 2);
        }
    }
    if let Some(agreement) = comparison::agreement(compared) {
        screen.blank();
        screen.wrapped(&agreement, 0, 0);
    }
    if !compared.notes.is_empty() {
        screen.heading("Before you believe it");
        for note in &compared.notes {
            screen.marked("•", Tone::Open, note);
        }
    }
    screen.blank();
    screen.quietly(&compared.margins);
    screen.quietly(&compared.correction);
    screen.out
}

/// Returns the mark and tone of a standing.
const fn look(standing: Standing) -> (Tone, &'static str) {
    match standing {
        Standing::Better | Standing::Equivalent => (Tone::Good, "✓"),
        Standing::Worse => (Tone::Bad, "✗"),
        Standing::Undecided | Standing::Different => (Tone::Open, "?"),
    }
}

impl Screen {
    fn head(&mut self, compared: &SideBySide) {
        let (tone, mark) = look(compared.standing);
        let word = format::standing(compared.standing).to_uppercase();
        let painted = self.paint(&self.fit(&format!("{mark} {word}")), tone);
        self.raw(&painted);
        for (letter, side) in [("A", &compared.a), ("B", &compared.b)] {
            let room = self.options.width.saturating_sub(4);
            let name = cut_to(&self.fit(&words::name(&side.name)), room);
            let name = self.paint(&name, Tone::Strong);
            self.raw(&format!("  {letter} {name}"));
        }
        self.wrapped(&compared.why, 0, 0);
        self.quietly(&comparison::extent(compared));
    }

    fn quietly(&mut self, text: &str) {
        let text = self.fit(text);
        for line in super::wrap(&text, self.options.width, 0, 0) {
            let painted = self.paint(&line, Tone::Quiet);
            self.raw(&painted);
        }
    }

    /// Writes a row a measure: its name, its value for either, the difference, what follows.
    fn differences(&mut self, measures: &[&MeasuredDifference]) {
        let rows: Vec<[String; 4]> = measures
            .iter()
            .map(|one| {
                let unit = format::unit(&one.measure);
                let (tone, mark) = look(one.standing);
                let state = self.paint(&self.fit(&format!("{mark} {}", format::standing(one.standing))), tone);
                let both = format!("{} → {}", format::value(one.a, unit), format::value(one.b, unit));
                let title = self.fit(format::title(&one.measure));
                [title, self.fit(&both), self.fit(&format::difference(&one.difference, unit)), state]
            })
            .collect();
        let widest = |idx: usize| rows.iter().map(|row| row[idx].width()).max().unwrap_or(0);
        let (both, difference) = (widest(1), widest(2));
        let room = self.options.width.saturating_sub(2 + 2 + both + 2 + difference + 2 + 12);
        // Where the width does not hold both values, the difference says it.
        let shows_both = room >= 12;
        let room = if shows_both { room } else { room + both + 2 };
        let name_width = widest(0).min(NAME_WIDTH).min(room.max(10));
        for [name, values, figure, state] in &rows {
            let values = if shows_both { format!("{}  ", padded(values, both)) } else { String::new() };
            let name = padded(&cut_to(name, name_width), name_width);
            self.raw(&format!("  {name}  {values}{}  {state}", padded(figure, difference)));
        }
    }
}
