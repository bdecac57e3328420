//! The measures an audit knows: what each is called, what it means in one line, and which way is better.
//!
//! Renderers take their words from here and gates check their ids here, so that a measure is explained once.

/// What a measure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Whether answers could be read.
    Parsing,
    /// Whether the same question gets the same answer.
    Stability,
    /// Whether the place shown changes the answer.
    Position,
    /// Whether something else than quality sways it: length, who made the item.
    Bias,
    /// Whether answers are right.
    Truth,
    /// Whether its scores use the scale and its dimensions say different things.
    Scale,
    /// Whether it could stand in for a person.
    People,
}

/// How a measure's value is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share or probability: shown in per cent.
    Share,
    /// Points on the score's scale.
    Points,
    /// A coefficient, at most 1.
    Coefficient,
    /// A loss: of probabilities, or in the unit in which costs were stated.
    Loss,
}

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Nearest to this value is best.
    Near(f64),
}

/// What is known of a measure besides its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasureInfo {
    /// The id in `report.json` and gate files.
    pub id: &'static str,
    /// A short name for people.
    pub title: &'static str,
    /// What it says, in one line.
    pub explanation: &'static str,
    /// What it is about.
    pub family: Family,
    /// How its value is written.
    pub unit: Unit,
    /// Which values are better.
    pub better: Better,
    /// Why no gate may use it, if none may.
    pub ungatable: Option<&'static str>,
}

const fn measure(
    id: &'static str,
    title: &'static str,
    family: Family,
    unit: Unit,
    better: Better,
    explanation: &'static str,
) -> MeasureInfo {
    MeasureInfo { id, title, explanation, family, unit, better, ungatable: None }
}

use Better::{Higher, Lower, Near};
use Family::{Bias, Parsing, People, Position, Scale, Stability, Truth};
use Unit::{Coefficient, Loss, Points, Share};

const OF_ITEMS: &str =
    "it says how good the items are, not how good the judge is; gate false_accept_rate and false_reject_rate";

/// Every measure, in the order in which a report lists them.
pub const MEASURES: &[MeasureInfo] = &[
    measure(
        "unparsed_rate",
        "Unparsed replies",
        Parsing,
        Share,
        Lower,
        "Share of replies from which no answer could be read.",
    ),
    measure(
        "flip_rate",
        "Flip rate",
        Stability,
        Share,
        Lower,
        "Probability that two answers to the same question differ.",
    ),
    measure(
        "mean_abs_difference",
        "Difference of two draws",
        Stability,
        Points,
        Lower,
        "How far apart two scores of the same item are, on average.",
    ),
    measure(
        "moved_over_one_point",
        "Moved over one point",
        Stability,
        Share,
        Lower,
        "Share of items whose repeated scores span more than one point, at the stated number of repeats.",
    ),
    measure(
        "repeat_consistency",
        "Repeat consistency",
        Stability,
        Share,
        Higher,
        "Expected share of the commonest answer among the stated number of repeats.",
    ),
    measure(
        "any_flip_rate",
        "Any flip",
        Stability,
        Share,
        Lower,
        "Share of items with at least one different answer among the stated number of repeats.",
    ),
    MeasureInfo {
        ungatable: Some("its interval is approximate; gate flip_rate or mean_abs_difference"),
        ..measure(
            "within_item_sd",
            "Within-item SD",
            Stability,
            Points,
            Lower,
            "Standard deviation of repeated scores of one item, pooled over items.",
        )
    },
    MeasureInfo {
        ungatable: Some("it grows with the number of items and repeats; gate moved_over_one_point"),
        ..measure(
            "within_item_range_max",
            "Largest range",
            Stability,
            Points,
            Lower,
            "The largest difference between two scores of one item.",
        )
    },
    measure(
        "icc_single",
        "ICC, one draw",
        Stability,
        Coefficient,
        Higher,
        "Share of the variance of one score that is due to the item (one-way intraclass correlation).",
    ),
    measure("icc_mean", "ICC, mean of k", Stability, Coefficient, Higher, "The same for the mean of k draws."),
    measure(
        "repeat_alpha",
        "Alpha among repeats",
        Stability,
        Coefficient,
        Higher,
        "Krippendorff's alpha with repeats as raters: agreement of the judge with itself, beyond chance.",
    ),
    measure(
        "swap_consistency",
        "Swap consistency",
        Position,
        Share,
        Higher,
        "Probability that the same candidate (or tie) is chosen when the two are swapped.",
    ),
    measure(
        "position_excess",
        "Position excess",
        Position,
        Share,
        Lower,
        "What swapping adds to the disagreement that repeating alone shows.",
    ),
    measure(
        "position_direction",
        "Position direction",
        Position,
        Share,
        Near(0.0),
        "Excess of choosing a candidate when it is shown first over when it is shown second.",
    ),
    measure(
        "first_position_preference",
        "Preference for the first",
        Position,
        Share,
        Near(0.5),
        "Share of decided answers that choose the candidate shown first, over pairs seen equally in both orders.",
    ),
    measure(
        "primacy_rate",
        "Primacy",
        Position,
        Share,
        Lower,
        "Share of swapped pairs of answers that lean to the first shown.",
    ),
    measure(
        "recency_rate",
        "Recency",
        Position,
        Share,
        Lower,
        "Share of swapped pairs of answers that lean to the second shown.",
    ),
    measure(
        "order_shift",
        "Shift by order",
        Position,
        Points,
        Near(0.0),
        "Mean score in order ab minus mean score in order ba.",
    ),
    measure(
        "place_slope",
        "Effect of place",
        Position,
        Points,
        Near(0.0),
        "Change of an item's score for each place it is shown later.",
    ),
    measure(
        "length_effect",
        "Effect of length",
        Bias,
        Points,
        Near(0.0),
        "Points that a text twice as long scores more, given its label.",
    ),
    measure(
        "length_effect_share",
        "Pull of length",
        Bias,
        Share,
        Near(0.0),
        "How much more often a text twice as long passes, or is chosen, given its label.",
    ),
    measure(
        "self_preference",
        "Self-preference",
        Bias,
        Points,
        Near(0.0),
        "Points that its own model's items get more from it than from others, against other items.",
    ),
    measure(
        "self_preference_share",
        "Pull of its own",
        Bias,
        Share,
        Near(0.0),
        "How much more often it favours its own model's items than others do, against other items.",
    ),
    measure(
        "own_false_accepts",
        "Blind to its own errors",
        Bias,
        Share,
        Near(0.0),
        "False accepts among its own model's wrong items less those among others'.",
    ),
    measure(
        "accuracy",
        "Accuracy",
        Truth,
        Share,
        Higher,
        "Probability that one answer on a random labelled item is right.",
    ),
    measure("accuracy_ab", "Accuracy, order ab", Truth, Share, Higher, "The same when candidate A is shown first."),
    measure("accuracy_ba", "Accuracy, order ba", Truth, Share, Higher, "The same when candidate B is shown first."),
    measure(
        "accuracy_both_orders",
        "Right in both orders",
        Truth,
        Share,
        Higher,
        "Probability that answers in both orders are right.",
    ),
    measure(
        "false_accept_rate",
        "False accepts",
        Truth,
        Share,
        Lower,
        "Probability that one answer on a random wrong item accepts it.",
    ),
    measure(
        "false_reject_rate",
        "False rejects",
        Truth,
        Share,
        Lower,
        "Probability that one answer on a random right item rejects it.",
    ),
    measure(
        "precision",
        "Precision",
        Truth,
        Share,
        Higher,
        "Share of accepted items that are right, at the stated base rate.",
    ),
    measure(
        "negative_predictive_value",
        "Negative predictive value",
        Truth,
        Share,
        Higher,
        "Share of rejected items that are wrong, at the stated base rate.",
    ),
    measure(
        "expected_cost",
        "Expected cost",
        Truth,
        Loss,
        Lower,
        "What the errors of one answer cost on average, at the stated costs and base rate.",
    ),
    MeasureInfo {
        ungatable: Some(OF_ITEMS),
        ..measure(
            "pass_rate",
            "Pass rate, as judged",
            Truth,
            Share,
            Higher,
            "Share of the items without labels that it accepts. A description of the items, not of the judge.",
        )
    },
    MeasureInfo {
        ungatable: Some(OF_ITEMS),
        ..measure(
            "corrected_pass_rate",
            "Pass rate, corrected",
            Truth,
            Share,
            Higher,
            "Share of the items without labels that are right, from its pass rate and its errors on labelled ones.",
        )
    },
    MeasureInfo {
        ungatable: Some(OF_ITEMS),
        ..measure(
            "corrected_pass_rate_ppi",
            "Share right, from a random sample",
            Truth,
            Share,
            Higher,
            "Share of all items that are right, from the labels of a random sample and the judge's answers on the rest.",
        )
    },
    measure(
        "overconfidence",
        "Overconfidence",
        Truth,
        Share,
        Near(0.0),
        "Mean confidence less the share that came true: positive says too much.",
    ),
    measure(
        "brier_score",
        "Brier score",
        Truth,
        Loss,
        Lower,
        "Mean squared distance of its confidences from what came true; always saying the overall share p gives p(1 − p).",
    ),
    measure(
        "log_loss",
        "Log loss",
        Truth,
        Loss,
        Lower,
        "Mean −ln of the probability it gave to what came true; infinite where it was certain and wrong.",
    ),
    MeasureInfo {
        ungatable: Some("it is above 0 by chance alone; gate brier_score, log_loss or overconfidence"),
        ..measure(
            "ece",
            "Calibration error",
            Truth,
            Share,
            Lower,
            "How far confidences are from what came true, bin by bin (ECE). A perfect judge shows more than 0 by chance.",
        )
    },
    MeasureInfo {
        ungatable: Some("it has no interval; gate brier_score, log_loss or overconfidence"),
        ..measure(
            "ece_excess",
            "Calibration error beyond chance",
            Truth,
            Share,
            Lower,
            "The calibration error less that which a perfect judge would show on average.",
        )
    },
    MeasureInfo {
        ungatable: Some("it changes with the mix of labels; gate false_accept_rate and false_reject_rate, or accuracy"),
        ..measure(
            "kappa",
            "Cohen's kappa",
            Truth,
            Coefficient,
            Higher,
            "Agreement with the labels beyond what the two marginals would give by chance.",
        )
    },
    MeasureInfo {
        ungatable: Some("it changes with how varied the items are; gate mean_absolute_error, mean_error or spearman"),
        ..measure(
            "weighted_kappa",
            "Quadratic weighted kappa",
            Truth,
            Coefficient,
            Higher,
            "Agreement of scores with labels beyond chance, a difference of two points counting four times that of one.",
        )
    },
    measure(
        "ac1",
        "Gwet's AC1",
        Truth,
        Coefficient,
        Higher,
        "Agreement with the labels beyond chance, less swayed by lopsided marginals than kappa.",
    ),
    measure(
        "alpha_with_labels",
        "Alpha with labels",
        Truth,
        Coefficient,
        Higher,
        "Krippendorff's alpha between judge and labels.",
    ),
    measure(
        "auc",
        "AUC",
        Truth,
        Coefficient,
        Higher,
        "Probability that a right item scores higher than a wrong one, ties counting half.",
    ),
    measure("spearman", "Spearman", Truth, Coefficient, Higher, "Rank correlation of scores with labels."),
    measure(
        "kendall",
        "Kendall tau-b",
        Truth,
        Coefficient,
        Higher,
        "Share of concordant less discordant pairs, corrected for ties.",
    ),
    MeasureInfo {
        ungatable: Some("its tolerance for ties is chosen on the same items; gate kendall or spearman"),
        ..measure(
            "pairwise_accuracy",
            "Pairwise accuracy",
            Truth,
            Share,
            Higher,
            "Share of pairs of items that scores order, or call tied, as labels do; ties are close scores.",
        )
    },
    measure("pearson", "Pearson", Truth, Coefficient, Higher, "Linear correlation of scores with labels."),
    measure("mean_error", "Mean error", Truth, Points, Near(0.0), "Score minus label: positive is inflation."),
    measure(
        "mean_absolute_error",
        "Mean absolute error",
        Truth,
        Points,
        Lower,
        "How far scores are from labels, on average.",
    ),
    measure(
        "top_of_group_accuracy",
        "Best of the group found",
        Truth,
        Share,
        Higher,
        "Share of groups whose one right item scores strictly highest.",
    ),
    measure(
        "win_rate",
        "Preference for B",
        Truth,
        Share,
        Near(0.5),
        "Mean preference for candidate B, ties counting half. A description of the items, not of the judge.",
    ),
    MeasureInfo {
        ungatable: Some("many items may deserve the highest score"),
        ..measure(
            "ceiling_share",
            "At the ceiling",
            Scale,
            Share,
            Lower,
            "Share of scores at the highest of the scale.",
        )
    },
    MeasureInfo {
        ungatable: Some("many items may deserve the lowest score"),
        ..measure("floor_share", "At the floor", Scale, Share, Lower, "Share of scores at the lowest of the scale.")
    },
    MeasureInfo {
        ungatable: Some("it is too low for few items, and items may be alike"),
        ..measure(
            "effective_levels",
            "Levels in use",
            Scale,
            Points,
            Higher,
            "How many equally used scores would be as varied.",
        )
    },
    measure(
        "halo_excess",
        "Halo",
        Scale,
        Coefficient,
        Near(0.0),
        "Mean correlation between dimensions of the judge's scores, less that of the labels or of people's scores.",
    ),
    MeasureInfo {
        ungatable: Some("it describes people, not the judge; gate agreement_gap"),
        ..measure(
            "people_agreement",
            "People among themselves",
            People,
            Share,
            Higher,
            "How often one person says what most of the others say: the ceiling for a judge held against them.",
        )
    },
    measure(
        "agreement_with_people",
        "Agreement with people",
        People,
        Share,
        Higher,
        "How often the judge says what most people but one say, one person being left out in turn.",
    ),
    measure(
        "agreement_gap",
        "Judge less person",
        People,
        Share,
        Higher,
        "Agreement of the judge less that of a person, both with the same other people. Above 0: it agrees with people more than they do.",
    ),
    MeasureInfo {
        ungatable: Some("it describes people, not the judge; gate distance_gap"),
        ..measure(
            "people_distance",
            "Distance among people",
            People,
            Points,
            Lower,
            "How far one person's score is from the mean of the others: the floor for a judge held against them.",
        )
    },
    measure(
        "distance_to_people",
        "Distance to people",
        People,
        Points,
        Lower,
        "How far the judge's score is from the mean of all people but one, one person being left out in turn.",
    ),
    measure(
        "distance_gap",
        "Distance, judge less person",
        People,
        Points,
        Lower,
        "Distance of the judge less that of a person, both to the same other people. Below 0: it is nearer to people than they are.",
    ),
    measure(
        "bias_from_people",
        "Bias from people",
        People,
        Share,
        Lower,
        "How often the judge's commonest answer is not people's: what more draws of it do not mend.",
    ),
    measure(
        "variance_of_draws",
        "Variance of draws",
        People,
        Share,
        Lower,
        "How often one draw is not the commonest of the judge's other draws: what more draws of it do mend.",
    ),
    measure(
        "advantage_probability",
        "Advantage probability",
        People,
        Share,
        Higher,
        "How often the judge is as near to the other people as a person is, or nearer (alternative-annotator test).",
    ),
    MeasureInfo {
        ungatable: Some("it is a count of tests won and passes at a half by its own rule; gate advantage_probability"),
        ..measure(
            "winning_rate",
            "Winning rate",
            People,
            Share,
            Higher,
            "Share of people against whom the judge is shown to do as well, at the stated cost (alternative-annotator test).",
        )
    },
];

/// Returns what is known of a measure, or `None` for an unknown id.
#[must_use]
pub fn info(id: &str) -> Option<&'static MeasureInfo> {
    MEASURES.iter().find(|measure| measure.id == id)
}
