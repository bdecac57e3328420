//! `assize memory import` and `export`: JSON Lines in and out.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assize_memory::exchange::{ImportError, Imported, Target, to_line};
use assize_memory::store::{Opening, Store};
use serde_json::json;

use super::{Place, refused, source};
use crate::cli::files::{Pending, is_special};
use crate::cli::printer::{Form, Printer};
use crate::cli::progress::{Gauge, Progress};
use crate::cli::status::{Failure, Status};

/// How many experiences are read at once. A text is at most a megabyte, and most are far shorter.
const PAGE: u32 = 100;

/// Add many experiences from JSON Lines
///
/// What is there already is not added again, so that the same file may be imported twice. Lines that are no experience
/// are left out, counted and told.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize memory import backup.jsonl
  assize memory import backup.jsonl --dry-run
  zcat team.jsonl.gz | assize memory import - --store team.db

`assize schema experience` describes a line.

Exit status: 0 every line was taken, 3 lines were left out (the others are in the store) or it could not be done.")]
pub(in crate::cli) struct ImportArgs {
    /// File to read; - reads standard input
    #[arg(value_name = "FILE.jsonl")]
    source: PathBuf,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Write all experiences as JSON Lines
///
/// Imported into an empty store, they are exported again byte for byte. The store itself is never written over.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize memory export backup.jsonl
  assize memory export | jq -r .issue.dimension | sort | uniq -c
  assize memory export - --store team.db | assize memory import -")]
pub(in crate::cli) struct ExportArgs {
    /// File to write; - writes to standard output
    #[arg(value_name = "FILE.jsonl", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub(super) fn import(args: &ImportArgs, place: &Place, printer: &mut Printer) -> Result<Status, Failure> {
    // The source comes first, so that a wrong one makes no store.
    let (mut input, name) = source(&args.source)?;
    let mut store = match (args.dry_run, place.exists()) {
        (false, _) => Some(place.open(Opening::Create, printer)?),
        (true, true) => Some(place.open(Opening::Existing, printer)?),
        (true, false) => None,
    };
    let target = match (&mut store, args.dry_run) {
        (Some(store), false) => Target::Write(store),
        (Some(store), true) => Target::Compare(store),
        (None, _) => Target::CompareEmpty,
    };
    let progress = Progress::start(printer, format!("importing {name}"), Gauge::default());
    let imported = assize_memory::exchange::import(&mut *input, target);
    drop(progress);
    let imported = imported.map_err(|error| match error {
        ImportError::Store(error) => refused(error),
        error => Failure::from(anyhow::Error::from(error).context(format!("failed to import {name}")))
            .help("what was read before is in the store; the same import again adds the rest"),
    })?;
    tell(&imported, args, &name, printer)?;
    Ok(if imported.n_rejected == 0 { Status::Done } else { Status::Usage })
}

fn tell(imported: &Imported, args: &ImportArgs, name: &str, printer: &mut Printer) -> Result<(), Failure> {
    if printer.form() == Form::Json {
        let mut object = json!(imported);
        object["dry_run"] = json!(args.dry_run);
        return printer.data(&format!("{object:#}\n"));
    }
    for rejection in &imported.rejected {
        printer.note(&format!("warning: {name}: {rejection}"));
    }
    for redacted in &imported.redacted {
        printer.note(&format!("warning: {name}: {redacted}"));
    }
    let n_untold =
        imported.n_rejected + imported.n_redacted - (imported.rejected.len() + imported.redacted.len()) as u64;
    if n_untold > 0 {
        printer.note(&format!("warning: {name}: {n_untold} more of these"));
    }
    let would = if args.dry_run { "would be " } else { "" };
    printer.summary(&format!(
        "{} {would}added, {} already there, {} rejected\n",
        imported.n_added, imported.n_already_there, imported.n_rejected
    ))
}

pub(super) fn export(args: &ExportArgs, place: &Place, printer: &mut Printer) -> Result<Status, Failure> {
    let store = place.open(Opening::Existing, printer)?;
    let path = &args.out;
    if path == Path::new("-") {
        pages(&store, &mut |text| printer.data(text))?;
        return Ok(Status::Done);
    }
    if path.is_dir() {
        return Err(Failure::usage(format!("{} is a directory", path.display())).help("name the file to write"));
    }
    place.spare(path)?;
    if path.exists() && !is_special(path) && !args.force {
        return Err(Failure::usage(format!("{} exists", path.display())).help("replace the file with --force"));
    }
    let file = Pending::create(path)?;
    let mut handle = file.handle()?;
    let n_exported = pages(&store, &mut |text| {
        Ok(handle.write_all(text.as_bytes()).with_context(|| format!("failed to write {}", path.display()))?)
    })?;
    file.complete()?.finish()?;
    match printer.form() {
        Form::Json => {
            let object = json!({ "out": path.display().to_string(), "n_exported": n_exported });
            printer.data(&format!("{object:#}\n"))?;
        }
        Form::Text => printer.note(&format!("{n_exported} experiences written")),
    }
    Ok(Status::Done)
}

/// Gives every experience to `write`, a page of lines at a time, and returns how many there were.
fn pages(store: &Store, write: &mut dyn FnMut(&str) -> Result<(), Failure>) -> Result<u64, Failure> {
    let (mut last, mut n_exported) = (0, 0);
    loop {
        let page = store.page(last, PAGE).map_err(refused)?;
        let Some(end) = page.last() else { return Ok(n_exported) };
        last = end.number;
        n_exported += page.len() as u64;
        let text: String = page.iter().flat_map(|stored| [to_line(&stored.experience), "\n".to_owned()]).collect();
        write(&text)?;
    }
}
