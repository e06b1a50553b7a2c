//! Splits the source into batches and writes a batch to the target.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::{BoxFuture, try_join_all};
use tokio::time::Instant;

use super::walk::{DocumentHead, Documents, StoreWalk};
use crate::database::catalog::collections;
use crate::database::catalog::versionstamp::accept_versionstamp;
use crate::database::changes::record;
use crate::database::open::Database;
use crate::database::types::define::check_from;
use crate::database::types::head::TypeHead;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Entry, Version, tuple_text};
use crate::limits::{COPY_BATCH_BYTES_MAX, COPY_BATCH_DOCUMENTS_MAX, IMPORT_BATCH_TIME_MAX};
use crate::store::{Decision, Pairs, Read, Transaction};

/// The content of one transaction.
#[derive(Default)]
pub(crate) struct CopyBatch {
    parts: Vec<CopyPart>,
    /// Documents whose last leaf is in the batch, whether or not they have a catalog entry.
    pub(crate) documents: u64,
    /// The number of leaves and their bytes.
    pub(crate) leaves: u64,
    pub(crate) bytes: usize,
    /// Documents skipped because the target already has them.
    pub(crate) skipped: u64,
    /// Whether the batch contains part of a document. It must then be written after the previous
    /// batch and before the next one.
    pub(crate) in_order: bool,
}

/// A document, or part of a document that exceeds a batch.
struct CopyPart {
    document: Arc<DocumentHead>,
    pairs: Pairs,
    /// Whether the part contains the document's last leaf.
    last: bool,
}

/// Reads the source in batches.
pub(crate) struct CopyReader {
    source: Documents,
    /// The catalog entries of the target.
    entered: StoreWalk,
    /// The document whose last leaf has not been read yet.
    open: Option<Arc<DocumentHead>>,
}

impl CopyReader {
    pub(crate) async fn over(source: &Database, target: &Database) -> Result<Self> {
        Ok(Self {
            source: Documents::of(source).await?,
            entered: StoreWalk::over(target, Entry::Existence.all()).await?,
            open: None,
        })
    }

    /// The next batch. None after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<CopyBatch>> {
        let mut batch = CopyBatch::default();
        while !batch.is_full() {
            let head = match self.open.take() {
                Some(open) => open,
                None => match self.source.next().await? {
                    Some(head) => Arc::new(head),
                    None => break,
                },
            };
            if self.is_in_target(&head).await? {
                self.source.leaves.seek(&head.end());
                batch.skipped += 1;
                continue;
            }
            let pairs = self.pairs_of(&head, &mut batch).await?;
            if self.open.is_some() {
                batch.in_order = true;
            } else {
                batch.documents += 1;
            }
            batch.parts.push(CopyPart {
                document: head,
                pairs,
                last: self.open.is_none(),
            });
        }
        Ok((!batch.parts.is_empty() || batch.skipped > 0).then_some(batch))
    }

    async fn is_in_target(&mut self, document: &DocumentHead) -> Result<bool> {
        if !document.entered {
            return Ok(false);
        }
        let entry = Entry::Existence.key_of(&document.key);
        self.entered.seek(&entry);
        Ok(matches!(self.entered.pair().await?, Some((found, _)) if found == entry))
    }

    /// Reads the next leaves of a document, up to the limit of the batch. If the document has more
    /// leaves, it stays open.
    async fn pairs_of(
        &mut self,
        document: &Arc<DocumentHead>,
        batch: &mut CopyBatch,
    ) -> Result<Pairs> {
        let mut pairs = Pairs::default();
        while let Some((key, value)) = self.source.leaves.pair().await? {
            if !document.covers(key) {
                return Ok(pairs);
            }
            if batch.bytes >= COPY_BATCH_BYTES_MAX && !pairs.is_empty() {
                self.open = Some(document.clone());
                return Ok(pairs);
            }
            pairs.push(key, value);
            batch.leaves += 1;
            batch.bytes += key.len() + value.len();
            self.source.leaves.step();
        }
        Ok(pairs)
    }
}

impl CopyBatch {
    fn is_full(&self) -> bool {
        self.bytes >= COPY_BATCH_BYTES_MAX
            || self.parts.len() >= COPY_BATCH_DOCUMENTS_MAX
            || self.skipped >= COPY_BATCH_DOCUMENTS_MAX as u64
    }

    /// Writes the batch in one transaction. Writes the catalog entry of each document whose last
    /// leaf it contains.
    pub(crate) async fn write(self, target: Database) -> Result<()> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let parts = Arc::new(self.parts);
        let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
        let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let parts = parts.clone();
            Box::pin(async move { write_all(&*transaction, &parts).await.map(Decision::Commit) })
        };
        target.transact(deadline, body).await.map(|_| ())
    }
}

async fn write_all(transaction: &dyn Transaction, parts: &[CopyPart]) -> Result<()> {
    let complete = || {
        let complete = parts
            .iter()
            .filter(|part| part.last && part.document.entered);
        complete.map(|part| &*part.document)
    };
    try_join_all(complete().map(|document| check_not_entered(transaction, document))).await?;
    for part in parts {
        write_leaves(transaction, part);
    }
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    if let Some(last) = complete().filter_map(DocumentHead::versionstamp).max() {
        accept_versionstamp(transaction, last).await?;
    }
    for document in complete() {
        transaction.set(&Entry::Existence.key_of(&document.key), &[]);
        if document.versioned {
            let value = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
            let key = Entry::Version.key_of(&document.key);
            transaction.set_versionstamped_value(&key, &value, Version::VALUE_PREFIX.len());
        }
        *counts
            .entry(document.collection.as_deref().unwrap_or_default())
            .or_default() += 1;
    }
    let mut checked: Option<&str> = None;
    // The documents are in the order of their keys.
    for document in complete() {
        let collection = document.collection.as_deref().unwrap_or_default();
        if checked.replace(collection) != Some(collection)
            && let Some(head) = TypeHead::read(transaction, collection).await?
        {
            check_from(transaction, collection, &document.key, &head).await?;
        }
    }
    for (collection, count) in counts {
        collections::add_to_count(transaction, collection, count)?;
        record::collection_changed(transaction, collection);
    }
    Ok(())
}

/// Fails only if another client writes to the target: documents that existed before were skipped.
async fn check_not_entered(transaction: &dyn Transaction, document: &DocumentHead) -> Result<()> {
    let read: &dyn Read = transaction;
    match read.get(&Entry::Existence.key_of(&document.key)).await? {
        None => Ok(()),
        Some(_) => Err(Error::new(
            ErrorKind::AlreadyExists,
            format!(
                "another client has written the document with the key {} to the target; copy to a \
                 store that serves no clients",
                tuple_text(&document.key)
            ),
        )),
    }
}

/// Writes the leaves of a part under one write conflict range.
fn write_leaves(transaction: &dyn Transaction, part: &CopyPart) {
    let (Some((first, _)), end) = (part.pairs.first(), part.document.end()) else {
        return;
    };
    transaction.add_write_conflict(first, &end);
    transaction.without_write_conflicts(true);
    for (key, value) in part.pairs.iter() {
        transaction.set(key, value);
    }
    transaction.without_write_conflicts(false);
}
