//! Marks of style of a text: what Markdown it is dressed in. Counts of lines and pairs of marks, not a parse of Markdown.

use std::borrow::Cow;

use assize_calibration::judgement::StyleMark;

/// How many of each mark a text has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    headings: u32,
    bold: u32,
    list_items: u32,
    code_blocks: u32,
}

impl Counts {
    fn of(text: &str) -> Self {
        let mut counts = Self::default();
        let mut in_code = false;
        for line in text.lines() {
            let line = line.trim_start();
            if line.starts_with("```") || line.starts_with("~~~") {
                in_code = !in_code;
                counts.code_blocks += u32::from(in_code);
            } else if !in_code {
                counts.headings += u32::from(is_heading(line));
                counts.list_items += u32::from(is_list_item(line));
                let n_marks = u32::try_from(line.matches("**").count()).unwrap_or(u32::MAX);
                counts.bold = counts.bold.saturating_add(n_marks / 2);
            }
        }
        counts
    }

    const fn named(self) -> [(&'static str, u32); 4] {
        let Self { headings, bold, list_items, code_blocks } = self;
        [("headings", headings), ("bold", bold), ("list_items", list_items), ("code_blocks", code_blocks)]
    }
}

/// One to six `#` and a blank.
fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with(' ')
}

/// `-`, `*`, `+`, `•`, or a number with `.` or `)`, and a blank.
fn is_list_item(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '•']) {
        return rest.starts_with(' ');
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let n_digits = line.len() - rest.len();
    (1..=3).contains(&n_digits) && rest.strip_prefix(['.', ')']).is_some_and(|rest| rest.starts_with(' '))
}

/// Returns the marks of style of both candidates' texts, or of the only one's. Empty where there is no text.
pub(super) fn marks(a: Option<&str>, b: Option<&str>) -> Vec<StyleMark<'static>> {
    let (a, b) = (a.map(|text| Counts::of(text).named()), b.map(|text| Counts::of(text).named()));
    let Some(names) = a.or(b) else { return Vec::new() };
    let count = |of: Option<[(&str, u32); 4]>, idx: usize| of.map(|counts| f64::from(counts[idx].1));
    let mark = |(idx, (name, _)): (usize, &(&'static str, u32))| StyleMark {
        name: Cow::Borrowed(name),
        a: count(a, idx),
        b: count(b, idx),
    };
    names.iter().enumerate().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_markdown_are_counted_outside_of_code() {
        let text = "# Title\n\nSome **bold** and **more**.\n- one\n* two\n1. three\n12) four\n#hash\n-no\n```\n# code\n- x\n```\n3.5 is no item";
        let counts = Counts::of(text);
        assert_eq!(counts, Counts { headings: 1, bold: 2, list_items: 4, code_blocks: 1 });
        assert_eq!(Counts::of(""), Counts::default());
        assert_eq!(Counts::of("####### seven\n**\n```"), Counts { code_blocks: 1, ..Counts::default() });
    }

    #[test]
    fn both_candidates_have_every_mark() {
        let marks = marks(Some("# a"), Some("plain"));
        assert_eq!(marks.len(), 4);
        assert_eq!((marks[0].a, marks[0].b), (Some(1.0), Some(0.0)));
        assert!(super::marks(None, None).is_empty());
    }
}
