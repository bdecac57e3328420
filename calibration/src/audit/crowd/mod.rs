//! What several raters, or several judges under one arm, are worth together.
//!
//! Each rater counts once an item, in parts where its own answers tie. The models of [`crate::raters`] say who is right how often without labels; where labels exist,
//! every way to take ratings together is held against them. A panel beyond [`MOST_RATINGS`] ratings is measured on evenly spaced
//! items.

mod errors;
mod findings;
mod gather;
mod methods;
pub(super) mod panel;
pub(super) mod people;
pub(super) mod two_way;

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::log::NONE;
use crate::raters::ballots::{add, part};
use crate::raters::correlated::share_of_greatest;

use super::AuditConfig;
use super::data::table::{Subject, Table};
use super::estimate::Values;
use super::result::{DoubtfulItem, Panel, PanelRater};
use gather::Gathered;
pub(super) use gather::commonest;
use methods::{Models, only_greatest};

/// The most ratings of all panels together; beyond, evenly spaced items are taken.
const MOST_RATINGS: usize = 200_000;
/// The most of one panel.
const MOST_OF_PANEL: usize = 100_000;
/// The most raters listed: as many best as worst.
const MOST_RATERS: usize = 40;
/// The most items in doubt listed.
const MOST_DOUBTFUL: usize = 10;
/// Panels beyond so many are not made.
const MOST_PANELS: usize = 24;

const RULE: &str = "each rater counts once an item: its commonest answer; where its own answers tie, each counts in equal parts, and models and pairs of errors leave its rating out; where labels tie, each counts in parts";

/// What weights do here.
const WEIGHTED: &str = "items count by their weights in accuracies, gains, false accepts and rejects, in what voting gains, and in how often one says what the others or the majority say; they count the same in pairs of errors, in the number of independent raters, and in what models guess without labels";

/// Those who rated together.
struct Group<'a> {
    among: &'static str,
    arm: Option<String>,
    raters: Vec<&'a Subject>,
    names: Vec<String>,
    has_labels: bool,
}

pub(crate) fn panels(table: &Table<'_>, config: &AuditConfig) -> Vec<Panel> {
    let mut cuts: Vec<(&Group<'_>, Option<u32>)> = Vec::new();
    let groups = groups(table);
    for group in &groups {
        cuts.extend(gather::dimensions(&group.raters).into_iter().map(|dimension| (group, dimension)));
    }
    cuts.truncate(MOST_PANELS);
    let most_ratings = (MOST_RATINGS / cuts.len().max(1)).min(MOST_OF_PANEL);
    cuts.par_iter().filter_map(|(group, dimension)| panel(table, config, group, *dimension, most_ratings)).collect()
}

fn groups<'a>(table: &'a Table<'_>) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    // Labels made of people's ratings say nothing about these people.
    let labels_are_given = table.label_source == "label";
    if table.raters.len() > 1 {
        groups.push(Group {
            among: "raters",
            arm: None,
            raters: table.raters.iter().collect(),
            names: table.raters.iter().map(|rater| table.log.raters.name(rater.judge).to_owned()).collect(),
            has_labels: labels_are_given,
        });
    }
    let mut by_arm: BTreeMap<u32, Vec<&Subject>> = BTreeMap::new();
    for subject in &table.subjects {
        by_arm.entry(subject.arm.wrapping_add(1)).or_default().push(subject);
    }
    for judges in by_arm.into_values().filter(|judges| judges.len() > 1) {
        let arm = judges[0].arm;
        let name =
            |judge: &&Subject| if judge.judge == NONE { "" } else { table.log.judges.name(judge.judge) }.to_owned();
        groups.push(Group {
            among: "judges",
            arm: (arm != NONE).then(|| table.log.arms.name(arm).to_owned()),
            names: judges.iter().map(name).collect(),
            raters: judges,
            has_labels: table.label_source != "none",
        });
    }
    groups
}

/// Measures one panel; `None` where ratings are no categories, nobody shares an item, or two raters and no labels leave nothing to say
/// that agreement does not.
fn panel(
    table: &Table<'_>,
    config: &AuditConfig,
    group: &Group<'_>,
    dimension: Option<u32>,
    most_ratings: usize,
) -> Option<Panel> {
    let gathered = gather::gather(table, config, &group.raters, dimension, group.has_labels, most_ratings)?;
    let counts = gathered.ballots.n_by_rater(group.raters.len());
    let n_raters = counts.iter().filter(|n| **n > 0).count();
    let has_labels = gathered.labels.iter().any(Option::is_some);
    let is_shared = (0..gathered.units.len()).any(|item| gathered.ballots.n_of_item(item) > 1);
    if n_raters < 2 || !is_shared || (n_raters == 2 && !has_labels) {
        return None;
    }
    let level = config.level;
    let models = Models::fit(&gathered, config);
    let methods = models.methods(&gathered, level);
    let mut notes = Vec::new();
    if n_raters == 2 {
        notes.push(
            "two raters do not tell who of them is right: Dawid and Skene's model, MACE and GLAD take three or more"
                .to_owned(),
        );
    }
    if !has_labels {
        notes.push("no item has a label in these categories: what a rater, or the majority, gets right is a guess of models that take errors for independent; a label column would show it".to_owned());
    }
    let per_item = gathered.ballots.len() as f64 / gathered.units.len() as f64;
    if n_raters > 2 && per_item < 2.5 {
        notes.push(format!("an item has {per_item:.1} ratings on average: models learn little from so few"));
    }
    let n_tied = gathered.ballots.n_tied();
    if n_tied > 0 {
        notes.push(format!(
            "of {n_tied} of the {} ratings the rater's own answers tie: they count in parts, and the models, pairs of errors and the number of independent raters leave them out",
            gathered.ballots.len()
        ));
    }
    if gathered.is_weighted() {
        notes.push(WEIGHTED.to_owned());
    }
    let worth = match errors::worth(&gathered, &models, level) {
        Ok(worth) => Some(worth),
        Err(error) => {
            notes.push(format!("how many independent raters it is worth is not known: {error}"));
            None
        }
    };
    let (error_pairs, n_error_pairs) =
        if has_labels { errors::pairs(&gathered, &group.names, level) } else { (Vec::new(), 0) };
    let vote = if has_labels { errors::vote(&gathered, &methods, config) } else { None };
    let (raters, n_raters_left_out) = raters(&gathered, &models, &group.names, &counts, level);
    let mut panel = Panel {
        among: group.among.to_owned(),
        arm: group.arm.clone(),
        dimension: gather::dimension_name(table, dimension),
        categories: gathered.categories.clone(),
        rule: RULE.to_owned(),
        n_raters: n_raters as u64,
        n_items: gathered.units.len() as u64,
        n_ratings: gathered.ballots.len() as u64,
        n_labelled: gathered.labels.iter().flatten().count() as u64,
        n_items_left_out: gathered.n_items_left_out,
        notes,
        findings: Vec::new(),
        raters,
        n_raters_left_out,
        methods,
        worth,
        vote,
        error_pairs,
        n_error_pairs,
        doubtful: doubtful(table, &gathered, &models),
    };
    panel.findings = findings::findings(&panel);
    Some(panel)
}

/// Returns the raters from best to worst, without the middle of a big crowd, and how many these are.
fn raters(
    gathered: &Gathered<'_>,
    models: &Models,
    names: &[String],
    counts: &[usize],
    level: f64,
) -> (Vec<PanelRater>, u64) {
    let ballots = &gathered.ballots;
    let mut right = vec![Values::default(); counts.len()];
    let mut with_others = vec![[0.0; 2]; counts.len()];
    let mut votes = vec![0.0; ballots.n_categories()];
    for (item, unit) in gathered.units.iter().enumerate() {
        ballots.votes(item, &mut votes);
        let is_shared = ballots.n_of_item(item) > 1;
        for (rater, said) in ballots.of_item(item) {
            if let Some(label) = gathered.labels[item] {
                right[rater as usize].push(unit, part(said, label), 1);
            }
            if is_shared {
                add(&mut votes, said, -1.0);
                let same: f64 = said.iter().map(|category| share_of_greatest(&votes, *category)).sum();
                with_others[rater as usize][0] += unit.weight * same / said.len() as f64;
                with_others[rater as usize][1] += unit.weight;
                add(&mut votes, said, 1.0);
            }
        }
    }
    let mut raters: Vec<PanelRater> = (0..counts.len())
        .filter(|rater| counts[*rater] > 0)
        .map(|rater| {
            let accuracy = right[rater].proportion("right ratings / labelled items that it rated");
            let [sum, n] = with_others[rater];
            let fitted = models.fitted.as_ref();
            PanelRater {
                name: names[rater].clone(),
                n_items: counts[rater] as u64,
                accuracy: accuracy.map(|value| value.measure(level)),
                agrees_with_others: (n > 0.0).then(|| sum / n),
                dawid_skene: fitted.and_then(|fitted| fitted.dawid_skene.accuracy(rater)),
                mace: fitted.and_then(|fitted| fitted.mace.competence[rater]),
                glad: fitted.and_then(|fitted| fitted.glad.ability[rater]),
            }
        })
        .collect();
    let figure = |rater: &PanelRater| {
        let by_labels = rater.accuracy.as_ref().map(|measure| measure.estimate);
        by_labels.or(rater.dawid_skene).or(rater.agrees_with_others)
    };
    let figures: Vec<f64> = raters.iter().filter_map(figure).collect();
    let mean = figures.iter().sum::<f64>() / figures.len().max(1) as f64;
    // One with few ratings is neither best nor worst for that: it is drawn towards the mean as by ten more ratings.
    let key = |rater: &PanelRater| {
        let n = rater.accuracy.as_ref().map_or(rater.n_items, |measure| measure.n) as f64;
        (figure(rater).unwrap_or(mean) * n + 10.0 * mean) / (n + 10.0)
    };
    raters.sort_by(|a, b| key(b).total_cmp(&key(a)));
    let n_left_out = raters.len().saturating_sub(MOST_RATERS);
    if n_left_out > 0 {
        raters.drain(MOST_RATERS / 2..MOST_RATERS / 2 + n_left_out);
    }
    (raters, n_left_out as u64)
}

/// Returns the items on which the model contradicts the majority, or is least sure.
fn doubtful(table: &Table<'_>, gathered: &Gathered<'_>, models: &Models) -> Vec<DoubtfulItem> {
    let Some(fitted) = &models.fitted else { return Vec::new() };
    let posterior = &fitted.dawid_skene.posterior;
    let greatest = |weights: &[f64]| weights.iter().copied().fold(0.0, f64::max);
    let mut items: Vec<(bool, f64, usize)> = (0..gathered.units.len())
        .filter(|item| gathered.ballots.n_of_item(*item) > 1)
        .map(|item| {
            let (own, theirs) = (only_greatest(posterior.of_item(item)), only_greatest(models.of_majority(item)));
            (own == theirs, greatest(posterior.of_item(item)), item)
        })
        .filter(|(same, sure, _)| !same || *sure < 0.9)
        .collect();
    items.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)).then(a.2.cmp(&b.2)));
    let name = |category: Option<u32>| category.map(|category| gathered.categories[category as usize].clone());
    items
        .into_iter()
        .take(MOST_DOUBTFUL)
        .map(|(_, probability, item)| DoubtfulItem {
            item: table.log.items.name(gathered.units[item].item).to_owned(),
            majority: name(only_greatest(models.of_majority(item))),
            majority_share: greatest(models.of_majority(item)),
            dawid_skene: name(only_greatest(posterior.of_item(item))),
            probability,
            label: name(gathered.labels[item]),
        })
        .collect()
}
