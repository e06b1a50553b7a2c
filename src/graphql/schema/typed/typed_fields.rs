//! What the fields of the types of collections read.

use std::collections::HashMap;
use std::sync::Arc;

use crate::document::jsonpath::Query;
use crate::document::path::Path;
use crate::types::ReferenceKeys;

/// The scalar of integers that can have more than 32 bits.
pub(crate) const BIG_INTEGER: &str = "BigInteger";

/// The fields of all types of collections, by the name of the type and of the field. A clone is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypedFields(Arc<HashMap<String, HashMap<String, TypedField>>>);

impl TypedFields {
    pub(super) fn new(fields: HashMap<String, HashMap<String, TypedField>>) -> Self {
        Self(Arc::new(fields))
    }

    /// The collections that have types.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &str> {
        let queries = self.0.get("Query").into_iter().flatten();
        queries.filter_map(|(_, field)| match field {
            TypedField::Document(collection) => Some(&**collection),
            _ => None,
        })
    }

    /// What a field reads. None if it is not a field of a type of a collection.
    pub(crate) fn get(&self, of: &str, field: &str) -> Option<&TypedField> {
        self.0.get(of)?.get(field)
    }
}

/// What a field of such a type reads.
#[derive(Clone, Debug)]
pub(crate) enum TypedField {
    /// `Query.country`: a document of this collection.
    Document(Arc<str>),
    /// `Query.countries`: a page of documents.
    Documents(Arc<TypedPage>),
    /// `nodes` of such a page.
    Nodes,
    /// `edges` of such a page.
    Edges,
    /// `node` of such an edge.
    Node,
    /// `totalCount` of such a page. Its other fields are planned as those of untyped pages.
    TotalCount,
    /// `Mutation.createCountry` and `Mutation.updateCountry`.
    Write(TypedFunction, Arc<TypedWrite>),
    /// `Mutation.deleteCountry`: a document of this collection.
    Delete(Arc<str>),
    /// `id` of a document.
    Id,
    /// `key` of a document.
    Key,
    /// `version` of a document.
    Version,
    /// `document` of a document: the same one, untyped.
    Untyped,
    /// A member of an object, or the value of an entry of a map, at this path.
    Value(Path, Arc<TypedPlace>),
    /// The key of an entry of a map.
    EntryKey,
    /// The document, or the documents, whose keys are in a member.
    Reference(Arc<TypedReference>),
    /// The page of documents whose references lead to the document.
    Inverse(Arc<TypedInverse>),
}

/// The documents whose references lead to a document.
#[derive(Debug)]
pub(crate) struct TypedInverse {
    pub(crate) page: Arc<TypedPage>,
    /// Selects their keys.
    pub(crate) selected: Query,
    pub(crate) keys: ReferenceKeys,
}

/// What a field that follows a reference reads.
#[derive(Clone, Debug)]
pub(crate) struct TypedReference {
    /// The path of the member with the key in the object around it.
    pub(crate) path: Path,
    /// The collection of the documents.
    pub(crate) collection: Arc<str>,
    /// Whether the schema has a type of that collection. Otherwise the documents are untyped.
    pub(crate) typed: bool,
    pub(crate) of: ReferenceOf,
}

/// To which documents a reference leads.
#[derive(Clone, Debug)]
pub(crate) enum ReferenceOf {
    /// To the one whose key is in the member.
    One,
    /// To those whose keys are in the list, of which this is the place.
    List(Arc<TypedPlace>),
    /// To the one whose key is in the member, and from there to the next one.
    Chain,
}

/// What a mutation does with a typed document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypedFunction {
    Create,
    Update,
}

/// A mutation that stores a typed document.
#[derive(Debug)]
pub(crate) struct TypedWrite {
    pub(crate) collection: Arc<str>,
    /// The name of the argument that has the document or the patch.
    pub(crate) argument: String,
    /// The name of its type.
    pub(crate) input: String,
}

/// A page of documents of a collection with a type.
#[derive(Debug)]
pub(crate) struct TypedPage {
    pub(crate) collection: Arc<str>,
    /// The names of the input types that filter and order the documents.
    pub(crate) filter: String,
    pub(crate) order: String,
}

/// What a place has according to its type.
#[derive(Debug)]
pub(crate) struct TypedPlace {
    pub(crate) value: TypedValue,
    /// Whether a value is always there, which is not null.
    pub(crate) required: bool,
    /// Whether null is a value.
    pub(crate) nullable: bool,
}

/// The values of a place, besides null.
#[derive(Debug)]
pub(crate) enum TypedValue {
    /// A value without selections.
    Leaf(LeafType),
    /// An object whose members are fields.
    Object,
    /// An array, and what its elements are.
    List(Arc<TypedPlace>),
    /// An object whose names are data. Its entries have a type of their own.
    Map,
}

/// The values of a field without selections.
#[derive(Debug)]
pub(crate) enum LeafType {
    String,
    /// One of these strings, which are sorted.
    Enum(Box<[Box<str>]>),
    Boolean,
    /// An integer of 32 bits.
    Int,
    /// An integer.
    BigInteger,
    /// A number.
    Float,
    /// Any value.
    Json,
}

impl TypedValue {
    /// What is expected, for errors.
    pub(crate) fn expected(&self) -> &'static str {
        match self {
            Self::Object | Self::Map => "an object",
            Self::List(_) => "an array",
            Self::Leaf(leaf) => leaf.expected(),
        }
    }
}

impl LeafType {
    /// What is expected, for errors.
    pub(crate) fn expected(&self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Enum(_) => "one of the values of the enum",
            Self::Boolean => "a boolean",
            Self::Int => "an integer of 32 bits",
            Self::BigInteger => "an integer",
            Self::Float => "a number",
            Self::Json => "a value other than null",
        }
    }

    /// Converts JSON text that was written behind `begin` to this type. False if the value is not of the
    /// type; null is.
    pub(crate) fn convert(&self, out: &mut Vec<u8>, begin: usize) -> bool {
        let text = &out[begin..];
        let first = text.first().copied().unwrap_or_default();
        if text == b"null" {
            return true;
        }
        match self {
            Self::String => first == b'"',
            Self::Boolean => matches!(first, b't' | b'f'),
            Self::Json => true,
            Self::Float => is_number(first),
            Self::Enum(values) => {
                let name = text
                    .strip_prefix(b"\"")
                    .and_then(|it| it.strip_suffix(b"\""));
                // Names have no characters that are escaped.
                name.is_some_and(|name| {
                    let found = values.binary_search_by(|value| value.as_bytes().cmp(name));
                    found.is_ok()
                })
            }
            Self::BigInteger => is_number(first) && integer(text).is_some(),
            Self::Int => {
                let integer = is_number(first).then(|| integer(text)).flatten();
                let Some(Integer::Small(value)) = integer else {
                    return false;
                };
                // The results of `Int` have no point and no exponent (GraphQL specification, 3.5.1).
                out.truncate(begin);
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                true
            }
        }
    }
}

fn is_number(first: u8) -> bool {
    first == b'-' || first.is_ascii_digit()
}

/// An integer in JSON.
enum Integer {
    /// It has 32 bits.
    Small(i32),
    Large,
}

/// The integer that a number is. None if it has a fraction.
fn integer(text: &[u8]) -> Option<Integer> {
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(value) = text.parse() {
        return Some(Integer::Small(value));
    }
    if text
        .bytes()
        .all(|byte| byte == b'-' || byte.is_ascii_digit())
    {
        return Some(Integer::Large);
    }
    let value: f64 = text.parse().ok()?;
    if value.fract() != 0.0 {
        return None;
    }
    let bounds = f64::from(i32::MIN)..=f64::from(i32::MAX);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number is within the bounds and has no fraction"
    )]
    Some(if bounds.contains(&value) {
        Integer::Small(value as i32)
    } else {
        Integer::Large
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(leaf: &LeafType, text: &str) -> Option<String> {
        let mut out = [b"{".as_slice(), text.as_bytes()].concat();
        let fits = leaf.convert(&mut out, 1);
        fits.then(|| String::from_utf8(out[1..].to_vec()).expect("UTF-8"))
    }

    #[test]
    fn values_are_of_their_type_or_rejected() {
        let names = LeafType::Enum(["NEW", "OLD"].map(Box::from).into());
        for (leaf, text, expected) in [
            (&LeafType::String, "\"a\"", Some("\"a\"")),
            (&LeafType::String, "1", None),
            (&LeafType::String, "null", Some("null")),
            (&names, "\"OLD\"", Some("\"OLD\"")),
            (&names, "\"old\"", None),
            (&names, "{\"OLD\":1}", None),
            (&LeafType::Boolean, "true", Some("true")),
            (&LeafType::Boolean, "\"true\"", None),
            (&LeafType::Int, "-2147483648", Some("-2147483648")),
            (&LeafType::Int, "2147483648", None),
            (&LeafType::Int, "7.0", Some("7")),
            (&LeafType::Int, "1e3", Some("1000")),
            (&LeafType::Int, "1.5", None),
            (&LeafType::Int, "[1]", None),
            (
                &LeafType::BigInteger,
                "12345678901234567890123",
                Some("12345678901234567890123"),
            ),
            (&LeafType::BigInteger, "1e300", Some("1e300")),
            (&LeafType::BigInteger, "0.5", None),
            (&LeafType::Float, "0.5", Some("0.5")),
            (&LeafType::Float, "false", None),
            (&LeafType::Json, "{\"a\":[1]}", Some("{\"a\":[1]}")),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(converted(leaf, text), expected, "{leaf:?}: {text}");
        }
    }
}
