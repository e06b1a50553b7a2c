//! A JSON value in memory, exact, for code that inspects values. Reads and writes of documents need
//! no tree.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::convert::Infallible;

use super::flatten::json_error;
use super::json::{Event, Reader, write_string};
use super::leaf::{Kind, Leaf};
use super::number;
use super::path::{Segment, SegmentRef};
use crate::error::{Error, Result};
use crate::limits::DOCUMENT_LEVELS_MAX;

/// A JSON value. It has at most [`TREE_LEVELS_MAX`](crate::limits::TREE_LEVELS_MAX) levels, so
/// functions may recurse over it.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A value that is neither an object nor an array.
    Leaf(Leaf<'static>),
    /// The elements of an array.
    Array(Vec<Tree>),
    /// The members of an object, sorted by name in UTF-8 byte order, with unique names.
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// The approximate memory of [`Tree::from_json`] of a text, in bytes.
    pub fn bytes_of(json: &str) -> usize {
        let (mut values, mut in_string, mut escaped) = (1, false, false);
        for byte in json.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = in_string,
                b'"' => in_string = !in_string,
                b',' | b'[' | b'{' if !in_string => values += 1,
                _ => {}
            }
        }
        json.len() + values * size_of::<(String, Self)>()
    }

    /// Parses JSON text. The last of several members with the same name wins.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON, or a number exceeds binary64. `TOO_LARGE`: the
    /// nesting or an integer exceeds its limit.
    pub fn from_json(text: &str) -> Result<Self> {
        let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX);
        let mut open = Vec::new();
        loop {
            let event = reader.next();
            let value = match event.map_err(|error| json_error(&error, text))? {
                Event::BeginObject => {
                    open.push(TreeBuilder::Object(Vec::new(), String::new()));
                    continue;
                }
                Event::BeginArray => {
                    open.push(TreeBuilder::Array(Vec::new()));
                    continue;
                }
                Event::Name(name) => {
                    if let Some(TreeBuilder::Object(_, next)) = open.last_mut() {
                        *next = name.into_owned();
                    }
                    continue;
                }
                Event::EndObject | Event::EndArray => match open.pop() {
                    Some(closed) => closed.closed(),
                    None => return Err(Error::internal("a reader closed an unopened value")),
                },
                Event::String(text) => Self::Leaf(Leaf::String(Cow::Owned(text.into_owned()))),
                Event::Number(text) => Self::Leaf(Leaf::number(text)?),
                Event::Bool(value) => Self::Leaf(Leaf::Bool(value)),
                Event::Null => Self::Leaf(Leaf::Null),
                Event::End => return Err(Error::internal("a reader ended before its value")),
            };
            match open.last_mut() {
                Some(TreeBuilder::Array(elements)) => elements.push(value),
                Some(TreeBuilder::Object(members, name)) => {
                    members.push((std::mem::take(name), value));
                }
                None => {
                    let end = reader.next();
                    end.map_err(|error| json_error(&error, text))?;
                    return Ok(value);
                }
            }
        }
    }

    /// Writes the value as JSON text.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out);
        String::from_utf8(out).expect("JSON that is written from strings is UTF-8")
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Leaf(leaf) => leaf.write_json(out),
            Self::Array(elements) => {
                out.push(b'[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    element.write_json(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                out.push(b'{');
                for (at, (name, member)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    write_string(out, name);
                    out.push(b':');
                    member.write_json(out);
                }
                out.push(b'}');
            }
        }
    }

    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Leaf(leaf) => leaf.kind(),
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
        }
    }

    /// The value at a place below this one, if any.
    pub fn at(&self, below: &[Segment]) -> Option<&Self> {
        let mut segments = below.iter().map(Segment::as_ref);
        segments.try_fold(self, Self::child)
    }

    /// The member with this name, and its name.
    pub fn member(&self, name: &str) -> Option<(&str, &Self)> {
        let Self::Object(members) = self else {
            return None;
        };
        let found = members.binary_search_by(|(member, _)| member.as_str().cmp(name));
        let (name, value) = &members[found.ok()?];
        Some((name, value))
    }

    /// The member or element that a segment names.
    pub fn child(&self, segment: SegmentRef<'_>) -> Option<&Self> {
        match (self, segment) {
            (_, SegmentRef::Key(name)) => self.member(name).map(|(_, value)| value),
            (Self::Array(elements), SegmentRef::Index(index)) => {
                elements.get(usize::try_from(index).ok()?)
            }
            _ => None,
        }
    }
}

/// A container that is being parsed.
enum TreeBuilder {
    Array(Vec<Tree>),
    /// Its members in the order of the text, and the name of the next one.
    Object(Vec<(String, Tree)>, String),
}

impl TreeBuilder {
    fn closed(self) -> Tree {
        match self {
            Self::Array(elements) => Tree::Array(elements),
            Self::Object(mut members, _) => {
                // The sort is stable, so the last of several members with the same name stays last.
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                members.dedup_by(|later, kept| {
                    let same = later.0 == kept.0;
                    if same {
                        std::mem::swap(later, kept);
                    }
                    same
                });
                Tree::Object(members)
            }
        }
    }
}

/// Whether two values are equal. Containers are compared deeply, numbers by exact value (`1`, `1.0`
/// and `1e0` are equal).
pub fn equal(a: &Tree, b: &Tree) -> bool {
    match equal_within::<Infallible>(a, b, &mut |_| Ok(())) {
        Ok(equal) => equal,
        Err(never) => match never {},
    }
}

/// [`equal`] with bounded work. It calls `spend` before each piece of work, with about one step per
/// value compared.
///
/// # Errors
/// What `spend` fails with.
pub fn equal_within<E>(
    a: &Tree,
    b: &Tree,
    spend: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<bool, E> {
    match (a, b) {
        (Tree::Leaf(a), Tree::Leaf(b)) => {
            spend(leaf_work(a).min(leaf_work(b)))?;
            Ok(number::equal(a, b))
        }
        (Tree::Array(a), Tree::Array(b)) if a.len() == b.len() => {
            spend(1)?;
            for (a, b) in a.iter().zip(b) {
                if !equal_within(a, b, spend)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Tree::Object(a), Tree::Object(b)) if a.len() == b.len() => {
            spend(1)?;
            for ((x, a), (y, b)) in a.iter().zip(b) {
                if x != y || !equal_within(a, b, spend)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Bytes of two strings that are compared in one step of work.
pub const TEXT_BYTES_PER_STEP: u64 = 256;

/// The steps to compare a value with another string, besides the first. 0 if it is not a string.
pub fn text_work(value: &Tree) -> u64 {
    match value {
        Tree::Leaf(Leaf::String(text)) => text.len() as u64 / TEXT_BYTES_PER_STEP,
        _ => 0,
    }
}

fn leaf_work(leaf: &Leaf<'_>) -> u64 {
    match leaf {
        Leaf::String(text) => 1 + text.len() as u64 / TEXT_BYTES_PER_STEP,
        _ => 1,
    }
}

/// The order of two leaves of one type: numbers by exact value, strings by code point, `false`
/// before `true`. Two nulls are equal. `None` for different types and for containers.
pub fn compare(a: &Tree, b: &Tree) -> Option<Ordering> {
    match (a, b) {
        (Tree::Leaf(a), Tree::Leaf(b)) => number::order(a, b),
        _ => None,
    }
}

/// A total preorder of all values: leaves by type and then by [`compare`], then containers, which
/// are all equal.
pub fn sort_order(a: &Tree, b: &Tree) -> Ordering {
    let rank = |value: &Tree| match value.kind() {
        Kind::Null => 0,
        Kind::Boolean => 1,
        Kind::Number => 2,
        Kind::String => 3,
        Kind::Array | Kind::Object => 4,
    };
    rank(a)
        .cmp(&rank(b))
        .then_with(|| compare(a, b).unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn tree(text: &str) -> Tree {
        Tree::from_json(text).expect(text)
    }

    #[test]
    fn members_are_sorted_and_the_last_of_a_name_wins() {
        let value = tree(r#" {"b":1,"a":[true,null],"b":{"x":[]},"":"","a":2} "#);
        let Tree::Object(members) = &value else {
            panic!("no object: {value:?}");
        };
        let names: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["", "a", "b"]);
        let below = [Segment::Key("b".into()), Segment::Key("x".into())];
        assert_eq!(value.at(&below), Some(&Tree::Array(vec![])));
        assert_eq!(value.at(&[Segment::Key("a".into())]), Some(&tree("2")));
        assert_eq!(value.at(&[Segment::Index(0)]), None);
        assert_eq!(value.at(&[]), Some(&value));
        assert_eq!(value.kind(), Kind::Object);
    }

    #[test]
    fn elements_are_found_by_index_only() {
        let value = tree("[1,[2]]");
        assert_eq!(
            value.at(&[Segment::Index(1), Segment::Index(0)]),
            Some(&tree("2"))
        );
        assert_eq!(value.at(&[Segment::Index(2)]), None);
        assert_eq!(value.at(&[Segment::Index(u64::MAX)]), None);
        assert_eq!(value.at(&[Segment::Key("0".into())]), None);
    }

    #[test]
    fn invalid_or_too_deep_json_is_rejected() {
        for text in ["", "[", "{\"a\"}", "1 2", "[1,]", "nul", "1e999"] {
            let error = Tree::from_json(text).expect_err(text);
            assert_eq!(error.kind(), ErrorKind::BadUserInput, "{text}");
        }
        let levels = |levels| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        tree(&levels(DOCUMENT_LEVELS_MAX));
        let error = Tree::from_json(&levels(DOCUMENT_LEVELS_MAX + 1)).expect_err("too deep");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn equality_is_deep_and_numbers_are_compared_by_value() {
        for (a, b, expected) in [
            ("[1,{\"a\":2.0}]", "[1.0,{\"a\":2}]", true),
            ("[9007199254740993]", "[9007199254740992.0]", false),
            ("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true),
            ("{\"a\":1}", "{\"a\":1,\"b\":2}", false),
            ("{\"a\":1}", "{\"b\":1}", false),
            ("[1,2]", "[2,1]", false),
            ("[]", "{}", false),
            ("[]", "[]", true),
            ("null", "false", false),
            ("\"1\"", "1", false),
        ] {
            assert_eq!(equal(&tree(a), &tree(b)), expected, "{a} and {b}");
            assert_eq!(equal(&tree(b), &tree(a)), expected, "{b} and {a}");
        }
    }

    #[test]
    fn order_is_within_one_type_only() {
        use Ordering::{Equal, Greater, Less};
        for (a, b, expected) in [
            ("1", "1.5", Some(Less)),
            ("9007199254740993", "9007199254740992.0", Some(Greater)),
            ("1e300", "100000000000000000000", Some(Greater)),
            ("\"a\"", "\"b\"", Some(Less)),
            // By code point. In UTF-16 the order is reversed.
            ("\"\u{FFFF}\"", "\"\u{10000}\"", Some(Less)),
            ("false", "true", Some(Less)),
            ("null", "null", Some(Equal)),
            ("null", "0", None),
            ("\"1\"", "1", None),
            ("[]", "[]", None),
            ("{}", "{}", None),
        ] {
            assert_eq!(compare(&tree(a), &tree(b)), expected, "{a} and {b}");
            let reversed = expected.map(Ordering::reverse);
            assert_eq!(compare(&tree(b), &tree(a)), reversed, "{b} and {a}");
        }
    }
}
