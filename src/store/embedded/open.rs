//! Opening a directory, and saying plainly why it cannot be opened.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use redb::{Builder, Database, DatabaseError, StorageError};

use super::EmbeddedOptions;
use crate::error::{Error, Result};

/// The file in a store's directory that holds the data.
pub const FILE_NAME: &str = "phyllo.redb";

pub(super) fn open(
    directory: &Path,
    options: EmbeddedOptions,
    repairing: impl Fn(f64) + Send + 'static,
) -> Result<Database> {
    fs::create_dir_all(directory).map_err(|error| {
        unavailable(directory, &format!("the directory cannot be made: {error}"))
    })?;
    let path = directory.join(FILE_NAME);
    let opened = catch_unwind(AssertUnwindSafe(|| {
        Builder::new()
            .set_cache_size(options.cache_bytes)
            .set_repair_callback(move |session| repairing(session.progress()))
            .create(&path)
    }));
    match opened {
        Ok(Ok(database)) => Ok(database),
        Ok(Err(error)) => Err(refused(&path.display().to_string(), &error)),
        Err(_) => Err(damaged(&path.display().to_string(), "its structure")),
    }
}

pub(super) fn refused(place: &str, error: &DatabaseError) -> Error {
    let why = match error {
        DatabaseError::DatabaseAlreadyOpen => {
            "another process holds it; if that is a Phyllo server, use this command with the \
             same --store and it goes through the server"
                .to_owned()
        }
        DatabaseError::Storage(StorageError::Corrupted(what)) => return damaged(place, what),
        DatabaseError::Storage(StorageError::Io(error))
            if error.kind() == std::io::ErrorKind::InvalidData =>
        {
            return damaged(place, &error.to_string());
        }
        DatabaseError::Storage(StorageError::Io(error)) => error.to_string(),
        DatabaseError::UpgradeRequired(format) => {
            format!("it has the file format {format} of an older program")
        }
        other => other.to_string(),
    };
    Error::unavailable(format!("the store {place} cannot be opened: {why}"), "")
}

fn damaged(place: &str, what: &str) -> Error {
    Error::unavailable(
        format!(
            "the store {place} cannot be opened: it is damaged, or no Phyllo store ({what}). \
             It was left as it is; restore it from a backup"
        ),
        "",
    )
}

fn unavailable(directory: &Path, why: &str) -> Error {
    let place = directory.display();
    Error::unavailable(format!("the store {place} cannot be opened: {why}"), "")
}
