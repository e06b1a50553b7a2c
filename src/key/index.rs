//! Encodes index entries. Their values sort by JSON type and then by value, and an id follows.

use std::cmp::Ordering;

use foundationdb_tuple::Element;
use num_bigint::BigInt;
use sha2::{Digest, Sha256};

use super::family::{Family, within_limit};
use super::leaves::Leaves;
use super::tuple::{
    append, append_id, append_leaf, append_piece, decode_leaf, split_element, split_first, split_id,
};
use super::{KeyStep, Marker, step};
use crate::document::id::DocumentId;
use crate::document::leaf::{Leaf, abridged};
use crate::document::number::{nearest, split};
use crate::error::{Error, Limit, Result};
use crate::limits::KEY_BYTES_MAX;

/// The type of an indexed value, in index order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// A path of the index other than the first selects nothing.
    Missing = 0,
    /// `null`
    Null = 1,
    /// `false`
    False = 2,
    /// `true`
    True = 3,
    /// A number, by value.
    Number = 4,
    /// A string, by its UTF-8 bytes, which is the order of code points.
    String = 5,
    /// An object or an array, by a digest of its leaves.
    Container = 6,
}

impl Rank {
    const ALL: [Self; 7] = [
        Self::Missing,
        Self::Null,
        Self::False,
        Self::True,
        Self::Number,
        Self::String,
        Self::Container,
    ];

    /// The common prefix of all values of this rank.
    pub fn prefix(self) -> Vec<u8> {
        let mut prefix = Vec::with_capacity(2);
        append(&mut prefix, &(self as i64));
        prefix
    }
}

/// A value as index entries encode it: tuple elements that sort by rank and then by value. Equal
/// values, with numbers compared by value, have the same bytes. The entries of one value are the
/// keys that begin with its bytes and do not continue with `0xFF`.
///
/// A number is encoded as its integer part, rounded towards zero, followed by 0 if it has no
/// fraction, or by its sign (-1 or 1) and the exact fraction as a double.
#[derive(Clone, Debug)]
pub struct IndexValue {
    packed: Vec<u8>,
    form: NumberForm,
}

/// How a document has a number, which its packed form does not show. Two values of different forms
/// are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberForm {
    /// As the packed form shows it: an integer if it has no fraction. Other values have this form.
    #[default]
    Plain = 0,
    /// A double without a fraction.
    Double = 1,
    /// The double -0.0.
    NegativeZero = 2,
}

impl NumberForm {
    const ALL: [Self; 3] = [Self::Plain, Self::Double, Self::NegativeZero];

    fn of(leaf: &Leaf<'_>) -> Self {
        match leaf {
            Leaf::Double(double) if *double == 0.0 && double.is_sign_negative() => {
                Self::NegativeZero
            }
            Leaf::Double(double) if double.fract() == 0.0 => Self::Double,
            _ => Self::Plain,
        }
    }

    /// The byte that encodes the form in the value of an entry.
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// The form that a byte encodes.
    pub fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.byte() == byte)
    }
}

impl PartialEq for IndexValue {
    fn eq(&self, other: &Self) -> bool {
        self.packed == other.packed
    }
}

impl Eq for IndexValue {}

impl PartialOrd for IndexValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for IndexValue {
    fn cmp(&self, other: &Self) -> Ordering {
        self.packed.cmp(&other.packed)
    }
}

impl From<Vec<u8>> for IndexValue {
    /// The value with these packed elements, in its plain form.
    fn from(packed: Vec<u8>) -> Self {
        Self {
            packed,
            form: NumberForm::Plain,
        }
    }
}

impl IndexValue {
    /// The value of a path that selects nothing and is not the first of its index.
    pub fn missing() -> Self {
        Self::from(Rank::Missing.prefix())
    }

    /// The value of a leaf.
    pub fn of_leaf(leaf: &Leaf<'_>) -> Self {
        let rank = match leaf {
            Leaf::Null => Rank::Null,
            Leaf::Bool(false) => Rank::False,
            Leaf::Bool(true) => Rank::True,
            Leaf::Integer(_) | Leaf::BigInteger(_) | Leaf::Double(_) => Rank::Number,
            Leaf::String(_) => Rank::String,
        };
        let mut value = rank.prefix();
        if let Leaf::String(_) = leaf {
            append_leaf(&mut value, leaf);
        }
        if let Some((whole, rest)) = split(leaf) {
            append_leaf(&mut value, &whole);
            if rest == 0.0 {
                append(&mut value, &0);
            } else {
                append(&mut value, &if rest < 0.0 { -1 } else { 1 });
                append(&mut value, &rest);
            }
        }
        Self {
            packed: value,
            form: NumberForm::of(leaf),
        }
    }

    /// The value at a place, from its pairs, whose keys are relative to the place. `None` if there
    /// are no pairs, or they are malformed.
    ///
    /// # Errors
    /// The value is a string that is too long for a key. The error is its approximate length in
    /// bytes.
    pub fn of_pairs<'p>(
        pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>,
    ) -> Result<Option<Self>, usize> {
        let mut builder = IndexValueBuilder::default();
        for (key, value) in pairs {
            builder.push(key, value);
        }
        builder.finish()
    }

    /// The value of a JSON value. A container is represented by its digest.
    ///
    /// # Errors
    /// As [`IndexValue::of_pairs`].
    pub fn of_leaves(leaves: &Leaves) -> Result<Option<Self>, usize> {
        Self::of_pairs(leaves.iter())
    }

    /// The packed elements.
    pub fn bytes(&self) -> &[u8] {
        &self.packed
    }

    /// How the document has it, if it is a number.
    pub fn form(&self) -> NumberForm {
        self.form
    }

    /// The value in another form.
    #[must_use]
    pub fn in_form(self, form: NumberForm) -> Self {
        Self { form, ..self }
    }

    /// The type of the value.
    pub fn rank(&self) -> Rank {
        rank(&self.packed).map_or(Rank::Missing, |(rank, _)| rank)
    }

    /// Splits the first value off packed bytes.
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (rank, payload) = rank(bytes)?;
        let rest = match rank {
            Rank::Missing | Rank::Null | Rank::False | Rank::True => payload,
            Rank::String | Rank::Container => split_element(payload)?.1,
            Rank::Number => {
                let (_, sign) = split_element(payload)?;
                match split_element(sign)? {
                    (Element::Int(0), rest) => rest,
                    (Element::Int(_), rest) => split_element(rest)?.1,
                    _ => return None,
                }
            }
        };
        let value = Self::from(bytes[..bytes.len() - rest.len()].to_vec());
        Some((value, rest))
    }

    /// Splits packed bytes into values, up to the first bytes that are none.
    pub fn split_all(mut bytes: &[u8]) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let (value, rest) = Self::split(bytes)?;
            bytes = rest;
            Some(value)
        })
    }

    /// Formats the value as JSON for messages, at most about 40 characters.
    pub fn text(&self) -> String {
        let mut json = Vec::new();
        match self.leaf() {
            Some(leaf) => leaf.write_json(&mut json),
            None if self.rank() == Rank::Missing => return "nothing".to_owned(),
            None => return "an object or an array".to_owned(),
        }
        abridged(&String::from_utf8_lossy(&json)).into_owned()
    }

    /// The value as the document has it. None for [`IndexValue::missing`] and for objects
    /// and arrays.
    pub fn stored_leaf(&self) -> Option<Leaf<'_>> {
        let leaf = self.leaf()?;
        match self.form {
            NumberForm::Plain => Some(leaf),
            NumberForm::NegativeZero => Some(Leaf::Double(-0.0)),
            NumberForm::Double => nearest(&leaf).map(Leaf::Double),
        }
    }

    /// The value, with numbers that have no fraction as integers. None for
    /// [`IndexValue::missing`] and for objects and arrays.
    pub fn leaf(&self) -> Option<Leaf<'_>> {
        let (rank, payload) = rank(&self.packed)?;
        match rank {
            Rank::Missing | Rank::Container => None,
            Rank::Null => Some(Leaf::Null),
            Rank::False => Some(Leaf::Bool(false)),
            Rank::True => Some(Leaf::Bool(true)),
            Rank::String => decode_leaf(payload),
            Rank::Number => {
                let (whole, behind) = split_element(payload)?;
                let (_, rest) = split_element(behind)?;
                let rest = split_first::<f64>(rest).map_or(0.0, |(rest, _)| rest);
                match whole {
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "a number with a fraction is smaller than 2^53"
                    )]
                    Element::Int(whole) if rest != 0.0 => Some(Leaf::Double(whole as f64 + rest)),
                    Element::Int(whole) => Some(Leaf::Integer(whole)),
                    Element::BigInt(whole) => Some(Leaf::BigInteger(BigInt::clone(&whole))),
                    _ => None,
                }
            }
        }
    }
}

/// Builds an [`IndexValue`] from the pairs at and below a place, in the order of their keys. It
/// holds one leaf or the state of a digest, whatever the number of pairs.
#[derive(Clone, Debug, Default)]
pub struct IndexValueBuilder(ValueBuilder);

#[derive(Clone, Debug, Default)]
enum ValueBuilder {
    /// No pair yet.
    #[default]
    Nothing,
    /// One leaf. `None` if its value is malformed.
    Leaf(Option<IndexValue>),
    /// A string in pieces, with the sum of their sizes.
    Pieces(usize),
    /// The digest of a container's leaves.
    Container(Sha256),
}

impl IndexValueBuilder {
    /// Adds the next pair. `key` is relative to the place.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        match &mut self.0 {
            ValueBuilder::Nothing if key.is_empty() => {
                let leaf = decode_leaf(value);
                self.0 = ValueBuilder::Leaf(leaf.map(|leaf| IndexValue::of_leaf(&leaf)));
            }
            ValueBuilder::Nothing
                if matches!(step(key), Some((KeyStep::Marker(Marker::Piece), _))) =>
            {
                self.0 = ValueBuilder::Pieces(value.len());
            }
            ValueBuilder::Nothing => {
                let mut digest = Sha256::new();
                append_to_digest(&mut digest, key, value);
                self.0 = ValueBuilder::Container(digest);
            }
            // Keys below a leaf are corruption, which is not indexed.
            ValueBuilder::Leaf(_) => {}
            ValueBuilder::Pieces(bytes) => *bytes += value.len(),
            ValueBuilder::Container(digest) => append_to_digest(digest, key, value),
        }
    }

    /// The value of the pairs since the last call. `None` if there were no pairs, or they are
    /// malformed.
    ///
    /// # Errors
    /// The value is a string that is too long for a key. The error is its approximate length in
    /// bytes.
    pub fn finish(&mut self) -> Result<Option<IndexValue>, usize> {
        match std::mem::take(&mut self.0) {
            ValueBuilder::Nothing => Ok(None),
            ValueBuilder::Leaf(value) => Ok(value),
            ValueBuilder::Pieces(bytes) => Err(bytes),
            ValueBuilder::Container(digest) => {
                let mut value = Rank::Container.prefix();
                append_piece(&mut value, &digest.finalize());
                Ok(Some(IndexValue::from(value)))
            }
        }
    }
}

fn append_to_digest(digest: &mut Sha256, key: &[u8], value: &[u8]) {
    let mut field = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    field(key);
    match decode_leaf(value) {
        Some(leaf) => field(&IndexValue::of_leaf(&leaf).packed),
        None => field(value),
    }
}

fn rank(bytes: &[u8]) -> Option<(Rank, &[u8])> {
    let (number, rest) = split_first::<i64>(bytes)?;
    let rank = Rank::ALL.into_iter().find(|rank| *rank as i64 == number)?;
    Some((rank, rest))
}

/// The common prefix of the keys of one index's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexKey {
    prefix: Vec<u8>,
}

impl IndexKey {
    /// The prefix of the index `number` of a collection.
    ///
    /// # Errors
    /// `TOO_LARGE`: the collection's name is too long.
    pub fn new(collection: &str, number: u64) -> Result<Self> {
        let prefix = Family::Index(collection, number).key()?;
        Ok(Self { prefix })
    }

    /// The range of all entries, as its first key and its end.
    pub fn all(&self) -> (Vec<u8>, Vec<u8>) {
        self.span(&[], &[0xFF])
    }

    /// The range of the entries with values from `begin` to before `end`. Both are relative to the
    /// prefix.
    pub fn span(&self, begin: &[u8], end: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let key = |relative: &[u8]| [&self.prefix[..], relative].concat();
        (key(begin), key(end))
    }

    /// The key of an entry. `values` are packed values in the order of the columns.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLong`](crate::error::ErrorKind::KeyTooLong): the key exceeds the limit.
    pub fn entry(&self, values: &[u8], id: &DocumentId) -> Result<Vec<u8>> {
        let mut key = self.prefix.clone();
        key.extend_from_slice(values);
        append_id(&mut key, id);
        within_limit(key).map_err(|_| {
            Error::key_too_long(Limit::new("keyBytes", KEY_BYTES_MAX), format!(
                "the value makes an entry of more than {KEY_BYTES_MAX} bytes, which is the limit \
                 of a key"
            ))
        })
    }

    /// The part of an entry's key after the prefix: packed values and an id.
    pub fn relative<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        key.strip_prefix(&self.prefix[..])
    }

    /// Splits the key of an entry with `columns` columns into its packed values and its id.
    pub fn parse<'k>(&self, key: &'k [u8], columns: usize) -> Option<(&'k [u8], DocumentId)> {
        let relative = self.relative(key)?;
        let mut rest = relative;
        for _ in 0..columns {
            rest = IndexValue::split(rest)?.1;
        }
        match split_id(rest)? {
            (id, []) => Some((&relative[..relative.len() - rest.len()], id)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> IndexValue {
        let leaves = Leaves::from_json(json).expect(json);
        let value = IndexValue::of_leaves(&leaves);
        value.expect("short").expect("a value has leaves")
    }

    #[test]
    fn values_sort_by_rank_and_then_by_value() {
        let ascending = [
            "null",
            "false",
            "true",
            "-1e308",
            "-100000000000000000000000",
            "-9223372036854775809",
            "-9223372036854775808",
            "-9007199254740993",
            "-9007199254740992.0",
            "-2",
            "-1.5",
            "-1",
            "-0.5",
            "-5e-324",
            "0",
            "5e-324",
            "0.1",
            "0.9999999999999999",
            "1",
            "1.0000000000000002",
            "9007199254740992.0",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551614",
            "18446744073709551615",
            "18446744073709551616",
            "1e22",
            "10000000000000000000001",
            "1.7976931348623157e308",
            r#""""#,
            r#""\u0000""#,
            r#""\u0000a""#,
            r#""a""#,
            r#""a\u0000""#,
            r#""a\u0000b""#,
            r#""ab""#,
            r#""b""#,
            r#""\uffee""#,
            r#""😀""#,
        ];
        let values: Vec<_> = ascending.iter().map(|json| value(json)).collect();
        for (pair, json) in values.windows(2).zip(ascending.windows(2)) {
            assert!(pair[0] < pair[1], "{json:?}");
            // The entries of the lesser value end before the next value, even if it is a prefix of
            // that.
            let end = [pair[0].bytes(), &[0xFF]].concat();
            assert!(end.as_slice() < pair[1].bytes(), "{json:?}");
        }
        assert!(IndexValue::missing() < values[0]);
        assert!(values[values.len() - 1] < value("[]"));
    }

    #[test]
    fn equal_values_have_equal_encodings() {
        for (a, b) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("0", "-0.0"),
            ("1e22", "10000000000000000000000"),
            ("18446744073709551616", "18446744073709551616.0"),
            (r#""é""#, r#""\u00e9""#),
            (r#"{"a":1,"b":[]}"#, r#"{"b":[],"a":1.0}"#),
        ] {
            assert_eq!(value(a), value(b), "{a} and {b}");
        }
        for (a, b) in [
            ("{}", "[]"),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            ("[1,2]", "[2,1]"),
            ("[[1],2]", "[1,[2]]"),
            (r#"{"0":1}"#, "[1]"),
        ] {
            assert_ne!(value(a), value(b), "{a} and {b}");
        }
    }

    #[test]
    fn entries_round_trip_with_their_values() {
        let key = IndexKey::new("D", 300).expect("short");
        let columns = [
            "1.5",
            r#""a\u0000b""#,
            "[1]",
            "-18446744073709551615",
            "true",
        ];
        let values: Vec<u8> = columns
            .iter()
            .flat_map(|json| value(json).bytes().to_vec())
            .collect();
        for id in [DocumentId::Integer(-7), DocumentId::Text("x\0".to_owned())] {
            let entry = key.entry(&values, &id).expect("short");
            let (begin, end) = key.all();
            assert!(begin <= entry && entry < end);
            assert_eq!(key.parse(&entry, columns.len()), Some((&values[..], id)));
            assert_eq!(key.parse(&entry, columns.len() - 1), None);
        }
        for (json, text) in [
            ("1.5", "1.5"),
            ("-0.25", "-0.25"),
            ("2.0", "2"),
            (r#""é""#, "\"é\""),
            ("1e22", "10000000000000000000000"),
            ("null", "null"),
            ("{}", "an object or an array"),
        ] {
            assert_eq!(value(json).text(), text);
        }
    }

    #[test]
    fn overlong_values_are_rejected_with_their_length() {
        let text = format!("\"{}\"", "x".repeat(100_001));
        let leaves = Leaves::from_json(&text).expect("a document");
        assert!(IndexValue::of_leaves(&leaves).is_err());
        let text = format!("\"{}\"", "x".repeat(10_000));
        let leaves = Leaves::from_json(&text).expect("a document");
        let value = IndexValue::of_leaves(&leaves)
            .expect("in one piece")
            .expect("a leaf");
        let key = IndexKey::new("D", 1).expect("short");
        let error = key.entry(value.bytes(), &DocumentId::Integer(1));
        assert!(error.expect_err("too long").message().contains("10000"));
    }
}
