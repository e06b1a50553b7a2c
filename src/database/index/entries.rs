//! Which entries a document has in an index.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Index, IndexPath};
use crate::budget::Budget;
use crate::database::plan::covers;
use crate::database::{Answer, DocumentKey, Extent, Want, load};
use crate::document::path::Path;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{IndexValue, Leaves, Step, append_place, step};
use crate::store::Read;

/// The values of a document's entries, each packed from the left.
pub(in crate::database) type Values = BTreeSet<Vec<u8>>;

/// The entries of a document that is given by its leaves.
///
/// # Errors
/// `TOO_LARGE`: a value is one that no entry can hold.
pub(super) fn of_leaves(index: &Index, leaves: &Leaves) -> Result<Values> {
    let columns = index.on.iter().map(|path| {
        let mut key = Vec::new();
        append_place(&mut key, &path.place);
        column(index, path, leaves.below(&key))
    });
    Ok(combine(columns.collect::<Result<_>>()?))
}

/// The entries of a document that is stored, in each of several indexes. What they depend on is
/// read in one round.
///
/// # Errors
/// `TOO_LARGE`: a value is one that no entry can hold. What the store fails with.
pub(in crate::database) async fn of_stored(
    read: &dyn Read,
    document: &Arc<DocumentKey>,
    indexes: &[&Index],
) -> Result<Vec<Result<Values>>> {
    let wants: Vec<Want> = wants(document, indexes).collect();
    let wants: Vec<&Want> = wants.iter().collect();
    let mut answers = load(read, &wants, &Budget::of_background().reserve())
        .await
        .into_iter();
    indexes
        .iter()
        .map(|index| of_answers(index, &mut answers))
        .collect()
}

/// What the entries of a document depend on: of each index each path, in this order.
pub(super) fn wants<'i>(
    document: &'i Arc<DocumentKey>,
    indexes: &'i [&Index],
) -> impl Iterator<Item = Want> + 'i {
    let paths = indexes.iter().flat_map(|index| &index.on);
    paths.map(|path| Want::Part(document.clone(), Path::from(&path.place), Extent::Whole))
}

/// The entries that follow from the next answers to [`wants`]. The inner error is about a value.
pub(super) fn of_answers(
    index: &Index,
    answers: &mut impl Iterator<Item = Result<Answer>>,
) -> Result<Result<Values>> {
    let mut columns = Vec::with_capacity(index.on.len());
    let mut unfit = None;
    for path in &index.on {
        let part = match answers.next() {
            Some(Ok(Answer::Part(part))) => part,
            // Nothing can stand where no key can be.
            Some(Err(error)) if error.kind() == ErrorKind::TooLarge => None,
            Some(Err(error)) => return Err(error),
            _ => return Err(Error::internal("a load brought no answer about an index")),
        };
        let found = match &part {
            Some(part) => column(index, path, part.relative_pairs()),
            None => Ok(BTreeSet::new()),
        };
        match found {
            Ok(column) => columns.push(column),
            Err(error) => unfit = Some(error),
        }
    }
    Ok(unfit.map_or_else(|| Ok(combine(columns)), Err))
}

/// The values that a path selects, given all pairs below its place, their keys relative to it.
fn column<'p>(
    index: &Index,
    path: &IndexPath,
    pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>,
) -> Result<BTreeSet<IndexValue>> {
    let mut found = BTreeSet::new();
    let mut take = |value: Result<Option<IndexValue>, usize>| match value {
        Ok(value) => {
            found.extend(value);
            Ok(())
        }
        Err(bytes) => Err(Error::too_large(format!(
            "a string of {bytes} bytes at {} is too long for an entry of the index {:?}",
            path.text, index.name
        ))),
    };
    let Some(behind) = &path.behind_each else {
        take(IndexValue::of_pairs(pairs))?;
        return Ok(found);
    };
    // The pairs behind `[*]` of one child after another.
    let mut child: &[u8] = &[];
    let mut below: Vec<(&[u8], &[u8])> = Vec::new();
    for (key, value) in pairs {
        let Some((Step::Key(_) | Step::Index(_), bytes)) = step(key) else {
            continue;
        };
        if key[..bytes] != *child {
            take(IndexValue::of_pairs(below.drain(..)))?;
            child = &key[..bytes];
        }
        if covers(behind, &key[bytes..]) {
            below.push((&key[bytes + behind.len()..], value));
        }
    }
    take(IndexValue::of_pairs(below.drain(..)))?;
    Ok(found)
}

/// Every combination of values, one of each column. Only one column has more than one.
fn combine(columns: Vec<BTreeSet<IndexValue>>) -> Values {
    let mut combined = vec![Vec::new()];
    for (at, mut column) in columns.into_iter().enumerate() {
        if column.is_empty() {
            if at == 0 {
                return Values::new();
            }
            column.insert(IndexValue::missing());
        }
        let longer = combined.iter().flat_map(|values| {
            let longer = column.iter();
            longer.map(|value| [&values[..], value.bytes()].concat())
        });
        combined = longer.collect();
    }
    combined.into_iter().collect()
}
