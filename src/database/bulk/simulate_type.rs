//! The simulation of a type: which stored documents would not fit.

use super::typed_documents::{PortionBounds, validate_portion};
use crate::budget::Budget;
use crate::database::types::define::TypeChange;
use crate::database::types::head::{TypeHead, TypeState};
use crate::database::types::misfits::Misfit;
use crate::error::Result;
use crate::limits::{SIMULATED_BYTES_MAX, SIMULATED_DOCUMENTS_MAX, TYPE_VIOLATIONS_MAX};
use crate::store::{Read, Transaction};
use crate::types::CollectionType;

/// What a type would mean for the stored documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedType {
    /// The state that the type would have after its check, as far as it was simulated.
    pub state: TypeState,
    /// The documents that were read.
    pub examined: u64,
    /// Whether all documents were read that have to be.
    pub complete: bool,
    /// The places that do not fit, at most [`TYPE_VIOLATIONS_MAX`].
    pub misfits: Vec<Misfit>,
}

/// Validates stored documents against a type without setting it. Reads no document if all certainly
/// fit, and otherwise at most [`SIMULATED_DOCUMENTS_MAX`] and [`SIMULATED_BYTES_MAX`]. The transaction does not
/// conflict with writes.
///
/// # Errors
/// Errors of the store. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub async fn simulate_type(
    transaction: &dyn Transaction,
    budget: &Budget,
    of: &CollectionType,
    change: TypeChange,
) -> Result<SimulatedType> {
    let read: &dyn Read = transaction.without_conflict();
    let stored = TypeHead::read(read, of.collection()).await?;
    let state = stored.map_or(TypeState::Enforced, |head| head.state);
    let mut simulated = SimulatedType {
        state,
        examined: 0,
        complete: true,
        misfits: Vec::new(),
    };
    if change != TypeChange::NeedsCheck {
        return Ok(simulated);
    }
    let bounds = PortionBounds {
        documents: SIMULATED_DOCUMENTS_MAX,
        bytes: SIMULATED_BYTES_MAX,
        misfits: TYPE_VIOLATIONS_MAX,
    };
    let portion = validate_portion(read, budget, of, &[], bounds).await?;
    simulated.examined = portion.documents;
    simulated.complete = portion.is_last;
    simulated.state = match (portion.misfits.is_empty(), portion.is_last) {
        (false, _) => TypeState::Failed,
        (true, true) => TypeState::Enforced,
        (true, false) => TypeState::Checking,
    };
    simulated.misfits = portion.misfits;
    Ok(simulated)
}
