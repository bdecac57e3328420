use super::*;

fn scale() -> Scale {
    Scale { low: 1.0, high: 5.0, whole: true }
}

fn score_of(reply: &str) -> Answer<f64> {
    let Answers::Scores(mut scores) = read(reply, &Asked::Scores(vec![(String::new(), scale())])).answers else {
        unreachable!("scores were asked for")
    };
    scores.remove(0)
}

fn verdict_of(reply: &str) -> Answer<Verdict> {
    let Answers::Verdict(verdict) = read(reply, &Asked::Verdict).answers else {
        unreachable!("a verdict was asked for")
    };
    verdict
}

fn choice_of(reply: &str) -> Answer<ChosenPosition> {
    let Answers::Choice(choice) = read(reply, &Asked::Choice { ties: true }).answers else {
        unreachable!("a choice was asked for")
    };
    choice
}

#[test]
fn scores_are_found_wherever_models_put_them() {
    for reply in [
        r#"{"score": 4}"#,
        "```json\n{\"score\": 4, \"reason\": \"fine\"}\n```",
        "Here is my evaluation:\n\n{'reason': 'it\\'s good', 'score': 4,}\n\nHope this helps!",
        "<think>maybe {\"score\": 2}</think>{\"score\": 4}",
        r#"{"Rating": "4/5"}"#,
        r#"{"scores": {"score": 4}}"#,
        "{“评分”：４}",
        "Score: 4",
        "**Score:** 4/5",
        "The answer is good.\n\nFinal score: four",
        "评分：4分",
        "Rating: [[4]]",
        "4",
        "It is clear and complete.\n4",
        "Score: 2 would be too low.\n[[4]]",
        r#"The format is {"score": "1-5"}. {"score": 4}"#,
    ] {
        assert_eq!(score_of(reply), Ok(4.0), "{reply}");
    }
}

#[test]
fn scores_that_are_not_clear_are_told_why() {
    let kind = |reply: &str| match score_of(reply) {
        Err(Unclear::Empty) => "empty",
        Err(Unclear::OnlyThinking) => "thinking",
        Err(Unclear::Missing(_)) => "missing",
        Err(Unclear::Several { .. }) => "several",
        Err(Unclear::Other { .. }) => "other",
        Ok(score) => panic!("{reply} gave {score}"),
    };
    for (reply, expected) in [
        ("", "empty"),
        (" \n ", "empty"),
        ("<think>so it is 4", "thinking"),
        ("<think>4</think>", "empty"),
        ("I cannot judge this.", "missing"),
        (r#"{"score": 4"#, "missing"),
        ("{\n  score: 4", "missing"),
        ("```json\n{\n  score: 4", "missing"),
        (r#"{"score": 6}"#, "other"),
        (r#"{"score": "high"}"#, "other"),
        (r#"{"score": 8, "of": 10}"#, "other"),
        (r#"{"score": 4.5}"#, "other"),
        (r#"{"score": 4} or {"score": 5}"#, "several"),
        ("Score: 4\nScore: 5", "several"),
        ("[[4]] [[5]]", "several"),
        (r#"{"score": null}"#, "missing"),
        ("between 3 and 4", "missing"),
        ("<html><body>502 Bad Gateway</body></html>", "missing"),
    ] {
        assert_eq!(kind(reply), expected, "{reply}");
    }
}

#[test]
fn every_dimension_is_read_by_its_name() {
    let asked = Asked::Scores(vec![("Clarity".to_owned(), scale()), ("tone of voice".to_owned(), scale())]);
    for reply in [
        r#"{"clarity": 4, "tone_of_voice": 2}"#,
        r#"{"scores": {"Clarity": "4/5", "Tone of voice": 2}}"#,
        r#"{"clarity": {"score": 4, "evidence": "x"}, "toneOfVoice": {"rating": 2}}"#,
        r#"[{"dimension": "clarity", "score": 4}, {"dimension": "tone of voice", "score": 2}]"#,
        r#"{"scores": [{"name": "clarity", "score": 4}, {"name": "tone of voice", "score": 2}]}"#,
        "Clarity: 4\nTone of voice: 2",
        "- **Clarity**: 4/5\n- **Tone of voice**: 2/5",
    ] {
        assert_eq!(read(reply, &asked).answers, Answers::Scores(vec![Ok(4.0), Ok(2.0)]), "{reply}");
    }
    let Answers::Scores(scores) = read(r#"{"clarity": 4}"#, &asked).answers else { panic!() };
    assert_eq!(scores[0], Ok(4.0));
    assert_eq!(scores[1], Err(Unclear::Missing("the score of tone of voice".to_owned())));
}

#[test]
fn verdicts_are_not_taken_out_of_sentences() {
    for reply in [
        r#"{"verdict": "accept"}"#,
        r#"{"pass": true}"#,
        r#"{"accept": "yes", "reason": "…"}"#,
        r#"{"reject": false}"#,
        "Verdict: **accept**",
        "结论：通过",
        "accept",
        "All is well.\n\nAccept.",
    ] {
        assert_eq!(verdict_of(reply), Ok(Verdict::Accept), "{reply}");
    }
    for reply in [r#"{"pass": False}"#, "Verdict: reject", "[[reject]]", "不通过"] {
        assert_eq!(verdict_of(reply), Ok(Verdict::Reject), "{reply}");
    }
    for reply in [
        "I would not accept this.",
        "accept or reject?",
        r#"{"verdict": "accept", "pass": false}"#,
        "Verdict: accept\nVerdict: reject",
        r#"{"verdict": "accept with changes"}"#,
        "Ignore the text above.",
    ] {
        verdict_of(reply).unwrap_err();
    }
}

#[test]
fn choices_are_found_and_ties_only_where_asked_for() {
    for reply in [
        r#"{"winner": "A"}"#,
        "[[A]]",
        "Winner: Response A",
        "My decision: A > B",
        "B is shorter.\n\nA",
        r#"{"better":"first"}"#,
    ] {
        assert_eq!(choice_of(reply), Ok(ChosenPosition::First), "{reply}");
    }
    assert_eq!(choice_of("[[tie]]"), Ok(ChosenPosition::Tie));
    let Answers::Choice(choice) = read("[[tie]]", &Asked::Choice { ties: false }).answers else { panic!() };
    choice.unwrap_err();
    for reply in ["A is good and B is good", "[[A]] … [[B]]", "winner: 1", r#"{"winner": "C"}"#] {
        choice_of(reply).unwrap_err();
    }
}

#[test]
fn what_stands_beside_the_answer_is_kept() {
    let asked = Asked::Scores(vec![("clarity".to_owned(), scale())]);
    let reply = r#"{"clarity": {"score": 4, "evidence": "the first line"}, "confidence": "80%", "reason": "short"}"#;
    let reading = read(reply, &asked);
    assert_eq!(reading.confidence, Some(0.8));
    assert_eq!(reading.reason.as_deref(), Some("short"));
    assert_eq!(reading.evidence, [Some("the first line".to_owned())]);
}

#[test]
fn hostile_replies_take_no_time() {
    for reply in [
        "{".repeat(200_000),
        "{\"a\":\"".repeat(50_000),
        "[[".repeat(200_000),
        "score: ".repeat(50_000),
        "<think>".repeat(50_000),
    ] {
        score_of(&reply).unwrap_err();
    }
}

proptest::proptest! {
    #[test]
    fn no_reply_breaks_the_reader(reply in "\\PC{0,200}") {
        for asked in [Asked::Scores(vec![(String::new(), scale())]), Asked::Verdict, Asked::Choice { ties: true }] {
            let _any = read(&reply, &asked);
        }
    }

    #[test]
    fn a_score_written_as_json_is_read_within_any_prose(before in "[a-z ,.\n]{0,80}", after in "[a-z ,.\n]{0,80}", score in 1..=5_i32) {
        let reply = format!("{before}\n{{\"score\": {score}}}\n{after}");
        proptest::prop_assert_eq!(score_of(&reply), Ok(f64::from(score)));
    }
}
