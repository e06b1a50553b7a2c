//! The parts that all edits of a document share.

pub(crate) mod ahead;
pub(crate) mod argument;
pub(crate) mod locate;
pub(crate) mod location;
pub(crate) mod overwrite;
pub(crate) mod renumber;

use crate::budget::Budget;
use crate::database::catalog::collections;
use crate::database::document_key::DocumentKey;
use crate::database::document_key::end_of;
use crate::database::index::maintainer::IndexMaintainer;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::key::{Family, Leaves, Version, empty_marker};
use crate::limits::LEAVES_PER_PACE;
use crate::store::{RangeRead, Read, Transaction, key_after};
use ahead::look_ahead;
use futures::future::{join, try_join3};
use location::{Location, Parent, Target};
use std::sync::Arc;

/// A change of one document in a transaction. Begin it, change, [`finish`](Self::finish) it.
pub(crate) struct Editor<'t> {
    pub(crate) transaction: &'t dyn Transaction,
    pub(crate) budget: &'t Budget,
    pub(crate) document: Arc<DocumentKey>,
    prefix: Vec<u8>,
    /// The catalog knows the document.
    pub(crate) entered: bool,
    changed: bool,
    upkeep: IndexMaintainer<'t>,
}

impl<'t> Editor<'t> {
    /// Begins to change a document, which need not exist, at `path`.
    pub(crate) async fn begin(
        transaction: &'t dyn Transaction,
        budget: &'t Budget,
        document: &Arc<DocumentKey>,
        path: &Path,
    ) -> Result<(Self, Target)> {
        Self::begin_reading(transaction, budget, transaction, document, path).await
    }

    /// Begins to change what is further down from `path`: of what stands there only depends that
    /// something does. What stands at the paths `ahead`, which the change looks at next, is looked
    /// at meanwhile.
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
        if let Target::Present(spot) = &target {
            editor.depend_on(&spot.key);
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
            upkeep: IndexMaintainer::of_none(transaction, budget, document),
        };
        let existence = Family::Existence(&document.collection, &document.id).key()?;
        let (entered, target, upkeep) = try_join3(
            transaction.get(&existence),
            editor.locate_by(path, read),
            IndexMaintainer::of(transaction, budget, document),
        )
        .await?;
        editor.entered = entered.is_some();
        editor.upkeep = upkeep;
        Ok((editor, target))
    }

    /// Enters the document into the catalog if it is not, stamps it with this commit and brings
    /// its entries in indexes up to date, if anything was changed. Whether it was.
    pub(crate) async fn finish(self) -> Result<bool> {
        if self.changed {
            if !self.entered {
                enter(self.transaction, &self.document)?;
            }
            write_version(self.transaction, &self.document)?;
            self.upkeep.finish(self.entered).await?;
        }
        Ok(self.changed)
    }

    /// What stands at a place, or below, is about to be written.
    async fn touch(&mut self, key: &[u8]) -> Result<()> {
        self.upkeep.touch(key, &end_of(key)).await
    }

    /// Puts a value at the place that `path` leads to. Whether it stands in the place of another.
    ///
    /// # Errors
    /// `NOT_FOUND`: the place has no parent. `INVALID_PATH`: the parent cannot have such a member
    /// or element. `TOO_LARGE`: a key passes the limit. What the store fails with.
    pub(crate) async fn put(
        &mut self,
        target: Target,
        path: &Path,
        leaves: &Leaves,
    ) -> Result<Put> {
        match target {
            Target::Present(spot) => {
                self.overwrite(&spot, leaves).await?;
                Ok(Put::Replaced)
            }
            Target::Vacant(spot) => {
                self.put_new(&spot, leaves).await?;
                Ok(Put::Created)
            }
            Target::Orphan => Err(self.no_parent(path)),
            Target::Unfit(error) => Err(error),
        }
    }

    /// Puts a value where nothing stands.
    pub(crate) async fn put_new(&mut self, spot: &Location, leaves: &Leaves) -> Result<()> {
        self.transaction
            .add_read_conflict(&spot.key, &end_of(&spot.key));
        if let Some(parent) = &spot.parent {
            self.extend(parent).await?;
        }
        self.write_new(&spot.key, leaves).await
    }

    /// A container gets a member or an element more: what that depends on of the container.
    pub(crate) async fn extend(&mut self, container: &Parent) -> Result<()> {
        let Parent { key, kind, .. } = container;
        self.depend_on(container.evidence.as_deref().unwrap_or(key));
        // Also of one that has members: whoever removes the last of them writes it.
        let (marker, _) = empty_marker(key, *kind);
        self.transaction
            .add_read_conflict(&marker, &key_after(&marker));
        if container.empty {
            self.touch(&marker).await?;
            self.transaction.clear(&marker);
        }
        Ok(())
    }

    /// Writes a value at a place of which the transaction depends on that nothing stands there.
    pub(crate) async fn write_new(&mut self, key: &[u8], leaves: &Leaves) -> Result<()> {
        leaves.check_keys(key.len())?;
        self.touch(key).await?;
        write_leaves(self.transaction, self.budget, key, leaves).await?;
        self.changed = true;
        Ok(())
    }

    /// Removes what stands at a place other than the whole document.
    pub(crate) async fn remove(&mut self, spot: &Location) -> Result<()> {
        let (parent, segment) = self.parent_of(&spot.place)?;
        match segment {
            Segment::Index(index) => self.remove_element(&parent, index).await,
            Segment::Key(_) => {
                self.clear_place(&spot.key).await?;
                self.mark_if_empty(&parent).await
            }
        }
    }

    /// Clears a place and all that is below it.
    pub(crate) async fn clear_place(&mut self, key: &[u8]) -> Result<()> {
        self.touch(key).await?;
        self.transaction.clear_range(key, &end_of(key));
        self.changed = true;
        Ok(())
    }

    /// Writes the marker of an empty object where no member is left.
    pub(crate) async fn mark_if_empty(&mut self, object: &[u8]) -> Result<()> {
        let end = end_of(object);
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

    /// Makes the transaction conflict with whatever removes the value at a place or replaces it
    /// as a whole, and with nothing that is changed below.
    pub(crate) fn depend_on(&self, key: &[u8]) {
        // No tuple goes on with 0xFE, so no pair ever stands here.
        let phantom = [key, &[0xFE]].concat();
        self.transaction.add_read_conflict(&phantom, &end_of(key));
    }

    pub(crate) fn parent_of(&self, place: &Place) -> Result<(Vec<u8>, Segment)> {
        let (last, above) = place
            .0
            .split_last()
            .ok_or_else(|| Error::internal("the whole document was taken for a part of one"))?;
        Ok((self.document.place(&Place(above.to_vec()))?, last.clone()))
    }

    pub(crate) fn nothing_at(&self, path: &Path) -> Error {
        let DocumentKey { collection, id } = &*self.document;
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
}

/// The key of the member or element of a container that a key belongs to.
pub(crate) fn child_key(container: &[u8], key: &[u8]) -> Vec<u8> {
    match crate::key::step(&key[container.len()..]) {
        Some((_, bytes)) => key[..container.len() + bytes].to_vec(),
        None => key.to_vec(),
    }
}

impl Editor<'_> {
    pub(crate) async fn delete_document(self) -> Result<()> {
        self.upkeep.remove().await?;
        let end = end_of(&self.prefix);
        self.transaction.clear_range(&self.prefix, &end);
        let DocumentKey { collection, id } = &*self.document;
        if self.entered {
            let existence = Family::Existence(collection, id).key()?;
            self.transaction.clear(&existence);
            collections::add_to_count(self.transaction, collection, -1)?;
        }
        self.transaction
            .clear(&Family::Version(collection, id).key()?);
        Ok(())
    }

    fn no_parent(&self, path: &Path) -> Error {
        match path.split_last() {
            Some((parent, _)) => self.nothing_at(&parent),
            None => self.nothing_at(path),
        }
    }
}

/// Enters a document into the catalog.
pub(crate) fn enter(transaction: &dyn Transaction, document: &DocumentKey) -> Result<()> {
    let existence = Family::Existence(&document.collection, &document.id).key()?;
    transaction.set(&existence, &[]);
    collections::add_to_count(transaction, &document.collection, 1)
}

/// Writes the pairs of a value where nothing stands, under one write conflict range.
pub(crate) async fn write_leaves(
    transaction: &dyn Transaction,
    budget: &Budget,
    prefix: &[u8],
    leaves: &Leaves,
) -> Result<()> {
    // Whoever has found nothing here has read all that is below, so this pair is conflict enough.
    if let Some(leaf) = leaves.as_leaf() {
        transaction.set(prefix, leaf);
        return Ok(());
    }
    transaction.add_write_conflict(prefix, &end_of(prefix));
    transaction.without_write_conflicts(true);
    let mut key = prefix.to_vec();
    for (at, (relative, value)) in leaves.iter().enumerate() {
        key.truncate(prefix.len());
        key.extend_from_slice(relative);
        transaction.set(&key, value);
        if at % LEAVES_PER_PACE == LEAVES_PER_PACE - 1 {
            budget.pace(LEAVES_PER_PACE as u64).await?;
        }
    }
    transaction.without_write_conflicts(false);
    Ok(())
}

pub(crate) fn write_version(transaction: &dyn Transaction, document: &DocumentKey) -> Result<()> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    let value = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
    transaction.set_versionstamped_value(&key, &value, Version::VALUE_PREFIX.len());
    Ok(())
}

/// What [`put`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// There was none; it was created.
    Created,
    /// There was one; it was replaced.
    Replaced,
    /// There was one; it was left as it is.
    Skipped,
}
