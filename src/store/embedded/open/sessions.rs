//! The table of sessions: which process has made which commits.
//!
//! A copy of a store's files has the same commits as the original, and then others with the same numbers.
//! Each process that opens a store for writing has a session with a random name. It is recorded in the
//! first transaction of redb, before any of its commits is reported, so all later commits of the process
//! belong to it, also those that only the log has.

use std::sync::atomic::{AtomicBool, Ordering};

use redb::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition, TableError,
    WriteTransaction,
};

use crate::limits::SESSIONS_MAX;
use crate::store::Sessions;

/// The names of the sessions, by the numbers of their first commits.
const SESSIONS: TableDefinition<'_, u64, u64> = TableDefinition::new("sessions");

/// The session of this process.
pub(crate) struct CurrentSession {
    /// The number of its first commit.
    first: u64,
    name: u64,
    is_recorded: AtomicBool,
}

impl CurrentSession {
    /// A session after the last commit of the store.
    pub(crate) fn after(last_commit: u64) -> Self {
        Self {
            first: last_commit + 1,
            name: rand::random(),
            is_recorded: AtomicBool::new(false),
        }
    }

    /// Records the session in a transaction, unless an earlier one has it. The oldest sessions are
    /// removed if there are too many.
    ///
    /// # Errors
    /// Errors of redb.
    pub(crate) fn record(&self, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        if self.is_recorded.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let mut sessions = transaction.open_table(SESSIONS)?;
        sessions.insert(self.first, self.name)?;
        while sessions.len()? > SESSIONS_MAX {
            sessions.pop_first()?;
        }
        Ok(())
    }
}

/// The recorded sessions, and the one of this process.
///
/// # Errors
/// Errors of redb.
pub(crate) fn sessions(
    database: &Database,
    current: Option<&CurrentSession>,
) -> Result<Sessions, redb::Error> {
    let mut list = Vec::new();
    match database.begin_read()?.open_table(SESSIONS) {
        Ok(stored) => {
            for session in stored.iter()? {
                let (first, name) = session?;
                list.push((first.value(), name.value()));
            }
        }
        // The store was written by programs that do not record them.
        Err(TableError::TableDoesNotExist(_)) => {}
        Err(error) => return Err(error.into()),
    }
    if let Some(current) = current {
        // A session without commits has the same number.
        list.retain(|(first, _)| *first < current.first);
        list.push((current.first, current.name));
    }
    Ok(Sessions::new(list))
}
