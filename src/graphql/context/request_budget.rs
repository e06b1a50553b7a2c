//! What one execution of an operation has come to so far, against what one request may.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use async_graphql::SelectionField;
use tokio::time::Instant;

use crate::budget::{Budget, Pool, Reservation};
use crate::error::{Error, Limit, Result};
use crate::limits::{Bounds, HELD_PER_FIELD};

/// Counts what an execution comes to, beside its [`Budget`]. Once a bound is passed the whole
/// request is refused: every field that looks fails at once, and no other error is told.
pub(crate) struct RequestBudget {
    bounds: Bounds,
    budget: Budget,
    /// Memory for what is read and kept until the response is written.
    pub(crate) memory: Reservation,
    fields: AtomicUsize,
    places: AtomicUsize,
    entities: AtomicUsize,
}

impl RequestBudget {
    /// The tally of a query.
    pub(crate) fn new(bounds: &Bounds, pool: &Pool, deadline: Instant) -> Self {
        Self::within(bounds, Budget::of_request(bounds, pool, deadline))
    }

    /// The tally of one try of a mutation.
    pub(crate) fn of_mutation(bounds: &Bounds, pool: &Pool, deadline: Instant) -> Self {
        Self::within(bounds, Budget::of_mutation(bounds, pool, deadline))
    }

    fn within(bounds: &Bounds, budget: Budget) -> Self {
        Self {
            memory: budget.reserve(),
            bounds: *bounds,
            budget,
            fields: AtomicUsize::new(0),
            places: AtomicUsize::new(0),
            entities: AtomicUsize::new(0),
        }
    }

    /// What the request may still use.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The bound that was passed, as an error that names it.
    pub(crate) fn passed(&self) -> Option<&Error> {
        self.budget.exhausted()
    }

    /// Whether the execution may go on. To be asked before work is done that takes a while.
    ///
    /// # Errors
    /// The bound that was passed; `TIMEOUT`: the time of the request is over.
    pub(crate) fn check(&self) -> Result<()> {
        self.budget.check()
    }

    /// Counts entities that a gateway asks for, and nodes that are asked for by their ids.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: they are too many. As [`RequestBudget::check`].
    pub(crate) fn entities(&self, entities: usize) -> Result<()> {
        self.check()?;
        let limit = Limit::new("entities", self.bounds.entities);
        self.count(
            &self.entities,
            entities,
            limit,
            "entities or nodes in one request",
        )
    }

    /// Counts places of documents that are about to be read.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: they are too many. As [`RequestBudget::check`].
    pub(crate) fn places(&self, places: usize) -> Result<()> {
        self.check()?;
        let limit = Limit::new("places", self.bounds.places);
        self.count(&self.places, places, limit, "places read in one request")
    }

    /// Whether so many more places may be read.
    ///
    /// # Errors
    /// As [`RequestBudget::places`].
    pub(crate) fn room(&self, places: usize) -> Result<()> {
        let read = self.places.load(Relaxed);
        if read.saturating_add(places) <= self.bounds.places {
            return Ok(());
        }
        self.places(places)
    }

    /// Counts the fields that are selected below `field` for each of so many elements, and the
    /// bytes of their names in the response.
    ///
    /// # Errors
    /// `TOO_COMPLEX`, `TOO_LARGE`: names the limit. As [`RequestBudget::check`].
    pub(crate) fn elements(&self, elements: usize, field: SelectionField<'_>) -> Result<()> {
        self.check()?;
        let (fields, names) = below(field);
        self.carry(elements.saturating_mul(names))?;
        self.fields(elements.saturating_mul(fields.max(1)))
    }

    /// Counts fields of a response, and holds memory for them while it is made.
    ///
    /// # Errors
    /// `TOO_COMPLEX`, `TOO_LARGE`: names the limit.
    pub(crate) fn fields(&self, fields: usize) -> Result<()> {
        let limit = Limit::new("responseFields", self.bounds.response_fields);
        self.count(&self.fields, fields, limit, "fields in the response")?;
        self.memory.hold(fields.saturating_mul(HELD_PER_FIELD))
    }

    /// Whether the response may carry so many bytes besides what it carries already.
    ///
    /// # Errors
    /// `TOO_LARGE`: names the limit. As [`RequestBudget::check`].
    pub(crate) fn carry(&self, bytes: usize) -> Result<()> {
        self.check()?;
        self.budget.respond(bytes)
    }

    fn count(&self, counter: &AtomicUsize, by: usize, limit: Limit, what: &str) -> Result<()> {
        if add(counter, by) as u64 <= limit.value() {
            return Ok(());
        }
        self.budget.fail(Error::too_complex(
            limit,
            format!("more than {} {what}, which is the limit", limit.value()),
        ))
    }
}

fn add(counter: &AtomicUsize, by: usize) -> usize {
    counter.fetch_add(by, Relaxed).saturating_add(by)
}

/// The fields that are selected below a field, and the bytes that their names take in JSON.
fn below(field: SelectionField<'_>) -> (usize, usize) {
    let (mut fields, mut names) = (0, 0);
    for selected in field.selection_set() {
        let name = selected.alias().unwrap_or(selected.name());
        let (more, longer) = below(selected);
        fields += 1 + more;
        names += name.len() + r#""":,"#.len() + longer;
    }
    (fields, names)
}
