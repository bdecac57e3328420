//! The numbered versions of the schema, and how a file is brought to the newest.

use std::path::Path;

use rusqlite::{Connection, Transaction};
use rusqlite_migration::{HookError, HookResult, M, Migrations};

use crate::store::StoreError;

/// Version of the schema that this library reads and writes.
pub(crate) const VERSION: i64 = 1;
/// What the header of a store says it is: `aszm`.
const APPLICATION_ID: i64 = 0x6173_7A6D;

/// Refuses to apply a version twice: another process may have applied it between the look at the version and the lock.
fn applied_once(version_before: i64) -> impl Fn(&Transaction<'_>) -> HookResult + 'static + Send + Sync + Clone {
    move |transaction| {
        if user_version(transaction)? <= version_before {
            Ok(())
        } else {
            Err(HookError::Hook("another process was faster".to_owned()))
        }
    }
}

fn migrations() -> Migrations<'static> {
    // One entry a version. What was once released never changes: stores in the field have been through it.
    Migrations::new(vec![M::up_with_hook(include_str!("../migrations/1.sql"), applied_once(0))])
}

fn pragma(conn: &Connection, name: &str) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, name, |row| row.get(0))
}

fn user_version(conn: &Connection) -> rusqlite::Result<i64> {
    pragma(conn, "user_version")
}

/// Makes sure that the file is a store, or empty, and brings it to [`VERSION`].
pub(crate) fn bring_to_newest(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sqlite(path, "read the version of", error);
    // Each turn that fails does so because another process moved the version, which it can do only so often.
    loop {
        let version = user_version(conn).map_err(failed)?;
        let n_tables: i64 =
            conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
        let is_new = version == 0 && n_tables == 0;
        if !is_new && pragma(conn, "application_id").map_err(failed)? != APPLICATION_ID {
            // Another process may have made it a store between the looks.
            if user_version(conn).map_err(failed)? != version {
                continue;
            }
            return Err(StoreError::NotAStore { path: path.to_owned() });
        }
        if version > VERSION {
            return Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION });
        }
        if version == VERSION {
            return Ok(());
        }
        if let Err(error) = migrations().to_latest(conn)
            && user_version(conn).map_err(failed)? == version
        {
            return Err(match error {
                rusqlite_migration::Error::RusqliteError { err, .. } => {
                    StoreError::from_sqlite(path, "set up the tables of", err)
                }
                source => StoreError::Migration { path: path.to_owned(), source: Box::new(source) },
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_are_numbered_without_a_gap() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrations().to_latest(&mut conn).unwrap();
        assert_eq!(user_version(&conn).unwrap(), VERSION);
        assert_eq!(pragma(&conn, "application_id").unwrap(), APPLICATION_ID);
    }

    #[test]
    fn a_version_is_not_applied_over_a_newer_one() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.pragma_update(None, "user_version", 1).unwrap();
        let transaction = conn.transaction().unwrap();
        applied_once(0)(&transaction).unwrap_err();
        applied_once(1)(&transaction).unwrap();
    }

    #[test]
    fn the_schema_is_what_it_was() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrations().to_latest(&mut conn).unwrap();
        let mut statement =
            conn.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name").unwrap();
        let sql = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        insta::assert_snapshot!(sql.map(Result::unwrap).collect::<Vec<_>>().join(";\n\n"));
    }
}
