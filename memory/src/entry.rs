//! An experience that may be stored: complete, of bounded size, without keys, and known by the digest of its content.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::experience::Experience;
use crate::secrets::{SecretKind, redact};

/// Longest text, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// Longest name (dimension, task family, loop, model, tag), in bytes.
pub const MAX_NAME_BYTES: usize = 512;
/// Most tags of one experience.
pub const MAX_TAGS: usize = 64;

/// Why an experience cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExperienceError {
    /// A part that must be there says nothing.
    #[error("`{field}` is blank; say something or leave it out where it is optional")]
    Blank {
        /// Which part.
        field: &'static str,
    },
    /// A part is too long.
    #[error("`{field}` has {n_bytes} bytes; at most {limit} are kept: cut it to what matters")]
    TooLong {
        /// Which part.
        field: &'static str,
        /// How long it is.
        n_bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// A name has characters that cannot be seen.
    #[error("`{field}` holds a control character; names are one line of text")]
    Control {
        /// Which part.
        field: &'static str,
    },
    /// A score is infinite or not a number.
    #[error("`{field}` is not a finite number")]
    NotFinite {
        /// Which part.
        field: &'static str,
    },
    /// There are too many tags.
    #[error("there are {n_tags} tags; at most {MAX_TAGS} are kept")]
    TooManyTags {
        /// How many.
        n_tags: usize,
    },
}

/// The BLAKE3 digest of an experience's content, written as 64 hexadecimal digits.
///
/// The content is the issue, the fix, the texts, the evidence and the origin. Time, trust and tags say something about
/// the content and are not part of it: the same thing met again on another day is the same experience.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of the content of `experience`.
    fn of(experience: &Experience) -> Self {
        let mut hasher = blake3::Hasher::new();
        // Every part is named and measured, so that no two contents are the same bytes; an absent part is left out, so
        // that parts added in later versions leave earlier digests as they are.
        let mut part = |name: &str, value: Option<&[u8]>| {
            let Some(value) = value else { return };
            for bytes in [name.as_bytes(), value] {
                hasher.update(&(bytes.len() as u64).to_le_bytes());
                hasher.update(bytes);
            }
        };
        let Experience { issue, fix, before, after, evidence, origin, time: _, trust: _, tags: _ } = experience;
        part("issue.dimension", Some(issue.dimension.as_bytes()));
        part("issue.location", issue.location.as_deref().map(str::as_bytes));
        part("issue.severity", Some(issue.severity.word().as_bytes()));
        part("issue.description", Some(issue.description.as_bytes()));
        part("issue.suggestion", issue.suggestion.as_deref().map(str::as_bytes));
        part("fix", Some(fix.as_bytes()));
        part("before", before.as_deref().map(str::as_bytes));
        part("after", after.as_deref().map(str::as_bytes));
        part("evidence.text", evidence.text.as_deref().map(str::as_bytes));
        part("evidence.score_before", evidence.score_before.map(f64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice));
        part("evidence.score_after", evidence.score_after.map(f64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice));
        part("origin.task", Some(origin.task.as_bytes()));
        part("origin.task_family", origin.task_family.as_deref().map(str::as_bytes));
        part("origin.loop_id", origin.loop_id.as_deref().map(str::as_bytes));
        part("origin.round", origin.round.map(u32::to_le_bytes).as_ref().map(<[u8; 4]>::as_slice));
        part("origin.model", origin.model.as_deref().map(str::as_bytes));
        Self(hasher.finalize().into())
    }

    /// Reads 64 hexadecimal digits in lower case; `None` for anything else.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let hash = blake3::Hash::from_hex(text).ok()?;
        Some(Self(hash.into())).filter(|digest| digest.to_string() == text)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A key that was taken out of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Which part.
    pub field: &'static str,
    /// What it was.
    pub kind: SecretKind,
}

impl fmt::Display for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` held what looks like a secret ({}); it was taken out", self.field, self.kind)
    }
}

impl Serialize for Redaction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut object = serializer.serialize_struct("Redaction", 2)?;
        object.serialize_field("field", self.field)?;
        object.serialize_field("kind", &self.kind.to_string())?;
        object.end()
    }
}

/// An experience that may be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    experience: Experience,
    digest: Digest,
    redactions: Vec<Redaction>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Any text.
    Text,
    /// A line that is compared.
    Name,
}

impl Entry {
    /// Checks an experience, takes keys out of its texts, and computes its digest. Nothing else of the texts is changed.
    ///
    /// # Errors
    /// Refuses blank parts, texts over [`MAX_TEXT_BYTES`], names over [`MAX_NAME_BYTES`] or with control characters, more
    /// than [`MAX_TAGS`] tags, and scores that are not finite.
    pub fn new(mut experience: Experience) -> Result<Self, ExperienceError> {
        let mut redactions = Vec::new();
        let Experience { issue, fix, before, after, evidence, origin, tags, time: _, trust: _ } = &mut experience;
        let parts = [
            ("issue.dimension", Some(&mut issue.dimension), Part::Name),
            ("issue.location", issue.location.as_mut(), Part::Text),
            ("issue.description", Some(&mut issue.description), Part::Text),
            ("issue.suggestion", issue.suggestion.as_mut(), Part::Text),
            ("fix", Some(fix), Part::Text),
            ("evidence.text", evidence.text.as_mut(), Part::Text),
            ("origin.task", Some(&mut origin.task), Part::Text),
            ("origin.task_family", origin.task_family.as_mut(), Part::Name),
            ("origin.loop_id", origin.loop_id.as_mut(), Part::Name),
            ("origin.model", origin.model.as_mut(), Part::Name),
        ];
        for (field, text, part) in parts {
            let Some(text) = text else { continue };
            check_not_blank(field, text)?;
            clean(field, text, part, &mut redactions)?;
        }
        // What was rewritten may have been, or become, nothing at all.
        for (field, text) in [("before", before.as_mut()), ("after", after.as_mut())] {
            let Some(text) = text else { continue };
            clean(field, text, Part::Text, &mut redactions)?;
        }
        if tags.len() > MAX_TAGS {
            return Err(ExperienceError::TooManyTags { n_tags: tags.len() });
        }
        *tags = std::mem::take(tags)
            .into_iter()
            .map(|mut tag| {
                check_not_blank("tags", &tag)?;
                clean("tags", &mut tag, Part::Name, &mut redactions)?;
                Ok(tag)
            })
            .collect::<Result<BTreeSet<_>, _>>()?;
        let scores = [
            ("evidence.score_before", evidence.score_before.as_mut()),
            ("evidence.score_after", evidence.score_after.as_mut()),
        ];
        for (field, score) in scores {
            let Some(score) = score else { continue };
            if !score.is_finite() {
                return Err(ExperienceError::NotFinite { field });
            }
            // There is one zero.
            *score += 0.0;
        }
        let digest = Digest::of(&experience);
        Ok(Self { experience, digest, redactions })
    }

    /// Returns what is stored.
    pub const fn experience(&self) -> &Experience {
        &self.experience
    }

    /// Returns the digest of the content, keys taken out.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns which keys were taken out.
    pub fn redactions(&self) -> &[Redaction] {
        &self.redactions
    }
}

fn check_not_blank(field: &'static str, text: &str) -> Result<(), ExperienceError> {
    if text.trim().is_empty() { Err(ExperienceError::Blank { field }) } else { Ok(()) }
}

fn clean(
    field: &'static str,
    text: &mut String,
    part: Part,
    redactions: &mut Vec<Redaction>,
) -> Result<(), ExperienceError> {
    let limit = if part == Part::Name { MAX_NAME_BYTES } else { MAX_TEXT_BYTES };
    if text.len() > limit {
        return Err(ExperienceError::TooLong { field, n_bytes: text.len(), limit });
    }
    if part == Part::Name && text.chars().any(char::is_control) {
        return Err(ExperienceError::Control { field });
    }
    let (kept, kinds) = redact(text);
    if !kinds.is_empty() {
        *text = kept.into_owned();
        redactions.extend(kinds.into_iter().map(|kind| Redaction { field, kind }));
    }
    Ok(())
}

/// Returns how a name is compared: in lower case, with blanks, `-` and `_` all one `-`. Every other character of every
/// script is kept, so that a name that is not blank never has an empty key. Composed and decomposed accents are not the
/// same key.
pub fn key(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|character: char| character.is_whitespace() || matches!(character, '-' | '_'));
    let key = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    if key.is_empty() { name.trim().to_owned() } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experience::{Evidence, Issue, Origin, Severity, Trust};
    use crate::time::Time;
    use proptest::prelude::*;

    fn experience() -> Experience {
        Experience {
            time: Time::from_unix_ms(0).unwrap(),
            trust: Trust::Person,
            issue: Issue {
                dimension: "清晰度".to_owned(),
                location: None,
                severity: Severity::High,
                description: "no example".to_owned(),
                suggestion: None,
            },
            fix: "add one".to_owned(),
            before: None,
            after: None,
            evidence: Evidence::default(),
            origin: Origin { task: "docs".to_owned(), task_family: None, loop_id: None, round: None, model: None },
            tags: BTreeSet::new(),
        }
    }

    /// Changes the experience and returns what becomes of it.
    fn changed(change: impl FnOnce(&mut Experience)) -> Result<Entry, ExperienceError> {
        let mut experience = experience();
        change(&mut experience);
        Entry::new(experience)
    }

    #[test]
    fn the_digest_is_of_the_content_alone() {
        let digest = changed(|_| {}).unwrap().digest();
        let same = changed(|experience| {
            experience.time = Time::from_unix_ms(1).unwrap();
            experience.trust = Trust::Model;
            experience.tags.insert("t".to_owned());
        });
        assert_eq!(same.unwrap().digest(), digest);
        // Moving text from one part to another is another content.
        let moved = changed(|experience| experience.before = Some("x".to_owned())).unwrap().digest();
        let other = changed(|experience| experience.after = Some("x".to_owned())).unwrap().digest();
        assert!(moved != digest && other != digest && moved != other);
    }

    /// Stores keep digests for years: another way of computing them would store everything a second time.
    #[test]
    fn the_digest_stays_what_it_was() {
        let full = changed(|experience| {
            experience.issue.location = Some("l".to_owned());
            experience.issue.suggestion = Some("s".to_owned());
            experience.before = Some("b".to_owned());
            experience.after = Some(String::new());
            experience.evidence =
                Evidence { text: Some("e".to_owned()), score_before: Some(-0.0), score_after: Some(0.1) };
            experience.origin.task_family = Some("f".to_owned());
            experience.origin.loop_id = Some("i".to_owned());
            experience.origin.round = Some(2);
            experience.origin.model = Some("m".to_owned());
        });
        // Computed with the Python package blake3 from the parts as `Digest::of` lays them out.
        for (entry, expected) in [
            (changed(|_| {}), "30a687e3c6d45acea83836db6074dea188b9118aabb85379a45b37492067c085"),
            (full, "00e5188088be7701b6a492abb1ff3cc4a28897fc837febe0ac75c7586ef7e24d"),
        ] {
            assert_eq!(entry.unwrap().digest().to_string(), expected);
        }
    }

    #[test]
    fn what_says_nothing_or_too_much_is_refused() {
        let field = "issue.dimension";
        assert_eq!(changed(|e| e.issue.dimension = " \u{3000}".to_owned()), Err(ExperienceError::Blank { field }));
        assert_eq!(changed(|e| e.issue.dimension = "a\u{7}".to_owned()), Err(ExperienceError::Control { field }));
        assert_eq!(changed(|e| e.fix = "\n".to_owned()), Err(ExperienceError::Blank { field: "fix" }));
        let limit = MAX_TEXT_BYTES;
        assert_eq!(
            changed(|e| e.before = Some("x".repeat(limit + 1))),
            Err(ExperienceError::TooLong { field: "before", n_bytes: limit + 1, limit })
        );
        changed(|e| e.before = Some("x".repeat(limit))).unwrap();
        let field = "evidence.score_after";
        assert_eq!(changed(|e| e.evidence.score_after = Some(f64::NAN)), Err(ExperienceError::NotFinite { field }));
        let n_tags = MAX_TAGS + 1;
        assert_eq!(
            changed(|e| e.tags = (0..n_tags).map(|tag| tag.to_string()).collect()),
            Err(ExperienceError::TooManyTags { n_tags })
        );
    }

    #[test]
    fn keys_are_taken_out_of_every_part_and_named_without_being_shown() {
        let key = format!("ghp_{}", "a1B2c3".repeat(6));
        let entry = changed(|experience| {
            experience.fix = format!("use {key}");
            experience.after = Some(key.clone());
            experience.tags.insert(key.clone());
        });
        let entry = entry.unwrap();
        assert!(!serde_json::to_string(entry.experience()).unwrap().contains(&key));
        let told: Vec<String> = entry.redactions().iter().map(ToString::to_string).collect();
        assert_eq!(told[0], "`fix` held what looks like a secret (GitHub token); it was taken out");
        assert_eq!(
            entry.redactions().iter().map(|redaction| redaction.field).collect::<Vec<_>>(),
            ["fix", "after", "tags"]
        );
        let again = Entry::new(entry.experience().clone()).unwrap();
        assert_eq!((again.digest(), again.redactions()), (entry.digest(), &[][..]));
    }

    #[test]
    fn names_are_compared_without_case_and_joints_in_any_script() {
        assert_eq!(key(" Error_Handling "), "error-handling");
        assert_eq!(key("错误 处理"), "错误-处理");
        assert_eq!(key("ÉTÉ"), "été");
        assert_eq!(key("---"), "---");
        assert_eq!(key("🙂"), "🙂");
    }

    proptest! {
        #[test]
        fn a_name_that_is_not_blank_has_a_key(name in any::<String>()) {
            prop_assume!(!name.trim().is_empty());
            prop_assert!(!key(&name).is_empty());
        }
    }
}
