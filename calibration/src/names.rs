//! Interned names: each distinct string once, numbered in the order it was first seen.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::ops::Range;

/// The distinct strings of one column. Ids are dense, counted from 0, in order of first sight.
///
/// Names lie end to end in one buffer, so that a million ids cost no million allocations.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: RandomState,
    /// The id given out last and where its name lies: logs are mostly sorted, so that the next name is often the same.
    last: Option<(u32, Range<usize>)>,
}

impl Names {
    /// Returns the id of `name`, giving it the next free one if it is new.
    #[inline]
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some((last, range)) = &self.last
            && self.text.as_bytes()[range.clone()] == *name.as_bytes()
        {
            return *last;
        }
        let hash = self.hasher.hash_one(name);
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        let entry = self.table.entry(
            hash,
            |&id| name_at(text, ends, id) == name,
            |&id| hasher.hash_one(name_at(text, ends, id)),
        );
        let id = match entry {
            hashbrown::hash_table::Entry::Occupied(known) => *known.get(),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let id = u32::try_from(self.ends.len()).expect("fewer than 2^32 distinct names fit in memory");
                free.insert(id);
                self.text.push_str(name);
                self.ends.push(self.text.len());
                id
            }
        };
        self.last = Some((id, range_of(&self.ends, id)));
        id
    }

    /// Adds the names of `other` in their order and returns the id here of each of its ids.
    pub fn absorb(&mut self, other: &Self) -> Vec<u32> {
        if self.is_empty() {
            self.clone_from(other);
            return (0..u32::try_from(other.len()).expect("ids are 32-bit")).collect();
        }
        other.iter().map(|name| self.intern(name)).collect()
    }

    /// Forgets all names and keeps the room they took.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.table.clear();
        self.last = None;
    }

    /// Returns the id of `name`, if it was seen.
    #[must_use]
    pub fn id(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.table.find(hash, |&id| name_at(&self.text, &self.ends, id) == name).copied()
    }

    /// Returns the name with this id.
    ///
    /// # Panics
    /// Panics when `id` was not given out by this collection.
    #[must_use]
    #[inline]
    pub fn name(&self, id: u32) -> &str {
        name_at(&self.text, &self.ends, id)
    }

    /// Returns how many distinct names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether no name was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the names in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|idx| self.name(u32::try_from(idx).expect("ids are 32-bit")))
    }
}

#[inline]
fn name_at<'a>(text: &'a str, ends: &[usize], id: u32) -> &'a str {
    &text[range_of(ends, id)]
}

#[inline]
fn range_of(ends: &[usize], id: u32) -> Range<usize> {
    let idx = id as usize;
    let start = if idx == 0 { 0 } else { ends[idx - 1] };
    start..ends[idx]
}
