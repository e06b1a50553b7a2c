//! The operations that all edits of a document share.

pub(crate) mod ahead;
pub(crate) mod argument;
pub(crate) mod elements;
pub(crate) mod locate;
pub(crate) mod location;
pub(crate) mod missing_parents;
pub(crate) mod overwrite;
pub(crate) mod renumber;

use std::sync::Arc;

use ahead::look_ahead;
use futures::future::{join, try_join3};
use location::{CreatedParents, Location, MissingParents, Parent, Target};

use crate::budget::Budget;
use crate::database::catalog::collections;
use crate::database::catalog::versionstamp::accept_versionstamp;
use crate::database::changes::record::{self, Edited};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::index::definition::{Definitions, definitions};
use crate::database::index::maintainer::IndexMaintainer;
use crate::database::open::unfinished_write::UnfinishedWrite;
use crate::database::types::pending_references::document_deleted;
use crate::database::types::type_guard::TypeGuard;
use crate::document::id::DocumentId;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::key::{Family, Leaves, Version, empty_marker};
use crate::limits::LEAVES_PER_PACE;
use crate::store::{RangeRead, Read, Transaction, key_after};

/// An edit of one document in a transaction: begin it, change values, [`finish`](Self::finish) it. If
/// it is not finished, because of an error, the transaction does not commit.
pub(crate) struct Editor<'t> {
    pub(crate) transaction: &'t dyn Transaction,
    pub(crate) budget: &'t Budget,
    pub(crate) document: Arc<DocumentKey>,
    prefix: Vec<u8>,
    /// Whether the catalog has an entry for the document.
    pub(crate) entered: bool,
    pub(crate) changed: bool,
    index_maintainer: IndexMaintainer<'t>,
    type_guard: TypeGuard,
    write: UnfinishedWrite,
}

impl<'t> Editor<'t> {
    /// Begins an edit at `path`. The document need not exist.
    pub(crate) async fn begin(
        transaction: &'t dyn Transaction,
        budget: &'t Budget,
        document: &Arc<DocumentKey>,
        path: &Path,
    ) -> Result<(Self, Target)> {
        Self::begin_reading(transaction, budget, transaction, document, path).await
    }

    /// Begins an edit of values below `path`. The transaction depends only on the existence of the
    /// value at `path`. Concurrently reads ahead at the paths `ahead`, which the edit reads next.
    pub(crate) async fn begin_above(
        transaction: &'t dyn Transaction,
        budget: &'t Budget,
        document: &Arc<DocumentKey>,
        path: &Path,
        ahead: &[Path],
    ) -> Result<(Self, Target)> {
        let free = transaction.without_conflict();
        let (begun, ()) = join(
            Self::begin_reading(transaction, budget, free, document, path),
            look_ahead(transaction, document, ahead),
        )
        .await;
        let (editor, target) = begun?;
        if let Target::Present(location) = &target {
            editor.depend_on(&location.key);
        }
        Ok((editor, target))
    }

    async fn begin_reading(
        transaction: &'t dyn Transaction,
        budget: &'t Budget,
        read: &dyn Read,
        document: &Arc<DocumentKey>,
        path: &Path,
    ) -> Result<(Self, Target)> {
        let mut editor = Self {
            transaction,
            budget,
            document: document.clone(),
            prefix: document.place(&Place::default())?,
            entered: false,
            changed: false,
            index_maintainer: IndexMaintainer::of_none(transaction, budget, document),
            type_guard: TypeGuard::default(),
            write: UnfinishedWrite::begin(transaction),
        };
        let existence = Family::Existence(&document.collection, &document.id).key()?;
        let (entered, target, defined) = try_join3(
            transaction.get(&existence),
            editor.locate_by(path, read),
            definitions(transaction, &document.collection),
        )
        .await?;
        let Definitions { indexes, type_head } = defined;
        editor.entered = entered.is_some();
        editor.index_maintainer = IndexMaintainer::of(transaction, budget, document, indexes)?;
        if let Some(head) = type_head {
            let collection = &document.collection;
            editor.type_guard = TypeGuard::of(transaction, collection, &head).await?;
        }
        Ok((editor, target))
    }

    /// Finishes the edit. If anything changed, validates it against the type of the collection, adds
    /// the document to the catalog if needed, sets its version to this commit and updates its index
    /// entries. Returns whether anything changed.
    ///
    /// # Errors
    /// `TYPE_MISMATCH`. As [`IndexMaintainer::finish`].
    pub(crate) async fn finish(self) -> Result<bool> {
        if self.changed {
            let (transaction, budget) = (self.transaction, self.budget);
            self.type_guard
                .validate(transaction, budget, &self.document, self.entered)
                .await?;
            if !self.entered {
                enter(self.transaction, &self.document).await?;
            }
            write_version(self.transaction, &self.document)?;
            self.index_maintainer.finish(self.entered).await?;
        }
        self.write.finish();
        Ok(self.changed)
    }

    /// Records that the value at a place, or below it, is about to be written.
    async fn touch(&mut self, key: &[u8]) -> Result<()> {
        self.index_maintainer.touch(key, &prefix_end(key)).await
    }

    /// Stores a value at the place that `path` leads to. Returns whether a value was replaced or
    /// created.
    ///
    /// # Errors
    /// `NOT_FOUND`: the place has no parent, and it is not created. `INVALID_PATH`: the parent cannot have
    /// such a member or element. `TOO_LARGE`: a key exceeds the limit. Errors of the store.
    pub(crate) async fn put(
        &mut self,
        target: Target,
        path: &Path,
        leaves: &Leaves,
        parents: MissingParents,
    ) -> Result<Put> {
        match target {
            Target::Present(location) => {
                self.overwrite(&location, leaves).await?;
                Ok(Put::Replaced)
            }
            Target::Vacant(location) => {
                self.put_new(&location, leaves).await?;
                Ok(Put::Created)
            }
            Target::Orphan if parents == MissingParents::Create => {
                let created = CreatedParents::ObjectsAndArrays;
                let location = self.below_missing(path, created).await?;
                self.put_new(&location, leaves).await?;
                Ok(Put::Created)
            }
            Target::Orphan => Err(self.no_parent(path)),
            Target::Unfit(error) => Err(error),
        }
    }

    /// Stores a value at a place that has none.
    pub(crate) async fn put_new(&mut self, location: &Location, leaves: &Leaves) -> Result<()> {
        self.depend_on_all(&self.outermost_key(location));
        if let Some(parent) = &location.parent {
            self.extend(parent).await?;
        }
        self.write_new(location, leaves).await
    }

    /// Adds the read conflicts for a new member or element of a container. Removes the marker of an
    /// empty container.
    pub(crate) async fn extend(&mut self, container: &Parent) -> Result<()> {
        let Parent { key, kind, .. } = container;
        self.depend_on(container.evidence.as_deref().unwrap_or(key));
        // A container with members needs this conflict, too: a transaction that removes the last
        // member writes the marker.
        let (marker, _) = empty_marker(key, *kind);
        self.transaction
            .add_read_conflict(&marker, &key_after(&marker));
        if container.empty {
            self.touch(&marker).await?;
            self.transaction.clear(&marker);
        }
        Ok(())
    }

    /// Writes a value at a place. The transaction must already depend on the place being empty.
    pub(crate) async fn write_new(&mut self, location: &Location, leaves: &Leaves) -> Result<()> {
        let key = &location.key[..];
        leaves.check_fits(key.len(), location.place.0.len())?;
        self.touch(key).await?;
        write_leaves(self.transaction, self.budget, key, leaves).await?;
        self.changed = true;
        self.record_new(location, leaves);
        let (place, below) = location.outermost();
        let document = if place.0.is_empty() {
            Edited::new(&self.document)
        } else {
            Edited::existing(&self.document)
        };
        record::added(self.transaction, document, &place, below, leaves);
        Ok(())
    }

    /// Records for the validation that a value was written where there was none.
    fn record_new(&mut self, location: &Location, leaves: &Leaves) {
        if !self.type_guard.is_typed() {
            return;
        }
        if location.missing == 0 {
            self.type_guard.wrote(&location.key, Some(leaves));
        } else {
            let outermost = self.outermost_key(location);
            self.type_guard.wrote(&outermost, None);
        }
        if let Some(parent) = location.parent.as_ref().filter(|it| it.kind == Kind::Array) {
            self.type_guard.lengthened(&parent.key);
        }
    }

    /// The key of the outermost new value, which is a child of the parent, or the whole document.
    fn outermost_key(&self, location: &Location) -> Vec<u8> {
        match &location.parent {
            Some(parent) => child_key(&parent.key, &location.key),
            None => self.prefix.clone(),
        }
    }

    /// Removes the value at a place other than the whole document.
    pub(crate) async fn remove(&mut self, location: &Location) -> Result<()> {
        let (parent, segment) = self.parent_of(&location.place)?;
        match segment {
            Segment::Index(index) => {
                let (_, array) = location.place.0.split_last().expect("it has a segment");
                let array = Place(array.to_vec());
                self.remove_elements(&array, &parent, &[index]).await
            }
            Segment::Key(_) => {
                self.clear_place(location).await?;
                self.mark_if_empty(&parent).await
            }
        }
    }

    /// Clears the member at a location, and all keys below it.
    pub(crate) async fn clear_place(&mut self, location: &Location) -> Result<()> {
        let document = Edited::existing(&self.document);
        record::removed(self.transaction, document, &location.place);
        self.type_guard.removed(&location.key);
        self.clear_range(&location.key, &prefix_end(&location.key))
            .await
    }

    /// Clears the keys from `begin` to before `end`.
    async fn clear_range(&mut self, begin: &[u8], end: &[u8]) -> Result<()> {
        self.index_maintainer.touch(begin, end).await?;
        self.transaction.clear_range(begin, end);
        self.changed = true;
        Ok(())
    }

    /// Writes the marker of an empty object if no member is left.
    pub(crate) async fn mark_if_empty(&mut self, object: &[u8]) -> Result<()> {
        let end = prefix_end(object);
        let left = self
            .transaction
            .without_conflict()
            .range(RangeRead::new(object, &end).at_most(1))
            .await?;
        if let Some((key, _)) = left.pairs.first() {
            self.depend_on(&child_key(object, key));
        } else {
            self.transaction.add_read_conflict(object, &end);
            let (marker, value) = empty_marker(object, Kind::Object);
            self.transaction.set(&marker, &value);
        }
        Ok(())
    }

    /// Makes the transaction conflict with each transaction that removes or replaces the value at a
    /// place as a whole, and not with changes inside the value.
    pub(crate) fn depend_on(&self, key: &[u8]) {
        depend_on_value(self.transaction, key);
    }

    /// Makes the transaction conflict with each change of the value at a place, or inside it.
    pub(crate) fn depend_on_all(&self, key: &[u8]) {
        self.transaction.add_read_conflict(key, &prefix_end(key));
    }

    pub(crate) fn parent_of(&self, place: &Place) -> Result<(Vec<u8>, Segment)> {
        let (last, above) = place
            .0
            .split_last()
            .ok_or_else(|| Error::internal("the whole document has no parent"))?;
        Ok((self.document.place(&Place(above.to_vec()))?, last.clone()))
    }

    pub(crate) fn nothing_at(&self, path: &Path) -> Error {
        nothing_at(&self.document, path)
    }
}

/// Makes a transaction conflict with each other one that removes or replaces the value at a place as
/// a whole, and not with changes inside the value.
pub(crate) fn depend_on_value(transaction: &dyn Transaction, key: &[u8]) {
    // No tuple element begins with 0xFE, so no key is ever stored in this range.
    let phantom = [key, &[0xFE]].concat();
    transaction.add_read_conflict(&phantom, &prefix_end(key));
}

/// The error for a path that leads to no value.
pub(crate) fn nothing_at(document: &DocumentKey, path: &Path) -> Error {
    let DocumentKey { collection, id } = document;
    let place = path.to_string();
    let at = match &*place {
        "" => String::new(),
        pointer => format!(" at {:?} of the document", abridged(pointer)),
    };
    Error::not_found(
        place,
        format!("nothing is stored{at} under the id {id} in the collection {collection:?}"),
    )
}

/// The key of the child of a container that contains `key`.
pub(crate) fn child_key(container: &[u8], key: &[u8]) -> Vec<u8> {
    match crate::key::step(&key[container.len()..]) {
        Some((_, bytes)) => key[..container.len() + bytes].to_vec(),
        None => key.to_vec(),
    }
}

impl Editor<'_> {
    pub(crate) async fn delete_document(self) -> Result<()> {
        self.index_maintainer.remove().await?;
        let end = prefix_end(&self.prefix);
        self.transaction.clear_range(&self.prefix, &end);
        let DocumentKey { collection, id } = &*self.document;
        if self.entered {
            let existence = Family::Existence(collection, id).key()?;
            self.transaction.clear(&existence);
            collections::add_to_count(self.transaction, collection, -1)?;
        }
        self.transaction
            .clear(&Family::Version(collection, id).key()?);
        record::deleted(self.transaction, Edited::existing(&self.document));
        document_deleted(self.transaction, self.budget, &self.document).await?;
        self.write.finish();
        Ok(())
    }

    fn no_parent(&self, path: &Path) -> Error {
        match path.split_last() {
            Some((parent, _)) => self.nothing_at(&parent),
            None => self.nothing_at(path),
        }
    }
}

/// Adds a document to the catalog.
///
/// # Errors
/// As [`accept_versionstamp`]. Errors of the store.
pub(crate) async fn enter(transaction: &dyn Transaction, document: &DocumentKey) -> Result<()> {
    if let DocumentId::Versionstamp(stamp) = document.id {
        accept_versionstamp(transaction, stamp).await?;
    }
    let existence = Family::Existence(&document.collection, &document.id).key()?;
    transaction.set(&existence, &[]);
    collections::add_to_count(transaction, &document.collection, 1)
}

/// Writes the pairs of a value at an empty place, under one write conflict range.
pub(crate) async fn write_leaves(
    transaction: &dyn Transaction,
    budget: &Budget,
    prefix: &[u8],
    leaves: &Leaves,
) -> Result<()> {
    let set = |key: &[u8], value: &[u8]| transaction.set(key, value);
    // A transaction that found the place empty has read the whole range below it, so the pair of a
    // single leaf is sufficient.
    if leaves.as_leaf().is_some() {
        return set_leaves(budget, prefix, leaves.iter(), set).await;
    }
    transaction.add_write_conflict(prefix, &prefix_end(prefix));
    transaction.without_write_conflicts(true);
    set_leaves(budget, prefix, leaves.iter(), set).await?;
    transaction.without_write_conflicts(false);
    Ok(())
}

/// Sets pairs, whose keys are relative to a place, with `set`.
pub(crate) async fn set_leaves<'l>(
    budget: &Budget,
    prefix: &[u8],
    pairs: impl Iterator<Item = (&'l [u8], &'l [u8])>,
    set: impl Fn(&[u8], &[u8]),
) -> Result<()> {
    let mut key = prefix.to_vec();
    for (at, (relative, value)) in pairs.enumerate() {
        key.truncate(prefix.len());
        key.extend_from_slice(relative);
        set(&key, value);
        if at % LEAVES_PER_PACE == LEAVES_PER_PACE - 1 {
            budget.pace(LEAVES_PER_PACE as u64).await?;
        }
    }
    Ok(())
}

pub(crate) fn write_version(transaction: &dyn Transaction, document: &DocumentKey) -> Result<()> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    let value = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
    transaction.set_versionstamped_value(&key, &value, Version::VALUE_PREFIX.len());
    Ok(())
}

/// The result of [`put`](crate::database::put).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// No document existed; it was created.
    Created,
    /// A document existed and was replaced.
    Replaced,
    /// A document existed and was left unchanged.
    Skipped,
}
