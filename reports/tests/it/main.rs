//! The renderers, on audits with everything, with many judges, and with nothing.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod compared;
mod fixture;
mod page;
mod together;
mod varied;

use assize_calibration::audit::result::{Audit, Fitness};
use assize_calibration::gate::{Limit, LimitState};
use assize_reports::{Charset, Colour, TerminalOptions, json, junit, markdown, terminal};
use unicode_width::UnicodeWidthStr;

fn plain(audit: &Audit) -> String {
    terminal(audit, &TerminalOptions::default())
}

#[test]
fn terminal_says_the_verdict_first() {
    insta::assert_snapshot!(plain(&fixture::full()));
}

#[test]
fn reports_state_what_was_corrected_together() {
    let audit = fixture::full();
    let n_limits = audit.judges[0].limits.iter().filter(|limit| limit.p_broken.is_some()).count();
    let text = markdown(&audit);
    assert!(text.contains("Corrected for having asked many questions, each family by itself:"), "{text}");
    assert!(n_limits == 0 || text.contains(&format!("{n_limits} limit")), "{text}");
    // Nothing asked, nothing corrected.
    assert!(!markdown(&fixture::degenerate()).contains("Corrected for"));
}

#[test]
fn terminal_works_in_ascii() {
    let options = TerminalOptions { charset: Charset::Ascii, ..TerminalOptions::default() };
    let text = terminal(&fixture::full(), &options);
    assert!(text.is_ascii());
    assert!(terminal(&fixture::many(9), &options).is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn terminal_shows_many_judges_as_a_table() {
    insta::assert_snapshot!(plain(&fixture::many(7)));
}

#[test]
fn terminal_says_when_nothing_was_measured() {
    insta::assert_snapshot!(plain(&fixture::degenerate()));
}

#[test]
fn terminal_keeps_its_width() {
    for audit in [fixture::full(), fixture::many(2), fixture::many(60), fixture::degenerate()] {
        for width in [80, 100, 140] {
            let text = terminal(&audit, &TerminalOptions { width, ..TerminalOptions::default() });
            for line in text.lines() {
                assert!(line.width() <= width, "{} columns: {line}", line.width());
            }
        }
    }
}

#[test]
fn terminal_adds_only_its_own_colours() {
    let audit = fixture::many(2);
    let bare = plain(&audit);
    assert!(!bare.contains('\u{1b}') && !bare.contains('\u{202e}'));
    let coloured = terminal(&audit, &TerminalOptions { colour: Colour::Ansi, ..TerminalOptions::default() });
    let mut uncoloured = coloured.clone();
    for code in ["32", "31", "33", "2", "1", "0"] {
        uncoloured = uncoloured.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert!(coloured.contains("\u{1b}[31m") && !uncoloured.contains('\u{1b}'));
    assert!(uncoloured.lines().map(str::trim_end).eq(bare.lines().map(str::trim_end)));
}

#[test]
fn a_watched_gate_shows_what_its_state_rests_on() {
    let mut audit = fixture::full();
    let limit = audit.judges[0].limits[0].clone();
    let looks = serde_json::json!({
        "order": "log", "unit": "group", "n_clusters": 48, "n_judgements": 1200,
        "decided": { "n_clusters": 7, "n_judgements": 170, "fitness": "unfit" },
        "limits": [{
            "measure": limit.measure, "side": limit.side, "limit": limit.limit, "method": "bets", "n": 48,
            "estimate": 0.4321, "low": 0.1234, "high": 0.9, "p_met": 1.0, "p_broken": 0.001, "state": "broken",
        }],
        "cautions": ["the log is sorted"],
    });
    audit.judges[0].looks = Some(serde_json::from_value(looks).unwrap());
    let page = assize_reports::html(&audit, &assize_reports::HtmlOptions::default()).unwrap();
    for text in [plain(&audit), markdown(&audit), page] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
        assert!(text.contains("after 7 of 48 groups"), "{text}");
        assert!(text.contains("The log is sorted.") && text.contains("43.2 %") && text.contains("12.3"), "{text}");
    }
}

#[test]
fn a_plan_given_up_says_where_and_why() {
    let mut audit = fixture::full();
    let looks = serde_json::json!({
        "order": "log", "unit": "item", "n_clusters": 400, "n_items": 400, "n_judgements": 800, "planned_items": 400,
        "futile": {
            "n_clusters": 120, "n_items": 120, "n_judgements": 240, "chance_fit": 0.031, "chance_unfit": 0.002,
            "because": ["false_accept_rate"],
        },
        "limits": [],
    });
    audit.judges[0].looks = Some(serde_json::from_value(looks).unwrap());
    let page = assize_reports::html(&audit, &assize_reports::HtmlOptions::default()).unwrap();
    for text in [plain(&audit), markdown(&audit), page] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
        // Markdown escapes brackets.
        let text = text.replace('\\', "");
        assert!(text.contains("given up after 120 items (240 answers), 30.0 % of the plan"), "{text}");
        assert!(text.contains("at most 3.1 %, because of false accepts"), "{text}");
    }
}

#[test]
fn markdown_fits_a_comment() {
    insta::assert_snapshot!(markdown(&fixture::full()));
}

#[test]
fn markdown_of_many_judges_cannot_be_marked_up_by_their_names() {
    let text = markdown(&fixture::many(195));
    assert!(text.len() < 65_536, "GitHub cuts comments at 65,536 characters: {}", text.len());
    assert!(!text.contains("<script") && !text.contains("@octocat") && !text.contains("](https://"));
    insta::assert_snapshot!(markdown(&fixture::many(3)));
}

#[test]
fn junit_fails_what_is_not_shown_to_be_met() {
    let document = junit(&fixture::full()).unwrap();
    insta::assert_snapshot!(document);
}

#[test]
fn junit_passes_only_a_fit_judge() {
    let mut audit = fixture::full();
    let judge = &mut audit.judges[0];
    for limit in &mut judge.limits {
        limit.state = LimitState::Met;
    }
    judge.fitness = Fitness::Fit;
    assert!(!junit(&audit).unwrap().contains("<failure"));
    // All limits are met, but nothing shows that it is right.
    audit.judges[0].fitness = Fitness::Inconclusive;
    assert_eq!(junit(&audit).unwrap().matches("<failure").count(), 1);
}

#[test]
fn junit_fails_a_required_limit_that_cannot_be_measured() {
    let mut audit = fixture::full();
    let required = Limit { required: true, ..audit.gate.limits["mean_abs_difference"].clone() };
    audit.gate.limits.insert("mean_abs_difference".to_owned(), required);
    assert!(junit(&audit).unwrap().contains("type=\"unmeasured\""));
}

#[test]
fn junit_holds_no_character_that_xml_forbids() {
    let document = junit(&fixture::many(4)).unwrap();
    let is_allowed = |c: char| matches!(c, '\n' | '\t') || (!c.is_control() && c != '\u{fffe}' && c != '\u{ffff}');
    assert!(document.chars().all(is_allowed));
}

#[test]
fn json_reads_back_the_same() {
    let mut audit = fixture::full();
    // NaN is written as null, which is not a number again.
    audit.judges[0].measures.remove("not_in_catalogue");
    let text = json(&audit).unwrap();
    assert!(text.ends_with("}\n"));
    assert_eq!(serde_json::from_str::<Audit>(&text).unwrap(), audit);
    assert_eq!(text, json(&audit).unwrap());
}

#[test]
fn no_renderer_prints_nan() {
    let audit = fixture::degenerate();
    for text in [plain(&audit), markdown(&audit), junit(&audit).unwrap(), page::page(&audit)] {
        assert!(!text.contains("NaN"), "{text}");
    }
}

#[test]
fn an_audit_without_judges_renders() {
    let audit = Audit { judges: Vec::new(), fitness: Fitness::Inconclusive, ..fixture::full() };
    let says = "The log holds no judge to audit.";
    for text in [plain(&audit), markdown(&audit), page::page(&audit)] {
        assert!(text.contains(says), "{text}");
    }
    assert!(junit(&audit).unwrap().contains("tests=\"0\""));
}
