//! Whether a judge still answers as it did, for a terminal and a comment.

use std::fmt::Write as _;

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{Sentinel, SentinelFigure, SentinelItem, Steadiness};

use crate::markdown::escape;
use crate::terminal::{Screen, TerminalOptions, Tone};
use crate::{format, text, words};

/// Most items shown.
const MAX_ITEMS: usize = 15;

const fn word(steadiness: Steadiness) -> &'static str {
    match steadiness {
        Steadiness::Unchanged => "UNCHANGED",
        Steadiness::Undecided => "UNDECIDED",
        Steadiness::Changed => "CHANGED",
    }
}

fn title(figure: &SentinelFigure) -> String {
    match figure.figure.as_str() {
        "answers" => "Answers to single items".to_owned(),
        "preference_for_b" => "Preference for B".to_owned(),
        id => text::visible(format::title(id)),
    }
}

fn unit(figure: &SentinelFigure) -> Unit {
    if figure.figure == "mean_score" { Unit::Points } else { Unit::Share }
}

/// Returns before and now, the change, and what its test says.
fn cells(figure: &SentinelFigure) -> [String; 4] {
    let unit = unit(figure);
    let both = match (figure.before, figure.now) {
        (Some(before), Some(now)) => format!("{} → {}", format::value(before, unit), format::value(now, unit)),
        _ => String::new(),
    };
    let change =
        figure.change.as_ref().map_or_else(|| "not identified".to_owned(), |change| format::difference(change, unit));
    let p = figure.p_holm.map_or_else(|| "no test".to_owned(), format::p_value);
    let within = if figure.is_within { "within the margin" } else { "" };
    [both, change, p, within.to_owned()]
}

fn extent(found: &Sentinel) -> String {
    format!(
        "{} answered both times, {} of {} asked more than once · an answer before and one now differ {} of the time",
        format::counted(found.n_items, "item"),
        format::count(found.n_cells_repeated),
        format::counted(found.n_cells, "condition"),
        format::per_cent(found.disagreement)
    )
}

fn answers(item: &SentinelItem) -> String {
    let listed = |answers: &[String]| answers.iter().map(|answer| text::cut(answer, 30)).collect::<Vec<_>>().join(" ");
    format!("{} → {}", listed(&item.before), listed(&item.now))
}

/// Returns what a sentinel found as text for a terminal, ending in a line feed.
#[must_use]
pub fn sentinel_terminal(found: &Sentinel, options: &TerminalOptions) -> String {
    let mut screen = Screen::new(options);
    let (tone, mark) = match found.steadiness {
        Steadiness::Unchanged => (Tone::Good, "✓"),
        Steadiness::Undecided => (Tone::Open, "?"),
        Steadiness::Changed => (Tone::Bad, "✗"),
    };
    screen.marked(mark, tone, word(found.steadiness));
    screen.wrapped(&found.why, 0, 0);
    screen.wrapped(&extent(found), 0, 0);
    screen.heading("What was asked: now less before, on these items");
    let rows: Vec<Vec<String>> = found
        .figures
        .iter()
        .map(|figure| {
            let [both, change, p, within] = cells(figure);
            vec![title(figure), both, change, p, within]
        })
        .collect();
    screen.rows(&["", "before → now", "change", "corrected", ""], &rows, 1);
    for figure in found.figures.iter().filter(|figure| figure.change.is_none() || figure.margin.is_none()) {
        screen.wrapped(&format!("{}: {}.", title(figure), text::visible(&figure.note)), 2, 4);
    }
    if !found.items.is_empty() {
        screen.heading("Answered otherwise, once all items are counted");
        for item in found.items.iter().take(MAX_ITEMS) {
            screen.wrapped(&format!("{}: {}", text::cut(&item.item, 60), answers(item)), 2, 4);
        }
        let n_more = found.n_items_changed.saturating_sub(found.items.len().min(MAX_ITEMS) as u64);
        if n_more > 0 {
            screen.wrapped(&format!("{} more; --json lists them.", format::count(n_more)), 2, 4);
        }
    }
    screen.heading("To know");
    for note in &found.notes {
        screen.wrapped(note, 2, 4);
    }
    screen.wrapped(&method(found), 2, 4);
    screen.finish()
}

fn method(found: &Sentinel) -> String {
    format!(
        "Answers of each item exchanged between both times {} times; p values corrected for all questions (Holm), those of items for all items \
         (Benjamini–Hochberg); {} intervals of fixed items; margin {} (of scores {} of the scale).",
        format::count(u64::from(found.n_permutations)),
        format::level(found.config.level),
        format::per_cent(found.margin).replace('%', "pp"),
        format::per_cent(found.margin)
    )
}

/// Returns what a sentinel found, condensed for a comment.
#[must_use]
pub fn sentinel_markdown(found: &Sentinel) -> String {
    let shape = match found.steadiness {
        Steadiness::Unchanged => "✅",
        Steadiness::Undecided => "❔",
        Steadiness::Changed => "❌",
    };
    let mut out = format!(
        "## {shape} {}: {} against {}\n\n**{}**\n\n{}\n\n| | Before → now | Change | Corrected | |\n| --- | ---: | ---: | --- | --- |\n",
        word(found.steadiness),
        escape(&words::name(&found.now.name)),
        escape(&words::name(&found.before.name)),
        escape(&found.why),
        escape(&extent(found))
    );
    for figure in &found.figures {
        let [both, change, p, within] = cells(figure).map(|cell| escape(&cell));
        writeln!(out, "| {} | {both} | {change} | {p} | {within} |", escape(&title(figure)))
            .expect("writing to memory");
    }
    out.push('\n');
    for item in found.items.iter().take(MAX_ITEMS) {
        writeln!(out, "- {}: {}", escape(&text::cut(&item.item, 60)), escape(&answers(item)))
            .expect("writing to memory");
    }
    if !found.items.is_empty() {
        out.push('\n');
    }
    writeln!(out, "<sub>{} assize {}</sub>", escape(&method(found)), escape(&found.version))
        .expect("writing to memory");
    out
}
