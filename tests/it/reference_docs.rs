//! The documents name all that there is: every measure, every kind of problem.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assize_calibration::audit::catalogue::MEASURES;

use crate::readme::root;

/// The parts of a measure's page, in order.
const PARTS: [&str; 9] = [
    "Definition",
    "Worked example",
    "Interval",
    "Undefined",
    "When it misleads",
    "Columns",
    "In a gate",
    "Source",
    "Related",
];

fn measures_folder() -> PathBuf {
    root().join("docs/explanation/measures")
}

/// Returns the names without extension of a folder's files of one kind.
fn stems(folder: &Path, extension: &str) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn ids() -> BTreeSet<String> {
    MEASURES.iter().map(|measure| measure.id.to_owned()).collect()
}

#[test]
fn every_measure_has_a_page_and_every_page_a_measure() {
    let mut pages = stems(&measures_folder(), "md");
    assert!(pages.remove("README"), "the list of measures");
    assert_eq!(pages, ids());
}

#[test]
fn pages_of_measures_have_all_parts() {
    for measure in MEASURES {
        let id = measure.id;
        let page = fs::read_to_string(measures_folder().join(format!("{id}.md"))).unwrap();
        let mut parts = page.split("\n## ");
        let head: Vec<&str> = parts.next().unwrap().lines().filter(|line| !line.is_empty()).collect();
        let [title, facts, question, picture] = head[..] else {
            panic!("{id}: title, line of facts, question and picture are not what comes first")
        };
        assert_eq!(title, format!("# {}", measure.title), "{id}");
        assert!(facts.starts_with(&format!("`{id}` · [")), "{id}: {facts}");
        assert!(question.starts_with("**") && question.ends_with("?**"), "{id}: {question}");
        let alt = picture.strip_prefix("![").and_then(|rest| rest.strip_suffix(&format!("](images/{id}.svg)")));
        assert!(alt.is_some_and(|alt| alt.len() > 30), "{id}: {picture}");
        let mut headings = Vec::new();
        for part in parts {
            let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
            assert!(!text.trim().is_empty(), "{id}: nothing under {heading}");
            headings.push(heading);
        }
        assert_eq!(headings, PARTS, "{id}");
    }
}

#[test]
fn pictures_of_measures_are_small_and_legible_in_the_dark() {
    let folder = measures_folder().join("images");
    assert_eq!(stems(&folder, "svg"), ids());
    let scripts: String = stems(&folder, "py")
        .iter()
        .map(|name| fs::read_to_string(folder.join(format!("{name}.py"))).unwrap())
        .collect();
    for id in ids() {
        let picture = fs::read_to_string(folder.join(format!("{id}.svg"))).unwrap();
        assert!(picture.len() < 10_000, "{id}: {} bytes", picture.len());
        assert!(picture.contains("prefers-color-scheme:dark"), "{id}");
        assert!(picture.contains("<title>"), "{id}");
        assert!(scripts.contains(&format!("\ndef {id}():\n")), "nothing draws {id}");
    }
}

/// The list links every page; a page links the page of its family, and that one links it.
#[test]
fn measures_and_their_families_link_each_other() {
    let list = fs::read_to_string(measures_folder().join("README.md")).unwrap();
    for measure in MEASURES {
        let id = measure.id;
        assert!(list.contains(&format!("]({id}.md) |")), "the list lacks {id}");
        let page = fs::read_to_string(measures_folder().join(format!("{id}.md"))).unwrap();
        let facts = page.lines().find(|line| line.starts_with('`')).unwrap();
        let family = facts.split("](../").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
        let overview = fs::read_to_string(root().join("docs/explanation").join(family)).unwrap();
        assert!(overview.contains(&format!("](measures/{id}.md)")), "{family} lacks {id}");
    }
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
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("src/formats/tests") {
            continue;
        }
        if path.is_dir() {
            sources_under(&path, into);
        } else {
            hyphenated(&fs::read_to_string(&path).unwrap(), into);
        }
    }
}

#[test]
fn every_code_of_a_problem_is_in_the_reference_and_no_other() {
    // Kinds of graders that promptfoo knows.
    const NO_CODES: [&str; 5] = ["answer-relevance", "g-eval", "llm-rubric", "model-graded", "select-best"];
    let root = root();
    let mut codes = BTreeSet::new();
    for folder in ["src/formats", "calibration/src/audit"] {
        sources_under(&root.join(folder), &mut codes);
    }
    hyphenated(&fs::read_to_string(root.join("src/cli/reading.rs")).unwrap(), &mut codes);
    codes.retain(|code| !NO_CODES.contains(&code.as_str()));
    let page = fs::read_to_string(root.join("docs/reference/log.md")).unwrap();
    let reported = page.split("## What is reported").nth(1).unwrap();
    let first_cells = reported.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let documented: BTreeSet<String> =
        first_cells.flat_map(|cell| cell.split("`, `")).map(|code| code.trim_end_matches('`').to_owned()).collect();
    assert_eq!(documented, codes);
}
