//! The indexes that find the keys of references.

use crate::database::index::define::create_index;
use crate::database::index::definition::{Index, IndexPath, indexes};
use crate::document::filter::Filter;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::limits::INDEXES_MAX;
use crate::store::Transaction;
use crate::types::CollectionType;

/// Creates an index for each reference of a type that needs one, unless another index serves it.
///
/// # Errors
/// `BAD_USER_INPUT`: no index can find the keys. As [`create_index`].
pub(super) async fn create_reference_indexes(
    transaction: &dyn Transaction,
    of: &CollectionType,
) -> Result<()> {
    let collection = of.collection();
    let references = of.indexed_references().map_err(|why| {
        let collection = abridged(collection);
        Error::bad_input(format!(
            "the schema of the collection {collection:?}: {why}"
        ))
    })?;
    if references.is_empty() {
        return Ok(());
    }
    let mut known = indexes(transaction, collection).await?;
    for reference in references {
        let path = reference.keys.path();
        let column = IndexPath::parse(&path)?;
        let serves = |index: &Index| index.filter.is_none() && index.on.first() == Some(&column);
        if known.iter().any(|index| index.is_kept() && serves(index)) {
            continue;
        }
        let name = unused_name(&reference.index, &known);
        let none = Filter::default();
        let made = create_index(transaction, collection, &name, &[&path], false, none).await?;
        known.push(made);
    }
    Ok(())
}

/// A name that no index has.
fn unused_name(name: &str, known: &[Index]) -> String {
    let is_unused = |name: &String| known.iter().all(|index| index.name != *name);
    let numbered = (2..=INDEXES_MAX + 1).map(|number| format!("{name}_{number}"));
    let mut names = [name.to_owned()].into_iter().chain(numbered);
    names.find(is_unused).unwrap_or_else(|| name.to_owned())
}
