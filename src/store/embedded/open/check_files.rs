//! Checks which files of a store are in its directory, before one of them is created or removed.

use std::fs::File;
use std::path::Path;

use crate::store::embedded::files;
use crate::store::embedded::log::LOG_NAMES;

/// Checks that no store is created beside the log of a store whose file is missing.
///
/// # Errors
/// `Corrupted`: there is such a log.
pub(super) fn check_no_log(directory: &Path, path: &Path) -> Result<(), redb::Error> {
    // Looks for the log first: another process may create the store, and then its log.
    let left = LOG_NAMES
        .into_iter()
        .find(|name| files::is_there(&directory.join(name)));
    match left {
        Some(name) if !files::is_there(path) => Err(redb::Error::Corrupted(format!(
            "the file is missing beside its write-ahead log {name}, which may have commits that no \
             other file has; put the file back, or remove the log to create an empty store"
        ))),
        _ => Ok(()),
    }
}

/// Checks that the file of an existing store is not empty: redb would create an empty store in it.
/// The file of a new store gets its name when it is complete.
///
/// # Errors
/// `Corrupted`: the file is empty. `Io`: its length cannot be read.
pub(super) fn check_not_empty(file: &File) -> Result<(), redb::Error> {
    if file.metadata()?.len() > 0 {
        return Ok(());
    }
    let what = "the file is empty; without it, an empty store is created";
    Err(redb::Error::Corrupted(what.to_owned()))
}
