//! Inspect's logs, version 2: `.json`, and `.eval`, which is a zip of JSON files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use assize_calibration::judgement::{Judgement, Verdict};
use serde_json::{Map, Value};
use zip::ZipArchive;

use super::out::{Out, Trouble, bad};
use super::value::{self, Answers};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json};

/// What of a sample is read: not the transcript of events, which is most of the file.
const KEPT: [&str; 9] = ["id", "epoch", "input", "output", "scores", "metadata", "error", "completed_at", "target"];

/// The largest sample that is read, unpacked.
const MAX_SAMPLE_BYTES: u64 = 1 << 30;

/// Inspect's logs.
pub(super) struct Inspect;

impl ForeignFormat for Inspect {
    fn name(&self) -> &'static str {
        "Inspect log"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        if opening.bytes.starts_with(b"PK\x03\x04") {
            let holds = |name: &[u8]| opening.bytes.windows(name.len()).any(|part| part == name);
            let is_named = Path::new(opening.file_name).extension().is_some_and(|extension| extension == "eval");
            return is_named || holds(b"_journal/start.json") || holds(b"header.json");
        }
        opening.record().is_some_and(|record| {
            record.get("eval").is_some_and(Value::is_object)
                && (record.contains_key("version") || record.contains_key("samples") || record.contains_key("plan"))
        })
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let is_zip = {
            let buffer = input.reader.fill_buf().map_err(|source| json::io_error(&input.path, source))?;
            buffer.starts_with(b"PK")
        };
        let mut out = Out::new(self, input, sink);
        let mut samples = Samples::default();
        if is_zip {
            read_zip(input, &mut samples, &mut out)?;
        } else {
            let shape = json::Shape { into: &["samples"], header: &["eval"], keep: &KEPT };
            json::read_elements(input, &shape, &mut out, &mut |header, sample, number, out| {
                samples.read(header, sample, number, out)
            })?;
        }
        out.finish(&input.path, "give a log with samples (not one written with --no-log-samples), in which scorers ran")
    }
}

/// A zip is read from its end: from the file itself where it can be opened, else from memory.
fn read_zip(input: &mut Input, samples: &mut Samples, out: &mut Out<'_>) -> Result<(), ReadError> {
    if let Ok(mut file) = File::open(&input.path) {
        let mut magic = [0; 2];
        if file.read_exact(&mut magic).is_ok() && &magic == b"PK" {
            return read_archive(input, file, samples, out);
        }
    }
    let mut bytes = Vec::new();
    input.reader.read_to_end(&mut bytes).map_err(|source| json::io_error(&input.path, source))?;
    read_archive(input, Cursor::new(bytes), samples, out)
}

fn read_archive(
    input: &Input,
    file: impl Read + Seek,
    samples: &mut Samples,
    out: &mut Out<'_>,
) -> Result<(), ReadError> {
    let unusable = |message: String| ReadError::Unusable { path: input.path.clone(), message };
    let mut archive = ZipArchive::new(file).map_err(|error| match error {
        zip::result::ZipError::Io(source) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
            json::io_error(&input.path, source)
        }
        other => unusable(format!("the .eval file is damaged or cut short ({other}); copy it again")),
    })?;
    // A run that was interrupted has no header yet, only the journal that it began with.
    let header = ["header.json", "_journal/start.json"].iter().find_map(|name| {
        let entry = archive.by_name(name).ok()?;
        json::read_value(entry.take(MAX_SAMPLE_BYTES), &["eval"]).ok()
    });
    let header = if let Some(Value::Object(header)) = header {
        header
    } else {
        out.warn("no-header", 0, "the .eval file has no readable header.json: scorers and models are not known");
        Map::new()
    };
    let mut names: Vec<String> =
        archive.file_names().flatten().filter(|name| is_sample(name)).map(Cow::into_owned).collect();
    names.sort_by_cached_key(|name| in_order(name));
    for (name, number) in names.iter().zip(1..) {
        out.row();
        let entry = match archive.by_name(name) {
            Ok(entry) => entry,
            Err(error) => {
                out.bad(number, &format!("{name} cannot be unpacked: {error}"));
                continue;
            }
        };
        match json::read_value(entry.take(MAX_SAMPLE_BYTES), &KEPT) {
            Ok(sample) => {
                let result = samples.read(&header, &sample, number, out);
                out.settle(result, number)?;
            }
            Err(error) => out.bad(number, &format!("{name} is not readable JSON: {error}")),
        }
    }
    Ok(())
}

fn is_sample(name: &str) -> bool {
    name.starts_with("samples/") && name.strip_suffix(".json").is_some()
}

/// Returns a key that sorts `samples/ID_epoch_N.json` by epoch, then by id, numbers by value.
fn in_order(name: &str) -> (u64, u64, String) {
    let stem = name.trim_start_matches("samples/").trim_end_matches(".json");
    let (id, epoch) = stem.rsplit_once("_epoch_").unwrap_or((stem, "0"));
    (epoch.parse().unwrap_or(0), id.parse().unwrap_or(u64::MAX), id.to_owned())
}

#[derive(Default)]
struct Samples {
    answers: Answers,
    /// What each scorer is, from the header; read once.
    scorers: Option<BTreeMap<String, Scorer>>,
    model: String,
}

/// A scorer as the header describes it.
#[derive(Default)]
struct Scorer {
    /// The model that grades, where the scorer has one.
    model: Option<String>,
    /// Whether it gives partial credit, so that its letters are grades and not verdicts.
    is_partial: bool,
}

impl Samples {
    fn read(
        &mut self,
        header: &Map<String, Value>,
        sample: &Value,
        number: u64,
        out: &mut Out<'_>,
    ) -> Result<(), Trouble> {
        let Some(id) = value::id(sample, "id") else { return bad("the sample has no `id`") };
        if self.scorers.is_none() {
            let eval = header.get("eval").unwrap_or(&Value::Null);
            value::text(eval, "model").unwrap_or_default().clone_into(&mut self.model);
            self.scorers = Some(scorers(eval));
        }
        let scorers = self.scorers.as_ref().expect("it was set above");
        let epoch = sample.get("epoch").and_then(Value::as_u64).and_then(|epoch| u32::try_from(epoch).ok());
        let output = answer(sample);
        let asked = sample.get("input").map(Value::to_string).unwrap_or_default();
        let content = value::digest([asked.as_str(), output.unwrap_or_default()]);
        let item = match output {
            Some(_) => {
                let (item, is_other) = self.answers.item(&id, &content);
                if is_other {
                    let message = "samples were answered afresh in a later epoch: a different answer is an item of its own, grouped \
                                   with the others of its sample, because judging it is no repetition of the judgement";
                    out.note("answers-differ", number, message);
                }
                item
            }
            None => id.to_string(),
        };
        let of_sample = Judgement {
            item: item.into(),
            repeat: epoch,
            group: Some(id),
            label: value::metadata_label(sample.get("metadata")),
            content: output.map(|_| content.into()),
            length_a: output.map(value::length),
            style: super::style::marks(output, None),
            generator: Some(self.model.as_str().into()).filter(|name: &Cow<'_, str>| !name.is_empty()),
            time: value::text(sample, "completed_at").map(Into::into),
            ..Judgement::default()
        };
        let scores = sample.get("scores").and_then(Value::as_object).filter(|scores| !scores.is_empty());
        let Some(scores) = scores else {
            let Some(error) = value::error_text(sample) else { return Ok(()) };
            let error = format!("not scored: {error}");
            let names: Vec<&str> =
                if scorers.is_empty() { vec![""] } else { scorers.keys().map(String::as_str).collect() };
            for name in names {
                let judge = judge_name(name, scorers.get(name));
                let judgement =
                    Judgement { judge: judge.into(), error: Some(error.as_str().into()), ..of_sample.clone() };
                out.put(judgement, number)?;
            }
            return Ok(());
        };
        for (name, score) in scores {
            let scorer = scorers.get(name);
            let of_scorer = Judgement { judge: judge_name(name, scorer).into(), ..of_sample.clone() };
            put_score(score, scorer.is_some_and(|scorer| scorer.is_partial), &of_scorer, number, out)?;
        }
        Ok(())
    }
}

/// Hands on one scorer's score: a value, or several under names.
fn put_score(
    score: &Value,
    is_partial: bool,
    of_scorer: &Judgement<'_>,
    number: u64,
    out: &mut Out<'_>,
) -> Result<(), ReadError> {
    let explanation = value::text(score, "explanation");
    let failed = value::text(score, "reason") == Some("grader_failed");
    let parts: Vec<(Option<String>, &Value)> = match score.get("value").unwrap_or(&Value::Null) {
        Value::Object(parts) => parts.iter().map(|(name, part)| (Some(name.clone()), part)).collect(),
        Value::Array(parts) => (1..).map(|idx: usize| Some(idx.to_string())).zip(parts).collect(),
        single => vec![(None, single)],
    };
    for (dimension, part) in parts {
        let (verdict, grade) = if failed { (None, None) } else { outcome(part, is_partial) };
        let is_read = verdict.is_some() || grade.is_some();
        let error = (!is_read && failed).then(|| explanation.unwrap_or("the grader failed"));
        let raw = match explanation {
            Some(explanation) if is_read || part.is_null() => Some(explanation.into()),
            _ => value::written(part).or(explanation.map(Into::into)),
        };
        let judgement = Judgement {
            verdict,
            score: grade,
            dimension: dimension.map(Into::into),
            raw,
            error: error.map(Into::into),
            ..of_scorer.clone()
        };
        out.put(judgement, number)?;
    }
    Ok(())
}

/// Returns what a value says: a letter is a verdict, or a grade where the scorer gives partial credit.
fn outcome(value: &Value, is_partial: bool) -> (Option<Verdict>, Option<f64>) {
    let letter = |grade: f64| {
        if is_partial {
            return (None, Some(grade));
        }
        let verdict = if grade >= 1.0 { Verdict::Accept } else { Verdict::Reject };
        (Some(verdict), None)
    };
    match value {
        Value::Bool(truth) => letter(f64::from(u8::from(*truth))),
        Value::Number(number) => (None, number.as_f64().filter(|number| number.is_finite())),
        Value::String(word) => match word.as_str() {
            "C" => letter(1.0),
            "I" | "N" => letter(0.0),
            "P" if is_partial => letter(0.5),
            _ => (None, None),
        },
        _ => (None, None),
    }
}

/// Returns the scorers that the header describes, by the names that scores have.
fn scorers(eval: &Value) -> BTreeMap<String, Scorer> {
    let grader = eval.pointer("/model_roles/grader").and_then(model_name);
    let mut scorers = BTreeMap::new();
    for described in eval.get("scorers").and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = value::text(described, "name") else { continue };
        let options = described.get("options").unwrap_or(&Value::Null);
        let asks_model = options.get("model").is_some() || name.starts_with("model_graded");
        let model = options.get("model").and_then(model_name).or_else(|| grader.clone().filter(|_| asks_model));
        let is_partial = options.get("partial_credit").is_some_and(|given| given == &Value::Bool(true));
        // Inspect keys scores by the name without its package.
        let short = name.rsplit('/').next().unwrap_or(name);
        scorers.insert(short.to_owned(), Scorer { model, is_partial });
    }
    scorers
}

/// Returns a model's name, from a name or from a description; of several models, all names.
fn model_name(model: &Value) -> Option<String> {
    match model {
        Value::String(name) => Some(name.clone()),
        Value::Array(models) => {
            let names: Vec<String> = models.iter().filter_map(model_name).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
        other => value::text(other, "model").map(str::to_owned),
    }
}

fn judge_name(scorer: &str, described: Option<&Scorer>) -> String {
    match described.and_then(|described| described.model.as_ref()) {
        Some(model) => format!("{scorer} ({model})"),
        None => scorer.to_owned(),
    }
}

/// Returns the text that was scored: the completion, or the first choice's message.
fn answer(sample: &Value) -> Option<&str> {
    let output = sample.get("output")?;
    let message = || output.pointer("/choices/0/message/content").and_then(Value::as_str);
    value::text(output, "completion").or_else(message)
}
