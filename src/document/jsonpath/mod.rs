//! JSONPath (RFC 9535): a query is parsed and evaluated here, on values with exact numbers and within
//! bounds (docs/decisions/0013).

mod ast;
mod evaluate;
mod filter;
mod leading;
mod node_list;
mod parse;
mod places;
mod slice;

use std::ops::ControlFlow;
use std::sync::Arc;

use ast::{QuerySegment, Selector};
use evaluate::Evaluation;
pub use evaluate::check_nodes;
pub use leading::{ElementRange, ElementSlice, Leading, LeadingRange, LeadingStep};
pub use node_list::{Selected, SelectedNodes};

use super::path::{Segment, SegmentRef};
use super::regexp::Regexp;
use super::tree::Tree;
use crate::budget::Steps;
use crate::error::Result;

/// A JSONPath query. A clone is cheap. Two are equal if they have the same segments, however they are
/// written: `$.a` and `$['a']` are.
#[derive(Clone, Debug)]
pub struct Query(Arc<Parsed>);

#[derive(Debug)]
struct Parsed {
    text: String,
    segments: Vec<QuerySegment>,
    prefix: Vec<Segment>,
    /// Whether a filter has a query from the root.
    has_root_queries: bool,
    simple: Option<Vec<SimpleStep>>,
    regexps: Vec<Regexp>,
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.0.segments == other.0.segments
    }
}

/// One step of a query that an index can follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SimpleStep {
    /// The member of this name.
    Name(String),
    /// The element at this index, from 0.
    Index(u64),
    /// `[*]`: every element and every member.
    Each,
    /// `[*]~`: the name of every member. No query has it; the path of an index can end with it.
    EachName,
}

impl Query {
    /// Parses a query.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is no query of RFC 9535; the message says what is wrong and where.
    /// `TOO_LARGE`, `TOO_COMPLEX`: the text, its nesting or a regular expression in it exceeds a
    /// limit, which the message names.
    pub fn parse(text: &str) -> Result<Self> {
        let (segments, regexps) = parse::parse(text)?;
        Ok(Self(Arc::new(Parsed {
            text: text.to_owned(),
            prefix: prefix(&segments),
            has_root_queries: has_root_queries(&segments),
            simple: segments.iter().map(simple).collect(),
            segments,
            regexps,
        })))
    }

    /// The query as it was written.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The place that contains all that the query reads: the names and indexes from 0 that it begins
    /// with, as far as every query from the root inside a filter begins with them, too. Only the
    /// value at this place has to be read.
    pub fn prefix(&self) -> &[Segment] {
        &self.0.prefix
    }

    /// The places that contain all that the query reads: the names and indexes from 0 that it begins
    /// with, and those that each query from the root inside a filter begins with. Unlike
    /// [`Query::prefix`], these need not have a place in common.
    pub fn places_read(&self) -> Vec<Vec<Segment>> {
        let mut places = vec![leading_place(&self.0.segments)];
        for segment in &self.0.segments {
            segment.visit_from_root(&mut |query| places.push(leading_place(&query.segments)));
        }
        places
    }

    /// The steps of the query if it consists of names, indexes from 0 and `[*]` alone.
    pub fn simple(&self) -> Option<&[SimpleStep]> {
        self.0.simple.as_deref()
    }

    /// The only place that the query can select. `None` unless it consists of names and indexes from
    /// 0 alone.
    pub fn place(&self) -> Option<&[Segment]> {
        let prefix = &self.0.prefix;
        (prefix.len() == self.0.segments.len()).then_some(prefix)
    }

    /// Whether the query is singular (RFC 9535 §2.3.5.1): it consists of names and indexes alone.
    pub fn is_singular(&self) -> bool {
        let mut segments = self.0.segments.iter();
        segments.all(|segment| segment.singular().is_some())
    }

    /// The place that a singular query leads to, relative to [`Query::prefix`]. Its last step need
    /// not exist, unless it is an index from the end. `below_prefix` is as for [`Query::select`].
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub fn singular_place(
        &self,
        below_prefix: &Tree,
        steps: &Steps<'_>,
    ) -> Result<Option<Vec<Segment>>> {
        evaluate::singular_place(&self.0.segments[self.0.prefix.len()..], below_prefix, steps)
    }

    /// Whether it has regular expressions, which take memory once they are compiled.
    pub fn has_regexps(&self) -> bool {
        !self.0.regexps.is_empty()
    }

    /// Compiles the regular expressions, so that they are checked before the query is used. Without
    /// this, each is compiled when it is first used.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: one is too large once it is compiled; the message names the limit.
    /// `UNAVAILABLE`: all requests together would hold too much memory. As [`Steps::spend`].
    pub fn compile(&self, steps: &Steps<'_>) -> Result<()> {
        for regexp in &self.0.regexps {
            regexp.compile(steps)?;
        }
        Ok(())
    }

    /// What the query selects, in RFC 9535's order with object members by name, duplicates kept:
    /// the place of each node, relative to [`Query::prefix`], and the node. `below_prefix` is the
    /// value at the prefix. If nothing is stored there, nothing is selected.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it selects more than one query may, or a regular expression exceeds a limit; the
    /// message names the limit. `UNAVAILABLE`: all requests together would hold too much memory. As
    /// [`Steps::spend`].
    pub fn select<'t>(
        &self,
        below_prefix: &'t Tree,
        steps: &Steps<'_>,
    ) -> Result<SelectedNodes<'t>> {
        self.select_rest(self.0.prefix.len(), below_prefix, steps)
    }

    /// Calls `each` with the values that the query selects, as [`Query::select`], until it breaks.
    ///
    /// # Errors
    /// As [`Query::select`]. The errors of `each`.
    pub fn visit<'t>(
        &self,
        below_prefix: &'t Tree,
        steps: &Steps<'_>,
        each: impl FnMut(&'t Tree) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let evaluation = Evaluation::new(below_prefix, self.0.prefix.len(), steps);
        evaluation.visit(&self.0.segments, each)
    }

    /// The leading segments, none of them applied.
    pub fn leading(&self) -> Leading<'_> {
        if self.0.has_root_queries {
            return Leading::at_prefix(&self.0.prefix);
        }
        Leading::of(&self.0.segments)
    }

    /// Whether the query has more than its first `applied` segments.
    pub fn has_rest(&self, applied: usize) -> bool {
        applied < self.0.segments.len()
    }

    /// What the segments after the first `applied` ones select, as [`Query::select`], from the
    /// value at one place that the first ones select ([`Query::leading`]).
    ///
    /// # Errors
    /// As [`Query::select`].
    pub fn select_rest<'t>(
        &self,
        applied: usize,
        value: &'t Tree,
        steps: &Steps<'_>,
    ) -> Result<SelectedNodes<'t>> {
        Evaluation::new(value, applied, steps).select(&self.0.segments)
    }
}

fn prefix(segments: &[QuerySegment]) -> Vec<Segment> {
    let places = segments.iter().map_while(QuerySegment::place);
    let mut prefix: Vec<SegmentRef<'_>> = places.collect();
    for segment in segments {
        segment.visit_from_root(&mut |query| {
            let places = query.segments.iter().map_while(QuerySegment::place);
            let common = prefix
                .iter()
                .zip(places)
                .take_while(|(a, b)| *a == b)
                .count();
            prefix.truncate(common);
        });
    }
    prefix.into_iter().map(SegmentRef::to_owned).collect()
}

/// The names and indexes from 0 that a query begins with.
fn leading_place(segments: &[QuerySegment]) -> Vec<Segment> {
    let places = segments.iter().map_while(QuerySegment::place);
    places.map(SegmentRef::to_owned).collect()
}

fn has_root_queries(segments: &[QuerySegment]) -> bool {
    let mut found = false;
    for segment in segments {
        segment.visit_from_root(&mut |_| found = true);
    }
    found
}

fn simple(segment: &QuerySegment) -> Option<SimpleStep> {
    if let QuerySegment::Child(selectors) = segment
        && let [Selector::Wildcard] = selectors[..]
    {
        return Some(SimpleStep::Each);
    }
    Some(match segment.place()? {
        SegmentRef::Key(name) => SimpleStep::Name(name.to_owned()),
        SegmentRef::Index(index) => SimpleStep::Index(index),
    })
}

#[cfg(test)]
mod tests;
