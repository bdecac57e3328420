//! Parquet tables, read row by row without Arrow; only the columns that are wanted are decoded.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::ConvertedType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row as ParquetRow};
use parquet::schema::types::Type;

use super::ReadError;
use super::json_row::{Row, Slot};
use super::source::Source;
use super::table::{LIST_END, RowSink};

/// Reads a table.
pub(super) fn read<R: RowSink>(source: Source, rows: &mut R) -> Result<&'static str, ReadError> {
    let path = source.path.clone();
    let broken = |error: ParquetError| ReadError::Unusable {
        path: path.clone(),
        message: format!("is not a Parquet table that can be read ({error})"),
    };
    let reader = SerializedFileReader::new(seekable(source)?).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema().clone();
    let mut leaves = Vec::new();
    for (root_idx, field) in schema.get_fields().iter().enumerate() {
        collect_leaves(field, root_idx, &mut Vec::new(), &mut leaves);
    }
    let names: Vec<String> = leaves.iter().map(|leaf| leaf.path.join(".")).collect();
    let needs = rows.start(&names, false)?;
    let wanted: Vec<(usize, &Leaf)> = needs.columns.keys().filter_map(|&idx| Some((idx, leaves.get(idx)?))).collect();
    let is_wanted = |root_idx: usize| wanted.iter().any(|(_, leaf)| leaf.root_idx == root_idx);
    let roots: Vec<Arc<Type>> = schema
        .get_fields()
        .iter()
        .enumerate()
        .filter(|(idx, _)| is_wanted(*idx))
        .map(|(_, root)| Arc::clone(root))
        .collect();
    let projection = Type::group_type_builder(schema.name()).with_fields(roots).build().map_err(broken)?;
    let as_row = |row: ParquetRow| {
        let mut slots = Vec::new();
        slots.resize_with(names.len(), || Slot::Empty);
        for (name, field) in row.into_columns() {
            place(&wanted, &mut vec![name], field, &mut slots);
        }
        Row::of(slots)
    };
    let mut line = 0;
    for row in reader.get_row_iter(Some(projection)).map_err(broken)? {
        line += 1;
        rows.row(&as_row(row.map_err(broken)?), line)?;
    }
    if line == 0 {
        return Err(ReadError::NoRows { path, message: format!("has columns ({}) and no rows", names.join(", ")) });
    }
    Ok("parquet")
}

/// Returns a file that holds exactly the table: the source itself, or a copy of a stream.
fn seekable(mut source: Source) -> Result<File, ReadError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| ReadError::Io { path, source }
    };
    if source.is_plain_file {
        return File::open(&source.path).map_err(failed(&source.path));
    }
    let mut file = tempfile::tempfile().map_err(failed(Path::new("a temporary file")))?;
    io::copy(&mut source.reader, &mut file).map_err(failed(&source.path))?;
    file.rewind().map_err(failed(&source.path))?;
    Ok(file)
}

/// A column: a leaf of the schema, or a list.
struct Leaf {
    root_idx: usize,
    path: Vec<String>,
}

fn collect_leaves(field: &Type, root_idx: usize, path: &mut Vec<String>, leaves: &mut Vec<Leaf>) {
    path.push(field.name().to_owned());
    let is_struct = field.is_group()
        && !matches!(
            field.get_basic_info().converted_type(),
            ConvertedType::LIST | ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE
        );
    if is_struct {
        for inner in field.get_fields() {
            collect_leaves(inner, root_idx, path, leaves);
        }
    } else {
        leaves.push(Leaf { root_idx, path: path.clone() });
    }
    path.pop();
}

/// Puts a field, or the fields inside it, into their slots.
fn place(wanted: &[(usize, &Leaf)], path: &mut Vec<String>, field: Field, slots: &mut [Slot<'static>]) {
    match field {
        Field::Group(inner) => {
            for (name, field) in inner.into_columns() {
                path.push(name);
                place(wanted, path, field, slots);
                path.pop();
            }
        }
        field => {
            if let Some((idx, _)) = wanted.iter().find(|(_, leaf)| leaf.path == *path) {
                slots[*idx] = slot(field);
            }
        }
    }
}

fn slot(field: Field) -> Slot<'static> {
    match field {
        Field::Null | Field::Group(_) | Field::MapInternal(_) => Slot::Empty,
        Field::Bool(truth) => Slot::Truth(truth),
        Field::Byte(number) => Slot::Int(number.into()),
        Field::Short(number) => Slot::Int(number.into()),
        Field::Int(number) => Slot::Int(number.into()),
        Field::Long(number) => Slot::Int(number),
        Field::UByte(number) => Slot::Int(number.into()),
        Field::UShort(number) => Slot::Int(number.into()),
        Field::UInt(number) => Slot::Int(number.into()),
        Field::ULong(number) => {
            i64::try_from(number).map_or_else(|_| Slot::Text(Cow::Owned(number.to_string())), Slot::Int)
        }
        Field::Float16(number) => Slot::Number(number.to_f64()),
        // Through its shortest text: 0.1 stays 0.1.
        Field::Float(number) => Slot::Number(number.to_string().parse().unwrap_or(f64::NAN)),
        Field::Double(number) => Slot::Number(number),
        Field::Str(text) => Slot::Text(Cow::Owned(text)),
        Field::Bytes(bytes) => Slot::Text(Cow::Owned(String::from_utf8_lossy(bytes.data()).into_owned())),
        Field::ListInternal(list) => {
            let mut text = String::new();
            for element in list.elements() {
                let slot = slot(element.clone());
                text.push_str(&slot.cell().text().unwrap_or(Cow::Borrowed("-")));
                text.push(LIST_END);
            }
            if text.is_empty() { Slot::Empty } else { Slot::Text(Cow::Owned(text)) }
        }
        field => Slot::Text(Cow::Owned(field.to_string())),
    }
}
