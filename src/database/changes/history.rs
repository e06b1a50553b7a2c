//! The names of histories, in cursors.
//!
//! A version is a number of a commit, so it only names a commit within one history of the store. A store
//! has a random name (`settings.rs`), which a backup or a copy by a command does not have. But a copy of
//! the files does, and continues with the same numbers. So on an engine that records sessions, the
//! history of a version is the session of the process that made the commit. A cursor of commits that a
//! restored copy lacks then has a session that the copy does not have, or that has ended there before.

use super::settings::ChangeSettings;
use crate::key::Version;
use crate::store::{Read, Sessions};

/// The histories of a store.
#[derive(Clone, Default)]
pub(crate) struct Histories {
    /// The history of versions without a session.
    store: String,
    sessions: Sessions,
}

impl Histories {
    /// The histories of the store of a snapshot.
    pub(crate) fn of(settings: ChangeSettings, read: &dyn Read) -> Self {
        Self {
            store: settings.history,
            sessions: read.sessions().cloned().unwrap_or_default(),
        }
    }

    /// The name of the history to which a version belongs: 16 hexadecimal digits.
    pub(crate) fn name(&self, version: Version) -> String {
        match self.sessions.of(version.commit_number()) {
            Some(session) => format!("{session:016x}"),
            None => self.store.clone(),
        }
    }
}
