//! The gate as `JUnit` XML, for build servers: one suite a judge, one case a limit, and one for the verdict.
//!
//! Only what is shown to be met succeeds. A broken limit is a failure of type `broken`; an undecided one a failure of
//! type `inconclusive`, since it must not pass silently; one that this log cannot measure is skipped, unless the gate
//! requires it. The case `verdict` fails unless the judge is fit, for the reasons that belong to no single limit.

use std::fmt::Write as _;

use assize_calibration::audit::result::{Audit, Fitness, JudgeAudit};
use assize_calibration::gate::{LimitResult, LimitState};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::{RenderError, format, text, words};

/// Returns the audit as a `JUnit` XML document. It has no times and no random id, so the same audit gives the same bytes.
///
/// # Errors
/// [`RenderError::Junit`] when the document cannot be written.
pub fn junit(audit: &Audit) -> Result<String, RenderError> {
    let mut report = Report::new("assize audit");
    for judge in &audit.judges {
        let name = words::judge_name(judge);
        let mut suite = TestSuite::new(name.as_str());
        for limit in &judge.limits {
            let is_required = audit.gate.limits.get(&limit.measure).is_some_and(|limit| limit.required);
            let title = format!("{} {}", text::visible(&limit.measure), plain_spaces(&words::limit(limit)));
            let mut case = TestCase::new(title, status(judge, limit, is_required));
            case.set_classname(name.as_str());
            suite.add_test_case(case);
        }
        let mut verdict = TestCase::new("verdict", verdict_status(judge));
        verdict.set_classname(name.as_str());
        suite.add_test_case(verdict);
        report.add_test_suite(suite);
    }
    report.to_string().map_err(RenderError::Junit)
}

/// Build servers show these strings in monospaced columns, where a no-break space is only a nuisance.
fn plain_spaces(words: &str) -> String {
    words.replace('\u{a0}', " ")
}

fn failure(kind: &str, message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind).set_message(plain_spaces(message)).set_description(plain_spaces(description));
    status
}

fn status(judge: &JudgeAudit, limit: &LimitResult, is_required: bool) -> TestCaseStatus {
    let why = text::visible(&limit.why);
    let figure = judge
        .measures
        .get(&limit.measure)
        .map(|measure| format!("{}: {}", limit.measure, format::measure(measure, format::unit(&limit.measure))));
    let mut description = figure.unwrap_or_default();
    if let Some(further) = words::further_items(limit) {
        write!(description, "\n{further}").expect("writing to memory");
    }
    match limit.state {
        LimitState::Met => TestCaseStatus::success(),
        LimitState::Broken => failure("broken", &why, &description),
        LimitState::Undecided => failure("inconclusive", &why, &description),
        LimitState::Unmeasured if is_required => failure("unmeasured", &why, &description),
        LimitState::Unmeasured => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why);
            status
        }
    }
}

fn verdict_status(judge: &JudgeAudit) -> TestCaseStatus {
    let kind = match judge.fitness {
        Fitness::Fit => return TestCaseStatus::success(),
        Fitness::Inconclusive => "inconclusive",
        Fitness::Unfit => "unfit",
    };
    let findings: Vec<_> = judge
        .findings
        .iter()
        .map(|finding| format!("- {} {}", finding.what, finding.advice))
        .map(|finding| text::visible(&finding))
        .collect();
    failure(kind, &text::visible(&judge.why), &findings.join("\n"))
}
