//! The settings of the change log, which belong to the store, and the versions from which it is
//! complete.

use std::time::Duration;

use foundationdb_tuple::{pack, unpack};

use crate::database::format::write_changes_format;
use crate::error::{Error, Result};
use crate::key::{ChangeLogPart, ChangeLogRange, Family, Version};
use crate::limits::CHANGE_SHARDS;
use crate::store::{Pairs, Read, Transaction};

/// The settings of the change log of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSettings {
    /// Names the history of commits to which versions belong. A copy or a backup of the store has
    /// another one.
    pub history: String,
    /// The time for which entries are kept. Zero means that the log is off.
    pub retention: Duration,
}

impl ChangeSettings {
    /// Reads the settings. `None` if the log was never switched on.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn read(read: &dyn Read) -> Result<Option<Self>> {
        let value = read.get(&Family::ChangeSettings.key()?).await?;
        let Some(value) = value else { return Ok(None) };
        let (history, seconds): (String, u64) = unpack(&value)
            .map_err(|error| Error::internal(format!("the settings of the change log: {error}")))?;
        Ok(Some(Self {
            history,
            retention: Duration::from_secs(seconds),
        }))
    }

    /// Whether changes are logged.
    pub fn is_on(&self) -> bool {
        !self.retention.is_zero()
    }

    fn encode(&self) -> Vec<u8> {
        pack(&(self.history.as_str(), self.retention.as_secs()))
    }
}

/// A random name of a history.
pub(crate) fn new_history() -> String {
    format!("{:016x}", rand::random::<u64>())
}

/// Sets the time for which entries of the change log are kept, in whole seconds. Zero switches the
/// log off and removes its entries. Returns whether the setting has changed.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn set_retention(
    transaction: &dyn Transaction,
    retention: Duration,
) -> Result<bool> {
    let retention = Duration::from_secs(retention.as_secs());
    let stored = ChangeSettings::read(transaction).await?;
    let was_on = stored.as_ref().is_some_and(ChangeSettings::is_on);
    if stored
        .as_ref()
        .map_or(Duration::ZERO, |stored| stored.retention)
        == retention
    {
        return Ok(false);
    }
    write_changes_format(transaction).await?;
    let settings = ChangeSettings {
        history: stored.map_or_else(new_history, |stored| stored.history),
        retention,
    };
    transaction.set(&Family::ChangeSettings.key()?, &settings.encode());
    if was_on != settings.is_on() {
        clear_entries(transaction);
        let horizon = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
        let stamp_at = Version::VALUE_PREFIX.len();
        transaction.set_versionstamped_value(&Family::ChangeHorizon.key()?, &horizon, stamp_at);
    }
    Ok(true)
}

/// The pairs that a backup has in place of the change log: the retention, under the name of another
/// history, and the version of the snapshot, after which the log of the restored store is complete.
/// No pairs if the log was never switched on.
///
/// # Errors
/// Errors of the store.
pub async fn change_log_of_backup(snapshot: &dyn Read) -> Result<Pairs> {
    let mut pairs = Pairs::default();
    let Some(stored) = ChangeSettings::read(snapshot).await? else {
        return Ok(pairs);
    };
    let settings = ChangeSettings {
        history: new_history(),
        retention: stored.retention,
    };
    let version = snapshot.version().await?;
    let user_version = [0; 2];
    let horizon = [&Version::VALUE_PREFIX[..], &version.0, &user_version].concat();
    pairs.push(&Family::ChangeSettings.key()?, &settings.encode());
    pairs.push(&Family::ChangeHorizon.key()?, &horizon);
    Ok(pairs)
}

fn clear_entries(transaction: &dyn Transaction) {
    for part in [ChangeLogPart::Headers, ChangeLogPart::Patches] {
        for shard in 0..CHANGE_SHARDS {
            let range = ChangeLogRange::new(part, shard);
            transaction.clear_range(range.begin(), &range.end());
        }
    }
}

/// Decodes the value of [`Family::ChangeHorizon`].
///
/// # Errors
/// `INTERNAL`: the value is malformed or missing.
pub(crate) fn horizon_of(value: Option<&[u8]>) -> Result<Version> {
    value
        .and_then(Version::decode)
        .ok_or_else(|| Error::internal("the change log has no valid horizon"))
}
