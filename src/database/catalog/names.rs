//! Names of existing collections, for error messages about an unknown collection.

use std::collections::BTreeSet;

use super::collections::collections;
use crate::database::document_key::prefix_end;
use crate::error::Result;
use crate::key::{name_of_collection, ranges_of_collection};
use crate::limits::NAMES_LOOKED_AT_MAX;
use crate::store::{RangeRead, Read, key_after};

/// Returns whether a collection holds anything: a leaf (possibly stored by another program), a
/// catalog entry or an index.
///
/// # Errors
/// Errors of the store.
pub async fn is_there(read: &dyn Read, collection: &str) -> Result<bool> {
    let ranges = ranges_of_collection(collection);
    let firsts: Vec<RangeRead<'_>> = ranges
        .iter()
        .map(|(begin, end)| RangeRead::new(begin, end).at_most(1))
        .collect();
    for batch in read.ranges(&firsts).await.into_batches() {
        if !batch?.pairs.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the names of collections that hold a document or an index, and of collections that only
/// other programs wrote. At most [`NAMES_LOOKED_AT_MAX`] reads look for the latter.
///
/// # Errors
/// Errors of the store.
pub async fn names(read: &dyn Read) -> Result<Vec<String>> {
    let known = collections(read).await?;
    let mut names: BTreeSet<String> = known.into_iter().map(|known| known.name).collect();
    let mut begin = vec![0x02];
    for _ in 0..NAMES_LOOKED_AT_MAX {
        let first = read
            .range(RangeRead::new(&begin, &[0x03]).at_most(1))
            .await?;
        let Some((key, _)) = first.pairs.first() else {
            break;
        };
        begin = match name_of_collection(key) {
            Some((name, bytes)) => {
                names.insert(name);
                prefix_end(&key[..bytes])
            }
            None => key_after(key),
        };
    }
    Ok(names.into_iter().collect())
}
