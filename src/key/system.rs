//! Classifies any key of a store by the key alone, for checks that scan all keys.

use foundationdb_tuple::Element;

use super::Family;
use super::family::{
    BUILD, CATALOG, COUNT, DEFINITIONS, EXISTENCE, FORMAT, INDEX, TYPE, TYPE_CHECK, TYPE_MISFIT,
    TYPE_TEXT, VERSION, append_system, ended,
};
use super::tuple::{append, is_canonical_integer, split_element, split_first, split_id};
use crate::limits::COUNT_SHARDS;

/// The change log, stored responses, their expiry, commit markers and index builds. The check does not
/// inspect their keys further.
const OTHERS: [i64; 5] = [5, 6, 7, 8, BUILD];

/// A key that begins with null, by [`Family`]. The parts that the check compares stay packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemKey<'k> {
    /// [`Family::Format`]
    Format,
    /// [`Family::Existence`], with the own key of the document.
    Existence(&'k [u8]),
    /// [`Family::Count`], with the packed collection.
    Count(&'k [u8]),
    /// [`Family::Definition`], with the packed collection.
    Definition(&'k [u8]),
    /// [`Family::Type`], with the packed collection.
    Type(&'k [u8]),
    /// [`Family::Version`], with the own key of the document.
    Version(&'k [u8]),
    /// An index entry, with the packed collection and the number of the index.
    Entry(&'k [u8], u64),
    /// A family of this number that has no documents or collections.
    Other(i64),
}

impl<'k> SystemKey<'k> {
    /// Parses a key. `None` if it belongs to no family.
    pub fn parse(key: &'k [u8]) -> Option<Self> {
        let (family, rest) = integer(key.strip_prefix(&[0])?)?;
        match family {
            FORMAT => rest.is_empty().then_some(Self::Format),
            EXISTENCE => document(rest).map(Self::Existence),
            VERSION => document(rest).map(Self::Version),
            CATALOG => catalog(rest),
            INDEX => entry(rest),
            TYPE_TEXT | TYPE_CHECK | TYPE_MISFIT => {
                is_of_type(family, rest).then_some(Self::Other(family))
            }
            other => OTHERS.contains(&other).then_some(Self::Other(other)),
        }
    }

    /// The own key of the document that it belongs to.
    pub fn document(self) -> Option<&'k [u8]> {
        match self {
            Self::Existence(document) | Self::Version(document) => Some(document),
            _ => None,
        }
    }

    /// The packed collection that it belongs to, if it does not belong to one document.
    pub fn collection(self) -> Option<&'k [u8]> {
        match self {
            Self::Count(collection) | Self::Definition(collection) | Self::Type(collection) => {
                Some(collection)
            }
            _ => None,
        }
    }
}

/// The name of the collection at the start of a document's key, and its packed length.
pub fn name_of_collection(key: &[u8]) -> Option<(String, usize)> {
    match split_element(key)? {
        (Element::String(name), rest) if !name.is_empty() => {
            Some((name.into_owned(), key.len() - rest.len()))
        }
        _ => None,
    }
}

fn catalog(rest: &[u8]) -> Option<SystemKey<'_>> {
    let bytes = collection(rest)?;
    let (collection, rest) = rest.split_at(bytes);
    match integer(rest)? {
        (COUNT, shard) => match integer(shard)? {
            (shard, []) if u64::try_from(shard).ok()? < COUNT_SHARDS => {
                Some(SystemKey::Count(collection))
            }
            _ => None,
        },
        (DEFINITIONS, _) => Some(SystemKey::Definition(collection)),
        (TYPE, []) => Some(SystemKey::Type(collection)),
        _ => None,
    }
}

fn entry(rest: &[u8]) -> Option<SystemKey<'_>> {
    let (collection, rest) = rest.split_at(collection(rest)?);
    match integer(rest)? {
        (_, []) => None,
        (number, _) => Some(SystemKey::Entry(collection, u64::try_from(number).ok()?)),
    }
}

/// Whether a key of the texts, the checks or the misfits of types has all its parts.
fn is_of_type(family: i64, rest: &[u8]) -> bool {
    if family == TYPE_TEXT && rest.is_empty() {
        return true;
    }
    let Some(bytes) = collection(rest) else {
        return false;
    };
    match (family, &rest[bytes..]) {
        (TYPE_CHECK, number) => number.is_empty(),
        (_, number) => matches!(integer(number), Some((0.., []))),
    }
}

fn integer(bytes: &[u8]) -> Option<(i64, &[u8])> {
    split_first(bytes).filter(|_| is_canonical_integer(bytes))
}

/// The packed length of a collection's name.
fn collection(bytes: &[u8]) -> Option<usize> {
    name_of_collection(bytes).map(|(_, bytes)| bytes)
}

/// `bytes` if they are exactly the own key of a document.
fn document(bytes: &[u8]) -> Option<&[u8]> {
    let id = &bytes[collection(bytes)?..];
    let (_, rest) = split_id(id)?;
    rest.is_empty().then_some(bytes)
}

/// The length of the own key of the document that a key belongs to.
///
/// The document has no GraphQL ID.
///
/// # Errors
/// The length of the common prefix of the document's keys, or of the whole key if no other key
/// belongs to it.
pub fn split_document(key: &[u8]) -> Result<usize, usize> {
    let collection = collection(key).ok_or(key.len())?;
    Family::document_id(key, collection).map(|(_, bytes)| bytes)
}

/// The packed collection of a document's own key.
pub fn collection_of(document: &[u8]) -> &[u8] {
    &document[..collection(document).unwrap_or_default()]
}

/// The prefix of the keys of a collection's counts.
pub fn counts_of(collection: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    append_system(&mut key, CATALOG);
    key.extend_from_slice(collection);
    append(&mut key, &COUNT);
    key
}

/// A range of keys: its first key and its end, which is exclusive.
/// The first key of a range, and its end, which is exclusive.
pub type FamilyRange = (Vec<u8>, Vec<u8>);

/// The ranges of all keys of a collection: its documents, their existence entries and versions, its
/// count and definitions, its index entries, its index builds, and of its type the text, the check
/// and the misfits.
pub fn ranges_of_collection(collection: &str) -> [FamilyRange; 9] {
    let system = |family| {
        let mut begin = Vec::new();
        append_system(&mut begin, family);
        append(&mut begin, &collection);
        ended(begin)
    };
    [
        Family::documents(collection),
        system(EXISTENCE),
        system(CATALOG),
        system(VERSION),
        system(INDEX),
        system(BUILD),
        system(TYPE_TEXT),
        system(TYPE_CHECK),
        system(TYPE_MISFIT),
    ]
}

/// The ranges that a check of a store reads in parallel.
#[derive(Debug)]
pub struct Ranges {
    /// The keys of [`Family::Existence`].
    pub existence: FamilyRange,
    /// The catalog: counts and index definitions.
    pub catalog: FamilyRange,
    /// The keys of [`Family::Version`].
    pub versions: FamilyRange,
    /// The entries of indexes.
    pub entries: FamilyRange,
    /// The leaves of documents.
    pub documents: FamilyRange,
    /// All other keys.
    pub others: Vec<FamilyRange>,
}

impl Ranges {
    /// The ranges of the whole store, or of one collection.
    pub fn new(collection: Option<&str>) -> Self {
        let system = |family| {
            let mut begin = Vec::new();
            append_system(&mut begin, family);
            if let Some(collection) = &collection {
                append(&mut begin, collection);
            }
            ended(begin)
        };
        let mut ranges = Self {
            existence: system(EXISTENCE),
            catalog: system(CATALOG),
            versions: system(VERSION),
            entries: system(INDEX),
            documents: (vec![0x02], vec![0x03]),
            others: Vec::new(),
        };
        match collection {
            Some(collection) => ranges.documents = Family::documents(collection),
            None => ranges.others = ranges.between(),
        }
        ranges
    }

    /// The ranges before, between and after the five ranges.
    fn between(&self) -> Vec<FamilyRange> {
        let mut found = Vec::new();
        let mut begin: &[u8] = &[];
        for (first, end) in [
            &self.existence,
            &self.catalog,
            &self.versions,
            &self.entries,
            &self.documents,
        ] {
            found.push((begin.to_vec(), first.clone()));
            begin = end;
        }
        found.push((begin.to_vec(), vec![0xFF]));
        found
    }
}

#[cfg(test)]
mod tests {
    use foundationdb_tuple::{Bytes, pack};

    use super::*;
    use crate::document::id::DocumentId;

    #[test]
    fn keys_are_parsed_into_their_family() {
        let id = DocumentId::Integer(7);
        let key = |family: Family<'_>| family.key().expect("short");
        let (document, collection) = (pack(&("c", 7)), pack(&("c",)));
        let format = key(Family::Format);
        assert_eq!(SystemKey::parse(&format), Some(SystemKey::Format));
        let existence = key(Family::Existence("c", &id));
        let expected = Some(SystemKey::Existence(&document));
        assert_eq!(SystemKey::parse(&existence), expected);
        let version = key(Family::Version("c", &id));
        let expected = Some(SystemKey::Version(&document));
        assert_eq!(SystemKey::parse(&version), expected);
        let count = key(Family::Count("c", COUNT_SHARDS - 1));
        let expected = Some(SystemKey::Count(&collection));
        assert_eq!(SystemKey::parse(&count), expected);
        let null = |rest: Vec<u8>| [vec![0], rest].concat();
        let definition = null(pack(&(2, "c", 1, "by name")));
        let expected = Some(SystemKey::Definition(&collection));
        assert_eq!(SystemKey::parse(&definition), expected);

        let entry = null(pack(&(4, "c", 3, 1, 7)));
        let expected = Some(SystemKey::Entry(&collection, 3));
        assert_eq!(SystemKey::parse(&entry), expected);

        let head = null(pack(&(2, "c", 2)));
        let expected = Some(SystemKey::Type(&collection));
        assert_eq!(SystemKey::parse(&head), expected);

        for number in OTHERS {
            let other = null(pack(&(number, "anything")));
            assert_eq!(SystemKey::parse(&other), Some(SystemKey::Other(number)));
        }
        for unknown in [
            null(vec![]),
            null(pack(&(0, 0))),
            null(pack(&(1,))),
            null(pack(&(1, "c"))),
            null(pack(&(1, "", 7))),
            null(pack(&(1, "c", 7, "a"))),
            null(pack(&(1, "c", Bytes::from(&b"7"[..])))),
            null(vec![0x15, 1, 0x02, b'c', 0, 0x16, 0, 7]),
            null(pack(&(1, 7, 7))),
            null(pack(&(2, "c"))),
            null(pack(&(2, "c", 0))),
            null(pack(&(2, "c", 0, 1, 1))),
            null(pack(&(2, "c", 0, -1))),
            null(pack(&(2, "c", 0, COUNT_SHARDS))),
            null(pack(&(2, "c", 2, 0))),
            null(pack(&(2, "c", 3))),
            null(pack(&(4, "c"))),
            null(pack(&(4, "c", 3))),
            null(pack(&(4, "c", -3, 1))),
            null(pack(&(4, 7, 3, 1))),
            null(pack(&(13,))),
            null(pack(&("c", 7))),
            null(vec![0x16, 0, 0]),
            document.clone(),
            vec![],
        ] {
            assert_eq!(SystemKey::parse(&unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn the_ranges_of_a_store_partition_its_keys() {
        let ranges = Ranges::new(None);
        let others = ranges.others.len();
        let mut all = ranges.others;
        all.extend([
            ranges.existence,
            ranges.catalog,
            ranges.versions,
            ranges.entries,
            ranges.documents,
        ]);
        all.sort();
        assert_eq!(all.len(), others + 5);
        assert_eq!(all.first().expect("some").0, b"");
        assert_eq!(all.last().expect("some").1, b"\xFF");
        assert!(all.windows(2).all(|two| two[0].1 == two[1].0), "{all:?}");
    }
}
