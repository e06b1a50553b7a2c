//! Parses JSON Merge Patch (RFC 7396).

use bytes::Bytes;

use super::flatten::{json_error, json_text};
use super::json::{Event, JsonError, Reader, write_string};
use crate::error::Result;
use crate::limits::DOCUMENT_LEVELS_MAX;

/// What a merge patch does at one place.
#[derive(Clone, Debug, PartialEq)]
pub enum MergePatch {
    /// Removes the value.
    Remove,
    /// Replaces the value with this JSON text.
    Put(Bytes),
    /// Changes these members and makes the value an object first if it is none. Names are unique:
    /// the last of several members with the same name wins.
    Members(Vec<(String, MergePatch)>),
}

impl MergePatch {
    /// Parses a patch. Values share the memory of its text.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON. `TOO_LARGE`: it nests deeper than
    /// [`DOCUMENT_LEVELS_MAX`].
    pub fn parse(text: &Bytes) -> Result<Self> {
        let json = json_text(text)?;
        let mut reader = Reader::new(json, DOCUMENT_LEVELS_MAX);
        let patch = Self::read(&mut reader, text);
        let patch = patch.and_then(|patch| reader.next().map(|_| patch));
        patch.map_err(|error| json_error(&error, json))
    }

    /// The approximate memory of the patch in bytes, without its text.
    pub fn held(&self) -> usize {
        let Self::Members(members) = self else {
            return 0;
        };
        let each = members
            .iter()
            .map(|(name, member)| name.len() + member.held());
        each.sum::<usize>() + size_of_val(&members[..])
    }

    /// The number of members that it names at all levels, or `most` if there are more.
    pub fn named(&self, most: usize) -> usize {
        let Self::Members(members) = self else {
            return 0;
        };
        let mut named = members.len().min(most);
        for (_, member) in members {
            if named >= most {
                break;
            }
            named += member.named(most - named);
        }
        named
    }

    /// The result of the patch applied to no value, as JSON text. `None` if it is no value.
    pub fn alone(&self) -> Option<Bytes> {
        match self {
            Self::Remove => None,
            Self::Put(text) => Some(text.clone()),
            Self::Members(_) => {
                let mut out = Vec::new();
                self.write(&mut out);
                Some(out.into())
            }
        }
    }

    /// The recursion is bounded by the reader's level limit.
    fn read(reader: &mut Reader<'_>, text: &Bytes) -> Result<Self, JsonError> {
        match reader.peek_value() {
            Some(b'{') => {}
            Some(b'n') => return reader.skip_value().map(|_| Self::Remove),
            _ => {
                let value = reader.skip_value()?;
                return Ok(Self::Put(text.slice_ref(value.as_bytes())));
            }
        }
        reader.next()?;
        let mut members: Vec<(String, Self)> = Vec::new();
        while let Event::Name(name) = reader.next()? {
            members.push((name.into_owned(), Self::read(reader, text)?));
        }
        // The sort is stable, so the last of several members with the same name stays last.
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.reverse();
        members.dedup_by(|(later, _), (name, _)| later == name);
        members.reverse();
        Ok(Self::Members(members))
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Remove => {}
            Self::Put(text) => out.extend_from_slice(text),
            Self::Members(members) => {
                out.push(b'{');
                let kept = members
                    .iter()
                    .filter(|(_, member)| !matches!(member, Self::Remove));
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

    fn parsed(text: &str) -> Result<MergePatch> {
        MergePatch::parse(&Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn the_last_member_of_a_name_wins() {
        let patch = parsed(r#" {"b":1,"a":{"x":null},"b":null,"a":[1, 2]} "#);
        let members = vec![
            ("a".into(), MergePatch::Put(Bytes::from_static(b"[1, 2]"))),
            ("b".into(), MergePatch::Remove),
        ];
        assert_eq!(patch.expect("JSON"), MergePatch::Members(members));
    }

    #[test]
    fn a_patch_of_nothing_leaves_its_values_without_nulls() {
        for (patch, alone) in [
            ("null", None),
            (" 1 ", Some("1")),
            (r#"{"a":null}"#, Some("{}")),
            (
                r#"{"a":{"b":null,"c":{"d":[null]}},"é\n":"x"}"#,
                Some(r#"{"a":{"c":{"d":[null]}},"é\n":"x"}"#),
            ),
        ] {
            let parsed = parsed(patch).expect(patch);
            let alone = alone.map(str::as_bytes);
            assert_eq!(parsed.alone().as_deref(), alone, "{patch}");
        }
    }

    #[test]
    fn invalid_or_too_deep_json_is_rejected() {
        for text in ["", "{", "{\"a\":}", "{} 1", "nul", "{\"a\":1,}"] {
            parsed(text).expect_err(text);
        }
        let levels = |levels| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        parsed(&levels(DOCUMENT_LEVELS_MAX)).expect("at the limit");
        parsed(&levels(DOCUMENT_LEVELS_MAX + 1)).expect_err("past the limit");
    }
}
