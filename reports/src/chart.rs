//! Charts, drawn by plotters as SVG and then made to follow the page: colours become CSS variables, fonts are inherited.
//!
//! Charts hold no names and no model text: those stand beside them as HTML, where they wrap and can be selected.
//! Drawing is done on a canvas ten times the size shown, since the backend knows whole pixels only.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::RenderError;

/// Canvas units a CSS pixel.
const SCALE: u32 = 10;
/// Font size of ticks in CSS pixels.
const FONT_PX: f64 = 11.0;
/// Plotters divides the size of SVG text by this.
const FONT_FACTOR: f64 = 1.24;

const INK: RGBColor = RGBColor(1, 1, 1);
const MUTED: RGBColor = RGBColor(2, 2, 2);
const GRID: RGBColor = RGBColor(3, 3, 3);
const ACCENT: RGBColor = RGBColor(4, 4, 4);
const BAND: RGBColor = RGBColor(5, 5, 5);
const SECOND: RGBColor = RGBColor(6, 6, 6);
const SECOND_BAND: RGBColor = RGBColor(7, 7, 7);
const ZONE: RGBColor = RGBColor(8, 8, 8);
const PAPER: RGBColor = RGBColor(9, 9, 9);

/// What each stand-in colour becomes.
const VARIABLES: [(&str, &str); 9] = [
    ("\"#010101\"", "\"var(--ink)\""),
    ("\"#020202\"", "\"var(--muted)\""),
    ("\"#030303\"", "\"var(--grid)\""),
    ("\"#040404\"", "\"var(--accent)\""),
    ("\"#050505\"", "\"var(--band)\""),
    ("\"#060606\"", "\"var(--second)\""),
    ("\"#070707\"", "\"var(--second-band)\""),
    ("\"#080808\"", "\"var(--zone)\""),
    ("\"#090909\"", "\"var(--paper)\""),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plane<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

#[expect(clippy::needless_pass_by_value, reason = "map_err hands the error itself")]
fn failed<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> RenderError {
    RenderError::Chart(error.to_string())
}

/// Draws on a canvas of so many CSS pixels and returns an SVG for use inside HTML. `label` says in words what it shows.
fn svg(
    size: (u32, u32),
    class: &str,
    label: &str,
    draw: impl FnOnce(&Area<'_>) -> Result<(), RenderError>,
) -> Result<String, RenderError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (size.0 * SCALE, size.1 * SCALE)).into_drawing_area();
        draw(&area)?;
        area.present().map_err(failed)?;
    }
    Ok(restyled(&text, size, class, label))
}

/// Gives the SVG the page's colours and font, and a text equivalent in place of its fixed size.
fn restyled(text: &str, size: (u32, u32), class: &str, label: &str) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let mut body = body.replace(" font-family=\"sans-serif\"", "").replace(" opacity=\"1\"", "");
    for (colour, variable) in VARIABLES {
        body = body.replace(colour, variable);
    }
    let body: String = body.lines().map(str::trim).collect();
    let label = label.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let (width, height) = (size.0 * SCALE, size.1 * SCALE);
    format!("<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{body}")
}

/// Room around a plot for its ticks and title, CSS pixels.
const PLOT_LEFT: u32 = 44;
const PLOT_RIGHT: u32 = 14;
const PLOT_TOP: u32 = 10;
const PLOT_BOTTOM: u32 = 42;

/// Returns a position on the canvas.
fn units(pixels: u32) -> i32 {
    i32::try_from(pixels * SCALE).expect("charts are a few hundred pixels")
}

fn px(pixels: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are small and positive")]
    let units = (pixels * f64::from(SCALE)).round() as u32;
    units
}

fn text_style(pixels: f64, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", pixels * f64::from(SCALE) * FONT_FACTOR).into_font().color(&colour)
}

/// A range of values and the ticks on it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Left end.
    pub(crate) from: f64,
    /// Right end.
    pub(crate) to: f64,
    /// Ticks, ascending, within the ends.
    pub(crate) ticks: Vec<f64>,
}

impl Scale {
    /// Returns a scale of round numbers that holds `low..=high`, with about `n_ticks` steps. A range that is empty or
    /// not finite becomes 0..1.
    #[must_use]
    pub(crate) fn holding(low: f64, high: f64, n_ticks: u32) -> Self {
        let (low, high) = if low.is_finite() && high.is_finite() { (low.min(high), low.max(high)) } else { (0.0, 1.0) };
        let (low, high) = if high - low < 1e-12 { (low - 0.5, low + 0.5) } else { (low, high) };
        let raw = (high - low) / f64::from(n_ticks.max(1));
        let power = 10_f64.powf(raw.log10().floor());
        let step =
            power * [1.0, 2.0, 2.5, 5.0].into_iter().find(|&factor| factor * power >= raw * 0.999_999).unwrap_or(10.0);
        let first = (low / step + 1e-9).floor();
        let last = (high / step - 1e-9).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful of ticks")]
        let n_steps = (last - first).round() as u32;
        let ticks = (0..=n_steps).map(|idx| (first + f64::from(idx)) * step).collect();
        Self { from: first * step, to: last * step, ticks }
    }

    /// Returns the scale from 0 to 1, in quarters.
    #[must_use]
    pub(crate) fn unit() -> Self {
        Self { from: 0.0, to: 1.0, ticks: vec![0.0, 0.25, 0.5, 0.75, 1.0] }
    }

    const fn range(&self) -> Range<f64> {
        self.from..self.to
    }

    const fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.from, self.to)
    }
}

/// Width of a strip, CSS pixels.
const STRIP_WIDTH: u32 = 240;
/// Height of a strip, CSS pixels.
const STRIP_HEIGHT: u32 = 30;
/// Room left and right of a strip's scale, so that marks and tick labels at its ends are whole.
const STRIP_MARGIN: u32 = 16;

fn strip_plane<'a>(area: &Area<'a>, scale: &Scale, height: u32) -> Plane<'a> {
    let x = units(STRIP_MARGIN)..units(STRIP_WIDTH - STRIP_MARGIN);
    let y = 0..units(height);
    area.apply_coord_spec(Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(scale.range(), 0.0..1.0, (x, y)))
}

/// Which side of a limit is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Values of at least the limit.
    AtLeast,
    /// Values of at most the limit.
    AtMost,
}

/// One row of a forest: an estimate, its interval, and what it is held against.
#[derive(Clone, Debug)]
pub(crate) struct Strip<'a> {
    /// The scale, shared by the rows of one forest.
    pub(crate) scale: &'a Scale,
    /// The point.
    pub(crate) estimate: f64,
    /// The interval, if there is one.
    pub(crate) interval: Option<(f64, f64)>,
    /// Limits of the gate on it; the allowed side is shaded.
    pub(crate) limits: &'a [(f64, Side)],
    /// Where a difference does not matter; shaded.
    pub(crate) margin: Option<(f64, f64)>,
    /// A value to compare with, such as 0 for a difference.
    pub(crate) reference: Option<f64>,
}

/// Draws one row of a forest chart, without text.
///
/// # Errors
/// [`RenderError::Chart`] when the drawing library fails, which it does not when writing to memory.
pub(crate) fn strip(strip: &Strip<'_>, label: &str) -> Result<String, RenderError> {
    svg((STRIP_WIDTH, STRIP_HEIGHT), "strip", label, |area| {
        let plane = strip_plane(area, strip.scale, STRIP_HEIGHT);
        let vertical = |x: f64, colour: RGBColor, width: f64| {
            plane.draw(&PathElement::new(vec![(x, 0.0), (x, 1.0)], colour.stroke_width(px(width)))).map_err(failed)
        };
        for &(limit, side) in strip.limits {
            let limit = strip.scale.clamp(limit);
            let (from, to) = if side == Side::AtLeast { (limit, strip.scale.to) } else { (strip.scale.from, limit) };
            plane.draw(&Rectangle::new([(from, 0.0), (to, 1.0)], ZONE.filled())).map_err(failed)?;
        }
        if let Some((low, high)) = strip.margin {
            let (low, high) = (strip.scale.clamp(low), strip.scale.clamp(high));
            plane.draw(&Rectangle::new([(low, 0.0), (high, 1.0)], ZONE.filled())).map_err(failed)?;
        }
        for &tick in &strip.scale.ticks {
            vertical(tick, GRID, 1.0)?;
        }
        if let Some(reference) = strip.reference {
            vertical(strip.scale.clamp(reference), MUTED, 1.0)?;
        }
        for &(limit, _) in strip.limits {
            vertical(strip.scale.clamp(limit), INK, 1.6)?;
        }
        if !strip.estimate.is_finite() {
            return Ok(());
        }
        if let Some((low, high)) = strip.interval {
            let (low, high) = (strip.scale.clamp(low), strip.scale.clamp(high));
            let line = vec![(low, 0.5), (high, 0.5)];
            plane.draw(&PathElement::new(line, ACCENT.stroke_width(px(2.4)))).map_err(failed)?;
            for end in [low, high] {
                let cap = vec![(end, 0.36), (end, 0.64)];
                plane.draw(&PathElement::new(cap, ACCENT.stroke_width(px(1.6)))).map_err(failed)?;
            }
        }
        let point = (strip.scale.clamp(strip.estimate), 0.5);
        plane.draw(&Circle::new(point, px(4.0), ACCENT.filled())).map_err(failed)?;
        if strip.interval.is_none() {
            plane.draw(&Circle::new(point, px(2.2), PAPER.filled())).map_err(failed)?;
        }
        Ok(())
    })
}

/// Draws the scale that belongs to the rows of a forest.
///
/// # Errors
/// As [`strip`].
pub(crate) fn axis(scale: &Scale, tick: impl Fn(f64) -> String, label: &str) -> Result<String, RenderError> {
    const HEIGHT: u32 = 20;
    svg((STRIP_WIDTH, HEIGHT), "strip axis", label, |area| {
        let plane = strip_plane(area, scale, HEIGHT);
        let style = text_style(FONT_PX, MUTED).pos(Pos::new(HPos::Center, VPos::Center));
        for &value in &scale.ticks {
            plane.draw(&Text::new(tick(value), (value, 0.55), style.clone())).map_err(failed)?;
        }
        Ok(())
    })
}

/// Draws a bar for a share of the largest one.
///
/// # Errors
/// As [`strip`].
pub(crate) fn bar(share_of_longest: f64, label: &str) -> Result<String, RenderError> {
    const HEIGHT: u32 = 16;
    let scale = Scale::unit();
    svg((STRIP_WIDTH, HEIGHT), "strip", label, |area| {
        let pixels = (0..units(STRIP_WIDTH), 0..units(HEIGHT));
        let plane =
            area.apply_coord_spec(Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(scale.range(), 0.0..1.0, pixels));
        let length = if share_of_longest.is_finite() { scale.clamp(share_of_longest) } else { 0.0 };
        plane.draw(&Rectangle::new([(0.0, 0.1), (1.0, 0.9)], GRID.filled())).map_err(failed)?;
        plane.draw(&Rectangle::new([(0.0, 0.1), (length, 0.9)], ACCENT.filled())).map_err(failed)
    })
}

/// x, estimate, and its interval if there is one.
pub(crate) type LinePoint = (f64, f64, Option<(f64, f64)>);

/// One line of a [`lines`] chart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// The points, in the order in which they are joined.
    pub(crate) points: Vec<LinePoint>,
}

/// A chart of up to two lines with their intervals; the second is dashed.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    /// The lines, at most two.
    pub(crate) curves: &'a [Line],
    /// The scale of x.
    pub(crate) x: Scale,
    /// The scale of y.
    pub(crate) y: Scale,
    /// A vertical line.
    pub(crate) mark_x: Option<f64>,
    /// A horizontal line.
    pub(crate) mark_y: Option<f64>,
    /// Draw the diagonal of chance.
    pub(crate) diagonal: bool,
    /// What x is.
    pub(crate) x_title: &'a str,
    /// Size in CSS pixels.
    pub(crate) size: (u32, u32),
}

/// Draws lines with bands.
///
/// # Errors
/// As [`strip`].
pub(crate) fn lines(
    chart: &Lines<'_>,
    x_tick: &dyn Fn(f64) -> String,
    y_tick: &dyn Fn(f64) -> String,
    label: &str,
) -> Result<String, RenderError> {
    svg(chart.size, "plot", label, |area| lines_on(area, chart, x_tick, y_tick).map(drop))
}

/// Draws a chart on an area, and returns the plane of its values.
fn lines_on<'a>(
    area: &Area<'a>,
    chart: &Lines<'_>,
    x_tick: &dyn Fn(f64) -> String,
    y_tick: &dyn Fn(f64) -> String,
) -> Result<Plane<'a>, RenderError> {
    let (width, height) = chart.size;
    let plane = area.apply_coord_spec(Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
        chart.x.range(),
        chart.y.range(),
        (units(PLOT_LEFT)..units(width - PLOT_RIGHT), units(height - PLOT_BOTTOM)..units(PLOT_TOP)),
    ));
    let path =
        |points: Vec<(f64, f64)>, style: ShapeStyle| plane.draw(&PathElement::new(points, style)).map_err(failed);
    // The library chooses ticks of its own; here the scale has, so they are drawn one by one.
    let style = text_style(FONT_PX, MUTED);
    for &tick in &chart.y.ticks {
        path(vec![(chart.x.from, tick), (chart.x.to, tick)], GRID.stroke_width(px(1.0)))?;
        let style = style.clone().pos(Pos::new(HPos::Right, VPos::Center));
        let text = Text::new(y_tick(tick), (units(0) - units(8), 0), style);
        plane.draw(&(EmptyElement::at((chart.x.from, tick)) + text)).map_err(failed)?;
    }
    for &tick in &chart.x.ticks {
        let style = style.clone().pos(Pos::new(HPos::Center, VPos::Top));
        let text = Text::new(x_tick(tick), (0, units(8)), style);
        plane.draw(&(EmptyElement::at((tick, chart.y.from)) + text)).map_err(failed)?;
    }
    let middle = (f64::midpoint(chart.x.from, chart.x.to), chart.y.from);
    let title = Text::new(chart.x_title.to_owned(), (0, units(26)), style.pos(Pos::new(HPos::Center, VPos::Top)));
    plane.draw(&(EmptyElement::at(middle) + title)).map_err(failed)?;
    let clamp = |x: f64, y: f64| (chart.x.clamp(x), chart.y.clamp(y));
    let look = |idx: usize| if idx == 0 { (ACCENT, BAND) } else { (SECOND, SECOND_BAND) };
    for (idx, line) in chart.curves.iter().enumerate() {
        let banded: Vec<_> = line.points.iter().filter_map(|&(x, _, band)| Some((x, band?))).collect();
        let outline: Vec<_> = banded
            .iter()
            .map(|&(x, (_, high))| clamp(x, high))
            .chain(banded.iter().rev().map(|&(x, (low, _))| clamp(x, low)))
            .collect();
        if banded.len() > 1 {
            plane.draw(&Polygon::new(outline, look(idx).1.filled())).map_err(failed)?;
        }
    }
    let thin = MUTED.stroke_width(px(1.0));
    if chart.diagonal {
        path(vec![(chart.x.from, chart.y.from), (chart.x.to, chart.y.to)], thin)?;
    }
    if let Some(x) = chart.mark_x {
        path(vec![clamp(x, chart.y.from), clamp(x, chart.y.to)], thin)?;
    }
    if let Some(y) = chart.mark_y {
        path(vec![clamp(chart.x.from, y), clamp(chart.x.to, y)], thin)?;
    }
    for (idx, line) in chart.curves.iter().enumerate() {
        let points: Vec<_> = line.points.iter().map(|&(x, y, _)| clamp(x, y)).collect();
        let stroke = look(idx).0.stroke_width(px(2.0));
        if idx == 0 {
            path(points.clone(), stroke)?;
        } else {
            let dashed = DashedPathElement::new(points.iter().copied(), px(6.0), px(4.0), stroke);
            plane.draw(&dashed).map_err(failed)?;
        }
        // Dots show where there are figures; among many they would hide the line.
        if points.len() <= 24 {
            for point in points {
                plane.draw(&Circle::new(point, px(3.2), look(idx).0.filled())).map_err(failed)?;
            }
        }
    }
    Ok(plane)
}

/// Several curves on one plane, each marked by a word of a few letters on it.
#[derive(Clone, Debug)]
pub(crate) struct Curves<'a> {
    /// Points and mark, one a curve. Marks are set at different points, so that curves that coincide can be told apart.
    pub(crate) marked: &'a [(Vec<(f64, f64)>, String)],
    /// The curve drawn strong.
    pub(crate) strong: Option<usize>,
    /// The scale of x.
    pub(crate) x: Scale,
    /// The scale of y.
    pub(crate) y: Scale,
    /// A vertical line.
    pub(crate) mark_x: Option<f64>,
    /// A horizontal line.
    pub(crate) mark_y: Option<f64>,
    /// What x is.
    pub(crate) x_title: &'a str,
    /// Size in CSS pixels.
    pub(crate) size: (u32, u32),
}

/// Draws curves told apart by marks on them, not by colour.
///
/// # Errors
/// As [`strip`].
pub(crate) fn curves(
    chart: &Curves<'_>,
    x_tick: &dyn Fn(f64) -> String,
    y_tick: &dyn Fn(f64) -> String,
    label: &str,
) -> Result<String, RenderError> {
    // Frame, ticks and lines across are those of a chart without a curve.
    let frame = Lines {
        curves: &[],
        x: chart.x.clone(),
        y: chart.y.clone(),
        mark_x: chart.mark_x,
        mark_y: chart.mark_y,
        diagonal: false,
        x_title: chart.x_title,
        size: chart.size,
    };
    svg(chart.size, "plot", label, |area| {
        let plane = lines_on(area, &frame, x_tick, y_tick)?;
        let clamp = |&(x, y): &(f64, f64)| (chart.x.clamp(x), chart.y.clamp(y));
        for (idx, (points, _)) in chart.marked.iter().enumerate() {
            let is_strong = chart.strong == Some(idx);
            let (colour, width) = if is_strong { (ACCENT, 2.6) } else { (MUTED, 1.3) };
            let path = PathElement::new(points.iter().map(clamp).collect::<Vec<_>>(), colour.stroke_width(px(width)));
            plane.draw(&path).map_err(failed)?;
        }
        for (idx, (points, mark)) in chart.marked.iter().enumerate() {
            let Some(point) = points.get((1 + idx) % points.len().max(1)) else { continue };
            plane.draw(&Circle::new(clamp(point), px(8.0), PAPER.filled())).map_err(failed)?;
            let colour = if chart.strong == Some(idx) { ACCENT } else { INK };
            let style = text_style(FONT_PX, colour).pos(Pos::new(HPos::Center, VPos::Center));
            plane.draw(&Text::new(mark.clone(), clamp(point), style)).map_err(failed)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round_and_hold_the_range() {
        let scale = Scale::holding(0.013, 0.187, 4);
        assert_eq!(scale.ticks.len(), 5, "{scale:?}");
        assert!(scale.from <= 0.013 && scale.to >= 0.187);
        let degenerate = Scale::holding(f64::NAN, 1.0, 4);
        assert!(degenerate.from.abs() < 1e-12 && (degenerate.to - 1.0).abs() < 1e-12);
        assert!(Scale::holding(3.0, 3.0, 4).to > 3.0);
    }

    #[test]
    fn a_chart_has_a_text_equivalent_and_no_fixed_colour_or_font() {
        let scale = Scale::unit();
        let row = Strip {
            scale: &scale,
            estimate: 0.2,
            interval: Some((0.1, 0.3)),
            limits: &[(0.25, Side::AtMost)],
            margin: None,
            reference: None,
        };
        let drawn = strip(&row, "20 % <b>").expect("memory does not fail");
        assert!(drawn.starts_with("<svg class=\"strip\"") && drawn.ends_with("</svg>"), "{drawn}");
        assert!(drawn.contains("aria-label=\"20 % &lt;b&gt;\""));
        assert!(!drawn.contains('#') && !drawn.contains("font-family") && !drawn.contains("http"), "{drawn}");
    }
}
