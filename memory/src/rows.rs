//! Between rows of the tables and experiences.

use rusqlite::types::Type;
use rusqlite::{Connection, Row, Statement, ToSql, named_params, params};

use crate::entry::{Digest, Entry, key};
use crate::experience::{Evidence, Experience, Issue, Origin, Severity, Trust};
use crate::store::Stored;
use crate::time::Time;

/// What [`stored`] reads, to be followed by conditions on `experience`.
pub(crate) const SELECT: &str = "
    SELECT id, digest, time_ms, trust, dimension, severity, location, description, suggestion, fix, before_text,
        after_text, evidence, task, task_family, loop_id, round, model,
        (SELECT json_group_array(tag) FROM experience_tag WHERE experience_id = id) AS tags
    FROM experience ";

/// The statements that add, prepared once for many entries.
pub(crate) struct Insert<'a> {
    conn: &'a Connection,
    experience: Statement<'a>,
    tag: Statement<'a>,
}

impl<'a> Insert<'a> {
    pub(crate) fn prepare(conn: &'a Connection) -> rusqlite::Result<Self> {
        let experience = conn.prepare(
            "INSERT INTO experience (digest, time_ms, trust, dimension, dimension_key, severity, location, description,
                suggestion, fix, before_text, after_text, evidence, task, task_family, task_family_key, loop_id, round,
                model)
            VALUES (:digest, :time_ms, :trust, :dimension, :dimension_key, :severity, :location, :description,
                :suggestion, :fix, :before_text, :after_text, :evidence, :task, :task_family, :task_family_key, :loop_id,
                :round, :model)
            ON CONFLICT (digest) DO NOTHING",
        )?;
        let tag = conn.prepare("INSERT INTO experience_tag (experience_id, tag, tag_key) VALUES (?1, ?2, ?3)")?;
        Ok(Self { conn, experience, tag })
    }

    /// Adds an entry and returns whether it was not there yet.
    pub(crate) fn add(&mut self, entry: &Entry) -> rusqlite::Result<bool> {
        let Experience { time, trust, issue, fix, before, after, evidence, origin, tags } = entry.experience();
        let evidence =
            serde_json::to_string(evidence).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let n_added = self.experience.execute(named_params! {
            ":digest": entry.digest().to_string(),
            ":time_ms": time.unix_ms(),
            ":trust": trust.word(),
            ":dimension": issue.dimension,
            ":dimension_key": key(&issue.dimension),
            ":severity": issue.severity.word(),
            ":location": issue.location,
            ":description": issue.description,
            ":suggestion": issue.suggestion,
            ":fix": fix,
            ":before_text": before,
            ":after_text": after,
            ":evidence": evidence,
            ":task": origin.task,
            ":task_family": origin.task_family,
            ":task_family_key": origin.task_family.as_deref().map(key),
            ":loop_id": origin.loop_id,
            ":round": origin.round,
            ":model": origin.model,
        })?;
        if n_added == 0 {
            return Ok(false);
        }
        let id = self.conn.last_insert_rowid();
        for tag in tags {
            self.tag.execute(params![id, tag, key(tag)])?;
        }
        Ok(true)
    }
}

/// Returns the rows that a query beginning with [`SELECT`] finds.
pub(crate) fn select(conn: &Connection, sql: &str, values: &[&dyn ToSql]) -> rusqlite::Result<Vec<Stored>> {
    conn.prepare(sql)?.query_map(values, stored)?.collect()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let experience = Experience {
        time: convert(row, "time_ms", Type::Integer, |unix_ms: i64| Time::from_unix_ms(unix_ms))?,
        trust: convert(row, "trust", Type::Text, |word: String| Trust::from_word(&word))?,
        issue: Issue {
            dimension: row.get("dimension")?,
            location: row.get("location")?,
            severity: convert(row, "severity", Type::Text, |word: String| Severity::from_word(&word))?,
            description: row.get("description")?,
            suggestion: row.get("suggestion")?,
        },
        fix: row.get("fix")?,
        before: row.get("before_text")?,
        after: row.get("after_text")?,
        evidence: convert(row, "evidence", Type::Text, |json: String| serde_json::from_str::<Evidence>(&json).ok())?,
        origin: Origin {
            task: row.get("task")?,
            task_family: row.get("task_family")?,
            loop_id: row.get("loop_id")?,
            round: row.get("round")?,
            model: row.get("model")?,
        },
        tags: convert(row, "tags", Type::Text, |json: String| serde_json::from_str(&json).ok())?,
    };
    Ok(Stored {
        number: row.get("id")?,
        digest: convert(row, "digest", Type::Text, |hex: String| Digest::from_hex(&hex))?,
        experience,
    })
}

/// Reads a column whose values another program may have spoilt.
fn convert<S: rusqlite::types::FromSql, T>(
    row: &Row<'_>,
    column: &'static str,
    stored_as: Type,
    read: impl FnOnce(S) -> Option<T>,
) -> rusqlite::Result<T> {
    read(row.get(column)?).ok_or_else(|| {
        let column_idx = row.as_ref().column_index(column).unwrap_or_default();
        rusqlite::Error::FromSqlConversionFailure(
            column_idx,
            stored_as,
            format!("`{column}` holds no such value").into(),
        )
    })
}
