//! The gate watched along a plan: every limit measured anew at each twentieth of the items planned, the error spent look by look, and the audit
//! told when going on is unlikely to bring a verdict.
//!
//! Who knows when the last look is pays less for the ones before it than who may go on for ever ([`PlannedLooks`]). Giving up errs on
//! no side of a limit: it can only turn a verdict into none.

use crate::gate::LimitState;
use crate::interval::Spread;
use crate::proportion::Interval;
use crate::sequential::{N_COUNTS, PlannedLooks, RareLooks};

use super::looks_chance::chance_beyond;
use crate::audit::decision::decide::{Side, Watched, decide};
use crate::audit::decision::looks::{Completed, Course, Kind, Looking, Watch};
use crate::audit::estimate::{Estimated, Measured};
use crate::audit::result::{Fitness, Futile};

/// Looks of a plan.
const N_LOOKS: f64 = 20.0;
/// Fewer clusters are not looked at: their t intervals do not hold so far out.
const FEWEST_CLUSTERS: u64 = 10;
/// A verdict less likely than this is not waited for.
const UNLIKELY: f64 = 0.05;

/// What the looks of a plan have shown of one limit.
#[derive(Clone, Debug, Default)]
pub(in crate::audit) struct Planned {
    pub n_looks: u32,
    pub estimate: Option<f64>,
    /// The intersection of the intervals at all looks; its ends cross where it is empty.
    interval: Option<[f64; 2]>,
    /// The chances that one look at all items planned finds the limit met, and broken.
    pub chances: Option<[f64; 2]>,
    /// The items planned, once a look was taken.
    n_items: u64,
    /// Where the measure is a rate: looks at it, were it rare enough to be counted out.
    rare: Option<RareLooks>,
}

impl Planned {
    pub(in crate::audit) fn interval(&self) -> Option<Interval> {
        self.interval.filter(|[low, high]| low <= high).map(|[low, high]| Interval { low, high })
    }

    pub(in crate::audit) fn is_contradicted(&self) -> bool {
        self.interval.is_some_and(|[low, high]| low > high)
    }

    /// Returns what going on to the end of the plan is worth.
    pub(in crate::audit) fn outlook(&self) -> String {
        if self.n_looks == 0 {
            return "the first look of the plan is still to come".to_owned();
        }
        let Some([met, broken]) = self.chances else {
            return "the plan is at its end".to_owned();
        };
        let share =
            |chance: f64| if chance < 0.01 { "under 1 %".to_owned() } else { format!("{:.0} %", 100.0 * chance) };
        format!(
            "as things stand, one look at all {} items planned would find it kept with a chance of {}, broken with {}",
            crate::audit::decision::decide::grouped(self.n_items),
            share(met),
            share(broken)
        )
    }

    fn intersect(&mut self, interval: Interval) {
        let [low, high] = self.interval.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        self.interval = Some([low.max(interval.low), high.min(interval.high)]);
    }
}

impl Planned {
    /// Takes a look at a rate with few events (or few others), and returns the p value of all looks that it be on the wrong side of its limit. `None`
    /// where there are enough for the normal law, or it is no rate.
    fn p_of_rare(&mut self, worst: &Estimated, is_max: bool, limit: f64, looks: &PlannedLooks, p: f64) -> Option<f64> {
        let Spread::Proportion(proportion) = worst.spread else { return None };
        let (limit, n_events) = if is_max {
            (limit, proportion.n_clusters_with_event)
        } else {
            (1.0 - limit, proportion.n_clusters_with_absence)
        };
        if !(limit > 0.0 && limit < 1.0) {
            return None;
        }
        let rare = self.rare.get_or_insert_with(|| looks.rare(limit));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of clusters")]
        rare.look(proportion.n_clusters as u64, looks.fraction());
        (n_events < N_COUNTS as u64).then(|| looks.p_of_rare(rare, n_events, p))
    }

    /// Moves the end of the interval that faces the limit to where the limit's own test, which may count out, says that it is.
    fn agree(&mut self, is_max: bool, limit: f64, is_met: bool, has_worst: bool) {
        let Some([low, high]) = &mut self.interval else { return };
        match (is_max, is_met) {
            (true, true) => *high = high.min(limit),
            (false, true) => *low = low.max(limit),
            // With unparsed replies the test is about another rate.
            (true, false) if !has_worst => *high = high.max(limit),
            (false, false) if !has_worst => *low = low.min(limit),
            _ => {}
        }
    }
}

impl Watch<'_> {
    /// Takes what is measured of the clusters so far.
    fn look_as_planned(&mut self, so_far: &Measured, looks: &PlannedLooks, alpha: f64, n_planned: u64) {
        let Kind::Planned(planned) = &mut self.kind else { return };
        planned.n_looks += 1;
        planned.n_items = n_planned;
        planned.chances = None;
        let is_over = looks.fraction() >= 1.0;
        let Some(value) = so_far.values.get(self.id) else {
            // What is still to come is not known.
            planned.chances = (!is_over).then_some([1.0, 1.0]);
            return;
        };
        let worst = value.worst.as_deref().unwrap_or(value);
        let is_max = self.side == Side::Max;
        planned.estimate = Some(value.estimate);
        if let Some(interval) = value.spread.interval(value.estimate, 1.0 - 2.0 * looks.tail(alpha)) {
            planned.intersect(interval);
        }
        let below = |value: &Estimated| value.spread.p_at_least(value.estimate, self.limit);
        let above = |value: &Estimated| value.spread.p_at_most(value.estimate, self.limit);
        let (met, broken) = if is_max { (below(worst), above(value)) } else { (above(worst), below(value)) };
        let met = met.unwrap_or(1.0);
        let met = planned.p_of_rare(worst, is_max, self.limit, looks, met).unwrap_or_else(|| looks.p_of_all(met));
        self.p_met = self.p_met.min(met);
        planned.agree(is_max, self.limit, self.p_met < alpha, value.worst.is_some());
        self.p_broken = self.p_broken.min(looks.p_of_all(broken.unwrap_or(1.0)));
        if !is_over {
            let chance = |value, is_below| chance_beyond(value, self.limit, is_below, looks.fraction(), alpha);
            // What was shown at one look stays shown.
            let met = if self.p_met < alpha { 1.0 } else { chance(worst, is_max) };
            let broken = if self.p_broken < alpha { 1.0 } else { chance(value, !is_max) };
            planned.chances = Some([met, broken]);
        }
    }
}

/// Looks at every twentieth of the items planned, as far as the clusters go.
pub(in crate::audit) fn follow(
    looking: &Looking<'_>,
    clusters: &[Completed],
    watches: &mut [Watch<'_>],
    n_planned: u64,
) -> Course {
    let alpha = (1.0 - looking.config.level) / 2.0;
    let mut looks = PlannedLooks::new(alpha, watches.len());
    let can_be_fit = can_be_fit(looking, watches);
    let mut course = Course::default();
    for (idx, cluster) in clusters.iter().enumerate() {
        course.take(cluster);
        let share = course.n_items as f64 / n_planned as f64;
        let is_last = share >= 1.0;
        // Not so close to the look before, or to the last, that it would be a look at the same clusters.
        let is_due = share < 1.0 - 0.5 / N_LOOKS
            && course.n_clusters >= FEWEST_CLUSTERS
            && share >= looks.fraction() + 0.5 / N_LOOKS
            && (share * N_LOOKS).floor() > (looks.fraction() * N_LOOKS).floor();
        if !(is_due || is_last) {
            continue;
        }
        looks.look(share);
        let so_far = looking.measure(&clusters[..=idx]);
        for watch in &mut *watches {
            watch.look_as_planned(&so_far, &looks, alpha, n_planned);
        }
        let is_decided = course.decide(looking, watches);
        if !is_decided && !is_last && course.futile.is_none() {
            course.futile = futile(&course, watches, can_be_fit);
        }
        if is_last {
            break;
        }
    }
    course
}

/// Whether the gate could call the judge fit if every limit were met: not without labels, say.
fn can_be_fit(looking: &Looking<'_>, watches: &[Watch<'_>]) -> bool {
    let met = |watch: &Watch<'_>| {
        let evidence = Watched { p_met: 0.0, p_broken: 1.0, estimate: None, interval: None, outlook: None };
        ((watch.id.to_owned(), watch.side), evidence)
    };
    let evidence = watches.iter().map(met).collect();
    let (fitness, _, results) =
        decide(looking.gate, looking.measured, looking.table.kind, looking.config.level, Some(&evidence));
    debug_assert!(results.iter().all(|result| result.state != LimitState::Broken), "nothing is broken");
    fitness == Fitness::Fit
}

/// Returns that neither verdict is likely at the end of the plan, if so.
fn futile(course: &Course, watches: &[Watch<'_>], can_be_fit: bool) -> Option<Futile> {
    let chances = |watch: &Watch<'_>| match &watch.kind {
        Kind::Planned(planned) => planned.chances.unwrap_or([1.0, 1.0]),
        _ => [1.0, 1.0],
    };
    let least = watches.iter().map(|watch| chances(watch)[0]).fold(1.0, f64::min);
    let chance_fit = if can_be_fit { least } else { 0.0 };
    let chance_unfit = watches.iter().map(|watch| chances(watch)[1]).sum::<f64>().min(1.0);
    (chance_fit < UNLIKELY && chance_unfit < UNLIKELY).then(|| Futile {
        n_clusters: course.n_clusters,
        n_items: course.n_items,
        n_judgements: course.n_judgements,
        chance_fit,
        chance_unfit,
        because: watches.iter().filter(|watch| chances(watch)[0] < UNLIKELY).map(|watch| watch.id.to_owned()).collect(),
    })
}
