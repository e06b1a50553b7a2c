//! Appends to a collection, in the order of commits.

use super::editor::set_leaves;
use crate::budget::Budget;
use crate::database::catalog::collections;
use crate::database::catalog::versionstamp::pending;
use crate::database::changes::record::{self, Edited};
use crate::database::document_key::DocumentKey;
use crate::database::format::write_versionstamp_format;
use crate::database::index::definition::{Definitions, definitions};
use crate::database::index::maintainer::insert_entries;
use crate::database::open::unfinished_write::UnfinishedWrite;
use crate::database::types::type_guard::validate_new;
use crate::document::path::Place;
use crate::error::Result;
use crate::key::{Family, Leaves, Version};
use crate::store::Transaction;

const STAMP_BYTES: usize = Version::PLACEHOLDER.len();

/// Stores a new document under the versionstamp of this transaction's commit. `number` distinguishes
/// the documents that one transaction appends, and is their order. Reads only the format and the
/// definitions of indexes, so appends never conflict with each other. (A unique index is the
/// exception: its entries are read.) Returns the key with a placeholder for the versionstamp.
///
/// # Errors
/// `UNIQUE_VIOLATION`: checked at once and not at the end of the operation. `TOO_LARGE`: a key exceeds the limit. `BAD_USER_INPUT`: the transaction has
/// appended another document with the same values in a unique index. `TYPE_MISMATCH`. Errors of the store.
pub async fn append(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    number: u16,
    leaves: &Leaves,
) -> Result<DocumentKey> {
    let document = DocumentKey::new(collection, pending(number))?;
    let prefix = document.place(&Place::default())?;
    leaves.check_fits(prefix.len(), 0)?;
    let Definitions { indexes, type_head } = definitions(transaction, collection).await?;
    validate_new(transaction, budget, &document, type_head.as_ref(), leaves).await?;
    let write = UnfinishedWrite::begin(transaction);
    write_versionstamp_format(transaction).await?;
    insert_entries(transaction, budget, &document, leaves, &indexes).await?;
    // A scan of the collection reads the catalog, so only the catalog needs a write conflict.
    set_stamped(
        transaction,
        &Family::Existence(collection, &document.id).key()?,
    );
    collections::add_to_count(transaction, collection, 1)?;
    transaction.without_write_conflicts(true);
    // An empty value means the commit in the id.
    set_stamped(
        transaction,
        &Family::Version(collection, &document.id).key()?,
    );
    let stamp_at = prefix.len() - STAMP_BYTES;
    let set = |key: &[u8], leaf: &[u8]| transaction.set_versionstamped_key(key, stamp_at, leaf);
    let written = set_leaves(budget, &prefix, leaves.iter(), set).await;
    transaction.without_write_conflicts(false);
    record::written(transaction, Edited::new(&document), leaves);
    written?;
    write.finish();
    Ok(document)
}

/// Sets a key that ends with the pending versionstamp, without a value.
fn set_stamped(transaction: &dyn Transaction, key: &[u8]) {
    transaction.set_versionstamped_key(key, key.len() - STAMP_BYTES, &[]);
}
