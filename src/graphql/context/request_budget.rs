//! The limits of one execution of an operation, and how much of them it has used.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tokio::time::Instant;

use crate::budget::{Budget, Pool, Reservation};
use crate::error::{Error, Limit, Result};
use crate::limits::{Bounds, HELD_PER_FIELD};

/// Counts the fields, places and entities of an execution, in addition to its [`Budget`]. Exceeding
/// a limit rejects the whole request: every later check fails at once, and only that error is
/// reported.
pub(crate) struct RequestBudget {
    bounds: Bounds,
    budget: Budget,
    /// Memory for the data that is held until the response is written.
    pub(crate) memory: Reservation,
    fields: AtomicUsize,
    places: AtomicUsize,
    entities: AtomicUsize,
}

impl RequestBudget {
    /// The budget of a query.
    pub(crate) fn new(bounds: &Bounds, pool: &Pool, deadline: Instant) -> Self {
        Self::within(bounds, Budget::of_request(bounds, pool, deadline))
    }

    /// The budget of one attempt of a mutation.
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

    /// The underlying budget.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The error that names the exceeded limit, if any.
    pub(crate) fn passed(&self) -> Option<&Error> {
        self.budget.exhausted()
    }

    /// Checks whether the execution may continue. Call it before work that takes long.
    ///
    /// # Errors
    /// The error of an exceeded limit. `TIMEOUT`: the request's time limit has passed.
    pub(crate) fn check(&self) -> Result<()> {
        self.budget.check()
    }

    /// Counts entities that a gateway requests, and nodes that are requested by id.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: the limit is exceeded. As [`RequestBudget::check`].
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
    /// `TOO_COMPLEX`: the limit is exceeded. As [`RequestBudget::check`].
    pub(crate) fn places(&self, places: usize) -> Result<()> {
        self.check()?;
        let limit = Limit::new("places", self.bounds.places);
        self.count(&self.places, places, limit, "places read in one request")
    }

    /// Checks whether `places` more places may be read, without counting them.
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

    /// Counts fields of the response, and reserves memory for them until it is written.
    ///
    /// # Errors
    /// `TOO_COMPLEX`, `TOO_LARGE`: the named limit is exceeded.
    pub(crate) fn fields(&self, fields: usize) -> Result<()> {
        let limit = Limit::new("responseFields", self.bounds.response_fields);
        self.count(&self.fields, fields, limit, "fields in the response")?;
        self.memory.hold(fields.saturating_mul(HELD_PER_FIELD))
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

/// The error of a plan whose parts do not fit each other.
pub(crate) fn mismatch() -> Error {
    Error::internal("the parts of a plan do not fit each other")
}
