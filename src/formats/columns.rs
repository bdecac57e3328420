//! Which columns of a table mean what.

/// A mapping from a table's columns to the plain log's fields.
#[derive(Clone, Debug, Default)]
pub struct ColumnMap {}
