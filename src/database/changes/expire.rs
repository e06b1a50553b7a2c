//! Removes entries that are older than the retention of the store.
//!
//! The time of an entry is that of the clock of the process that wrote it, which can be wrong. An entry
//! whose time is in the future expires with the first later one that has expired. Without that rule, it
//! would keep all later ones until its time has come.

use std::time::Duration;

use foundationdb_tuple::{Versionstamp, pack};

use super::settings::{ChangeSettings, horizon_of};
use super::size::EntryBytes;
use super::write_commit_entry::now;
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

/// A portion of the expired entries of a shard. `None` if there are none.
async fn expired(
    read: &dyn Read,
    shard: u8,
    retention: Duration,
) -> Result<Option<ExpiredEntries>> {
    let retention = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let clock = ExpiryClock::with(retention);
    let range = ChangeLogRange::new(ChangeLogPart::Headers, shard);
    let end = range.end();
    let portion = RangeRead::new(range.begin(), &end).at_most(CHANGES_EXPIRED_AT_ONCE);
    let batch = read.range(portion).await?;
    let mut more = batch.more || batch.pairs.len() >= CHANGES_EXPIRED_AT_ONCE;
    let mut entries = EntryBytes::of(shard);
    let mut last = None;
    let mut expired_later = None;
    for (key, header) in batch.pairs.iter() {
        let version = range.parse(key).map(|(version, _)| version);
        if clock.is_ahead(header) && expired_later.is_none() {
            expired_later = Some(expired_after(read, &range, version, clock).await?);
        }
        let with_later = version.is_some_and(|version| Some(version) <= expired_later.flatten());
        if !with_later && !clock.has_expired(header) {
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

/// The clock of this process when entries are removed, in milliseconds since 1970.
#[derive(Clone, Copy)]
struct ExpiryClock {
    now: u64,
    /// Earlier entries have expired.
    oldest: u64,
}

impl ExpiryClock {
    fn with(retention: u64) -> Self {
        let now = now();
        Self {
            now,
            oldest: now.saturating_sub(retention),
        }
    }

    /// Whether the time of a header has expired. A malformed header has.
    fn has_expired(self, header: &[u8]) -> bool {
        ChangesDecoder::time(header).is_none_or(|time| time < self.oldest)
    }

    /// Whether the time of a header is in the future.
    fn is_ahead(self, header: &[u8]) -> bool {
        ChangesDecoder::time(header).is_some_and(|time| time > self.now)
    }
}

/// The first commit after those from `begin` on whose times are in the future, if it has expired. It is
/// found with one read for each halving of the log, however many commits there are.
async fn expired_after(
    read: &dyn Read,
    range: &ChangeLogRange,
    begin: Option<Version>,
    clock: ExpiryClock,
) -> Result<Option<Version>> {
    let Some(begin) = begin else {
        return Ok(None);
    };
    let end = range.end();
    let mut ahead = begin.commit_number();
    let mut later = read.version().await?.commit_number() + 1;
    let mut expired = None;
    while ahead + 1 < later {
        let middle = ahead.midpoint(later);
        let first = range.from(Version::first_of_number(middle));
        let batch = read.range(RangeRead::new(&first, &end).at_most(1)).await?;
        let found = batch
            .pairs
            .iter()
            .next()
            .and_then(|(key, header)| Some((range.parse(key)?.0, header)));
        match found {
            Some((version, header)) if clock.is_ahead(header) => ahead = version.commit_number(),
            Some((version, header)) => {
                expired = clock.has_expired(header).then_some(version);
                later = middle;
            }
            None => later = middle,
        }
    }
    Ok(expired)
}
