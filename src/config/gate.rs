//! Gate files: read strictly, and written with comments so that they can be edited.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use assize_calibration::audit::catalogue::{self, Better, MEASURES, MeasureInfo, Unit};
use assize_calibration::gate::{Gate, Limit};
use assize_calibration::judgement::OutcomeKind;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigError;
use super::document::{Document, in_order, number};
use super::nearest::nearest;

const GATE_KEYS: [&str; 3] = ["name", "limits", "truth_optional"];
const LIMIT_KEYS: [&str; 4] = ["min", "max", "required", "only_for"];
const LIMIT_EXAMPLE: &str = "flip_rate = { max = 0.1 }";

/// Reads a gate file.
///
/// # Errors
/// Refuses what is not TOML, unknown keys and measures, measures no gate may use, and limits that cannot be meant:
/// without `min` and `max`, out of the measure's range, or with `min` above `max`.
pub fn read_gate(path: &Path) -> Result<Gate, ConfigError> {
    let document = Document::read(path)?;
    let table = document.table()?;
    gate(&document, table.get_ref(), table.span().start)
}

/// Reads a gate from the table that begins at `start`.
pub(super) fn gate(document: &Document, table: &DeTable<'_>, start: usize) -> Result<Gate, ConfigError> {
    document.check_keys(table, &GATE_KEYS)?;
    let name = match table.get("name") {
        None => document.path.display().to_string(),
        Some(value) => {
            let name = value.get_ref().as_str().filter(|name| !name.is_empty());
            name.ok_or_else(|| document.refuse(value.span(), "`name` must be a text", None))?.to_owned()
        }
    };
    let truth_optional = flag(document, table, "truth_optional")?;
    let mut limits = BTreeMap::new();
    if let Some(value) = table.get("limits") {
        let stated = document.expect_table(value, "limits", "[limits]")?;
        for key in in_order(stated) {
            let info = measure(document, key)?;
            let value = stated.get(key).expect("the key was taken from this table");
            limits.insert(info.id.to_owned(), limit(document, info, key, value)?);
        }
    }
    if limits.is_empty() {
        let help = format!("add a table [limits] with a line such as {LIMIT_EXAMPLE}, or start from `assize gate`");
        let start = table.get("limits").map_or(start, |value| value.span().start);
        return Err(document.refuse(start..start, "the gate has no limits", Some(help)));
    }
    Ok(Gate { name, limits, truth_optional })
}

fn measure(document: &Document, key: &Spanned<std::borrow::Cow<'_, str>>) -> Result<&'static MeasureInfo, ConfigError> {
    let id: &str = key.get_ref();
    let Some(info) = catalogue::info(id) else {
        let gatable = MEASURES.iter().filter(|info| info.ungatable.is_none()).map(|info| info.id);
        let help = match nearest(id, gatable) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`assize gate --measures` lists them".to_owned(),
        };
        return Err(document.refuse(key.span(), format!("unknown measure `{id}`"), Some(help)));
    };
    if let Some(reason) = info.ungatable {
        return Err(document.refuse(key.span(), format!("no limit can be set on `{id}`: {reason}"), None));
    }
    Ok(info)
}

fn limit(
    document: &Document,
    info: &MeasureInfo,
    key: &Spanned<std::borrow::Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
) -> Result<Limit, ConfigError> {
    let id = info.id;
    let table = document.expect_table(value, id, &format!("{id} = {{ {} = … }}", usual_side(info)))?;
    document.check_keys(table, &LIMIT_KEYS)?;
    let limit = Limit {
        min: bound(document, info, table, "min")?,
        max: bound(document, info, table, "max")?,
        required: flag(document, table, "required")?,
        only_for: kinds(document, table, "only_for")?,
    };
    match (limit.min, limit.max) {
        (None, None) => {
            let help = format!("add `min` or `max`, such as {id} = {{ {} = … }}", usual_side(info));
            Err(document.refuse(key.span(), format!("the limit on `{id}` has neither `min` nor `max`"), Some(help)))
        }
        (Some(min), Some(max)) if min > max => {
            let message = format!("the limit on `{id}` cannot be kept: its `min` {min} is above its `max` {max}");
            Err(document.refuse(key.span(), message, None))
        }
        _ => Ok(limit),
    }
}

fn bound(document: &Document, info: &MeasureInfo, table: &DeTable<'_>, side: &str) -> Result<Option<f64>, ConfigError> {
    let Some(value) = table.get(side) else { return Ok(None) };
    let stated = number(value.get_ref()).filter(|bound| bound.is_finite());
    let bound = stated.ok_or_else(|| document.refuse(value.span(), format!("`{side}` must be a number"), None))?;
    if let Some((low, high)) = range(info)
        && !(low..=high).contains(&bound)
    {
        let help = (info.unit == Unit::Share && bound > 1.0 && bound <= 100.0)
            .then(|| format!("shares are written from 0 to 1: {bound} % is {}", bound / 100.0));
        let message = format!("`{side}` of `{}` must be in {low}..={high}, not {bound}", info.id);
        return Err(document.refuse(value.span(), message, help));
    }
    Ok(Some(bound))
}

fn flag(document: &Document, table: &DeTable<'_>, key: &str) -> Result<bool, ConfigError> {
    let Some(value) = table.get(key) else { return Ok(false) };
    let flag = value.get_ref().as_bool();
    flag.ok_or_else(|| document.refuse(value.span(), format!("`{key}` must be true or false"), None))
}

const KINDS: [OutcomeKind; 4] = [OutcomeKind::Score, OutcomeKind::Verdict, OutcomeKind::Choice, OutcomeKind::Category];

fn kinds(document: &Document, table: &DeTable<'_>, key: &str) -> Result<Vec<OutcomeKind>, ConfigError> {
    let Some(value) = table.get(key) else { return Ok(Vec::new()) };
    let refused = || {
        let names = KINDS.map(OutcomeKind::column).join(", ");
        document.refuse(value.span(), format!("`{key}` must be a list of kinds of outcome: {names}"), None)
    };
    let list = value.get_ref().as_array().ok_or_else(refused)?;
    list.iter()
        .map(|kind| {
            let name = kind.get_ref().as_str();
            KINDS.into_iter().find(|kind| name == Some(kind.column())).ok_or_else(refused)
        })
        .collect()
}

/// Returns the values a measure can take, or `None` for points on a scale and for losses.
fn range(info: &MeasureInfo) -> Option<(f64, f64)> {
    match info.unit {
        // Differences of two shares.
        Unit::Share if matches!(info.id, "position_excess" | "position_direction" | "overconfidence") => {
            Some((-1.0, 1.0))
        }
        Unit::Share => Some((0.0, 1.0)),
        Unit::Coefficient => Some((-1.0, 1.0)),
        Unit::Points | Unit::Loss => None,
    }
}

fn usual_side(info: &MeasureInfo) -> &'static str {
    match info.better {
        Better::Higher => "min",
        Better::Lower | Better::Near(_) => "max",
    }
}

/// Returns the built-in gate as a commented file.
#[must_use]
pub fn built_in_gate_text() -> String {
    let mut text = String::from(
        "# The gate assize uses when none is given. Save it, change it, and pass it on:\n\
         #   assize gate > gate.toml\n\
         #   assize audit judgements.csv --gate gate.toml\n\
         #\n\
         # A limit is met when the whole interval keeps it and broken when the whole interval breaks it (more of it, the\n\
         # more limits there are); between the two the judge is inconclusive. A measure the log cannot show is passed over, unless its limit says\n\
         # `required = true`. Measures that can be limited: `assize gate --measures`.\n\n",
    );
    text.push_str(&gate_text(&Gate::built_in()));
    text
}

/// Returns a gate as a file that [`read_gate`] reads as the same gate.
#[must_use]
pub fn gate_text(gate: &Gate) -> String {
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| {
        let _infallible = writeln!(text, "{line}");
    };
    line(format_args!("name = {}\n", toml::Value::from(gate.name.as_str())));
    line(format_args!("# Whether a judge may be called fit though nothing shows that it is right."));
    line(format_args!("truth_optional = {}\n", gate.truth_optional));
    line(format_args!("[limits]"));
    // In the order of the catalogue, which keeps measures of one kind together.
    for info in MEASURES {
        let Some(limit) = gate.limits.get(info.id) else { continue };
        let mut fields = Vec::new();
        fields.extend(limit.min.map(|min| format!("min = {min:?}")));
        fields.extend(limit.max.map(|max| format!("max = {max:?}")));
        fields.extend(limit.required.then(|| "required = true".to_owned()));
        if !limit.only_for.is_empty() {
            let kinds: Vec<String> = limit.only_for.iter().map(|kind| format!("\"{}\"", kind.column())).collect();
            fields.push(format!("only_for = [{}]", kinds.join(", ")));
        }
        line(format_args!("# {}. {}", info.title, info.explanation));
        line(format_args!("{} = {{ {} }}", info.id, fields.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Gate, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gate.toml");
        std::fs::write(&path, text).unwrap();
        read_gate(&path)
    }

    #[track_caller]
    fn check_refused(text: &str, place: (usize, usize), said: &str, helped: &str) {
        read(text).unwrap_err().check_refused(place, said, helped);
    }

    #[test]
    fn the_built_in_gate_reads_back_as_itself() {
        assert_eq!(read(&built_in_gate_text()).unwrap(), Gate::built_in());
    }

    #[test]
    fn every_way_to_write_a_gate_is_read() {
        let gate =
            read("name='x'\ntruth_optional=true\n[limits]\nflip_rate.max=0.1\nspearman={min=-1,required=true}\n");
        let gate = gate.unwrap();
        assert_eq!((gate.name.as_str(), gate.truth_optional), ("x", true));
        assert_eq!(gate.limits["flip_rate"], Limit { max: Some(0.1), ..Limit::default() });
        assert_eq!(gate.limits["spearman"], Limit { min: Some(-1.0), required: true, ..Limit::default() });
    }

    #[test]
    fn a_gate_without_a_name_is_named_after_its_file() {
        assert!(read("limits.flip_rate.max = 0.1").unwrap().name.ends_with("gate.toml"));
    }

    #[test]
    fn unknown_keys_and_measures_suggest_what_was_meant() {
        check_refused("[limit]\n", (1, 2), "unknown key `limit`", "`limits`");
        check_refused("[limits]\nflip_rat = { max = 0.1 }\n", (2, 1), "unknown measure `flip_rat`", "`flip_rate`");
        check_refused("[limits]\nflip_rate = { maximum = 0.1 }\n", (2, 15), "unknown key `maximum`", "`max`");
        check_refused("[limits]\nzzz = { max = 0.1 }\n", (2, 1), "unknown measure `zzz`", "--measures");
    }

    #[test]
    fn limits_that_cannot_be_meant_are_refused() {
        check_refused("[limits]\nkappa = { min = 0.6 }\n", (2, 1), "no limit can be set on `kappa`", "");
        check_refused("[limits]\nflip_rate = {}\n", (2, 1), "neither `min` nor `max`", "max = …");
        check_refused("[limits]\nflip_rate = 0.1\n", (2, 13), "must be a table", "flip_rate = { max = … }");
        check_refused("[limits]\nflip_rate.max = 5\n", (2, 17), "must be in 0..=1, not 5", "5 % is 0.05");
        check_refused("[limits]\naccuracy.min = nan\n", (2, 16), "must be a number", "");
        check_refused("[limits]\naccuracy.min = \"high\"\n", (2, 16), "must be a number", "");
        check_refused("[limits]\nauc = { min = 0.9, max = 0.1 }\n", (2, 1), "`min` 0.9 is above its `max` 0.1", "");
        check_refused("[limits]\nauc = { min = 0.9, required = 1 }\n", (2, 31), "must be true or false", "");
        check_refused("name = 'x'\n", (1, 1), "no limits", "[limits]");
        check_refused("name = 'x'\n[limits]\n", (2, 1), "no limits", "[limits]");
        check_refused("name = \n", (1, 8), "", "");
        check_refused("", (1, 1), "no limits", "[limits]");
    }

    #[test]
    fn columns_are_counted_in_characters() {
        check_refused("[limits]\n\"ключ\".x = 1\n", (2, 1), "unknown measure `ключ`", "");
        check_refused("name = 'имя' x\n", (1, 14), "", "");
    }
}
