//! Verifies the checksums of all pages of a store's file.
//!
//! redb has a checksum for each page, in the page above it. It verifies all of them when it opens a
//! file that was not closed and has no list of used pages, and otherwise none, because a read would
//! take far longer. So a changed byte of a page is only found by a check of the whole file.

use std::path::Path;

use redb::{Builder, DatabaseError, StorageError};

use super::{FILE_NAME, attempt, existing};
use crate::error::Result;
use crate::store::embedded::EmbeddedReader;

/// The page cache of the check, which reads each page once.
const CACHE_BYTES: usize = 32 << 20;

impl EmbeddedReader {
    /// Verifies the checksums of all pages of the store in `directory`, and changes nothing. Returns
    /// what is wrong. `None`: all pages are intact, or another process has the store open.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the file cannot be opened or read. The message names it.
    pub fn verify_pages(directory: &Path) -> Result<Option<String>> {
        let path = directory.join(FILE_NAME);
        attempt(&path.display().to_string(), || {
            let file = existing(&path)?;
            let opened = Builder::new()
                .set_cache_size(CACHE_BYTES)
                .create_with_backend(file.clone());
            let mut database = match opened {
                Ok(database) => database,
                Err(DatabaseError::DatabaseAlreadyOpen) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let intact = database.check_integrity();
            // redb also writes when it closes a file.
            file.block();
            match intact {
                Ok(true) => Ok(None),
                Ok(false) | Err(DatabaseError::Storage(StorageError::Corrupted(_))) => {
                    Ok(Some("the checksum of a page is wrong".to_owned()))
                }
                Err(error) => Err(error.into()),
            }
        })
    }
}
