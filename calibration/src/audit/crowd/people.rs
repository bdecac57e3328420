//! The judge beside people: the agreement that people reach among themselves is the ceiling, and the alternative-annotator test asks
//! whether the judge could take a person's place.
//!
//! Both leave one person out in turn and hold the judge and that person against the others. Each person counts once an item, in parts where
//! its own answers tie; the draws of the judge share an item's weight.

use smallvec::{SmallVec, smallvec};

use crate::bootstrap::BootstrapConfig;
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::raters::alternative::{Alternative, AlternativeConfig, AlternativeError, Held, alternative_annotator};

use super::commonest;
use crate::audit::AuditConfig;
use crate::audit::data::table::{Subject, Table, Unit, is};
use crate::audit::estimate::minimal_detectable;
use crate::audit::estimate::{Estimated, Measured, Values};
use crate::audit::result::{AgainstPerson, AlternativeTest};

const RATER: &[&str] = &["rater"];
/// People with fewer items are left out of the test, as in the paper.
const LEAST_ITEMS: usize = 30;
/// Resamples for the interval of the winning rate; each costs people.
pub(crate) const RESAMPLES: u32 = 500;
/// The most people listed.
const MOST_PEOPLE: usize = 100;
/// Squared distances within this share of each other are the same.
const ROUNDING: f64 = 1e-9;

/// Votes, which may be in parts, that are within this of each other tie.
const TIE: f64 = 1e-9;

/// The unit's place, the person, and what they said; of answers that tie, each.
type Given = ((u32, u32, u32), u32, f64);

/// What people said, in the order of units.
pub(crate) struct People {
    given: Vec<Given>,
}

impl People {
    /// Returns what people said, or `None` where fewer than two did.
    pub(crate) fn of(table: &Table<'_>) -> Option<Self> {
        if table.raters.len() < 2 {
            return None;
        }
        let mut given = Vec::new();
        let mut draws = Vec::new();
        for (rater, subject) in (0_u32..).zip(&table.raters) {
            for unit in &subject.units {
                draws.clear();
                draws.extend(subject.parsed_of(unit));
                let said = commonest(&mut draws);
                let said = match table.kind {
                    OutcomeKind::Score if draws.is_empty() => continue,
                    // Sorted, so that rounding does not hang on the order of draws.
                    OutcomeKind::Score => smallvec![draws.iter().sum::<f64>() / draws.len() as f64],
                    _ => said,
                };
                given.extend(said.into_iter().map(|value| (unit.place(), rater, value)));
            }
        }
        given.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        Some(Self { given })
    }

    /// Returns the judge's units with what two or more people said of them.
    fn beside<'a>(&'a self, units: &'a [Unit]) -> impl Iterator<Item = (&'a Unit, &'a [Given])> {
        let mut rest = self.given.as_slice();
        units.iter().filter_map(move |unit| {
            let place = unit.place();
            let start = rest.partition_point(|(other, _, _)| *other < place);
            let n = rest[start..].iter().take_while(|(other, _, _)| *other == place).count();
            let own = &rest[start..start + n];
            rest = &rest[start + n..];
            ballots(own).nth(1).is_some().then_some((unit, own))
        })
    }
}

/// Returns what each person said.
fn ballots(given: &[Given]) -> impl Iterator<Item = &[Given]> + Clone {
    given.chunk_by(|a, b| a.1 == b.1)
}

/// One answer, or several that tie and count in equal parts.
type Ballot = SmallVec<[f64; 1]>;

/// How often each value was given.
#[derive(Default)]
struct Votes {
    counts: Vec<(f64, f64)>,
    /// Each ballot, and how often it was given.
    ballots: Vec<(Ballot, f64)>,
}

impl Votes {
    fn of(ballots: impl Iterator<Item = Ballot>) -> Self {
        let mut votes = Self::default();
        for ballot in ballots {
            let part = 1.0 / ballot.len() as f64;
            for &value in &ballot {
                match votes.counts.iter_mut().find(|(known, _)| is(*known, value)) {
                    Some((_, n)) => *n += part,
                    None => votes.counts.push((value, part)),
                }
            }
            let is_same =
                |known: &Ballot| known.len() == ballot.len() && known.iter().zip(&ballot).all(|(a, b)| is(*a, *b));
            match votes.ballots.iter_mut().find(|(known, _)| is_same(known)) {
                Some((_, n)) => *n += 1.0,
                None => votes.ballots.push((ballot, 1.0)),
            }
        }
        votes
    }

    fn of_people(given: &[Given]) -> Self {
        Self::of(ballots(given).map(|ballot| ballot.iter().map(|one| one.2).collect()))
    }

    fn of_draws(draws: &[f64]) -> Self {
        Self::of(draws.iter().map(|draw| smallvec![*draw]))
    }

    /// Returns what a value has of the votes.
    fn count(&self, value: f64) -> f64 {
        self.counts.iter().find(|(known, _)| is(*known, value)).map_or(0.0, |(_, n)| *n)
    }

    /// Returns 1/t where `value` is one of the t commonest, the ballot `without` left out; else 0.
    fn share(&self, without: &[f64], value: f64) -> f64 {
        let left = |&(known, n): &(f64, f64)| n - part(without, known);
        let most = self.counts.iter().map(left).fold(0.0, f64::max);
        let own = self.counts.iter().find(|(known, _)| is(*known, value)).map_or(0.0, left);
        if most < TIE || own < most - TIE {
            return 0.0;
        }
        1.0 / self.counts.iter().filter(|count| left(count) >= most - TIE).count() as f64
    }

    /// Returns the mean share of a ballot, itself left out.
    fn among_themselves(&self) -> f64 {
        let n: f64 = self.ballots.iter().map(|(_, n)| n).sum();
        let own =
            |ballot: &Ballot| ballot.iter().map(|value| self.share(ballot, *value)).sum::<f64>() / ballot.len() as f64;
        self.ballots.iter().map(|(ballot, n)| n * own(ballot)).sum::<f64>() / n
    }

    /// Returns the mean share of other votes, each of these ballots left out in turn.
    fn of_others(&self, others: &Self) -> f64 {
        let (mut sum, mut n_all) = (0.0, 0.0);
        for (without, n) in &self.ballots {
            for &(value, n_others) in &others.counts {
                sum += n * n_others * self.share(without, value);
                n_all += n * n_others;
            }
        }
        sum / n_all
    }

    /// Returns how often the commonest of these is the commonest of those, ties in parts.
    fn same_mode(&self, others: &Self) -> f64 {
        self.counts.iter().map(|&(value, _)| self.share(&[], value) * others.share(&[], value)).sum()
    }
}

/// Returns the part of a ballot that is for this value.
fn part(ballot: &[f64], value: f64) -> f64 {
    if ballot.iter().any(|one| is(*one, value)) { 1.0 / ballot.len() as f64 } else { 0.0 }
}

/// Measures the judge beside people.
pub(crate) fn measure(
    table: &Table<'_>,
    people: Option<&People>,
    subject: &Subject,
    units: &[Unit],
    measured: &mut Measured,
) {
    let is_score = table.kind == OutcomeKind::Score;
    let (of_people, of_judge, of_gap) = if is_score {
        ("people_distance", "distance_to_people", "distance_gap")
    } else {
        ("people_agreement", "agreement_with_people", "agreement_gap")
    };
    let Some(people) = people else {
        measured.unmeasured(
            of_judge,
            "fewer than two people rated items, so that nobody knows how far they agree",
            RATER,
        );
        return;
    };
    let [mut among, mut with, mut gap, mut bias, mut variance] = [Values::default(); 5];
    let mut draws = Vec::new();
    for (unit, given) in people.beside(units) {
        draws.clear();
        draws.extend(subject.parsed_of(unit));
        if draws.is_empty() {
            continue;
        }
        // Sorted, so that rounding does not hang on the order of draws.
        draws.sort_unstable_by(f64::total_cmp);
        let n = ballots(given).count();
        let (person, judge) = if is_score {
            let sum: f64 = given.iter().map(|one| one.2).sum();
            let (mut person, mut judge) = (0.0, 0.0);
            for &(_, _, own) in given {
                let mean = (sum - own) / (n - 1) as f64;
                person += (own - mean).abs() / n as f64;
                judge += draws.iter().map(|draw| (draw - mean).abs()).sum::<f64>() / (n * draws.len()) as f64;
            }
            (person, judge)
        } else {
            let (votes, own) = (Votes::of_people(given), Votes::of_draws(&draws));
            if draws.len() > 1 {
                bias.push(unit, 1.0 - own.same_mode(&votes), draws.len());
                variance.push(unit, 1.0 - own.among_themselves(), draws.len());
            }
            (votes.among_themselves(), votes.of_others(&own))
        };
        among.push(unit, person, n);
        with.push(unit, judge, draws.len());
        gap.push(unit, judge - person, draws.len());
    }
    let reason = "no item was rated by two or more people and by the judge";
    if is_score {
        let any = [f64::NEG_INFINITY, f64::INFINITY];
        let width = table.trusted_width();
        let distance = |values: &Values, definition: &str| values.mean(definition, [0.0, f64::INFINITY], width);
        let ceiling = distance(&among, "|one person's score less the mean of the others|, mean over people and items");
        measured.record(of_people, ceiling, reason, RATER);
        let own =
            distance(&with, "|judge's score less the mean of all people but one|, mean over people left out and items");
        measured.record(of_judge, own, reason, RATER);
        let definition = "distance of the judge less that of a person, both to the same other people, item by item";
        measured.record(of_gap, gap.mean(definition, any, None), reason, RATER);
        return;
    }
    let ceiling =
        among.proportion("one person says what most of the others say, ties in parts, mean over people and items");
    measured.record(of_people, ceiling, reason, RATER);
    let own = with
        .proportion("the judge says what most people but one say, ties in parts, mean over people left out and items");
    measured.record(of_judge, own, reason, RATER);
    let definition = "agreement of the judge less that of a person, both with the same other people, item by item";
    measured.record(of_gap, gap.mean(definition, [-1.0, 1.0], None), reason, RATER);
    if bias.is_empty() {
        return;
    }
    let value = bias
        .proportion("commonest answer of the judge's draws is not that of people, ties in parts (AlpacaFarm's bias)");
    measured.record("bias_from_people", value, reason, RATER);
    let value = variance
        .proportion("one draw is not the commonest of the judge's other draws, ties in parts (AlpacaFarm's variance)");
    measured.record("variance_of_draws", value, reason, RATER);
}

/// Runs the alternative-annotator test. `resamples` are for the spread of the winning rate; without any it is not stated.
pub(crate) fn alternative(
    table: &Table<'_>,
    people: Option<&People>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    resamples: u32,
    measured: &mut Measured,
) -> Option<AlternativeTest> {
    const IDS: [&str; 2] = ["winning_rate", "advantage_probability"];
    let Some(people) = people else {
        for id in IDS {
            let reason = "fewer than two people rated items; the test takes three who rated 30 items or more each";
            measured.unmeasured(id, reason, RATER);
        }
        return None;
    };
    let is_score = table.kind == OutcomeKind::Score;
    let held = held(people, subject, units, is_score);
    let config = AlternativeConfig {
        epsilon: config.epsilon(),
        q: 1.0 - config.level,
        least_items: LEAST_ITEMS,
        resamples: BootstrapConfig { n_resamples: resamples, seed: config.seed ^ 0x616c_7465 },
    };
    let found = match alternative_annotator(&held, config) {
        Ok(found) => found,
        Err(error) => {
            let reason = match error {
                AlternativeError::TooFewPeople { n_people } => format!(
                    "the test takes three people who rated 30 items or more each, beside the judge and another person; {} did",
                    if n_people == 0 { "nobody".to_owned() } else { n_people.to_string() }
                ),
                error => error.to_string(),
            };
            for id in IDS {
                measured.unmeasured(id, &reason, RATER);
            }
            return None;
        }
    };
    record(&found, &held, measured);
    let name = |person: u32| table.log.raters.name(table.raters[person as usize].judge).to_owned();
    Some(AlternativeTest {
        epsilon: config.epsilon,
        false_discovery_rate: config.q,
        alignment: if is_score { "rmse" } else { "accuracy" }.to_owned(),
        passed: found.winning_rate >= 0.5,
        n_people_left_out: found.n_left_out as u64,
        people: found
            .against
            .iter()
            .take(MOST_PEOPLE)
            .map(|one| AgainstPerson {
                rater: name(one.person),
                n_items: one.n_items as u64,
                judge_advantage: one.judge,
                person_advantage: one.person_wins,
                p_value: one.p_value,
                p_adjusted: one.p_adjusted,
                minimal_detectable: minimal_detectable(one.standard_error),
                is_won: one.p_adjusted <= config.q,
            })
            .collect(),
    })
}

/// Holds judge and each person against the others, item by item.
fn held(people: &People, subject: &Subject, units: &[Unit], is_score: bool) -> Vec<Held> {
    let mut held = Vec::new();
    let mut draws = Vec::new();
    for (unit, given) in people.beside(units) {
        draws.clear();
        draws.extend(subject.parsed_of(unit));
        if draws.is_empty() {
            continue;
        }
        // From a value of the data, so that little cancels.
        let origin = given[0].2;
        let (sum, squares) = given.iter().map(|one| one.2 - origin).fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
        let others = ballots(given).count() as f64 - 1.0;
        let votes = if is_score { None } else { Some(Votes::of_people(given)) };
        for of_person in ballots(given) {
            let person = of_person[0].1;
            let said: Ballot = of_person.iter().map(|one| one.2).collect();
            // The larger the nearer: who of the others says the same, or less their squared distances, whose root and mean change no
            // order.
            let near = |value: f64| -> f64 {
                let Some(votes) = &votes else {
                    let (x, left_out) = (value - origin, said[0] - origin);
                    let (sum, squares) = (sum - left_out, squares - left_out * left_out);
                    return 2.0 * x * sum - squares - others * x * x;
                };
                votes.count(value) - part(&said, value)
            };
            let (mut judge, mut person_wins) = (0.0, 0.0);
            for (own, draw) in said.iter().flat_map(|own| draws.iter().map(move |draw| (*own, draw))) {
                let (of_person, of_judge) = (near(own), near(*draw));
                let size = (draw - origin) * (draw - origin) * others + squares;
                let slack = if is_score { ROUNDING * size } else { TIE };
                judge += f64::from(u8::from(of_judge >= of_person - slack));
                person_wins += f64::from(u8::from(of_person >= of_judge - slack));
            }
            let n = (said.len() * draws.len()) as f64;
            held.push(Held { person, cluster: unit.cluster, judge: judge / n, person_wins: person_wins / n });
        }
    }
    held
}

fn record(found: &Alternative, held: &[Held], measured: &mut Measured) {
    let n_people = found.against.len();
    let basis = |estimate: f64, spread: Spread, method: String| Estimated {
        estimate,
        spread,
        n: held.len() as u64,
        n_items: found.against.iter().map(|one| one.n_items as u64).max().unwrap_or(0),
        n_clusters: found.n_clusters as u64,
        method,
        cautions: Vec::new(),
        details: [("n_people".to_owned(), n_people as f64)].into(),
        worst: None,
    };
    let rates = &found.winning_rates;
    let quantile = |p: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position among the replicates")]
        let place = (p * rates.len().saturating_sub(1) as f64).round() as usize;
        rates.get(place).copied()
    };
    let mut value = basis(
        found.winning_rate,
        Spread::None,
        format!(
            "people against whom the judge wins / {n_people} people: one-sided t-test over clusters, Benjamini–Yekutieli (Calderon et al. 2025)"
        ),
    );
    value
        .cautions
        .push("no interval: a count of tests won; details hold the middle 95 % over resampled clusters".to_owned());
    for (name, p) in [("resampled_low", 0.025), ("resampled_high", 0.975)] {
        if let Some(end) = quantile(p) {
            value = value.detail(name, end);
        }
    }
    measured.record("winning_rate", Some(value), "", &[]);
    let method = "the judge is as near to the other people as the person left out, or nearer; mean over people; t over clusters on the logit scale, people fixed (Calderon et al. 2025)";
    measured.record(
        "advantage_probability",
        Some(basis(found.advantage, found.advantage_spread(), method.to_owned())),
        "",
        &[],
    );
}
