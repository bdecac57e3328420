//! One JSON object as a row: the fields that are wanted go to their slots, the rest is passed over without being kept.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::fields::{Field, is_called};
use super::table::{Cell, Cells, LIST_END, LateColumn};

/// The paths to the fields that are wanted.
pub(super) struct Tree {
    pub root: Node,
    pub n_slots: usize,
    /// What else a key may be called that no object had yet, and is wanted then.
    pub names: Vec<Name>,
    /// The keys that objects had when the columns were settled: those of them that are not wanted never will be.
    pub seen: HashSet<String>,
}

/// One of the names of a field that has a column.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub text: &'static str,
    pub field: Field,
    pub slot_idx: usize,
}

/// What is wanted of one object.
#[derive(Default)]
pub(super) struct Node {
    slot_idx: Option<usize>,
    children: Vec<(String, Self)>,
}

impl Node {
    /// Returns a node that puts its value into the first slot.
    const fn leaf() -> Self {
        Self { slot_idx: Some(0), children: Vec::new() }
    }

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
        let mut row = Row::default();
        row.slots.resize_with(self.n_slots, || Slot::Empty);
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let late = Some((self, &mut row.late));
        deserializer.deserialize_map(ObjectVisitor { node: &self.root, slots: &mut row.slots, late })?;
        deserializer.end()?;
        Ok(row)
    }

    /// Returns the name by which a key is wanted that has no place in the tree.
    fn late(&self, key: &str) -> Option<Name> {
        // Most keys are no name at all, which their length says soonest.
        let length = key.trim().len();
        let name = self.names.iter().find(|name| name.text.len() == length && is_called(key, name.text));
        name.filter(|_| !self.seen.contains(key)).copied()
    }
}

/// The fields of one object that are wanted.
#[derive(Default)]
pub(super) struct Row<'t> {
    pub slots: Vec<Slot<'t>>,
    /// What stands under keys that no object had when the columns were settled.
    late: Vec<(Name, Slot<'t>)>,
}

impl<'t> Row<'t> {
    /// Returns a row of these fields.
    #[cfg(feature = "parquet")]
    pub(super) const fn of(slots: Vec<Slot<'t>>) -> Self {
        Self { slots, late: Vec::new() }
    }

    /// Puts what stands under late keys where it belongs, unless there is something already, and tells of each.
    pub(super) fn settle(&mut self, mut tell: impl FnMut(LateColumn)) {
        // Of each slot filled here, by which name.
        let mut filled: Vec<(usize, &'static str)> = Vec::new();
        for (Name { text, field, slot_idx }, slot) in self.late.drain(..) {
            let is_beside = !matches!(self.slots[slot_idx], Slot::Empty);
            let after = filled.iter().find(|(known, _)| *known == slot_idx).map(|(_, name)| *name);
            if !is_beside {
                self.slots[slot_idx] = slot;
                filled.push((slot_idx, text));
            }
            tell(LateColumn { name: text, field, column_idx: slot_idx, is_beside, after });
        }
    }
}

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
        self.slots.get(column_idx).map_or(Cell::Empty, Slot::cell)
    }
}

/// What a key names.
enum Key {
    Child(usize),
    Late(Name),
    Nothing,
}

/// Finds what a key names, without keeping the key.
struct KeySeed<'n> {
    node: &'n Node,
    tree: Option<&'n Tree>,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(match self.node.children.iter().position(|(name, _)| name == key) {
            Some(idx) => Key::Child(idx),
            None => self.tree.and_then(|tree| tree.late(key)).map_or(Key::Nothing, Key::Late),
        })
    }
}

struct ObjectVisitor<'n, 's, 't> {
    node: &'n Node,
    slots: &'s mut [Slot<'t>],
    /// Of the outermost object: where late keys are known from, and go.
    late: Option<(&'n Tree, &'s mut Vec<(Name, Slot<'t>)>)>,
}

impl<'de> Visitor<'de> for ObjectVisitor<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        // Which of two values was meant, nobody can tell.
        fn twice<E: serde::de::Error>(name: &str) -> E {
            E::custom(format_args!("the key {name:?} stands in it twice"))
        }
        let tree = self.late.as_ref().map(|(tree, _)| *tree);
        while let Some(key) = map.next_key_seed(KeySeed { node: self.node, tree })? {
            match (key, &mut self.late) {
                (Key::Child(idx), _) => {
                    let (name, node) = &self.node.children[idx];
                    if node.slot_idx.is_some_and(|slot_idx| !matches!(self.slots[slot_idx], Slot::Empty)) {
                        return Err(twice(name));
                    }
                    map.next_value_seed(ValueSeed { node, slots: self.slots })?;
                }
                (Key::Late(name), Some((_, late))) => {
                    if late.iter().any(|(known, _)| known.text == name.text) {
                        return Err(twice(name.text));
                    }
                    let mut slots = [Slot::Empty];
                    map.next_value_seed(ValueSeed { node: &Node::leaf(), slots: &mut slots })?;
                    let [slot] = slots;
                    if !matches!(slot, Slot::Empty) {
                        late.push((name, slot));
                    }
                }
                _ => {
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
        let leaf = Node::leaf();
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
        ObjectVisitor { node: self.node, slots: self.slots, late: None }.visit_map(map)
    }
}
