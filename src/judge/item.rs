//! What is judged: an item with its texts, and what is known of it.

use std::collections::BTreeMap;

/// One item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// Its name in the log.
    pub id: String,
    /// Its texts, by the names that templates use.
    pub fields: BTreeMap<String, String>,
    /// The first of two texts to choose between.
    pub a: Option<String>,
    /// The second.
    pub b: Option<String>,
    /// What is true of it, by dimension; under the empty name what is true of the whole.
    pub labels: BTreeMap<String, String>,
    /// What errors may cluster in.
    pub group: Option<String>,
    /// The model that made it, or its first text.
    pub generator: Option<String>,
    /// The model that made the second.
    pub generator_b: Option<String>,
}
