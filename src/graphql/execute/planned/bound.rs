//! What a bound plan consists of: documents, reads, lists, and the steps that write the response.

use std::borrow::Cow;

use async_graphql::Name;
use async_graphql_value::Value as Input;

use crate::database::{BorrowedRequest, DocumentKey, Extent, ReadRequest};
use crate::document::jsonpath::Query;
use crate::document::path::Path;
use crate::graphql::objects::field_reads::FieldReads;
use crate::graphql::prepare::plan::{PageField, PlannedField};

/// A plan that is bound to the variables of one request.
pub(crate) struct Bound<'p> {
    pub(crate) documents: Vec<Cow<'p, DocumentKey>>,
    pub(crate) reads: BoundReads<'p>,
    pub(crate) steps: Vec<ResponseStep<'p>>,
    pub(crate) positions: Vec<ResponsePosition<'p>>,
    pub(crate) lists: Vec<BoundList<'p>>,
}

/// Reads from the documents with these numbers.
pub(crate) type BoundReads<'p> = FieldReads<usize, Cow<'p, Path>>;

/// A list of the response whose length is not known yet.
pub(crate) struct BoundList<'p> {
    pub(crate) of: ListOf<'p>,
    /// The number of the position of the field.
    pub(crate) position: usize,
    /// The reads of one element. In a page of documents, the number of a document is meaningless. In
    /// selected parts, paths begin at the part.
    pub(crate) reads: BoundReads<'p>,
    /// The number of fields that are selected for one element.
    pub(crate) fields: usize,
    /// Whether a step of an element needs the stored pairs of its reads.
    pub(crate) needs_pairs: bool,
}

pub(crate) enum ListOf<'p> {
    /// The page of documents that a field `documents` with these arguments returns.
    Documents {
        arguments: &'p [(Name, Input)],
        total: bool,
    },
    Selected(SelectedParts<'p>),
}

/// The parts that a JSONPath query selects in a value.
pub(crate) struct SelectedParts<'p> {
    pub(crate) query: Query,
    /// The number of the document.
    pub(crate) document: usize,
    /// The path of the value.
    pub(crate) path: Cow<'p, Path>,
    /// What the query reads first: the number and the extent of each read.
    pub(crate) reads: Vec<(usize, Extent)>,
}

impl Bound<'_> {
    /// All reads that are known before lists are found, in the order of their numbers.
    pub(crate) fn requested(&self) -> Vec<BorrowedRequest<'_>> {
        let requested = self.reads.0.iter().map(|read| {
            let document = match read {
                ReadRequest::Value(document, ..)
                | ReadRequest::Remainder(document, ..)
                | ReadRequest::Version(document) => document,
            };
            request(read, &self.documents[*document])
        });
        requested.collect()
    }
}

/// The request for a bound read of a document.
pub(crate) fn request<'r>(
    read: &'r ReadRequest<usize, Cow<'_, Path>>,
    document: &'r DocumentKey,
) -> BorrowedRequest<'r> {
    match read {
        ReadRequest::Value(_, path, extent) => ReadRequest::Value(document, &**path, *extent),
        ReadRequest::Remainder(_, path, omitted) => {
            ReadRequest::Remainder(document, &**path, &**omitted)
        }
        ReadRequest::Version(_) => ReadRequest::Version(document),
    }
}

/// A step of writing the response. It refers to reads and positions by number.
#[derive(Debug)]
pub(crate) enum ResponseStep<'p> {
    Text(&'p [u8]),
    /// Begins the object for a place. If nothing is stored there, writes null and continues with
    /// the step `end`.
    Open {
        read: usize,
        position: usize,
        end: usize,
    },
    Value {
        read: usize,
        position: usize,
    },
    /// The value at the place with this many segments, with only the parts that were read. In a
    /// selected part, the segments begin at the part.
    Picked {
        reads: Vec<usize>,
        above: usize,
        position: usize,
    },
    /// The value that was read without this many parts.
    Remainder {
        read: usize,
        omitted: usize,
        position: usize,
    },
    /// Begins a list of this many values.
    List(usize),
    /// Writes the list with this number. The steps of one element follow, up to the step `end`.
    Elements {
        list: usize,
        end: usize,
    },
    /// The cursor of the current element.
    Cursor,
    /// A field of the page with this number.
    OfPage(usize, PageField),
    Version {
        read: usize,
        position: usize,
    },
    Kind(usize),
    Path(usize),
    /// The id, key or collection of the document with this number. They can be long, so they are
    /// written from the document for each field that selects them.
    DocumentId(usize),
    Key(usize),
    Collection(usize),
    /// The id of the place that the read found.
    SubdocumentId {
        document: usize,
        read: usize,
    },
}

/// A position in the response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponsePosition<'p> {
    /// The number of the enclosing position.
    pub(crate) around: Option<usize>,
    pub(crate) is: PositionKind<'p>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum PositionKind<'p> {
    Field(&'p PlannedField),
    Element(usize),
    /// The current element of a list.
    CurrentElement,
}
