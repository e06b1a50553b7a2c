//! Versionstamps as ids of documents.
//!
//! [`append`](crate::database::append) stores a document under the versionstamp of its commit, so documents of
//! a collection are in commit order, and no two appends conflict. The stamp is known only to the
//! commit. Until then, keys have [`pending`] in its place, and the engine replaces it.
//!
//! A document can also be stored under a given versionstamp, for example by an import. Documents
//! that are appended later must follow it, so the versions of the store are advanced past it.

use crate::database::format::write_versionstamp_format;
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::key::Version;
use crate::store::Transaction;

/// The id of the document with this number in the current commit.
pub(crate) fn pending(number: u16) -> DocumentId {
    let mut stamp = Version::PLACEHOLDER;
    stamp[10..].copy_from_slice(&number.to_be_bytes());
    DocumentId::Versionstamp(stamp)
}

/// Prepares the store for a document under a given versionstamp: raises the format, and advances the
/// versions past the stamp.
///
/// # Errors
/// `BAD_USER_INPUT`: the stamp is of no commit that a store can have, or as
/// [`Transaction::advance_versions`]. Errors of the store.
pub(crate) async fn accept_versionstamp(
    transaction: &dyn Transaction,
    stamp: [u8; 12],
) -> Result<()> {
    let [version @ .., _, _] = stamp;
    // Versions of commits are positive 64-bit integers. The upper half of their range is kept free,
    // so that no document can use up the versions of a store.
    if version[0] >= 0x40 {
        let id = DocumentId::Versionstamp(stamp);
        return Err(Error::bad_input(format!(
            "the id {id} is not the versionstamp of a commit: its first digit is greater than 3"
        )));
    }
    write_versionstamp_format(transaction).await?;
    transaction.advance_versions(Version(version)).await
}
