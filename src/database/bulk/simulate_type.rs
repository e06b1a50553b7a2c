//! The definition of a type, and its simulation: which stored documents would not fit.

use tokio::time::Instant;

use super::typed_documents::{PortionBounds, PortionRead, validate_portion};
use crate::budget::Budget;
use crate::database::open::Database;
use crate::database::types::define::{TypeChange, set_type, type_change};
use crate::database::types::head::TypeState;
use crate::database::types::misfits::Misfit;
use crate::database::types::type_cache::TypeCache;
use crate::error::Result;
use crate::limits::{
    SIMULATED_BYTES_MAX, SIMULATED_DOCUMENTS_MAX, SIMULATED_TIME_MAX, TYPE_CHECK_DOCUMENTS_MAX,
    TYPE_VIOLATIONS_MAX,
};
use crate::store::{Read, Transaction};
use crate::types::CollectionType;

/// The result of a definition of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinedType {
    /// The collection.
    pub collection: String,
    /// What the type means for the stored documents.
    pub effect: TypeChange,
    /// The state of the type. Of a simulation, the state that it would have.
    pub state: TypeState,
    /// The documents that the simulation has read. `None` if it was none.
    pub examined: Option<u64>,
    /// Whether the simulation has read all documents that it would have to.
    pub complete: bool,
    /// The places that the simulation has found not to fit, at most [`TYPE_VIOLATIONS_MAX`].
    pub misfits: Vec<Misfit>,
}

/// Gives a collection a type ([`set_type`]).
///
/// # Errors
/// As [`set_type`].
pub async fn define_type(
    transaction: &dyn Transaction,
    budget: &Budget,
    of: &CollectionType,
) -> Result<DefinedType> {
    let (effect, state) = set_type(transaction, budget, of).await?;
    Ok(DefinedType {
        collection: of.collection().to_owned(),
        effect,
        state,
        examined: None,
        complete: true,
        misfits: Vec::new(),
    })
}

/// Validates stored documents against a type without setting it, in a transaction. Reads no document
/// if all certainly fit, and otherwise at most [`SIMULATED_DOCUMENTS_MAX`] and
/// [`SIMULATED_BYTES_MAX`], and for [`SIMULATED_TIME_MAX`], because other writes may wait.
///
/// # Errors
/// As [`set_type`]. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub async fn simulate_type(
    transaction: &dyn Transaction,
    budget: &Budget,
    of: &CollectionType,
) -> Result<DefinedType> {
    let types = TypeCache::of(transaction);
    let until = Instant::now() + SIMULATED_TIME_MAX;
    simulate(
        transaction.without_conflict(),
        &types,
        budget,
        of,
        Some(until),
    )
    .await
}

/// As [`simulate_type`], in a snapshot, so that no write waits. There is no limit on time.
///
/// # Errors
/// As [`simulate_type`].
pub async fn simulate_type_in_snapshot(
    database: &Database,
    budget: &Budget,
    of: &CollectionType,
) -> Result<DefinedType> {
    let snapshot = database.snapshot().await?;
    simulate(&*snapshot, database.types(), budget, of, None).await
}

async fn simulate(
    read: &dyn Read,
    types: &TypeCache,
    budget: &Budget,
    of: &CollectionType,
    until: Option<Instant>,
) -> Result<DefinedType> {
    let (effect, state) = type_change(read, types, budget, of).await?;
    let mut defined = DefinedType {
        collection: of.collection().to_owned(),
        effect,
        state,
        examined: Some(0),
        complete: true,
        misfits: Vec::new(),
    };
    if effect != TypeChange::NeedsCheck {
        return Ok(defined);
    }
    let mut left = PortionBounds {
        documents: SIMULATED_DOCUMENTS_MAX,
        bytes: SIMULATED_BYTES_MAX,
        misfits: TYPE_VIOLATIONS_MAX,
    };
    let mut position = Vec::new();
    loop {
        let documents = left.documents.min(TYPE_CHECK_DOCUMENTS_MAX);
        let bounds = PortionBounds { documents, ..left };
        let portion = PortionRead::only(read);
        let portion = validate_portion(portion, budget, of, &position, bounds).await?;
        position = portion.position;
        left.documents -= portion.documents.min(documents);
        left.bytes = left.bytes.saturating_sub(portion.bytes);
        left.misfits -= portion.misfits.len().min(left.misfits);
        defined.misfits.extend(portion.misfits);
        let is_late = until.is_some_and(|until| Instant::now() >= until);
        let is_used_up = left.documents == 0 || left.bytes == 0 || left.misfits == 0;
        if portion.is_last || is_used_up || is_late {
            defined.complete = portion.is_last;
            break;
        }
    }
    defined.examined = Some((SIMULATED_DOCUMENTS_MAX - left.documents) as u64);
    defined.state = match (defined.misfits.is_empty(), defined.complete) {
        (false, _) => TypeState::Failed,
        (true, true) => TypeState::Enforced,
        (true, false) => TypeState::Checking,
    };
    Ok(defined)
}
