//! What must fit together in a judge file, beyond what its types say.

use std::collections::BTreeSet;

use super::{Anchor, Dimension, JudgeFile, Kind, Panel};

/// Something that is wrong with a judge file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Mistake {
    /// The key, from the outside in; entries of lists by their number from 0. The nearest key that is written is meant.
    pub key: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Mistake {
    pub(super) fn new(key: &[&str], message: impl Into<String>) -> Self {
        Self { key: key.iter().map(|part| (*part).to_owned()).collect(), message: message.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

type Checked = Result<(), Mistake>;

impl JudgeFile {
    /// Returns the first thing in the file that cannot be meant.
    ///
    /// # Errors
    /// When the ways of judging exclude each other or are missing, when a number is out of its range, when anchors do not answer what
    /// is asked, when names are empty or stand twice.
    pub fn check(&self) -> Checked {
        self.check_ways()?;
        self.check_outcome()?;
        self.check_rubric()?;
        self.check_llm()?;
        self.check_rules()?;
        self.check_others()?;
        for (n, anchor) in self.anchors.iter().enumerate() {
            self.check_anchor(n, anchor)?;
        }
        self.check_study()
    }

    fn check_ways(&self) -> Checked {
        let ways = [
            ("command", self.command.is_some()),
            ("recorded", self.recorded.is_some()),
            ("panel", self.panel.is_some()),
        ];
        let others: Vec<&str> = ways.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
        let of_own = [("llm", self.llm.is_some()), ("rules", self.rules.is_some())];
        let own: Vec<&str> = of_own.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
        match (own.as_slice(), others.as_slice()) {
            ([], []) => Err(Mistake::new(&[], "nothing says who judges")
                .help("add [llm], [rules], [command], [recorded] or [panel]; `assize init` writes an example")),
            (_, [_, second, ..]) => {
                Err(Mistake::new(&[second], format!("[{}] and [{second}] are two judges", others[0]))
                    .help("give each a file of its own, and name both in a [panel]"))
            }
            ([own, ..], [other]) => Err(Mistake::new(&[other], format!("[{own}] and [{other}] are two judges"))
                .help("give each a file of its own, and name both in a [panel]")),
            _ => {
                if self.hybrid.is_some() && own.len() < 2 {
                    return Err(Mistake::new(&["hybrid"], "[hybrid] needs both [llm] and [rules]"));
                }
                Ok(())
            }
        }
    }

    fn check_outcome(&self) -> Checked {
        let [low, high] = self.outcome.scale;
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(Mistake::new(&["outcome", "scale"], format!("a scale cannot go from {low} to {high}"))
                .help("write the lowest and the highest score, such as [1, 5]"));
        }
        if !self.outcome.fractions && (low.fract() != 0.0 || high.fract() != 0.0) {
            return Err(Mistake::new(&["outcome", "scale"], "the ends are no whole numbers, but scores are")
                .help("write fractions = true"));
        }
        if self.rules.is_some() && self.outcome.kind == Kind::Choice {
            return Err(Mistake::new(&["rules"], "rules check one text and cannot choose between two"));
        }
        Ok(())
    }

    fn check_rubric(&self) -> Checked {
        let mut names = BTreeSet::new();
        for (n, dimension) in self.rubric.dimensions.iter().enumerate() {
            let at = n.to_string();
            let key = |field| ["rubric", "dimensions", at.as_str(), field];
            if dimension.name.trim().is_empty() {
                return Err(Mistake::new(&key("name"), "a dimension has no name"));
            }
            if !names.insert(dimension.name.to_lowercase()) {
                return Err(Mistake::new(&key("name"), format!("two dimensions are called {:?}", dimension.name)));
            }
            self.check_dimension(dimension, &at)?;
        }
        if self.outcome.kind != Kind::Score && !self.rubric.dimensions.is_empty() {
            return Err(Mistake::new(&["rubric", "dimensions"], "only scores are given for each dimension")
                .help("write kind = \"score\" in [outcome]; accept_at and accept_sum turn scores into a verdict"));
        }
        Ok(())
    }

    fn check_dimension(&self, dimension: &Dimension, at: &str) -> Checked {
        let [low, high] = self.outcome.scale;
        let is_outside = |score: f64| !(low..=high).contains(&score);
        for level in dimension.levels.keys() {
            let score: Option<f64> = level.trim().parse().ok();
            if score.is_none_or(is_outside) {
                let key = ["rubric", "dimensions", at, "levels", level];
                return Err(Mistake::new(&key, format!("{level:?} is no score from {low} to {high}")));
            }
        }
        for (field, score) in [("evidence_from", dimension.evidence_from), ("accept_at", dimension.accept_at)] {
            if let Some(score) = score.filter(|score| is_outside(*score)) {
                let key = ["rubric", "dimensions", at, field];
                return Err(Mistake::new(&key, format!("{score} is no score from {low} to {high}")));
            }
        }
        Ok(())
    }

    fn check_llm(&self) -> Checked {
        let Some(llm) = &self.llm else { return Ok(()) };
        let wrong = |key: &[&str], message: &str| {
            let key: Vec<&str> = ["llm"].iter().chain(key).copied().collect();
            Err(Mistake::new(&key, message))
        };
        if llm.model.trim().is_empty() {
            return wrong(&["model"], "the model has no name");
        }
        if llm
            .endpoint
            .as_deref()
            .is_some_and(|address| !address.starts_with("http://") && !address.starts_with("https://"))
        {
            return wrong(&["endpoint"], "an endpoint begins with https:// or http://");
        }
        if llm.key_env.as_deref().is_some_and(|name| !name.is_empty() && !is_variable(name)) {
            return wrong(&["key_env"], "this is no name of a variable; the key itself must stay in the environment");
        }
        if llm.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            return wrong(&["temperature"], "a temperature lies between 0 and 2");
        }
        if llm.max_tokens == Some(0) {
            return wrong(&["max_tokens"], "a reply needs at least one token");
        }
        let limits = &llm.limits;
        if limits.concurrency == 0 {
            return wrong(&["limits", "concurrency"], "at least one request must be under way");
        }
        if limits.requests_per_minute == Some(0) || limits.tokens_per_minute == Some(0) {
            return wrong(&["limits"], "a rate of 0 allows nothing");
        }
        if !(limits.timeout > 0.0 && limits.timeout.is_finite()) {
            return wrong(&["limits", "timeout"], "a time limit is a number of seconds above 0");
        }
        if limits.attempts == 0 || limits.give_up_after == 0 {
            return wrong(&["limits"], "at least one attempt is needed");
        }
        if let Some(price) = llm.price {
            let all = [Some(price.input), price.cached_input, Some(price.output)];
            if all.into_iter().flatten().any(|price| !(price >= 0.0 && price.is_finite())) {
                return wrong(&["price"], "a price is a number of at least 0");
            }
        }
        Ok(())
    }

    fn check_rules(&self) -> Checked {
        if let Some(length) = self.rules.as_ref().and_then(|rules| rules.length) {
            for (least, most, field) in
                [(length.min, length.max, "min"), (length.min_words, length.max_words, "min_words")]
            {
                if let (Some(least), Some(most)) = (least, most)
                    && least > most
                {
                    return Err(Mistake::new(
                        &["rules", "length", field],
                        format!("no text has from {least} to {most}"),
                    ));
                }
            }
        }
        let Some(hybrid) = &self.hybrid else { return Ok(()) };
        for (field, share) in [("cap", hybrid.cap), ("rules_weight", hybrid.rules_weight)] {
            if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
                return Err(Mistake::new(&["hybrid", field], "a share lies between 0 and 1"));
            }
        }
        if hybrid.cap.is_some() && hybrid.rules_weight.is_some() {
            return Err(Mistake::new(&["hybrid", "cap"], "rules either cap the score or are weighed into it"));
        }
        if self.outcome.kind != Kind::Score && (hybrid.cap.is_some() || hybrid.rules_weight.is_some()) {
            return Err(Mistake::new(&["hybrid"], "only scores can be capped or weighed").help("write veto = true"));
        }
        Ok(())
    }

    fn check_others(&self) -> Checked {
        if let Some(command) = &self.command {
            if command.run.first().is_none_or(|program| program.trim().is_empty()) {
                return Err(Mistake::new(&["command", "run"], "no program is named")
                    .help("write run = [\"program\", \"argument\"]"));
            }
            if !(command.timeout > 0.0 && command.timeout.is_finite()) {
                return Err(Mistake::new(&["command", "timeout"], "a time limit is a number of seconds above 0"));
            }
        }
        self.panel.as_ref().map_or(Ok(()), Panel::check)
    }

    fn check_anchor(&self, n: usize, anchor: &Anchor) -> Checked {
        let at = n.to_string();
        let wrong = |field: &str, message: String| Err(Mistake::new(&["anchors", &at, field], message));
        let [low, high] = self.outcome.scale;
        if anchor.fields.is_empty() {
            return wrong("fields", "an anchor has no fields, so that there is nothing to show".to_owned());
        }
        match self.outcome.kind {
            Kind::Score if self.rubric.dimensions.is_empty() => match anchor.score {
                None => return wrong("score", "an anchor needs its score".to_owned()),
                Some(score) if !(low..=high).contains(&score) => {
                    return wrong("score", format!("{score} is no score from {low} to {high}"));
                }
                Some(_) => {}
            },
            Kind::Score => {
                for dimension in &self.rubric.dimensions {
                    match anchor.scores.get(&dimension.name) {
                        None => return wrong("scores", format!("an anchor has no score of {:?}", dimension.name)),
                        Some(score) if !(low..=high).contains(score) => {
                            return wrong("scores", format!("{score} is no score from {low} to {high}"));
                        }
                        Some(_) => {}
                    }
                }
                let known = |name: &str| self.rubric.dimensions.iter().any(|dimension| dimension.name == name);
                if let Some(other) = anchor.scores.keys().find(|name| !known(name)) {
                    return wrong("scores", format!("the rubric has no dimension {other:?}"));
                }
            }
            Kind::Verdict if anchor.verdict.is_none() => {
                return wrong("verdict", "an anchor needs its verdict".to_owned());
            }
            Kind::Choice if anchor.choice.is_none() => return wrong("choice", "an anchor needs its choice".to_owned()),
            Kind::Verdict | Kind::Choice => {}
        }
        Ok(())
    }

    fn check_study(&self) -> Checked {
        let study = &self.study;
        if study.repeats == 0 {
            return Err(Mistake::new(&["study", "repeats"], "each question is asked at least once"));
        }
        if study.items == Some(0) {
            return Err(Mistake::new(&["study", "items"], "a study needs at least one item"));
        }
        if study.vary.temperature.iter().any(|temperature| !(0.0..=2.0).contains(temperature)) {
            return Err(Mistake::new(&["study", "vary", "temperature"], "a temperature lies between 0 and 2"));
        }
        let most = study.vary.anchors.iter().max().copied().unwrap_or(0);
        if most > self.anchors.len() {
            let message = format!("{most} anchors are asked for and {} are there", self.anchors.len());
            return Err(Mistake::new(&["study", "vary", "anchors"], message).help("add [[anchors]], or ask for fewer"));
        }
        if self.llm.is_none() && (!study.vary.temperature.is_empty() || !study.vary.model.is_empty()) {
            return Err(Mistake::new(&["study", "vary"], "only [llm] has a model and a temperature to vary"));
        }
        let budget = &self.budget;
        if budget.money.is_some_and(|money| !(money >= 0.0 && money.is_finite())) {
            return Err(Mistake::new(&["budget", "money"], "a budget is a number of at least 0"));
        }
        Ok(())
    }
}

impl Panel {
    fn check(&self) -> Checked {
        if self.members.len() < 2 {
            return Err(Mistake::new(&["panel", "members"], "a panel has at least two members"));
        }
        if !self.weights.is_empty() && self.weights.len() != self.members.len() {
            let message = format!("{} weights for {} members", self.weights.len(), self.members.len());
            return Err(Mistake::new(&["panel", "weights"], message));
        }
        if self.weights.iter().any(|weight| !(*weight > 0.0 && weight.is_finite())) {
            return Err(Mistake::new(&["panel", "weights"], "a weight is a number above 0"));
        }
        if !(0.0..=1.0).contains(&self.quorum) {
            return Err(Mistake::new(&["panel", "quorum"], "a share lies between 0 and 1"));
        }
        Ok(())
    }
}

/// Whether a name can be one of the environment's. A key pasted in its place most often cannot.
fn is_variable(name: &str) -> bool {
    let is_word =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    is_word && name.chars().all(|c| !c.is_ascii_lowercase() || name.len() < 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), (String, String)> {
        let file: JudgeFile = toml::from_str(text).unwrap();
        file.check().map_err(|mistake| (mistake.key.join("."), mistake.message))
    }

    #[track_caller]
    fn check_refused(text: &str, key: &str, said: &str) {
        let (found_key, message) = check(text).unwrap_err();
        assert_eq!(found_key, key, "{message}");
        assert!(message.contains(said), "{message}");
    }

    #[test]
    fn a_judge_needs_one_way_of_judging() {
        check_refused("", "", "nothing says who judges");
        check_refused("[llm]\nmodel = 'm'\n[command]\nrun = ['x']", "command", "two judges");
        check_refused("[rules]\n[hybrid]\nveto = true", "hybrid", "both");
        check("[rules]\n").unwrap();
        check("[llm]\nmodel = 'm'\n[rules]\n[hybrid]\ncap = 0.8").unwrap();
    }

    #[test]
    fn numbers_out_of_range_are_told_with_their_key() {
        let llm = "[llm]\nmodel = 'm'\n";
        check_refused("[llm]\n", "llm.model", "no name");
        check_refused(&format!("{llm}temperature = 3"), "llm.temperature", "between 0 and 2");
        check_refused(&format!("{llm}endpoint = 'api.x.org'"), "llm.endpoint", "https://");
        check_refused(&format!("{llm}key_env = 'sk-abcdef'"), "llm.key_env", "environment");
        check_refused(&format!("{llm}[outcome]\nscale = [5, 1]"), "outcome.scale", "from 5 to 1");
        check_refused(&format!("{llm}[study]\nrepeats = 0"), "study.repeats", "at least once");
        check_refused(
            &format!("{llm}[study.vary]\nanchors = [0, 2]"),
            "study.vary.anchors",
            "2 anchors are asked for and 0",
        );
        check_refused("[panel]\nmembers = ['a.toml']", "panel.members", "two");
    }

    #[test]
    fn anchors_answer_what_is_asked() {
        let llm = "[llm]\nmodel = 'm'\n[[rubric.dimensions]]\nname = 'clarity'\n[[anchors]]\nfields = { text = 'x' }\n";
        check_refused(llm, "anchors.0.scores", "no score of \"clarity\"");
        check_refused(&format!("{llm}scores = {{ clarity = 9 }}"), "anchors.0.scores", "from 1 to 5");
        check_refused(
            &format!("{llm}scores = {{ clarity = 4, tone = 4 }}"),
            "anchors.0.scores",
            "no dimension \"tone\"",
        );
        check(&format!("{llm}scores = {{ clarity = 4 }}")).unwrap();
    }

    #[test]
    fn dimensions_have_names_of_their_own_and_levels_on_the_scale() {
        let llm = "[llm]\nmodel = 'm'\n";
        let two = "[[rubric.dimensions]]\nname = 'a'\n[[rubric.dimensions]]\nname = 'A'\n";
        check_refused(&format!("{llm}{two}"), "rubric.dimensions.1.name", "two dimensions");
        let level = "[[rubric.dimensions]]\nname = 'a'\nlevels = { 7 = 'x' }\n";
        check_refused(&format!("{llm}{level}"), "rubric.dimensions.0.levels.7", "from 1 to 5");
    }
}
