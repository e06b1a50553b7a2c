//! Copies the intact pages of a redb file to another database.

use std::collections::BTreeMap;
use std::io;

use redb::{ReadableTable, WriteTransaction};

use super::super::super::log::LogPlace;
use super::super::super::tables::{ENGINE, LAST_COMMIT, PAIRS, TOMBSTONES};
use super::super::FILE_NAME;
use super::btree::{PageTree, TreeItem};
use super::lost_keys::{Losses, LostKeys};
use super::redb_file::{CommitSlot, RedbFile, TableDefinition, table_of};

/// The records of the engine.
pub(super) struct Engine {
    pub(super) last_commit: u64,
    /// Where the later commits are. `None`: the store was closed, or has no log.
    pub(super) log: Option<LogPlace>,
}

/// The tables of a commit.
struct FoundTables {
    by_name: BTreeMap<Vec<u8>, TableDefinition>,
    /// Whether there may be others.
    is_damaged: bool,
}

/// Creates the tables of a store without pairs.
pub(super) fn create_tables(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.open_table(PAIRS)?;
    transaction.open_table(TOMBSTONES)?;
    transaction.open_table(ENGINE)?;
    Ok(())
}

/// Copies all tables. Returns the records of the engine, if they are intact.
pub(super) fn copy_tables(
    file: &RedbFile<'_>,
    transaction: &WriteTransaction,
    losses: &mut Losses,
) -> Result<Option<Engine>, redb::Error> {
    create_tables(transaction)?;
    let tables = best(file)?;
    if tables.is_damaged {
        losses
            .faults
            .push(format!("{FILE_NAME}: the list of its tables is damaged"));
    }
    copy_pairs(file, &tables, transaction, losses)?;
    copy_tombstones(file, &tables, transaction, losses)?;
    copy_engine(file, &tables, transaction, losses)
}

/// The tables of the commit that is damaged least. An older one is only taken if the last one cannot be
/// read at all, or was not written completely before a crash.
fn best(file: &RedbFile<'_>) -> Result<FoundTables, redb::Error> {
    let mut states = file.slots.iter().map(|slot| FoundTables::read(file, *slot));
    let first = states.next().unwrap_or_else(|| Ok(FoundTables::none()))?;
    let Some(second) = states.next().transpose()? else {
        return Ok(first);
    };
    let torn = || -> io::Result<bool> {
        Ok(file.may_be_torn && !first.is_intact(file)? && second.is_intact(file)?)
    };
    let is_readable = |tables: &FoundTables| tables.by_name.contains_key(PAIRS_NAME);
    let other = (!is_readable(&first) && is_readable(&second)) || torn()?;
    Ok(if other { second } else { first })
}

const PAIRS_NAME: &[u8] = b"pairs";
const TOMBSTONES_NAME: &[u8] = b"tombstones";
const ENGINE_NAME: &[u8] = b"engine";

impl FoundTables {
    fn none() -> Self {
        Self {
            by_name: BTreeMap::new(),
            is_damaged: true,
        }
    }

    fn read(file: &RedbFile<'_>, slot: CommitSlot) -> Result<Self, redb::Error> {
        let root = TableDefinition {
            root: slot.root,
            ..TableDefinition::default()
        };
        let mut tables = Self {
            by_name: BTreeMap::new(),
            is_damaged: false,
        };
        PageTree::new(file, root).read(|found| {
            match found {
                TreeItem::Pair(name, definition) => match table_of(definition) {
                    Some(table) => drop(tables.by_name.insert(name.to_vec(), table)),
                    None => tables.is_damaged = true,
                },
                TreeItem::Lost { .. } => tables.is_damaged = true,
            }
            Ok::<_, io::Error>(())
        })?;
        Ok(tables)
    }

    /// Whether all pages are intact.
    fn is_intact(&self, file: &RedbFile<'_>) -> io::Result<bool> {
        let mut is_intact = !self.is_damaged;
        for table in self.by_name.values() {
            PageTree::new(file, *table).read(|found| {
                is_intact &= matches!(found, TreeItem::Pair(..));
                Ok::<_, io::Error>(())
            })?;
        }
        Ok(is_intact)
    }

    fn tree<'r>(&self, file: &'r RedbFile<'r>, name: &[u8]) -> Option<PageTree<'r>> {
        self.by_name
            .get(name)
            .map(|table| PageTree::new(file, *table))
    }
}

fn copy_pairs(
    file: &RedbFile<'_>,
    tables: &FoundTables,
    transaction: &WriteTransaction,
    losses: &mut Losses,
) -> Result<(), redb::Error> {
    let Some(tree) = tables.tree(file, PAIRS_NAME) else {
        losses
            .faults
            .push(format!("{FILE_NAME}: its pairs are lost"));
        losses.keys = LostKeys::all();
        return Ok(());
    };
    let mut pairs = transaction.open_table(PAIRS)?;
    tree.read(|found| {
        match found {
            TreeItem::Pair(key, value) => drop(pairs.insert(key, value)?),
            TreeItem::Lost { begin, end, offset } => {
                losses.faults.push(damaged_page(offset));
                losses.keys.add(begin, end);
            }
        }
        Ok::<_, redb::Error>(())
    })
}

/// A lost tombstone can hide all pairs up to the next one. So those are lost, too.
fn copy_tombstones(
    file: &RedbFile<'_>,
    tables: &FoundTables,
    transaction: &WriteTransaction,
    losses: &mut Losses,
) -> Result<(), redb::Error> {
    let mut tombstones = transaction.open_table(TOMBSTONES)?;
    let mut lost_from: Option<Vec<u8>> = None;
    if let Some(tree) = tables.tree(file, TOMBSTONES_NAME) {
        tree.read(|found| {
            match found {
                TreeItem::Pair(begin, end) => {
                    if let Some(from) = lost_from.take() {
                        losses.keys.add(from, Some(begin.to_vec()));
                    }
                    tombstones.insert(begin, end)?;
                }
                TreeItem::Lost { begin, offset, .. } => {
                    losses.faults.push(damaged_page(offset));
                    lost_from.get_or_insert(begin);
                }
            }
            Ok::<_, redb::Error>(())
        })?;
    } else if tables.is_damaged {
        lost_from = Some(Vec::new());
    }
    if let Some(from) = lost_from {
        losses.keys.add(from, None);
    }
    Ok(())
}

fn copy_engine(
    file: &RedbFile<'_>,
    tables: &FoundTables,
    transaction: &WriteTransaction,
    losses: &mut Losses,
) -> Result<Option<Engine>, redb::Error> {
    let mut engine = transaction.open_table(ENGINE)?;
    if let Some(tree) = tables.tree(file, ENGINE_NAME) {
        tree.read(|found| {
            match found {
                TreeItem::Pair(name, number) => {
                    let (name, number) = (std::str::from_utf8(name), number.try_into());
                    if let (Ok(name), Ok(number)) = (name, number) {
                        engine.insert(name, u64::from_le_bytes(number))?;
                    }
                }
                TreeItem::Lost { offset, .. } => losses.faults.push(damaged_page(offset)),
            }
            Ok::<_, redb::Error>(())
        })?;
    }
    let Some(last_commit) = engine.get(LAST_COMMIT)?.map(|number| number.value()) else {
        return Ok(None);
    };
    let log = LogPlace::read(&engine)?.filter(|place| place.log != 0);
    Ok(Some(Engine { last_commit, log }))
}

fn damaged_page(offset: u64) -> String {
    format!("{FILE_NAME}: the page at offset {offset} is damaged")
}
