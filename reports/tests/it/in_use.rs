//! Confidences, costs and pass rates of the audit made by hand.

use assize_calibration::audit::result::{
    CorrectedPassRate, CostedThreshold, ProbabilityScores, RecalibrationAudit, RecalibrationMap, Reliability,
    ReliabilityCurve, ReliabilityPoint, ThresholdCosts,
};

use super::{HOSTILE, measure};

pub(super) fn costs() -> ThresholdCosts {
    let costed = |threshold, cost: f64| CostedThreshold {
        threshold,
        expected_cost: measure(cost, cost - 0.05, cost + 0.06),
        cross_validated: Some(measure(cost + 0.02, cost - 0.04, cost + 0.09)),
    };
    ThresholdCosts {
        costs: [5.0, 1.0],
        base_rate: 0.6,
        by_threshold: (0..10).map(|idx| 2.0 - 0.15 * f64::from(idx)).collect(),
        cheapest: costed(Some(10.0), 0.31),
        by_cap: costed(None, 0.6),
        without_looking: [2.0, 0.6],
    }
}

fn curve(binning: &str, bend: f64) -> ReliabilityCurve {
    let bins = (0..10)
        .map(|idx| {
            let stated = (f64::from(idx) + 0.5) / 10.0;
            let came = 0.5 + (stated - 0.5) * bend;
            ReliabilityPoint {
                low: stated - 0.04,
                high: stated + 0.04,
                mean_confidence: stated,
                event_rate: measure(came, (came - 0.08).max(0.0), (came + 0.08).min(1.0)),
                share: 0.1,
            }
        })
        .collect();
    ReliabilityCurve {
        binning: binning.to_owned(),
        n_bins: 10,
        bins,
        ece: 0.25 * (1.0 - bend),
        ece_of_perfect: 0.06,
        ece_of_perfect_upper: 0.09,
        perfect_by: "200 draws of outcomes from the probabilities".to_owned(),
        ece_debiased: 0.2 * (1.0 - bend),
        squared_debiased: 0.01,
        maximum: 0.3,
        reliability: 0.02,
        resolution: 0.05,
        uncertainty: 0.24,
        within_bins: 0.001,
    }
}

fn scores(bend: f64, is_certain: bool) -> ProbabilityScores {
    ProbabilityScores {
        brier_score: measure(0.21, 0.19, 0.23),
        log_loss: (!is_certain).then(|| measure(0.61, 0.55, 0.68)),
        curves: vec![curve("bins of equal width", bend), curve("bins of equal mass", bend)],
    }
}

pub(super) fn reliability() -> Vec<Reliability> {
    let recalibrated = |method: &str, map| RecalibrationAudit {
        method: method.to_owned(),
        folds: 5,
        scores: scores(0.95, false),
        brier_gain: Some(measure(0.021, 0.008, 0.034)),
        map,
    };
    let confidence = Reliability {
        of: "confidence".to_owned(),
        event: "the item is good".to_owned(),
        n_left_out: 0,
        event_share: 0.6,
        n_values: 91,
        is_grouped: false,
        as_stated: Some(scores(0.5, true)),
        recalibrations: vec![
            recalibrated("isotonic", RecalibrationMap::Isotonic(vec![[0.1, 0.25], [0.55, 0.5], [0.9, 0.75]])),
            recalibrated("platt", RecalibrationMap::Platt([2.5, -1.25])),
        ],
    };
    let score = Reliability {
        of: "score".to_owned(),
        event: HOSTILE.to_owned(),
        as_stated: None,
        recalibrations: confidence
            .recalibrations
            .iter()
            .map(|audit| RecalibrationAudit { brier_gain: None, ..audit.clone() })
            .collect(),
        ..confidence.clone()
    };
    vec![confidence, score]
}

/// What an audit of no use holds.
pub(super) fn nothing() -> Vec<Reliability> {
    let empty = ReliabilityCurve { bins: Vec::new(), ece: f64::NAN, ..curve("bins of equal width", 1.0) };
    let scores = ProbabilityScores { log_loss: None, curves: vec![empty], ..scores(1.0, true) };
    vec![Reliability { as_stated: Some(scores), recalibrations: Vec::new(), ..reliability().remove(0) }]
}

pub(super) fn pass_rate() -> CorrectedPassRate {
    CorrectedPassRate {
        label_sampling: "unknown".to_owned(),
        pass_rate: measure(0.6, 0.569, 0.63),
        true_accept_rate: measure(0.9, 0.824, 0.951),
        true_reject_rate: measure(0.8, 0.663, 0.9),
        youden: 0.7,
        youden_low: 0.56,
        is_identified: true,
        raw: Some(0.571),
        lang_reiczigel: [0.467, 0.661],
        sharing: 1.0,
    }
}
