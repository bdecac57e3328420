//! The HTML page: its structure, that it asks for nothing, that hostile text stays text, that colours can be told apart.

use std::collections::BTreeSet;

use assize_calibration::audit::catalogue::MEASURES;
use assize_calibration::audit::result::Audit;
use assize_reports::{HtmlOptions, html};

use crate::fixture;

pub(crate) fn page(audit: &Audit) -> String {
    html(audit, &HtmlOptions::default()).unwrap()
}

/// An element's start tag: its name and the text of its attributes.
struct Tag<'a> {
    name: &'a str,
    attributes: &'a str,
}

impl<'a> Tag<'a> {
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let start = self.attributes.find(&format!(" {name}=\""))? + name.len() + 3;
        self.attributes[start..].split('"').next()
    }
}

/// Returns every start tag, after asserting that tags are balanced and nested.
fn tags(page: &str) -> Vec<Tag<'_>> {
    const VOID: [&str; 3] = ["meta", "br", "hr"];
    let mut open: Vec<&str> = Vec::new();
    let mut tags = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a doctype comes first");
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("tags end");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "after {:?}", &rest[..rest.len().min(80)]);
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        tags.push(Tag { name, attributes: &tag[name.len()..] });
        if name == "style" {
            rest = rest.split_once("</style>").expect("style ends").1;
        } else if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    tags
}

fn audits() -> Vec<Audit> {
    vec![fixture::full(), fixture::many(3), fixture::degenerate(), Audit { judges: Vec::new(), ..fixture::full() }]
}

#[test]
fn page_is_well_formed_and_asks_for_nothing() {
    for audit in audits() {
        let page = page(&audit);
        for tag in tags(&page) {
            assert!(!["script", "link", "img", "iframe", "object", "base"].contains(&tag.name), "<{}>", tag.name);
            assert!(
                tag.attribute("src").is_none()
                    && !tag.attributes.contains(" onload")
                    && !tag.attributes.contains(" onerror"),
                "{}",
                tag.attributes
            );
            let target = tag.attribute("href");
            assert!(target.is_none_or(|target| target.starts_with('#')), "{target:?}");
        }
        let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
        assert!(!style.contains("url(") && !style.contains("@import"));
        assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
    }
}

#[test]
fn hostile_text_stays_text() {
    for audit in audits() {
        let page = page(&audit);
        assert!(!page.contains("<script") && !page.contains("<b>规格") && !page.contains("<i>\n"));
        let is_hidden = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
        assert!(!page.contains(is_hidden));
    }
    assert!(page(&fixture::full()).contains("&lt;script&gt;"));
}

#[test]
fn every_link_has_a_target_and_ids_are_distinct() {
    for audit in audits() {
        let page = page(&audit);
        let tags = tags(&page);
        let mut ids = BTreeSet::new();
        for id in tags.iter().filter_map(|tag| tag.attribute("id")) {
            assert!(ids.insert(id), "{id} twice");
        }
        for tag in &tags {
            for target in [tag.attribute("href"), tag.attribute("aria-labelledby")].into_iter().flatten() {
                assert!(ids.contains(target.trim_start_matches('#')), "{target}");
            }
        }
    }
}

#[test]
fn page_can_be_heard() {
    for audit in audits() {
        let page = page(&audit);
        let tags = tags(&page);
        assert_eq!(tags.iter().find(|tag| tag.name == "html").and_then(|tag| tag.attribute("lang")), Some("en"));
        assert_eq!(tags.iter().filter(|tag| tag.name == "h1").count(), 1);
        let levels: Vec<u32> =
            tags.iter().filter_map(|tag| tag.name.strip_prefix('h').and_then(|level| level.parse().ok())).collect();
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
        for tag in tags.iter().filter(|tag| tag.name == "svg") {
            let is_named = tag.attribute("role") == Some("img") && tag.attribute("aria-label").is_some();
            assert!(is_named || tag.attribute("aria-hidden").is_some(), "{}", tag.attributes);
        }
        for tag in tags.iter().filter(|tag| tag.name == "th") {
            assert!(tag.attribute("scope").is_some(), "th{}", tag.attributes);
        }
        let count = |name: &str| tags.iter().filter(|tag| tag.name == name).count();
        assert_eq!(count("table"), count("caption"));
    }
}

#[test]
fn every_measure_is_there_with_interval_method_and_explanation() {
    let audit = fixture::full();
    let page = page(&audit);
    for id in audit.judges[0].measures.keys() {
        assert!(page.contains(&format!("<code>{id}</code>")), "{id}");
        if let Some(info) = MEASURES.iter().find(|info| info.id == id) {
            assert!(page.contains(&info.title.replace('\'', "&#x27;")), "{id}");
            assert!(page.contains(&info.explanation.replace('\'', "&#x27;")), "{id}");
        }
    }
    for figure in ["31.2\u{a0}%", "[24.0, 39.1]", "0.871", "[0.830, 0.905]", "1,340", "UNFIT", "Korn–Graubard"] {
        assert!(page.contains(figure), "{figure}");
    }
}

#[test]
fn many_judges_stay_readable() {
    let page = page(&fixture::many(195));
    assert!(page.len() < 4_000_000, "{}", page.len());
    assert_eq!(tags(&page).iter().filter(|tag| tag.attribute("class") == Some("judge")).count(), 20);
    assert!(page.contains("the full figures of the other 175 are in report.json"));
    assert!(page.contains("65 unfit, 65 inconclusive, 65 fit"));
}

/// Returns the relative luminance of `#rrggbb` (WCAG 2.1).
fn luminance(colour: &str) -> f64 {
    let digits = colour.trim_start_matches('#');
    let digits = if digits.len() == 3 { digits.chars().flat_map(|c| [c, c]).collect() } else { digits.to_owned() };
    let channel = |idx: usize| {
        let value = f64::from(u8::from_str_radix(&digits[idx..idx + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

#[test]
fn colours_have_the_contrast_that_wcag_aa_asks() {
    let style = include_str!("../../templates/style.css");
    let themes: Vec<&str> =
        style.match_indices(":root {").map(|(at, _)| style[at..].split('}').next().unwrap()).collect();
    assert_eq!(themes.len(), 2);
    for theme in themes {
        let colour = |name: &str| {
            let start = theme.find(&format!("--{name}: ")).unwrap() + name.len() + 4;
            theme[start..].split(';').next().unwrap()
        };
        let contrast = |one: &str, other: &str| {
            let (one, other) = (luminance(colour(one)), luminance(colour(other)));
            (one.max(other) + 0.05) / (one.min(other) + 0.05)
        };
        for text in ["ink", "muted", "accent", "good", "bad", "open", "none"] {
            for ground in ["paper", "raised"] {
                assert!(contrast(text, ground) >= 4.5, "{text} on {ground}: {}", contrast(text, ground));
            }
        }
        for tone in ["good", "bad", "open"] {
            let wash = format!("{tone}-wash");
            assert!(contrast(tone, &wash) >= 4.5 && contrast("ink", &wash) >= 4.5 && contrast("muted", &wash) >= 4.5);
            assert!(contrast("on", tone) >= 3.0);
        }
    }
}
