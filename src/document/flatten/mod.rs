//! Splits JSON text into leaves in one pass, without a tree.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::json::{Event, JsonError, Problem, Reader, position, utf8};
use super::leaf::{Kind, Leaf};
use super::path::SegmentRef;
use crate::error::{Error, Limit, Result};
use crate::limits::DOCUMENT_LEVELS_MAX;

/// Receives the leaves of a document from [`flatten`], in the order of its text.
pub trait LeafSink {
    /// Enters a member or an element.
    ///
    /// # Errors
    /// `TOO_LARGE`: the path exceeds the maximum key length.
    fn enter(&mut self, segment: SegmentRef<'_>) -> Result<()>;
    /// Leaves the member or element that was entered last.
    fn leave(&mut self);
    /// Takes a leaf at the current place.
    ///
    /// # Errors
    /// `TOO_LARGE`: the leaf cannot be stored.
    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<()>;
    /// Takes an empty object or array at the current place.
    ///
    /// # Errors
    /// `TOO_LARGE`: the path exceeds the maximum key length.
    fn empty(&mut self, kind: Kind) -> Result<()>;
    /// The number of leaves and empty containers taken so far.
    fn taken(&self) -> usize;
    /// Drops these leaves and empty containers, because a later member has the same name.
    fn forget(&mut self, taken: Range<usize>);
}

/// Passes the leaves of the JSON value in `text` to `sink`. The last of several members with the
/// same name wins.
///
/// # Errors
/// `BAD_USER_INPUT`: the text is not JSON, or a number exceeds binary64. `TOO_LARGE`: the nesting,
/// an integer or a path exceeds its limit. Each names the line and column.
pub fn flatten(text: &str, sink: &mut impl LeafSink) -> Result<()> {
    Flattening::new(text).advance(sink, usize::MAX).map(|_| ())
}

/// Decodes the UTF-8 of JSON text.
///
/// # Errors
/// `BAD_USER_INPUT`: the bytes are not UTF-8.
pub fn json_text(bytes: &[u8]) -> Result<&str> {
    utf8(bytes).map_err(|_| Error::bad_input("not UTF-8"))
}

/// Converts a JSON error to the error for the caller.
pub fn json_error(error: &JsonError, text: &str) -> Error {
    let message = format!("not valid JSON: {}", error.describe(text));
    match error.problem {
        Problem::TooDeep(limit) => {
            Error::too_large(Limit::new("documentLevels", limit), error.describe(text))
        }
        _ => Error::bad_input(message),
    }
}

enum OpenValue {
    /// The index in [`Members::seen`] of its first member.
    Object(usize),
    /// The number of elements entered so far.
    Array(u64),
}

/// [`flatten`] in steps of a bounded number of events.
pub struct Flattening<'a> {
    text: &'a str,
    reader: Reader<'a>,
    open: Vec<OpenValue>,
    members: Members<'a>,
}

impl<'a> Flattening<'a> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            reader: Reader::new(text, DOCUMENT_LEVELS_MAX),
            open: Vec::new(),
            members: Members {
                text,
                seen: Vec::new(),
                hasher: RandomState::new(),
            },
        }
    }

    /// The number of bytes read.
    pub fn offset(&self) -> usize {
        self.reader.offset()
    }

    /// Processes at most `events_max` events. Returns whether the text is complete.
    ///
    /// # Errors
    /// As [`flatten`].
    pub fn advance(&mut self, sink: &mut impl LeafSink, events_max: usize) -> Result<bool> {
        for _ in 0..events_max {
            let at = self.reader.offset();
            let event = self
                .reader
                .next()
                .map_err(|error| json_error(&error, self.text))?;
            if event == Event::End {
                return Ok(true);
            }
            self.take(event, at, sink)
                .map_err(|error| self.placed(error, at))?;
        }
        Ok(false)
    }

    fn take(&mut self, event: Event<'_>, at: usize, sink: &mut impl LeafSink) -> Result<()> {
        match event {
            Event::Name(name) => {
                self.members.begin(&name, at, sink.taken());
                return sink.enter(SegmentRef::Key(&name));
            }
            Event::EndObject | Event::EndArray => return self.close(sink),
            _ => {}
        }
        if let Some(OpenValue::Array(elements)) = self.open.last_mut() {
            sink.enter(SegmentRef::Index(*elements))?;
            *elements += 1;
        }
        match event {
            Event::BeginObject => {
                self.open.push(OpenValue::Object(self.members.seen.len()));
                return Ok(());
            }
            Event::BeginArray => {
                self.open.push(OpenValue::Array(0));
                return Ok(());
            }
            Event::Null => sink.leaf(Leaf::Null)?,
            Event::Bool(value) => sink.leaf(Leaf::Bool(value))?,
            Event::Number(text) => sink.leaf(Leaf::number(text)?)?,
            Event::String(text) => sink.leaf(Leaf::String(text))?,
            Event::Name(_) | Event::EndObject | Event::EndArray | Event::End => {}
        }
        self.after_value(sink);
        Ok(())
    }

    fn close(&mut self, sink: &mut impl LeafSink) -> Result<()> {
        match self.open.pop() {
            Some(OpenValue::Array(0)) => sink.empty(Kind::Array)?,
            Some(OpenValue::Object(begin)) if begin == self.members.seen.len() => {
                sink.empty(Kind::Object)?;
            }
            Some(OpenValue::Object(begin)) => self.members.end(begin, sink),
            _ => {}
        }
        self.after_value(sink);
        Ok(())
    }

    fn after_value(&mut self, sink: &mut impl LeafSink) {
        match self.open.last() {
            Some(OpenValue::Object(_)) => {
                self.members.end_member(sink.taken());
                sink.leave();
            }
            Some(OpenValue::Array(_)) => sink.leave(),
            None => {}
        }
    }

    /// `before` is the position before the event; a comma and whitespace may precede the token.
    fn placed(&self, error: Error, before: usize) -> Error {
        let between = |byte: &&u8| matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t');
        let rest = self.text.as_bytes()[before..].iter();
        let at = before + rest.take_while(between).count();
        error.at(format!("at {} of the JSON", position(self.text, at)))
    }
}

/// The members of all open objects, used to find members with the same name.
struct Members<'a> {
    text: &'a str,
    seen: Vec<Member>,
    hasher: RandomState,
}

struct Member {
    hash: u64,
    /// A byte offset at or before its name in the text.
    at: usize,
    begin: usize,
    end: usize,
}

impl Members<'_> {
    fn begin(&mut self, name: &str, at: usize, taken: usize) {
        self.seen.push(Member {
            hash: self.hasher.hash_one(name),
            at,
            begin: taken,
            end: usize::MAX,
        });
    }

    /// Ends the member whose value is complete. It is the last in `seen`: members of inner objects
    /// have been removed.
    fn end_member(&mut self, taken: usize) {
        if let Some(member) = self.seen.last_mut() {
            member.end = taken;
        }
    }

    /// Ends the object whose members start at `begin`, and drops all but the last member of each
    /// name.
    fn end(&mut self, begin: usize, sink: &mut impl LeafSink) {
        let members = &mut self.seen[begin..];
        members.sort_unstable_by_key(|member| (member.hash, member.at));
        for at in 1..members.len() {
            let (before, member) = (&members[at - 1], &members[at]);
            if before.hash == member.hash {
                self.forget_same_name(begin, begin + at, sink);
                break;
            }
        }
        self.seen.truncate(begin);
    }

    /// Compares names from the first equal hash on, because different names may have equal hashes.
    /// Each member drops only the nearest earlier member of its name, which has dropped the ones
    /// before it. So many members of one name cost one comparison each.
    #[cold]
    fn forget_same_name(&self, begin: usize, from: usize, sink: &mut impl LeafSink) {
        for at in from..self.seen.len() {
            let member = &self.seen[at];
            let mut rivals = self.seen[begin..at]
                .iter()
                .rev()
                .take_while(|rival| rival.hash == member.hash)
                .peekable();
            if rivals.peek().is_none() {
                continue;
            }
            let name = self.name(member);
            if let Some(rival) = rivals.find(|rival| self.name(rival) == name) {
                sink.forget(rival.begin..rival.end);
            }
        }
    }

    fn name(&self, member: &Member) -> Option<Cow<'_, str>> {
        let quote = member.at + self.text[member.at..].find('"')?;
        match Reader::new(&self.text[quote..], 0).next() {
            Ok(Event::String(name)) => Some(name),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
