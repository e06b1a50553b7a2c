//! The claims of users' tokens, as rules use them.

use serde_json::{Map, Value};

use crate::document::id::is_canonical_integer;
use crate::document::leaf::Leaf;
use crate::document::tree::{self, Tree};

/// The name of a claim: of a member of the token, or, if it begins with `/`, the JSON Pointer of a
/// value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimName {
    first: Box<str>,
    below: Box<[Box<str>]>,
}

impl ClaimName {
    /// Parses a name.
    ///
    /// # Errors
    /// The name is empty, or begins with `/` and is not a JSON Pointer. The text says which.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let Some(pointer) = name.strip_prefix('/') else {
            if name.is_empty() {
                return Err("the name of a claim is empty".to_owned());
            }
            return Ok(Self {
                first: name.into(),
                below: Box::default(),
            });
        };
        let invalid = || {
            format!("in the claim {name:?} a \"~\" is followed by neither 0 nor 1 (RFC 6901 §3)")
        };
        let (first, below) = pointer
            .split_once('/')
            .map_or((pointer, None), |(first, below)| (first, Some(below)));
        let below = below.into_iter().flat_map(|below| below.split('/'));
        Ok(Self {
            first: unescaped(first).ok_or_else(invalid)?,
            below: below
                .map(unescaped)
                .collect::<Option<_>>()
                .ok_or_else(invalid)?,
        })
    }

    /// The claim. None if it is missing, null or an empty string: an identity provider that has no
    /// value for a claim may send it in any of these ways.
    pub(super) fn of<'c>(&self, claims: &'c Map<String, Value>) -> Option<&'c Value> {
        let mut value = claims.get(&*self.first)?;
        for name in &self.below {
            value = match value {
                Value::Object(members) => members.get(&**name)?,
                Value::Array(elements) if is_canonical_integer(name) => {
                    elements.get(name.parse::<usize>().ok()?)?
                }
                _ => return None,
            };
        }
        match value {
            Value::Null => None,
            Value::String(text) if text.is_empty() => None,
            value => Some(value),
        }
    }
}

/// A token of a JSON Pointer without its escapes. None if an escape is invalid.
fn unescaped(token: &str) -> Option<Box<str>> {
    let mut parts = token.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(match part.bytes().next() {
            Some(b'0') => '~',
            Some(b'1') => '/',
            _ => return None,
        });
        text.push_str(&part[1..]);
    }
    Some(text.into())
}

/// What a rule tests of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ClaimTest {
    /// The claim equals this value.
    Equal(Tree),
    /// The claim is a list with this element, or a string with this word. Spaces separate words.
    Contains(Tree),
}

impl ClaimTest {
    pub(super) fn passes(&self, claim: &Value) -> bool {
        match (self, claim) {
            (Self::Equal(value), claim) => equals(claim, value),
            (Self::Contains(value), Value::Array(elements)) => {
                elements.iter().any(|element| equals(element, value))
            }
            (Self::Contains(Tree::Leaf(Leaf::String(word))), Value::String(words)) => {
                words.split(' ').any(|found| found == word)
            }
            (Self::Contains(_), _) => false,
        }
    }
}

/// Whether a claim is a value. Equal numbers are equal however they are written.
fn equals(claim: &Value, value: &Tree) -> bool {
    match (claim, value) {
        (Value::String(text), Tree::Leaf(Leaf::String(value))) => text == value,
        (Value::Bool(flag), Tree::Leaf(Leaf::Bool(value))) => flag == value,
        (Value::String(_) | Value::Bool(_), _) => false,
        (claim, value) => to_tree(claim).is_some_and(|claim| tree::equal(&claim, value)),
    }
}

/// A claim as a value that documents can be compared with. None if a number is past the limits on
/// numbers of documents. The recursion is bounded by the levels of a token's claims.
pub(super) fn to_tree(claim: &Value) -> Option<Tree> {
    Some(match claim {
        Value::Null => Tree::Leaf(Leaf::Null),
        Value::Bool(flag) => Tree::Leaf(Leaf::Bool(*flag)),
        Value::Number(number) => Tree::Leaf(Leaf::number(number.as_str()).ok()?),
        Value::String(text) => Tree::Leaf(Leaf::String(text.clone().into())),
        Value::Array(elements) => Tree::Array(elements.iter().map(to_tree).collect::<Option<_>>()?),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| Some((name.clone(), to_tree(value)?));
            let mut members = members.iter().map(member).collect::<Option<Vec<_>>>()?;
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Tree::Object(members)
        }
    })
}
