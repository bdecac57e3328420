//! The direction of dependencies, and what the pure parts must not touch.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn manifest(dir: &Path) -> toml::Table {
    fs::read_to_string(dir.join("Cargo.toml")).unwrap().parse().unwrap()
}

/// Returns the directories of the workspace's members.
fn members() -> Vec<PathBuf> {
    let members = manifest(root())["workspace"]["members"].clone();
    members.as_array().unwrap().iter().map(|member| root().join(member.as_str().unwrap())).collect()
}

/// Returns the names of the crates a package depends on, leaving out those only its tests need.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let mut names = Vec::new();
    let platforms = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    let tables = platforms.filter_map(|(_, platform)| platform.as_table()).chain([manifest]);
    for table in tables {
        for key in ["dependencies", "build-dependencies"] {
            let dependencies = table.get(key).and_then(toml::Value::as_table);
            names.extend(dependencies.into_iter().flatten().map(|(name, _)| name.clone()));
        }
    }
    names
}

/// Returns the Rust files below a directory, sorted.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns the places in the code below `dir`, comments and tests left out, where one of `words` stands.
fn found(dir: &Path, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for path in sources(dir) {
        let text = fs::read_to_string(&path).unwrap();
        for (line_idx, line) in text.lines().enumerate() {
            // Tests stand at the end of a file and may do what the code may not.
            if line.starts_with("#[cfg(test)]") {
                break;
            }
            if !line.trim_start().starts_with("//") && words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{}: {}", path.display(), line_idx + 1, line.trim()));
            }
        }
    }
    found
}

#[track_caller]
fn check_absent(dir: &Path, words: &[&str]) {
    assert!(!sources(dir).is_empty(), "{} holds no code to check", dir.display());
    let found = found(dir, words);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Files, network, processes, clock, environment, terminal, waiting and logging.
const IMPURE: [&str; 19] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "fs::",
    "env::",
    "SystemTime",
    "Instant::",
    "Utc::now",
    "Local::",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "println!",
    "async fn",
    "tokio::",
    "tracing::",
    "log::info!",
    "log::warn!",
];

#[test]
fn members_depend_on_no_member_but_reports_on_calibration() {
    for dir in members() {
        let manifest = manifest(&dir);
        let name = manifest["package"]["name"].as_str().unwrap().to_owned();
        let ours: Vec<String> = dependencies(&manifest).into_iter().filter(|name| name.starts_with("assize")).collect();
        let allowed: &[&str] = if name == "assize-reports" { &["assize-calibration"] } else { &[] };
        assert!(ours.iter().all(|dependency| allowed.contains(&dependency.as_str())), "{name} depends on {ours:?}");
    }
}

#[test]
fn pure_members_depend_on_no_crate_that_waits_writes_or_logs() {
    let impure = [
        "tokio",
        "futures",
        "reqwest",
        "ureq",
        "hyper",
        "rusqlite",
        "log",
        "tracing",
        "env_logger",
        "jiff",
        "time",
        "tempfile",
        "anstream",
        "indicatif",
        "clap",
        "anyhow",
    ];
    for member in ["calibration", "reports"] {
        let dependencies = dependencies(&manifest(&root().join(member)));
        let found: Vec<&String> = dependencies.iter().filter(|name| impure.contains(&name.as_str())).collect();
        assert!(found.is_empty(), "{member} depends on {found:?}");
    }
}

#[test]
fn calibration_touches_nothing_outside_itself() {
    check_absent(&root().join("calibration/src"), &IMPURE);
}

#[test]
fn reports_touch_nothing_outside_themselves() {
    check_absent(&root().join("reports/src"), &IMPURE);
}

/// The one file that the store touches is opened by SQLite; what time it is, and where the store is, its caller says.
#[test]
fn memory_touches_nothing_but_its_store() {
    check_absent(&root().join("memory/src"), &IMPURE);
}

#[test]
fn nothing_but_memory_knows_its_tables() {
    for dir in ["src", "calibration/src", "reports/src"] {
        check_absent(&root().join(dir), &["rusqlite", "sqlite"]);
    }
    for dir in ["src/formats", "src/config"] {
        check_absent(&root().join(dir), &["assize_memory"]);
    }
}

#[test]
fn readers_know_neither_the_command_line_nor_the_settings() {
    check_absent(&root().join("src/formats"), &["crate::cli", "crate::config", "assize_reports", "std::env"]);
}

#[test]
fn settings_do_not_know_the_command_line() {
    check_absent(&root().join("src/config"), &["crate::cli", "assize_reports", "anyhow", "clap::"]);
}

#[test]
fn only_the_command_line_prints_or_leaves_the_process() {
    let words = ["println!", "print!(", "std::io::stdout", "io::stdout()", "io::stderr()", "process::exit"];
    for dir in ["src/formats", "src/config"] {
        check_absent(&root().join(dir), &words);
    }
}

#[test]
fn what_is_absent_would_be_found() {
    let found = found(&root().join("src/cli"), &["std::fs"]);
    assert!(!found.is_empty());
}
