//! One JSON object as a row: the fields that are wanted go to their slots, the rest is passed over without being kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::table::{Cell, Cells, LIST_END};

/// The paths to the fields that are wanted.
pub(super) struct Tree {
    pub root: Node,
    pub n_slots: usize,
}

/// What is wanted of one object.
#[derive(Default)]
pub(super) struct Node {
    slot_idx: Option<usize>,
    children: Vec<(String, Self)>,
}

impl Node {
    /// Adds a path.
    pub(super) fn insert(&mut self, path: &[String], slot_idx: usize) {
        let Some((key, rest)) = path.split_first() else {
            self.slot_idx = Some(slot_idx);
            return;
        };
        let known = self.children.iter().position(|(name, _)| name == key);
        let child_idx = known.unwrap_or_else(|| {
            self.children.push((key.clone(), Self::default()));
            self.children.len() - 1
        });
        self.children[child_idx].1.insert(rest, slot_idx);
    }
}

impl Tree {
    /// Reads one object.
    ///
    /// # Errors
    /// Returns the parser's complaint when the text is not one object.
    pub(super) fn row<'t>(&self, text: &'t [u8]) -> serde_json::Result<Row<'t>> {
        let mut row = Row(Vec::new());
        row.0.resize_with(self.n_slots, || Slot::Empty);
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        deserializer.deserialize_map(ObjectVisitor { node: &self.root, slots: &mut row.0 })?;
        deserializer.end()?;
        Ok(row)
    }
}

/// The fields of one object that are wanted.
pub(super) struct Row<'t>(pub Vec<Slot<'t>>);

/// The value of one field.
pub(super) enum Slot<'t> {
    Empty,
    Text(Cow<'t, str>),
    Int(i64),
    Number(f64),
    Truth(bool),
}

impl Slot<'_> {
    /// Returns the value as a cell.
    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            Self::Empty => Cell::Empty,
            Self::Text(text) => Cell::of(text),
            Self::Int(number) => Cell::Int(*number),
            Self::Number(number) => Cell::Number(*number),
            Self::Truth(truth) => Cell::Truth(*truth),
        }
    }
}

impl Cells for Row<'_> {
    fn cell(&self, column_idx: usize) -> Cell<'_> {
        self.0.get(column_idx).map_or(Cell::Empty, Slot::cell)
    }
}

/// Finds the child of a node that a key names, without keeping the key.
struct KeySeed<'n>(&'n Node);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.children.iter().position(|(name, _)| name == key))
    }
}

struct ObjectVisitor<'n, 's, 't> {
    node: &'n Node,
    slots: &'s mut [Slot<'t>],
}

impl<'de> Visitor<'de> for ObjectVisitor<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(child_idx) = map.next_key_seed(KeySeed(self.node))? {
            match child_idx {
                Some(idx) => {
                    let (name, node) = &self.node.children[idx];
                    // Which of two values was meant, nobody can tell.
                    if node.slot_idx.is_some_and(|slot_idx| !matches!(self.slots[slot_idx], Slot::Empty)) {
                        return Err(serde::de::Error::custom(format_args!("the key {name:?} stands in it twice")));
                    }
                    map.next_value_seed(ValueSeed { node, slots: self.slots })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Puts a value into its slot, or the fields of an object into theirs.
struct ValueSeed<'n, 's, 't> {
    node: &'n Node,
    slots: &'s mut [Slot<'t>],
}

impl<'t> ValueSeed<'_, '_, 't> {
    fn set(self, slot: Slot<'t>) {
        if let Some(idx) = self.node.slot_idx {
            self.slots[idx] = slot;
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<(), E> {
        self.set(Slot::Truth(truth));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.set(Slot::Int(number));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        // An id beyond 2^63 keeps all its digits.
        self.set(i64::try_from(number).map_or_else(|_| Slot::Text(Cow::Owned(number.to_string())), Slot::Int));
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.set(Slot::Number(number));
        Ok(())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        self.set(Slot::Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.set(Slot::Text(Cow::Owned(text.to_owned())));
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.set(Slot::Empty);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let leaf = Node { slot_idx: Some(0), children: Vec::new() };
        let mut list = String::new();
        let mut element = [Slot::Empty];
        while seq.next_element_seed(ValueSeed { node: &leaf, slots: &mut element })?.is_some() {
            list.push_str(&element[0].cell().text().unwrap_or(Cow::Borrowed("-")));
            list.push(LIST_END);
            element = [Slot::Empty];
        }
        self.set(if list.is_empty() { Slot::Empty } else { Slot::Text(Cow::Owned(list)) });
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        ObjectVisitor { node: self.node, slots: self.slots }.visit_map(map)
    }
}
