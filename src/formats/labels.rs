//! Labels that stand in another file, joined by item.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

use super::columns::{LabelFile, Part};
use super::plan::{Text, listed};
use super::source;
use super::table::{Cells, LateColumn, Needs, RowSink, Rows};
use super::{ReadError, read_table};

/// The labels of items.
pub(super) struct Labels(HashMap<String, String>);

impl Labels {
    /// Returns the label of an item.
    pub(super) fn get(&self, item: &str) -> Option<&str> {
        self.0.get(item).map(String::as_str)
    }
}

/// Reads a file of labels. Its path is relative to the folder of `log`.
///
/// # Errors
/// The file cannot be read, lacks a column, or gives one item two labels.
pub(super) fn read(file: &LabelFile, log: &Path) -> Result<Labels, ReadError> {
    let path = file.beside(log);
    let mut rows = LabelRows { path: path.clone(), file, plan: None, labels: HashMap::new(), broken: None };
    read_table(source::open(&path)?, source::ROW_BYTES, &mut rows)?;
    match rows.broken {
        Some(message) => Err(ReadError::Unusable { path, message }),
        None => Ok(Labels(rows.labels)),
    }
}

/// Returns whether two labels say the same: `1` and `1.0` do.
fn is_same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    a == b || number(a).zip(number(b)).is_some_and(|(a, b)| (a + 0.0).total_cmp(&(b + 0.0)).is_eq())
}

struct LabelRows<'f> {
    path: PathBuf,
    file: &'f LabelFile,
    plan: Option<(Text, Text)>,
    labels: HashMap<String, String>,
    /// The first row that could not be read.
    broken: Option<String>,
}

impl RowSink for LabelRows<'_> {
    // Labels are few.
    type Part = Infallible;

    fn start(&mut self, columns: &[String], _open: bool) -> Result<Needs, ReadError> {
        let find = |name: &str| {
            columns.iter().position(|column| column == name).ok_or_else(|| {
                ReadError::Columns(format!(
                    "`labels`: there is no column `{name}` in {}; it has: {}",
                    self.path.display(),
                    listed(columns)
                ))
            })
        };
        let part = |part: &Part| {
            Ok::<_, ReadError>(match part {
                Part::Column(name) => Text::Column(find(name)?),
                Part::Constant(text) => Text::Constant(text.clone()),
            })
        };
        let mut parts = self.file.item.0.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let item = if parts.len() == 1 { parts.swap_remove(0) } else { Text::Joined(parts) };
        let label = Text::Column(find(&self.file.label)?);
        self.plan = Some((item, label));
        Ok(Needs { columns: columns.iter().cloned().enumerate().collect(), ..Needs::default() })
    }

    fn late_column(&mut self, _late: LateColumn, _line: u64) {}

    fn cut_short(&mut self, line: u64, message: &str) {
        self.broken.get_or_insert_with(|| format!("line {line}: {message}"));
    }

    fn part(&mut self) -> Option<Infallible> {
        None
    }

    fn append(&mut self, part: Infallible) -> Result<(), ReadError> {
        match part {}
    }
}

impl Rows for LabelRows<'_> {
    fn row<C: Cells>(&mut self, cells: &C, line: u64) -> Result<(), ReadError> {
        let Some((item, label)) = &self.plan else { return Ok(()) };
        let mut columns = BTreeSet::new();
        item.columns(&mut columns);
        if columns.into_iter().any(|idx| cells.cell(idx).is_inexact()) {
            self.broken.get_or_insert_with(|| {
                format!("line {line}: an item is a number with more digits than a number keeps; write it in quotes")
            });
            return Ok(());
        }
        let (Some(item), Some(label)) = (item.get(cells), label.get(cells)) else { return Ok(()) };
        match self.labels.get(item.as_ref()) {
            Some(known) if !is_same(known, &label) => Err(ReadError::Unusable {
                path: self.path.clone(),
                message: format!("line {line}: item `{item}` has two labels, `{known}` and `{label}`; keep one"),
            }),
            Some(_) => Ok(()),
            None => {
                self.labels.insert(item.into_owned(), label.into_owned());
                Ok(())
            }
        }
    }

    fn bad_row(&mut self, _code: &'static str, line: u64, message: impl FnOnce() -> String) {
        // A label that is lost is a judgement that counts for nothing: this file has to be whole.
        self.broken.get_or_insert_with(|| format!("line {line}: {}", message()));
    }
}
