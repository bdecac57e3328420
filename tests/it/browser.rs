//! The report of the main example in a real browser, opened from the disk: at the width of a phone and of a desk, light
//! and dark. Measures what a renderer's test cannot see: layout, contrast, requests, what the console says.
//!
//! Needs Chromium. Where there is none the test says so and passes, except under `CI=true`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::examples::main_example;

/// Longer than a browser takes to start on a machine busy with a build.
const PATIENCE: Duration = Duration::from_mins(3);
const POLL: Duration = Duration::from_millis(50);

/// What `browser.html` measures of one frame.
#[derive(Debug, Deserialize)]
struct Measured {
    title: String,
    verdict: String,
    verdict_is_on_the_first_screen: bool,
    inner_width: u32,
    scroll_width: u32,
    requests: Vec<String>,
    n_images: u32,
    unlabelled: Vec<String>,
    is_dark: bool,
    faint: Vec<String>,
}

/// Returns a browser found on the path.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.is_file())
}

/// Opens the page that measures, and returns what it found by frame and what the console said.
fn measure(browser: &Path, dir: &Path, scheme: &str) -> (BTreeMap<String, Measured>, String) {
    let stdout = dir.join(format!("{scheme}.html"));
    let stderr = dir.join(format!("{scheme}.log"));
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"])
        // Frames from the disk may be looked into; nothing else may be reached.
        .args(["--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"])
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(scheme != "dark")))
        .arg(format!("--user-data-dir={}", dir.join(format!("profile-{scheme}")).display()))
        .args(["--window-size=1400,2000", "--dump-dom"])
        .arg(format!("file://{}", dir.join("browser.html").display()))
        .stdin(Stdio::null())
        .stdout(File::create(&stdout).unwrap())
        .stderr(File::create(&stderr).unwrap())
        .spawn()
        .unwrap();
    let mut waited = Duration::ZERO;
    while child.try_wait().unwrap().is_none() {
        if waited > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the browser did not end: {}", fs::read_to_string(&stderr).unwrap());
        }
        std::thread::sleep(POLL);
        waited += POLL;
    }
    let dom = fs::read_to_string(&stdout).unwrap();
    let log = fs::read_to_string(&stderr).unwrap();
    let json = dom.split_once("<pre id=\"measured\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let json = json.unwrap_or_else(|| panic!("nothing was measured: {log}\n{dom}")).0;
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    let measured = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json:?}\n{log}"));
    let console = log.lines().filter(|line| line.contains(":CONSOLE")).collect::<Vec<_>>().join("\n");
    (measured, console)
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that measured nothing must say so")]
fn the_report_reads_well_on_a_phone_and_a_desk_in_light_and_dark() {
    let Some(browser) = chromium() else {
        let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        assert!(!is_ci, "no Chromium on the path, though .ci/run installs it");
        eprintln!("skipped: no Chromium on the path, so the report was not opened in a browser");
        return;
    };
    let (_, audit, html) = main_example();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("report.html"), html).unwrap();
    fs::write(dir.path().join("browser.html"), include_str!("browser.html")).unwrap();
    for scheme in ["light", "dark"] {
        let (frames, console) = measure(&browser, dir.path(), scheme);
        assert_eq!(console, "", "{scheme}");
        assert_eq!(frames.keys().collect::<Vec<_>>(), ["desktop", "phone"]);
        for (name, frame) in frames {
            let at = format!("{name}, {scheme}");
            assert!(
                frame.title.starts_with("UNFIT · ") && frame.title.contains(&audit.judges[0].judge),
                "{at}: {frame:?}"
            );
            assert!(frame.verdict.contains("UNFIT") && frame.verdict.contains("false rejects"), "{at}: {frame:?}");
            assert!(frame.verdict_is_on_the_first_screen, "{at}: {frame:?}");
            assert_eq!(frame.inner_width, if name == "phone" { 390 } else { 1280 }, "{at}");
            assert!(frame.scroll_width <= frame.inner_width, "{at}: the page is {} px wide", frame.scroll_width);
            assert_eq!(frame.requests, [""; 0], "{at}");
            assert!(frame.n_images > 10, "{at}: only {} charts", frame.n_images);
            assert_eq!(frame.unlabelled, [""; 0], "{at}");
            assert_eq!(frame.is_dark, scheme == "dark", "{at}");
            assert_eq!(frame.faint, [""; 0], "{at}");
        }
    }
}
