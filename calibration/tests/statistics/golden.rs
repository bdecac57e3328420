//! Reads golden values and compares numbers.

use serde_json::Value;

/// Returns `tests/golden/<name>.json`.
pub(crate) fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns a JSON array of numbers; null becomes NaN.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Returns a JSON array of arrays of numbers.
pub(crate) fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}
/// Asserts that two numbers agree to the relative tolerance, and below 1e-6 to that of 1e-6.
#[track_caller]
pub(crate) fn assert_close(actual: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = expected.abs().max(1e-6);
    assert!((actual - expected).abs() <= tolerance * scale, "{what}: {actual:e} is not {expected:e}");
}
