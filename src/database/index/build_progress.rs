//! The stored progress of an index build.

use foundationdb_tuple::{Bytes, Element, pack, unpack};

use super::definition::{Index, State};
use crate::error::{Error, Result};
use crate::key::{Family, hex};
use crate::store::{Batches, Read};

/// The value of [`Family::Build`].
///
/// `("n", b"", 0, b"")` at the beginning; `("n", owner, expiry, b"\x15\x07\x15\x02")` after two
/// documents, the last of which has the id 7. Programs that do not count documents store only the
/// packed id, `b"\x15\x07"`, and continue at the first key after the stored bytes. The number does not
/// change which document that is: an id that begins with the bytes of another one continues with `FF`,
/// and no number begins with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BuildProgress {
    pub(super) name: String,
    /// The builder that has the lease. Empty at the beginning.
    pub(super) owner: Vec<u8>,
    /// Expiry of the lease, in seconds since 1970.
    pub(super) expiry: i64,
    /// The key of the last processed catalog entry, without the common prefix. Empty at the
    /// beginning.
    pub(super) position: Vec<u8>,
    /// The documents that were processed. None if a program that does not count them has processed
    /// some.
    pub(super) documents: Option<u64>,
}

/// An index as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredIndex {
    /// The definition.
    pub index: Index,
    /// The documents that the build has processed so far. None if the index is not being built, or if
    /// the number is not known.
    pub indexed: Option<u64>,
}

impl BuildProgress {
    /// The progress of a build that any builder may begin with the first document.
    pub(super) fn beginning(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            owner: Vec::new(),
            expiry: 0,
            position: Vec::new(),
            documents: Some(0),
        }
    }

    /// Decodes the progress.
    ///
    /// # Errors
    /// `INTERNAL`: it is damaged.
    pub(super) fn of_pair(key: &[u8], value: &[u8]) -> Result<Self> {
        Self::decode(value).ok_or_else(|| damaged(key))
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let (name, Bytes(owner), expiry, Bytes(place)): (String, Bytes<'_>, i64, Bytes<'_>) =
            unpack(value).ok()?;
        let (position, documents) = match &unpack::<Vec<Element<'_>>>(&place).ok()?[..] {
            [] => (&place[..], Some(0)),
            [_id] => (&place[..], None),
            [_id, Element::Int(documents)] => {
                let number = pack(&(documents,));
                (
                    place.strip_suffix(&number[..])?,
                    u64::try_from(*documents).ok(),
                )
            }
            _ => return None,
        };
        Some(Self {
            name,
            owner: owner.into_owned(),
            expiry,
            position: position.to_vec(),
            documents,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut place = self.position.clone();
        if let (false, Some(documents)) = (place.is_empty(), self.documents) {
            place.extend(pack(&(documents,)));
        }
        pack(&(
            &self.name[..],
            Bytes(self.owner[..].into()),
            self.expiry,
            Bytes(place.into()),
        ))
    }
}

/// The indexes of a collection, in the order of their names, with the progress of their builds.
///
/// # Errors
/// `INTERNAL`: a definition or the progress of a build is damaged. Errors of the store.
pub async fn stored_indexes(read: &dyn Read, collection: &str) -> Result<Vec<StoredIndex>> {
    let indexes = super::definition::indexes(read, collection).await?;
    with_progress(read, collection, indexes).await
}

/// An index with the progress of its build.
///
/// # Errors
/// As [`stored_indexes`].
pub async fn stored_index(read: &dyn Read, collection: &str, index: Index) -> Result<StoredIndex> {
    let mut found = with_progress(read, collection, vec![index]).await?;
    Ok(found.remove(0))
}

/// Reads nothing if no index is being built.
async fn with_progress(
    read: &dyn Read,
    collection: &str,
    indexes: Vec<Index>,
) -> Result<Vec<StoredIndex>> {
    let mut builds = Vec::new();
    if indexes.iter().any(|index| index.state == State::Building) {
        let (begin, end) = Family::builds_of(collection);
        let mut batches = Batches::new(read, begin, end);
        while let Some(pairs) = batches.next().await? {
            for (key, value) in pairs.iter() {
                let (_, number) = Family::build_of(key).ok_or_else(|| damaged(key))?;
                builds.push((number, BuildProgress::of_pair(key, value)?.documents));
            }
        }
    }
    let indexed = |index: &Index| {
        let build = builds.iter().find(|(number, _)| *number == index.number);
        build.filter(|_| index.state == State::Building)?.1
    };
    let stored = indexes.into_iter().map(|index| StoredIndex {
        indexed: indexed(&index),
        index,
    });
    Ok(stored.collect())
}

pub(super) fn damaged(key: &[u8]) -> Error {
    Error::internal(format!("damaged index build: the key {}", hex(key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::id::DocumentId;
    use crate::key::append_id;

    fn progress(position: Vec<u8>, documents: Option<u64>) -> BuildProgress {
        BuildProgress {
            name: "n".to_owned(),
            owner: b"0123456789abcdef".to_vec(),
            expiry: 1_800_000_000,
            position,
            documents,
        }
    }

    fn packed(id: &DocumentId) -> Vec<u8> {
        let mut packed = Vec::new();
        append_id(&mut packed, id);
        packed
    }

    fn assert_restored(progress: &BuildProgress) {
        assert_eq!(
            BuildProgress::decode(&progress.encode()).as_ref(),
            Some(progress)
        );
    }

    /// Programs that do not count documents store these bytes.
    #[test]
    fn progress_without_a_number_is_decoded() {
        let old =
            |position: &[u8]| pack(&("n", Bytes(b"o"[..].into()), 5_i64, Bytes(position.into())));
        let documents = |position: &[u8]| {
            let progress = BuildProgress::decode(&old(position)).expect("not damaged");
            assert_eq!(progress.position, position);
            assert_eq!(progress.encode(), old(position));
            progress.documents
        };
        assert_eq!(documents(b""), Some(0));
        assert_eq!(documents(&[0x15, 7]), None);
        assert_eq!(documents(&[0x02, b'a', 0]), None);
    }

    /// Programs that do not count documents continue at the first key after the stored bytes.
    #[test]
    fn programs_that_do_not_count_continue_at_the_next_document() {
        let text = |text: &str| DocumentId::Text(text.to_owned());
        for (id, next) in [
            (text("a"), text("a\u{0}")),
            (text(""), text("\u{0}")),
            (text("a"), text("b")),
            (DocumentId::Integer(7), DocumentId::Integer(8)),
            (DocumentId::Integer(255), DocumentId::Integer(256)),
        ] {
            for documents in [0, 1, 300, 1 << 40] {
                let stored = progress(packed(&id), Some(documents)).encode();
                let (_, _, _, Bytes(place)): (String, Bytes<'_>, i64, Bytes<'_>) =
                    unpack(&stored).expect("four elements");
                let begin = [&place[..], &[0]].concat();
                assert!(
                    packed(&id) < begin && begin <= packed(&next),
                    "{id:?} {documents}"
                );
            }
        }
    }

    #[test]
    fn progress_is_decoded_as_it_was_encoded() {
        assert_restored(&BuildProgress::beginning("n"));
        let ids = [
            DocumentId::Integer(0),
            DocumentId::Integer(i64::MIN),
            DocumentId::Integer(i64::MAX),
            DocumentId::Text(String::new()),
            DocumentId::Text("\u{0}\u{15}\u{7}".to_owned()),
            DocumentId::Versionstamp([7; 12]),
        ];
        for id in ids {
            for documents in [None, Some(0), Some(1), Some(255), Some(256), Some(1 << 62)] {
                assert_restored(&progress(packed(&id), documents));
            }
        }
    }
}
