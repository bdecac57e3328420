//! A judge beside people, its scale and halo, and what wrong labels could do to it.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{AlternativeTest, Halo, JudgeAudit, LabelNoise, Likeness, ScaleUse};
use assize_calibration::gate::LimitState;
use serde::Serialize;

use super::Mark;
use super::forest::Cell;
use crate::{format, text, words};

/// Most people shown.
const MAX_PEOPLE: usize = 40;

#[derive(Serialize)]
struct PersonRow {
    name: String,
    items: String,
    judge: String,
    person: String,
    p: String,
    mark: Mark,
}

/// The alternative-annotator test.
#[derive(Serialize)]
pub(crate) struct AlternativeView {
    mark: Mark,
    says: String,
    people: Vec<PersonRow>,
    n_omitted: usize,
}

pub(super) fn alternative(test: &AlternativeTest, judge: &JudgeAudit) -> AlternativeView {
    let n_won = test.people.iter().filter(|person| person.is_won).count();
    let rate = judge.measures.get("winning_rate").map_or(f64::NAN, |measure| measure.estimate);
    let left_out = match test.n_people_left_out {
        0 => String::new(),
        n => format!(" {} with fewer than 30 items were left out.", format::count(n)),
    };
    AlternativeView {
        mark: Mark {
            class: if test.passed { "good" } else { "bad" },
            word: if test.passed { "passed" } else { "not passed" },
        },
        says: format!(
            "It is shown to do as well as {} people of {} (winning rate {}; a half passes), if a judge may be nearest to the others {} less often than the person for what it saves. Nearness: {}.{left_out}",
            n_won,
            test.people.len(),
            format::per_cent(rate),
            format::per_cent(test.epsilon),
            if test.alignment == "rmse" { "root mean squared distance" } else { "how many of the others say the same" },
        ),
        people: test
            .people
            .iter()
            .take(MAX_PEOPLE)
            .map(|person| PersonRow {
                name: words::name(&person.rater),
                items: format::count(person.n_items),
                judge: format::per_cent(person.judge_advantage),
                person: format::per_cent(person.person_advantage),
                p: format::p_value(person.p_adjusted),
                mark: Mark {
                    class: if person.is_won { "good" } else { "open" },
                    word: if person.is_won { "as good" } else { "not shown" },
                },
            })
            .collect(),
        n_omitted: test.people.len().saturating_sub(MAX_PEOPLE),
    }
}

#[derive(Serialize)]
struct TurnRow {
    title: String,
    mark: Mark,
    says: String,
}

#[derive(Serialize)]
struct AssumedRow {
    rate: String,
    range: String,
    independent: String,
}

/// What wrong labels could do.
#[derive(Serialize)]
pub(crate) struct LabelNoiseView {
    limits: Vec<TurnRow>,
    assumed: Vec<AssumedRow>,
}

pub(super) fn label_noise(noise: &LabelNoise) -> LabelNoiseView {
    LabelNoiseView {
        limits: noise
            .limits
            .iter()
            .map(|limit| {
                let turned = if limit.state == LimitState::Met { "met" } else { "broken" };
                TurnRow {
                    title: text::visible(format::title(&limit.measure)),
                    mark: limit.state.into(),
                    says: match (limit.n_labels, limit.share) {
                        (Some(n), Some(share)) => format!(
                            "no longer {turned} if {} ({} of {}) are wrong, and these the worst",
                            format::counted(n, "label"),
                            format::per_cent(share),
                            format::count(noise.n_labelled)
                        ),
                        _ => format!("stays {turned} whatever labels are wrong"),
                    },
                }
            })
            .collect(),
        assumed: noise
            .accuracy
            .iter()
            .map(|assumed| AssumedRow {
                rate: format::per_cent(assumed.error_rate),
                range: format!("{} to {}", format::per_cent(assumed.low), format::per_cent(assumed.high)),
                independent: assumed.if_independent.map_or_else(|| "not defined".to_owned(), format::per_cent),
            })
            .collect(),
    }
}

#[derive(Serialize)]
struct LikenessRow {
    whose: String,
    items: String,
    correlation: Cell,
    factor: String,
    alpha: Option<Cell>,
}

/// Halo across dimensions.
#[derive(Serialize)]
pub(crate) struct HaloView {
    dimensions: String,
    even: String,
    rows: Vec<LikenessRow>,
}

pub(super) fn halo(halo: &Halo) -> HaloView {
    let row = |whose: String, likeness: &Likeness| LikenessRow {
        whose,
        items: format::count(likeness.n_items),
        correlation: Cell::new(&likeness.mean_correlation, Unit::Coefficient),
        factor: format::per_cent(likeness.one_factor_share),
        alpha: likeness.cronbach_alpha.as_ref().map(|alpha| Cell::new(alpha, Unit::Coefficient)),
    };
    let mut rows = vec![row("Judge".to_owned(), &halo.judge)];
    if let (Some(reference), Some(source)) = (&halo.reference, &halo.reference_source) {
        rows.push(row(text::sentence(source).trim_end_matches('.').to_owned(), reference));
    }
    let names: Vec<String> = halo.dimensions.iter().map(|name| words::name(name)).collect();
    HaloView {
        even: format::per_cent(1.0 / names.len().max(1) as f64),
        dimensions: text::cut(&names.join(", "), 300),
        rows,
    }
}

#[derive(Serialize)]
struct ScaleRow {
    name: String,
    ceiling: Cell,
    floor: Cell,
    levels: Cell,
    of_labels: String,
    used: String,
    unused: String,
}

/// How scores use the scale.
#[derive(Serialize)]
pub(crate) struct ScaleView {
    ends: String,
    rows: Vec<ScaleRow>,
}

pub(super) fn scale_use(uses: &[ScaleUse]) -> Option<ScaleView> {
    let first = uses.first()?;
    let rows = uses
        .iter()
        .map(|one| {
            let unused: Vec<String> = one.unused.iter().take(12).map(|level| format::plain(*level)).collect();
            let more = if one.unused.len() > 12 { ", …" } else { "" };
            ScaleRow {
                name: one.dimension.as_deref().map_or_else(|| "All scores".to_owned(), words::name),
                ceiling: Cell::new(&one.ceiling, Unit::Share),
                floor: Cell::new(&one.floor, Unit::Share),
                levels: Cell::new(&one.effective_levels, Unit::Points),
                of_labels: one.effective_levels_of_labels.map_or_else(|| "–".to_owned(), format::significant),
                used: one.n_possible.map_or_else(
                    || format::count(one.n_used),
                    |possible| format!("{} of {}", format::count(one.n_used), format::count(possible)),
                ),
                unused: if unused.is_empty() { "none".to_owned() } else { unused.join(", ") + more },
            }
        })
        .collect();
    Some(ScaleView { ends: format!("{} to {}", format::plain(first.scale[0]), format::plain(first.scale[1])), rows })
}
