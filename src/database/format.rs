//! The format version of the stored bytes, and how a running program detects that another program
//! has raised it.
//!
//! Every write transaction reads the format key, so it conflicts with a transaction that raises the
//! format. A program therefore never writes to a store whose format it does not know. Reads have no
//! such protection: they are rejected once a write, or
//! [`Database::watch_format`](super::open::Database::watch_format), has read an unknown format.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use arc_swap::ArcSwapOption;
use foundationdb_tuple::{pack, unpack};

use crate::error::{Error, ErrorKind, Result};
use crate::key::Family;
use crate::store::{Read, Transaction};

/// The initial format. docs/format.md describes the stored bytes.
pub const FORMAT: i64 = 1;
/// The format of a store in which an index was ever created. A program that knows only [`FORMAT`]
/// would change documents without updating their index entries.
pub const FORMAT_INDEXED: i64 = 2;
/// The format of a store of the embedded engine in which a large range was ever cleared. A program
/// that knows only earlier formats would read the cleared keys.
pub const FORMAT_TOMBSTONES: i64 = 3;

/// The format of a store in which a document was ever stored under a versionstamp. A program that
/// knows only earlier formats finds no such document.
pub const FORMAT_VERSIONSTAMPS: i64 = 4;

/// The format of a store in which an index was created that has the forms of numbers in the values
/// of its entries. A program that knows only earlier formats would write entries without them.
pub const FORMAT_EXACT_ENTRIES: i64 = 5;

/// The format of a store of the embedded engine that may have a write-ahead log. A program that
/// knows only earlier formats would ignore the commits in the log.
pub const FORMAT_LOG: i64 = 6;

/// The format of a store in which a partial index, or an index on names, was ever created. A program
/// that knows only earlier formats cannot read their definitions.
pub const FORMAT_SELECTIVE_INDEXES: i64 = 7;

/// The format of a store whose change log was ever switched on. A program that knows only earlier
/// formats would change documents without logging it.
pub const FORMAT_CHANGES: i64 = 8;

/// The format of a store in which a collection ever had a type. A program that knows only earlier
/// formats would change documents without validating them.
pub const FORMAT_TYPES: i64 = 9;

/// The latest format that this program knows.
const FORMAT_LAST: i64 = FORMAT_TYPES;

/// Whether this program knows a format.
pub(crate) fn is_known(format: i64) -> bool {
    (FORMAT..=FORMAT_LAST).contains(&format)
}

/// The format key as read from a store.
enum Stored {
    /// No format key: the store holds no database, or another program has emptied it.
    Nothing,
    Known(i64),
    /// This program must not use the store; the error says why.
    Unknown(Error),
}

impl Stored {
    /// # Errors
    /// Errors of the store.
    async fn read(read: &dyn Read) -> Result<Self> {
        let Some(value) = read.get(&Family::Format.key()?).await? else {
            return Ok(Self::Nothing);
        };
        Ok(match unpack::<(i64,)>(&value) {
            Ok((format,)) if is_known(format) => Self::Known(format),
            Ok((other,)) => Self::Unknown(Error::new(
                ErrorKind::Unavailable,
                format!(
                    "the store has format {other}; this program reads and writes the formats \
                     {FORMAT} to {FORMAT_LAST}"
                ),
            )),
            Err(error) => Self::Unknown(Error::internal(format!("the store's format: {error}"))),
        })
    }
}

/// Whether the store has a format key.
///
/// # Errors
/// `UNAVAILABLE`: this program does not know the format.
pub(crate) async fn check_format(read: &dyn Read) -> Result<bool> {
    match Stored::read(read).await? {
        Stored::Nothing => Ok(false),
        Stored::Known(_) => Ok(true),
        Stored::Unknown(error) => Err(error),
    }
}

/// Writes the initial format if the store has none.
pub(crate) async fn write_format(transaction: &dyn Transaction) -> Result<()> {
    if !check_format(transaction).await? {
        transaction.set(&Family::Format.key()?, &pack(&(FORMAT,)));
    }
    Ok(())
}

/// Raises the format to [`FORMAT_EXACT_ENTRIES`], so that programs that would not maintain the entries
/// of a new index reject the store.
pub(crate) async fn write_exact_entries_format(transaction: &dyn Transaction) -> Result<()> {
    raise_format(transaction, FORMAT_EXACT_ENTRIES).await
}

/// Raises the format to [`FORMAT_SELECTIVE_INDEXES`], so that programs that know neither filters of
/// indexes nor indexes on names reject the store.
pub(crate) async fn write_selective_index_format(transaction: &dyn Transaction) -> Result<()> {
    raise_format(transaction, FORMAT_SELECTIVE_INDEXES).await
}

/// Removes the keys from `begin` to before `end` with [`Transaction::clear_large_range`]. Raises
/// the format if the engine stored a tombstone, so that programs that do not know tombstones reject
/// the store.
pub(crate) async fn clear_large_range(
    transaction: &dyn Transaction,
    (begin, end): &(Vec<u8>, Vec<u8>),
) -> Result<()> {
    if transaction.clear_large_range(begin, end).await? {
        raise_format(transaction, FORMAT_TOMBSTONES).await?;
    }
    Ok(())
}

/// Raises the format to [`FORMAT_VERSIONSTAMPS`], so that programs that know no versionstamps as ids
/// reject the store.
pub(crate) async fn write_versionstamp_format(transaction: &dyn Transaction) -> Result<()> {
    raise_format(transaction, FORMAT_VERSIONSTAMPS).await
}

/// Raises the format to [`FORMAT_LOG`], so that programs that know no log reject the store.
pub(crate) async fn write_log_format(transaction: &dyn Transaction) -> Result<()> {
    check_format(transaction).await?;
    raise_format(transaction, FORMAT_LOG).await
}

/// Raises the format to [`FORMAT_CHANGES`], so that programs that would not log changes reject the
/// store.
pub(crate) async fn write_changes_format(transaction: &dyn Transaction) -> Result<()> {
    raise_format(transaction, FORMAT_CHANGES).await
}

/// Raises the format to [`FORMAT_TYPES`], so that programs that would not validate documents reject
/// the store.
pub(crate) async fn write_types_format(transaction: &dyn Transaction) -> Result<()> {
    raise_format(transaction, FORMAT_TYPES).await
}

async fn raise_format(transaction: &dyn Transaction, format: i64) -> Result<()> {
    let key = Family::Format.key()?;
    let stored = transaction
        .get(&key)
        .await?
        .and_then(|value| unpack::<(i64,)>(&value).ok());
    if stored.is_none_or(|(stored,)| stored < format) {
        transaction.set(&key, &pack(&(format,)));
    }
    Ok(())
}

/// The format of an open store as this process last read it. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct LastFormat {
    /// Why the store must not be used, if its format is unknown.
    unknown: Arc<ArcSwapOption<Error>>,
    /// Whether the format was [`FORMAT_CHANGES`] or later when it was last read.
    logs_changes: Arc<AtomicBool>,
}

impl LastFormat {
    /// Checks the last read format, without a read.
    ///
    /// # Errors
    /// `UNAVAILABLE`: this program does not know the format.
    pub(crate) fn check(&self) -> Result<()> {
        match &*self.unknown.load() {
            None => Ok(()),
            Some(error) => Err(Error::clone(error)),
        }
    }

    /// Whether the store may have a change log, by the format that was last read.
    pub(crate) fn may_log_changes(&self) -> bool {
        self.logs_changes.load(Relaxed)
    }

    /// Reads the format and records it. Returns whether the store has one.
    ///
    /// # Errors
    /// `UNAVAILABLE`: this program does not know the format. Errors of the store.
    pub(crate) async fn check_stored(&self, read: &dyn Read) -> Result<bool> {
        let mut has_format = true;
        let unknown = match Stored::read(read).await? {
            Stored::Nothing => {
                has_format = false;
                self.logs_changes.store(false, Relaxed);
                None
            }
            Stored::Known(format) => {
                self.logs_changes.store(format >= FORMAT_CHANGES, Relaxed);
                None
            }
            Stored::Unknown(error) => Some(error),
        };
        match &unknown {
            Some(error) if self.check().is_ok() => {
                tracing::error!("{error}; reads and writes are rejected");
            }
            None if self.check().is_err() => {
                tracing::warn!("the store has a known format again; reads and writes are accepted");
            }
            _ => {}
        }
        if unknown.is_some() || self.check().is_err() {
            self.unknown.store(unknown.clone().map(Arc::new));
        }
        unknown.map_or(Ok(has_format), Err)
    }
}
