//! The ranges of keys between two paths.
//!
//! A path of names and of indexes from the beginning of an array has one key, so the range follows from the
//! paths. A token of digits is an index or a name, and `-` and a token that counts from the end of an
//! array depend on its length: the last pair of the containers above such tokens decides, and is read
//! first. A container that is not stored contains no key, so what its tokens mean does not matter.

use super::path_candidates::containers;
use super::range_plan::{self, Extent};
use super::request::{BorrowedRequest, ReadRequest};
use crate::budget::{Reservation, in_turns};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::document::path::{Path, PathRange, Place, Segment, Token};
use crate::error::Result;
use crate::limits::DIGIT_TOKENS_AT_ONCE;
use crate::store::Read;

/// The range of the keys of the parts of a value between two paths.
pub(crate) struct KeyRange {
    /// The number of the request.
    pub(crate) request: usize,
    /// None if nothing is stored there.
    pub(crate) keys: Result<Option<RangeKeys>>,
}

/// The keys at which a range begins and ends.
pub(crate) struct RangeKeys {
    /// The length of the key of the value, with which both keys begin.
    pub(crate) key_bytes: usize,
    pub(crate) begin: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

/// Finds the key ranges of the requests for parts between two paths. Others are ignored. Takes one
/// round for all paths that have tokens whose meaning depends on the document, and further ones for the
/// tokens after one that counts from the end of an array, or after many tokens of digits.
pub(crate) async fn key_ranges(
    read: &dyn Read,
    requested: &[BorrowedRequest<'_>],
    memory: &Reservation,
) -> Vec<KeyRange> {
    let is_range = |request: &BorrowedRequest<'_>| matches!(request, ReadRequest::Between(..));
    if !requested.iter().any(is_range) {
        return Vec::new();
    }
    let mut bounds = Vec::new();
    let mut of = Vec::new();
    let mut numbered = in_turns(requested.iter().enumerate());
    while let Some((number, request)) = numbered.next().await {
        if let ReadRequest::Between(document, path, PathRange { from, to }) = *request {
            let value = path.tokens().len();
            bounds.extend([path, from, to].map(|path| Bound::new(document, path, value)));
            of.push((number, document, to.tokens().len() > value));
        }
    }
    settle(read, &mut bounds, memory).await;
    let mut ranges = Vec::with_capacity(of.len());
    let mut settled = in_turns(of.into_iter().zip(bounds.chunks(3)));
    while let Some(((request, document, has_end), bounds)) = settled.next().await {
        let keys = match bounds {
            [value, from, to] => keys(document, value, from, has_end.then_some(to), memory),
            _ => Ok(None),
        };
        ranges.push(KeyRange { request, keys });
    }
    ranges
}

/// The steps of sorting these ranges.
pub(crate) fn sort_steps(ranges: &[KeyRange]) -> u64 {
    let keys = ranges
        .iter()
        .filter_map(|range| range.keys.as_ref().ok()?.as_ref());
    let key_bytes = keys.map(|keys| keys.begin.len() + keys.end.len()).sum();
    range_plan::sort_steps(ranges.len(), key_bytes)
}

fn keys(
    document: &DocumentKey,
    value: &Bound<'_>,
    from: &Bound<'_>,
    to: Option<&Bound<'_>>,
    memory: &Reservation,
) -> Result<Option<RangeKeys>> {
    let key = |bound: &Bound<'_>| {
        let place = bound.place()?;
        place.map(|place| document.place(&place)).transpose()
    };
    let Some(value) = key(value)? else {
        return Ok(None);
    };
    let Some(begin) = key(from)? else {
        return Ok(None);
    };
    let end = match to {
        None => Some(prefix_end(&value)),
        Some(to) => key(to)?,
    };
    let Some(end) = end.filter(|end| begin < *end) else {
        return Ok(None);
    };
    // Each is copied for the read.
    memory.hold(2 * (begin.len() + end.len()))?;
    Ok(Some(RangeKeys {
        key_bytes: value.len(),
        begin,
        end,
    }))
}

/// The path of a value, or a bound of its parts.
struct Bound<'r> {
    document: &'r DocumentKey,
    /// The number of the first tokens that are the path of the value.
    value: usize,
    state: Result<BoundPath>,
}

/// How much of a path is known.
enum BoundPath {
    /// Tokens that are not settled follow those with this number.
    Open(Path, usize),
    Settled(Path),
    /// There is no such value.
    Nothing,
}

impl<'r> Bound<'r> {
    fn new(document: &'r DocumentKey, path: &Path, value: usize) -> Self {
        Self {
            document,
            value,
            state: Ok(BoundPath::Open(path.clone(), 0)),
        }
    }

    /// The place that the path means. None if there is no such value.
    fn place(&self) -> Result<Option<Place>> {
        match &self.state {
            Ok(BoundPath::Settled(path)) => Ok(path.place()),
            Ok(BoundPath::Open(..) | BoundPath::Nothing) => Ok(None),
            Err(error) => Err(error.clone()),
        }
    }

    /// The next tokens that the document decides about, each with the path of its container. A path with
    /// none is settled.
    fn open(&mut self, memory: &Reservation) -> Vec<(usize, Path)> {
        let Ok(BoundPath::Open(path, begin)) = &self.state else {
            return Vec::new();
        };
        let mut open = Vec::new();
        let mut held = 0;
        for (at, token) in path.tokens().iter().enumerate().skip(*begin) {
            if !token.is_open_bound() {
                continue;
            }
            let container = path.first(at);
            held += container.held_bytes();
            open.push((at, container));
            if matches!(token, Token::FromEnd(_)) || open.len() == DIGIT_TOKENS_AT_ONCE {
                break;
            }
        }
        if open.is_empty() {
            self.state = Ok(BoundPath::Settled(path.clone()));
        } else if let Err(error) = memory.hold(held) {
            self.state = Err(error);
            return Vec::new();
        }
        open
    }

    /// Settles the tokens whose containers were found.
    fn close(&mut self, containers: impl Iterator<Item = (usize, FoundContainer)>) {
        let Ok(BoundPath::Open(path, _)) = &self.state else {
            return;
        };
        let mut tokens = path.tokens().to_vec();
        let mut settled = 0;
        for (at, container) in containers {
            let length = match container {
                Err(error) => {
                    self.state = Err(error);
                    return;
                }
                Ok(None) => {
                    // No key is inside of the container, so any reading will do.
                    let exact = tokens.iter().map(|token| token.as_bound(None));
                    let path = Path::of_segments(&exact.collect::<Vec<Segment>>());
                    self.state = Ok(BoundPath::Settled(path));
                    return;
                }
                Ok(Some((_, length))) => length,
            };
            if let Token::FromEnd(from_end) = tokens[at]
                && at < self.value
                && from_end > length.unwrap_or(0)
            {
                self.state = Ok(BoundPath::Nothing);
                return;
            }
            tokens[at] = Token::Segment(tokens[at].as_bound(length));
            settled = at + 1;
        }
        self.state = Ok(BoundPath::Open(Path::new(tokens), settled));
    }
}

/// A container and its length if it is an array. None if nothing is stored there.
type FoundContainer = Result<Option<(Place, Option<u64>)>>;

/// The open tokens of the bounds that have some, with the numbers of the bounds.
async fn open(bounds: &mut [Bound<'_>], memory: &Reservation) -> Vec<(usize, Vec<(usize, Path)>)> {
    let mut open = Vec::new();
    let mut numbered = in_turns(bounds.iter_mut().enumerate());
    while let Some((number, bound)) = numbered.next().await {
        let tokens = bound.open(memory);
        if !tokens.is_empty() {
            open.push((number, tokens));
        }
    }
    open
}

/// Settles all bounds.
async fn settle(read: &dyn Read, bounds: &mut [Bound<'_>], memory: &Reservation) {
    loop {
        let open = open(bounds, memory).await;
        if open.is_empty() {
            return;
        }
        let requests = open.iter().flat_map(|(number, tokens)| {
            let document = bounds[*number].document;
            let containers = tokens.iter().map(|(_, container)| container);
            containers.map(move |path| ReadRequest::Value(document, path, Extent::Last))
        });
        let requests: Vec<BorrowedRequest<'_>> = requests.collect();
        let mut found = containers(read, &requests, memory).await.into_iter();
        let mut opened = in_turns(&open);
        while let Some((number, tokens)) = opened.next().await {
            // A bound may be settled before its last container.
            let found: Vec<FoundContainer> = found.by_ref().take(tokens.len()).collect();
            let tokens = tokens.iter().map(|(at, _)| *at);
            bounds[*number].close(tokens.zip(found));
        }
    }
}
