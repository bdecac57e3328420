//! The audit as `report.json`.

use assize_calibration::audit::result::Audit;

use crate::RenderError;

/// Returns the audit as indented JSON with a final newline. The same audit gives the same bytes: fields are in the order
/// of their types, maps in the order of their keys. A number that is not finite becomes `null`.
///
/// # Errors
/// [`RenderError::Json`] when a value cannot be written as JSON.
pub fn json(audit: &Audit) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(audit).map_err(RenderError::Json)?;
    text.push('\n');
    Ok(text)
}
