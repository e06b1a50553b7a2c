//! One batch of an index build: the entries of several documents, or of a part of one.

use std::sync::Arc;

use super::columns::{ColumnStream, streams};
use super::definition::{Index, IndexPath};
use super::entries::{
    EntryStream, IndexStreams, Unfit, Values, check_value_bytes, insert, ranges_of,
};
use super::entry_writer::EntryWriter;
use super::maintainer::missing;
use crate::budget::Budget;
use crate::database::document_key::DocumentKey;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{
    INDEX_BATCH_BYTES_MAX, INDEX_BATCH_DOCUMENTS_AT_ONCE, INDEX_BATCH_ENTRIES_MAX,
    INDEX_PORTION_PAIRS_MAX, INDEX_VALUE_BYTES_MAX,
};
use crate::store::Transaction;

/// The limits of one batch.
#[derive(Clone, Copy)]
pub(crate) struct BatchBounds {
    /// Bytes read and bytes written. Lowered after a failed batch.
    pub(crate) bytes: usize,
    /// Documents to read concurrently. Raised while documents are small.
    pub(crate) at_once: usize,
    /// Bytes of the keys and values of one indexed value.
    pub(crate) value_bytes: usize,
}

/// A document whose entries take several batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alone {
    pub(crate) collection: String,
    /// The number of the index.
    pub(crate) number: u64,
    pub(crate) document: Arc<DocumentKey>,
    /// The build position after this document.
    pub(crate) position: Vec<u8>,
    /// The key of the child at which the next batch begins. None for the first batch.
    pub(crate) child: Option<Vec<u8>>,
}

/// The result of a batch.
pub(crate) struct Added {
    pub(crate) documents: usize,
    pub(crate) at_once: usize,
    /// The build position after the last document that has all its entries.
    pub(crate) position: Option<Vec<u8>>,
    /// The document that the next batch continues.
    pub(crate) alone: Option<Alone>,
}

/// One batch of an index build. The inner error of its results is caused by the content of a
/// document.
pub(crate) struct Adding<'b> {
    pub(crate) transaction: &'b dyn Transaction,
    pub(crate) budget: &'b Budget,
    pub(crate) index: &'b Index,
    pub(crate) bounds: BatchBounds,
}

impl<'b> Adding<'b> {
    /// Adds the entries of the first `documents`, up to the limits of the batch.
    pub(crate) async fn documents(
        &self,
        collection: &str,
        documents: &[(Arc<DocumentKey>, Vec<u8>)],
    ) -> Result<Result<Added>> {
        let mut added = Added {
            documents: 0,
            at_once: self.bounds.at_once,
            position: None,
            alone: None,
        };
        let mut bytes = 0;
        let mut rest = documents;
        while !rest.is_empty() {
            let (some, behind) = rest.split_at(added.at_once.min(rest.len()));
            rest = behind;
            for ((document, position), streams) in some.iter().zip(self.streams(some).await?) {
                if bytes >= self.bounds.bytes {
                    added.at_once = (added.at_once / 2).max(1);
                    return Ok(Ok(added));
                }
                let columns = streams.columns.iter().flatten();
                let mut pairs = columns.map(ColumnStream::pairs_if_whole);
                let is_small = |pairs| pairs <= INDEX_BATCH_ENTRIES_MAX;
                let small = pairs.all(|pairs| pairs.is_some_and(is_small));
                bytes += read_bytes_of(&streams);
                let written = if small {
                    self.whole(document, streams).await
                } else {
                    Ok(None)
                };
                match written {
                    Ok(Some(written)) => bytes += written,
                    Ok(None) => {
                        added.at_once = 1;
                        added.alone = Some(Alone {
                            collection: collection.to_owned(),
                            number: self.index.number,
                            document: document.clone(),
                            position: position.clone(),
                            child: None,
                        });
                        return Ok(Ok(added));
                    }
                    Err(error) => return about(document, error),
                }
                added.documents += 1;
                added.position = Some(position.clone());
            }
            added.at_once = (added.at_once * 2).min(INDEX_BATCH_DOCUMENTS_AT_ONCE);
        }
        Ok(Ok(added))
    }

    /// Reads the beginning of the columns of some documents in one round.
    async fn streams(
        &self,
        documents: &[(Arc<DocumentKey>, Vec<u8>)],
    ) -> Result<Vec<IndexStreams<'b>>> {
        let mut ranges = Vec::new();
        for (document, _) in documents {
            ranges.extend(ranges_of(document, self.index)?);
        }
        let mut streams = streams(self.transaction, self.budget, ranges)
            .await?
            .into_iter();
        let of_one = |(document, _): &(Arc<DocumentKey>, _)| {
            IndexStreams::take(document, self.index, &mut streams)
        };
        documents.iter().map(of_one).collect()
    }

    /// Adds all entries of a document and returns the total length of their keys. Returns none,
    /// without adding any, if they exceed the limits of the batch.
    async fn whole(
        &self,
        document: &DocumentKey,
        streams: IndexStreams<'b>,
    ) -> Result<Option<usize>> {
        let mut stream = self.entries(streams).await?;
        let Some(row) = stream.row().cloned() else {
            return Ok(Some(0));
        };
        let values = stream.all(&self.budget.reserve()).await?;
        let bytes: usize = values.iter().map(|value| value.len() + row.bytes()).sum();
        if values.len() > 1 && bytes > self.bounds.bytes {
            return Ok(None);
        }
        self.writer(document)?.set(&row, &values).await.map(Some)
    }

    async fn entries(&self, streams: IndexStreams<'b>) -> Result<EntryStream<'b>> {
        let value_bytes = self.bounds.value_bytes;
        EntryStream::new(self.index, streams, self.budget, Unfit::Refuse, value_bytes).await
    }

    fn writer<'w>(&'w self, document: &'w DocumentKey) -> Result<EntryWriter<'w>> {
        let writer = EntryWriter::new(self.transaction, self.budget, document, self.index);
        writer.map(EntryWriter::checking_now)
    }

    /// Adds the next entries of a document that takes several batches: those of at least one child.
    pub(crate) async fn alone(&self, alone: Alone) -> Result<Result<Added>> {
        match self.children(&alone).await {
            Ok(Some(child)) => Ok(Ok(Added {
                documents: 0,
                at_once: 1,
                position: None,
                alone: Some(Alone {
                    child: Some(child),
                    ..alone
                }),
            })),
            Ok(None) => Ok(Ok(Added {
                documents: 1,
                at_once: 1,
                position: Some(alone.position),
                alone: None,
            })),
            Err(error) => about(&alone.document, error),
        }
    }

    /// Adds the entries of some children. Returns the key of the child at which the next batch
    /// begins.
    async fn children(&self, alone: &Alone) -> Result<Option<Vec<u8>>> {
        let BatchBounds {
            bytes: bytes_max,
            value_bytes,
            ..
        } = self.bounds;
        let mut ranges = ranges_of(&alone.document, self.index)?;
        if let Some(child) = &alone.child {
            let is_multiple = |path: &IndexPath| path.is_multiple();
            let mut ranges = ranges.iter_mut();
            let multiple = ranges.find(|range| range.path.is_some_and(is_multiple));
            if let Some(range) = multiple {
                child.clone_into(&mut range.begin);
            }
        }
        let mut streams = streams(self.transaction, self.budget, ranges)
            .await?
            .into_iter();
        let streams = IndexStreams::take(&alone.document, self.index, &mut streams)?;
        let mut stream = self.entries(streams).await?;
        let Some(row) = stream.row().cloned() else {
            return Ok(None);
        };
        if alone.child.is_some() {
            stream.resume();
        }
        let reserved = self.budget.reserve();
        let pairs_max = (bytes_max / (row.bytes() + 1)).clamp(1, INDEX_PORTION_PAIRS_MAX);
        let (mut values, mut bytes) = (Values::new(), 0);
        let mut next = None;
        while let Some(some) = stream.next_values(pairs_max).await? {
            for value in some {
                if !values.contains(&value) {
                    bytes += value.len() + row.bytes();
                    insert(&mut values, &value, &reserved)?;
                }
            }
            let Some((column, path)) = stream.column() else {
                continue;
            };
            check_value_bytes(column, path, value_bytes)?;
            let full = bytes >= bytes_max
                || values.len() >= INDEX_BATCH_ENTRIES_MAX
                || column.taken_bytes() >= bytes_max;
            let position = column.position();
            if full && position.is_some() && stream.children() > 1 {
                next = position;
                break;
            }
        }
        let writer = self.writer(&alone.document)?;
        let missing = missing(self.index);
        if let Some(missing) = &missing
            && !values.contains(missing)
        {
            if values.is_empty() && alone.child.is_none() {
                values.insert(missing.clone());
            } else if !values.is_empty() {
                writer.clear(&row, [missing]).await?;
            }
        }
        writer.set(&row, &values).await?;
        Ok(next)
    }
}

fn read_bytes_of(streams: &IndexStreams<'_>) -> usize {
    let columns = streams.columns.iter().flatten();
    columns.map(ColumnStream::read_bytes).sum()
}

/// Separates errors caused by the content of the document, which every server would hit, from other
/// errors.
fn about<T>(document: &DocumentKey, error: Error) -> Result<Result<T>> {
    match error.kind() {
        ErrorKind::UniqueViolation | ErrorKind::KeyTooLong | ErrorKind::TooLarge => {
            Ok(Err(error.at(format!("the document {}", document.id))))
        }
        _ => Err(error),
    }
}

impl BatchBounds {
    pub(crate) const DEFAULT: Self = Self {
        bytes: INDEX_BATCH_BYTES_MAX,
        at_once: 8,
        value_bytes: INDEX_VALUE_BYTES_MAX,
    };
}
