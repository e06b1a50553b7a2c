//! Reads of documents that index entries answer.

use std::borrow::Borrow;
use std::sync::Arc;

use crate::database::query::PageRow;
use crate::database::{DocumentKey, ReadRequest, Value};
use crate::document::leaf::Leaf;
use crate::document::path::{Path, Place};
use crate::graphql::execute::planned::binding::field_reads::PlaceField;
use crate::key::Rank;

/// The column of an index that answers each read of a document, with its place.
pub(crate) struct EntryReads<'c>(Vec<(usize, &'c Place)>);

impl<'c> EntryReads<'c> {
    /// None if the columns do not answer all reads.
    pub(crate) fn new<D, P: Borrow<Path>>(
        reads: &[ReadRequest<D, P>],
        columns: &'c [Place],
    ) -> Option<Self> {
        let paths: Vec<Path> = columns.iter().map(Path::from).collect();
        let column = |read: &ReadRequest<D, P>| match read {
            ReadRequest::Value(_, path, extent) if *extent == PlaceField::Value.extent() => {
                let column = paths.iter().position(|column| column == path.borrow())?;
                Some((column, columns.get(column)?))
            }
            _ => None,
        };
        reads.iter().map(column).collect::<Option<_>>().map(Self)
    }

    /// The values that the reads of all documents find, from the entries of their rows. None if an
    /// entry does not have a value: it is an object or an array.
    pub(crate) fn values(
        &self,
        documents: &[Arc<DocumentKey>],
        rows: &[PageRow],
    ) -> Option<Vec<Option<Value>>> {
        let mut found = Vec::with_capacity(rows.len() * self.0.len());
        for (document, row) in documents.iter().zip(rows) {
            let values = row.entry.as_ref()?.values();
            for (column, place) in &self.0 {
                let value = values.get(*column)?;
                found.push(if value.rank() == Rank::Missing {
                    None
                } else {
                    let leaf = value.stored_leaf()?;
                    Some(Value::of_leaf(document.clone(), (*place).clone(), &leaf)?)
                });
            }
        }
        Some(found)
    }

    /// As [`EntryReads::values`], as JSON. Nothing stored is null.
    pub(crate) fn texts(&self, rows: &[PageRow]) -> Option<EntryTexts> {
        let mut texts = EntryTexts {
            text: Vec::with_capacity(8 * rows.len() * self.0.len()),
            ends: Vec::with_capacity(rows.len() * self.0.len()),
        };
        for row in rows {
            let values = row.entry.as_ref()?.values();
            for (column, _) in &self.0 {
                match values.get(*column)? {
                    value if value.rank() == Rank::Missing => Leaf::Null,
                    value => value.stored_leaf()?,
                }
                .write_json(&mut texts.text);
                texts.ends.push(texts.text.len());
            }
        }
        Some(texts)
    }
}

/// The answers to the reads of all documents as JSON, row by row.
pub(crate) struct EntryTexts {
    text: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl EntryTexts {
    /// The text with this number, counted over all rows.
    pub(crate) fn get(&self, number: usize) -> Option<&[u8]> {
        let end = *self.ends.get(number)?;
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(begin..end)
    }

    /// The memory of the texts, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}
