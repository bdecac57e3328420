//! Items to look at, for a terminal.

use assize_calibration::audit::result::{Escalated, Escalation, Picked, Purpose};

use crate::terminal::{Screen, TerminalOptions};
use crate::{format, text};

/// Returns the list as text for a terminal, ending in a line feed.
#[must_use]
pub fn escalation_terminal(found: &Escalation, options: &TerminalOptions) -> String {
    let mut screen = Screen::new(options);
    let of = |purpose, picked| found.items.iter().filter(move |item| item.purpose == purpose && item.picked == picked);
    screen.wrapped(
        &format!(
            "{}, {} of them without a label.",
            format::counted(found.n_items, "item"),
            format::count(found.n_unlabelled)
        ),
        0,
        0,
    );
    if !found.open_limits.is_empty() {
        let titles: Vec<&str> = found.open_limits.iter().map(|id| format::title(id)).collect();
        screen.wrapped(&format!("Open limits that labels can decide: {}.", titles.join(", ")), 0, 0);
    }
    for (title, purpose, picked) in [
        ("To label, the most telling first", Purpose::Label, Picked::Ranked),
        ("To label, drawn by lot", Purpose::Label, Picked::Random),
        ("Labels to check", Purpose::Check, Picked::Ranked),
    ] {
        let rows: Vec<&Escalated> = of(purpose, picked).collect();
        if rows.is_empty() {
            continue;
        }
        screen.heading(title);
        for (idx, item) in rows.iter().enumerate() {
            let place = |name: &Option<String>| {
                name.as_deref().map_or_else(String::new, |name| format!(" · {}", text::cut(name, 40)))
            };
            let label =
                item.label.as_deref().map_or_else(String::new, |label| format!(", labelled {}", text::cut(label, 40)));
            screen.wrapped(
                &format!(
                    "{:>3}. {}{}{}{label} ({:.2})",
                    idx + 1,
                    text::cut(&item.item, 60),
                    place(&item.dimension),
                    place(&item.group),
                    item.score
                ),
                0,
                5,
            );
            screen.wrapped(&format!("{}. {}", item.why, text::sentence(&item.changes)), 5, 5);
        }
    }
    if found.items.is_empty() {
        screen.blank();
        screen.wrapped("Nothing to look at.", 0, 0);
    }
    if !found.strata.is_empty() && found.n_unlabelled > 0 {
        screen.heading("Where labels go");
        let rows: Vec<Vec<String>> = found
            .strata
            .iter()
            .map(|stratum| {
                vec![
                    stratum.name.clone(),
                    format::count(stratum.n_items),
                    format::count(stratum.n_labelled),
                    format::per_cent(stratum.error_rate),
                    format::count(stratum.n_picked),
                ]
            })
            .collect();
        screen.rows(&["Usual answer", "items", "labelled", "wrong (estimate)", "picked"], &rows, 1);
    }
    if !found.notes.is_empty() {
        screen.heading("To know");
        for note in &found.notes {
            screen.wrapped(note, 2, 4);
        }
    }
    screen.finish()
}
