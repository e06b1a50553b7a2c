//! The changes of a batch, each of one document.

use std::sync::Arc;

use crate::budget::Budget;
use crate::database::{DocumentKey, Existing, Put, exists, merge, put, settled_path};
use crate::document::id::DocumentId;
use crate::document::parse_merge_patch::MergePatch;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::Leaves;
use crate::store::Transaction;

/// A document to store.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// Its id.
    pub id: DocumentId,
    /// Its leaves, or why its text is not a document.
    pub leaves: Result<Leaves>,
}

/// Changes of which each is of one document.
#[derive(Debug)]
pub enum BatchChanges {
    /// Documents to store.
    Put(Arc<Vec<NewDocument>>, Existing),
    /// Partial documents to merge.
    Merge(Vec<NewPatch>),
}

/// A JSON Merge Patch of a document, which is created if it does not exist.
#[derive(Debug)]
pub struct NewPatch {
    /// The id of the document.
    pub id: DocumentId,
    /// The path that the patch is merged into.
    pub path: Path,
    /// The patch, or why its text is none.
    pub patch: Result<MergePatch>,
}

/// Where a change writes.
pub(super) struct ChangedPlace<'c> {
    /// The id of the document.
    pub(super) id: &'c DocumentId,
    pub(super) path: &'c Path,
    /// Whether a document that exists is not changed.
    pub(super) inserts: bool,
}

impl BatchChanges {
    /// The number of changes.
    pub fn len(&self) -> usize {
        match self {
            Self::Put(documents, _) => documents.len(),
            Self::Merge(patches) => patches.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where one of the changes writes.
    pub(super) fn place(&self, at: usize) -> Option<ChangedPlace<'_>> {
        Some(match self {
            Self::Put(documents, existing) => ChangedPlace {
                id: &documents.get(at)?.id,
                path: Path::root(),
                inserts: matches!(existing, Existing::Fail | Existing::Skip),
            },
            Self::Merge(patches) => {
                let NewPatch { id, path, .. } = patches.get(at)?;
                ChangedPlace {
                    id,
                    path,
                    inserts: false,
                }
            }
        })
    }

    /// Makes one of the changes.
    pub(super) async fn apply(
        &self,
        transaction: &dyn Transaction,
        budget: &Budget,
        collection: &str,
        at: usize,
    ) -> Result<Put> {
        match self {
            Self::Put(documents, existing) => {
                let document = &documents[at];
                let leaves = document.leaves.as_ref().map_err(Clone::clone)?;
                let key = DocumentKey::new(collection, document.id.clone())?;
                put(transaction, budget, &key, leaves, *existing).await
            }
            Self::Merge(patches) => {
                let NewPatch { id, path, patch } = &patches[at];
                let patch = patch.as_ref().map_err(Clone::clone)?;
                let key = Arc::new(DocumentKey::new(collection, id.clone())?);
                let existed = exists(transaction, &key).await?;
                let memory = budget.reserve();
                let path = settled_path(transaction, &key, path.clone(), &memory).await?;
                let changed = merge(transaction, budget, &key, &path, patch).await?;
                Ok(match (existed, changed) {
                    (false, _) => Put::Created,
                    (true, true) => Put::Replaced,
                    (true, false) => Put::Skipped,
                })
            }
        }
    }
}

/// What the changes of a transaction did, one byte for each.
pub(super) fn puts_text(puts: &[Put]) -> Vec<u8> {
    let byte = |put: &Put| match put {
        Put::Created => b'c',
        Put::Replaced => b'r',
        Put::Skipped => b's',
    };
    puts.iter().map(byte).collect()
}

/// Reads what [`puts_text`] writes: from one to `count_max` results.
///
/// # Errors
/// `INTERNAL`: the text is no such list.
pub(super) fn kept_puts(text: &[u8], count_max: usize) -> Result<Vec<Put>> {
    let damaged = || Error::internal("the stored result of a batch is damaged");
    if text.is_empty() || text.len() > count_max {
        return Err(damaged());
    }
    let puts = text.iter().map(|byte| match byte {
        b'c' => Some(Put::Created),
        b'r' => Some(Put::Replaced),
        b's' => Some(Put::Skipped),
        _ => None,
    });
    puts.collect::<Option<_>>().ok_or_else(damaged)
}
