//! Creation and removal of indexes.

use super::build_progress::BuildProgress;
use super::definition::{Index, IndexPath, State, indexes};
use super::partial::IndexFilter;
use crate::database::document_key::check_collection;
use crate::database::format;
use crate::document::filter::Filter;
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::key::{Family, IndexKey};
use crate::limits::{INDEX_NAME_BYTES_MAX, INDEX_PATHS_MAX, INDEXES_MAX};
use crate::store::{RangeRead, Transaction};

/// Creates an index. On a collection without documents the index is ready at this commit; otherwise
/// it is ready once it is built. If an index with the same name, paths, uniqueness and filter exists,
/// returns it unchanged. The empty filter is none.
///
/// # Errors
/// `BAD_USER_INPUT`: the name, a path, the filter, or the number of paths is invalid.
/// `ALREADY_EXISTS`: a different index has this name. `TOO_LARGE`: a key exceeds the limit because of
/// the names, the filter is too long, or the collection has [`INDEXES_MAX`] indexes. Errors of the
/// store.
pub async fn create_index(
    transaction: &dyn Transaction,
    collection: &str,
    name: &str,
    on: &[impl AsRef<str>],
    unique: bool,
    filter: Filter,
) -> Result<Index> {
    check_collection(collection)?;
    check_name(name)?;
    let on = paths(on)?;
    let filter = if filter.is_empty() {
        None
    } else {
        Some(IndexFilter::new(filter)?)
    };
    let known = indexes(transaction, collection).await?;
    if let Some(same) = known.iter().find(|index| index.name == name) {
        if (&same.on, same.unique, &same.filter) == (&on, unique, &filter) {
            return Ok(same.clone());
        }
        return Err(Error::new(
            ErrorKind::AlreadyExists,
            format!(
                "the collection {collection:?} already has a different index {name:?}: drop it \
                 first"
            ),
        ));
    }
    if known.len() >= INDEXES_MAX {
        return Err(Error::too_large(
            Limit::new("indexes", INDEXES_MAX),
            format!(
                "the collection {collection:?} has {} indexes; the limit is {INDEXES_MAX}",
                known.len()
            ),
        ));
    }
    let (begin, end) = Family::existences(collection);
    let first = transaction.range(RangeRead::new(&begin, &end).at_most(1));
    let empty = first.await?.pairs.is_empty();
    let highest = known.iter().map(|index| index.number).max();
    let index = Index {
        name: name.to_owned(),
        number: highest.unwrap_or(0) + 1,
        on,
        unique,
        filter,
        exact: true,
        state: if empty { State::Ready } else { State::Building },
        error: None,
    };
    if index.filter.is_some() || index.on.iter().any(IndexPath::is_of_names) {
        format::write_selective_index_format(transaction).await?;
    } else {
        format::write_exact_entries_format(transaction).await?;
    }
    define(transaction, collection, &index)?;
    if !empty {
        let build = Family::Build(collection, index.number).key()?;
        transaction.set(&build, &BuildProgress::beginning(name).encode());
    }
    Ok(index)
}

/// Drops an index and its entries. Returns whether an index with this name existed.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: a key exceeds the limit because
/// of the names. Errors of the store.
pub async fn drop_index(
    transaction: &dyn Transaction,
    collection: &str,
    name: &str,
) -> Result<bool> {
    check_collection(collection)?;
    let Some(index) = super::definition::index_named(transaction, collection, name).await? else {
        return Ok(false);
    };
    transaction.clear(&Family::Definition(collection, name).key()?);
    clear_entries(transaction, collection, index.number).await?;
    Ok(true)
}

/// Writes a definition.
pub(crate) fn define(transaction: &dyn Transaction, collection: &str, index: &Index) -> Result<()> {
    let key = Family::Definition(collection, &index.name).key()?;
    transaction.set(&key, &index.encode());
    Ok(())
}

/// Clears all entries of an index and its build progress.
pub(crate) async fn clear_entries(
    transaction: &dyn Transaction,
    collection: &str,
    number: u64,
) -> Result<()> {
    let entries = IndexKey::new(collection, number)?.all();
    format::clear_large_range(transaction, &entries).await?;
    transaction.clear(&Family::Build(collection, number).key()?);
    Ok(())
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.len() > INDEX_NAME_BYTES_MAX {
        return Err(Error::bad_input(format!(
            "the name of an index has from 1 to {INDEX_NAME_BYTES_MAX} bytes, and {:?} has {}",
            abridged(name),
            name.len()
        )));
    }
    Ok(())
}

fn paths(on: &[impl AsRef<str>]) -> Result<Vec<IndexPath>> {
    if on.is_empty() || on.len() > INDEX_PATHS_MAX {
        return Err(Error::bad_input(format!(
            "an index is on 1 to {INDEX_PATHS_MAX} JSONPaths, not on {}",
            on.len()
        )));
    }
    let paths: Vec<IndexPath> = on
        .iter()
        .map(|text| IndexPath::parse(text.as_ref()))
        .collect::<Result<_>>()?;
    if paths.iter().filter(|path| path.is_multiple()).count() > 1 {
        return Err(Error::bad_input(
            "an index has at most one [*] in all of its JSONPaths: create an index for each",
        ));
    }
    for (at, path) in paths.iter().enumerate() {
        if paths[..at].contains(path) {
            return Err(Error::bad_input(format!(
                "the index has the JSONPath {} twice",
                path.text()
            )));
        }
    }
    Ok(paths)
}
