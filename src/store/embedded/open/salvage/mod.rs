//! Reads what is intact in a damaged store.
//!
//! A store whose files are damaged is rejected when it is opened. Salvage reads the same files without
//! changing them, and copies what is intact into a temporary store:
//!
//! 1. The pages of `phyllo.redb` are read from the root on ([`btree`]). Each has a checksum, so a damaged
//!    one is recognized. Its pairs are lost, and the page above says which keys they can have
//!    ([`LostKeys`]).
//! 2. The commits of the log are applied, up to the first frame that is damaged or missing. What they
//!    write or clear is known again.
//!
//! The result is the state of the store at one commit, apart from the lost keys. If the log is damaged, it
//! is an earlier state than the last one.

mod btree;
mod copied;
mod lost_keys;
mod redb_file;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use redb::{Builder, Database, Durability, ReadableTableMetadata, WriteTransaction};

use self::copied::{Engine, copy_tables};
use self::lost_keys::Losses;
pub use self::lost_keys::LostKeys;
use self::redb_file::RedbFile;
use super::super::files;
use super::super::log::{Damage, LogDirectory, Recovery, check_leftover, error_of, place_in_files};
use super::super::tables::TOMBSTONES;
use super::super::tables::writes::{Clearing, WriteKind, WriteList, WriteTables};
use super::read_only::EmbeddedReader;
use super::{FILE_NAME, attempt};
use crate::error::Result;

/// The page cache of the temporary store.
const CACHE_BYTES: usize = 32 << 20;
/// The name of the temporary store, which is removed at once.
const TEMPORARY_NAME: &str = ".phyllo-salvage";

/// What is intact in a store.
pub struct Salvage {
    /// Reads what is intact.
    pub reader: EmbeddedReader,
    /// The keys whose pairs are lost.
    pub lost: LostKeys,
    /// What is wrong with the files, one sentence each.
    pub faults: Vec<String>,
}

impl Salvage {
    /// Reads the store in `directory`, whose files are not changed. `temporary` is a directory with space
    /// for a copy of the store.
    ///
    /// # Errors
    /// `UNAVAILABLE`: another process has the store open, or the files or the copy cannot be read or
    /// written.
    pub fn open(directory: &Path, temporary: &Path) -> Result<Self> {
        let path = directory.join(FILE_NAME);
        attempt(&path.display().to_string(), || {
            let file = existing(&path)?;
            let database = temporary_database(temporary)?;
            let mut losses = Losses::default();
            let mut transaction = database.begin_write()?;
            transaction.set_durability(Durability::None)?;
            let engine = read_file(file.as_ref(), &transaction, &mut losses)?;
            let log = LogDirectory::new(directory);
            let last_commit = read_log(&log, engine.as_ref(), &transaction, &mut losses)?;
            transaction.commit()?;
            Ok(Self {
                reader: EmbeddedReader::of(database, last_commit)?,
                lost: losses.keys,
                faults: losses.faults,
            })
        })
    }
}

/// The file of a store. `None` if there is none.
fn existing(path: &Path) -> std::result::Result<Option<File>, redb::Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(redb::Error::DatabaseAlreadyOpen),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// A database in a file without a name, so that nothing is left of it.
fn temporary_database(directory: &Path) -> std::result::Result<Database, redb::Error> {
    let path = directory.join(TEMPORARY_NAME);
    let file = files::make_anew(&path)?;
    fs::remove_file(&path)?;
    let mut builder = Builder::new();
    Ok(builder.set_cache_size(CACHE_BYTES).create_file(file)?)
}

/// Copies what is intact in the file of the store.
fn read_file(
    file: Option<&File>,
    transaction: &WriteTransaction,
    losses: &mut Losses,
) -> std::result::Result<Option<Engine>, redb::Error> {
    let redb = match file {
        Some(file) => RedbFile::open(file)?,
        None => None,
    };
    if let Some(redb) = redb.filter(|redb| !redb.slots.is_empty()) {
        return copy_tables(&redb, transaction, losses);
    }
    let what = match file {
        None => "is missing",
        Some(_) => "has no valid header, or is empty",
    };
    losses.faults.push(format!("{FILE_NAME} {what}"));
    losses.keys = LostKeys::all();
    copied::create_tables(transaction)?;
    Ok(None)
}

/// Applies the commits of the log up to the first damage. Returns the number of the last commit.
fn read_log(
    log: &LogDirectory,
    engine: Option<&Engine>,
    transaction: &WriteTransaction,
    losses: &mut Losses,
) -> std::result::Result<u64, redb::Error> {
    let (place, mut last_commit) = match engine {
        Some(&Engine {
            log: Some(place),
            last_commit,
        }) => (place, last_commit),
        Some(&Engine { last_commit, .. }) => {
            match check_leftover(log, last_commit) {
                Err(Damage::Damaged(what)) => losses.faults.push(format!("{what}; it is ignored")),
                checked => checked.map_err(error_of)?,
            }
            return Ok(last_commit);
        }
        None => match place_in_files(log)? {
            Some(found) => found,
            None => return Ok(0),
        },
    };
    let (mut recovery, damage) = match Recovery::up_to_damage(log, place, last_commit)? {
        (_, Some(Damage::Io(error))) => return Err(error.into()),
        (recovery, damage) => (recovery, damage.map(|damage| error_of(damage).to_string())),
    };
    let has_tombstones = !transaction.open_table(TOMBSTONES)?.is_empty()?;
    let mut written = WriteTables::open(transaction, has_tombstones, Clearing::new(true))?;
    while let Some(commits) = recovery.next().map_err(error_of)? {
        for mut commit in commits {
            know(&mut losses.keys, &commit.writes);
            commit.writes.apply(&mut written)?;
            last_commit = commit.number;
        }
    }
    if let Some(damage) = damage {
        let fault = format!("{damage}; the commits after the commit {last_commit} are lost");
        losses.faults.push(fault);
    }
    Ok(last_commit)
}

/// Removes what a commit has written or cleared from the lost keys.
fn know(lost: &mut LostKeys, writes: &WriteList) {
    if lost.is_empty() {
        return;
    }
    for (key, kind) in writes.iter() {
        match kind {
            WriteKind::Set(_) | WriteKind::Clear => lost.remove_key(key),
            WriteKind::ClearTo(end) | WriteKind::CoverTo(end) => lost.remove(key, end),
            // What it was added to is still unknown.
            WriteKind::Add(_) => {}
        }
    }
}
