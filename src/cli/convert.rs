//! `assize convert`: any log to the plain log.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assize_calibration::judgement::Judgement;
use serde_json::json;

use super::files::Pending;
use super::printer::{Form, Printer};
use super::reading::{self, Rows, read_sources};
use super::status::{Failure, Status};
use crate::formats::ReadError;
use crate::shim::{JsonlWriter, RowWriter};

/// Turn logs of any known format into the plain log
///
/// The plain log holds one judgement a line, as JSON. Rows that cannot be read are left out, counted and told.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize convert results.json log.jsonl
  assize convert monday.csv tuesday.csv week.jsonl
  assize convert table.csv - --columns 'item=id, score=s1..s8' | head")]
pub(super) struct Args {
    /// Logs to read, in order; - reads standard input
    #[arg(required = true, value_name = "IN")]
    sources: Vec<PathBuf>,
    /// File to write (.jsonl); - writes to standard output
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
    let mut output = Output::open(args)?;
    let reading = match read_sources(&args.sources, &columns, &mut output, printer) {
        // The reader of standard output has seen enough.
        Err(failure) if to_stdout && is_closed_pipe(&failure) => return Ok(Status::Done),
        read => read?,
    };
    let problems = reading.problems.as_slice();
    if args.strict {
        reading::strict(problems)?;
    }
    let n_judgements = output.n_judgements;
    output.finish()?;
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
            for problem in problems {
                printer.note(&reading::described(problem));
            }
            let left_out = match reading.n_bad_rows() {
                0 => String::new(),
                n_bad_rows => format!(", {n_bad_rows} of {} rows left out", reading.n_rows()),
            };
            printer.note(&format!("{n_judgements} judgements written{left_out}"));
        }
    }
    Ok(Status::Done)
}

fn is_closed_pipe(failure: &Failure) -> bool {
    matches!(
        failure.error.downcast_ref(),
        Some(ReadError::Write { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe
    )
}

/// The plain log being written.
struct Output {
    path: PathBuf,
    writer: JsonlWriter<To>,
    n_judgements: u64,
}

enum To {
    Stdout(BufWriter<io::Stdout>),
    File(Pending),
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

impl Output {
    fn open(args: &Args) -> Result<Self, Failure> {
        let path = &args.out;
        if path == Path::new("-") {
            let to = To::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()));
            return Ok(Self { path: "standard output".into(), writer: JsonlWriter(to), n_judgements: 0 });
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if matches!(extension.as_str(), "csv" | "tsv" | "json" | "parquet" | "gz" | "zst") {
            let message = format!("the plain log is JSON Lines, not .{extension}");
            return Err(Failure::usage(message).help(format!(
                "write {} or, packed, `assize convert … - | gzip`",
                path.with_extension("jsonl").display()
            )));
        }
        if path.is_dir() {
            return Err(
                Failure::usage(format!("{} is a directory", path.display())).help("name the file to write last")
            );
        }
        if path.is_file() && !args.force {
            return Err(Failure::usage(format!("{} exists", path.display()))
                .help("the last path is the one written; replace the file with --force"));
        }
        Ok(Self { path: path.clone(), writer: JsonlWriter(To::File(Pending::create(path)?)), n_judgements: 0 })
    }

    fn finish(mut self) -> Result<(), Failure> {
        match self.writer.finish() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written.with_context(|| format!("failed to write {}", self.path.display()))?,
        }
        match self.writer.0 {
            To::Stdout(_) => Ok(()),
            To::File(file) => file.finish(),
        }
    }
}

impl Rows for Output {
    fn take(&mut self, judgement: &Judgement<'_>, _line: u64) -> Result<(), ReadError> {
        self.n_judgements += 1;
        self.writer.write(judgement).map_err(|source| ReadError::Write { path: self.path.clone(), source })
    }
}
