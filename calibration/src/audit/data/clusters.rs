//! The independent units: an item's group, joined with items of the same content.

use std::collections::BTreeMap;

use crate::log::{Log, NONE};
use crate::problem::{Problem, Problems, Severity};

/// Marks a cluster's name as a group's: names of groups and of items share one list.
pub(in crate::audit) const GROUP: u32 = 1 << 31;

/// The cluster of every item: its group, joined with items of the same content.
pub(in crate::audit) struct Clusters {
    pub(in crate::audit) of_item: Vec<u32>,
    pub(in crate::audit) names: Vec<u32>,
}

impl Clusters {
    pub(in crate::audit) fn new(log: &Log, problems: &mut Problems) -> Self {
        let n_items = log.items.len();
        let mut parent: Vec<u32> = (0..u32::try_from(n_items).expect("items are numbered by u32")).collect();
        let mut group_of = vec![NONE; if log.group.is_empty() { 0 } else { n_items }];
        if !log.group.is_empty() {
            let mut first_item = vec![NONE; log.groups.len()];
            let mut n_split = 0;
            let mut first_split = None;
            for (row_idx, &item) in log.item.iter().enumerate() {
                let group = log.group.at(row_idx);
                if group == NONE {
                    continue;
                }
                let known = &mut group_of[item as usize];
                if *known == NONE {
                    *known = group;
                } else if *known != group {
                    n_split += 1;
                    first_split.get_or_insert(row_idx);
                }
                let first = &mut first_item[group as usize];
                if *first == NONE {
                    *first = item;
                } else {
                    join(&mut parent, *first, item);
                }
            }
            if let Some(row_idx) = first_split {
                let message = "an item stands in two groups; the groups are taken as one cluster";
                let problem = Problem::new(Severity::Warning, "item-in-two-groups", message);
                problems.add(log.locate(row_idx, problem.times(n_split).in_column("group")));
            }
        }
        if !log.content.is_empty() {
            let mut first_item: BTreeMap<u64, u32> = BTreeMap::new();
            let mut n_same = 0;
            for (row_idx, &item) in log.item.iter().enumerate() {
                let content = log.content.at(row_idx);
                if content != 0 {
                    let first = *first_item.entry(content).or_insert(item);
                    if find(&mut parent, first) != find(&mut parent, item) {
                        n_same += 1;
                        join(&mut parent, first, item);
                    }
                }
            }
            if n_same > 0 {
                let message = "items with the same content under different names are counted as one cluster";
                let problem = Problem::new(Severity::Note, "same-content", message);
                problems.add(problem.times(n_same).in_column("content"));
            }
        }
        let mut number = vec![NONE; n_items];
        let (mut of_item, mut names) = (Vec::with_capacity(n_items), Vec::new());
        for item in 0..u32::try_from(n_items).expect("items are numbered by u32") {
            let root = find(&mut parent, item) as usize;
            if number[root] == NONE {
                number[root] = u32::try_from(names.len()).expect("clusters are at most as many as items");
                let group = group_of.get(item as usize).copied().unwrap_or(NONE);
                names.push(if group == NONE { item } else { group | GROUP });
            }
            of_item.push(number[root]);
        }
        Self { of_item, names }
    }
}

fn find(parent: &mut [u32], item: u32) -> u32 {
    let mut root = item;
    while parent[root as usize] != root {
        parent[root as usize] = parent[parent[root as usize] as usize];
        root = parent[root as usize];
    }
    root
}

fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parent, a), find(parent, b));
    // The smaller becomes the root, so that clusters are numbered in order of first sight.
    let (low, high) = (a.min(b), a.max(b));
    parent[high as usize] = low;
}
