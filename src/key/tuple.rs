//! The elements of keys and values, in FoundationDB's tuple encoding.

use std::borrow::Cow;
use std::io::{self, Write};

use foundationdb_tuple::{
    Bytes, Element, PackResult, TupleDepth, TuplePack, TupleUnpack, VersionstampOffset,
};
use num_bigint::{BigInt, Sign};

use crate::document::id::DocumentId;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::{Place, SegmentRef};

/// The type code of a string.
pub(super) const STRING: u8 = 0x02;
/// The type code of a negative integer that is followed by its length, inverted.
const NEGATIVE_BIG: u8 = 0x0B;
/// The type code of a positive integer that is followed by its length.
const POSITIVE_BIG: u8 = 0x1D;
/// The type code of the integer 0. An integer of `n` bytes has the type code `ZERO + n`, or `ZERO -
/// n` if it is negative.
const ZERO: u8 = 0x14;
/// The type code of a binary64.
const DOUBLE: u8 = 0x21;
/// The type code of `false`, which has no payload.
const FALSE: u8 = 0x26;
/// The type code of `true`, which has no payload.
const TRUE: u8 = 0x27;
/// The type code of a versionstamp, which 12 bytes follow.
pub(super) const VERSIONSTAMP: u8 = 0x33;
/// The type code of a nested tuple, which only other programs store.
const NESTED: u8 = 0x05;
/// The most type codes of nested tuples that are decoded, to bound the recursion.
const NESTED_MAX: usize = 64;
/// Follows a NUL in a string; a NUL without it ends the string.
pub(super) const ESCAPE: u8 = 0xFF;
/// An empty array: `(…, -1) → (null,)`.
pub(super) const EMPTY_ARRAY: i64 = -1;
/// An empty object: `(…, -2) → (null,)`.
pub(super) const EMPTY_OBJECT: i64 = -2;
/// A piece of a split string: `(…, -3, n) → (bytes,)`.
pub(super) const PIECE: i64 = -3;

/// Packs one element without an enclosing tuple.
struct One<'e, T>(&'e T);

impl<T: TuplePack> TuplePack for One<'_, T> {
    #[inline]
    fn pack<W: Write>(&self, out: &mut W, depth: TupleDepth) -> io::Result<VersionstampOffset> {
        self.0.pack(out, depth.increment())
    }
}

/// The first element of packed bytes, and the rest.
struct First<'b, T>(T, &'b [u8]);

impl<'b, T: TupleUnpack<'b>> TupleUnpack<'b> for First<'b, T> {
    #[inline]
    fn unpack(input: &'b [u8], depth: TupleDepth) -> PackResult<(&'b [u8], Self)> {
        let (rest, element) = T::unpack(input, depth.increment())?;
        Ok((&[], Self(element, rest)))
    }
}

/// Splits off the first element of packed bytes as a `T`.
#[inline]
pub(super) fn split_first<'b, T: TupleUnpack<'b>>(bytes: &'b [u8]) -> Option<(T, &'b [u8])> {
    let First(element, rest) = First::unpack_root(bytes).ok()?;
    Some((element, rest))
}

pub(super) fn append(out: &mut Vec<u8>, element: &impl TuplePack) {
    One(element)
        .pack_root(out)
        .expect("only an integer past 255 bytes cannot be packed, and Leaf holds none");
}

/// Appends a path segment to a packed key.
pub fn append_segment(key: &mut Vec<u8>, segment: SegmentRef<'_>) {
    match segment {
        SegmentRef::Key(name) => append(key, &name),
        SegmentRef::Index(index) => append(key, &index),
    }
}

/// Appends what the packed names that begin with `prefix` have in common to a packed key.
pub fn append_name_prefix(key: &mut Vec<u8>, prefix: &str) {
    append_segment(key, SegmentRef::Key(prefix));
    // The terminator.
    key.pop();
}

/// Appends a place to the packed key of a document.
pub fn append_place(key: &mut Vec<u8>, place: &Place) {
    for segment in &place.0 {
        append_segment(key, segment.as_ref());
    }
}

/// The key and the value of the empty marker of the container at the packed key `container`.
pub fn empty_marker(container: &[u8], kind: Kind) -> (Vec<u8>, [u8; 1]) {
    let marker = if kind == Kind::Array {
        EMPTY_ARRAY
    } else {
        EMPTY_OBJECT
    };
    let mut key = container.to_vec();
    append(&mut key, &marker);
    (key, [0])
}

/// Appends the id of a document to a packed key.
pub fn append_id(key: &mut Vec<u8>, id: &DocumentId) {
    match id {
        DocumentId::Integer(integer) => append(key, integer),
        DocumentId::Text(text) => append(key, &text.as_str()),
        DocumentId::Versionstamp(stamp) => {
            key.push(VERSIONSTAMP);
            key.extend_from_slice(stamp);
        }
    }
}

/// Splits an id off packed bytes. `None` if the element has another type.
pub(super) fn split_id(bytes: &[u8]) -> Option<(DocumentId, &[u8])> {
    match split_element(bytes)? {
        (Element::Int(integer), rest) if is_canonical_integer(bytes) => {
            Some((DocumentId::Integer(integer), rest))
        }
        (Element::String(text), rest) => Some((DocumentId::Text(text.into_owned()), rest)),
        (Element::Versionstamp(stamp), rest) => {
            Some((DocumentId::Versionstamp(*stamp.as_bytes()), rest))
        }
        _ => None,
    }
}

/// Whether packed bytes begin with a 64-bit integer in its shortest encoding. A longer encoding is
/// a different key, which no lookup of the integer finds.
pub(super) fn is_canonical_integer(bytes: &[u8]) -> bool {
    match bytes {
        [0x14, ..] => true,
        [0x15..=0x1C, first, ..] => *first != 0,
        [0x0C..=0x13, first, ..] => *first != 0xFF,
        _ => false,
    }
}

/// Splits off the first element of packed bytes. `None` if it is malformed, or may be nested deeper
/// than the recursive decoder allows.
pub(super) fn split_element(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let nested = bytes.first() == Some(&NESTED);
    if nested && memchr::memchr_iter(NESTED, bytes).count() > NESTED_MAX {
        return None;
    }
    split_first(bytes)
}

/// Packs a leaf as a tuple of one element, the form of its value.
pub fn pack_leaf(leaf: &Leaf<'_>) -> Vec<u8> {
    let mut value = Vec::new();
    append_leaf(&mut value, leaf);
    value
}

pub(super) fn append_leaf(out: &mut Vec<u8>, leaf: &Leaf<'_>) {
    match leaf {
        Leaf::Null => out.push(0),
        Leaf::Bool(value) => append(out, value),
        Leaf::Integer(integer) => append(out, integer),
        Leaf::BigInteger(integer) => append_big(out, integer),
        Leaf::Double(double) => append(out, double),
        Leaf::String(text) => append(out, &text.as_ref()),
    }
}

/// Packs an integer of more than 64 bits. The recipe's Python layer encodes ±(2⁶⁴ - 1) with an
/// explicit length of eight; other layers encode the length in the type code. Both forms are
/// decoded.
fn append_big(out: &mut Vec<u8>, integer: &BigInt) {
    if integer.magnitude().bits() != 64 || integer.magnitude().count_ones() != 64 {
        return append(out, integer);
    }
    match integer.sign() {
        Sign::Minus => out.extend_from_slice(&[NEGATIVE_BIG, !8, 0, 0, 0, 0, 0, 0, 0, 0]),
        _ => out.extend_from_slice(&[
            POSITIVE_BIG,
            8,
            0xFF,
            0xFF,
            0xFF,
            0xFF,
            0xFF,
            0xFF,
            0xFF,
            0xFF,
        ]),
    }
}

pub(super) fn append_piece(out: &mut Vec<u8>, piece: &[u8]) {
    append(out, &Bytes(Cow::Borrowed(piece)));
}

/// Splits off a string without an escaped NUL, the common case.
#[inline]
pub(super) fn split_plain_string(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let [STRING, text @ ..] = bytes else {
        return None;
    };
    let (text, rest) = text.split_at(memchr::memchr(0, text)?);
    if rest.get(1) == Some(&ESCAPE) {
        return None;
    }
    Some((std::str::from_utf8(text).ok()?, &rest[1..]))
}

/// Splits off an integer of at most seven bytes, the common case.
#[inline]
pub(super) fn split_short_integer(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (code, rest) = bytes.split_first()?;
    let length = match code {
        0x0D..=0x1B => usize::from(code.abs_diff(ZERO)),
        _ => return None,
    };
    let (digits, rest) = rest.split_at_checked(length)?;
    let magnitude = digits
        .iter()
        .fold(0, |sum, digit| sum << 8 | i64::from(*digit));
    let integer = if *code < ZERO {
        magnitude - ((1 << (8 * length)) - 1)
    } else {
        magnitude
    };
    Some((integer, rest))
}

/// Decodes the common kinds of leaves without the general decoder.
#[inline]
fn decode_plain_leaf(value: &[u8]) -> Option<Leaf<'_>> {
    match value {
        [0] => Some(Leaf::Null),
        [0x0D..=0x1B, ..] => match split_short_integer(value)? {
            (integer, []) => Some(Leaf::Integer(integer)),
            _ => None,
        },
        [STRING, ..] => match split_plain_string(value)? {
            (text, []) => Some(Leaf::String(Cow::Borrowed(text))),
            _ => None,
        },
        [FALSE] => Some(Leaf::Bool(false)),
        [TRUE] => Some(Leaf::Bool(true)),
        [DOUBLE, bits @ ..] => {
            let bits = u64::from_be_bytes(bits.try_into().ok()?);
            let positive = bits >> 63 == 1;
            let double = f64::from_bits(if positive { bits ^ (1 << 63) } else { !bits });
            double.is_finite().then_some(Leaf::Double(double))
        }
        _ => None,
    }
}

/// Decodes the leaf in a value. `None` if the value is not a leaf.
pub fn decode_leaf(value: &[u8]) -> Option<Leaf<'_>> {
    if let Some(plain) = decode_plain_leaf(value) {
        return Some(plain);
    }
    let (element, rest) = split_element(value)?;
    if !rest.is_empty() {
        return None;
    }
    match element {
        Element::Bool(value) => Some(Leaf::Bool(value)),
        Element::Int(integer) => Some(Leaf::Integer(integer)),
        // Other programs may encode it in more bytes than necessary.
        Element::BigInt(integer) => Some(match i64::try_from(&integer) {
            Ok(small) => Leaf::Integer(small),
            Err(_) => Leaf::BigInteger(integer),
        }),
        Element::Double(double) if double.is_finite() => Some(Leaf::Double(double)),
        Element::String(text) => Some(Leaf::String(text)),
        _ => None,
    }
}

/// Decodes a piece of a string. `None` if the value is no piece.
pub fn decode_piece(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    match split_element(value)? {
        (Element::Bytes(Bytes(bytes)), []) => Some(bytes),
        _ => None,
    }
}

/// Formats packed bytes as a tuple, for example `("D", 1, "user", 0)`.
pub fn tuple_text(packed: &[u8]) -> String {
    let mut elements = Vec::new();
    let mut rest = packed;
    while !rest.is_empty() {
        let Some((element, behind)) = split_element(rest) else {
            return format!("not a tuple: {}", hex(packed));
        };
        elements.push(element_text(&element));
        rest = behind;
    }
    match &elements[..] {
        [element] => format!("({element},)"),
        _ => format!("({})", elements.join(", ")),
    }
}

fn element_text(element: &Element<'_>) -> String {
    match element {
        Element::Nil => "null".to_owned(),
        Element::Bool(value) => value.to_string(),
        Element::Int(integer) => integer.to_string(),
        Element::BigInt(integer) => BigInt::to_string(integer),
        Element::Double(double) => format!("{double:?}"),
        Element::String(text) => format!("{text:?}"),
        Element::Bytes(Bytes(bytes)) => format!("b\"{}\"", bytes.escape_ascii()),
        Element::Versionstamp(stamp) => format!("version {}", hex(stamp.as_bytes())),
        other => format!("{other:?}"),
    }
}

/// Formats bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
    let text: Vec<[u8; 2]> = bytes.iter().map(digits).collect();
    String::from_utf8(text.into_flattened()).expect("digits are ASCII")
}

/// The bytes that [`hex`] wrote. `None` if the text is not hexadecimal.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (digits, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let byte = |two: &[u8; 2]| {
        let two = std::str::from_utf8(two).ok()?;
        let is_hex = two.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u8::from_str_radix(two, 16).ok())?
    };
    digits.iter().map(byte).collect()
}
