//! Readers of the files that other tools write, recognised by their structure.
//!
//! A reader translates what the tool recorded and judges nothing: an answer that is not in the tool's own vocabulary
//! is unparsed, an error of the tool or of its grader is unparsed with the error, and neither ever becomes a
//! pass, a fail or a lowest score. What each format becomes, and what is lost, is `docs/reference/other-tools.md`.
//!
//! Not here: opening, decompressing and decoding files, and the plain log.

use std::io::BufRead;
use std::path::PathBuf;

use serde_json::Value;

use super::{ReadError, ReadSummary, Sink};

mod alpaca_eval;
mod argilla;
mod deepeval;
mod inspect;
mod json;
mod judgebench;
mod label_studio;
mod langsmith;
mod llmbar;
mod lm_eval;
mod mlflow;
mod mt_bench;
mod openai_batch;
mod openai_evals;
mod opentelemetry;
mod out;
mod position_bias;
mod prd;
mod promptfoo;
mod python_json;
mod reply;
mod style;
mod value;

/// How a file begins, for recognising it.
pub(super) struct Head<'a> {
    /// The file's name without its folders, `-` for standard input.
    pub(super) file_name: &'a str,
    /// The start of the decompressed, decoded content, up to 256 KiB. A zip file is passed as it is.
    pub(super) bytes: &'a [u8],
}

/// A file to be read from its beginning.
pub(super) struct Input {
    /// The file, or `-` for standard input.
    pub(super) path: PathBuf,
    /// The name of the judge where the file names none.
    pub(super) stem: String,
    /// The decompressed, decoded content. A zip file is passed as it is.
    pub(super) reader: Box<dyn BufRead + Send>,
}

/// A format of another tool.
pub(super) trait ForeignFormat: Sync {
    /// Returns the format's name, as it stands in reports.
    fn name(&self) -> &'static str;

    /// Returns whether a file that begins so is of this format.
    fn recognises(&self, opening: &Opening<'_>) -> bool;

    /// Reads a file of this format into `sink`.
    ///
    /// # Errors
    /// Returns [`ReadError::Io`] when the file cannot be read, [`ReadError::Unusable`] when nothing in it can be
    /// used, and what the sink returns. Bad elements are not errors: they go to the sink as problems.
    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError>;
}

/// Every format, in the order in which they are tried. No two recognise the same structure.
static FORMATS: [&dyn ForeignFormat; 18] = [
    &llmbar::LlmBar,
    &judgebench::JudgeBench,
    &alpaca_eval::AlpacaEval,
    &mt_bench::Pairs,
    &mt_bench::Single,
    &prd::Prd,
    &position_bias::PositionBias,
    &promptfoo::Promptfoo,
    &inspect::Inspect,
    &deepeval::DeepEval,
    &lm_eval::LmEval,
    &openai_evals::OpenAiEvals,
    &openai_batch::OpenAiBatch,
    &langsmith::LangSmith,
    &mlflow::Mlflow,
    &label_studio::LabelStudio,
    &argilla::Argilla,
    &opentelemetry::OpenTelemetry,
];

/// Returns the format that a file beginning so is of, or `None` when it is of none of them.
pub(super) fn recognise(head: &Head<'_>) -> Option<&'static dyn ForeignFormat> {
    let opening = Opening::new(head);
    // A plain log names its items so. Whatever else such a file holds, it is a plain log.
    if opening.record().is_some_and(|record| record.contains_key("item")) {
        return None;
    }
    FORMATS.into_iter().find(|format| format.recognises(&opening))
}

/// What the beginning of a file shows of its structure.
pub(super) struct Opening<'a> {
    file_name: &'a str,
    bytes: &'a [u8],
    /// The first JSON value: the first line's if that stands alone, else as much of it as was seen.
    first: Option<Value>,
}

impl<'a> Opening<'a> {
    fn new(head: &Head<'a>) -> Self {
        let start = head.bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(head.bytes.len());
        let bytes = head.bytes[start..].strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head.bytes[start..]);
        Self { file_name: head.file_name, bytes, first: json::first_value(bytes) }
    }

    /// Returns the first object: the file's, the first line's or the first element's.
    fn record(&self) -> Option<&serde_json::Map<String, Value>> {
        match self.first.as_ref()? {
            Value::Object(object) => Some(object),
            Value::Array(elements) => elements.first()?.as_object(),
            _ => None,
        }
    }

    /// Returns whether the first object has all of these keys.
    fn has_keys(&self, keys: &[&str]) -> bool {
        self.record().is_some_and(|record| keys.iter().all(|key| record.contains_key(*key)))
    }
}
