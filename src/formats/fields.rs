//! The fields of the plain log, and the column names by which they are recognised.

/// A field of the plain log, or a column that one is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Item,
    Judge,
    Score,
    Verdict,
    Choice,
    ChosenPosition,
    Category,
    Preference,
    Repeat,
    Order,
    Place,
    Arm,
    Anchors,
    AnchorSet,
    Dimension,
    Label,
    Rater,
    Group,
    Content,
    Confidence,
    LengthA,
    LengthB,
    Generator,
    GeneratorB,
    Weight,
    TokensIn,
    TokensOut,
    Price,
    LatencyMs,
    Time,
    Raw,
    Error,
}

impl Field {
    /// All fields, in the order in which they are looked for and documented.
    pub(super) const ALL: [Self; 32] = [
        Self::Item,
        Self::Judge,
        Self::Score,
        Self::Verdict,
        Self::Choice,
        Self::ChosenPosition,
        Self::Category,
        Self::Preference,
        Self::Repeat,
        Self::Order,
        Self::Place,
        Self::Arm,
        Self::Anchors,
        Self::AnchorSet,
        Self::Dimension,
        Self::Label,
        Self::Rater,
        Self::Group,
        Self::Content,
        Self::Confidence,
        Self::LengthA,
        Self::LengthB,
        Self::Generator,
        Self::GeneratorB,
        Self::Weight,
        Self::TokensIn,
        Self::TokensOut,
        Self::Price,
        Self::LatencyMs,
        Self::Time,
        Self::Raw,
        Self::Error,
    ];

    /// Returns the field's own name.
    pub(super) const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Returns the names by which a column is recognised, the field's own first, then by preference.
    ///
    /// The list is short on purpose: a column taken for what it is not is worse than one that has to be named. A column
    /// called `preference` is never taken without being named, since which end of it favours whom cannot be known.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Item => &[
                "item",
                "item_id",
                "question_id",
                "pair_id",
                "example_id",
                "sample_id",
                "prompt_id",
                "case_id",
                "doc_id",
                "id",
            ],
            Self::Judge => &["judge", "judge_model", "judge_name", "judge_id", "evaluator", "model"],
            Self::Score => &["score", "rating", "judge_score"],
            Self::Verdict => &["verdict", "judge_verdict", "passed", "pass"],
            Self::Choice => &["choice", "winner", "preferred"],
            Self::ChosenPosition => &["chosen_position"],
            Self::Category => &["category"],
            Self::Preference => &["preference"],
            Self::Repeat => &["repeat", "repetition", "rep", "epoch", "run", "sample", "trial"],
            Self::Order => &["order", "swapped"],
            Self::Place => &["place"],
            Self::Arm => &["arm", "condition", "variant"],
            Self::Anchors => &["anchors", "n_anchors", "shots", "n_shots"],
            Self::AnchorSet => &["anchor_set", "shot_set"],
            Self::Dimension => &["dimension", "criterion", "metric", "rubric"],
            Self::Label => &["label", "truth", "gold", "expected", "ground_truth", "gold_label"],
            Self::Rater => &["rater", "rater_id", "annotator", "annotator_id"],
            Self::Group => &["group", "group_id", "cluster", "cluster_id"],
            Self::Content => &["content"],
            Self::Confidence => &["confidence"],
            Self::LengthA => &["length_a", "len_a", "length"],
            Self::LengthB => &["length_b", "len_b"],
            Self::Generator => &["generator", "answer_model", "candidate_model", "generator_a"],
            Self::GeneratorB => &["generator_b"],
            Self::Weight => &["weight", "item_weight", "sample_weight"],
            Self::TokensIn => &["tokens_in", "prompt_tokens", "input_tokens"],
            Self::TokensOut => &["tokens_out", "completion_tokens", "output_tokens"],
            Self::Price => &["price", "cost"],
            Self::LatencyMs => &["latency_ms"],
            Self::Time => &["time", "timestamp"],
            Self::Raw => &["raw", "raw_completion", "judge_response"],
            Self::Error => &["error"],
        }
    }

    /// Returns whether the field is an outcome.
    pub(super) const fn is_outcome(self) -> bool {
        matches!(
            self,
            Self::Score | Self::Verdict | Self::Choice | Self::ChosenPosition | Self::Category | Self::Preference
        )
    }

    /// Returns the field with this name (not one of its other names).
    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }

    /// Returns whether a column of this name would be recognised as a field.
    pub(super) fn any_is_called(column: &str) -> bool {
        Self::ALL.iter().any(|field| field.names().iter().any(|name| is_called(column, name)))
    }

    /// Returns the column, by position, that is recognised as this field: the first of its names that any column has.
    pub(super) fn find(self, columns: &[String], taken: impl Fn(usize) -> bool) -> Option<usize> {
        if self == Self::Preference {
            return None;
        }
        let position = |is_it: &dyn Fn(&str) -> bool| {
            columns.iter().enumerate().position(|(idx, column)| !taken(idx) && is_it(column))
        };
        // `label` before `Label`, where there are both.
        self.names().iter().find_map(|name| {
            position(&|column| column == *name).or_else(|| position(&|column| is_called(column, name)))
        })
    }
}

/// Returns whether a column has this name, which is written as [`folded`] writes it.
pub(super) fn is_called(column: &str, name: &str) -> bool {
    let column = column.trim();
    column.len() == name.len() && column.bytes().zip(name.bytes()).all(|(byte, wanted)| folded_byte(byte) == wanted)
}

const fn folded_byte(byte: u8) -> u8 {
    match byte {
        b' ' | b'-' => b'_',
        byte => byte.to_ascii_lowercase(),
    }
}

/// Returns a column's name in lower case with blanks and `-` as `_`.
pub(super) fn folded(column: &str) -> String {
    column.trim().chars().map(|c| if c == ' ' || c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns the one of `known` that is most like `word`, if any is like it.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LIKE_ENOUGH: f64 = 0.8;
    let mut best: Option<(f64, &str)> = None;
    for candidate in known {
        let likeness = strsim::jaro_winkler(&folded(word), &folded(candidate));
        if likeness >= LIKE_ENOUGH && best.is_none_or(|(known, _)| likeness > known) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
