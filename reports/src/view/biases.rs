//! What sways a judge: the effects looked for, corrected together, and its errors by who made the items.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{BiasTest, GeneratorErrors, JudgeAudit, Measure};
use serde::Serialize;

use super::{Cell, Mark};
use crate::{format, text, words};

/// The effects looked for, and errors by generator.
#[derive(Serialize)]
pub(crate) struct BiasesView {
    says: Option<String>,
    effects: Vec<EffectRow>,
    generators: Vec<GeneratorRow>,
}

#[derive(Serialize)]
struct EffectRow {
    title: String,
    cell: Cell,
    smallest: Option<String>,
    p_value: Option<String>,
    p_holm: Option<String>,
    p_permutation: Option<String>,
    mark: Mark,
}

#[derive(Serialize)]
struct GeneratorRow {
    generator: String,
    is_own: bool,
    n_items: String,
    cells: Vec<Option<Cell>>,
}

pub(super) fn biases(judge: &JudgeAudit) -> BiasesView {
    let tests = judge.biases.as_ref();
    let says = tests.map(|biases| match biases.n_looked_for {
        1 => "One effect was looked for.".to_owned(),
        n => format!(
            "{n} effects were looked for. One is called found only once all are counted ({}’s correction).",
            text::visible(&biases.correction)
        ),
    });
    let of_test = |test: &BiasTest| judge.measures.get(&test.measure).map(|measure| effect(test, measure));
    BiasesView {
        says,
        effects: tests.iter().flat_map(|biases| &biases.tests).filter_map(of_test).collect(),
        generators: judge.by_generator.iter().map(generator).collect(),
    }
}

fn effect(test: &BiasTest, measure: &Measure) -> EffectRow {
    let unit = format::unit(&test.measure);
    let smallest = |size: f64| match unit {
        // No difference of shares is larger.
        Unit::Share if size > 1.0 => "none".to_owned(),
        Unit::Share => format::value(size, unit).replace('%', "pp"),
        _ => format::value(size, unit),
    };
    let mark = if test.is_found {
        Mark { class: "bad", word: "found" }
    } else if test.p_holm.is_some() {
        Mark { class: "open", word: "not found" }
    } else {
        Mark { class: "none", word: "not tested" }
    };
    EffectRow {
        title: text::visible(format::title(&test.measure)),
        // A preference is a share; the others are differences.
        cell: if test.measure == "first_position_preference" {
            Cell::new(measure, unit)
        } else {
            Cell::difference(measure, unit)
        },
        smallest: test.minimal_detectable.map(smallest),
        p_value: test.p_value.map(format::p_value),
        p_holm: test.p_holm.map(format::p_value),
        p_permutation: test.p_permutation.map(format::p_value),
        mark,
    }
}

fn generator(errors: &GeneratorErrors) -> GeneratorRow {
    let cell = |measure: Option<&Measure>| measure.map(|measure| Cell::new(measure, Unit::Share));
    GeneratorRow {
        generator: words::name(&errors.generator),
        is_own: errors.is_own,
        n_items: format::count(errors.accuracy.n_items),
        cells: vec![
            cell(Some(&errors.accuracy)),
            cell(errors.false_accept_rate.as_ref()),
            cell(errors.false_reject_rate.as_ref()),
        ],
    }
}
