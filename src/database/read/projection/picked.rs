//! Writes a value that has only some of its parts.

use crate::budget::WrittenText;
use crate::database::document_key::covers;
use crate::database::read::value_ref::{ValueRef, check_bytes, malformed};
use crate::document::path::{Place, Segment};
use crate::error::Result;
use crate::key::{JsonText, append_segment};

/// A part that is picked from a value.
#[derive(Clone, Debug)]
pub struct PickedPart<'p> {
    /// The place in the document.
    pub place: Place,
    /// The whole value at the place.
    pub value: ValueRef<'p>,
}

/// Appends a value that has only these parts as JSON text to `out`, which is part of the response.
/// The place of the value has `above` segments, with which the places of all parts begin. `parts`
/// are in any order and may repeat or nest; there is at least one. Elements keep their order and are
/// renumbered without holes. Yields to the scheduler while it writes a large value.
///
/// # Errors
/// As [`ValueRef::write_json`].
pub async fn write_picked(
    parts: Vec<PickedPart<'_>>,
    above: usize,
    out: &mut Vec<u8>,
    mut written: WrittenText<'_>,
) -> Result<()> {
    let before = out.len();
    let bytes_max = written.bytes_max();
    let mut text = JsonText::new(out);
    let mut numbering = Numbering::default();
    let mut key = Vec::new();
    let mut last: &[u8] = &[];
    for PickedPart { place, value } in disjoint(parts) {
        key.clear();
        for segment in numbering.next(place.0.get(above..).unwrap_or_default()) {
            append_segment(&mut key, segment.as_ref());
        }
        let (own, renumbered) = (value.key().len(), key.len());
        for (stored, leaf) in value.pairs() {
            key.truncate(renumbered);
            key.extend_from_slice(&stored[own..]);
            text.push(&key, leaf)
                .map_err(|error| malformed(error, stored))?;
            last = stored;
            if written.leaves(1, stored.len() + leaf.len()) {
                check_bytes(text.bytes() - before, bytes_max)?;
                written.pace(text.bytes()).await?;
            }
        }
    }
    text.finish().map_err(|error| malformed(error, last))?;
    check_bytes(out.len() - before, bytes_max)?;
    written.count(out.len())
}

/// The parts in key order, without those that lie inside others.
fn disjoint(mut parts: Vec<PickedPart<'_>>) -> Vec<PickedPart<'_>> {
    // A place sorts before the places inside it, and no place outside it sorts between them.
    parts.sort_by(|a, b| a.value.key().cmp(b.value.key()));
    parts.dedup_by(|part, before| covers(before.value.key(), part.value.key()));
    parts
}

/// Numbers the elements in the places of disjoint parts, which are given in key order.
#[derive(Default)]
struct Numbering {
    /// The previous place as it is stored.
    stored: Vec<Segment>,
    /// The previous place as it is written.
    written: Vec<Segment>,
}

impl Numbering {
    /// The place at which the next part is written.
    fn next(&mut self, place: &[Segment]) -> &[Segment] {
        let both = self.stored.iter().zip(place);
        let shared = both
            .take_while(|(before, segment)| before == segment)
            .count();
        let mut number = match self.written.get(shared) {
            Some(Segment::Index(before)) => before + 1,
            _ => 0,
        };
        self.stored.truncate(shared);
        self.stored.extend_from_slice(&place[shared..]);
        self.written.truncate(shared);
        for segment in &place[shared..] {
            self.written.push(match segment {
                Segment::Key(_) => segment.clone(),
                Segment::Index(_) => Segment::Index(number),
            });
            number = 0;
        }
        &self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(pointer: &str) -> Vec<Segment> {
        let tokens = pointer.split('/').skip(1);
        let segments = tokens.map(|token| match token.parse() {
            Ok(index) => Segment::Index(index),
            Err(_) => Segment::Key(token.to_owned()),
        });
        segments.collect()
    }

    #[test]
    fn elements_are_numbered_anew_at_each_level() {
        let mut numbering = Numbering::default();
        for (stored, written) in [
            ("/a/3/x", "/a/0/x"),
            ("/a/3/y", "/a/0/y"),
            ("/a/7", "/a/1"),
            ("/a/9/2/5", "/a/2/0/0"),
            ("/a/9/2/6", "/a/2/0/1"),
            ("/a/9/4/6", "/a/2/1/0"),
            ("/b/9/4", "/b/0/0"),
            ("/c", "/c"),
        ] {
            assert_eq!(numbering.next(&place(stored)), place(written), "{stored}");
        }
        assert_eq!(Numbering::default().next(&[]), []);
    }
}
