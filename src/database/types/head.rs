//! The stored form of a type: its head, its text, and the progress of its check.

use foundationdb_tuple::{Bytes, pack, unpack};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::key::{Family, hex};
use crate::limits::TYPE_PIECE_BYTES;
use crate::store::{Batches, Read, Transaction};
use crate::types::CollectionType;

/// The first bytes of the SHA-256 of a collection's name and the text of its schema.
pub(crate) type TypeDigest = [u8; 16];

/// Whether the stored documents of a collection fit its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeState {
    /// Documents that were stored before the type are being checked. Writes are validated.
    Checking = 0,
    /// All documents fit, except for what other programs have stored since.
    Enforced = 1,
    /// Some stored documents do not fit. Writes are validated.
    Failed = 2,
}

impl TypeState {
    /// Its name in GraphQL and in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Checking => "CHECKING",
            Self::Enforced => "ENFORCED",
            Self::Failed => "FAILED",
        }
    }
}

/// The value of [`Family::Type`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeHead {
    pub(crate) state: TypeState,
    pub(crate) digest: TypeDigest,
    /// The bytes of the text.
    pub(crate) bytes: u64,
}

impl TypeHead {
    pub(crate) fn new(collection: &str, schema: &str, state: TypeState) -> Self {
        let mut hash = Sha256::new();
        hash.update(collection.len().to_be_bytes());
        hash.update(collection);
        hash.update(schema);
        let hash: [u8; 32] = hash.finalize().into();
        Self {
            state,
            digest: *hash.first_chunk().expect("a SHA-256 has 32 bytes"),
            bytes: schema.len() as u64,
        }
    }

    /// Whether this is the head of a type, in any state.
    pub(crate) fn is_of(&self, other: &CollectionType) -> bool {
        *self == Self::new(other.collection(), other.text(), self.state)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        pack(&(self.state as i64, Bytes(self.digest[..].into()), self.bytes))
    }

    /// Decodes the head. None if it is damaged.
    pub(crate) fn decode(value: &[u8]) -> Option<Self> {
        let (state, Bytes(digest), bytes): (i64, Bytes<'_>, u64) = unpack(value).ok()?;
        let states = [TypeState::Checking, TypeState::Enforced, TypeState::Failed];
        Some(Self {
            state: states.into_iter().find(|known| *known as i64 == state)?,
            digest: digest[..].try_into().ok()?,
            bytes,
        })
    }

    /// Decodes the head of a collection's type.
    ///
    /// # Errors
    /// `INTERNAL`: it is damaged.
    pub(crate) fn of_collection(collection: &str, value: &[u8]) -> Result<Self> {
        Self::decode(value).ok_or_else(|| damaged(collection, "the head"))
    }

    /// Reads the head of a collection's type. None if the collection has no type.
    ///
    /// # Errors
    /// `INTERNAL`: it is damaged. Errors of the store.
    pub(crate) async fn read(read: &dyn Read, collection: &str) -> Result<Option<Self>> {
        let value = read.get(&Family::Type(collection).key()?).await?;
        value
            .map(|value| Self::of_collection(collection, &value))
            .transpose()
    }

    /// Writes the head.
    pub(crate) fn write(&self, transaction: &dyn Transaction, collection: &str) -> Result<()> {
        transaction.set(&Family::Type(collection).key()?, &self.encode());
        Ok(())
    }

    /// Reads the text of the schema.
    ///
    /// # Errors
    /// `INTERNAL`: it does not belong to this head. Errors of the store.
    pub(crate) async fn text(&self, read: &dyn Read, collection: &str) -> Result<String> {
        let (begin, end) = Family::type_text(collection);
        let mut text = Vec::new();
        let mut batches = Batches::new(read, begin, end);
        while let Some(pairs) = batches.next().await? {
            for (_, piece) in pairs.iter() {
                text.extend_from_slice(piece);
            }
        }
        let text = String::from_utf8(text).map_err(|_| damaged(collection, "the text"))?;
        if Self::new(collection, &text, self.state) != *self {
            return Err(damaged(collection, "the text"));
        }
        Ok(text)
    }
}

/// Writes the text of a schema in place of the one before.
pub(crate) fn write_text(
    transaction: &dyn Transaction,
    collection: &str,
    schema: &str,
) -> Result<()> {
    let (begin, end) = Family::type_text(collection);
    transaction.clear_range(&begin, &end);
    for (number, piece) in (0..).zip(schema.as_bytes().chunks(TYPE_PIECE_BYTES)) {
        transaction.set(&Family::TypeText(collection, number).key()?, piece);
    }
    Ok(())
}

/// The value of [`Family::TypeCheck`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeCheckProgress {
    /// The checker that has the lease. Random bytes at the beginning, so that a check is not confused with
    /// an earlier one against the same type.
    pub(crate) owner: Vec<u8>,
    /// Expiry of the lease, in seconds since 1970.
    pub(crate) expiry: i64,
    /// The packed id of the first document that is not checked yet, or the last key before it. Empty at
    /// the beginning.
    pub(crate) position: Vec<u8>,
    /// The documents that were checked.
    pub(crate) documents: u64,
}

impl TypeCheckProgress {
    /// A check that any checker may begin with the first document.
    pub(crate) fn beginning() -> Self {
        Self {
            owner: rand::random::<[u8; 16]>().to_vec(),
            expiry: 0,
            position: Vec::new(),
            documents: 0,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        pack(&(
            Bytes(self.owner[..].into()),
            self.expiry,
            Bytes(self.position[..].into()),
            self.documents,
        ))
    }

    /// Reads the progress of a collection's check. None if there is no check.
    ///
    /// # Errors
    /// `INTERNAL`: it is damaged. Errors of the store.
    pub(crate) async fn read(read: &dyn Read, collection: &str) -> Result<Option<Self>> {
        let value = read.get(&Family::TypeCheck(collection).key()?).await?;
        value
            .map(|value| Self::of_collection(collection, &value))
            .transpose()
    }

    /// Decodes the progress.
    ///
    /// # Errors
    /// `INTERNAL`: it is damaged.
    pub(crate) fn of_collection(collection: &str, value: &[u8]) -> Result<Self> {
        let (Bytes(owner), expiry, Bytes(position), documents): (_, _, Bytes<'_>, _) =
            unpack::<(Bytes<'_>, i64, Bytes<'_>, u64)>(value)
                .map_err(|_| damaged(collection, "the progress of the check"))?;
        Ok(Self {
            owner: owner.into_owned(),
            expiry,
            position: position.into_owned(),
            documents,
        })
    }

    /// Writes the progress.
    pub(crate) fn write(&self, transaction: &dyn Transaction, collection: &str) -> Result<()> {
        transaction.set(&Family::TypeCheck(collection).key()?, &self.encode());
        Ok(())
    }
}

fn damaged(collection: &str, part: &str) -> Error {
    let collection = hex(collection.as_bytes());
    Error::internal(format!(
        "{part} of the type of the collection with the bytes {collection} is damaged"
    ))
}
