//! Dealing clusters out by lot, the same in whatever order the log has its rows.

use super::data::table::Table;

/// Returns the part, of `n_parts`, of each of `clusters`: dealt out evenly, by their names and not by their numbers, which depend on the
/// order of the rows.
pub(super) fn deal(table: &Table<'_>, clusters: &[u32], n_parts: usize, seed: u64) -> Vec<usize> {
    let name = |place: usize| table.cluster_name(clusters[place]);
    let mut drawn: Vec<(u64, usize)> = (0..clusters.len()).map(|place| (digest(name(place), seed), place)).collect();
    drawn.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(name(b.1))).then(a.1.cmp(&b.1)));
    let mut parts = vec![0; clusters.len()];
    for (turn, (_, place)) in drawn.into_iter().enumerate() {
        parts[place] = turn % n_parts;
    }
    parts
}

/// Returns a well mixed number for a name: FNV-1a, finished as `SplitMix64` is.
fn digest(name: &str, seed: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
