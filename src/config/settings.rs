//! The settings file: defaults for an audit, the columns of one's own tables, a gate, in one file.

use std::path::Path;

use assize_calibration::audit::{AuditConfig, BadSetting, CompareConfig};
use assize_calibration::gate::Gate;
use schemars::JsonSchema;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::document::Document;
use super::{ConfigError, gate};
use crate::formats::columns::ColumnMap;

const KEYS: [&str; 4] = ["audit", "columns", "compare", "gate"];

/// What a settings file may hold, each part in a table of its name.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How to audit. What the file does not state has its default.
    pub audit: AuditConfig,
    /// Which columns mean what.
    pub columns: Option<ColumnMap>,
    /// The limits a judge must keep.
    pub gate: Option<Gate>,
    /// How two judges are compared. What the file does not state has its default.
    pub compare: CompareConfig,
}

/// Reads a settings file.
///
/// # Errors
/// Refuses what is not TOML, unknown keys, values out of range, and what [`super::read_gate`] refuses.
pub fn read_settings(path: &Path) -> Result<Settings, ConfigError> {
    let document = Document::read(path)?;
    let table = document.table()?;
    document.check_keys(table.get_ref(), &KEYS)?;
    let mut settings = Settings::default();
    if let Some(value) = table.get_ref().get("audit") {
        settings.audit = typed(&document, value, "audit", AuditConfig::check)?;
    }
    if let Some(value) = table.get_ref().get("compare") {
        settings.compare = typed(&document, value, "compare", CompareConfig::check)?;
    }
    settings.columns = columns(&document, table.get_ref())?;
    if let Some(value) = table.get_ref().get("gate") {
        let gate_table = document.expect_table(value, "gate", "[gate]")?;
        settings.gate = Some(gate::gate(&document, gate_table, value.span().start)?);
    }
    Ok(settings)
}

/// Reads the `[columns]` table of a settings file.
///
/// # Errors
/// As [`read_settings`], and when there is no such table.
pub fn read_columns(path: &Path) -> Result<ColumnMap, ConfigError> {
    let document = Document::read(path)?;
    let table = document.table()?;
    document.check_keys(table.get_ref(), &KEYS)?;
    columns(&document, table.get_ref())?
        .ok_or_else(|| document.refuse(0..0, "no [columns] table", Some("add one, or leave out --columns".to_owned())))
}

fn columns(document: &Document, table: &DeTable<'_>) -> Result<Option<ColumnMap>, ConfigError> {
    let Some(value) = table.get("columns") else { return Ok(None) };
    let columns = document.expect_table(value, "columns", "[columns]")?;
    let map = ColumnMap::deserialize(Deserializer::from(Spanned::new(value.span(), columns.clone())));
    map.map(Some).map_err(|error| document.refuse(error.span().unwrap_or(value.span()), error.message(), None))
}

/// Reads a table whose type says itself which keys there are.
fn typed<T: DeserializeOwned + JsonSchema>(
    document: &Document,
    value: &Spanned<DeValue<'_>>,
    name: &str,
    check: impl FnOnce(&T) -> Result<(), BadSetting>,
) -> Result<T, ConfigError> {
    let table = document.expect_table(value, name, &format!("[{name}]"))?;
    let schema = schemars::schema_for!(T);
    let properties = schema.get("properties").and_then(serde_json::Value::as_object);
    let known: Vec<&str> = properties.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    document.check_keys(table, &known)?;
    let config = T::deserialize(Deserializer::from(Spanned::new(value.span(), table.clone())))
        .map_err(|error| document.not_toml(&error))?;
    check(&config).map_err(|BadSetting { field, must }| {
        let span = table.get(field).map_or(value.span(), Spanned::span);
        document.refuse(span, format!("`{field}` {must}"), None)
    })?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("assize.toml");
        std::fs::write(&path, text).unwrap();
        read_settings(&path)
    }

    #[track_caller]
    fn check_refused(text: &str, place: (usize, usize), said: &str, helped: &str) {
        read(text).unwrap_err().check_refused(place, said, helped);
    }

    #[test]
    fn what_is_not_stated_has_its_default() {
        let settings = read("[audit]\nlevel = 0.9\nscale = [1, 10]\n").unwrap();
        let expected = AuditConfig { level: 0.9, scale: Some([1.0, 10.0]), ..AuditConfig::default() };
        assert_eq!(settings.audit, expected);
        assert_eq!(settings.gate, None);
        assert_eq!(read("").unwrap().audit, AuditConfig::default());
    }

    #[test]
    fn a_gate_may_stand_in_the_settings() {
        let settings = read("[gate.limits]\nflip_rate = { max = 0.1 }\n").unwrap();
        assert_eq!(settings.gate.unwrap().limits["flip_rate"].max, Some(0.1));
        check_refused("[gate.limits]\nflip_rat = { max = 0.1 }\n", (2, 1), "unknown measure", "`flip_rate`");
    }

    #[test]
    fn mistakes_are_located() {
        check_refused("[audits]\n", (1, 2), "unknown key `audits`", "`audit`");
        check_refused("[audit]\nlevle = 0.9\n", (2, 1), "unknown key `levle`", "`level`");
        check_refused("[audit]\nlevel = 95\n", (2, 9), "must be at least 0.5 and less than 1, not 95", "");
        check_refused("[audit]\n\nseed = 'x'\n", (3, 8), "", "");
        check_refused("[audit]\nscale = [5, 1]\n", (2, 9), "from 5 to 1", "");
        check_refused("[compare]\nmargins = { flip_rat = 0.1 }\n", (2, 11), "none called \"flip_rat\"", "");
        check_refused("[compare]\nmargin = 2\n", (2, 10), "less than 1, not 2", "");
        check_refused("audit = 1\n", (1, 9), "must be a table", "[audit]");
    }
}
