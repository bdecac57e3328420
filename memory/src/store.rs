//! The file: opening it, adding to it, and reading from it.
//!
//! Readers never wait. Writers take turns: one that has to wait longer than [`BUSY_TIMEOUT`] gives up and says so. What
//! was added is on the disk when the call returns, and a process that is killed leaves the file as it was before or after
//! the call, never between.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, Transaction, TransactionBehavior};
use serde::Serialize;

use crate::entry::{Digest, Entry, key};
use crate::experience::{Experience, Severity, Trust};
use crate::rows::{Insert, SELECT, select};
use crate::schema;
use crate::time::Time;

/// How long a writer waits for the others.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long one tries to switch a new file to write-ahead logging, which does not wait by itself.
const SWITCH_TURNS: u32 = 1_000;
const SWITCH_PAUSE: Duration = Duration::from_millis(10);

/// What cannot be done with a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no file.
    #[error("there is no store at {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not an experience store", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// A later version of this library wrote the file.
    #[error("{} has version {found} of the schema, from a newer assize; this one knows versions up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// What the file holds does not fit together.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What did not fit.
        source: rusqlite::Error,
    },
    /// Other processes wrote for too long.
    #[error("other processes kept {} busy", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file cannot be kept as it must be.
    #[error("{} cannot use write-ahead logging, but only `{journal}`; keep the store on a local, writable disk", path.display())]
    NoWal {
        /// The file.
        path: PathBuf,
        /// How SQLite would log instead.
        journal: String,
    },
    /// A version of the schema could not be applied.
    #[error("failed to bring {} to the newest version", path.display())]
    Migration {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Anything else that SQLite says: a full disk, no permission.
    #[error("failed to {attempt} {}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What was attempted.
        attempt: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl StoreError {
    pub(crate) fn from_sqlite(path: &Path, attempt: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match &source {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Self::Damaged { path, source },
            _ => match source.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => Self::NotAStore { path },
                Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, source },
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path, source },
                _ => Self::Sqlite { path, attempt, source },
            },
        }
    }
}

/// What to do about a file that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Make it. Its directory must exist.
    Create,
    /// Refuse.
    Existing,
}

/// An experience in a store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stored {
    /// Its place in the order in which the store was filled, counted from 1.
    pub number: i64,
    /// The digest of its content.
    pub digest: Digest,
    /// What was added.
    pub experience: Experience,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Added {
    /// It is in the store now.
    New,
    /// The same content was there before, and stays as it was.
    AlreadyThere,
}

/// Which experiences are wanted: those that fit every part given. Names are compared by [`key`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this dimension.
    pub dimension: Option<String>,
    /// Of this family of tasks.
    pub task_family: Option<String>,
    /// With this tag.
    pub tag: Option<String>,
    /// Of this severity.
    pub severity: Option<Severity>,
    /// Said by such a source.
    pub trust: Option<Trust>,
}

/// The newest experiences that fit a [`Filter`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// How many fit.
    pub n_matching: u64,
    /// The newest of them, the newest first.
    pub experiences: Vec<Stored>,
}

/// How often a value occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The value; for a name that was written in several ways, the way that comes first in the order of bytes.
    pub name: String,
    /// How often.
    pub n: u64,
}

/// What a store holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// Version of the schema.
    pub schema_version: i64,
    /// Size of the file in bytes, without what is still in its log.
    pub n_bytes: u64,
    /// How many experiences there are.
    pub n_experiences: u64,
    /// How many have the text before and after.
    pub n_with_texts: u64,
    /// How many have a score before and after.
    pub n_with_scores: u64,
    /// Time of the oldest.
    pub oldest: Option<Time>,
    /// Time of the newest.
    pub newest: Option<Time>,
    /// By dimension, the most frequent first.
    pub dimensions: Vec<Count>,
    /// By family of tasks, the most frequent first. Those without one are not counted.
    pub task_families: Vec<Count>,
    /// By severity, the most frequent first.
    pub severities: Vec<Count>,
    /// By who says so, the most frequent first.
    pub trust: Vec<Count>,
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    conn: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens a store and brings its schema to the newest version.
    ///
    /// # Errors
    /// Says when there is no file, when it is something else, damaged, or from a newer version, and what SQLite says of
    /// the disk.
    pub fn open(path: &Path, opening: Opening) -> Result<Self, StoreError> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if opening == Opening::Create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        // Names that mean something to SQLite (":memory:", nothing at all) are names of files here.
        let file = Path::new(".").join(path);
        let failed = |error| StoreError::from_sqlite(path, "open", error);
        let mut conn = match Connection::open_with_flags(&file, flags) {
            Err(_) if opening == Opening::Existing && !file.exists() => {
                return Err(StoreError::Missing { path: path.to_owned() });
            }
            opened => opened.map_err(failed)?,
        };
        conn.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        // Writers say at once that they will write: one that reads first cannot wait for the others afterwards.
        conn.set_transaction_behavior(TransactionBehavior::Immediate);
        conn.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        // What was said to be stored survives a power cut too.
        conn.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        // The tables come first, so that a file of somebody else is left untouched.
        schema::bring_to_newest(&mut conn, path)?;
        write_ahead(&conn, path)?;
        Ok(Self { conn, path: path.to_owned() })
    }

    /// Adds entries, all or, on an error, none. Returns what became of each.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when other writers took longer than [`BUSY_TIMEOUT`], otherwise what SQLite says.
    pub fn add(&mut self, entries: &[Entry]) -> Result<Vec<Added>, StoreError> {
        let Self { conn, path } = self;
        let add = |conn: &mut Connection| {
            let transaction = conn.transaction()?;
            let mut insert = Insert::prepare(&transaction)?;
            let added = entries
                .iter()
                .map(|entry| Ok(if insert.add(entry)? { Added::New } else { Added::AlreadyThere }))
                .collect::<rusqlite::Result<Vec<_>>>()?;
            drop(insert);
            transaction.commit()?;
            Ok(added)
        };
        add(conn).map_err(|error| StoreError::from_sqlite(path, "add to", error))
    }

    /// Returns whether an experience of this content is there.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn contains(&self, digest: Digest) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM experience WHERE digest = ?1)";
        self.conn.query_row(sql, [digest.to_string()], |row| row.get(0)).map_err(self.reading())
    }

    /// Returns the experiences whose digests begin with `prefix`, in hexadecimal digits of either case: at most `limit`,
    /// in the order of their digests.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn find(&self, prefix: &str, limit: u32) -> Result<Vec<Stored>, StoreError> {
        if !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let first = prefix.to_ascii_lowercase();
        // No digit follows `f`, so this is behind every digest with the prefix.
        let behind = format!("{first}g");
        let sql = format!("{SELECT} WHERE digest >= ?1 AND digest < ?2 ORDER BY digest LIMIT ?3");
        select(&self.conn, &sql, &[&first, &behind, &limit]).map_err(self.reading())
    }

    /// Returns the newest experiences that fit: at most `limit`, the newest first.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn list(&self, filter: &Filter, limit: u32) -> Result<Listing, StoreError> {
        let tag = filter.tag.as_deref().map(key);
        let conditions = [
            ("dimension_key = ?", filter.dimension.as_deref().map(key)),
            ("task_family_key = ?", filter.task_family.as_deref().map(key)),
            ("severity = ?", filter.severity.map(|severity| severity.word().to_owned())),
            ("trust = ?", filter.trust.map(|trust| trust.word().to_owned())),
            ("id IN (SELECT experience_id FROM experience_tag WHERE tag_key = ?)", tag),
        ];
        let mut sql = "WHERE true".to_owned();
        let mut values: Vec<&dyn ToSql> = Vec::new();
        for (condition, value) in &conditions {
            if let Some(value) = value {
                sql.push_str(" AND ");
                sql.push_str(condition);
                values.push(value);
            }
        }
        let count = format!("SELECT count(*) FROM experience {sql}");
        let n_matching = self.conn.query_row(&count, &*values, |row| row.get(0)).map_err(self.reading())?;
        let newest = format!("{SELECT} {sql} ORDER BY time_ms DESC, id DESC LIMIT ?");
        values.push(&limit);
        let experiences = select(&self.conn, &newest, &values).map_err(self.reading())?;
        Ok(Listing { n_matching, experiences })
    }

    /// Returns the experiences after the one of this number, in the order in which they were added: at most `limit`.
    /// Nothing is ever added before an experience that was returned, so that page after page sees each once.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn page(&self, after: i64, limit: u32) -> Result<Vec<Stored>, StoreError> {
        let sql = format!("{SELECT} WHERE id > ?1 ORDER BY id LIMIT ?2");
        select(&self.conn, &sql, &[&after, &limit]).map_err(self.reading())
    }

    /// Returns what the store holds. Reads all of it.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn stats(&self) -> Result<Stats, StoreError> {
        self.read_stats().map_err(self.reading())
    }

    fn read_stats(&self) -> rusqlite::Result<Stats> {
        // One transaction, so that all figures are of one moment; it only reads and waits for nobody.
        let conn = Transaction::new_unchecked(&self.conn, TransactionBehavior::Deferred)?;
        let counts = |column: &str, name: &str| -> rusqlite::Result<Vec<Count>> {
            let sql = format!(
                "SELECT min({name}) AS name, count(*) AS n FROM experience WHERE {column} IS NOT NULL \
                 GROUP BY {column} ORDER BY n DESC, name"
            );
            let count = |row: &rusqlite::Row<'_>| Ok(Count { name: row.get(0)?, n: row.get(1)? });
            conn.prepare(&sql)?.query_map([], count)?.collect()
        };
        let totals = "
            SELECT count(*), count(*) FILTER (WHERE before_text IS NOT NULL AND after_text IS NOT NULL),
                count(*) FILTER (WHERE evidence ->> 'score_before' IS NOT NULL AND evidence ->> 'score_after' IS NOT NULL),
                min(time_ms), max(time_ms),
                (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)
            FROM experience";
        conn.query_row(totals, [], |row| {
            let time = |unix_ms: Option<i64>| unix_ms.and_then(Time::from_unix_ms);
            Ok(Stats {
                schema_version: schema::VERSION,
                n_experiences: row.get(0)?,
                n_with_texts: row.get(1)?,
                n_with_scores: row.get(2)?,
                oldest: time(row.get(3)?),
                newest: time(row.get(4)?),
                n_bytes: row.get(5)?,
                dimensions: counts("dimension_key", "dimension")?,
                task_families: counts("task_family_key", "task_family")?,
                severities: counts("severity", "severity")?,
                trust: counts("trust", "trust")?,
            })
        })
    }

    fn reading(&self) -> impl Fn(rusqlite::Error) -> StoreError {
        |error| StoreError::from_sqlite(&self.path, "read", error)
    }
}

/// Switches to write-ahead logging, which lets readers read while somebody writes. The switch stays with the file.
fn write_ahead(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sqlite(path, "open", error);
    let journal = || conn.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    let mut n_turns = 0;
    while journal().map_err(failed)? != "wal" {
        let switched = conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match switched {
            Ok(mode) if mode == "wal" => break,
            Ok(journal) => return Err(StoreError::NoWal { path: path.to_owned(), journal }),
            // Others have the new file open too; one of them will succeed.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && n_turns < SWITCH_TURNS => {
                n_turns += 1;
                sleep(SWITCH_PAUSE);
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}
