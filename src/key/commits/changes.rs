//! Entries of the change log (docs/format.md).
//!
//! The entry of a commit has headers and patches. A header is a tuple: the time, and for each change
//! its collection, kind and, for a document, its id, its bytes of patches and its places. Patches
//! are the operations of all changes of the commit, one after another, in pieces.

use foundationdb_tuple::Element;

use crate::document::id::DocumentId;
use crate::document::path::{Place, Segment};
use crate::key::family::{CHANGES, Version, append_system};
use crate::key::tuple::{
    VERSIONSTAMP, append, append_id, append_place, split_element, split_first, split_id,
};

const HEADERS: i64 = 2;
const PATCHES: i64 = 3;

/// A part of the change log that has one subspace for each shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeLogPart {
    /// `(null, 5, 2, shard, versionstamp, n) → header`
    Headers,
    /// `(null, 5, 3, shard, versionstamp, n) → piece of the patches`
    Patches,
}

/// A shard of a part of the change log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeLogRange {
    prefix: Vec<u8>,
}

impl ChangeLogRange {
    /// The keys of a shard of a part.
    pub fn new(part: ChangeLogPart, shard: u8) -> Self {
        let mut prefix = Vec::new();
        append_system(&mut prefix, CHANGES);
        let part = match part {
            ChangeLogPart::Headers => HEADERS,
            ChangeLogPart::Patches => PATCHES,
        };
        append(&mut prefix, &part);
        append(&mut prefix, &i64::from(shard));
        Self { prefix }
    }

    /// The position of the version in a key.
    pub fn version_at(&self) -> usize {
        self.prefix.len() + 1
    }

    /// The key of a value of a commit.
    pub fn key(&self, version: Version, number: u64) -> Vec<u8> {
        let mut key = self.from(version);
        key.extend_from_slice(&[0, 0]);
        append(&mut key, &number);
        key
    }

    /// The first key of a commit.
    pub fn from(&self, version: Version) -> Vec<u8> {
        let mut key = self.prefix.clone();
        key.push(VERSIONSTAMP);
        key.extend_from_slice(&version.0);
        key
    }

    /// The first key after those of a commit.
    pub fn after(&self, version: Version) -> Vec<u8> {
        let mut key = self.from(version);
        key.push(0xFF);
        key
    }

    /// The first key of the shard.
    pub fn begin(&self) -> &[u8] {
        &self.prefix
    }

    /// The end of the shard, which is exclusive.
    pub fn end(&self) -> Vec<u8> {
        [&self.prefix[..], &[0xFF]].concat()
    }

    /// The commit and the number in a key of the shard. `None` for other keys.
    pub fn parse(&self, key: &[u8]) -> Option<(Version, u64)> {
        let rest = key.strip_prefix(&self.prefix[..])?;
        let (Element::Versionstamp(stamp), rest) = split_element(rest)? else {
            return None;
        };
        let [version @ .., 0, 0] = *stamp.as_bytes() else {
            return None;
        };
        match split_first(rest)? {
            (number, []) => Some((Version(version), number)),
            _ => None,
        }
    }
}

/// What happened to a document or a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The document was created.
    Created,
    /// The document was changed.
    Updated,
    /// The document was removed.
    Deleted,
    /// All documents of the collection were removed.
    CollectionDropped,
    /// Documents of the collection have changed. There were too many to log them one by one.
    CollectionChanged,
}

impl ChangeKind {
    const ALL: [Self; 5] = [
        Self::Created,
        Self::Updated,
        Self::Deleted,
        Self::CollectionDropped,
        Self::CollectionChanged,
    ];

    fn number(self) -> i64 {
        match self {
            Self::Created => 0,
            Self::Updated => 1,
            Self::Deleted => 2,
            Self::CollectionDropped => 3,
            Self::CollectionChanged => 4,
        }
    }

    fn of_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }

    /// Whether it is a change of a collection, which names no document.
    fn is_of_collection(self) -> bool {
        matches!(self, Self::CollectionDropped | Self::CollectionChanged)
    }
}

/// A change in the change log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedChange {
    /// The collection.
    pub collection: String,
    /// What happened.
    pub kind: ChangeKind,
    /// The id of the document. `None` for a change of a collection.
    pub id: Option<DocumentId>,
    /// The places that changed, none inside another. The place of the whole document for a created
    /// or deleted document.
    pub places: Vec<Place>,
    /// The position of the operations in the patches of the commit, and their bytes. `None` if they
    /// are not in the log.
    pub patch: Option<(u64, u64)>,
}

impl LoggedChange {
    /// Whether the edits are not in the log, so that only the current state shows them.
    pub fn needs_resync(&self) -> bool {
        match self.kind {
            ChangeKind::Created | ChangeKind::Updated => self.patch.is_none(),
            ChangeKind::CollectionChanged => true,
            ChangeKind::Deleted | ChangeKind::CollectionDropped => false,
        }
    }
}

/// Encodes headers of at most about `bytes_max` bytes each. `time` is in milliseconds since 1970.
pub fn encode_changes<'c>(
    time: u64,
    changes: impl Iterator<Item = &'c LoggedChange>,
    bytes_max: usize,
) -> Vec<Vec<u8>> {
    let begin = || {
        let mut header = Vec::new();
        append(&mut header, &time);
        header
    };
    let mut headers = vec![begin()];
    for change in changes {
        let mut encoded = Vec::new();
        encode(&mut encoded, change);
        if headers
            .last()
            .is_none_or(|last| last.len() + encoded.len() > bytes_max)
        {
            headers.push(begin());
        }
        if let Some(last) = headers.last_mut() {
            last.extend_from_slice(&encoded);
        }
    }
    headers
}

fn encode(out: &mut Vec<u8>, change: &LoggedChange) {
    append(out, &change.collection.as_str());
    append(out, &change.kind.number());
    let Some(id) = &change.id else {
        return;
    };
    append_id(out, id);
    let bytes = change.patch.map(|(_, bytes)| bytes);
    append(
        out,
        &bytes.map_or(-1, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
    );
    append(out, &change.places.len());
    for place in &change.places {
        append(out, &place.0.len());
        append_place(out, place);
    }
}

/// Decodes the headers of one commit, in order.
pub struct ChangesDecoder {
    version: Version,
    /// The bytes of the patches of the changes decoded so far.
    patches: u64,
}

impl ChangesDecoder {
    /// Decodes the headers of the commit `version`.
    pub fn new(version: Version) -> Self {
        Self {
            version,
            patches: 0,
        }
    }

    /// The time in a header, in milliseconds since 1970. `None` if it is malformed.
    pub fn time(header: &[u8]) -> Option<u64> {
        split_first(header).map(|(time, _)| time)
    }

    /// The bytes of the patches of the changes in a header. `None` if it is malformed. This is faster
    /// than decoding the changes.
    pub fn patch_bytes_of(header: &[u8]) -> Option<u64> {
        let (_, mut rest): (u64, _) = split_first(header)?;
        let mut sum: u64 = 0;
        while !rest.is_empty() {
            let (_, behind) = split_element(rest)?;
            let (kind, behind) = split_first(behind)?;
            rest = behind;
            if ChangeKind::of_number(kind)?.is_of_collection() {
                continue;
            }
            let (_, behind) = split_element(rest)?;
            let (bytes, behind): (i64, _) = split_first(behind)?;
            sum = sum.checked_add(u64::try_from(bytes).unwrap_or_default())?;
            let (places, behind): (usize, _) = split_first(behind)?;
            rest = behind;
            for _ in 0..places {
                let (segments, behind): (usize, _) = split_first(rest)?;
                rest = behind;
                for _ in 0..segments {
                    (_, rest) = split_element(rest)?;
                }
            }
        }
        Some(sum)
    }

    /// The bytes of the patches of all decoded changes.
    pub fn patch_bytes(&self) -> u64 {
        self.patches
    }

    /// Decodes the next header: the time in milliseconds since 1970, and the changes. `None` if it
    /// is malformed.
    pub fn decode(&mut self, header: &[u8]) -> Option<(u64, Vec<LoggedChange>)> {
        let (time, mut rest) = split_first(header)?;
        let mut changes = Vec::new();
        while !rest.is_empty() {
            let (change, behind) = self.change(rest)?;
            changes.push(change);
            rest = behind;
        }
        Some((time, changes))
    }

    fn change<'b>(&mut self, bytes: &'b [u8]) -> Option<(LoggedChange, &'b [u8])> {
        let (Element::String(collection), rest) = split_element(bytes)? else {
            return None;
        };
        let (kind, rest) = split_first(rest)?;
        let mut change = LoggedChange {
            collection: collection.into_owned(),
            kind: ChangeKind::of_number(kind)?,
            id: None,
            places: Vec::new(),
            patch: None,
        };
        if change.kind.is_of_collection() {
            return Some((change, rest));
        }
        let (id, rest) = split_id(rest)?;
        change.id = Some(self.own(id));
        let (bytes, rest): (i64, _) = split_first(rest)?;
        if let Ok(bytes) = u64::try_from(bytes) {
            change.patch = Some((self.patches, bytes));
            self.patches = self.patches.checked_add(bytes)?;
        }
        let (count, mut rest): (usize, _) = split_first(rest)?;
        for _ in 0..count {
            let (place, behind) = place(rest)?;
            change.places.push(place);
            rest = behind;
        }
        Some((change, rest))
    }

    /// The id, with the version of the commit in place of the placeholder.
    fn own(&self, id: DocumentId) -> DocumentId {
        match id {
            DocumentId::Versionstamp(mut stamp) if stamp[..10] == Version::PLACEHOLDER[..10] => {
                stamp[..10].copy_from_slice(&self.version.0);
                DocumentId::Versionstamp(stamp)
            }
            id => id,
        }
    }
}

fn place(bytes: &[u8]) -> Option<(Place, &[u8])> {
    let (count, mut rest): (usize, _) = split_first(bytes)?;
    let mut segments = Vec::new();
    for _ in 0..count {
        let (segment, behind) = match split_element(rest)? {
            (Element::String(name), behind) => (Segment::Key(name.into_owned()), behind),
            (Element::Int(index), behind) => (Segment::Index(u64::try_from(index).ok()?), behind),
            _ => return None,
        };
        segments.push(segment);
        rest = behind;
    }
    Some((Place(segments), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: Version = Version([0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);

    fn updated(id: DocumentId, places: Vec<Place>, patch: Option<(u64, u64)>) -> LoggedChange {
        LoggedChange {
            collection: "a\0b".to_owned(),
            kind: ChangeKind::Updated,
            id: Some(id),
            places,
            patch,
        }
    }

    #[test]
    fn changes_survive_encoding_in_any_number_of_headers() {
        let mut pending = Version::PLACEHOLDER;
        pending[11] = 7;
        let place = Place(vec![Segment::Key("tags".to_owned()), Segment::Index(300)]);
        let mut changes = vec![
            updated(
                DocumentId::Integer(-7),
                vec![Place::default()],
                Some((0, 12)),
            ),
            updated(
                DocumentId::Versionstamp(pending),
                vec![place, Place::default()],
                None,
            ),
            LoggedChange {
                collection: "D".to_owned(),
                kind: ChangeKind::CollectionDropped,
                id: None,
                places: Vec::new(),
                patch: None,
            },
            updated(DocumentId::Text("7".to_owned()), vec![], Some((12, 0))),
        ];
        for bytes_max in [1, 40, 1000] {
            let headers = encode_changes(5, changes.iter(), bytes_max);
            let mut decoder = ChangesDecoder::new(VERSION);
            let decoded: Vec<_> = headers
                .iter()
                .flat_map(|header| {
                    let (time, changes) = decoder.decode(header).expect("well-formed");
                    assert_eq!(time, 5);
                    changes
                })
                .collect();
            let patch_bytes: Option<u64> = headers
                .iter()
                .map(|it| ChangesDecoder::patch_bytes_of(it))
                .sum();
            assert_eq!(patch_bytes, Some(decoder.patch_bytes()));
            pending[..10].copy_from_slice(&VERSION.0);
            changes[1].id = Some(DocumentId::Versionstamp(pending));
            assert_eq!(decoded, changes, "{bytes_max}");
            pending = Version::PLACEHOLDER;
            pending[11] = 7;
            changes[1].id = Some(DocumentId::Versionstamp(pending));
        }
    }

    #[test]
    fn keys_sort_by_version_inside_a_shard() {
        let range = ChangeLogRange::new(ChangeLogPart::Headers, 3);
        let key = range.key(VERSION, 1);
        assert_eq!(range.parse(&key), Some((VERSION, 1)));
        assert!(range.from(VERSION) < key && key < range.after(VERSION));
        assert!(range.begin() < &key[..] && key < range.end());
        let patches = ChangeLogRange::new(ChangeLogPart::Patches, 3);
        assert_eq!(patches.parse(&key), None);
    }
}
