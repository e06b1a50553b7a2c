//! Every family of keys, and what key and value of each mean.

use std::fmt;

use super::tuple::{
    append, append_id, append_piece, append_place, append_segment, split_element, split_id,
};
use crate::document::id::DocumentId;
use crate::document::path::{Place, SegmentRef};
use crate::error::{Error, Limit, Result};
use crate::limits::KEY_BYTES_MAX;

use foundationdb_tuple::Element;

pub(super) const FORMAT: i64 = 0;
pub(super) const EXISTENCE: i64 = 1;
pub(super) const CATALOG: i64 = 2;
pub(super) const VERSION: i64 = 3;
pub(super) const INDEX: i64 = 4;
const ANSWER: i64 = 6;
const ANSWER_EXPIRY: i64 = 7;
const COMMIT: i64 = 8;
pub(super) const BUILD: i64 = 9;
/// The part of a collection's catalog that counts its documents.
pub(super) const COUNT: i64 = 0;
/// The part of a collection's catalog that defines its indexes.
pub(super) const DEFINITIONS: i64 = 1;

/// One family of keys. All but [`Family::Document`] begin with null and so stand before every
/// collection. The number 5 is kept for the change feed.
#[derive(Clone, Copy, Debug)]
pub enum Family<'a> {
    /// `(null, 0) → (format,)`: the format version of the store.
    Format,
    /// `(null, 1, collection, id) → ()`: the document exists. Written by creation, adoption and
    /// deletion only.
    Existence(&'a str, &'a DocumentId),
    /// `(null, 2, collection, 0, shard) → 64-bit little-endian integer`: the sum over the shards
    /// is the number of documents.
    Count(&'a str, u64),
    /// `(null, 2, collection, 1, name) → (number, unique, state, error, (text, (step, …)), …)`: the
    /// definition of an index; what its value holds, `database::index` says.
    Definition(&'a str, &'a str),
    /// `(null, 3, collection, id) → (versionstamp,)`: the commit that last changed it.
    Version(&'a str, &'a DocumentId),
    /// `(null, 4, collection, number) …`: what the keys of the entries of an index begin with;
    /// [`IndexKey`](super::IndexKey) has the rest.
    Index(&'a str, u64),
    /// `(null, 6, key, n)`: the answer kept for an operation that came with an idempotency key.
    /// `n = 0 → (versionstamp, digest of the operation, expiry, bytes of the answer)`; the answer
    /// follows in pieces, `n = 1, 2, … → (bytes,)`.
    Answer(&'a str, u64),
    /// `(null, 7, shard, expiry, key) → ()`: when that answer may go, in seconds since 1970.
    AnswerExpiry(u64, u64, &'a str),
    /// `(null, 8, shard, expiry, token) → (versionstamp, try)`: the marker of a commit that may end
    /// unknown, of the try that took effect. It may be cleared at its expiry, in seconds since
    /// 1970.
    Commit(u8, u64, &'a [u8; 16]),
    /// `(null, 9, collection, number) → (name, owner, expiry, position)`: an index that is being
    /// built, who builds it until when, in seconds since 1970, and how far it has come.
    Build(&'a str, u64),
    /// `(collection, id, segment, …) → (leaf,)`: what stands at a place of a document, and the
    /// beginning of the keys of all that stands below it.
    Document(&'a str, &'a DocumentId, &'a Place),
}

impl Family<'_> {
    /// The packed key.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLong`](crate::error::ErrorKind::KeyTooLong): it would pass
    /// [`KEY_BYTES_MAX`].
    pub fn key(&self) -> Result<Vec<u8>> {
        let mut key = Vec::with_capacity(64);
        match self {
            Self::Format => append_system(&mut key, FORMAT),
            Self::Existence(collection, id) => {
                append_system(&mut key, EXISTENCE);
                append(&mut key, collection);
                append_id(&mut key, id);
            }
            Self::Count(collection, shard) => {
                append_system(&mut key, CATALOG);
                append(&mut key, collection);
                append(&mut key, &COUNT);
                append(&mut key, shard);
            }
            Self::Definition(collection, name) => {
                append_system(&mut key, CATALOG);
                append(&mut key, collection);
                append(&mut key, &DEFINITIONS);
                append(&mut key, name);
            }
            Self::Index(collection, number) => {
                append_system(&mut key, INDEX);
                append(&mut key, collection);
                append(&mut key, number);
            }
            Self::Build(collection, number) => {
                append_system(&mut key, BUILD);
                append(&mut key, collection);
                append(&mut key, number);
            }
            Self::Version(collection, id) => {
                append_system(&mut key, VERSION);
                append(&mut key, collection);
                append_id(&mut key, id);
            }
            Self::Answer(token, piece) => {
                append_system(&mut key, ANSWER);
                append(&mut key, token);
                append(&mut key, piece);
            }
            Self::AnswerExpiry(shard, expiry, token) => {
                append_system(&mut key, ANSWER_EXPIRY);
                append(&mut key, shard);
                append(&mut key, expiry);
                append(&mut key, token);
            }
            Self::Commit(shard, expiry, token) => {
                append_commits(&mut key, *shard, *expiry);
                append_piece(&mut key, &token[..]);
            }
            Self::Document(collection, id, place) => {
                append(&mut key, collection);
                append_id(&mut key, id);
                append_place(&mut key, place);
            }
        }
        within_limit(key)
    }

    /// Appends the packed key of a [`Family::Document`] to others.
    ///
    /// # Errors
    /// As [`Family::key`]; nothing is appended.
    pub fn append_document<'s>(
        keys: &mut Vec<u8>,
        collection: &str,
        id: &DocumentId,
        place: impl Iterator<Item = SegmentRef<'s>>,
    ) -> Result<()> {
        let begin = keys.len();
        append(keys, &collection);
        append_id(keys, id);
        for segment in place {
            append_segment(keys, segment);
        }
        let checked = check_limit(keys.len() - begin);
        if checked.is_err() {
            keys.truncate(begin);
        }
        checked
    }

    /// The keys of the counts of every collection: from the first to past the last.
    pub fn counts() -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, CATALOG);
        ended(begin)
    }

    /// The keys of the definitions of a collection's indexes: from the first to past the last.
    pub fn definitions(collection: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, CATALOG);
        append(&mut begin, &collection);
        append(&mut begin, &DEFINITIONS);
        ended(begin)
    }

    /// The keys of all [`Family::Build`]: from the first to past the last.
    pub fn builds() -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, BUILD);
        ended(begin)
    }

    /// The collection and the number in a key of [`Family::Build`].
    pub fn build_of(key: &[u8]) -> Option<(String, u64)> {
        let mut prefix = Vec::new();
        append_system(&mut prefix, BUILD);
        let (collection, rest) = split_element(key.strip_prefix(&prefix[..])?)?;
        match (collection, split_element(rest)?) {
            (Element::String(collection), (Element::Int(number), [])) => {
                Some((collection.into_owned(), u64::try_from(number).ok()?))
            }
            _ => None,
        }
    }

    /// The keys of the catalog's documents of a collection: from the first to past the last.
    pub fn existences(collection: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, EXISTENCE);
        append(&mut begin, &collection);
        ended(begin)
    }

    /// The id at the end of a key of [`Family::Existence`] of the collection whose keys begin at
    /// [`Family::existences`].
    pub fn existing_id(key: &[u8], begin: &[u8]) -> Option<DocumentId> {
        match split_id(key.strip_prefix(begin)?)? {
            (id, []) => Some(id),
            _ => None,
        }
    }

    /// The keys of the answer kept for an idempotency key: from the first to past the last.
    pub fn answer(token: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, ANSWER);
        append(&mut begin, &token);
        ended(begin)
    }

    /// The keys of one shard's answers that may go by `now`: from the first to past the last.
    pub fn expired_answers(shard: u64, now: u64) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, ANSWER_EXPIRY);
        append(&mut begin, &shard);
        let mut end = begin.clone();
        append(&mut end, &now);
        end.push(0xFF);
        (begin, end)
    }

    /// The idempotency key in a key of [`Family::AnswerExpiry`].
    pub fn expiring_answer(key: &[u8]) -> Option<String> {
        let mut prefix = Vec::new();
        append_system(&mut prefix, ANSWER_EXPIRY);
        let (_, rest) = split_element(key.strip_prefix(&prefix[..])?)?;
        let (_, rest) = split_element(rest)?;
        match split_element(rest)? {
            (Element::String(token), []) => Some(token.into_owned()),
            _ => None,
        }
    }

    /// The keys of all [`Family::Commit`] of a shard that expire before `expiry`: from the first to
    /// past the last.
    pub fn commits_before(shard: u8, expiry: u64) -> (Vec<u8>, Vec<u8>) {
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        append_commits(&mut begin, shard, 0);
        append_commits(&mut end, shard, expiry);
        (begin, end)
    }

    /// The keys of all documents of a collection: from the first to past the last.
    pub fn documents(collection: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append(&mut begin, &collection);
        ended(begin)
    }

    /// The collection that a key of [`Family::counts`] counts; none if it is no count.
    pub fn counted_collection(key: &[u8]) -> Option<String> {
        Self::catalogued(key, COUNT).map(|(collection, _)| collection)
    }

    /// The collection whose index a key of [`Family::Definition`] defines; none if it defines none.
    pub fn indexed_collection(key: &[u8]) -> Option<String> {
        Self::catalogued(key, DEFINITIONS).map(|(collection, _)| collection)
    }

    /// The name of the index that a key of [`Family::Definition`] defines.
    pub fn index_name(key: &[u8]) -> Option<String> {
        match split_element(Self::catalogued(key, DEFINITIONS)?.1)? {
            (Element::String(name), []) => Some(name.into_owned()),
            _ => None,
        }
    }

    /// The collection that a key of this part of the catalog is about, and what follows.
    fn catalogued(key: &[u8], part: i64) -> Option<(String, &[u8])> {
        let mut prefix = Vec::new();
        append_system(&mut prefix, CATALOG);
        let (collection, rest) = split_element(key.strip_prefix(&prefix[..])?)?;
        match (collection, split_element(rest)?) {
            (Element::String(collection), (Element::Int(found), rest)) if found == part => {
                Some((collection.into_owned(), rest))
            }
            _ => None,
        }
    }

    /// The id in a key of a document of `collection`, and the length of the document's own key.
    ///
    /// # Errors
    /// The id is of a kind that no GraphQL ID names; that length all the same.
    pub fn document_id(key: &[u8], collection_key: usize) -> Result<(DocumentId, usize), usize> {
        let behind = key.get(collection_key..).unwrap_or_default();
        match split_id(behind) {
            Some((id, rest)) => Ok((id, key.len() - rest.len())),
            None => {
                Err(split_element(behind).map_or(key.len(), |(_, rest)| key.len() - rest.len()))
            }
        }
    }
}

pub(super) fn append_system(key: &mut Vec<u8>, family: i64) {
    key.push(0);
    append(key, &family);
}

fn append_commits(key: &mut Vec<u8>, shard: u8, expiry: u64) {
    append_system(key, COMMIT);
    append(key, &i64::from(shard));
    append(key, &expiry);
}

pub(super) fn ended(begin: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let end = [&begin[..], &[0xFF]].concat();
    (begin, end)
}

pub(super) fn within_limit(key: Vec<u8>) -> Result<Vec<u8>> {
    check_limit(key.len()).map(|()| key)
}

fn check_limit(bytes: usize) -> Result<()> {
    if bytes <= KEY_BYTES_MAX {
        return Ok(());
    }
    Err(Error::key_too_long(
        Limit::new("keyBytes", KEY_BYTES_MAX),
        format!(
            "the collection, id and path make a key of {bytes} bytes; the limit is {KEY_BYTES_MAX} bytes"
        ),
    ))
}

/// A commit of the store: ten bytes that sort in commit order, as text in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub [u8; 10]);

impl Version {
    /// What the value of [`Family::Version`] begins with, before the ten bytes of the stamp: the
    /// type code of a versionstamp. Two bytes of user version, always zero, end it.
    pub const VALUE_PREFIX: [u8; 1] = [0x33];
    /// The bytes of the stamp until it is known, and the user version.
    pub const PLACEHOLDER: [u8; 12] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0,
    ];

    /// Reads the value of [`Family::Version`].
    pub fn decode(value: &[u8]) -> Option<Self> {
        match value {
            [0x33, stamp @ .., 0, 0] => stamp.try_into().ok().map(Self),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::tuple::hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_no_leaf_stands_before_every_collection() {
        let id = DocumentId::Integer(1);
        let first_collection =
            Family::Document("\0", &DocumentId::Text(String::new()), &Place::default())
                .key()
                .expect("short");
        for family in [
            Family::Format,
            Family::Existence("D", &id),
            Family::Count("D", 15),
            Family::Definition("D", "by name"),
            Family::Index("D", u64::MAX),
            Family::Build("D", u64::MAX),
            Family::Version("D", &id),
            Family::Answer("key", 0),
            Family::AnswerExpiry(1, 1, "key"),
            Family::Commit(15, u64::MAX, &[0xFF; 16]),
        ] {
            assert!(
                family.key().expect("short") < first_collection,
                "{family:?}"
            );
        }
    }

    #[test]
    fn a_count_names_its_collection_and_an_existence_none() {
        let id = DocumentId::Integer(1);
        let name = |family: Family<'_>| Family::counted_collection(&family.key().expect("short"));
        assert_eq!(name(Family::Count("a\0b", 3)).as_deref(), Some("a\0b"));
        assert_eq!(name(Family::Existence("a", &id)), None);
        let (begin, end) = Family::counts();
        let key = Family::Count("a", 0).key().expect("short");
        assert!(begin < key && key < end);
    }
}
