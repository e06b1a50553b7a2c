//! The definition of a type, and its simulation: which stored documents would not fit.

use super::typed_documents::{PortionBounds, PortionRead, validate_portion};
use crate::budget::Budget;
use crate::database::types::define::{TypeChange, set_type, type_change};
use crate::database::types::head::TypeState;
use crate::database::types::misfits::Misfit;
use crate::error::Result;
use crate::limits::{SIMULATED_BYTES_MAX, SIMULATED_DOCUMENTS_MAX, TYPE_VIOLATIONS_MAX};
use crate::store::Transaction;
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

/// Validates stored documents against a type without setting it. Reads no document if all certainly
/// fit, and otherwise at most [`SIMULATED_DOCUMENTS_MAX`] and [`SIMULATED_BYTES_MAX`].
///
/// # Errors
/// As [`set_type`]. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub async fn simulate_type(
    transaction: &dyn Transaction,
    budget: &Budget,
    of: &CollectionType,
) -> Result<DefinedType> {
    let (effect, state) = type_change(transaction, budget, of).await?;
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
    let bounds = PortionBounds {
        documents: SIMULATED_DOCUMENTS_MAX,
        bytes: SIMULATED_BYTES_MAX,
        misfits: TYPE_VIOLATIONS_MAX,
    };
    let read = PortionRead::only(transaction.without_conflict());
    let portion = validate_portion(read, budget, of, &[], bounds).await?;
    defined.examined = Some(portion.documents);
    defined.complete = portion.is_last;
    defined.state = match (portion.misfits.is_empty(), portion.is_last) {
        (false, _) => TypeState::Failed,
        (true, true) => TypeState::Enforced,
        (true, false) => TypeState::Checking,
    };
    defined.misfits = portion.misfits;
    Ok(defined)
}
