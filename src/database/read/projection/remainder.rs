//! A value without some of its parts.
//!
//! The parts are not read, except for the first pair of each: only a part that exists closes up the
//! elements after it, and shows that the containers above it exist. The ranges between the parts
//! have the pairs that remain.
//!
//! [`RemainderWriter`] writes them. It keeps a stack of the containers that have an omitted part
//! somewhere below them. The elements of these arrays are renumbered, and a container of which
//! nothing remains is written empty. All other values are copied as they are.

use std::ops::Range;
use std::sync::Arc;

use crate::budget::WrittenText;
use crate::database::document_key::{covers, prefix_end};
use crate::database::read::value_ref::{check_bytes, malformed};
use crate::document::leaf::Kind;
use crate::document::path::SegmentRef;
use crate::error::Result;
use crate::key::{JsonText, KeyStep, Malformed, append_segment, empty_marker, step};
use crate::store::Pairs;

/// The pairs of a value that remain without some of its parts.
#[derive(Clone, Debug)]
pub struct Remainder {
    /// The pairs, in the order of their keys.
    pieces: Vec<(Arc<Pairs>, Range<usize>)>,
    /// The length of the key of the value.
    key_bytes: usize,
    /// The keys of the omitted parts that exist, relative to the value. They ascend, and none is
    /// inside another one.
    omitted: Vec<Vec<u8>>,
}

impl Remainder {
    /// Creates the remainder of the value at `key` from its pieces. `omitted` are the keys of the
    /// parts that exist, in any order. None if the whole value is omitted.
    pub(crate) fn new(
        key: &[u8],
        pieces: Vec<(Arc<Pairs>, Range<usize>)>,
        omitted: Vec<&[u8]>,
    ) -> Option<Self> {
        let omitted = disjoint(omitted);
        if omitted.first().is_some_and(|first| *first == key) {
            return None;
        }
        let omitted = omitted.into_iter();
        Some(Self {
            pieces,
            key_bytes: key.len(),
            omitted: omitted.map(|part| part[key.len()..].to_vec()).collect(),
        })
    }

    /// Appends the value as JSON text to `out`, which is part of the response. Elements close up.
    /// Yields to the scheduler while it writes a large value.
    ///
    /// # Errors
    /// As [`ValueRef::write_json`](crate::database::ValueRef::write_json).
    pub async fn write_json(&self, out: &mut Vec<u8>, mut written: WrittenText<'_>) -> Result<()> {
        let before = out.len();
        let bytes_max = written.bytes_max();
        let mut writer = RemainderWriter::new(&self.omitted, JsonText::new(out));
        let mut last: &[u8] = &[];
        for (pairs, range) in &self.pieces {
            for at in range.clone() {
                let (key, value) = pairs.get(at);
                let kept = writer.keep(&key[self.key_bytes..], value);
                kept.map_err(|error| malformed(error, key))?;
                last = key;
                if written.leaves(1, key.len() + value.len()) {
                    check_bytes(writer.text.bytes() - before, bytes_max)?;
                    written.pace(writer.text.bytes()).await?;
                }
            }
        }
        let finished = writer.finish();
        finished.map_err(|error| malformed(error, last))?;
        check_bytes(out.len() - before, bytes_max)?;
        written.count(out.len())
    }
}

/// The keys in ascending order, without those that lie inside others.
pub(crate) fn disjoint(mut keys: Vec<&[u8]>) -> Vec<&[u8]> {
    // A place sorts before the places inside it, and no place outside it sorts between them.
    keys.sort_unstable();
    keys.dedup_by(|key, before| covers(before, key));
    keys
}

/// The ranges of the value at `key` that lie between `omitted`, which are [`disjoint`] keys
/// in the value.
pub(crate) fn ranges_between(key: &[u8], omitted: &[&[u8]]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut ranges = Vec::with_capacity(omitted.len() + 1);
    let mut begin = key.to_vec();
    for part in omitted {
        if begin[..] < **part {
            ranges.push((begin, part.to_vec()));
        }
        begin = prefix_end(part);
    }
    let end = prefix_end(key);
    if begin < end {
        ranges.push((begin, end));
    }
    ranges
}

/// Writes the pairs that remain of a value. All keys are relative to the value.
struct RemainderWriter<'o, 't> {
    text: JsonText<'t>,
    /// The omitted parts that are not reached yet.
    omitted: &'o [Vec<u8>],
    /// The lengths of the keys of the containers above the next omitted part, outermost first.
    above: Vec<usize>,
    /// The containers above the current place that have an omitted part, outermost first.
    open: Vec<RemainingContainer>,
    /// The key of the innermost open container, as it is stored.
    stored: Vec<u8>,
    /// The same key as it is written.
    written: Vec<u8>,
    /// The child of the innermost open container to which the last pair belongs. Empty if there is
    /// none.
    child: Vec<u8>,
    /// The key of a pair as it is written. It begins with the key of the child.
    key: Vec<u8>,
    /// The length of the child's key in `key`.
    child_bytes: usize,
}

/// A container that has an omitted part somewhere below it.
struct RemainingContainer {
    /// The lengths of its key as it is stored and as it is written.
    stored: usize,
    written: usize,
    kind: Kind,
    /// The number of children that were written.
    children: u64,
}

impl<'o, 't> RemainderWriter<'o, 't> {
    fn new(omitted: &'o [Vec<u8>], text: JsonText<'t>) -> Self {
        let mut writer = Self {
            text,
            omitted,
            above: Vec::new(),
            open: Vec::new(),
            stored: Vec::new(),
            written: Vec::new(),
            child: Vec::new(),
            key: Vec::new(),
            child_bytes: 0,
        };
        if let Some(first) = omitted.first() {
            writer.above = above(first);
            writer.open.push(RemainingContainer {
                stored: 0,
                written: 0,
                kind: container(first),
                children: 0,
            });
        }
        writer
    }

    /// Writes the next pair that remains.
    fn keep(&mut self, key: &[u8], value: &[u8]) -> Result<(), Malformed> {
        if !self.is_in_child(key) {
            while self.omitted.first().is_some_and(|next| next[..] < *key) {
                self.omit_next()?;
            }
            self.close_until(key)?;
            self.open_above(key)?;
            self.begin_child(key)?;
        }
        self.key.truncate(self.child_bytes);
        self.key.extend_from_slice(&key[self.child.len()..]);
        self.text.push(&self.key, value)
    }

    /// Ends the value.
    fn finish(mut self) -> Result<(), Malformed> {
        while !self.omitted.is_empty() {
            self.omit_next()?;
        }
        while !self.open.is_empty() {
            self.close()?;
        }
        self.text.finish()
    }

    fn is_in_child(&self, key: &[u8]) -> bool {
        // Without omitted parts, all pairs are written as they are.
        self.open.is_empty() || (!self.child.is_empty() && covers(&self.child, key))
    }

    /// Passes the next omitted part. The containers above it are written even if nothing remains in
    /// them.
    fn omit_next(&mut self) -> Result<(), Malformed> {
        let Some((part, rest)) = self.omitted.split_first() else {
            return Ok(());
        };
        self.close_until(part)?;
        self.open_above(part)?;
        self.omitted = rest;
        self.above = rest.first().map(|next| above(next)).unwrap_or_default();
        Ok(())
    }

    /// Closes the open containers that do not contain `key`.
    fn close_until(&mut self, key: &[u8]) -> Result<(), Malformed> {
        while self.open.len() > 1 && !covers(&self.stored, key) {
            self.close()?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Malformed> {
        let Some(container) = self.open.pop() else {
            return Ok(());
        };
        self.end_child();
        if container.children == 0 {
            let (marker, value) = empty_marker(&self.written, container.kind);
            self.text.push(&marker, &value)?;
        }
        let (stored, written) = match self.open.last() {
            Some(outer) => (outer.stored, outer.written),
            None => (0, 0),
        };
        self.stored.truncate(stored);
        self.written.truncate(written);
        Ok(())
    }

    /// Opens the containers above the next omitted part that contain `key`.
    fn open_above(&mut self, key: &[u8]) -> Result<(), Malformed> {
        let Some(next) = self.omitted.first() else {
            return Ok(());
        };
        for at in 0..self.above.len() {
            let bytes = self.above[at];
            if bytes <= self.stored.len() {
                continue;
            }
            if !covers(&next[..bytes], key) {
                break;
            }
            self.end_child();
            let mut written = std::mem::take(&mut self.written);
            self.append_child(&mut written, &next[self.stored.len()..bytes])?;
            self.written = written;
            self.stored.clear();
            self.stored.extend_from_slice(&next[..bytes]);
            self.open.push(RemainingContainer {
                stored: bytes,
                written: self.written.len(),
                kind: container(&next[bytes..]),
                children: 0,
            });
        }
        Ok(())
    }

    /// Begins the child of the innermost open container that contains `key`.
    fn begin_child(&mut self, key: &[u8]) -> Result<(), Malformed> {
        let (_, bytes) = step(&key[self.stored.len()..]).ok_or(Malformed::Segment)?;
        self.child.clear();
        self.child
            .extend_from_slice(&key[..self.stored.len() + bytes]);
        let mut written = std::mem::take(&mut self.key);
        written.clear();
        written.extend_from_slice(&self.written);
        self.append_child(&mut written, &key[self.stored.len()..][..bytes])?;
        self.child_bytes = written.len();
        self.key = written;
        Ok(())
    }

    fn end_child(&mut self) {
        self.child.clear();
        self.child_bytes = 0;
    }

    /// Appends the step to the next child of the innermost open container, as it is written.
    fn append_child(&mut self, written: &mut Vec<u8>, packed: &[u8]) -> Result<(), Malformed> {
        let Some(container) = self.open.last_mut() else {
            return Err(Malformed::Segment);
        };
        match container.kind {
            Kind::Array => append_segment(written, SegmentRef::Index(container.children)),
            _ => written.extend_from_slice(packed),
        }
        container.children += 1;
        Ok(())
    }
}

/// The lengths of the keys of the containers above the place with this key, outermost first.
fn above(key: &[u8]) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut at = 0;
    while let Some((_, bytes)) = step(&key[at..]) {
        lengths.push(at);
        at += bytes;
    }
    lengths
}

/// The kind of the container in which a place is. `key` is relative to the container.
fn container(key: &[u8]) -> Kind {
    match step(key) {
        Some((KeyStep::Index(_), _)) => Kind::Array,
        _ => Kind::Object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::document::path::Segment;
    use crate::key::Leaves;

    fn key(pointer: &str) -> Vec<u8> {
        let mut key = Vec::new();
        for token in pointer.split('/').skip(1) {
            let segment = match token.parse() {
                Ok(index) => Segment::Index(index),
                Err(_) => Segment::Key(token.to_owned()),
            };
            append_segment(&mut key, segment.as_ref());
        }
        key
    }

    async fn without(json: &str, parts: &[&str]) -> String {
        let mut pairs = Pairs::default();
        for (key, value) in Leaves::from_json(json).expect(json).iter() {
            pairs.push(key, value);
        }
        let keys: Vec<Vec<u8>> = parts.iter().map(|part| key(part)).collect();
        let keys = disjoint(keys.iter().map(Vec::as_slice).collect());
        let pairs = Arc::new(pairs);
        let all = 0..pairs.len();
        let pieces = ranges_between(&[], &keys).into_iter().map(|(begin, end)| {
            let range = pairs.between(all.clone(), &begin, &end);
            (pairs.clone(), range)
        });
        let remainder = Remainder::new(&[], pieces.collect(), keys.clone());
        let Some(remainder) = remainder else {
            return "nothing".to_owned();
        };
        let mut out = Vec::new();
        let budget = Budget::of_background();
        let written = remainder.write_json(&mut out, budget.response_text()).await;
        written.expect("well-formed");
        String::from_utf8(out).expect("UTF-8")
    }

    #[tokio::test]
    async fn elements_close_up_and_emptied_containers_remain() {
        for (json, parts, expected) in [
            ("1", &[][..], "1"),
            ("1", &[""], "nothing"),
            (r#"{"a":1,"b":2,"c":3}"#, &["/b"], r#"{"a":1,"c":3}"#),
            (r#"{"a":1,"b":2}"#, &["/a", "/b"], "{}"),
            ("[1,2]", &["/0", "/1"], "[]"),
            ("[1,2,3,4]", &["/2", "/0"], "[2,4]"),
            ("[[1],[2,3],[4]]", &["/1/0", "/0/0"], "[[],[3],[4]]"),
            (
                r#"[{"a":1},2,{"b":[5]}]"#,
                &["/0/a", "/2/b/0"],
                r#"[{},2,{"b":[]}]"#,
            ),
            (
                r#"{"a":{"b":{"c":1}},"d":2}"#,
                &["/a/b/c"],
                r#"{"a":{"b":{}},"d":2}"#,
            ),
            (r#"{"a":{"b":1},"ab":3}"#, &["/a"], r#"{"ab":3}"#),
            (
                r#"{"a":{"b":1},"ab":3}"#,
                &["/a/b", "/a", "/a"],
                r#"{"ab":3}"#,
            ),
            (
                r#"{"a":[0,1,2],"b":[[],{},3]}"#,
                &["/a/1", "/b/0"],
                r#"{"a":[0,2],"b":[{},3]}"#,
            ),
            (
                "[[[1,2],[3]],[[4]]]",
                &["/0/0/1", "/1/0/0"],
                "[[[1],[3]],[[]]]",
            ),
            (
                r#"{"a":[{"x":1,"y":2},{"x":3}],"z":[]}"#,
                &["/a/0/x", "/a/1/x"],
                r#"{"a":[{"y":2},{}],"z":[]}"#,
            ),
        ] {
            assert_eq!(
                without(json, parts).await,
                expected,
                "{json} without {parts:?}"
            );
        }
    }
}
