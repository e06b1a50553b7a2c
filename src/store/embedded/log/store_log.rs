//! The log of an open store: whether it may be used, and where it is.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{LogFiles, LogWriter};

/// Where the log of a store is, and whether the store uses one.
pub(crate) struct StoreLog {
    files: Box<dyn LogFiles>,
    segment_bytes: u64,
    /// Whether the store may have a log: its format makes programs without logs reject it.
    enabled: AtomicBool,
    /// Whether a log could not be begun.
    failed: AtomicBool,
}

impl StoreLog {
    pub(crate) fn new(files: Box<dyn LogFiles>, segment_bytes: u64, enabled: bool) -> Self {
        Self {
            files,
            segment_bytes,
            enabled: AtomicBool::new(enabled),
            failed: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire)
    }

    pub(crate) fn enable(&self) {
        self.enabled.store(true, Ordering::Release);
    }

    /// Begins a log after the commit `last`. redb has the commits up to `base` durably. `None` if the
    /// disk is full, for example: the store is then used without a log until it is opened again.
    pub(crate) fn begin(&self, base: u64, last: u64) -> Option<Arc<LogWriter>> {
        if self.failed.load(Ordering::Acquire) {
            return None;
        }
        match LogWriter::begin(&*self.files, self.segment_bytes, base, last) {
            Ok(log) => Some(Arc::new(log)),
            Err(error) => {
                tracing::warn!("no write-ahead log can be begun, so writes are slower: {error}");
                self.failed.store(true, Ordering::Release);
                self.remove();
                None
            }
        }
    }

    /// Checks that the disk has space for a log, before one has begun.
    ///
    /// # Errors
    /// `StorageFull`: it has not. Errors of the file system.
    pub(crate) fn check_space(&self) -> io::Result<()> {
        match self.files.free_bytes()? {
            Some(free) if free < LogWriter::FIRST_BYTES => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    /// Removes the files of a log that has ended.
    pub(crate) fn remove(&self) {
        if let Err(error) = self.files.remove() {
            // They are ignored, and replaced by the next log.
            tracing::warn!("the files of the write-ahead log cannot be removed: {error}");
        }
    }
}

/// Describes why space for a commit cannot be allocated.
pub(crate) fn describe(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk of the store is full; nothing was changed"
        }
        _ => "the write-ahead log cannot be extended; nothing was changed",
    }
}
