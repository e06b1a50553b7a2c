//! Queries and the pages that they return.

use std::cmp::Ordering;

use sha2::{Digest, Sha256};

use super::entries::held::HeldEntry;
use super::key_set::KeySet;
use crate::budget::Share;
use crate::database::index::definition::Index;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::document::path::Place;
use crate::key::{IndexValue, Rank};
use crate::limits::KEY_BYTES_MAX;

/// The order of a query: by these values, the first one first, then by id. Documents in which one
/// of them selects nothing are omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// The values to sort by.
    pub values: Vec<OrderBy>,
    /// Whether ids descend.
    pub ids_descend: bool,
}

/// One of the values that a query sorts by: the least (descending: greatest) that `by` selects.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderBy {
    /// Selects the value.
    pub by: Query,
    /// Whether values descend.
    pub descending: bool,
}

impl Order {
    /// Whether documents are ordered by id only.
    pub fn is_by_id(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether each of the values descends on a page, and then whether ids do.
    pub(crate) fn directions(&self, page: &Page) -> Vec<bool> {
        let values = self.values.iter().map(|value| value.descending);
        let all = values.chain([self.ids_descend]);
        all.map(|descends| descends != page.backward).collect()
    }
}

/// Compares two rows by their values and then by their ids, in these directions.
pub(crate) fn compare<T: Ord>(
    directions: &[bool],
    (a_values, a): (&[IndexValue], &T),
    (b_values, b): (&[IndexValue], &T),
) -> Ordering {
    let directed = |descends: &bool, order: Ordering| {
        if *descends { order.reverse() } else { order }
    };
    let pairs = a_values.iter().zip(b_values).zip(directions);
    let differing = pairs
        .map(|((a, b), descends)| directed(descends, a.cmp(b)))
        .find(|order| order.is_ne());
    differing.unwrap_or_else(|| directed(directions.last().unwrap_or(&false), a.cmp(b)))
}

/// A query.
#[derive(Clone, Debug)]
pub struct Select {
    /// The collection.
    pub collection: String,
    /// The filter that documents must match.
    pub filter: Filter,
    /// The keys that documents must have.
    pub keys: KeySet,
    /// The order.
    pub order: Order,
    /// The page requested.
    pub page: Page,
    /// The maximum number of documents to examine.
    pub scan_max: usize,
    /// Whether to return the total over all pages.
    pub total: bool,
}

/// The page requested.
#[derive(Clone, Debug)]
pub struct Page {
    /// The maximum number of documents.
    pub size: usize,
    /// Whether to return the last documents instead of the first ones.
    pub backward: bool,
    /// Return only documents after this position, or before it if `backward`.
    pub from: Option<Position>,
}

/// The position of a document in the order of a query.
///
/// A string whose packed form exceeds [`KEY_BYTES_MAX`] is cut at that length, so that cursors stay
/// short: `0x05 0x02 …` and `0xFF` instead of the rest and its end `0x00`. No UTF-8 text has `0xFF`.
/// A cut string sorts among strings that are not longer than a key as the whole string does. Long
/// strings that begin with the same bytes are compared as a whole: `whole` says whether the
/// document at the position still has the values that it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The ordering values.
    pub values: Vec<IndexValue>,
    /// The id.
    pub id: DocumentId,
    /// A digest of the whole values, if one of them is cut.
    pub whole: Option<[u8; 32]>,
}

/// The first byte of an encoded position with a digest. No packed value and no id begins with it.
const WITH_DIGEST: u8 = 0xFE;
/// The last byte of a cut string.
const CUT: u8 = 0xFF;

impl Position {
    /// Creates the position of a document with these values, and cuts the long ones.
    pub(crate) fn new(values: Vec<IndexValue>, id: DocumentId) -> Self {
        if !values.iter().any(is_long) {
            let whole = None;
            return Self { values, id, whole };
        }
        let whole = Some(digest(&values));
        let values = values.into_iter().map(cut).collect();
        Self { values, id, whole }
    }

    /// Encodes the position for a cursor.
    pub fn encode(&self) -> Vec<u8> {
        let digest = self.whole.iter().flat_map(|digest| {
            let digest = digest.iter().copied();
            std::iter::once(WITH_DIGEST).chain(digest)
        });
        let values = self.values.iter().flat_map(IndexValue::bytes).copied();
        let id = self.id.to_string().into_bytes();
        digest.chain(values).chain(id).collect()
    }

    /// Decodes a position with this number of ordering values. None if the bytes are
    /// invalid.
    pub fn decode(bytes: &[u8], ordered_by: usize) -> Option<Self> {
        let (whole, mut rest) = match bytes.strip_prefix(&[WITH_DIGEST]) {
            Some(behind) => {
                let (digest, behind) = behind.split_first_chunk()?;
                (Some(*digest), behind)
            }
            None => (None, bytes),
        };
        let mut values = Vec::with_capacity(ordered_by);
        while values.len() < ordered_by {
            let cut = whole.and_then(|_| split_cut(rest));
            let (value, behind) = cut.or_else(|| IndexValue::split(rest))?;
            values.push(value);
            rest = behind;
        }
        let id = DocumentId::parse(std::str::from_utf8(rest).ok()?).ok()?;
        Some(Self { values, id, whole })
    }

    /// Whether these whole values are those of the position.
    pub(crate) fn has_whole(&self, values: &[IndexValue]) -> bool {
        self.whole.is_some_and(|whole| whole == digest(values))
    }

    /// Compares a document with the position, in these directions.
    ///
    /// # Errors
    /// The order depends on a part of a string that the position does not have. The error is the
    /// number of that string among the values.
    pub(crate) fn compared_with(
        &self,
        directions: &[bool],
        values: &[IndexValue],
        id: &DocumentId,
    ) -> Result<Ordering, usize> {
        if self.whole.is_some() {
            let pairs = self.values.iter().zip(values);
            let equal = pairs.clone().take_while(|(own, value)| own == value);
            let differing = equal.count();
            if let Some((own, value)) = pairs.clone().nth(differing)
                && is_cut(own)
                && is_long(value)
                && value
                    .bytes()
                    .starts_with(&own.bytes()[..own.bytes().len() - 1])
            {
                return Err(differing);
            }
        }
        Ok(compare(directions, (values, id), (&self.values, &self.id)))
    }
}

/// Whether a value is longer than a key, so that no entry of an index has it.
pub(crate) fn is_long(value: &IndexValue) -> bool {
    value.bytes().len() > KEY_BYTES_MAX
}

fn is_cut(value: &IndexValue) -> bool {
    value.rank() == Rank::String && value.bytes().last() == Some(&CUT)
}

/// Cuts a long value, which is a string. A cut string is longer than each value that is not.
fn cut(value: IndexValue) -> IndexValue {
    if !is_long(&value) {
        return value;
    }
    let bytes = value.bytes();
    // `0x00 0xFF` is a NUL character.
    let splits_nul = bytes[KEY_BYTES_MAX - 1] == 0;
    let mut cut = bytes[..KEY_BYTES_MAX + usize::from(splits_nul)].to_vec();
    cut.push(CUT);
    IndexValue::from(cut)
}

/// Splits a cut string off packed bytes. None if they do not begin with one.
fn split_cut(bytes: &[u8]) -> Option<(IndexValue, &[u8])> {
    let string = Rank::String.prefix();
    let text = bytes.strip_prefix(&string[..])?;
    let mut at = 0;
    loop {
        at += text
            .get(at..)?
            .iter()
            .position(|byte| matches!(*byte, 0 | CUT))?;
        match (text[at], text.get(at + 1)) {
            (CUT, _) => break,
            (_, Some(&CUT)) => at += 2,
            _ => return None,
        }
    }
    let (cut, rest) = bytes.split_at(string.len() + at + 1);
    Some((IndexValue::from(cut.to_vec()), rest))
}

/// A digest of values. Each value shows where it ends.
fn digest(values: &[IndexValue]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for value in values {
        digest.update(value.bytes());
    }
    digest.finalize().into()
}

/// A document on a page.
#[derive(Clone, Debug)]
pub struct PageRow {
    /// Its position in the order of the query.
    pub position: Position,
    /// The values of the [columns](DocumentPage::columns), from an index entry. None if the document
    /// was not found by such an entry.
    pub entry: Option<HeldEntry>,
}

impl PageRow {
    /// The memory that the row owns besides itself, in bytes.
    pub(crate) fn own_bytes(&self) -> usize {
        let values = self.position.values.iter();
        let values = values.map(|value| size_of::<IndexValue>() + allocated(value.bytes().len()));
        let entry = self.entry.as_ref().map_or(0, |entry| {
            allocated(entry.packed.len()) + allocated(entry.forms.len())
        });
        allocated(self.position.id.bytes()) + values.sum::<usize>() + entry
    }
}

/// The memory of so many bytes that are allocated for themselves: the allocator rounds them up.
fn allocated(bytes: usize) -> usize {
    bytes.next_multiple_of(2 * size_of::<usize>())
}

/// A page of documents.
#[derive(Debug)]
pub struct DocumentPage {
    /// In the order of the query, for both directions of the page.
    pub rows: Vec<PageRow>,
    /// The places of the columns in the entries of the rows. Empty if the rows have none.
    pub columns: Vec<Place>,
    /// Whether more documents follow in the direction of the page. If the page is full when the
    /// limit of examined documents is reached, whether more may follow.
    pub more: bool,
    /// The indexes used. None if no index was used.
    pub index: Option<UsedIndexes>,
    /// The number of keys of entries or of the catalog read, plus the number of documents examined.
    pub scanned: usize,
    /// The number of documents examined.
    pub examined: usize,
    /// The total over all pages, if it was requested.
    pub total: Option<Total>,
    /// Memory for the rows.
    pub memory: Share,
}

/// The indexes that a query used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedIndexes {
    /// The names. ` & ` joins indexes whose results were intersected, ` | ` those whose results were
    /// united.
    pub names: String,
    /// Whether one of them is partial.
    pub partial: bool,
}

impl UsedIndexes {
    /// One index.
    pub(crate) fn of(index: &Index) -> Self {
        Self {
            names: index.name.clone(),
            partial: index.filter.is_some(),
        }
    }
}

/// The number of documents over all pages of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// This many documents.
    Exact(u64),
    /// The number would be expensive to determine, for this reason.
    Unknown(&'static str),
}

/// Why a search stopped before its page was full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The limit of examined documents is reached.
    Documents,
    /// An ordered scan of this index reached the limit of entries that it leaves out.
    LeftOut(String),
    /// An ordered scan of this index reached entries of equal values that are too many to be
    /// sorted.
    Unsorted(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::leaf::Leaf;

    fn value(text: &str) -> IndexValue {
        IndexValue::of_leaf(&Leaf::String(text.into()))
    }

    #[test]
    fn cut_strings_sort_like_whole_strings() {
        // The packed form has 3 more bytes, and one more for each NUL.
        let long = KEY_BYTES_MAX - 4;
        let mut texts = vec![String::new(), "b".to_owned()];
        for character in ["a", "\0", "\u{7f}", "é", "\u{10ffff}"] {
            for length in long - 4..long + 4 {
                let text = character.repeat(length / character.len());
                texts.extend(["", "\0", "a", "\0\0", "é"].map(|end| format!("{text}{end}")));
            }
            texts.push(character.repeat(long / 2));
            texts.push(character.repeat(long / 2) + "a");
        }
        let packed: Vec<IndexValue> = texts.iter().map(|text| value(text)).collect();
        let ascending = [false, false];
        let id = DocumentId::Integer(1);
        let (mut unknown, mut cuts) = (0, 0);
        for a in &texts {
            let position = Position::new(vec![value(a), value("b")], id.clone());
            let decoded = Position::decode(&position.encode(), 2).expect("as encoded");
            assert_eq!(decoded, position);
            assert_eq!(position.whole.is_some(), is_long(&value(a)));
            assert!(position.values[0].bytes().len() <= KEY_BYTES_MAX + 2);
            cuts += usize::from(position.whole.is_some());
            assert!(position.whole.is_none() || position.has_whole(&[value(a), value("b")]));
            for (b, packed) in texts.iter().zip(&packed) {
                let values = [packed.clone(), value("b")];
                match position.compared_with(&ascending, &values, &id) {
                    Ok(order) => assert_eq!(order, b.cmp(a)),
                    Err(at) => {
                        unknown += 1;
                        assert_eq!(at, 0);
                        assert!(is_long(&values[0]) && position.whole.is_some());
                    }
                }
                if is_long(&value(a)) && !is_long(&values[0]) {
                    assert_eq!(values[0].cmp(&position.values[0]), b.cmp(a));
                }
            }
        }
        assert!(unknown > 0 && cuts > 0);
    }

    #[test]
    fn damaged_positions_are_not_decoded() {
        let long = "x".repeat(KEY_BYTES_MAX);
        let position = Position::new(vec![value(&long)], DocumentId::Integer(1));
        let bytes = position.encode();
        for length in [0, 1, 32, 33, 34, 5_000, bytes.len() - 2] {
            assert_eq!(Position::decode(&bytes[..length], 1), None, "{length}");
        }
        assert_eq!(
            Position::decode(&bytes[33..], 1),
            None,
            "without the digest"
        );
        assert_eq!(Position::decode(&bytes, 2), None);
    }
}
