//! JSONPath (RFC 9535).

use std::sync::Arc;

use super::path::Segment;
use super::tree::Tree;
use crate::error::{Error, Result};

/// A JSONPath query. A clone is cheap.
#[derive(Clone, Debug, PartialEq)]
pub struct Query(Arc<Parsed>);

#[derive(Debug, PartialEq)]
struct Parsed {
    text: String,
    prefix: Vec<Segment>,
    simple: Option<Vec<SimpleStep>>,
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
}

impl Query {
    /// Takes a query apart.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is no query of RFC 9535; says where and what is wrong. `TOO_LARGE`,
    /// `TOO_COMPLEX`: its text or its nesting passes a limit, which the message names.
    pub fn parse(text: &str) -> Result<Self> {
        Err(Error::bad_input(format!("the JSONPath {text:?} is none")))
    }

    /// The query as it was written.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The place at which all that the query looks at stands: the names and indexes from 0 that it
    /// begins with. Only what is stored there has to be read.
    pub fn prefix(&self) -> &[Segment] {
        &self.0.prefix
    }

    /// The steps of the query if it consists of names, indexes from 0 and `[*]` alone.
    pub fn simple(&self) -> Option<&[SimpleStep]> {
        self.0.simple.as_deref()
    }

    /// What the query selects, in RFC 9535's order with object members by name, duplicates kept:
    /// the place of each node, relative to [`Query::prefix`], and the node. `below_prefix` is the
    /// value that stands at the prefix; where nothing stands there, nothing is selected.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it looks at more, or selects more, than one query may; names the limit.
    pub fn select<'t>(&self, below_prefix: &'t Tree) -> Result<Vec<(Vec<Segment>, &'t Tree)>> {
        let nothing = (Vec::new(), below_prefix);
        Ok(vec![nothing])
    }
}
