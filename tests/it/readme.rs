//! What README.md and the documents claim: commands that run, links that lead somewhere, schemas that are current.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli_support::run_in;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the lines of a Markdown file's fenced blocks of shell commands.
fn commands(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut commands = Vec::new();
    let mut is_shell = false;
    for line in text.lines() {
        if let Some(fence) = line.trim_start().strip_prefix("```") {
            is_shell = !is_shell && matches!(fence.trim(), "sh" | "console");
        } else if is_shell {
            commands.push(line.strip_prefix("$ ").unwrap_or(line).to_owned());
        }
    }
    commands
}

/// Returns the Markdown files of the repository that people read, sorted.
fn documents() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut dirs = vec![root().join("docs"), root().join("examples")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"] {
        files.push(root().join(name));
    }
    files.sort();
    files
}

#[test]
fn the_readme_needs_two_commands() {
    let commands = commands(&root().join("README.md"));
    let of_cargo: Vec<&String> = commands.iter().filter(|command| command.starts_with("cargo ")).collect();
    assert!(of_cargo[0].starts_with("cargo run --release -- audit examples/"), "{of_cargo:?}");
    assert!(of_cargo[0].contains(" --out "), "{of_cargo:?}");
    assert_eq!(of_cargo[1], "cargo test --workspace");
}

/// Returns the anchor of each heading of a Markdown file, as GitHub names it: letters, digits, `_` and `-`, blanks as `-`.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        // Of a link in a heading the words remain.
        let words = heading.trim().split("](").next().unwrap_or_default();
        let kept = words.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect());
    }
    found
}

#[test]
fn links_of_documents_lead_somewhere() {
    let mut n_checked = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', ' ']).next().unwrap();
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") {
                continue;
            }
            let linked = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(linked.exists(), "{}: {target}", path.display());
            if !anchor.is_empty() && linked.extension().is_some_and(|extension| extension == "md") {
                let anchors = anchors(&fs::read_to_string(&linked).unwrap());
                assert!(anchors.contains(anchor), "{}: {target}", path.display());
            }
            n_checked += 1;
        }
    }
    assert!(n_checked > 20, "only {n_checked} links were found");
}

#[track_caller]
fn check_schema(what: &str, file: &str) {
    let path = root().join(file);
    let run = run_in(root(), &["schema", what]);
    assert_eq!(run.status, 0, "{run:?}");
    if std::env::var_os("ASSIZE_BLESS").is_some() {
        fs::write(&path, &run.stdout).unwrap();
    }
    let is_current = fs::read_to_string(&path).is_ok_and(|text| text == run.stdout);
    assert!(is_current, "{file} is not what `assize schema {what}` prints; ASSIZE_BLESS=1 rewrites it");
}

#[test]
fn schemas_in_the_documents_are_those_of_the_types() {
    check_schema("audit", "docs/reference/audit.schema.json");
    check_schema("compare", "docs/reference/compare.schema.json");
    check_schema("gate", "docs/reference/gate.schema.json");
    check_schema("plan", "docs/reference/plan.schema.json");
    check_schema("escalation", "docs/reference/escalation.schema.json");
    check_schema("sentinel", "docs/reference/sentinel.schema.json");
    check_schema("look", "docs/reference/look.schema.json");
}

/// The page of commands is the help of the tool, so that it cannot drift.
#[test]
#[cfg(feature = "memory")]
fn the_reference_of_commands_is_the_help() {
    let path = root().join("docs/reference/cli.md");
    let mut page =
        "# Commands\n\nWhat `--help` prints; `ASSIZE_BLESS=1 cargo test --test it the_reference_of_commands` \
                    writes this page.\n\nResults go to standard output, progress and notes to standard error.\n"
            .to_owned();
    let memory: &[&str] = &["", " add", " list", " show", " import", " export", " stats"];
    let memory = memory.iter().map(|command| format!("memory{command}"));
    let others = [
        "",
        "audit",
        "compare",
        "sentinel",
        "plan",
        "escalate",
        "convert",
        "report",
        "gate",
        "schema",
        "self-test",
        "doctor",
        "completions",
    ];
    for command in others.into_iter().map(str::to_owned).chain(memory) {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let title = if command.is_empty() { "assize".to_owned() } else { format!("assize {command}") };
        let help = run_in(root(), &args).stdout;
        write!(page, "\n## {title}\n\n```text\n").unwrap();
        for line in help.trim_end().lines() {
            page.push_str(line.trim_end());
            page.push('\n');
        }
        page.push_str("```\n");
    }
    if std::env::var_os("ASSIZE_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let is_current = fs::read_to_string(&path).is_ok_and(|text| text == page);
    assert!(is_current, "docs/reference/cli.md is not what --help prints; ASSIZE_BLESS=1 rewrites it");
}
