//! JSON text to leaves, in one pass and with no tree in between.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::json::{Event, JsonError, Problem, Reader, position, utf8};
use super::leaf::{Kind, Leaf};
use super::path::SegmentRef;
use crate::error::{Error, Limit, Result};
use crate::limits::DOCUMENT_LEVELS_MAX;

/// Takes a document apart: what [`flatten`] tells of it, in the order of its text.
pub trait LeafSink {
    /// Goes down to a member or an element.
    ///
    /// # Errors
    /// `TOO_LARGE`: the path is too long to be stored.
    fn enter(&mut self, segment: SegmentRef<'_>) -> Result<()>;
    /// Goes up again.
    fn leave(&mut self);
    /// A leaf stands here.
    ///
    /// # Errors
    /// `TOO_LARGE`: it cannot be stored.
    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<()>;
    /// An empty object or array stands here.
    ///
    /// # Errors
    /// `TOO_LARGE`: the path is too long to be stored.
    fn empty(&mut self, kind: Kind) -> Result<()>;
    /// How many leaves and empty containers were taken.
    fn taken(&self) -> usize;
    /// Drops these of them: a later member of the same name replaces what they belong to.
    fn forget(&mut self, taken: Range<usize>);
}

/// Tells `sink` the leaves of the one JSON value in `text`. Of members of the same name the last
/// one wins.
///
/// # Errors
/// `BAD_USER_INPUT`: the text is not JSON or holds a number past binary64. `TOO_LARGE`: nesting,
/// an integer or a path passes its limit. Each says at which line and column.
pub fn flatten(text: &str, sink: &mut impl LeafSink) -> Result<()> {
    Flattening::new(text).advance(sink, usize::MAX).map(|_| ())
}

/// The text of JSON that came as bytes.
///
/// # Errors
/// `BAD_USER_INPUT`: they are not UTF-8.
pub fn json_text(bytes: &[u8]) -> Result<&str> {
    utf8(bytes).map_err(|_| Error::bad_input("not UTF-8"))
}

/// A JSON error as the error that the caller is told.
pub fn json_error(error: &JsonError, text: &str) -> Error {
    let told = format!("not valid JSON: {}", error.describe(text));
    match error.problem {
        Problem::TooDeep(limit) => {
            Error::too_large(Limit::new("documentLevels", limit), error.describe(text))
        }
        _ => Error::bad_input(told),
    }
}

enum OpenValue {
    /// Where its members begin in [`Members::seen`].
    Object(usize),
    /// How many elements were entered.
    Array(u64),
}

/// Does what [`flatten`] does, some events at a time.
pub struct Flattening<'a> {
    text: &'a str,
    reader: Reader<'a>,
    open: Vec<OpenValue>,
    members: Members<'a>,
}

impl<'a> Flattening<'a> {
    /// Begins with a text.
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

    /// How many bytes of the text were read.
    pub fn offset(&self) -> usize {
        self.reader.offset()
    }

    /// Goes on for so many events of the text at most. Whether that was its end.
    ///
    /// # Errors
    /// As [`flatten`].
    pub fn advance(&mut self, sink: &mut impl LeafSink, events_max: usize) -> Result<bool> {
        for _ in 0..events_max {
            let at = self.reader.offset();
            let event = self.reader.next();
            let event = event.map_err(|error| json_error(&error, self.text))?;
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

    /// `before` is where the reader stood: what it read next begins behind a comma and space.
    fn placed(&self, error: Error, before: usize) -> Error {
        let between = |byte: &&u8| matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t');
        let rest = self.text.as_bytes()[before..].iter();
        let at = before + rest.take_while(between).count();
        error.at(format!("at {} of the JSON", position(self.text, at)))
    }
}

/// The members of every open object, so that of those of the same name the last one wins.
struct Members<'a> {
    text: &'a str,
    seen: Vec<Member>,
    hasher: RandomState,
}

struct Member {
    hash: u64,
    /// Byte offset at or before its name in the text.
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

    /// The member whose value just ended is the last one that has no end yet: those of objects
    /// further down are gone already.
    fn end_member(&mut self, taken: usize) {
        if let Some(member) = self.seen.last_mut() {
            member.end = taken;
        }
    }

    /// The object whose members begin at `begin` is over: forgets all but the last of each name.
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

    /// From the first equal hash on, compares names, since different names may have equal hashes.
    /// Each member forgets the last one of its name before it, which has forgotten the others: any
    /// number of members of one name costs one comparison each.
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
