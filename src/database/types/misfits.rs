//! The places of stored documents that do not fit the type of their collection.

use foundationdb_tuple::{pack, unpack};

use crate::document::id::DocumentId;
use crate::error::{Error, Result, TypeViolation};
use crate::key::Family;
use crate::store::{Batches, Read, Transaction};

/// A place of a stored document that does not fit the type of its collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The id of the document.
    pub id: DocumentId,
    /// The place and the reason.
    pub violation: TypeViolation,
}

impl Misfit {
    /// The approximate bytes that it holds.
    pub(crate) fn held(&self) -> usize {
        let violation = &self.violation;
        let value = violation.value.as_ref().map_or(0, String::len);
        size_of::<Self>() + violation.place.len() + violation.expected.len() + value
    }

    fn encode(&self) -> Vec<u8> {
        let TypeViolation {
            place,
            keyword,
            expected,
            value,
        } = &self.violation;
        let id = self.id.to_string();
        pack(&(&id, place, keyword, expected, value.as_ref()))
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let (id, place, keyword, expected, value): (String, _, _, _, Option<String>) =
            unpack(value).ok()?;
        Some(Self {
            id: DocumentId::parse(&id).ok()?,
            violation: TypeViolation {
                place,
                keyword,
                expected,
                value,
            },
        })
    }
}

/// The misfits of a failed type.
///
/// # Errors
/// `INTERNAL`: one is damaged. Errors of the store.
pub(crate) async fn misfits(read: &dyn Read, collection: &str) -> Result<Vec<Misfit>> {
    let (begin, end) = Family::type_misfits(collection);
    let mut found = Vec::new();
    let mut batches = Batches::new(read, begin, end);
    while let Some(pairs) = batches.next().await? {
        for (_, value) in pairs.iter() {
            let damaged = || Error::internal("a misfit of a type is damaged");
            found.push(Misfit::decode(value).ok_or_else(damaged)?);
        }
    }
    Ok(found)
}

/// Writes misfits, the first of which has this number.
pub(crate) fn write_misfits(
    transaction: &dyn Transaction,
    collection: &str,
    first: usize,
    misfits: &[Misfit],
) -> Result<()> {
    for (number, misfit) in (first as u64..).zip(misfits) {
        let key = Family::TypeMisfit(collection, number).key()?;
        transaction.set(&key, &misfit.encode());
    }
    Ok(())
}
