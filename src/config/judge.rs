//! The judge file, read strictly: every mistake with its line, and which key was meant.

use std::path::{Path, PathBuf};

use assize_calibration::gate::Gate;
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::document::Document;
use super::nearest::nearest;
use super::{ConfigError, gate, read_gate};
use crate::judge::file::{JudgeFile, Mistake};

/// A judge file that was read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeSettings {
    /// Where it lies; paths in it are relative to its folder.
    pub path: PathBuf,
    /// What it says.
    pub file: JudgeFile,
    /// The limits it states, or those of the gate file it names.
    pub gate: Option<Gate>,
}

impl JudgeSettings {
    /// Returns the judge's name: the one stated, or the file's stem.
    pub fn name(&self) -> String {
        let stem =
            || self.path.file_stem().map_or_else(|| "judge".to_owned(), |stem| stem.to_string_lossy().into_owned());
        self.file.name.clone().unwrap_or_else(stem)
    }

    /// Returns a path in the file as one from here.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.path.parent().map_or_else(|| path.to_path_buf(), |folder| folder.join(path))
    }
}

/// Reads a judge file.
///
/// # Errors
/// Refuses what is not TOML, unknown keys, values of another type, what [`JudgeFile::check`] refuses, and what
/// [`super::read_gate`] refuses of its gate.
pub fn read_judge(path: &Path) -> Result<JudgeSettings, ConfigError> {
    let document = Document::read(path)?;
    let table = document.table()?;
    let file = JudgeFile::deserialize(Deserializer::from(table.clone())).map_err(|error| told(&document, &error))?;
    file.check().map_err(|mistake| placed(&document, &table, mistake))?;
    let mut settings = JudgeSettings { path: path.to_path_buf(), file, gate: None };
    if let Some(value) = table.get_ref().get("gate") {
        settings.gate = Some(match value.get_ref().as_str() {
            Some(named) => read_gate(&settings.resolve(Path::new(named)))?,
            None => gate::gate(&document, document.expect_table(value, "gate", "[gate]")?, value.span().start)?,
        });
    }
    Ok(settings)
}

/// Returns the reader's complaint in our words. Which keys there are stands in its message, between backticks.
fn told(document: &Document, error: &toml::de::Error) -> ConfigError {
    let message = error.message();
    let span = error.span().unwrap_or(0..0);
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match (message.starts_with("unknown field"), message.starts_with("unknown variant"), quoted.as_slice()) {
        (true, _, [key, known @ ..]) => refuse_unknown(document, span, &format!("unknown key `{key}`"), key, known),
        (_, true, [value, known @ ..]) => {
            refuse_unknown(document, span, &format!("`{value}` is none of the values of this key"), value, known)
        }
        _ => document.refuse(span, message, None),
    }
}

fn refuse_unknown(
    document: &Document,
    span: std::ops::Range<usize>,
    message: &str,
    word: &str,
    known: &[&str],
) -> ConfigError {
    let help = match nearest(word, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known: {}", known.join(", ")),
    };
    document.refuse(span, message, Some(help))
}

/// Finds the nearest written key to a mistake.
fn placed(document: &Document, table: &Spanned<DeTable<'_>>, mistake: Mistake) -> ConfigError {
    let mut span = 0..0;
    let mut inner = Some(table.get_ref());
    let mut list: Option<&[Spanned<DeValue<'_>>]> = None;
    for part in &mistake.key {
        let value = match (inner, list) {
            (Some(table), _) => table.get(part.as_str()),
            (None, Some(list)) => part.parse().ok().and_then(|n: usize| list.get(n)),
            (None, None) => None,
        };
        let Some(value) = value else { break };
        span = value.span();
        inner = value.get_ref().as_table();
        list = value.get_ref().as_array().map(|list| &list[..]);
    }
    document.refuse(span, mistake.message, mistake.help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<JudgeSettings, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("helpfulness.toml");
        std::fs::write(&path, text).unwrap();
        read_judge(&path)
    }

    #[track_caller]
    fn check_refused(text: &str, place: (usize, usize), said: &str, helped: &str) {
        read(text).unwrap_err().check_refused(place, said, helped);
    }

    #[test]
    fn a_short_file_is_enough() {
        let settings = read("[llm]\nmodel = 'm'\n").unwrap();
        assert_eq!(settings.name(), "helpfulness");
        assert_eq!(settings.file.study.repeats, 5);
        assert_eq!(settings.gate, None);
    }

    #[test]
    fn slips_are_told_with_their_place_and_the_right_word() {
        check_refused("[llm]\nmodle = 'm'\n", (2, 1), "unknown key `modle`", "`model`");
        check_refused("[llm]\nmodel = 'm'\nprovider = 'anthropc'\n", (3, 12), "`anthropc`", "`anthropic`");
        check_refused("[llm]\nmodel = 'm'\n[llm.limits]\nconcurency = 4\n", (4, 1), "unknown key", "`concurrency`");
        check_refused("[llm]\nmodel = 'm'\n[[rubric.dimensions]]\nnam = 'x'\n", (4, 1), "unknown key", "`name`");
        check_refused("[llm]\nmodel = 'm'\ntemperature = 3\n", (3, 15), "between 0 and 2", "");
        check_refused("[llm]\nmodel = 'm'\ntemperature = 'hot'\n", (3, 15), "", "");
        check_refused("[study]\nrepeats = 2\n", (1, 1), "nothing says who judges", "assize init");
    }

    #[test]
    fn a_gate_stands_in_the_file_or_beside_it() {
        let settings = read("[llm]\nmodel = 'm'\n[gate.limits]\nflip_rate = { max = 0.1 }\n").unwrap();
        assert_eq!(settings.gate.unwrap().limits["flip_rate"].max, Some(0.1));
        check_refused(
            "[llm]\nmodel = 'm'\n[gate.limits]\nflip_rat = { max = 0.1 }\n",
            (4, 1),
            "unknown measure",
            "`flip_rate`",
        );
        read("gate = 'absent.toml'\n[llm]\nmodel = 'm'\n").unwrap_err();
    }
}
