//! `assize memory`: what loops learned, kept in one file.

mod add;
mod exchange;
mod read;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assize_memory::experience::{Severity, Trust};
use assize_memory::store::{Opening, Store, StoreError};
use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;

use super::printer::{Printer, env};
use super::status::{Failure, Status};
use crate::unfinished;

/// Keep what loops learned: issues, the fixes that helped, and the evidence
///
/// The store is one SQLite file, which several processes may write at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize memory add --dimension clarity --description 'no example' --fix 'add one' --task 'write a guide'
  assize memory list --dimension clarity
  assize memory export backup.jsonl

The store is the file named by --store, else by ASSIZE_STORE, else assize/memory.db in $XDG_DATA_HOME or in
~/.local/share.")]
pub(super) struct Args {
    /// File that the experiences are kept in
    #[arg(long, global = true, value_name = "FILE", env = "ASSIZE_STORE", hide_env_values = true)]
    store: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(Box<add::Args>),
    List(read::ListArgs),
    Show(read::ShowArgs),
    Import(exchange::ImportArgs),
    Export(exchange::ExportArgs),
    Stats(read::StatsArgs),
}

pub(super) fn run(args: Args, printer: &mut Printer) -> Result<Status, Failure> {
    let place = Place::find(args.store)?;
    match args.command {
        Command::Add(args) => add::run(*args, &place, printer),
        Command::List(args) => read::list(args, &place, printer),
        Command::Show(args) => read::show(&args, &place, printer),
        Command::Import(args) => exchange::import(&args, &place, printer),
        Command::Export(args) => exchange::export(&args, &place, printer),
        Command::Stats(_args) => read::stats(&place, printer),
    }
}

/// Where the store is.
struct Place {
    path: PathBuf,
    /// Whether nobody named it, so that its directory is ours to make.
    is_default: bool,
}

impl Place {
    fn find(stated: Option<PathBuf>) -> Result<Self, Failure> {
        if let Some(path) = stated.filter(|path| !path.as_os_str().is_empty()) {
            return Ok(Self { path, is_default: false });
        }
        // Relative ones count as not set, as the XDG base directory specification says.
        let dir = |name: &str| env(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
        let data = dir("XDG_DATA_HOME").or_else(|| dir("HOME").map(|home| home.join(".local/share")));
        let data = data.ok_or_else(|| {
            Failure::usage("there is no home directory to keep the store in").help("name a file with --store FILE")
        })?;
        Ok(Self { path: data.join("assize/memory.db"), is_default: true })
    }

    fn exists(&self) -> bool {
        self.path.exists()
    }

    fn open(&self, opening: Opening, printer: &Printer) -> Result<Store, Failure> {
        printer.detail(&format!("store: {}", self.path.display()));
        if let (true, Opening::Create, Some(dir)) = (self.is_default, opening, self.path.parent()) {
            fs::create_dir_all(dir).with_context(|| format!("failed to make the directory {}", dir.display()))?;
        }
        Store::open(&self.path, opening).map_err(refused)
    }

    /// Returns an error if writing to `path` would write over the store, or over what SQLite keeps beside it.
    fn spare(&self, path: &Path) -> Result<(), Failure> {
        // Of a link to a store, SQLite keeps its files beside the store, not beside the link.
        let store = full_path(&self.path);
        let beside = ["-wal", "-shm", "-journal"].map(|end| {
            let mut name = store.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        });
        let message = if is_same_file(&store, path) {
            format!("{} is the store itself and would be written over", path.display())
        } else if beside.iter().any(|file| is_same_file(file, path)) {
            format!("{} belongs to the store {} and would be written over", path.display(), self.path.display())
        } else {
            return Ok(());
        };
        Err(Failure::usage(message).help("name another file to write; --force does not replace the store"))
    }
}

/// Returns a path without links, also of a file that is not there yet.
fn full_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_absent| {
        match (fs::canonicalize(unfinished::folder(path)), path.file_name()) {
            (Ok(dir), Some(name)) => dir.join(name),
            _ => path.to_path_buf(),
        }
    })
}

/// Returns whether two paths name one file, by whatever links.
fn is_same_file(a: &Path, b: &Path) -> bool {
    full_path(a) == full_path(b) || is_same_inode(a, b)
}

/// Returns whether two names stand for the same data: a hard link has another path.
#[cfg(unix)]
fn is_same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let inode = |path: &Path| fs::metadata(path).ok().map(|known| (known.dev(), known.ino()));
    inode(a).is_some_and(|a| inode(b) == Some(a))
}

/// What tells hard links is not to be had here; their paths have been compared.
#[cfg(not(unix))]
fn is_same_inode(_a: &Path, _b: &Path) -> bool {
    false
}

/// Returns the failure that an error of the store is.
fn refused(error: StoreError) -> Failure {
    let help = match &error {
        StoreError::Missing { .. } => {
            Some("`assize memory add` and `assize memory import` make one; --store names another")
        }
        StoreError::NotAStore { .. } => Some("name the store with --store; nothing was written to this file"),
        StoreError::Newer { .. } => Some("update assize; nothing was written to this file"),
        StoreError::Damaged { .. } => {
            Some("keep the file, and import your last export into a new one: assize memory import FILE --store NEW")
        }
        StoreError::Busy { .. } => Some("run it again when they are done; nothing of this call was written"),
        StoreError::Sqlite { .. } => {
            Some("check that the directory exists and can be written, and that the disk has space")
        }
        _ => None,
    };
    Failure { help: help.map(str::to_owned), ..Failure::from(anyhow::Error::from(error)) }
}

/// Parses a word into one of the values of a type.
macro_rules! words {
    ($name:ident, $type:ty) => {
        fn $name() -> impl clap::builder::TypedValueParser<Value = $type> {
            PossibleValuesParser::new(<$type>::ALL.iter().map(|value| value.word()))
                .map(|word| <$type>::from_word(&word).expect("only words that stand for something are let through"))
        }
    };
}
words!(severity, Severity);
words!(trust, Trust);

/// Opens a source to read; `-` is standard input. Returns how it is called too.
fn source(path: &Path) -> Result<(Box<dyn std::io::BufRead>, String), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(std::io::stdin().lock()), "standard input".to_owned()));
    }
    let name = path.display().to_string();
    let file = fs::File::open(path)
        .with_context(|| format!("failed to read {name}"))
        .map_err(|error| Failure::from(error).help("check the path; `-` reads standard input"))?;
    Ok((Box::new(std::io::BufReader::new(file)), name))
}
