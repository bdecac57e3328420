//! `assize memory list`, `show` and `stats`: what the store holds.

use std::fmt::Write as _;

use assize_memory::experience::{Severity, Trust};
use assize_memory::store::{Count, Filter, Opening, Stats, Stored};
use serde_json::json;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{Place, refused, severity, trust};
use crate::cli::printer::{self, Form, Printer, printable};
use crate::cli::status::{Failure, Status};

/// How many digits of a digest are shown.
pub(super) const SHORT_DIGEST: usize = 12;
/// Fewest digits that name an experience.
const MIN_PREFIX: usize = 4;
const HELP_ID: &str = "`assize memory list` shows the ids";

/// List the newest experiences
///
/// Names are compared without regard to case; blanks, - and _ are the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize memory list
  assize memory list --dimension clarity --severity high --limit 5
  assize memory list --tag 周报 --json | jq '.experiences[].experience.fix'")]
pub(in crate::cli) struct ListArgs {
    /// Only of this dimension
    #[arg(long, value_name = "NAME")]
    dimension: Option<String>,
    /// Only of this family of tasks
    #[arg(long, value_name = "NAME")]
    family: Option<String>,
    /// Only with this tag
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// Only of this severity
    #[arg(long, value_name = "WORD", value_parser = severity())]
    severity: Option<Severity>,
    /// Only what such a source says
    #[arg(long, value_name = "WHO", value_parser = trust())]
    trust: Option<Trust>,
    /// Most experiences to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

/// Show one experience whole
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize memory show 3f2a91b0c4d5
  assize memory show 3f2a --json | jq -r .experience.after")]
pub(in crate::cli) struct ShowArgs {
    /// Digest of the experience, or how it begins: at least 4 digits
    #[arg(value_name = "ID")]
    id: String,
}

/// Count what the store holds
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize memory stats
  assize memory stats --json | jq .n_experiences")]
pub(in crate::cli) struct StatsArgs {}

pub(super) fn list(args: ListArgs, place: &Place, printer: &mut Printer) -> Result<Status, Failure> {
    let store = place.open(Opening::Existing, printer)?;
    let filter = Filter {
        dimension: args.dimension,
        task_family: args.family,
        tag: args.tag,
        severity: args.severity,
        trust: args.trust,
    };
    let listing = store.list(&filter, args.limit).map_err(refused)?;
    match printer.form() {
        Form::Json => printer.data(&format!("{:#}\n", json!(listing)))?,
        Form::Text => {
            printer.data(&table(&listing.experiences, printer::width()))?;
            let n_shown = listing.experiences.len() as u64;
            match listing.n_matching {
                0 => printer.note("no experience fits"),
                n if n > n_shown => printer.note(&format!("{n_shown} of {n} shown; --limit shows more")),
                _ => {}
            }
        }
    }
    Ok(Status::Done)
}

/// Returns one line an experience: id, day, severity, dimension, and as much of the description as fits.
fn table(experiences: &[Stored], width: usize) -> String {
    let name = |stored: &Stored| one_line(&stored.experience.issue.dimension, 24);
    let name_width = experiences.iter().map(|stored| name(stored).width()).max().unwrap_or(0);
    let mut text = String::new();
    for stored in experiences {
        let experience = &stored.experience;
        let name = name(stored);
        let gap = " ".repeat(name_width - name.width());
        let start = format!(
            "{}  {}  {:6}  {name}{gap}  ",
            &stored.digest.to_string()[..SHORT_DIGEST],
            &experience.time.to_string()[.."2026-11-30".len()],
            experience.issue.severity.word(),
        );
        let left = width.saturating_sub(start.width()).max(20);
        text.push_str(&start);
        text.push_str(&one_line(&experience.issue.description, left));
        text.push('\n');
    }
    text
}

/// Returns the text in one line of at most so many columns, what is cut marked with `...`.
fn one_line(text: &str, width: usize) -> String {
    let text = printable(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if text.width() <= width {
        return text;
    }
    let mut left = width.saturating_sub(3);
    let fits = |character: &char| {
        let needs = character.width().unwrap_or(0);
        let fits = needs <= left;
        left = left.saturating_sub(needs);
        fits
    };
    text.chars().take_while(fits).collect::<String>() + "..."
}

pub(super) fn show(args: &ShowArgs, place: &Place, printer: &mut Printer) -> Result<Status, Failure> {
    let id = args.id.trim();
    if id.len() < MIN_PREFIX || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let message = format!("`{id}` is no id; one has at least {MIN_PREFIX} hexadecimal digits");
        return Err(Failure::usage(message).help(HELP_ID));
    }
    let store = place.open(Opening::Existing, printer)?;
    let found = store.find(id, 2).map_err(refused)?;
    let stored = match &*found {
        [] => return Err(Failure::usage(format!("no experience has the id {id}")).help(HELP_ID)),
        [stored] => stored,
        _ => return Err(Failure::usage(format!("several ids begin with {id}")).help("give more digits of it")),
    };
    match printer.form() {
        Form::Json => printer.data(&format!("{:#}\n", json!(stored)))?,
        Form::Text => printer.data(&page(stored))?,
    }
    Ok(Status::Done)
}

/// Returns all of an experience: a line for each short part, a block for each long one.
fn page(stored: &Stored) -> String {
    let experience = &stored.experience;
    let (issue, evidence, origin) = (&experience.issue, &experience.evidence, &experience.origin);
    let score = |score: Option<f64>| score.map_or_else(|| "?".to_owned(), |score| score.to_string());
    let scores = (evidence.score_before, evidence.score_after);
    let lines = [
        ("id", Some(stored.digest.to_string())),
        ("time", Some(experience.time.to_string())),
        ("trust", Some(experience.trust.word().to_owned())),
        ("dimension", Some(issue.dimension.clone())),
        ("severity", Some(issue.severity.word().to_owned())),
        ("family", origin.task_family.clone()),
        ("loop", origin.loop_id.clone()),
        ("round", origin.round.map(|round| round.to_string())),
        ("model", origin.model.clone()),
        ("tags", Some(experience.tags.iter().cloned().collect::<Vec<_>>().join(", ")).filter(|tags| !tags.is_empty())),
        ("score", (scores != (None, None)).then(|| format!("{} -> {}", score(scores.0), score(scores.1)))),
    ];
    let blocks = [
        ("task", Some(&origin.task)),
        ("location", issue.location.as_ref()),
        ("description", Some(&issue.description)),
        ("suggestion", issue.suggestion.as_ref()),
        ("fix", Some(&experience.fix)),
        ("evidence", evidence.text.as_ref()),
        ("before", experience.before.as_ref()),
        ("after", experience.after.as_ref()),
    ];
    let mut text = String::new();
    for (name, value) in lines {
        if let Some(value) = value {
            let _infallible = writeln!(text, "{name:11}{}", printable(&value));
        }
    }
    for (name, value) in blocks {
        if let Some(value) = value {
            let _infallible = writeln!(text, "\n{name}");
            for line in value.lines() {
                let _infallible = writeln!(text, "  {}", printable(line));
            }
        }
    }
    text
}

pub(super) fn stats(place: &Place, printer: &mut Printer) -> Result<Status, Failure> {
    let stats = place.open(Opening::Existing, printer)?.stats().map_err(refused)?;
    match printer.form() {
        Form::Json => {
            let mut object = json!(stats);
            object["store"] = json!(place.path.display().to_string());
            printer.data(&format!("{object:#}\n"))?;
        }
        Form::Text => printer.data(&stats_text(&stats, &printable(&place.path.display().to_string())))?,
    }
    Ok(Status::Done)
}

fn stats_text(stats: &Stats, store: &str) -> String {
    let day = |time: Option<assize_memory::time::Time>| time.map_or_else(|| "none".to_owned(), |time| time.to_string());
    let mut text = format!(
        "store          {store}\n\
         schema         version {}, {} bytes\n\
         experiences    {}\n\
         with texts     {}\n\
         with scores    {}\n\
         oldest         {}\n\
         newest         {}\n",
        stats.schema_version,
        stats.n_bytes,
        stats.n_experiences,
        stats.n_with_texts,
        stats.n_with_scores,
        day(stats.oldest),
        day(stats.newest),
    );
    let mut table = |title: &str, counts: &[Count]| {
        if counts.is_empty() {
            return;
        }
        let _infallible = writeln!(text, "\n{title}");
        for count in counts {
            let _infallible = writeln!(text, "  {:>8}  {}", count.n, one_line(&count.name, 60));
        }
    };
    table("by dimension", &stats.dimensions);
    table("by family of tasks", &stats.task_families);
    table("by severity", &stats.severities);
    table("by who says so", &stats.trust);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_by_columns_not_by_bytes() {
        assert_eq!(one_line("a\n b\u{1b}", 20), "a b\\u{1b}");
        assert_eq!(one_line("abcdefgh", 8), "abcdefgh");
        assert_eq!(one_line("abcdefghi", 8), "abcde...");
        assert_eq!(one_line("数字错误数字", 9), "数字错...");
        assert_eq!(one_line("数字错误数字", 10), "数字错...");
    }
}
