//! The validation of an edit at its end.

use super::head::TypeHead;
use super::pending_references::references_written;
use super::touched_places::{TouchedPlaces, TouchedValues};
use super::type_cache::TypeCache;
use super::validate::{TypedDocument, check, of_leaves};
use crate::budget::Budget;
use crate::database::document_key::DocumentKey;
use crate::document::path::Place;
use crate::error::{Result, TypeViolation};
use crate::key::Leaves;
use crate::limits::TYPE_VIOLATIONS_MAX;
use crate::store::Transaction;
use crate::types::{CollectionType, SeenReference};

/// What an edit needs to validate a document against the type of its collection. Without a type, it does
/// nothing.
#[derive(Default)]
pub(crate) struct TypeGuard(Option<Box<TypedEdit>>);

struct TypedEdit {
    of: CollectionType,
    touched: TouchedPlaces,
}

impl TypeGuard {
    /// The guard of an edit in a collection whose type has this head.
    ///
    /// # Errors
    /// As [`TypeCache::find`].
    pub(crate) async fn of(
        transaction: &dyn Transaction,
        collection: &str,
        head: &TypeHead,
    ) -> Result<Self> {
        let cache = TypeCache::of(transaction);
        let of = cache.find(transaction, collection, head).await?;
        Ok(Self(Some(Box::new(TypedEdit {
            of,
            touched: TouchedPlaces::default(),
        }))))
    }

    /// Whether the collection has a type.
    pub(crate) fn is_typed(&self) -> bool {
        self.0.is_some()
    }

    /// As [`TouchedPlaces::wrote`].
    pub(crate) fn wrote(&mut self, key: &[u8], leaves: Option<&Leaves>) {
        self.record(|touched| touched.wrote(key, leaves));
    }

    /// As [`TouchedPlaces::removed`].
    pub(crate) fn removed(&mut self, key: &[u8]) {
        self.record(|touched| touched.removed(key));
    }

    /// As [`TouchedPlaces::appended`].
    pub(crate) fn appended(&mut self, array: &[u8], first: u64, elements: u64) {
        self.record(|touched| touched.appended(array, first, elements));
    }

    /// As [`TouchedPlaces::lengthened`].
    pub(crate) fn lengthened(&mut self, array: &[u8]) {
        self.record(|touched| touched.lengthened(array));
    }

    /// As [`TouchedPlaces::inserted`].
    pub(crate) fn inserted(&mut self, array: &[u8], index: u64) {
        self.record(|touched| touched.inserted(array, index));
    }

    /// As [`TouchedPlaces::removed_elements`].
    pub(crate) fn removed_elements(&mut self, array: &[u8], removed: &[u64]) {
        self.record(|touched| touched.removed_elements(array, removed));
    }

    fn record(&mut self, record: impl FnOnce(&mut TouchedPlaces)) {
        if let Some(edit) = &mut self.0 {
            record(&mut edit.touched);
        }
    }

    /// Validates what the edit has touched, as it is stored now. The references in it are checked at the end of the
    /// operation. A document that is not `entered` in the
    /// catalog is validated as a whole, because the check of stored documents has not read it.
    ///
    /// # Errors
    /// `TYPE_MISMATCH`. `INTERNAL`: damaged data. Errors of the store.
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) async fn validate(
        &self,
        transaction: &dyn Transaction,
        budget: &Budget,
        document: &DocumentKey,
        entered: bool,
    ) -> Result<()> {
        let Some(edit) = &self.0 else {
            return Ok(());
        };
        let typed = TypedDocument::new(&edit.of, transaction, budget, document)?;
        let violations = edit.violations(&typed, entered).await?;
        typed.check(violations)?;
        references_written(transaction, budget, document, typed.take_references())
    }
}

impl TypedEdit {
    async fn violations(
        &self,
        document: &TypedDocument<'_>,
        entered: bool,
    ) -> Result<Vec<TypeViolation>> {
        let values = self.touched.values();
        let mut found = self.of_touched(document, &values).await?;
        if !entered && found.is_empty() && !values.have(document.key()) {
            found.extend(document.elsewhere().await?);
        }
        Ok(found)
    }

    async fn of_touched(
        &self,
        document: &TypedDocument<'_>,
        values: &TouchedValues<'_>,
    ) -> Result<Vec<TypeViolation>> {
        let budget = document.budget();
        let mut found = Vec::new();
        for (key, leaves) in values.iter() {
            budget.pace(1).await?;
            found.extend(document.value(key, leaves).await?);
            if found.len() >= TYPE_VIOLATIONS_MAX {
                return Ok(found);
            }
        }
        let outside = |key: &[u8]| !values.have(key);
        for (array, first) in self.touched.tails().filter(|(array, _)| outside(array)) {
            budget.pace(1).await?;
            let room = TYPE_VIOLATIONS_MAX - found.len();
            found.extend(document.elements(array, first, room).await?);
            if found.len() >= TYPE_VIOLATIONS_MAX {
                return Ok(found);
            }
        }
        for member in self.touched.removed_members().filter(|key| outside(key)) {
            budget.pace(1).await?;
            found.extend(document.removed(member)?);
        }
        let lengths = self.touched.changed_lengths();
        for (array, more) in lengths.filter(|(array, _)| outside(array)) {
            budget.pace(1).await?;
            found.extend(document.length(array, more).await?);
        }
        Ok(found)
    }
}

/// Validates a new document, given the head of the type of its collection.
///
/// # Errors
/// As [`TypeGuard::validate`].
pub(crate) async fn validate_new(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    head: Option<&TypeHead>,
    leaves: &Leaves,
) -> Result<()> {
    let Some(head) = head else {
        return Ok(());
    };
    let cache = TypeCache::of(transaction);
    let collection = &document.collection;
    let of = cache.find(transaction, collection, head).await?;
    let (violations, references) = of_leaves(&of, &Place::default(), budget, leaves).await?;
    check(document, violations)?;
    references_written(transaction, budget, document, references)
}

/// The references of a document that depend on other documents, as it is stored now.
///
/// # Errors
/// `INTERNAL`: damaged data. Errors of the store. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub(crate) async fn stored_references(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
) -> Result<Vec<SeenReference>> {
    let collection = &document.collection;
    let free = transaction.without_conflict();
    let Some(head) = TypeHead::read(free, collection).await? else {
        return Ok(Vec::new());
    };
    let cache = TypeCache::of(transaction);
    let of = cache.find(free, collection, &head).await?;
    let typed = TypedDocument::new(&of, transaction, budget, document)?;
    typed.value(typed.key(), None).await?;
    Ok(typed.take_references())
}
