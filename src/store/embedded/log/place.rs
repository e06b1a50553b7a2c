//! What the redb file says about the log.

use redb::{ReadableTable, StorageError, Table};

/// The records of redb's table `engine` that say where the later commits are.
const LOG: &str = "log";
const LOG_SEGMENT: &str = "log_segment";
const LOG_FIRST_FRAME: &str = "log_first_frame";
const LOG_SYNCED_FRAME: &str = "log_synced_frame";

/// Where the commits are that redb may not have. It is written in the same redb transaction as the
/// number of redb's last commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogPlace {
    /// The number of the log. 0: there is none.
    pub(crate) log: u64,
    /// The first segment that may have such commits.
    pub(crate) segment: u64,
    /// The number of the first frame of that segment, which may not have been written yet. 0: the
    /// store was written by a program that did not record it.
    pub(crate) first_frame: u64,
    /// A frame that was synced. The log reaches at least up to it.
    pub(crate) synced_frame: u64,
}

impl LogPlace {
    /// Reads the records. `None`: the store may not have a log yet.
    ///
    /// # Errors
    /// Errors of redb.
    pub(crate) fn read(
        engine: &impl ReadableTable<&'static str, u64>,
    ) -> Result<Option<Self>, StorageError> {
        let record = |name| Ok::<_, StorageError>(engine.get(name)?.map(|number| number.value()));
        let Some(log) = record(LOG)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            log,
            segment: record(LOG_SEGMENT)?.unwrap_or(0),
            first_frame: record(LOG_FIRST_FRAME)?.unwrap_or(0),
            synced_frame: record(LOG_SYNCED_FRAME)?.unwrap_or(0),
        }))
    }

    /// Writes the records.
    ///
    /// # Errors
    /// Errors of redb.
    pub(crate) fn write(
        self,
        engine: &mut Table<'_, &'static str, u64>,
    ) -> Result<(), StorageError> {
        engine.insert(LOG, self.log)?;
        engine.insert(LOG_SEGMENT, self.segment)?;
        engine.insert(LOG_FIRST_FRAME, self.first_frame)?;
        engine.insert(LOG_SYNCED_FRAME, self.synced_frame)?;
        Ok(())
    }
}
