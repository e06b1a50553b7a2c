//! Writes the entry of a commit.

use std::time::{SystemTime, UNIX_EPOCH};

use super::recorder::{RecordedChange, RecordedDocument, TransactionChanges};
use crate::error::Result;
use crate::key::{
    ChangeKind, ChangeLogPart, ChangeLogRange, LoggedChange, Version, encode_changes,
};
use crate::limits::{
    CHANGE_HEADER_PIECE_BYTES, CHANGE_SHARDS, CHANGE_TRANSACTION_BYTES_SPARE,
    EXCLUSIVE_CHANGE_SHARD, PIECE_BYTES,
};
use crate::store::{Store, StoreLimits, Transaction};

/// An encoded entry.
struct EncodedEntry {
    headers: Vec<Vec<u8>>,
    patches: Vec<u8>,
}

/// Writes the entry of a transaction's changes. Keys have the version of the commit and a random
/// shard, so entries do not conflict with each other, and no key is hot. Where the transaction has
/// no room left, patches are left out, or single documents, so that it does not exceed the limit of
/// the engine because of the entry.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn write_entry(
    store: &dyn Store,
    transaction: &dyn Transaction,
    mut changes: TransactionChanges,
) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let room = room(store.limits(), transaction).await?;
    if changes.bytes_max() > room {
        changes.drop_patches();
        if changes.bytes_max() > room {
            changes.abridge();
        }
    }
    let entry = EncodedEntry::of(changes);
    let shard = if store.is_exclusive() {
        EXCLUSIVE_CHANGE_SHARD
    } else {
        rand::random_range(0..CHANGE_SHARDS)
    };
    transaction.without_write_conflicts(true);
    let headers = ChangeLogRange::new(ChangeLogPart::Headers, shard);
    let patches = ChangeLogRange::new(ChangeLogPart::Patches, shard);
    let headers = entry.headers.iter().map(|header| (&headers, &header[..]));
    set(transaction, headers);
    let pieces = entry.patches.chunks(PIECE_BYTES);
    set(transaction, pieces.map(|piece| (&patches, piece)));
    transaction.without_write_conflicts(false);
    Ok(())
}

/// Sets the values of the commit in a shard, with ascending numbers.
fn set<'v>(
    transaction: &dyn Transaction,
    values: impl Iterator<Item = (&'v ChangeLogRange, &'v [u8])>,
) {
    for (number, (range, value)) in (0..).zip(values) {
        let key = range.key(Version::PENDING, number);
        transaction.set_versionstamped_key(&key, range.version_at(), value);
    }
}

/// The bytes that the transaction may still write.
async fn room(limits: StoreLimits, transaction: &dyn Transaction) -> Result<usize> {
    let Some(bytes_max) = limits.transaction_bytes_max else {
        return Ok(usize::MAX);
    };
    let used = transaction.bytes().await?;
    Ok(bytes_max.saturating_sub(used + CHANGE_TRANSACTION_BYTES_SPARE))
}

impl EncodedEntry {
    fn of(changes: TransactionChanges) -> Self {
        let mut patches = Vec::new();
        let changes: Vec<LoggedChange> = changes
            .into_changes()
            .into_iter()
            .map(|change| match change {
                RecordedChange::Document(document) => logged(document, &mut patches),
                RecordedChange::Dropped(collection) => {
                    of_collection(collection, ChangeKind::CollectionDropped)
                }
                RecordedChange::Abridged(collection) => {
                    of_collection(collection, ChangeKind::CollectionChanged)
                }
            })
            .collect();
        Self {
            headers: encode_changes(now(), changes.iter(), CHANGE_HEADER_PIECE_BYTES),
            patches,
        }
    }
}

fn logged(document: RecordedDocument, patches: &mut Vec<u8>) -> LoggedChange {
    let kind = match (document.existed, document.exists) {
        (_, false) => ChangeKind::Deleted,
        (false, true) => ChangeKind::Created,
        (true, true) => ChangeKind::Updated,
    };
    let patch = document.patch.filter(|_| kind != ChangeKind::Deleted);
    let patch = patch.map(|patch| {
        let at = patches.len() as u64;
        patches.extend_from_slice(&patch);
        (at, patch.len() as u64)
    });
    LoggedChange {
        collection: document.collection,
        kind,
        id: Some(document.id),
        places: document.places,
        patch,
    }
}

fn of_collection(collection: String, kind: ChangeKind) -> LoggedChange {
    LoggedChange {
        collection,
        kind,
        id: None,
        places: Vec::new(),
        patch: None,
    }
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
