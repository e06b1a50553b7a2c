//! The families of keys, with the meaning of their keys and values.

use std::fmt;

use foundationdb_tuple::Element;

use super::tuple::{
    append, append_id, append_piece, append_place, append_segment, split_element, split_id,
};
use crate::document::id::DocumentId;
use crate::document::path::{Place, SegmentRef};
use crate::error::{Error, Limit, Result};
use crate::limits::KEY_BYTES_MAX;

pub(super) const FORMAT: i64 = 0;
pub(super) const EXISTENCE: i64 = 1;
pub(super) const CATALOG: i64 = 2;
pub(super) const VERSION: i64 = 3;
pub(super) const INDEX: i64 = 4;
pub(super) const CHANGES: i64 = 5;
const ANSWER: i64 = 6;
const ANSWER_EXPIRY: i64 = 7;
const COMMIT: i64 = 8;
pub(super) const BUILD: i64 = 9;
pub(super) const TYPE_TEXT: i64 = 10;
pub(super) const TYPE_CHECK: i64 = 11;
pub(super) const TYPE_MISFIT: i64 = 12;
/// The part of a collection's catalog with its document counts.
pub(super) const COUNT: i64 = 0;
/// The part of a collection's catalog with its index definitions.
pub(super) const DEFINITIONS: i64 = 1;
/// The part of a collection's catalog with the head of its type. It directly follows
/// [`DEFINITIONS`], so that a write reads both as one range.
pub(super) const TYPE: i64 = 2;

/// A family of keys. The keys of all families except [`Family::Document`] begin with null, so they
/// sort before all collections. [`ChangeLogRange`](super::ChangeLogRange) encodes the entries of the
/// change log.
#[derive(Clone, Copy, Debug)]
pub enum Family<'a> {
    /// `(null, 0) → (format,)`: the format version of the store.
    Format,
    /// `(null, 1, collection, id) → ()`: the document exists. Written only by creation, adoption
    /// and deletion.
    Existence(&'a str, &'a DocumentId),
    /// `(null, 2, collection, 0, shard) → 64-bit little-endian integer`: the number of documents is
    /// the sum over all shards.
    Count(&'a str, u64),
    /// `(null, 2, collection, 1, name) → (number, unique, state, error, (text, (step, …)), …)`: the
    /// definition of an index; see `database::index` for its value.
    Definition(&'a str, &'a str),
    /// `(null, 2, collection, 2) → (state, digest, bytes)`: the head of the type of the collection.
    Type(&'a str),
    /// `(null, 3, collection, id) → (versionstamp,)`: the commit that last changed the document. An
    /// empty value means the commit in the id, which is then a versionstamp.
    Version(&'a str, &'a DocumentId),
    /// `(null, 4, collection, number) …`: the prefix of an index's entries;
    /// [`IndexKey`](super::IndexKey) encodes the rest.
    Index(&'a str, u64),
    /// `(null, 5, 0) → (history, retention)`: the settings of the change log, if it was ever on: a
    /// random text that names the history, and the seconds for which entries are kept. The log is
    /// off if they are 0.
    ChangeSettings,
    /// `(null, 5, 1) → (versionstamp,)`: the change log has all changes of later commits.
    ChangeHorizon,
    /// `(null, 6, key, n)`: the response stored for an idempotency key. `n = 0 → (versionstamp,
    /// digest of the operation, expiry, bytes of the response)`. The response follows in pieces, `n
    /// = 1, 2, … → (bytes,)`.
    Answer(&'a str, u64),
    /// `(null, 7, shard, expiry, key) → ()`: when that response expires, in seconds since 1970.
    AnswerExpiry(u64, u64, &'a str),
    /// `(null, 8, shard, expiry, token) → (versionstamp, try)`: the commit marker of the try that
    /// took effect, for engines on which a commit's outcome can be unknown. It may be cleared at
    /// its expiry, in seconds since 1970.
    Commit(u8, u64, &'a [u8; 16]),
    /// `(null, 9, collection, number) → (name, owner, expiry, position)`: an index build, its
    /// owner, when the owner's lease expires, in seconds since 1970, and the build's position with the
    /// number of documents processed.
    Build(&'a str, u64),
    /// `(null, 10) → (versionstamp,)`: the commit that last changed the type of any collection.
    TypesVersion,
    /// `(null, 10, collection, n) → bytes`: a piece of the text of a type's schema, from 0.
    TypeText(&'a str, u64),
    /// `(null, 11, collection) → (owner, expiry, position)`: the check of the stored documents of a
    /// collection against its type, with a lease as of [`Family::Build`].
    TypeCheck(&'a str),
    /// `(null, 12, collection, n) → (id, place, keyword, expected, value)`: a place of a stored
    /// document that does not fit the type, from 0.
    TypeMisfit(&'a str, u64),
    /// `(collection, id, segment, …) → (leaf,)`: the value at a place of a document, and the prefix
    /// of the keys below that place.
    Document(&'a str, &'a DocumentId, &'a Place),
}

impl Family<'_> {
    /// The packed key.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLong`](crate::error::ErrorKind::KeyTooLong): the key exceeds
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
            Self::Type(collection) => {
                append_system(&mut key, CATALOG);
                append(&mut key, collection);
                append(&mut key, &TYPE);
            }
            Self::TypesVersion => append_system(&mut key, TYPE_TEXT),
            Self::TypeText(collection, piece) => {
                append_system(&mut key, TYPE_TEXT);
                append(&mut key, collection);
                append(&mut key, piece);
            }
            Self::TypeCheck(collection) => {
                append_system(&mut key, TYPE_CHECK);
                append(&mut key, collection);
            }
            Self::TypeMisfit(collection, number) => {
                append_system(&mut key, TYPE_MISFIT);
                append(&mut key, collection);
                append(&mut key, number);
            }
            Self::Version(collection, id) => {
                append_system(&mut key, VERSION);
                append(&mut key, collection);
                append_id(&mut key, id);
            }
            Self::ChangeSettings => {
                append_system(&mut key, CHANGES);
                append(&mut key, &0);
            }
            Self::ChangeHorizon => {
                append_system(&mut key, CHANGES);
                append(&mut key, &1);
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

    /// Appends the packed key of a [`Family::Document`] to `keys`.
    ///
    /// # Errors
    /// As [`Family::key`]. On error nothing is appended.
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

    /// The range of the change log, with its settings, as its first key and its end.
    pub fn change_log() -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, CHANGES);
        ended(begin)
    }

    /// The range of the counts and index definitions of all collections, as its first key and its
    /// end.
    pub fn counts() -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, CATALOG);
        ended(begin)
    }

    /// The range of a collection's index definitions, as its first key and its end.
    pub fn definitions(collection: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, CATALOG);
        append(&mut begin, &collection);
        append(&mut begin, &DEFINITIONS);
        ended(begin)
    }

    /// The range of a collection's index definitions and the head of its type, as its first key and
    /// its end.
    pub fn definitions_and_type(collection: &str) -> (Vec<u8>, Vec<u8>) {
        let (begin, _) = Self::definitions(collection);
        let mut last = Vec::new();
        append_system(&mut last, CATALOG);
        append(&mut last, &collection);
        append(&mut last, &TYPE);
        (begin, ended(last).1)
    }

    /// The range of the text of a collection's type, as its first key and its end.
    pub fn type_text(collection: &str) -> (Vec<u8>, Vec<u8>) {
        Self::of_collection(TYPE_TEXT, collection)
    }

    /// The range of the texts of the types of all collections, as its first key and its end.
    pub fn type_texts() -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, TYPE_TEXT);
        let (version, end) = ended(begin);
        ([&version[..], &[0]].concat(), end)
    }

    /// The range of the misfits of a collection, as its first key and its end.
    pub fn type_misfits(collection: &str) -> (Vec<u8>, Vec<u8>) {
        Self::of_collection(TYPE_MISFIT, collection)
    }

    /// The range of all [`Family::TypeCheck`], as its first key and its end.
    pub fn type_checks() -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, TYPE_CHECK);
        ended(begin)
    }

    /// The collection of a key of [`Family::TypeCheck`], or of [`Family::TypeText`].
    pub fn typed_collection(key: &[u8]) -> Option<String> {
        let (family, rest) = split_element(key.strip_prefix(&[0])?)?;
        let (collection, rest) = split_element(rest)?;
        match (family, collection, rest) {
            (Element::Int(TYPE_CHECK), Element::String(name), [])
            | (Element::Int(TYPE_TEXT), Element::String(name), [_, ..]) => Some(name.into_owned()),
            _ => None,
        }
    }

    fn of_collection(family: i64, collection: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, family);
        append(&mut begin, &collection);
        ended(begin)
    }

    /// The range of all [`Family::Build`], as its first key and its end.
    pub fn builds() -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, BUILD);
        ended(begin)
    }

    /// The range of a collection's [`Family::Build`], as its first key and its end.
    pub fn builds_of(collection: &str) -> (Vec<u8>, Vec<u8>) {
        Self::of_collection(BUILD, collection)
    }

    /// The collection and the index number in a key of [`Family::Build`].
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

    /// The range of a collection's existence entries, as its first key and its end.
    pub fn existences(collection: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, EXISTENCE);
        append(&mut begin, &collection);
        ended(begin)
    }

    /// The id at the end of a key of [`Family::Existence`]. `begin` is the first key of
    /// [`Family::existences`] of its collection.
    pub fn existing_id(key: &[u8], begin: &[u8]) -> Option<DocumentId> {
        match split_id(key.strip_prefix(begin)?)? {
            (id, []) => Some(id),
            _ => None,
        }
    }

    /// The range of the response stored for an idempotency key, as its first key and its end.
    pub fn answer(token: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append_system(&mut begin, ANSWER);
        append(&mut begin, &token);
        ended(begin)
    }

    /// The range of a shard's expiry entries up to and including `now`, as its first key and its
    /// end.
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

    /// The range of a shard's [`Family::Commit`] that expire before `expiry`, as its first key and
    /// its end.
    pub fn commits_before(shard: u8, expiry: u64) -> (Vec<u8>, Vec<u8>) {
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        append_commits(&mut begin, shard, 0);
        append_commits(&mut end, shard, expiry);
        (begin, end)
    }

    /// The range of all documents of a collection, as its first key and its end.
    pub fn documents(collection: &str) -> (Vec<u8>, Vec<u8>) {
        let mut begin = Vec::new();
        append(&mut begin, &collection);
        ended(begin)
    }

    /// The collection of a key of [`Family::Count`]. `None` for other keys.
    pub fn counted_collection(key: &[u8]) -> Option<String> {
        Self::catalogued(key, COUNT).map(|(collection, _)| collection)
    }

    /// The collection of a key of [`Family::Definition`] or [`Family::Type`]. `None` for other keys.
    pub fn defined_collection(key: &[u8]) -> Option<String> {
        let found = Self::catalogued(key, DEFINITIONS).or_else(|| Self::catalogued(key, TYPE));
        found.map(|(collection, _)| collection)
    }

    /// Whether a key is a [`Family::Type`].
    pub fn is_type(key: &[u8]) -> bool {
        matches!(Self::catalogued(key, TYPE), Some((_, [])))
    }

    /// The index name in a key of [`Family::Definition`].
    pub fn index_name(key: &[u8]) -> Option<String> {
        match split_element(Self::catalogued(key, DEFINITIONS)?.1)? {
            (Element::String(name), []) => Some(name.into_owned()),
            _ => None,
        }
    }

    /// The collection of a key in this part of the catalog, and the rest of the key.
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

    /// The id in a key of a document, whose packed collection has `collection_key` bytes, and the
    /// length of the document's own key.
    ///
    /// # Errors
    /// The id has a type that no GraphQL ID names. The error is that length.
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

/// A commit of the store: ten bytes that sort in commit order. Its text form is hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub [u8; 10]);

impl Version {
    /// The first byte of the value of [`Family::Version`], the type code of a versionstamp. The ten
    /// bytes of the stamp follow, and a user version of two bytes, which is always zero.
    pub const VALUE_PREFIX: [u8; 1] = [0x33];
    /// The placeholder for the stamp, and the user version.
    pub const PLACEHOLDER: [u8; 12] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0,
    ];

    /// Parses the text form: 20 hexadecimal digits. `None` if it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 20 || !text.is_ascii() {
            return None;
        }
        let mut version = [0; 10];
        for (byte, at) in version.iter_mut().zip((0..20).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
        }
        Some(Self(version))
    }

    /// The placeholder for the version of the commit of a transaction.
    pub const PENDING: Self = Self([0xFF; 10]);

    /// The first version of commits with this number.
    pub fn first_of_number(number: u64) -> Self {
        let mut version = [0; 10];
        version[..8].copy_from_slice(&number.to_be_bytes());
        Self(version)
    }

    /// The last version of commits with this number. The bytes that order commits of one batch have
    /// their greatest value.
    pub fn last_of_number(number: u64) -> Self {
        let mut version = [0xFF; 10];
        version[..8].copy_from_slice(&number.to_be_bytes());
        Self(version)
    }

    /// Decodes the value of [`Family::Version`] of the document `id`.
    pub fn of_document(id: &DocumentId, value: &[u8]) -> Option<Self> {
        match (id, value) {
            (DocumentId::Versionstamp([stamp @ .., _, _]), []) => Some(Self(*stamp)),
            _ => Self::decode(value),
        }
    }

    /// The number of the commit, without the order of commits of one batch.
    pub fn commit_number(self) -> u64 {
        let number = self.0.first_chunk().expect("ten bytes have eight");
        u64::from_be_bytes(*number)
    }

    /// Decodes a versionstamp without a user version, as a tuple.
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
    fn system_keys_sort_before_every_collection() {
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
            Family::Type("D"),
            Family::TypesVersion,
            Family::TypeText("D", 0),
            Family::TypeCheck("D"),
            Family::TypeMisfit("D", 0),
            Family::Version("D", &id),
            Family::ChangeSettings,
            Family::ChangeHorizon,
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
    fn collections_are_parsed_from_counts_only() {
        let id = DocumentId::Integer(1);
        let name = |family: Family<'_>| Family::counted_collection(&family.key().expect("short"));
        assert_eq!(name(Family::Count("a\0b", 3)).as_deref(), Some("a\0b"));
        assert_eq!(name(Family::Existence("a", &id)), None);
        let (begin, end) = Family::counts();
        let key = Family::Count("a", 0).key().expect("short");
        assert!(begin < key && key < end);
    }
}
