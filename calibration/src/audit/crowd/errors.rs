//! How independent a panel's raters are, and what that makes of its vote.

use crate::distribution::t_cdf;
use crate::interval::Spread;
use crate::paired::holm;
use crate::raters::correlated::{PairOfErrors, error_pairs, independent_ballots};
use crate::raters::effective::{EffectiveError, Truth, effective_raters};

use super::super::AuditConfig;
use super::super::data::weights;
use super::super::estimate::Estimated;
use super::super::result::{ErrorPair, Measure, PanelMethod, PanelWorth, VoteWorth};
use super::gather::Gathered;
use super::methods::Models;

/// Pairs are looked at among so many raters with most ratings.
const MOST_PAIRED: usize = 60;
/// Fewest items that a pair shares.
const LEAST_SHARED: usize = 20;
/// Pairs shown.
const SHOWN_PAIRS: usize = 10;
/// Shuffles for the independent vote; fewer of big panels.
const SHUFFLES: usize = 400;
const MOST_SHUFFLED: usize = 4_000_000;

/// Returns how many independent raters the panel is worth, or why nobody knows.
pub(super) fn worth(gathered: &Gathered<'_>, models: &Models, level: f64) -> Result<PanelWorth, EffectiveError> {
    let has_labels = gathered.labels.iter().any(Option::is_some);
    let (truth, against) = match &models.fitted {
        _ if has_labels => (Truth::Known(&gathered.labels), "labels"),
        Some(fitted) => (Truth::Estimated(&fitted.dawid_skene.posterior), "dawid_skene"),
        None => return Err(EffectiveError::TooFewRaters),
    };
    let found = effective_raters(&gathered.ratings, truth, Some(&gathered.clusters), level)?;
    let measure = |estimate: f64, interval: Option<crate::proportion::Interval>, method: &str| {
        let mut cautions =
            vec!["approximate: in simulations the interval held the truth .91 to .99 of the time, least with few items on which errors meet; no gate rests on it".to_owned()];
        if against != "labels" {
            cautions.push("a guess: without labels, errors that most raters share look right".to_owned());
        }
        if gathered.is_weighted() {
            cautions.push(weights::NOT_USED.to_owned());
        }
        Measure {
            estimate,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            level,
            n: gathered.ratings.n_ratings() as u64,
            n_items: found.n_items as u64,
            n_clusters: found.n_clusters as u64,
            method: method.to_owned(),
            cautions,
            details: [("n_pairs".to_owned(), found.n_pairs as f64)].into(),
        }
    };
    let scale = "cluster jackknife of log((1 + (n − 1)ρ)/(1 − ρ))";
    Ok(PanelWorth {
        against: against.to_owned(),
        n_raters: found.n_raters as u64,
        correlation: measure(
            found.correlation,
            found.correlation_interval,
            &format!("Σ covariances of errors / Σ mean variances, over pairs of raters; {scale}"),
        ),
        n_effective: found.n_effective.map(|n_effective| {
            let method = format!("n / (1 + (n − 1)ρ) for n raters (Kish 1965); {scale}");
            let mut value = measure(n_effective, found.n_effective_interval, &method);
            let per_item = gathered.ratings.n_ratings() as f64 / gathered.units.len() as f64;
            value.details.insert("ratings_per_item".to_owned(), per_item);
            let of_item = per_item / (1.0 + (per_item - 1.0) * found.correlation);
            if of_item > 0.0 && of_item.is_finite() {
                value.details.insert("effective_per_item".to_owned(), of_item);
            }
            value
        }),
    })
}

/// Returns the pairs whose errors go together most, and how many were looked at.
pub(super) fn pairs(gathered: &Gathered<'_>, names: &[String], level: f64) -> (Vec<ErrorPair>, u64) {
    let counts = gathered.ratings.n_by_rater();
    let mut raters: Vec<usize> = (0..counts.len()).filter(|rater| counts[*rater] >= LEAST_SHARED).collect();
    raters.sort_by_key(|rater| (std::cmp::Reverse(counts[*rater]), *rater));
    raters.truncate(MOST_PAIRED);
    raters.sort_unstable();
    let found: Vec<PairOfErrors> = error_pairs(&gathered.ratings, &gathered.labels, &raters, Some(&gathered.clusters))
        .into_iter()
        .filter(|pair| pair.n_items >= LEAST_SHARED)
        .collect();
    let p_values: Vec<f64> = found.iter().map(|pair| p_value(pair).unwrap_or(f64::NAN)).collect();
    let corrected = holm(&p_values);
    let spreads: Vec<Spread> = found.iter().map(spread).collect();
    // Those that share few items have the largest correlations by chance.
    let least: Vec<f64> = found
        .iter()
        .zip(&spreads)
        .map(|(pair, spread)| match spread.interval(pair.correlation, level) {
            Some(interval) => interval.low,
            // Errors that always meet have no interval.
            None if pair.correlation > 0.99 => 1.0,
            None => -1.0,
        })
        .collect();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&a, &b| {
        least[b].total_cmp(&least[a]).then(found[b].correlation.total_cmp(&found[a].correlation)).then(a.cmp(&b))
    });
    let shown = order.into_iter().take(SHOWN_PAIRS).map(|idx| {
        let (pair, spread) = (&found[idx], spreads[idx]);
        let estimated = Estimated {
            estimate: pair.correlation,
            spread,
            n: 2 * pair.n_items as u64,
            n_items: pair.n_items as u64,
            n_clusters: pair.n_clusters as u64,
            method: "correlation of two raters' errors (phi); infinitesimal jackknife over clusters, scale of atanh"
                .to_owned(),
            cautions: if gathered.is_weighted() { vec![weights::NOT_USED.to_owned()] } else { Vec::new() },
            details: std::collections::BTreeMap::new(),
            worst: None,
        };
        ErrorPair {
            a: names[pair.first].clone(),
            b: names[pair.second].clone(),
            n_items: pair.n_items as u64,
            both_wrong: pair.both_wrong,
            expected: pair.expected,
            correlation: estimated.measure(level),
            within_label: pair.within_label,
            p_holm: Some(corrected[idx]).filter(|p| p.is_finite()),
        }
    });
    (shown.collect(), found.len() as u64)
}

/// Returns how the correlation varies; it has no interval where errors always meet.
fn spread(pair: &PairOfErrors) -> Spread {
    let degrees = pair.n_clusters as f64 - 1.0;
    pair.standard_error
        .map_or(Spread::None, |standard_error| Spread::fisher_z(pair.correlation, standard_error, degrees))
}

/// Returns the two-sided p value of no correlation.
fn p_value(pair: &PairOfErrors) -> Option<f64> {
    let error = pair.standard_error.filter(|error| *error > 1e-12 && pair.correlation.abs() < 1.0 - 1e-12)?;
    let z = pair.correlation.atanh() * (1.0 - pair.correlation * pair.correlation) / error;
    Some(2.0 * t_cdf(-z.abs(), pair.n_clusters as f64 - 1.0))
}

/// Returns what the majority gains, and would gain were errors independent.
pub(super) fn vote(gathered: &Gathered<'_>, methods: &[PanelMethod], config: &AuditConfig) -> Option<VoteWorth> {
    let accuracy = |name: &str| {
        let method = methods.iter().find(|method| method.method == name)?;
        method.accuracy.as_ref().map(|measure| measure.estimate)
    };
    let n_shuffles = (MOST_SHUFFLED / gathered.ballots.len()).clamp(20, SHUFFLES);
    let n_shuffles = u32::try_from(n_shuffles).ok()?;
    let (one_rater, majority) = (accuracy("one_rater")?, accuracy("majority")?);
    let found = independent_ballots(
        &gathered.ballots,
        &gathered.labels,
        &|item| gathered.units[item].weight,
        n_shuffles,
        config.seed ^ 0x766f_7465,
    )?;
    let middle = |p: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position among the shuffles")]
        let place = (p * (found.shuffles.len() - 1) as f64).round() as usize;
        found.shuffles[place]
    };
    Some(VoteWorth {
        one_rater,
        majority,
        majority_if_independent: found.accuracy,
        shuffles: [middle(0.025), middle(0.975)],
        n_shuffles,
    })
}
