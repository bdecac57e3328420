//! `assize convert`: any log to the plain log.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::files::{Pending, is_special, spare_inputs};
use super::printer::{Form, Printer};
use super::reading::{self, read_sources};
use super::status::{Failure, Status};
use crate::formats::ReadError;
use crate::formats::columns::ColumnMap;
use crate::formats::{LogWriter, OutputFormat};
use crate::unfinished;

/// Turn logs of any known format into the plain log
///
/// The plain log holds one judgement a line. Rows that cannot be read are left out, counted and told.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize convert results.json log.jsonl
  assize convert monday.csv tuesday.csv week.jsonl.zst
  assize convert table.csv - --columns 'item=id, repeats=s1..s8' | head")]
pub(super) struct Args {
    /// Logs to read, in order; - reads standard input
    #[arg(required = true, value_name = "IN")]
    sources: Vec<PathBuf>,
    /// File to write: .jsonl, .csv or .tsv, with .gz or .zst to pack it; - writes JSON Lines to standard output
    #[arg(required = true, value_name = "OUT")]
    out: PathBuf,
    /// Which columns mean what: a mapping, or a .toml file with a [columns] table
    #[arg(long, value_name = "MAP|FILE.toml")]
    columns: Option<String>,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
    /// Give up on rows that cannot be read, and write nothing
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Status, Failure> {
    let columns = args.columns.as_deref().map(reading::columns).transpose()?.unwrap_or_default();
    let to_stdout = args.out == Path::new("-");
    let mut writer = open(args, &columns)?;
    let reading = match read_sources(&args.sources, &columns, &mut writer, printer) {
        // The reader of standard output has seen enough.
        Err(failure) if to_stdout && failure.error.downcast_ref().is_some_and(is_closed_pipe) => {
            return Ok(Status::Done);
        }
        read => read?,
    };
    let problems = reading.problems.as_slice();
    if args.strict {
        reading::strict(problems)?;
    }
    let n_judgements = match writer.finish() {
        Err(error) if to_stdout && is_closed_pipe(&error) => return Ok(Status::Done),
        written => written.map_err(anyhow::Error::from)?,
    };
    match printer.form() {
        // Standard output is the log itself.
        Form::Json if !to_stdout => {
            let object = json!({
                "out": args.out.display().to_string(),
                "formats": reading.summaries.iter().map(|summary| &summary.format).collect::<Vec<_>>(),
                "n_rows": reading.n_rows(),
                "n_bad_rows": reading.n_bad_rows(),
                "n_judgements": n_judgements,
                "problems": problems,
            });
            printer.data(&format!("{object:#}\n"))?;
        }
        _ => {
            reading::tell(problems, printer);
            let left_out = match reading.n_bad_rows() {
                0 => String::new(),
                n_bad_rows => format!(", {n_bad_rows} of {} rows left out", reading.n_rows()),
            };
            printer.note(&format!("{n_judgements} judgements written{left_out}"));
        }
    }
    Ok(Status::Done)
}

fn is_closed_pipe(error: &ReadError) -> bool {
    matches!(error, ReadError::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
}

/// Begins the output, unless it would replace a file that nobody said may go.
fn open(args: &Args, columns: &ColumnMap) -> Result<LogWriter, Failure> {
    let path = &args.out;
    let help = "the last path is the one written; name another file";
    spare_inputs(std::slice::from_ref(path), &args.sources, columns, help)?;
    let writer = if path == Path::new("-") {
        LogWriter::to_stream(Path::new("standard output"), Box::new(io::stdout()), OutputFormat::Jsonl)
    } else if is_special(path) {
        LogWriter::to_stream(path, Box::new(Pending::create(path)?.handle()?), OutputFormat::Jsonl)
    } else if path.is_dir() {
        return Err(Failure::usage(format!("{} is a directory", path.display())).help("name the file to write last"));
    } else if path.is_file() && !args.force {
        return Err(Failure::usage(format!("{} exists", path.display()))
            .help("the last path is the one written; replace the file with --force"));
    } else {
        unfinished::remove_abandoned(unfinished::folder(path));
        LogWriter::create(path)
    };
    Ok(writer.map_err(anyhow::Error::from)?)
}
