//! Range tombstones: ranges that are cleared while their pairs are still in the file.
//!
//! redb deletes a range pair by pair, and no other transaction can write in the meantime. Clearing
//! millions of leaves would block all other writers until it is done. A large range is therefore
//! cleared by a tombstone: one entry `begin → end` in a table of its own, written by the
//! transaction that clears the range. From that commit on, readers skip the pairs inside the range.
//! A background thread deletes them later, in small transactions (`reclaim.rs`).
//!
//! A snapshot has both tables as of the same commit. So a tombstone hides pairs from exactly those
//! readers for which the range is cleared; older snapshots still read them.
//!
//! - **Read:** `visible.rs` splits a range into the parts that nothing hides. [`covers`] checks a
//!   single key.
//! - **Clear:** [`cover`] adds a tombstone and merges it with those that it overlaps.
//! - **Write:** a new value for a hidden key must not be hidden. [`uncover`] splits the tombstone
//!   at the key and deletes the hidden pair, before the key is set.
//! - **Delete:** [`reclaim`] deletes a portion of the hidden pairs, and the tombstones that hide
//!   none.
//!
//! Invariants after every write:
//!
//! - Tombstones do not overlap.
//! - No pair that was written after its range was cleared lies under a tombstone.
//! - [`uncover`] keeps a part of a tombstone only if it hides a pair, so there are never more such
//!   parts than hidden pairs.

use redb::{ReadableTable, ReadableTableMetadata, StorageError, Table};

use super::Bytes;
use crate::limits::{RECLAIMED_BYTES_AT_A_TIME, RECLAIMED_PAIRS_AT_A_TIME};

/// A range of keys: its first key and its end, which is exclusive.
pub(crate) type KeyRange = (Vec<u8>, Vec<u8>);

type WritableTable<'t> = Table<'t, Bytes, Bytes>;

/// Whether a tombstone covers `key`.
pub(crate) fn covers(
    tombstones: &impl ReadableTable<Bytes, Bytes>,
    key: &[u8],
) -> Result<bool, StorageError> {
    Ok(covering(tombstones, key)?.is_some())
}

/// The tombstone that covers `key`.
fn covering(
    tombstones: &impl ReadableTable<Bytes, Bytes>,
    key: &[u8],
) -> Result<Option<KeyRange>, StorageError> {
    let mut before = tombstones.range::<&[u8]>(..=key)?;
    let last = before.next_back().transpose()?;
    let covering = last.filter(|(_, end)| end.value() > key);
    Ok(covering.map(|(begin, end)| (begin.value().to_vec(), end.value().to_vec())))
}

/// The first tombstone that ends after `key`.
pub(crate) fn first_after(
    tombstones: &impl ReadableTable<Bytes, Bytes>,
    key: &[u8],
) -> Result<Option<KeyRange>, StorageError> {
    if let Some(covering) = covering(tombstones, key)? {
        return Ok(Some(covering));
    }
    let first = tombstones.range::<&[u8]>(key..)?.next().transpose()?;
    Ok(first.map(|(begin, end)| (begin.value().to_vec(), end.value().to_vec())))
}

/// The last tombstone that begins before `key`.
pub(crate) fn last_before(
    tombstones: &impl ReadableTable<Bytes, Bytes>,
    key: &[u8],
) -> Result<Option<KeyRange>, StorageError> {
    let last = tombstones.range::<&[u8]>(..key)?.next_back().transpose()?;
    Ok(last.map(|(begin, end)| (begin.value().to_vec(), end.value().to_vec())))
}

/// The first tombstone that begins in a range.
fn first_in(
    tombstones: &impl ReadableTable<Bytes, Bytes>,
    begin: &[u8],
    end: &[u8],
) -> Result<Option<KeyRange>, StorageError> {
    if begin >= end {
        return Ok(None);
    }
    let first = tombstones.range::<&[u8]>(begin..end)?.next().transpose()?;
    Ok(first.map(|(begin, end)| (begin.value().to_vec(), end.value().to_vec())))
}

/// The start of the first tombstone at or after `begin`.
pub(crate) fn next_begin(
    tombstones: &impl ReadableTable<Bytes, Bytes>,
    begin: &[u8],
) -> Result<Option<Vec<u8>>, StorageError> {
    let first = tombstones.range::<&[u8]>(begin..)?.next().transpose()?;
    Ok(first.map(|(begin, _)| begin.value().to_vec()))
}

/// Covers a range with one tombstone, which replaces those that it overlaps.
pub(crate) fn cover(
    tombstones: &mut WritableTable<'_>,
    begin: &[u8],
    end: &[u8],
) -> Result<(), StorageError> {
    let mut span = (begin.to_vec(), end.to_vec());
    if let Some((begin, end)) = covering(tombstones, begin)? {
        tombstones.remove(&begin[..])?;
        span = (begin, span.1.max(end));
    }
    while let Some((begin, end)) = first_in(tombstones, &span.0, &span.1)? {
        tombstones.remove(&begin[..])?;
        span.1 = span.1.max(end);
    }
    tombstones.insert(&span.0[..], &span.1[..])?;
    Ok(())
}

/// Uncovers a key before it is set: splits the tombstone that covers it, and deletes the hidden
/// pair.
pub(crate) fn uncover(
    pairs: &mut WritableTable<'_>,
    tombstones: &mut WritableTable<'_>,
    key: &[u8],
) -> Result<(), StorageError> {
    let Some((begin, end)) = covering(tombstones, key)? else {
        return Ok(());
    };
    pairs.remove(key)?;
    tombstones.remove(&begin[..])?;
    if begin[..] < *key && first_key(pairs, &begin, key)?.is_some() {
        tombstones.insert(&begin[..], key)?;
    }
    if let Some(hidden) = first_key(pairs, key, &end)? {
        tombstones.insert(&hidden[..], &end[..])?;
    }
    Ok(())
}

fn first_key(
    pairs: &WritableTable<'_>,
    begin: &[u8],
    end: &[u8],
) -> Result<Option<Vec<u8>>, StorageError> {
    let first = pairs.range::<&[u8]>(begin..end)?.next().transpose()?;
    Ok(first.map(|(key, _)| key.value().to_vec()))
}

/// Deletes one portion of the hidden pairs, and the tombstones that hide none. Returns whether a
/// tombstone is left.
pub(crate) fn reclaim(
    pairs: &mut WritableTable<'_>,
    tombstones: &mut WritableTable<'_>,
) -> Result<bool, StorageError> {
    let mut portion = ReclaimPortion {
        pairs: RECLAIMED_PAIRS_AT_A_TIME,
        bytes: RECLAIMED_BYTES_AT_A_TIME,
    };
    while portion.is_open() {
        let first = tombstones
            .first()?
            .map(|(begin, end)| (begin.value().to_vec(), end.value().to_vec()));
        let Some((begin, end)) = first else {
            return Ok(false);
        };
        let rest = portion.take(pairs, &begin, &end)?;
        let removed = &begin[..]..rest.as_deref().unwrap_or(&end);
        pairs.retain_in::<&[u8], _>(removed, |_, _| false)?;
        tombstones.remove(&begin[..])?;
        if let Some(rest) = rest {
            tombstones.insert(&rest[..], &end[..])?;
        }
    }
    Ok(!tombstones.is_empty()?)
}

/// The limits of one portion.
struct ReclaimPortion {
    pairs: usize,
    bytes: usize,
}

impl ReclaimPortion {
    fn is_open(&self) -> bool {
        self.pairs > 0 && self.bytes > 0
    }

    /// Counts the pairs of a range up to the limits. Returns the first key beyond them.
    fn take(
        &mut self,
        pairs: &WritableTable<'_>,
        begin: &[u8],
        end: &[u8],
    ) -> Result<Option<Vec<u8>>, StorageError> {
        for pair in pairs.range::<&[u8]>(begin..end)? {
            let (key, value) = pair?;
            if !self.is_open() {
                return Ok(Some(key.value().to_vec()));
            }
            self.pairs -= 1;
            let bytes = key.value().len() + value.value().len();
            self.bytes = self.bytes.saturating_sub(bytes);
        }
        Ok(None)
    }
}
