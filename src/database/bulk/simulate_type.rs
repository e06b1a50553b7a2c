//! The definition of a type, and its simulation: which stored documents would not fit.

use tokio::time::Instant;

use super::reference_indexes::create_reference_indexes;
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

/// Gives a collection a type, and indexes to those of its references that need one and have none. Writes are
/// validated from this commit on.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty, or no index can find the keys of a reference. `TOO_LARGE`: the
/// name is too long, or the collection has too many indexes. `INTERNAL`: the stored type is damaged. Errors of the
/// store. As [`Budget::compute`].
pub async fn define_type(
    transaction: &dyn Transaction,
    budget: &Budget,
    of: &CollectionType,
) -> Result<DefinedType> {
    let (effect, state) = set_type(transaction, budget, of).await?;
    create_reference_indexes(transaction, of).await?;
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
/// As [`define_type`]. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub async fn simulate_type(
    transaction: &dyn Transaction,
    budget: &Budget,
    of: &CollectionType,
) -> Result<DefinedType> {
    let types = TypeCache::of(transaction);
    let until = Instant::now() + SIMULATED_TIME_MAX;
    let read = transaction.without_conflict();
    let mut simulated = Simulated::begin(read, &types, budget, of).await?;
    while !simulated.is_done() && Instant::now() < until {
        let portion = PortionRead::only(read);
        simulated.read_portion(portion, budget, of).await?;
    }
    Ok(simulated.finish())
}

/// As [`simulate_type`], from snapshots, so that no write waits. There is no limit on time.
///
/// # Errors
/// As [`simulate_type`]. `CONFLICT`: a document was changed while it was read from several snapshots.
pub async fn simulate_type_in_snapshots(
    database: &Database,
    budget: &Budget,
    of: &CollectionType,
) -> Result<DefinedType> {
    let snapshot = database.snapshot().await?;
    let mut simulated = Simulated::begin(&*snapshot, database.types(), budget, of).await?;
    while !simulated.is_done() {
        let snapshot = database.snapshot().await?;
        let portion = PortionRead::renewed(&*snapshot, database);
        simulated.read_portion(portion, budget, of).await?;
    }
    Ok(simulated.finish())
}

/// A simulation that reads one portion of documents after another.
struct Simulated {
    defined: DefinedType,
    position: Vec<u8>,
    left: PortionBounds,
}

impl Simulated {
    async fn begin(
        read: &dyn Read,
        types: &TypeCache,
        budget: &Budget,
        of: &CollectionType,
    ) -> Result<Self> {
        let (effect, state) = type_change(read, types, budget, of).await?;
        Ok(Self {
            defined: DefinedType {
                collection: of.collection().to_owned(),
                effect,
                state,
                examined: Some(0),
                complete: effect != TypeChange::NeedsCheck,
                misfits: Vec::new(),
            },
            position: Vec::new(),
            left: PortionBounds {
                documents: SIMULATED_DOCUMENTS_MAX,
                bytes: SIMULATED_BYTES_MAX,
                misfits: TYPE_VIOLATIONS_MAX,
            },
        })
    }

    /// Whether all documents are read that have to be, or a limit is reached.
    fn is_done(&self) -> bool {
        let left = &self.left;
        self.defined.complete || left.documents == 0 || left.bytes == 0 || left.misfits == 0
    }

    /// Reads a portion.
    async fn read_portion(
        &mut self,
        read: PortionRead<'_>,
        budget: &Budget,
        of: &CollectionType,
    ) -> Result<()> {
        let left = &mut self.left;
        let bounds = PortionBounds {
            documents: left.documents.min(TYPE_CHECK_DOCUMENTS_MAX),
            ..*left
        };
        let portion = validate_portion(read, budget, of, &self.position, bounds).await?;
        left.documents = left.documents.saturating_sub(portion.documents);
        left.bytes = left.bytes.saturating_sub(portion.bytes);
        left.misfits = left.misfits.saturating_sub(portion.misfits.len());
        self.position = portion.position;
        self.defined.misfits.extend(portion.misfits);
        self.defined.complete = portion.is_last;
        self.defined.examined = Some((SIMULATED_DOCUMENTS_MAX - left.documents) as u64);
        Ok(())
    }

    fn finish(self) -> DefinedType {
        let mut defined = self.defined;
        if defined.effect == TypeChange::NeedsCheck {
            defined.state = match (defined.misfits.is_empty(), defined.complete) {
                (false, _) => TypeState::Failed,
                (true, true) => TypeState::Enforced,
                (true, false) => TypeState::Checking,
            };
        }
        defined
    }
}
