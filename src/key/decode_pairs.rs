//! Decodes sorted pairs: to JSON text, to kinds, and to path steps.

use std::borrow::Cow;
use std::fmt;

use super::tuple::{
    EMPTY_ARRAY, EMPTY_OBJECT, ESCAPE, PIECE, STRING, decode_leaf, decode_piece,
    is_canonical_integer, split_first, split_plain_string, split_short_integer,
};
use crate::budget::grow;
use crate::document::assemble::{Assembler, Misshapen};
use crate::document::json::{
    whole_characters, write_characters, write_plain_before_nul, write_string,
};
use crate::document::leaf::Kind;
use crate::document::path::SegmentRef;
use crate::limits::{NEIGHBOURING_IDS_BYTES_MAX, NEIGHBOURING_IDS_MAX};

/// Why a pair is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The key continues with an element that is neither a segment nor a marker.
    Segment,
    /// The value is not a leaf, or not a piece of a string where one is required.
    Value,
    /// The pieces of a split string are not numbered 0, 1, 2, …, or are not valid UTF-8 together.
    Pieces,
    /// The pairs do not form a document.
    Shape(Misshapen),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segment => f.write_str("a key contains an invalid path segment"),
            Self::Value => f.write_str("a value is not a leaf"),
            Self::Pieces => f.write_str("the pieces of a split string do not fit together"),
            Self::Shape(misshapen) => misshapen.fmt(f),
        }
    }
}

impl From<Misshapen> for Malformed {
    fn from(misshapen: Misshapen) -> Self {
        Self::Shape(misshapen)
    }
}

/// The next step of a key below a place.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyStep<'k> {
    /// A member of an object.
    Key(Cow<'k, str>),
    /// An element of an array.
    Index(u64),
    /// A value at the place itself that is not a plain leaf.
    Marker(Marker),
}

/// A value that is not stored as a plain leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `{}`
    EmptyObject,
    /// `[]`
    EmptyArray,
    /// A piece of a split string, followed by its number.
    Piece,
}

/// Splits the first step off a relative key, with its length. `None` if it is malformed.
#[inline]
pub fn step(key: &[u8]) -> Option<(KeyStep<'_>, usize)> {
    if *key.first()? == STRING {
        if let Some((text, rest)) = split_plain_string(key) {
            return Some((KeyStep::Key(Cow::Borrowed(text)), key.len() - rest.len()));
        }
        let (text, rest) = split_first(key)?;
        return Some((KeyStep::Key(text), key.len() - rest.len()));
    }
    if !is_canonical_integer(key) {
        return None;
    }
    let (integer, rest) = split_short_integer(key).or_else(|| split_first(key))?;
    let step = match integer {
        0.. => KeyStep::Index(integer.unsigned_abs()),
        EMPTY_ARRAY => KeyStep::Marker(Marker::EmptyArray),
        EMPTY_OBJECT => KeyStep::Marker(Marker::EmptyObject),
        PIECE => KeyStep::Marker(Marker::Piece),
        _ => return None,
    };
    Some((step, key.len() - rest.len()))
}

/// The own key of the document that a key belongs to. Empty if the key has no valid collection and
/// id.
#[inline]
pub fn document_prefix(key: &[u8]) -> &[u8] {
    let after = |at: usize| Some(at + step(&key[at..])?.1);
    let end = after(0).and_then(after).unwrap_or_default();
    &key[..end]
}

/// Whether few ids, or usually few ids in use, lie between the ids of two documents of one
/// collection: integers that are close, or strings of the same length that differ in their last
/// characters only. Both arguments come from [`document_prefix`].
pub fn are_neighbours(before: &[u8], document: &[u8]) -> bool {
    let Some((_, collection)) = step(before) else {
        return false;
    };
    if before.get(..collection) != document.get(..collection) {
        return false;
    }
    let (before, id) = (&before[collection..], &document[collection..]);
    match (split_short_integer(before), split_short_integer(id)) {
        (Some((before, _)), Some((id, _))) => id.abs_diff(before) <= NEIGHBOURING_IDS_MAX,
        (None, None) => {
            // The last byte of a packed string is its terminator.
            let alike = id.len().saturating_sub(1 + NEIGHBOURING_IDS_BYTES_MAX);
            before.len() == id.len() && alike > 0 && before[..alike] == id[..alike]
        }
        _ => false,
    }
}

/// The kind of the value at a place, from the first pair at or below it. `key` is relative to the
/// place.
///
/// # Errors
/// The pair is malformed.
pub fn kind_at(key: &[u8], value: &[u8]) -> Result<Kind, Malformed> {
    if key.is_empty() {
        return decode_leaf(value)
            .map(|leaf| leaf.kind())
            .ok_or(Malformed::Value);
    }
    match step(key).ok_or(Malformed::Segment)?.0 {
        KeyStep::Key(_) | KeyStep::Marker(Marker::EmptyObject) => Ok(Kind::Object),
        KeyStep::Index(_) | KeyStep::Marker(Marker::EmptyArray) => Ok(Kind::Array),
        KeyStep::Marker(Marker::Piece) => Ok(Kind::String),
    }
}

/// Writes one JSON value from its pairs, in key order.
pub struct JsonText<'o>(Decoding<Assembler<'o>>);

impl<'o> JsonText<'o> {
    /// A writer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        Self(Decoding::new(Assembler::new(out)))
    }

    /// The length of the output in bytes.
    pub fn bytes(&self) -> usize {
        self.0.assembler.bytes()
    }

    /// The output, to make room for more.
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.0.assembler.out()
    }

    /// Adds the next pair. `key` is relative to the root of the value.
    ///
    /// # Errors
    /// The pairs are malformed.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), Malformed> {
        self.0.push(key, value)
    }

    /// [`JsonText::push`] for a caller that has the previous key, which is empty for the first
    /// pair. A value must use one of the two methods for all its pairs.
    ///
    /// # Errors
    /// As [`JsonText::push`].
    #[inline]
    pub fn push_behind(
        &mut self,
        previous: &[u8],
        key: &[u8],
        value: &[u8],
    ) -> Result<(), Malformed> {
        self.0
            .push_sharing(common_prefix(previous, key), key, value)
    }

    /// Ends the value.
    ///
    /// # Errors
    /// The pieces of the last string are not valid UTF-8 together.
    pub fn finish(self) -> Result<(), Malformed> {
        self.0.finish().map(Assembler::finish)
    }
}

/// Receives the decoded pairs of one value.
pub trait Assemble {
    /// The error of an invalid value.
    type Error: From<Malformed>;
    /// Enters a member or an element of the container at `level`; see [`Assembler::enter`].
    ///
    /// # Errors
    /// The container is of the other kind, or the previous element is missing.
    fn enter(&mut self, level: usize, segment: SegmentRef<'_>) -> Result<(), Self::Error>;
    /// Enters the member whose packed name begins `key`. Returns its packed length.
    ///
    /// # Errors
    /// As [`Assemble::enter`], or the name is malformed.
    fn enter_packed(&mut self, level: usize, key: &[u8]) -> Result<usize, Self::Error> {
        let (name, bytes) = name(key)?;
        self.enter(level, SegmentRef::Key(&name))?;
        Ok(bytes)
    }
    /// Takes a packed leaf at the current place.
    ///
    /// # Errors
    /// The value is no leaf.
    fn leaf(&mut self, value: &[u8]) -> Result<(), Self::Error>;
    /// Takes the next piece of a string at the current place. `pending` is empty before the first piece. It
    /// keeps the text of all pieces, unless the assembler takes them one by one.
    ///
    /// # Errors
    /// The pieces are not valid UTF-8 together.
    fn piece(
        &mut self,
        pending: &mut Vec<u8>,
        piece: &[u8],
        _is_first: bool,
    ) -> Result<(), Malformed> {
        grow(pending, piece.len());
        pending.extend_from_slice(piece);
        Ok(())
    }
    /// Ends a string that was stored in pieces. `pending` is what [`Assemble::piece`] has kept of it.
    ///
    /// # Errors
    /// The assembler cannot take it.
    fn string(&mut self, pending: &str) -> Result<(), Self::Error>;
    /// Takes an empty object or array at the current place.
    ///
    /// # Errors
    /// The assembler cannot take it.
    fn empty(&mut self, kind: Kind) -> Result<(), Self::Error>;
}

impl Assemble for Assembler<'_> {
    type Error = Malformed;

    #[inline]
    fn enter(&mut self, level: usize, segment: SegmentRef<'_>) -> Result<(), Malformed> {
        Ok(Assembler::enter(self, level, segment)?)
    }

    #[inline]
    fn enter_packed(&mut self, level: usize, key: &[u8]) -> Result<usize, Malformed> {
        let out = self.enter_object(level)?;
        let bytes = if let Some(bytes) = write_plain_string(out, key) {
            bytes
        } else {
            let (name, bytes) = name(key)?;
            write_string(out, &name);
            bytes
        };
        out.push(b':');
        Ok(bytes)
    }

    #[inline]
    fn leaf(&mut self, value: &[u8]) -> Result<(), Malformed> {
        let out = self.value();
        let before = out.len();
        if write_plain_string(out, value) == Some(value.len()) {
            return Ok(());
        }
        out.truncate(before);
        write_leaf(out, value)
    }

    /// Writes the piece, except a character at its end that is not complete.
    fn piece(
        &mut self,
        pending: &mut Vec<u8>,
        piece: &[u8],
        is_first: bool,
    ) -> Result<(), Malformed> {
        pending.extend_from_slice(piece);
        let text = whole_characters(pending).ok_or(Malformed::Pieces)?;
        let out = self.value();
        grow(out, text.len() + 2);
        if is_first {
            out.push(b'"');
        }
        write_characters(out, text);
        pending.drain(..text.len());
        Ok(())
    }

    fn string(&mut self, pending: &str) -> Result<(), Malformed> {
        let out = self.value();
        write_characters(out, pending);
        out.push(b'"');
        Ok(())
    }

    fn empty(&mut self, kind: Kind) -> Result<(), Malformed> {
        let text: &[u8] = if kind == Kind::Object { b"{}" } else { b"[]" };
        self.value().extend_from_slice(text);
        Ok(())
    }
}

/// Decodes the pairs of one value for an assembler. It decodes only the part of each key that
/// differs from the previous key.
pub struct Decoding<A> {
    assembler: A,
    previous: Vec<u8>,
    /// The end of each segment in the previous path.
    ends: Vec<usize>,
    /// What the assembler keeps of the pieces of a string.
    pending: Vec<u8>,
    pieces_next: u64,
    empty: bool,
}

impl<A: Assemble> Decoding<A> {
    /// Decodes the pairs for this assembler.
    pub fn new(assembler: A) -> Self {
        Self {
            assembler,
            previous: Vec::new(),
            ends: Vec::new(),
            pending: Vec::new(),
            pieces_next: 0,
            empty: true,
        }
    }

    /// Adds the next pair. `key` is relative to the root of the value.
    ///
    /// # Errors
    /// The pairs are malformed, or the assembler fails.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), A::Error> {
        let same = common_prefix(&self.previous, key);
        self.push_sharing(same, key, value)?;
        self.previous.truncate(same);
        self.previous.extend_from_slice(&key[same..]);
        Ok(())
    }

    /// Adds the next pair, whose key shares the first `same` bytes with the previous key.
    #[inline]
    fn push_sharing(&mut self, same: usize, key: &[u8], value: &[u8]) -> Result<(), A::Error> {
        let shared = shared_segments(&self.ends, key, same);
        let mut at = shared.checked_sub(1).map_or(0, |last| self.ends[last]);
        if self.pieces_next > 0 {
            if shared == self.ends.len() && self.is_next_piece(&key[at..]) {
                return self.piece(value);
            }
            self.end_pieces()?;
        }
        if !self.empty && shared == self.ends.len() {
            return Err(Malformed::from(Misshapen::LeafWithChildren).into());
        }
        let entered = self.ends.len();
        self.ends.truncate(shared);
        let mut marker = None;
        while at < key.len() {
            let level = self.ends.len();
            let rest = &key[at..];
            at += if rest[0] == STRING {
                self.assembler.enter_packed(level, rest)?
            } else {
                let (step, bytes) = step(rest).ok_or(Malformed::Segment)?;
                match step {
                    KeyStep::Index(index) => {
                        self.assembler.enter(level, SegmentRef::Index(index))?;
                    }
                    KeyStep::Key(name) => self.assembler.enter(level, SegmentRef::Key(&name))?,
                    KeyStep::Marker(found) => {
                        marker = Some((found, &rest[bytes..]));
                        break;
                    }
                }
                bytes
            };
            self.ends.push(at);
        }
        if !self.empty && self.ends.len() == shared && shared < entered {
            return Err(Malformed::from(Misshapen::LeafWithChildren).into());
        }
        self.empty = false;
        self.write(marker, value)
    }

    /// Ends the value.
    ///
    /// # Errors
    /// As [`Decoding::push`].
    pub fn finish(mut self) -> Result<A, A::Error> {
        if self.pieces_next > 0 {
            self.end_pieces()?;
        }
        Ok(self.assembler)
    }

    #[inline]
    fn write(&mut self, marker: Option<(Marker, &[u8])>, value: &[u8]) -> Result<(), A::Error> {
        match marker {
            None => self.assembler.leaf(value),
            Some((Marker::Piece, number)) => {
                if Some((KeyStep::Index(0), number.len())) != step(number) {
                    return Err(Malformed::Pieces.into());
                }
                self.piece(value)
            }
            Some((_, [_, ..])) => Err(Malformed::Segment.into()),
            Some((Marker::EmptyObject, [])) => self.write_empty(Kind::Object, value),
            Some((Marker::EmptyArray, [])) => self.write_empty(Kind::Array, value),
        }
    }

    fn write_empty(&mut self, kind: Kind, value: &[u8]) -> Result<(), A::Error> {
        if value != [0] {
            return Err(Malformed::Value.into());
        }
        self.assembler.empty(kind)
    }

    fn is_next_piece(&self, marker: &[u8]) -> bool {
        let Some((KeyStep::Marker(Marker::Piece), bytes)) = step(marker) else {
            return false;
        };
        let number = &marker[bytes..];
        step(number) == Some((KeyStep::Index(self.pieces_next), number.len()))
    }

    fn piece(&mut self, value: &[u8]) -> Result<(), A::Error> {
        let piece = decode_piece(value).ok_or(Malformed::Value)?;
        let is_first = self.pieces_next == 0;
        self.assembler.piece(&mut self.pending, &piece, is_first)?;
        self.pieces_next += 1;
        Ok(())
    }

    fn end_pieces(&mut self) -> Result<(), A::Error> {
        let pending = std::mem::take(&mut self.pending);
        let text = std::str::from_utf8(&pending).map_err(|_| Malformed::Pieces)?;
        self.pieces_next = 0;
        self.assembler.string(text)
    }
}

/// The number of leading segments that `key` shares with the previous path, whose segments end at
/// `ends` and which shares the first `same` bytes with `key`. The bytes of a segment determine its
/// end, except that the terminator of a string may be an escaped NUL in the longer key.
#[inline]
pub(super) fn shared_segments(ends: &[usize], key: &[u8], same: usize) -> usize {
    let mut shared = ends.iter().take_while(|end| **end <= same).count();
    if shared > 0 && key.get(ends[shared - 1]) == Some(&ESCAPE) {
        shared -= 1;
    }
    shared
}

/// The length of the common prefix of two keys, compared eight bytes at a time.
#[inline]
pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let different = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if different != 0 {
            return same + different.trailing_zeros() as usize / 8;
        }
        same += 8;
    }
    let rest = a[same..].iter().zip(&b[same..]);
    same + rest.take_while(|(a, b)| a == b).count()
}

/// Splits the name off `key`, with its packed length.
fn name(key: &[u8]) -> Result<(Cow<'_, str>, usize), Malformed> {
    match step(key) {
        Some((KeyStep::Key(name), bytes)) => Ok((name, bytes)),
        _ => Err(Malformed::Segment),
    }
}

/// Appends the packed string at the start of `packed` as a JSON string and returns its packed
/// length, if it needs no escapes. Otherwise it appends nothing and returns `None`.
#[inline]
fn write_plain_string(out: &mut Vec<u8>, packed: &[u8]) -> Option<usize> {
    let [STRING, text @ ..] = packed else {
        return None;
    };
    let before = out.len();
    let bytes = write_plain_before_nul(out, text)?;
    if text.get(bytes + 1) == Some(&ESCAPE) {
        out.truncate(before);
        return None;
    }
    Some(bytes + 2)
}

#[inline]
fn write_leaf(out: &mut Vec<u8>, value: &[u8]) -> Result<(), Malformed> {
    decode_leaf(value).ok_or(Malformed::Value)?.write_json(out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::id::DocumentId;
    use crate::document::path::Place;
    use crate::key::{Family, Leaves};

    fn prefix(collection: &str, id: &DocumentId) -> Vec<u8> {
        let place = Place::default();
        let key = Family::Document(collection, id, &place).key();
        key.expect("short")
    }

    #[test]
    fn the_text_of_a_long_string_is_exact_and_has_little_unused_memory() {
        // Pieces end within characters.
        let json = format!("{{\"s\":\"{}\",\"t\":1}}", "x€\\\"😀".repeat(300_000));
        let leaves = Leaves::from_json(&json).expect("valid");
        let mut out = Vec::new();
        let mut text = JsonText::new(&mut out);
        for (key, value) in leaves.iter() {
            text.push(key, value).expect("well formed");
        }
        text.finish().expect("well formed");
        assert!(out == json.as_bytes(), "the text differs");
        assert!(out.capacity() < json.len() / 4 * 5, "{}", out.capacity());
    }

    #[test]
    fn neighbouring_ids_are_close() {
        let integer = |id: i64| prefix("D", &DocumentId::Integer(id));
        let text = |id: &str| prefix("D", &DocumentId::Text(id.to_owned()));
        for (before, id, expected) in [
            (integer(7), integer(8), true),
            (integer(255), integer(257), true),
            (integer(7), integer(11), true),
            (integer(7), integer(12), false),
            (integer(-3), integer(1), true),
            (integer(1 << 40), integer((1 << 40) + 1), true),
            (integer(1 << 40), integer(1 << 41), false),
            (text("user-0017"), text("user-0018"), true),
            (text("user-0099"), text("user-0100"), false),
            (text("user-99"), text("user-100"), false),
            (text("a"), text("b"), false),
            (text("de"), text("it"), true),
            (text("3f2a"), text("9b1c"), false),
            (integer(7), text("8"), false),
            (integer(7), prefix("E", &DocumentId::Integer(8)), false),
            (Vec::new(), integer(8), false),
            (integer(7), Vec::new(), false),
        ] {
            assert_eq!(are_neighbours(&before, &id), expected, "{before:?} {id:?}");
            assert_eq!(document_prefix(&id), id);
        }
    }
}
