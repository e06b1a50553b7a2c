//! Selections with the conditions of the fragments around them, and the occurrences of fields in them.

use std::collections::HashSet;

use async_graphql::Positioned;
use async_graphql::parser::types::{Field as RequestedField, SelectionSet};

use super::condition::FieldCondition;

/// A selection set, and the conditions under which it is selected.
pub(super) struct Source<'d> {
    pub(super) conditions: Vec<FieldCondition>,
    pub(super) selected: &'d SelectionSet,
}

impl<'d> Source<'d> {
    pub(super) fn of(selected: &'d SelectionSet) -> Self {
        Self {
            conditions: Vec::new(),
            selected,
        }
    }
}

/// An occurrence of a field in a selection.
pub(super) struct Occurrence<'d> {
    pub(super) conditions: Vec<FieldCondition>,
    pub(super) field: &'d Positioned<RequestedField>,
}

/// The occurrences of a response name in a selection that have been planned so far.
#[derive(Default)]
pub(super) struct PassedOccurrences<'o> {
    /// The conditions of each of them.
    pub(super) conditions: HashSet<&'o [FieldCondition]>,
    /// The number of occurrences, also of those that need no plan.
    pub(super) number: usize,
    pub(super) repeated: Option<usize>,
}

impl<'d> Occurrence<'d> {
    pub(super) fn key(&self) -> &'d str {
        &self.field.node.response_key().node
    }
}
