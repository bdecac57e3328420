//! The documents name all that there is: every measure, every kind of problem.

use std::collections::{BTreeMap, BTreeSet};
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

/// Returns the quoted words with hyphens in the part of a source that is no test.
fn hyphenated(source: &str, into: &mut BTreeSet<String>) {
    let source = source.split("#[cfg(test)]").next().unwrap();
    for quoted in source.split('"') {
        let is_code = quoted.contains('-')
            && quoted.split('-').all(|word| {
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            });
        if is_code {
            into.insert(quoted.to_owned());
        }
    }
}

fn sources_under(folder: &Path, into: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("src/formats/tests") {
            continue;
        }
        if path.is_dir() {
            sources_under(&path, into);
        } else {
            hyphenated(&std::fs::read_to_string(&path).unwrap(), into);
        }
    }
}

#[test]
fn every_code_of_a_problem_is_in_the_reference_and_no_other() {
    // Kinds of graders that promptfoo knows.
    const NO_CODES: [&str; 5] = ["answer-relevance", "g-eval", "llm-rubric", "model-graded", "select-best"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut codes = BTreeSet::new();
    for folder in ["src/formats", "calibration/src/audit"] {
        sources_under(&root.join(folder), &mut codes);
    }
    hyphenated(&std::fs::read_to_string(root.join("src/cli/reading.rs")).unwrap(), &mut codes);
    codes.retain(|code| !NO_CODES.contains(&code.as_str()));
    let page = std::fs::read_to_string(root.join("docs/reference/log.md")).unwrap();
    let reported = page.split("## What is reported").nth(1).unwrap();
    let first_cells = reported.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let documented: BTreeSet<String> =
        first_cells.flat_map(|cell| cell.split("`, `")).map(|code| code.trim_end_matches('`').to_owned()).collect();
    assert_eq!(documented, codes);
}
