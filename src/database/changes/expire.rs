//! Removes entries that are older than the retention of the store.

use std::time::Duration;

use foundationdb_tuple::{Versionstamp, pack};

use super::settings::{ChangeSettings, horizon_of};
use super::write::now;
use crate::error::{Error, Result};
use crate::key::{ChangeLogPart, ChangeLogRange, ChangesDecoder, Family, Version};
use crate::limits::{CHANGE_SHARDS, CHANGES_EXPIRED_AT_ONCE};
use crate::store::{RangeRead, Read, Transaction};

/// Removes a portion of the expired entries, and sets the horizon accordingly. Returns whether there
/// may be more.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn expire(transaction: &dyn Transaction) -> Result<bool> {
    let Some(settings) = ChangeSettings::read(transaction).await? else {
        return Ok(false);
    };
    if !settings.is_on() {
        return Ok(false);
    }
    let horizon = transaction.get(&Family::ChangeHorizon.key()?).await?;
    let before = horizon_of(horizon.as_deref())?;
    let mut after = before;
    let mut more = false;
    for shard in 0..CHANGE_SHARDS {
        let expired = expired(transaction.without_conflict(), shard, settings.retention).await?;
        let Some((version, full)) = expired else {
            continue;
        };
        for part in [ChangeLogPart::Headers, ChangeLogPart::Patches] {
            let range = ChangeLogRange::new(part, shard);
            transaction.clear_range(range.begin(), &range.after(version));
        }
        after = after.max(version);
        more |= full;
    }
    if after > before {
        let stamp = Versionstamp::complete(after.0, 0);
        transaction.set(&Family::ChangeHorizon.key()?, &pack(&(stamp,)));
    }
    Ok(more)
}

/// Returns the last expired commit of a portion of a shard, and whether there may be more.
async fn expired(
    read: &dyn Read,
    shard: u8,
    retention: Duration,
) -> Result<Option<(Version, bool)>> {
    let oldest = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let oldest = now().saturating_sub(oldest);
    let range = ChangeLogRange::new(ChangeLogPart::Headers, shard);
    let end = range.end();
    let portion = RangeRead::new(range.begin(), &end).at_most(CHANGES_EXPIRED_AT_ONCE);
    let batch = read.range(portion).await?;
    let mut last = None;
    for (key, header) in batch.pairs.iter() {
        let parsed = range.parse(key);
        let (version, _) = parsed.ok_or_else(|| Error::internal("a key in the change log"))?;
        let time = ChangesDecoder::time(header);
        if time.is_some_and(|time| time >= oldest) {
            return Ok(last.map(|version| (version, false)));
        }
        last = Some(version);
    }
    let full = batch.more || batch.pairs.len() >= CHANGES_EXPIRED_AT_ONCE;
    Ok(last.map(|version| (version, full)))
}
