//! The memory of prepared queries: an estimate for the parts of a query, and how it counts.

use std::mem::size_of_val;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use async_graphql::parser::types::{Directive, ExecutableDocument, Selection, SelectionSet};
use async_graphql::{Name, Positioned};
use async_graphql_value::{ConstValue, Value as Input};

use crate::budget::{Pool, Share};
use crate::error::Result;

/// What the parser keeps of an element besides the element itself: the counts of a name, and the unused
/// end of an allocation.
const BESIDES: usize = 32;

/// The memory of a document or plan. It counts towards the memory of all requests, except while a cache
/// with a bound of its own holds the query.
#[derive(Debug)]
pub(crate) struct PartMemory {
    bytes: usize,
    share: Share,
    /// The number of caches that hold the query.
    caches: Mutex<usize>,
}

impl PartMemory {
    /// Counts `bytes` that have been allocated.
    ///
    /// # Errors
    /// `UNAVAILABLE`: all requests together hold too much.
    pub(super) fn new(bytes: usize, pool: &Pool) -> Result<Self> {
        let share = pool.share();
        share.take(bytes)?;
        Ok(Self {
            bytes,
            share,
            caches: Mutex::default(),
        })
    }

    /// The estimate.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A cache holds the query from now on.
    pub(super) fn enter_cache(&self) {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        if *caches == 0 {
            self.share.give(self.bytes);
        }
        *caches += 1;
    }

    /// A cache no longer holds the query. Requests may still use it.
    pub(super) fn leave_cache(&self) {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        *caches -= 1;
        if *caches == 0 {
            self.share.add(self.bytes);
        }
    }
}

/// A valid document whose memory is counted.
#[derive(Debug)]
pub(crate) struct PreparedDocument {
    document: ExecutableDocument,
    number: u64,
    pub(super) memory: PartMemory,
}

impl PreparedDocument {
    /// # Errors
    /// As [`PartMemory::new`].
    pub(super) fn new(document: ExecutableDocument, pool: &Pool) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let memory = PartMemory::new(document_bytes(&document), pool)?;
        Ok(Self {
            document,
            number: NEXT.fetch_add(1, Relaxed),
            memory,
        })
    }

    /// A number that no other prepared document of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl Deref for PreparedDocument {
    type Target = ExecutableDocument;

    fn deref(&self) -> &ExecutableDocument {
        &self.document
    }
}

/// The bytes of a parsed document.
fn document_bytes(document: &ExecutableDocument) -> usize {
    let operations = document.operations.iter().map(|(name, operation)| {
        let defined = &operation.node.variable_definitions;
        let defaults = defined.iter().map(|definition| {
            let default = definition.node.default_value.as_ref();
            definition.node.name.node.len()
                + BESIDES
                + default.map_or(0, |default| const_value_bytes(&default.node))
                + directives_bytes(&definition.node.directives)
        });
        size_of_val(operation)
            + name.map_or(0, |name| name.len() + BESIDES)
            + size_of_val(&defined[..])
            + defaults.sum::<usize>()
            + directives_bytes(&operation.node.directives)
            + selections_bytes(&operation.node.selection_set.node)
    });
    let fragments = document.fragments.iter().map(|(name, fragment)| {
        size_of_val(fragment)
            + 2 * (name.len() + BESIDES)
            + directives_bytes(&fragment.node.directives)
            + selections_bytes(&fragment.node.selection_set.node)
    });
    operations.sum::<usize>() + fragments.sum::<usize>()
}

/// The bytes of a parsed selection set. The recursion is bounded by the limit on nested brackets.
pub(super) fn selections_bytes(set: &SelectionSet) -> usize {
    let each = set.items.iter().map(|selected| match &selected.node {
        Selection::Field(field) => {
            let field = &field.node;
            let alias = field.alias.as_ref();
            alias.map_or(0, |alias| alias.node.len() + BESIDES)
                + field.name.node.len()
                + BESIDES
                + arguments_bytes(&field.arguments)
                + directives_bytes(&field.directives)
                + selections_bytes(&field.selection_set.node)
        }
        Selection::FragmentSpread(spread) => {
            spread.node.fragment_name.node.len()
                + BESIDES
                + directives_bytes(&spread.node.directives)
        }
        Selection::InlineFragment(inline) => {
            let condition = inline.node.type_condition.as_ref();
            condition.map_or(0, |condition| condition.node.on.node.len() + BESIDES)
                + directives_bytes(&inline.node.directives)
                + selections_bytes(&inline.node.selection_set.node)
        }
    });
    set.items.capacity() * size_of::<Positioned<Selection>>() + each.sum::<usize>()
}

fn directives_bytes(directives: &[Positioned<Directive>]) -> usize {
    let each = directives.iter().map(|directive| {
        directive.node.name.node.len() + BESIDES + arguments_bytes(&directive.node.arguments)
    });
    size_of_val(directives) + each.sum::<usize>()
}

/// The bytes of arguments, in a document or in a plan.
pub(super) fn arguments_bytes(arguments: &[(Positioned<Name>, Positioned<Input>)]) -> usize {
    let each = arguments
        .iter()
        .map(|(name, value)| name.node.len() + BESIDES + value_bytes(&value.node));
    size_of_val(arguments) + each.sum::<usize>()
}

/// The bytes of a value, without the value itself. The recursion is bounded by the limit on nested
/// brackets.
fn value_bytes(value: &Input) -> usize {
    match value {
        Input::Null | Input::Boolean(_) | Input::Number(_) => 0,
        Input::Variable(name) | Input::Enum(name) => name.len() + BESIDES,
        Input::String(text) => text.len(),
        Input::Binary(bytes) => bytes.len(),
        Input::List(elements) => {
            elements.capacity() * size_of::<Input>()
                + elements.iter().map(value_bytes).sum::<usize>()
        }
        Input::Object(members) => {
            let each = members
                .iter()
                .map(|(name, value)| name.len() + BESIDES + value_bytes(value));
            // The index has the hash and the number of each member besides.
            members.capacity() * (size_of::<(Name, Input)>() + 2 * size_of::<usize>())
                + each.sum::<usize>()
        }
    }
}

/// The approximate bytes of a value without variables, with the value itself. The recursion is bounded by the limit on
/// nested brackets.
pub(crate) fn const_value_bytes(value: &ConstValue) -> usize {
    /// What an object has for each member besides its text: the name, and its place in the index.
    const MEMBER: usize = size_of::<Name>() + 2 * size_of::<usize>();
    let own = size_of::<ConstValue>();
    own + match value {
        ConstValue::Binary(text) => text.len(),
        ConstValue::String(text) => text.len(),
        ConstValue::List(elements) => elements.iter().map(const_value_bytes).sum(),
        ConstValue::Object(members) => members
            .iter()
            .map(|(name, member)| MEMBER + name.len() + const_value_bytes(member))
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_counts_unless_a_cache_holds_the_query() {
        const BYTES: usize = 1 << 20;
        let pool = Pool::new(2 * BYTES);
        let memory = PartMemory::new(BYTES, &pool).expect("there is room");
        let counted = pool.held();
        assert!(counted > BYTES / 2, "{counted}");
        memory.enter_cache();
        memory.enter_cache();
        assert_eq!(pool.held(), 0);
        memory.leave_cache();
        assert_eq!(pool.held(), 0, "another cache holds it");
        memory.leave_cache();
        assert_eq!(pool.held(), counted);
        drop(memory);
        assert_eq!(pool.held(), 0);
        assert!(PartMemory::new(3 * BYTES, &pool).is_err(), "too much");
        assert_eq!(pool.held(), 0);
    }
}
