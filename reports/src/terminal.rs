//! The audit on one screen of a terminal: plain words first, then the gate, then the measures that matter most.

mod side_by_side;

use std::fmt::Write;

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{Audit, FindingWeight, Fitness, JudgeAudit};
use assize_calibration::gate::LimitState;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{format, style_words, text, words};

pub(crate) use side_by_side::side_by_side;

/// How to write to a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns; fewer than 40 are taken as 40.
    pub width: usize,
    /// Whether ANSI colours may be used. Nothing is said by colour alone.
    pub colour: Colour,
    /// Which characters may be used.
    pub charset: Charset,
}

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// ANSI colours.
    Ansi,
    /// No colour and no escape sequence.
    Plain,
}

/// Which characters are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// Any.
    Unicode,
    /// ASCII only: others are written alike, or as `?`.
    Ascii,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self { width: 80, colour: Colour::Plain, charset: Charset::Unicode }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Bad,
    Open,
    Quiet,
    Strong,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "31",
            Self::Open => "33",
            Self::Quiet => "2",
            Self::Strong => "1",
        }
    }
}

/// What is written so far.
pub(crate) struct Screen {
    options: TerminalOptions,
    out: String,
}

/// Most findings shown of one judge.
const MAX_FINDINGS: usize = 5;
/// Most measures shown of one judge.
const MAX_MEASURES: usize = 8;
/// Most judges whose findings are shown; more become a table only.
const MAX_DETAILED: usize = 2;
/// Most rows of the table of judges.
const MAX_ROWS: usize = 40;
/// Widest column of names.
const NAME_WIDTH: usize = 30;

/// Returns the audit as text for a terminal, ending in a line feed. No line is wider than the options say, as far as
/// single words allow.
#[must_use]
pub fn terminal(audit: &Audit, options: &TerminalOptions) -> String {
    let mut screen = Screen::new(options);
    match audit.judges.as_slice() {
        [] => screen.wrapped("The log holds no judge to audit.", 0, 0),
        [only] => screen.judge(only),
        judges => {
            screen.table(audit);
            if judges.len() <= MAX_DETAILED {
                for judge in words::by_gravity(audit) {
                    screen.blank();
                    screen.judge(judge);
                }
            }
        }
    }
    for line in audit.anchors.iter().take(MAX_DETAILED).filter_map(words::anchors) {
        screen.blank();
        screen.wrapped(&line, 0, 2);
    }
    let n_problems =
        audit.problems.iter().filter(|one| one.severity > assize_calibration::problem::Severity::Note).count();
    if n_problems > 0 {
        screen.blank();
        let problems = format::counted(n_problems as u64, "problem");
        screen.wrapped(&format!("The log has {problems}; the report lists them."), 0, 0);
    }
    screen.out
}

impl Screen {
    /// Returns an empty screen, at least 40 columns wide.
    pub(crate) fn new(options: &TerminalOptions) -> Self {
        Self { options: TerminalOptions { width: options.width.max(40), ..*options }, out: String::new() }
    }

    /// Returns what was written.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Returns text fit for this terminal: no controls, and only characters it knows.
    pub(crate) fn fit(&self, text: &str) -> String {
        let text = text::visible(text).replace('\u{a0}', " ");
        match self.options.charset {
            Charset::Unicode => text,
            Charset::Ascii => ascii(&text),
        }
    }

    pub(crate) fn paint(&self, text: &str, tone: Tone) -> String {
        match self.options.colour {
            Colour::Ansi => format!("\u{1b}[{}m{text}\u{1b}[0m", tone.code()),
            Colour::Plain => text.to_owned(),
        }
    }

    pub(crate) fn blank(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    pub(crate) fn raw(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    pub(crate) fn heading(&mut self, text: &str) {
        self.blank();
        let text = self.fit(text);
        let painted = self.paint(&text, Tone::Strong);
        self.raw(&painted);
    }

    /// Writes text wrapped to the width, the first line indented by `first`, the others by `rest`.
    pub(crate) fn wrapped(&mut self, text: &str, first: usize, rest: usize) {
        let text = self.fit(text);
        for line in wrap(&text, self.options.width, first, rest) {
            self.raw(&line);
        }
    }

    /// Writes a mark and text beside it, the further lines hanging under the text.
    pub(crate) fn marked(&mut self, mark: &str, tone: Tone, text: &str) {
        let (mark, text) = (self.fit(mark), self.fit(text));
        let indent = 2 + mark.width() + 1;
        for (idx, line) in wrap(&text, self.options.width, indent, indent).into_iter().enumerate() {
            if idx == 0 {
                let painted = self.paint(&mark, tone);
                self.raw(&format!("  {painted} {}", line.trim_start()));
            } else {
                self.raw(&line);
            }
        }
    }

    fn judge(&mut self, judge: &JudgeAudit) {
        let (tone, mark) = verdict_look(judge.fitness);
        let word = self.paint(&self.fit(&format!("{mark} {}", format::fitness(judge.fitness))), tone);
        let room = self.options.width.saturating_sub(format::fitness(judge.fitness).len() + 6);
        let name = cut_to(&self.fit(&words::judge_name(judge)), room);
        self.raw(&format!("{word}  {}", self.paint(&name, Tone::Strong)));
        self.wrapped(&judge.why, 0, 0);
        let extent = self.fit(&words::extent(judge));
        for line in wrap(&extent, self.options.width, 0, 0) {
            let painted = self.paint(&line, Tone::Quiet);
            self.raw(&painted);
        }
        if !judge.findings.is_empty() {
            self.heading("What was found, and what to change");
            for finding in judge.findings.iter().take(MAX_FINDINGS) {
                let (mark, tone) = match finding.weight {
                    FindingWeight::Bad => ("✗", Tone::Bad),
                    FindingWeight::Note => ("•", Tone::Open),
                    FindingWeight::Good => ("✓", Tone::Good),
                };
                self.marked(mark, tone, &finding.what);
                if !finding.advice.is_empty() {
                    self.wrapped(&format!("→ {}", finding.advice), 4, 6);
                }
            }
            if judge.findings.len() > MAX_FINDINGS {
                self.wrapped(&format!("{} more in the report.", judge.findings.len() - MAX_FINDINGS), 4, 4);
            }
        }
        if let Some(more) = words::more_data(judge) {
            self.heading("How much more data decides");
            self.wrapped(&more, 2, 2);
        }
        self.gate(judge);
        self.measures(judge);
        let style = style_words::lines(judge);
        if !style.is_empty() {
            self.heading("Marks of style, each given the others, label and length");
            for one in style {
                self.wrapped(&one, 2, 4);
            }
        }
    }

    fn gate(&mut self, judge: &JudgeAudit) {
        if judge.limits.is_empty() {
            return;
        }
        self.heading("Gate");
        let rows: Vec<_> = judge
            .limits
            .iter()
            .map(|limit| {
                let unit = format::unit(&limit.measure);
                let value = words::limit_measure(judge, limit)
                    .map_or("no value".to_owned(), |measure| format::measure(&measure, unit));
                let (mark, tone) = match limit.state {
                    LimitState::Met => ("✓", Tone::Good),
                    LimitState::Broken => ("✗", Tone::Bad),
                    LimitState::Undecided => ("?", Tone::Open),
                    LimitState::Unmeasured => ("–", Tone::Quiet),
                };
                let state = self.paint(&self.fit(&format!("{mark} {}", format::state(limit.state))), tone);
                let sign = if limit.side == "min" { "≥" } else { "≤" };
                let asked = format!("{sign} {}", format::limit(limit.limit, unit));
                [self.fit(format::title(&limit.measure)), self.fit(&asked), self.fit(&value), state]
            })
            .collect();
        self.columns(&rows);
        if let Some(looks) = words::looks(judge) {
            self.wrapped(&looks, 2, 2);
        }
    }

    fn measures(&mut self, judge: &JudgeAudit) {
        let key = words::key_measures(judge, MAX_MEASURES);
        if key.is_empty() {
            self.blank();
            self.wrapped("This log allows no measure; the report says which columns would.", 0, 0);
            return;
        }
        let level = key.first().map_or(0.95, |(_, measure)| measure.level);
        self.heading(&format!("Key measures, with {} intervals", format::level(level)));
        let rows: Vec<_> = key
            .iter()
            .map(|(info, measure)| {
                let items = format::counted(measure.n_items, "item");
                let note = self.paint(&self.fit(&items), Tone::Quiet);
                [self.fit(info.title), String::new(), self.fit(&format::measure(measure, info.unit)), note]
            })
            .collect();
        self.columns(&rows);
    }

    /// Writes rows of name, short text, value, and a last column of any width.
    fn columns(&mut self, rows: &[[String; 4]]) {
        let widest = |idx: usize| rows.iter().map(|row| row[idx].width()).max().unwrap_or(0);
        let (short, value) = (widest(1), widest(2));
        let room = self.options.width.saturating_sub(2 + 2 + short + 2 + value + 2 + 14).max(12);
        let name_width = widest(0).min(NAME_WIDTH).min(room);
        for [name, between, figure, last] in rows {
            let mut line = format!("  {}", padded(&cut_to(name, name_width), name_width));
            if short > 0 {
                write!(line, "  {}", padded(between, short)).expect("writing to memory");
            }
            write!(line, "  {}  {last}", padded(figure, value)).expect("writing to memory");
            self.raw(&line);
        }
    }

    /// Writes a table with a head. Columns from `right_from` on are set to the right; the first is cut where the width is too small.
    pub(crate) fn rows(&mut self, head: &[&str], rows: &[Vec<String>], right_from: usize) {
        let head: Vec<String> = head.iter().map(|cell| self.fit(cell)).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| self.fit(cell)).collect()).collect();
        let widest = |idx: usize| {
            let cells = rows.iter().filter_map(|row| row.get(idx)).chain(head.get(idx));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..head.len()).map(widest).collect();
        let others: usize = widths.iter().skip(1).map(|width| width + 2).sum();
        widths[0] = widths[0].min(self.options.width.saturating_sub(others + 2).max(8));
        let line = |row: &[String]| {
            let mut line = String::new();
            for (idx, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let cell = cut_to(cell, width);
                let room = " ".repeat(width.saturating_sub(cell.width()));
                let cell = if idx >= right_from { room + &cell } else { cell + &room };
                write!(line, "  {cell}").expect("writing to memory");
            }
            line
        };
        let painted = self.paint(line(&head).trim_end(), Tone::Quiet);
        self.raw(&painted);
        for row in &rows {
            self.raw(&line(row));
        }
    }

    fn table(&mut self, audit: &Audit) {
        let (tone, mark) = verdict_look(audit.fitness);
        let word = self.paint(&self.fit(&format!("{mark} {}", format::fitness(audit.fitness))), tone);
        self.raw(&format!("{word}  {}", self.fit(&format!("{} judges: {}", audit.judges.len(), words::tally(audit)))));
        self.blank();
        let judges = words::by_gravity(audit);
        // As many measures as the width holds beside name and verdict.
        let room = self.options.width.saturating_sub(NAME_WIDTH + 2 + 14) / 24;
        let columns = words::shared_measures(audit, room.clamp(1, 4));
        let mut head = format!("{}  {}", padded("Judge", NAME_WIDTH), padded("Verdict", 14));
        for info in &columns {
            write!(head, "  {}", padded(&self.fit(info.title), 22)).expect("writing to memory");
        }
        let head = self.paint(head.trim_end(), Tone::Quiet);
        self.raw(&head);
        for judge in judges.iter().take(MAX_ROWS) {
            let (tone, mark) = verdict_look(judge.fitness);
            let word = padded(&self.fit(&format!("{mark} {}", format::fitness(judge.fitness))), 14);
            let name = padded(&cut_to(&self.fit(&words::judge_name(judge)), NAME_WIDTH), NAME_WIDTH);
            let mut line = format!("{name}  {}", self.paint(&word, tone));
            for info in &columns {
                let figure = judge.measures.get(info.id).map(|measure| short_figure(measure, info.unit));
                let figure = self.fit(&figure.unwrap_or_else(|| "not measured".to_owned()));
                write!(line, "  {}", padded(&figure, 22)).expect("writing to memory");
            }
            self.raw(&line);
        }
        if judges.len() > MAX_ROWS {
            self.wrapped(&format!("{} more in the report.", judges.len() - MAX_ROWS), 0, 0);
        }
    }
}

fn short_figure(measure: &assize_calibration::audit::result::Measure, unit: Unit) -> String {
    format::measure(measure, unit).replace(" (no interval)", "")
}

const fn verdict_look(fitness: Fitness) -> (Tone, &'static str) {
    match fitness {
        Fitness::Fit => (Tone::Good, "✓"),
        Fitness::Inconclusive => (Tone::Open, "?"),
        Fitness::Unfit => (Tone::Bad, "✗"),
    }
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Returns text cut to so many columns, the last being `~` when something is missing.
fn cut_to(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        out.push(c);
    }
    out.push('~');
    out
}

/// Returns the lines of a text. Chinese and Japanese break between any two characters, other text at blanks; a word
/// wider than a line is broken.
fn wrap(text: &str, width: usize, first: usize, rest: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = " ".repeat(first);
    let mut used = first;
    let mut is_fresh = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let gap = usize::from(!is_fresh);
        if used + gap + word.width() <= width {
            if gap > 0 {
                line.push(' ');
            }
            line.push_str(word);
            used += gap + word.width();
            is_fresh = false;
            continue;
        }
        let breaks_anywhere = rest + word.width() > width;
        if !is_fresh && !breaks_anywhere {
            lines.push(std::mem::replace(&mut line, " ".repeat(rest)));
            line.push_str(word);
            used = rest + word.width();
            continue;
        }
        if gap > 0 && used + 1 < width {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > width {
                lines.push(std::mem::replace(&mut line, " ".repeat(rest)));
                used = rest;
            }
            line.push(c);
            used += wide;
        }
        is_fresh = false;
    }
    if !is_fresh {
        lines.push(line);
    }
    lines
}

/// Returns text in ASCII: signs this crate and the statistics use are written alike, anything else as `?`.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            '≤' => out.push_str("<="),
            '≥' => out.push_str(">="),
            '→' => out.push_str("->"),
            '−' | '–' | '—' | '‑' => out.push('-'),
            '…' => out.push_str("..."),
            '×' | '✗' => out.push('x'),
            '✓' => out.push('+'),
            '•' | '·' => out.push('*'),
            '’' | '‘' => out.push('\''),
            '“' | '”' => out.push('"'),
            '±' => out.push_str("+/-"),
            'α' => out.push_str("alpha"),
            'κ' => out.push_str("kappa"),
            c => out.push_str(&"?".repeat(c.width().unwrap_or(0))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_the_width_for_wide_text() {
        for text in
            ["裁判把百分之三十的错误答案判为正确，请提高阈值", "one two three four five six", "averyveryverylongword x"]
        {
            for line in wrap(text, 12, 2, 4) {
                assert!(line.width() <= 12, "{line:?}");
            }
            let joined: String = wrap(text, 12, 2, 4).concat();
            let squeezed = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(squeezed(&joined), squeezed(text));
        }
    }

    #[test]
    fn names_are_cut_by_columns() {
        assert_eq!(cut_to("中文裁判", 5), "中文~");
        assert_eq!(cut_to("judge", 5), "judge");
    }
}
