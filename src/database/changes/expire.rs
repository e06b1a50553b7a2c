//! Removes entries that are older than the retention of the store.

use std::time::Duration;

use foundationdb_tuple::{Versionstamp, pack};

use super::settings::{ChangeSettings, horizon_of};
use super::size::EntryBytes;
use super::write::now;
use crate::error::Result;
use crate::key::{ChangeLogPart, ChangeLogRange, ChangesDecoder, Family, Version};
use crate::limits::{CHANGE_SHARDS, CHANGES_EXPIRED_AT_ONCE};
use crate::store::{Batches, RangeRead, Read, Transaction, key_after};

/// What one transaction removes.
pub(crate) struct ExpiredPortion {
    /// The version up to which all entries were removed, if any were.
    pub(crate) horizon: Option<Version>,
    /// The stored bytes of these entries, keys included.
    pub(crate) bytes: u64,
    /// Whether there may be more.
    pub(crate) more: bool,
}

/// Removes a portion of the expired entries, and sets the horizon accordingly.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn expire(transaction: &dyn Transaction) -> Result<ExpiredPortion> {
    let mut portion = ExpiredPortion {
        horizon: None,
        bytes: 0,
        more: false,
    };
    let settings = ChangeSettings::read(transaction).await?;
    let Some(settings) = settings.filter(ChangeSettings::is_on) else {
        return Ok(portion);
    };
    let horizon = transaction.get(&Family::ChangeHorizon.key()?).await?;
    let before = horizon_of(horizon.as_deref())?;
    let mut after = before;
    for shard in 0..CHANGE_SHARDS {
        let expired = expired(transaction.without_conflict(), shard, settings.retention).await?;
        let Some(expired) = expired else {
            continue;
        };
        for part in [ChangeLogPart::Headers, ChangeLogPart::Patches] {
            let range = ChangeLogRange::new(part, shard);
            transaction.clear_range(range.begin(), &range.after(expired.last));
        }
        after = after.max(expired.last);
        portion.bytes += expired.entries.bytes;
        portion.more |= expired.more;
    }
    if after > before {
        let stamp = Versionstamp::complete(after.0, 0);
        transaction.set(&Family::ChangeHorizon.key()?, &pack(&(stamp,)));
        portion.horizon = Some(after);
    }
    Ok(portion)
}

/// A portion of the expired entries of a shard.
struct ExpiredEntries {
    /// The last commit.
    last: Version,
    entries: EntryBytes,
    /// Whether there may be more.
    more: bool,
}

/// Returns a portion of the expired entries of a shard. `None` if there are none.
async fn expired(
    read: &dyn Read,
    shard: u8,
    retention: Duration,
) -> Result<Option<ExpiredEntries>> {
    let oldest = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let oldest = now().saturating_sub(oldest);
    let range = ChangeLogRange::new(ChangeLogPart::Headers, shard);
    let end = range.end();
    let portion = RangeRead::new(range.begin(), &end).at_most(CHANGES_EXPIRED_AT_ONCE);
    let batch = read.range(portion).await?;
    let mut more = batch.more || batch.pairs.len() >= CHANGES_EXPIRED_AT_ONCE;
    let mut entries = EntryBytes::of(shard);
    let mut last = None;
    for (key, header) in batch.pairs.iter() {
        let time = ChangesDecoder::time(header);
        if time.is_some_and(|time| time >= oldest) {
            more = false;
            break;
        }
        last = Some((entries.add(key, header)?, key));
    }
    let Some((last, key)) = last else {
        return Ok(None);
    };
    if more {
        // The last commit may have further headers.
        let mut rest = Batches::new(read, key_after(key), range.after(last));
        while let Some(batch) = rest.next().await? {
            for (key, header) in batch.iter() {
                entries.add(key, header)?;
            }
        }
    }
    Ok(Some(ExpiredEntries {
        last,
        entries,
        more,
    }))
}
