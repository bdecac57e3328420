//! Which columns of a table mean what.
//!
//! A [`ColumnMap`] is written as a `[columns]` table in a TOML file or as one line of text (`--columns`); both say the
//! same things. Here it is only checked for being well-formed: whether it fits a table is seen in `plan`, once the
//! table's columns are known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use toml::Value;

use super::ReadError;
use super::column_text;
use super::fields::{Field, nearest};

/// A mapping from a table's columns to the plain log's fields. Empty: columns are recognised by their names.
///
/// Made from text by [`FromStr`] (`item=row+response_index, repeats=s1..s8, label=gold`) and from a TOML table by serde.
/// The words are described in `docs/how-to/audit-your-log.md`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnMap {
    pub(super) fields: BTreeMap<Field, TextSource>,
    pub(super) outcome: Option<Reading>,
    /// Each a repeat of the same question.
    pub(super) repeats: Vec<String>,
    /// A cell with all repeats, in order.
    pub(super) repeats_in: Option<String>,
    pub(super) order_ab: Option<String>,
    pub(super) order_ba: Option<String>,
    /// Those of the two that name the place chosen rather than the candidate.
    pub(super) as_shown: Vec<String>,
    /// The columns that name the candidate shown first and second.
    pub(super) shown: Option<(String, String)>,
    pub(super) judges: Vec<String>,
    pub(super) arms: Vec<String>,
    pub(super) dimensions: Vec<String>,
    pub(super) raters: Vec<String>,
    /// A cell with the ratings of several people.
    pub(super) ratings_in: Option<String>,
    /// Names in the judge column that are people.
    pub(super) people: Vec<String>,
    pub(super) values: BTreeMap<String, String>,
    pub(super) label_values: BTreeMap<String, String>,
    pub(super) labels: Option<LabelFile>,
    pub(super) only: BTreeMap<String, Vec<String>>,
    pub(super) ignored: Vec<String>,
    /// Whether an empty cell of several in a row means that the judge was not asked.
    pub(super) skip_empty: bool,
}

/// Where the text of a field comes from: parts, joined with `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextSource(pub Vec<Part>);

/// A part of a [`TextSource`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Column(String),
    Constant(String),
}

/// Labels that stand in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LabelFile {
    /// Relative to the folder of the log.
    pub file: PathBuf,
    /// What makes the item in that file.
    pub item: TextSource,
    /// The column with the label.
    pub label: String,
}

impl LabelFile {
    /// Returns where the file lies.
    pub(super) fn beside(&self, log: &Path) -> PathBuf {
        log.parent().map_or_else(|| self.file.clone(), |folder| folder.join(&self.file))
    }
}

/// How the word of an outcome is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Score,
    Verdict,
    Choice,
    Position,
    Category,
    /// A number from 1 (candidate A) over 1.5 (tie) to 2 (candidate B).
    Preference,
}

impl Reading {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Score, "score"),
        (Self::Verdict, "verdict"),
        (Self::Choice, "choice"),
        (Self::Position, "position"),
        (Self::Category, "category"),
        (Self::Preference, "preference"),
    ];

    /// Returns what people call it.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(reading, _)| *reading == self).map_or("", |(_, name)| name)
    }

    /// Returns how the column of an outcome field is read.
    pub(super) const fn of(field: Field) -> Option<Self> {
        Some(match field {
            Field::Score => Self::Score,
            Field::Verdict => Self::Verdict,
            Field::Choice => Self::Choice,
            Field::ChosenPosition => Self::Position,
            Field::Category => Self::Category,
            Field::Preference => Self::Preference,
            _ => return None,
        })
    }
}

/// The keys that are not names of fields.
const OTHER_KEYS: [&str; 20] = [
    "outcome",
    "repeats",
    "repeats_in",
    "order_ab",
    "order_ba",
    "as_shown",
    "first",
    "second",
    "judges",
    "arms",
    "dimensions",
    "raters",
    "ratings_in",
    "people",
    "values",
    "label_values",
    "labels",
    "where",
    "ignore",
    "empty",
];

impl ColumnMap {
    /// Reads the `[columns]` table of a TOML file.
    ///
    /// # Errors
    /// Returns an error when the text is not TOML, has another table, or the mapping is not well-formed.
    pub fn from_toml(text: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            columns: ColumnMap,
        }
        let file: File = toml::from_str(text).map_err(|error| ReadError::Columns(error.to_string()))?;
        Ok(file.columns)
    }

    /// Returns whether nothing is mapped, so that other tools' files and columns are recognised by themselves.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the file that the labels of `log` stand in: it lies beside the log, unless its path is absolute.
    #[must_use]
    pub fn label_file(&self, log: &Path) -> Option<PathBuf> {
        self.labels.as_ref().map(|labels| labels.beside(log))
    }

    /// Returns whether the map says which columns hold the outcome.
    pub(super) fn names_outcome(&self) -> bool {
        self.fields.keys().any(|field| field.is_outcome()) || self.has_shape()
    }

    /// Returns whether one row holds several judgements of the judge.
    pub(super) fn has_shape(&self) -> bool {
        self.shapes().next().is_some()
    }

    /// Returns whether one row holds several people's ratings.
    pub(super) fn has_raters(&self) -> bool {
        !self.raters.is_empty() || self.ratings_in.is_some()
    }

    fn shapes(&self) -> impl Iterator<Item = &'static str> {
        [
            (!self.repeats.is_empty(), "repeats"),
            (self.repeats_in.is_some(), "repeats_in"),
            (self.order_ab.is_some() || self.order_ba.is_some(), "order_ab and order_ba"),
            (!self.judges.is_empty(), "judges"),
            (!self.arms.is_empty(), "arms"),
            (!self.dimensions.is_empty(), "dimensions"),
        ]
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name))
    }

    /// Makes a map from a table of a configuration file.
    fn from_table(table: toml::Table) -> Result<Self, String> {
        let mut map = Self::default();
        let (mut first, mut second) = (None, None);
        for (key, value) in table {
            let at = |message: String| format!("`{key}`: {message}");
            match key.as_str() {
                "outcome" => map.outcome = Some(reading(&value).map_err(at)?),
                "repeats" => map.repeats = column_list(&value).map_err(at)?,
                "repeats_in" => map.repeats_in = Some(column(&value).map_err(at)?),
                "order_ab" => map.order_ab = Some(column(&value).map_err(at)?),
                "order_ba" => map.order_ba = Some(column(&value).map_err(at)?),
                "as_shown" => map.as_shown = column_list(&value).map_err(at)?,
                "first" => first = Some(column(&value).map_err(at)?),
                "second" => second = Some(column(&value).map_err(at)?),
                "judges" => map.judges = column_list(&value).map_err(at)?,
                "arms" => map.arms = column_list(&value).map_err(at)?,
                "dimensions" => map.dimensions = column_list(&value).map_err(at)?,
                "raters" => map.raters = column_list(&value).map_err(at)?,
                "ratings_in" => map.ratings_in = Some(column(&value).map_err(at)?),
                "people" => map.people = word_list(&value).map_err(at)?,
                "values" => map.values = words(&value).map_err(at)?,
                "label_values" => map.label_values = words(&value).map_err(at)?,
                "labels" => map.labels = Some(label_file(&value).map_err(at)?),
                "where" => map.only = conditions(&value).map_err(at)?,
                "ignore" => map.ignored = column_list(&value).map_err(at)?,
                "empty" => {
                    map.skip_empty = match word(&value).as_deref() {
                        Ok("skip") => true,
                        Ok("unparsed") => false,
                        _ => {
                            return Err(at(
                                "is `unparsed` (the judge gave no answer) or `skip` (it was not asked)".into()
                            ));
                        }
                    }
                }
                name => match Field::by_name(name) {
                    Some(field) => {
                        map.fields.insert(field, text_source(&value).map_err(at)?);
                    }
                    None => return Err(unknown_key(name)),
                },
            }
        }
        map.shown = match (first, second) {
            (Some(first), Some(second)) => Some((first, second)),
            (None, None) => None,
            _ => return Err("`first` and `second` go together: the columns that name the two candidates shown".into()),
        };
        map.check()?;
        Ok(map)
    }

    /// Checks what does not depend on the table.
    fn check(&self) -> Result<(), String> {
        let shapes: Vec<_> = self.shapes().collect();
        if shapes.len() > 1 {
            return Err(format!("{} cannot be combined: a row is spread in one way only", shapes.join(", ")));
        }
        if let (Some(field), Some(shape)) = (self.fields.keys().find(|field| field.is_outcome()), shapes.first()) {
            return Err(format!(
                "`{}` and `{shape}` both say where the outcome is; keep `{shape}` and state `outcome = \"{}\"`",
                field.name(),
                Reading::of(*field).map_or("score", Reading::name),
            ));
        }
        for (field, source) in &self.fields {
            let is_text = matches!(
                field,
                Field::Item
                    | Field::Judge
                    | Field::Arm
                    | Field::AnchorSet
                    | Field::Dimension
                    | Field::Rater
                    | Field::Group
                    | Field::Generator
                    | Field::GeneratorB
                    | Field::Content
                    | Field::Label
            );
            if !is_text && !matches!(source.0.as_slice(), [Part::Column(_)]) {
                return Err(format!("`{}` is one column; it cannot be joined or constant", field.name()));
            }
        }
        if let Some(column) = self.as_shown.iter().find(|column| {
            !["order_ab", "order_ba"].contains(&column.as_str())
                && Some(*column) != self.order_ab.as_ref()
                && Some(*column) != self.order_ba.as_ref()
        }) {
            return Err(format!(
                "`as_shown`: {column} is neither `order_ab` nor `order_ba` nor the column given there"
            ));
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for ColumnMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = toml::Table::deserialize(deserializer)?;
        Self::from_table(table).map_err(|message| serde::de::Error::custom(format!("columns: {message}")))
    }
}

impl FromStr for ColumnMap {
    type Err = ReadError;

    /// Reads `key=value` pairs, separated by commas.
    fn from_str(text: &str) -> Result<Self, ReadError> {
        column_text::parse(text).and_then(Self::from_table).map_err(ReadError::Columns)
    }
}

fn unknown_key(key: &str) -> String {
    let known = Field::ALL.iter().map(|field| field.name()).chain(OTHER_KEYS);
    if let Some(near) = nearest(key, known.clone()) {
        format!("`{key}` is not a field of the log; did you mean `{near}`?")
    } else {
        let known: Vec<_> = known.collect();
        format!(
            "`{key}` is not a field of the log. Write FIELD=COLUMN, the log's field first; fields are: {}",
            known.join(", ")
        )
    }
}

/// A word, or a number or truth value as the word that was written.
fn word(value: &Value) -> Result<String, String> {
    Ok(match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        _ => return Err("is a word".to_owned()),
    })
}

fn word_list(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(values) => values.iter().map(word).collect(),
        value => Ok(vec![word(value)?]),
    }
}

fn column(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Value::Table(_) => Err("is the name of a column (a text in single quotes is a constant)".to_owned()),
        _ => Err("is the name of a column".to_owned()),
    }
}

/// A list of columns; `s1..s8` stands for `s1`, `s2`, … `s8`.
fn column_list(value: &Value) -> Result<Vec<String>, String> {
    let values = match value {
        Value::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    let mut columns = Vec::new();
    for value in values {
        columns.extend(expand(&column(value)?)?);
    }
    if columns.is_empty() {
        return Err("names no column".to_owned());
    }
    Ok(columns)
}

/// Returns the columns that `first..last` stands for, or the name itself if it is no range.
fn expand(name: &str) -> Result<Vec<String>, String> {
    const MOST: u64 = 10_000;
    let split = |end: &str| {
        let digits = end.len() - end.bytes().rev().take_while(u8::is_ascii_digit).count();
        let number: Option<u64> = end[digits..].parse().ok();
        number.map(|number| (end[..digits].to_owned(), number, end.len() - digits))
    };
    let Some((first, last)) = name.split_once("..") else { return Ok(vec![name.to_owned()]) };
    let (Some((prefix, from, width)), Some((other, to, _))) = (split(first.trim()), split(last.trim())) else {
        return Ok(vec![name.to_owned()]);
    };
    if prefix != other || from > to || to - from >= MOST {
        return Err(format!("`{name}` is not a range; write it like `s1..s8`"));
    }
    // Leading zeros (`s01..s12`) are kept.
    let width = if first.trim()[prefix.len()..].starts_with('0') { width } else { 0 };
    Ok((from..=to).map(|number| format!("{prefix}{number:0width$}")).collect())
}

fn text_source(value: &Value) -> Result<TextSource, String> {
    fn part(value: &Value) -> Result<Part, String> {
        match value {
            Value::Table(table) => match table.iter().next() {
                Some((key, value)) if key == "value" && table.len() == 1 => Ok(Part::Constant(word(value)?)),
                _ => Err("a constant is written `{ value = \"…\" }`".to_owned()),
            },
            value => Ok(Part::Column(column(value)?)),
        }
    }
    let parts = match value {
        Value::Array(values) => values.iter().map(part).collect::<Result<Vec<_>, _>>()?,
        value => vec![part(value)?],
    };
    if parts.is_empty() {
        return Err("names no column".to_owned());
    }
    Ok(TextSource(parts))
}

fn table(value: &Value) -> Result<&toml::Table, String> {
    value.as_table().ok_or_else(|| "is a table such as `{ good = \"accept\", bad = \"reject\" }`".to_owned())
}

fn words(value: &Value) -> Result<BTreeMap<String, String>, String> {
    table(value)?.iter().map(|(from, to)| Ok((from.trim().to_owned(), word(to)?.trim().to_owned()))).collect()
}

fn conditions(value: &Value) -> Result<BTreeMap<String, Vec<String>>, String> {
    table(value)?.iter().map(|(column, values)| Ok((column.clone(), word_list(values)?))).collect()
}

fn reading(value: &Value) -> Result<Reading, String> {
    let given = word(value)?;
    Reading::ALL.iter().find(|(_, name)| *name == given).map(|(reading, _)| *reading).ok_or_else(|| {
        let names: Vec<_> = Reading::ALL.iter().map(|(_, name)| *name).collect();
        format!("`{given}` is not one of {}", names.join(", "))
    })
}

fn label_file(value: &Value) -> Result<LabelFile, String> {
    let usage = "is written `{ file = \"truth.csv\", item = \"question\", label = \"truth\" }`";
    let table = value.as_table().ok_or_else(|| usage.to_owned())?;
    if let Some(key) = table.keys().find(|key| !["file", "item", "label"].contains(&key.as_str())) {
        return Err(format!("`{key}` is not known here; it {usage}"));
    }
    let get = |key: &str| table.get(key).ok_or_else(|| format!("lacks `{key}`; it {usage}"));
    Ok(LabelFile {
        file: PathBuf::from(word(get("file")?)?),
        item: text_source(get("item")?)?,
        label: column(get("label")?)?,
    })
}
