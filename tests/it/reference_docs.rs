//! The explanations name every measure once.

use std::collections::BTreeMap;
use std::path::Path;

use assize_calibration::audit::catalogue::MEASURES;

#[test]
fn every_measure_is_explained_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/explanation");
    let mut headings: BTreeMap<String, u32> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines() {
            if let Some(id) = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`')) {
                *headings.entry(id.to_owned()).or_default() += 1;
            }
        }
    }
    let wanted: BTreeMap<String, u32> = MEASURES.iter().map(|measure| (measure.id.to_owned(), 1)).collect();
    assert_eq!(headings, wanted);
}
