//! A TOML file with the places of its keys and values, so that every complaint can point at one.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigError;
use super::nearest::nearest;

/// The text of a file, and its name.
pub(super) struct Document {
    pub(super) path: PathBuf,
    text: String,
}

impl Document {
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let bytes = std::fs::read(path).map_err(|source| ConfigError::Read { path: path.to_path_buf(), source })?;
        let path = path.to_path_buf();
        match String::from_utf8(bytes) {
            // Editors on Windows begin a file with a mark that TOML does not know.
            Ok(text) => Ok(Self { path, text: text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text) }),
            Err(error) => {
                let end = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Err(Self { path, text }.refuse(end..end, "not UTF-8 text", Some("save the file as UTF-8".to_owned())))
            }
        }
    }

    /// Returns the table of the whole file.
    pub(super) fn table(&self) -> Result<Spanned<DeTable<'_>>, ConfigError> {
        DeTable::parse(&self.text).map_err(|error| self.not_toml(&error))
    }

    /// Returns the complaint of the TOML reader as one of ours.
    pub(super) fn not_toml(&self, error: &toml::de::Error) -> ConfigError {
        self.refuse(error.span().unwrap_or(0..0), error.message(), None)
    }

    /// Returns a complaint about the part of the file at `span`.
    pub(super) fn refuse(&self, span: Range<usize>, message: impl Into<String>, help: Option<String>) -> ConfigError {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ConfigError::Refused {
            path: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
            help,
        }
    }

    /// Refuses the first key of `table` that is not among `known`, and says which one may have been meant.
    pub(super) fn check_keys(&self, table: &DeTable<'_>, known: &[&str]) -> Result<(), ConfigError> {
        for key in in_order(table) {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let help = match nearest(name, known.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("known keys: {}", known.join(", ")),
                };
                return Err(self.refuse(key.span(), format!("unknown key `{name}`"), Some(help)));
            }
        }
        Ok(())
    }

    /// Returns `value` as a table, or complains that `what` must be one.
    pub(super) fn expect_table<'t, 'i>(
        &self,
        value: &'t Spanned<DeValue<'i>>,
        what: &str,
        example: &str,
    ) -> Result<&'t DeTable<'i>, ConfigError> {
        value.get_ref().as_table().ok_or_else(|| {
            let message = format!("`{what}` must be a table, not {}", value.get_ref().type_str());
            self.refuse(value.span(), message, Some(format!("write {example}")))
        })
    }
}

/// Returns the keys of a table in the order in which they stand in the file, so that the first mistake is named first.
pub(super) fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<&'t Spanned<std::borrow::Cow<'i, str>>> {
    let mut keys: Vec<_> = table.keys().collect();
    keys.sort_by_key(|key| key.span().start);
    keys
}

/// Returns the number a value is, or `None` if it is not one. Infinities and NaN are TOML numbers.
pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(float) => float.as_str().parse().ok(),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        _ => None,
    }
}
