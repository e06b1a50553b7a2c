//! JSON Merge Patch (RFC 7396), taken apart.

use std::borrow::Cow;

use super::flatten::json_error;
use super::json::{Event, JsonError, Reader, write_string};
use crate::error::Result;
use crate::limits::DOCUMENT_LEVELS_MAX;

/// What a merge patch says about one place.
#[derive(Clone, Debug, PartialEq)]
pub enum MergePatch<'t> {
    /// Nothing is to stand there.
    Remove,
    /// This JSON text is to stand there, in the place of whatever does.
    Put(&'t str),
    /// An object is to stand there, with these members changed. Of members of the same name the
    /// last one counts.
    Members(Vec<(Cow<'t, str>, MergePatch<'t>)>),
}

impl<'t> MergePatch<'t> {
    /// Takes a patch apart.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON. `TOO_LARGE`: it nests deeper than
    /// [`DOCUMENT_LEVELS_MAX`].
    pub fn parse(text: &'t str) -> Result<Self> {
        let patch = |mut reader: Reader<'t>| {
            let patch = Self::read(&mut reader)?;
            reader.next().map(|_| patch)
        };
        patch(Reader::new(text, DOCUMENT_LEVELS_MAX)).map_err(|error| json_error(&error, text))
    }

    /// What the patch makes of nothing, as JSON text; none if that is nothing.
    pub fn alone(&self) -> Option<Cow<'t, str>> {
        match self {
            Self::Remove => None,
            Self::Put(text) => Some(Cow::Borrowed(text)),
            Self::Members(_) => {
                let mut out = Vec::new();
                self.write(&mut out);
                // JSON text and strings go in, so UTF-8 comes out.
                Some(Cow::Owned(String::from_utf8(out).unwrap_or_default()))
            }
        }
    }

    /// Recurses no deeper than the reader allows.
    fn read(reader: &mut Reader<'t>) -> Result<Self, JsonError> {
        let text = reader.peek_value();
        match text {
            Some(b'{') => {}
            Some(b'n') => return reader.skip_value().map(|_| Self::Remove),
            _ => return reader.skip_value().map(Self::Put),
        }
        reader.next()?;
        let mut members: Vec<(Cow<'t, str>, Self)> = Vec::new();
        while let Event::Name(name) = reader.next()? {
            members.push((name, Self::read(reader)?));
        }
        // Stable: of those of the same name the last one stays last.
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.reverse();
        members.dedup_by(|(later, _), (name, _)| later == name);
        members.reverse();
        Ok(Self::Members(members))
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Remove => {}
            Self::Put(text) => out.extend_from_slice(text.as_bytes()),
            Self::Members(members) => {
                out.push(b'{');
                let kept = members.iter();
                let kept = kept.filter(|(_, member)| !matches!(member, Self::Remove));
                for (at, (name, member)) in kept.enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    write_string(out, name);
                    out.push(b':');
                    member.write(out);
                }
                out.push(b'}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_members_of_the_same_name_the_last_one_counts() {
        let patch = MergePatch::parse(r#" {"b":1,"a":{"x":null},"b":null,"a":[1, 2]} "#);
        let members = vec![
            ("a".into(), MergePatch::Put("[1, 2]")),
            ("b".into(), MergePatch::Remove),
        ];
        assert_eq!(patch.expect("JSON"), MergePatch::Members(members));
    }

    #[test]
    fn on_its_own_a_patch_is_what_it_leaves_of_nothing() {
        for (patch, alone) in [
            ("null", None),
            (" 1 ", Some("1")),
            (r#"{"a":null}"#, Some("{}")),
            (
                r#"{"a":{"b":null,"c":{"d":[null]}},"é\n":"x"}"#,
                Some(r#"{"a":{"c":{"d":[null]}},"é\n":"x"}"#),
            ),
        ] {
            let parsed = MergePatch::parse(patch).expect(patch);
            assert_eq!(parsed.alone().as_deref(), alone, "{patch}");
        }
    }

    #[test]
    fn what_is_not_json_or_nests_too_deep_is_refused() {
        for text in ["", "{", "{\"a\":}", "{} 1", "nul", "{\"a\":1,}"] {
            MergePatch::parse(text).expect_err(text);
        }
        let levels = |levels| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        MergePatch::parse(&levels(DOCUMENT_LEVELS_MAX)).expect("at the limit");
        MergePatch::parse(&levels(DOCUMENT_LEVELS_MAX + 1)).expect_err("past the limit");
    }
}
