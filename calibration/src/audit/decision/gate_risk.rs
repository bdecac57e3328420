//! How often the gate would come out otherwise if the same items were judged again though nothing changed, and what
//! would make it steadier. Items are fixed: only the judge's noise is drawn anew (see [`super::redraw`]).
//!
//! For one rate the closed form is SE = √(Σ pᵢ(1 − pᵢ)/kᵢ)/m; the gate as a whole has several limits on the same answers, and
//! its intervals move with its estimates, so that its own decision function is applied to every redraw.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::gate::{Gate, LimitState};
use crate::proportion::wilson;

use super::findings::per_cent;
use super::redraw::{Alike, Redraw, Repeats, Shares};
use super::rejudge::{Rejudged, Tried, rejudge};
use crate::audit::AuditConfig;
use crate::audit::catalogue::info;
use crate::audit::data::table::{Subject, Table};
use crate::audit::decision::decide::show;
use crate::audit::estimate::Measured;
use crate::audit::result::{Finding, FindingWeight, Fitness, GateRisk, LimitRisk, Remedy, RuleRisk};

/// The risk that a gate may have.
const ENOUGH: f64 = 0.05;
/// Answers drawn in all, over the redraws of one question.
const MOST_DRAWS: usize = 20_000_000;
const MOST_REDRAWS: usize = 500;
const FEWEST_REDRAWS: usize = 100;
/// How many times as many answers are tried.
const TIMES: [u32; 4] = [2, 3, 5, 8];
/// The streams of the seed that are used here.
const STREAMS: u64 = 0x6761_7465 << 32;

/// Returns the risk, or records why there is none to be had.
pub(crate) fn gate_risk(
    table: &Table<'_>,
    subject: &Subject,
    config: &AuditConfig,
    gate: &Gate,
    measured: &mut Measured,
) -> Option<GateRisk> {
    if table.is_weighted {
        measured.unmeasured("gate_risk", "items have weights, which redrawn answers cannot reckon with", &[]);
        return None;
    }
    let Some(redraw) = Redraw::new(table, subject) else {
        let reason = "nothing was asked twice under the same condition, so that the judge's noise is unknown";
        measured.unmeasured("gate_risk", reason, &["repeat"]);
        return None;
    };
    let now = rejudge(table, subject, config, gate);
    if now.limits.iter().all(|limit| limit.state == LimitState::Unmeasured) {
        measured.unmeasured("gate_risk", "this log measures none of the gate's limits", &[]);
        return None;
    }
    let trial = Trial { table, subject, redraw: &redraw, config };
    let again = trial.run(gate, 1, Shares::Known, 0);
    let uncertain = trial.run(gate, 1, Shares::Uncertain, 1);
    let mut risk = GateRisk {
        n_redraws: u32::try_from(again.len()).unwrap_or(u32::MAX),
        method: format!(
            "each cell answers again: with probability k/(k + {:.2}) as one of its own k answers, else as a cell with the same \
             label and order{}, so that two answers differ as often as measured; the gate's own rules decide",
            redraw.concentration,
            if redraw.alike == Alike::InUsualAnswer { " and usual answer" } else { "" }
        ),
        flip_rate: redraw.flip_rate,
        plain_flip_rate: redraw.plain_flip_rate,
        concentration: redraw.concentration,
        interval_rule: interval_rule(&now, &again, &uncertain),
        point_rule: point_rule(&now, &again, &uncertain),
        limits: limits(&now, &again),
        remedies: Vec::new(),
        untried: Vec::new(),
    };
    if risk.interval_rule.is_green && risk.interval_rule.risk > ENOUGH {
        trial.remedies(gate, &again, &mut risk);
    }
    Some(risk)
}

/// What redraws are made from.
struct Trial<'a> {
    table: &'a Table<'a>,
    subject: &'a Subject,
    redraw: &'a Redraw<'a>,
    config: &'a AuditConfig,
}

impl Trial<'_> {
    /// Judges the items again and again. `question` keeps the draws of different questions apart.
    fn run(&self, gate: &Gate, times: u32, shares: Shares, question: u64) -> Vec<Rejudged> {
        let times = times as usize;
        let n = (MOST_DRAWS / (times * self.subject.draws.len()).max(1)).clamp(FEWEST_REDRAWS, MOST_REDRAWS);
        let base = ChaCha8Rng::seed_from_u64(self.config.seed);
        (0..n as u64)
            .into_par_iter()
            .map(|idx| {
                let mut rng = base.clone();
                rng.set_stream(STREAMS + (question << 24) + idx);
                let again = self.redraw.again(&mut rng, Repeats::Times(times), shares);
                rejudge(self.table, &again, self.config, gate)
            })
            .collect()
    }

    /// Tries what may help, the cheapest that is enough first.
    fn remedies(&self, gate: &Gate, again: &[Rejudged], risk: &mut GateRisk) {
        if let Some((moved, words)) = moved_limits(gate, again) {
            let red = share(&self.run(&moved, 1, Shares::Known, 2), |one| one.fitness != Fitness::Fit);
            let changed = words.iter().map(|moved| (moved.measure.clone(), moved.at)).collect();
            let named: Vec<String> = words.iter().map(MovedLimit::said).collect();
            risk.remedies.push(Remedy {
                what: format!("Move the limit to where noise does not reach it: {}", named.join(", ")),
                times_answers: 1,
                further_judgements: 0,
                limits: changed,
                risk: red.0,
                risk_interval: red.1,
                is_enough: red.0 <= ENOUGH,
            });
        }
        for (question, times) in (3..).zip(TIMES) {
            let red = share(&self.run(gate, times, Shares::Known, question), |one| one.fitness != Fitness::Fit);
            let n = self.subject.draws.len() as u64;
            risk.remedies.push(Remedy {
                what: format!("Ask {times} times as often, the same items: {}", repeats(self.subject, times)),
                times_answers: times,
                further_judgements: n * u64::from(times - 1),
                limits: std::collections::BTreeMap::new(),
                risk: red.0,
                risk_interval: red.1,
                is_enough: red.0 <= ENOUGH,
            });
            if red.0 <= ENOUGH {
                break;
            }
        }
        if !self.table.log.has_orders() {
            let text = "Asking in both orders: this log shows no order, so that nothing says how answers differ between the two. If \
                        they do not, it helps as twice as many answers do.";
            risk.untried.push(text.to_owned());
        }
        if !risk.remedies.iter().any(|remedy| remedy.is_enough && remedy.times_answers > 1) {
            let text = "No number of further answers of the same items was found that is enough: an interval over items ends too close \
                        to its limit. More items move it away; `assize plan` says how many.";
            risk.untried.push(text.to_owned());
        }
    }
}

fn repeats(subject: &Subject, times: u32) -> String {
    let lengths = || subject.cells.iter().map(crate::audit::data::table::Cell::len);
    match (lengths().min(), lengths().max()) {
        (Some(low), Some(high)) if low == high => format!("{} answers a cell instead of {low}", low * times as usize),
        (Some(low), Some(high)) => format!("{times} times the {low} to {high} answers a cell"),
        _ => String::new(),
    }
}

/// Returns a share of redraws with its Wilson interval.
fn share(redraws: &[Rejudged], is: impl Fn(&Rejudged) -> bool) -> (f64, [f64; 2]) {
    let (n, hits) = (redraws.len() as f64, redraws.iter().filter(|one| is(one)).count() as f64);
    let interval = wilson(hits, n, 0.95).map_or([0.0, 1.0], |interval| [interval.low, interval.high]);
    (hits / n, interval)
}

fn interval_rule(now: &Rejudged, again: &[Rejudged], uncertain: &[Rejudged]) -> RuleRisk {
    let is_green = now.fitness == Fitness::Fit;
    let changes = |one: &Rejudged| (one.fitness == Fitness::Fit) != is_green;
    let (risk, risk_interval) = share(again, changes);
    let verdicts = [Fitness::Fit, Fitness::Inconclusive, Fitness::Unfit]
        .map(|fitness| share(again, |one| one.fitness == fitness).0);
    RuleRisk { is_green, risk, risk_interval, risk_with_uncertain_shares: share(uncertain, changes).0, verdicts }
}

fn point_rule(now: &Rejudged, again: &[Rejudged], uncertain: &[Rejudged]) -> RuleRisk {
    let keeps = |one: &Rejudged| !one.limits.iter().any(Tried::is_past);
    let is_green = keeps(now);
    let changes = |one: &Rejudged| keeps(one) != is_green;
    let (risk, risk_interval) = share(again, changes);
    let green = share(again, keeps).0;
    RuleRisk {
        is_green,
        risk,
        risk_interval,
        risk_with_uncertain_shares: share(uncertain, changes).0,
        verdicts: [green, 0.0, 1.0 - green],
    }
}

fn limits(now: &Rejudged, again: &[Rejudged]) -> Vec<LimitRisk> {
    let measured = now.limits.iter().enumerate().filter(|(_, limit)| limit.state != LimitState::Unmeasured);
    measured
        .map(|(idx, limit)| {
            let of = |is: &dyn Fn(&Tried) -> bool| share(again, |one| is(&one.limits[idx])).0;
            let estimates = || again.iter().map(|one| one.limits[idx].estimate).filter(|value| value.is_finite());
            let n = estimates().count() as f64;
            let mean = estimates().map(|value| (value - limit.estimate) / n).sum::<f64>();
            let squares: f64 = estimates().map(|value| (value - limit.estimate - mean).powi(2)).sum();
            LimitRisk {
                measure: limit.measure.clone(),
                side: limit.side.clone(),
                limit: limit.limit,
                estimate: limit.estimate,
                standard_error: if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 },
                state: limit.state,
                changes: of(&|tried| tried.state != limit.state),
                not_met: of(&|tried| tried.state != LimitState::Met),
                past: of(&Tried::is_past),
            }
        })
        .collect()
}

/// A limit at another value.
struct MovedLimit {
    measure: String,
    is_min: bool,
    at: f64,
}

impl MovedLimit {
    /// Returns it as people read it: `flip rate at most 12.3 %`.
    fn said(&self) -> String {
        let known = info(&self.measure);
        let title = known.map_or_else(|| self.measure.clone(), |info| info.title.to_lowercase());
        let word = if self.is_min { "at least" } else { "at most" };
        format!("{title} {word} {}", known.map_or_else(|| self.at.to_string(), |info| show(self.at, info.unit)))
    }
}

/// Returns the gate with each limit that noise reaches moved to where all are kept 95 % of the time, rounded to the loose side.
fn moved_limits(gate: &Gate, again: &[Rejudged]) -> Option<(Gate, Vec<MovedLimit>)> {
    let first = again.first()?;
    let reached: Vec<usize> = (0..first.limits.len())
        .filter(|&idx| {
            again.iter().any(|one| !matches!(one.limits[idx].state, LimitState::Met | LimitState::Unmeasured))
        })
        .collect();
    let mut moved = gate.clone();
    let mut words = Vec::new();
    for &idx in &reached {
        let limit = &first.limits[idx];
        let mut ends: Vec<f64> =
            again.iter().map(|one| one.limits[idx].worse_end).filter(|end| end.is_finite()).collect();
        // A smaller share for each of several limits, and half of it for chance among the redraws.
        let tail = (0.5 * ENOUGH / reached.len() as f64 * ends.len() as f64).floor();
        let stated = moved.limits.get_mut(&limit.measure)?;
        ends.sort_unstable_by(f64::total_cmp);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let tail = tail as usize;
        let at = if limit.side == "min" {
            let end = *ends.get(tail)?;
            let at = (end.min(limit.limit) * 1000.0).floor() / 1000.0;
            stated.min = Some(at);
            at
        } else {
            let end = *ends.get(ends.len().checked_sub(tail + 1)?)?;
            let at = (end.max(limit.limit) * 1000.0).ceil() / 1000.0;
            stated.max = Some(at);
            at
        };
        words.push(MovedLimit { measure: limit.measure.clone(), is_min: limit.side == "min", at });
    }
    (!words.is_empty()).then_some((moved, words))
}

/// Returns what a reader must know of the risk.
pub(crate) fn finding(risk: &GateRisk) -> Finding {
    let rule = &risk.interval_rule;
    let (what, advice, weight) = match (rule.is_green, rule.risk > ENOUGH) {
        (true, true) => {
            let enough = risk.remedies.iter().filter(|remedy| remedy.is_enough);
            let advice: Vec<String> =
                enough.map(|remedy| format!("{} (risk {}).", remedy.what, per_cent(remedy.risk))).collect();
            let advice =
                if advice.is_empty() { risk.untried.last().cloned().unwrap_or_default() } else { advice.join(" Or: ") };
            (
                format!(
                    "Judged again, the same items would turn this gate red {} of the time though nothing changed.",
                    per_cent(rule.risk)
                ),
                advice,
                FindingWeight::Bad,
            )
        }
        (true, false) => (
            format!(
                "Judged again, the same items would turn this gate red {} of the time: its noise hardly reaches the limits.",
                per_cent(rule.risk)
            ),
            String::new(),
            FindingWeight::Good,
        ),
        (false, true) => (
            format!(
                "The gate is not green now; judged again, the same items would turn it green {} of the time though nothing changed.",
                per_cent(rule.risk)
            ),
            "Do not ask again until it passes: judge more items (`assize plan` says how many).".to_owned(),
            FindingWeight::Note,
        ),
        (false, false) => (
            format!(
                "The gate is not green now, and {}.",
                if rule.risk > 0.0 {
                    format!("would turn green {} of the time if the same items were judged again", per_cent(rule.risk))
                } else {
                    "judging the same items again would not turn it green".to_owned()
                }
            ),
            String::new(),
            FindingWeight::Note,
        ),
    };
    Finding { what, advice, measures: Vec::new(), weight }
}
