//! The reference figures of one recording, ticked off as they are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assize_calibration::proportion::wilson;
use serde_json::Value;

/// Every number of a `*.ref.json` by its path, and what became of it.
pub(super) struct Ledger {
    name: String,
    values: BTreeMap<String, Value>,
    seen: BTreeSet<String>,
    wrong: Vec<String>,
    n_compared: usize,
}

impl Ledger {
    pub(super) fn read(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.ref.json"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let value: Value = serde_json::from_str(&text).unwrap();
        let mut values = BTreeMap::new();
        flatten("", &value, &mut values);
        Self { name: name.to_owned(), values, seen: BTreeSet::new(), wrong: Vec::new(), n_compared: 0 }
    }

    /// Returns the names one level below a path.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let prefix = format!("{path}/");
        let names: BTreeSet<&str> =
            self.values.keys().filter_map(|key| key.strip_prefix(&prefix)?.split('/').next()).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Returns a reference number, without ticking it off.
    #[track_caller]
    pub(super) fn get(&self, path: &str) -> f64 {
        self.values.get(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{}: no {path}", self.name))
    }

    /// Returns a reference number, or NaN for a missing one.
    pub(super) fn number_or_nan(&self, path: &str) -> f64 {
        self.values.get(path).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.values.contains_key(path)
    }

    /// Compares a figure: whole reference numbers exactly, others to the digits that the reference prints.
    #[track_caller]
    pub(super) fn number(&mut self, path: &str, actual: f64) {
        let Some(value) = self.values.get(path) else { panic!("{}: no {path}", self.name) };
        let expected = value.as_f64().unwrap_or_else(|| panic!("{}: {path} is {value}", self.name));
        let tolerance = if value.is_f64() { 0.51 * 10_f64.powi(-digits(path)) } else { 1e-9 };
        if (actual - expected).abs() > tolerance || actual.is_nan() {
            self.wrong.push(format!("{path}: {actual}, not {expected}"));
        }
        self.seen.insert(path.to_owned());
        self.n_compared += 1;
    }

    pub(super) fn count(&mut self, path: &str, actual: u64) {
        self.number(path, actual as f64);
    }

    /// Compares x of n with its rate and its Wilson interval.
    #[track_caller]
    pub(super) fn rate(&mut self, path: &str, x: u64, n: u64) {
        self.count(&format!("{path}/x"), x);
        self.count(&format!("{path}/n"), n);
        if n == 0 {
            self.skip(&format!("{path}/"), "0 of 0");
            return;
        }
        let (x, n) = (x as f64, n as f64);
        self.number(&format!("{path}/rate"), x / n);
        let interval = wilson(x, n, 0.95).unwrap();
        self.number(&format!("{path}/wilson95/0"), interval.low);
        self.number(&format!("{path}/wilson95/1"), interval.high);
    }

    /// Compares a table of accepted and rejected: right accepted, wrong accepted, wrong rejected, right rejected.
    #[track_caller]
    pub(super) fn accepted(&mut self, path: &str, [tp, fp, tn, fn_]: [u64; 4]) {
        for (name, value) in [("TP", tp), ("FP", fp), ("TN", tn), ("FN", fn_)] {
            self.count(&format!("{path}/{name}"), value);
        }
        self.rate(&format!("{path}/FAR"), fp, fp + tn);
        self.rate(&format!("{path}/FRR"), fn_, fn_ + tp);
        self.rate(&format!("{path}/accuracy"), tp + tn, tp + fp + tn + fn_);
    }

    /// Sets aside the figures whose path holds `part`: not what an audit says, and why.
    pub(super) fn skip(&mut self, part: &str, _why: &str) {
        let found: Vec<String> = self.values.keys().filter(|path| path.contains(part)).cloned().collect();
        self.seen.extend(found);
    }

    /// Fails unless everything was compared or set aside and all that was compared agrees.
    #[track_caller]
    pub(super) fn close(mut self) {
        for words in ["dataset", "definitions", "script", "source"] {
            self.skip(&format!("/{words}"), "words");
        }
        let left: Vec<&String> = self.values.keys().filter(|path| !self.seen.contains(*path)).collect();
        assert!(
            self.wrong.is_empty() && left.is_empty(),
            "{}: {} of {} figures differ:\n  {}\n{} were not compared:\n  {}",
            self.name,
            self.wrong.len(),
            self.n_compared,
            self.wrong.iter().take(60).cloned().collect::<Vec<_>>().join("\n  "),
            left.len(),
            left.iter().take(60).map(|path| path.as_str()).collect::<Vec<_>>().join("\n  "),
        );
        super::tell(&format!("{}: {} figures agree", self.name, self.n_compared));
    }
}

/// Decimals that the reference prints.
fn digits(path: &str) -> i32 {
    if path.ends_with("MSB") || path.ends_with("MSW") { 8 } else { 6 }
}

fn flatten(path: &str, value: &Value, values: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                flatten(&format!("{path}/{}", key.replace('/', ":")), value, values);
            }
        }
        Value::Array(array) => {
            for (idx, value) in array.iter().enumerate() {
                flatten(&format!("{path}/{idx}"), value, values);
            }
        }
        _ => {
            values.insert(path.to_owned(), value.clone());
        }
    }
}
