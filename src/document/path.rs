//! Places in a document, and the paths that name them.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

use super::json::{Event, Reader};
use crate::error::{Error, Result};

/// The JSON Pointer token for the place after the last element of an array.
const DASH: &str = "-";

/// One step of a place: a member of an object or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The name of a member.
    Key(String),
    /// The index of an element, from 0.
    Index(u64),
}

/// A [`Segment`] that borrows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentRef<'a> {
    /// The name of a member.
    Key(&'a str),
    /// The index of an element, from 0.
    Index(u64),
}

impl Segment {
    /// Its bytes of memory.
    pub(crate) fn held_bytes(&self) -> usize {
        let name = match self {
            Self::Key(name) => name.len(),
            Self::Index(_) => 0,
        };
        size_of::<Self>() + name
    }

    /// Borrows the segment.
    pub fn as_ref(&self) -> SegmentRef<'_> {
        match self {
            Self::Key(key) => SegmentRef::Key(key),
            Self::Index(index) => SegmentRef::Index(*index),
        }
    }
}

/// Formats the segment as a token of a JSON Pointer.
impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(&key.replace('~', "~0").replace('/', "~1")),
            Self::Index(index) => index.fmt(f),
        }
    }
}

impl SegmentRef<'_> {
    /// Converts to an owned segment.
    pub fn to_owned(self) -> Segment {
        match self {
            Self::Key(key) => Segment::Key(key.to_owned()),
            Self::Index(index) => Segment::Index(index),
        }
    }
}

/// One exact place in a document: the segments from its root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(pub Vec<Segment>);

impl Place {
    /// The place one segment below.
    #[must_use]
    pub fn child(&self, segment: Segment) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment);
        Self(segments)
    }

    /// The bytes of memory of its segments.
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.iter().map(Segment::held_bytes).sum()
    }

    /// The place `below`, relative to this one.
    #[must_use]
    pub fn join(&self, below: &[Segment]) -> Self {
        Self([&self.0, below].concat())
    }
}

/// Formats the place as a JSON Pointer (RFC 6901), for messages.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.0 {
            write!(f, "/{segment}")?;
        }
        Ok(())
    }
}

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Token {
    /// An exact segment.
    Segment(Segment),
    /// A pointer token of digits: an index in an array, a key in an object.
    Digits(u64),
    /// An element, counted from the end of its array: 1 is the last. A list writes it as a negative
    /// integer. Only the stored array decides which element it is.
    FromEnd(u64),
    /// The pointer token `-`: the place after the last element of an array, which has no value (RFC
    /// 6901 §4), or a key in an object.
    Dash,
}

impl Token {
    /// The token for the digits of an integer in a list: an index, or if it is negative an index
    /// from the end. An integer of more than 64 bits becomes the maximum, which no array has.
    /// `None` if the text is not such an integer.
    pub fn of_integer(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let integer = digits.parse().unwrap_or(u64::MAX);
        match (digits.len() == text.len(), integer) {
            (true, index) => Some(Self::Segment(Segment::Index(index))),
            (false, 0) => None,
            (false, from_end) => Some(Self::FromEnd(from_end)),
        }
    }

    /// The key that the token names in an object. `None` if it can only be an index.
    pub fn as_key(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Segment(Segment::Key(key)) => Some(Cow::Borrowed(key)),
            Self::Segment(Segment::Index(_)) | Self::FromEnd(_) => None,
            Self::Digits(digits) => Some(Cow::Owned(digits.to_string())),
            Self::Dash => Some(Cow::Borrowed(DASH)),
        }
    }
}

impl Token {
    /// Whether the stored document decides which segment the token means as a bound of a range.
    pub fn is_open_bound(&self) -> bool {
        !matches!(self, Self::Segment(_))
    }

    /// The segment that the token means as a bound of a range, in an array of this length, or in
    /// another value. An index from the end that is before the first element means the first one. The
    /// place after the last element is a bound, too.
    pub fn as_bound(&self, array_length: Option<u64>) -> Segment {
        match (self, array_length) {
            (Self::Segment(segment), _) => segment.clone(),
            (Self::Digits(digits), Some(_)) => Segment::Index(*digits),
            (Self::Digits(digits), None) => Segment::Key(digits.to_string()),
            (Self::FromEnd(from_end), length) => {
                Segment::Index(length.unwrap_or(0).saturating_sub(*from_end))
            }
            (Self::Dash, Some(length)) => Segment::Index(length),
            (Self::Dash, None) => Segment::Key(DASH.to_owned()),
        }
    }
}

/// Formats the token as a token of a JSON Pointer.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segment(segment) => segment.fmt(f),
            Self::Digits(digits) => digits.fmt(f),
            Self::FromEnd(from_end) => write!(f, "-{from_end}"),
            Self::Dash => f.write_str(DASH),
        }
    }
}

/// A path as a client writes it. In list form every token is exact, except that a negative integer
/// is an index from the end of the array. In pointer form a token of digits is an index or a key,
/// depending on the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(Arc<[Token]>);

impl Path {
    /// The path of the whole document, without an allocation.
    pub fn root() -> &'static Self {
        static ROOT: LazyLock<Path> = LazyLock::new(Path::default);
        &ROOT
    }

    /// A path of these tokens.
    pub fn new(tokens: Vec<Token>) -> Self {
        Self(tokens.into())
    }

    /// Parses either form of a path: a JSON list of strings and integers (`["a",0]`), or a JSON
    /// Pointer (`/a/0`).
    ///
    /// # Errors
    /// `INVALID_PATH`: the text is neither.
    pub fn parse(text: &str) -> Result<Self> {
        if text.starts_with('[') {
            return list(text).ok_or_else(|| {
                Error::invalid_path(
                    None,
                    format!("the path {text:?} is not a JSON list of strings and integers"),
                )
            });
        }
        Self::pointer(text)
    }

    /// Parses a JSON Pointer (RFC 6901 §3): `""`, or tokens that each begin with `/`. `~0` means
    /// `~` and `~1` means `/`.
    ///
    /// # Errors
    /// `INVALID_PATH`: the text does not begin with `/`, or a `~` is not followed by `0` or `1`.
    pub fn pointer(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let Some(tokens) = text.strip_prefix('/') else {
            return Err(Error::invalid_path(
                None,
                format!("the JSON Pointer {text:?} does not begin with \"/\" (RFC 6901 §3)"),
            ));
        };
        tokens
            .split('/')
            .map(|token| pointer_token(token, text))
            .collect::<Result<_>>()
            .map(Self)
    }

    /// A path of these exact segments.
    pub fn of_segments(segments: &[Segment]) -> Self {
        Self(segments.iter().cloned().map(Token::Segment).collect())
    }

    /// The tokens, from the root down.
    pub fn tokens(&self) -> &[Token] {
        &self.0
    }

    /// This path followed by another.
    #[must_use]
    pub fn join(&self, below: &Path) -> Self {
        if below.0.is_empty() {
            return self.clone();
        }
        if self.0.is_empty() {
            return below.clone();
        }
        Self([&self.0[..], &below.0[..]].concat().into())
    }

    /// The rest of this path after `above`. `None` if `above` is not a prefix of it.
    pub fn below(&self, above: &Path) -> Option<Path> {
        let below = self.0.strip_prefix(&above.0[..])?;
        Some(Self(below.into()))
    }

    /// The path of the first tokens of this one.
    #[must_use]
    pub fn first(&self, tokens: usize) -> Self {
        Self(self.0[..tokens.min(self.0.len())].into())
    }

    /// The bytes of memory of its tokens.
    pub(crate) fn held_bytes(&self) -> usize {
        let name = |token: &Token| match token {
            Token::Segment(segment) => segment.held_bytes(),
            Token::Digits(_) | Token::FromEnd(_) | Token::Dash => 0,
        };
        self.0
            .iter()
            .map(|token| size_of::<Token>() + name(token))
            .sum()
    }

    /// The number of digit tokens. Each doubles the number of places that the path can mean.
    pub fn ambiguous(&self) -> usize {
        let digits = |token: &&Token| matches!(token, Token::Digits(_));
        self.0.iter().filter(digits).count()
    }

    /// Whether a token counts from the end of an array.
    pub fn has_from_end(&self) -> bool {
        let from_end = |token: &Token| matches!(token, Token::FromEnd(_));
        self.0.iter().any(from_end)
    }

    /// Splits this path at its first token that counts from the end of an array: the path of the
    /// array, the count, and the rest.
    pub fn split_at_from_end(&self) -> Option<(Self, u64, Self)> {
        let tokens = self.0.iter().enumerate();
        let mut from_end = tokens.filter_map(|(at, token)| match token {
            Token::FromEnd(from_end) => Some((at, *from_end)),
            _ => None,
        });
        let (at, count) = from_end.next()?;
        Some((
            Self(self.0[..at].into()),
            count,
            Self(self.0[at + 1..].into()),
        ))
    }

    /// Splits this path after its `count`th digit token.
    pub fn split_after_ambiguous(&self, count: usize) -> (Self, Self) {
        let digits = |(_, token): &(usize, &Token)| matches!(token, Token::Digits(_));
        let mut ambiguous = self.0.iter().enumerate().filter(digits);
        let last = ambiguous.nth(count.saturating_sub(1));
        let (head, rest) = self.0.split_at(last.map_or(self.0.len(), |(at, _)| at + 1));
        (Self(head.into()), Self(rest.into()))
    }

    /// This path with each digit token read as an index.
    #[must_use]
    pub fn as_indexes(&self) -> Self {
        let index = |token: &Token| match token {
            Token::Digits(digits) => Token::Segment(Segment::Index(*digits)),
            Token::Segment(_) | Token::FromEnd(_) | Token::Dash => token.clone(),
        };
        Self(self.0.iter().map(index).collect())
    }

    /// The path of the parent, and the last token. `None` for the empty path.
    pub fn split_last(&self) -> Option<(Self, &Token)> {
        let (last, above) = self.0.split_last()?;
        Some((Self(above.into()), last))
    }

    /// The segments of the only place that can have a value. `None` if a token is ambiguous or
    /// counts from the end of an array.
    pub fn segments(&self) -> Option<impl Iterator<Item = SegmentRef<'_>>> {
        let segments = self.0.iter().filter_map(|token| match token {
            Token::Segment(segment) => Some(segment.as_ref()),
            Token::Dash => Some(SegmentRef::Key(DASH)),
            Token::Digits(_) | Token::FromEnd(_) => None,
        });
        let exact = |token: &Token| matches!(token, Token::Segment(_) | Token::Dash);
        self.0.iter().all(exact).then_some(segments)
    }

    /// The only place that can have a value. `None` if a token is ambiguous or counts from the end
    /// of an array.
    pub fn place(&self) -> Option<Place> {
        let segments = self.segments()?;
        Some(Place(segments.map(SegmentRef::to_owned).collect()))
    }

    /// All places that the path can mean: two for each ambiguous token. None if a token counts from
    /// the end of an array.
    pub fn places(&self) -> Vec<Place> {
        let mut places = vec![Vec::with_capacity(self.0.len())];
        for token in &*self.0 {
            match token {
                Token::Segment(segment) => {
                    for place in &mut places {
                        place.push(segment.clone());
                    }
                }
                Token::Digits(digits) => places = both_candidates(&places, *digits),
                Token::FromEnd(_) => return Vec::new(),
                Token::Dash => {
                    for place in &mut places {
                        place.push(Segment::Key(DASH.to_owned()));
                    }
                }
            }
        }
        places.into_iter().map(Place).collect()
    }
}

/// Formats the path as a JSON Pointer (RFC 6901), for messages.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &*self.0 {
            write!(f, "/{token}")?;
        }
        Ok(())
    }
}

impl From<&Place> for Path {
    fn from(place: &Place) -> Self {
        Self::of_segments(&place.0)
    }
}

/// Two paths inside a value, in the order of their keys: names by their UTF-8 bytes, indexes by number,
/// and names before indexes. A path that is that of the value itself is no bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathRange {
    /// The first part that the range has.
    pub from: Path,
    /// The first part after the range.
    pub to: Path,
}

impl PathRange {
    /// The places that are read: the value, and both bounds.
    pub const PLACES: usize = 3;

    /// The same range, in a value inside of another one.
    #[must_use]
    pub fn inside(&self, above: &Path) -> Self {
        Self {
            from: above.join(&self.from),
            to: above.join(&self.to),
        }
    }

    /// The same range, with paths that begin at the value at `above`. None if a path does not begin
    /// with `above`.
    pub fn below(&self, above: &Path) -> Option<Self> {
        Some(Self {
            from: self.from.below(above)?,
            to: self.to.below(above)?,
        })
    }
}

fn both_candidates(places: &[Vec<Segment>], digits: u64) -> Vec<Vec<Segment>> {
    let candidates = [Segment::Index(digits), Segment::Key(digits.to_string())];
    places
        .iter()
        .flat_map(|place| {
            candidates
                .clone()
                .map(|candidate| [&place[..], &[candidate]].concat())
        })
        .collect()
}

fn list(text: &str) -> Option<Path> {
    let mut reader = Reader::new(text, 1);
    let mut tokens = Vec::new();
    reader.next().ok()?;
    loop {
        tokens.push(match reader.next().ok()? {
            Event::String(key) => Token::Segment(Segment::Key(key.into_owned())),
            Event::Number(index) => Token::of_integer(index)?,
            Event::EndArray => break,
            _ => return None,
        });
    }
    (reader.next() == Ok(Event::End)).then_some(Path::new(tokens))
}

fn pointer_token(token: &str, pointer: &str) -> Result<Token> {
    if token == DASH {
        return Ok(Token::Dash);
    }
    if let Some(digits) = index(token) {
        return Ok(Token::Digits(digits));
    }
    let mut key = String::with_capacity(token.len());
    let mut rest = token;
    while let Some(at) = rest.find('~') {
        key.push_str(&rest[..at]);
        key.push(match rest.as_bytes().get(at + 1) {
            Some(b'0') => '~',
            Some(b'1') => '/',
            _ => {
                return Err(Error::invalid_path(
                    None,
                    format!(
                        "in the JSON Pointer {pointer:?} a \"~\" is followed by neither 0 nor 1 \
                     (RFC 6901 §3)"
                    ),
                ));
            }
        });
        rest = &rest[at + 2..];
    }
    key.push_str(rest);
    Ok(Token::Segment(Segment::Key(key)))
}

/// Parses an array index (RFC 6901 §4): digits without a leading zero. An index of more than 64
/// bits cannot exist in an array.
fn index(token: &str) -> Option<u64> {
    let digits = token.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = token.len() > 1 && token.starts_with('0');
    (digits && !leading_zero).then(|| token.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Token {
        Token::Segment(Segment::Key(name.to_owned()))
    }

    #[test]
    fn pointers_are_parsed_as_in_rfc_6901_section_5() {
        for (pointer, tokens) in [
            ("", vec![]),
            ("/foo", vec![key("foo")]),
            ("/foo/0", vec![key("foo"), Token::Digits(0)]),
            ("/", vec![key("")]),
            ("/a~1b", vec![key("a/b")]),
            ("/c%d", vec![key("c%d")]),
            ("/e^f", vec![key("e^f")]),
            ("/g|h", vec![key("g|h")]),
            ("/i\\j", vec![key("i\\j")]),
            ("/k\"l", vec![key("k\"l")]),
            ("/ ", vec![key(" ")]),
            ("/m~0n", vec![key("m~n")]),
            ("/~01", vec![key("~1")]),
            ("/007", vec![key("007")]),
            ("/-", vec![Token::Dash]),
            ("/99999999999999999999", vec![key("99999999999999999999")]),
        ] {
            let path = Path::pointer(pointer).expect("a valid pointer");
            assert_eq!(path.tokens(), tokens, "{pointer:?}");
        }
    }

    #[test]
    fn invalid_pointers_are_rejected() {
        for pointer in ["foo", "0", " /a", "/~", "/a~2", "/a~/b", "#/a"] {
            let error = Path::pointer(pointer).expect_err(pointer);
            assert_eq!(error.kind(), crate::error::ErrorKind::InvalidPath);
        }
    }

    #[test]
    fn digit_tokens_are_ambiguous_and_print_as_written() {
        let path = Path::pointer("/a/0/b~1/10").expect("a valid pointer");
        let places = path.places();
        assert_eq!(places.len(), 4);
        for place in places {
            assert_eq!(place.to_string(), "/a/0/b~1/10");
        }
    }

    #[test]
    fn json_lists_are_unambiguous() {
        let index = |index| Token::Segment(Segment::Index(index));
        for (text, tokens) in [
            ("[]", vec![]),
            (" [\"0\", 0 ]\n".trim_start(), vec![key("0"), index(0)]),
            (r#"["\u0061/b"]"#, vec![key("a/b")]),
            ("/0", vec![Token::Digits(0)]),
            ("/-1", vec![key("-1")]),
            (
                r#"["a",-1,-20]"#,
                vec![key("a"), Token::FromEnd(1), Token::FromEnd(20)],
            ),
        ] {
            let path = Path::parse(text).expect("a valid path");
            assert_eq!(path.tokens(), tokens, "{text:?}");
        }
        for text in [
            "[", "[-0]", "[-]", "[-1.0]", "[1.0]", "[1e0]", "[null]", "[[]]", "[0]x", "a",
        ] {
            let error = Path::parse(text).expect_err(text);
            assert_eq!(error.kind(), crate::error::ErrorKind::InvalidPath);
        }
    }
}
