//! The format of the bytes stored, and how a program that is running learns that another program
//! has raised it.
//!
//! Every write transaction reads the format, so a write conflicts with the transaction that raises
//! it: a program never writes to a store whose format it does not know. Reads cannot conflict. They
//! are refused once a write, or [`Database::watch_format`](super::open::Database::watch_format), has found
//! such a format.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use foundationdb_tuple::{pack, unpack};

use crate::error::{Error, ErrorKind, Result};
use crate::key::Family;
use crate::store::{Read, Transaction};

/// The format of the bytes stored; docs/format.md draws it.
pub const FORMAT: i64 = 1;
/// The format of a store in which an index was ever made. A program that knows only the other
/// would change documents and leave their entries as they were.
pub const FORMAT_INDEXED: i64 = 2;
/// The format of a store of the embedded engine in which a large range was ever cleared. A program
/// that knows only the others would read what was cleared.
pub const FORMAT_TOMBSTONES: i64 = 3;

/// The formats that this program knows.
pub(crate) fn is_known(format: i64) -> bool {
    (FORMAT..=FORMAT_TOMBSTONES).contains(&format)
}

/// What a store says about its format.
enum Stored {
    /// Nothing: it holds no database, or another program has emptied it.
    Nothing,
    Known,
    /// This program must not use the store, for this reason.
    Unknown(Error),
}

impl Stored {
    /// # Errors
    /// What the store fails with.
    async fn read(read: &dyn Read) -> Result<Self> {
        let Some(value) = read.get(&Family::Format.key()?).await? else {
            return Ok(Self::Nothing);
        };
        Ok(match unpack::<(i64,)>(&value) {
            Ok((format,)) if is_known(format) => Self::Known,
            Ok((other,)) => Self::Unknown(Error::new(
                ErrorKind::Unavailable,
                format!(
                    "the store has format {other}; this program reads and writes the formats \
                     {FORMAT} to {FORMAT_TOMBSTONES}"
                ),
            )),
            Err(error) => Self::Unknown(Error::internal(format!("the store's format: {error}"))),
        })
    }
}

/// Whether the store is marked as one of ours.
///
/// # Errors
/// `UNAVAILABLE`: its format is not one that this program knows.
pub(crate) async fn check_format(read: &dyn Read) -> Result<bool> {
    match Stored::read(read).await? {
        Stored::Nothing => Ok(false),
        Stored::Known => Ok(true),
        Stored::Unknown(error) => Err(error),
    }
}

/// Marks a store that is not marked yet.
pub(crate) async fn write_format(transaction: &dyn Transaction) -> Result<()> {
    if !check_format(transaction).await? {
        transaction.set(&Family::Format.key()?, &pack(&(FORMAT,)));
    }
    Ok(())
}

/// Marks the store as one that has indexes, for programs that know of none.
pub(crate) async fn write_indexed_format(transaction: &dyn Transaction) -> Result<()> {
    raise_format(transaction, FORMAT_INDEXED).await
}

/// Removes the keys from `begin` to before `end` as [`Transaction::clear_large_range`] does, and
/// marks the store for programs that do not know how the engine does it.
pub(crate) async fn clear_large_range(
    transaction: &dyn Transaction,
    (begin, end): &(Vec<u8>, Vec<u8>),
) -> Result<()> {
    if transaction.clear_large_range(begin, end).await? {
        raise_format(transaction, FORMAT_TOMBSTONES).await?;
    }
    Ok(())
}

async fn raise_format(transaction: &dyn Transaction, format: i64) -> Result<()> {
    let key = Family::Format.key()?;
    let stored = transaction.get(&key).await?;
    let stored = stored.and_then(|value| unpack::<(i64,)>(&value).ok());
    if stored.is_none_or(|(stored,)| stored < format) {
        transaction.set(&key, &pack(&(format,)));
    }
    Ok(())
}

/// What this process has last learned about the format of an open store. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct LastFormat {
    /// Why the store must not be used.
    unknown: Arc<ArcSwapOption<Error>>,
}

impl LastFormat {
    /// Costs no read.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the format was not one that this program knows.
    pub(crate) fn check(&self) -> Result<()> {
        match &*self.unknown.load() {
            None => Ok(()),
            Some(error) => Err(Error::clone(error)),
        }
    }

    /// Reads the format and records what it is. A store without one passes.
    ///
    /// # Errors
    /// `UNAVAILABLE`: it is not one that this program knows. What the store fails with.
    pub(crate) async fn check_stored(&self, read: &dyn Read) -> Result<()> {
        let unknown = match Stored::read(read).await? {
            Stored::Nothing | Stored::Known => None,
            Stored::Unknown(error) => Some(error),
        };
        match &unknown {
            Some(error) if self.check().is_ok() => {
                tracing::error!("{error}; reads and writes are refused");
            }
            None if self.check().is_err() => {
                tracing::warn!("the store has a known format again; reads and writes are accepted");
            }
            _ => {}
        }
        if unknown.is_some() || self.check().is_err() {
            self.unknown.store(unknown.clone().map(Arc::new));
        }
        unknown.map_or(Ok(()), Err)
    }
}
