//! What a bound plan consists of: documents, scopes with their reads and lookups, and the steps that
//! write the response.

use std::borrow::Cow;

use async_graphql::Name;
use async_graphql_value::Value as Input;

use crate::database::{BorrowedRequest, DocumentKey, Extent, ReadRequest};
use crate::document::jsonpath::Query;
use crate::document::path::Path;
use crate::error::Error;
use crate::graphql::arguments::aggregate_request::AggregatedValues;
use crate::graphql::arguments::children_request::ChildrenRequest;
use crate::graphql::execute::planned::binding::arguments::PageArguments;
use crate::graphql::execute::planned::binding::field_reads::FieldReads;
use crate::graphql::prepare::plan::{
    ElementField, InverseSelection, PageField, PlannedField, ValuesField,
};
use crate::graphql::schema::typed::typed_fields::{LeafType, TypedPlace};

/// A plan that is bound to the variables of one request.
pub(crate) struct Bound<'p> {
    pub(crate) documents: Vec<Cow<'p, DocumentKey>>,
    /// The first scope is the root.
    pub(crate) scopes: Vec<Scope<'p>>,
    pub(crate) lookups: Vec<Lookup<'p>>,
    pub(crate) steps: Vec<ResponseStep<'p>>,
    pub(crate) positions: Vec<ResponsePosition<'p>>,
}

/// The number of the root in [`Bound::scopes`].
pub(crate) const ROOT: usize = 0;

/// What is read for the root of the response, or for one element of a lookup.
#[derive(Default)]
pub(crate) struct Scope<'p> {
    /// In the elements of a page of documents, and in children, the number of a document is
    /// meaningless. Paths begin at the element.
    pub(crate) reads: BoundReads<'p>,
    /// The numbers of the lookups that are made for each element.
    pub(crate) lookups: Vec<usize>,
    /// The number of fields that are selected for one element.
    pub(crate) fields: usize,
    /// Whether a step or a lookup needs the stored pairs of the reads.
    pub(crate) needs_pairs: bool,
}

/// Reads from the documents with these numbers.
pub(crate) type BoundReads<'p> = FieldReads<usize, Cow<'p, Path>>;

/// A part of the response that is found after the reads of its scope: a list of unknown length, or a
/// length.
pub(crate) struct Lookup<'p> {
    pub(crate) of: LookupOf<'p>,
    /// The number of the position of the field.
    pub(crate) position: usize,
    /// The scope for whose elements it is made.
    pub(crate) scope: usize,
    /// Its number among the lookups of that scope.
    pub(crate) number: usize,
    /// The scope of its elements. None for a length.
    pub(crate) elements: Option<usize>,
    /// Whether the total number of documents is selected.
    pub(crate) total: bool,
}

pub(crate) enum LookupOf<'p> {
    /// The page of documents that a field with these arguments returns.
    Documents(PageArguments<'p>),
    /// The parts that a JSONPath query selects in a value.
    Selected(SelectedParts<'p>),
    /// The page of the children of a value that a field `children`, or a typed list or map, returns.
    Children {
        of: ValueAt<'p>,
        request: ChildrenRequest,
    },
    /// The length of a value.
    Length {
        of: ValueAt<'p>,
        /// The read of the first pair, which has the kind.
        first: ReadAt,
        /// The read of the last pair, which has the length of an array.
        last: ReadAt,
    },
    /// The document that a reference leads to, or those that follow.
    Followed(FollowedReference<'p>),
    /// The page of the documents that refer to one.
    Referring {
        /// The document.
        of: ValueAt<'p>,
        selected: &'p InverseSelection,
    },
    /// The groups that a field `aggregate` with these arguments returns.
    Groups {
        arguments: &'p [(Name, Input)],
        values: AggregatedValues,
    },
    /// The position in the change log of the version that is read.
    ChangesCursor,
    /// The collections, or the one with this name.
    Collections(Option<String>),
    /// The indexes of the collections that this scope has.
    Indexes(usize),
    /// The types of the collections that this scope has.
    Type(usize),
    /// The places that do not fit the types that this scope has, or the type that is given.
    Misfits(usize),
    /// What the selection is of.
    Given,
    /// What the operators of the bulk update that is given did.
    Updates,
    /// The edits of the change that is given.
    Patch,
}

impl LookupOf<'_> {
    /// Whether it reads from the snapshot or transaction.
    fn reads(&self) -> bool {
        !matches!(self, Self::Given | Self::Updates | Self::Patch)
    }

    /// Whether one lookup serves both fields. Each page of documents has a plan of its own, which says
    /// what was read for its selection.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Selected(selected), Self::Selected(other)) => selected == other,
            (Self::Length { of, .. }, Self::Length { of: other, .. }) => of == other,
            (Self::Followed(followed), Self::Followed(other)) => followed == other,
            (
                Self::Children { of, request },
                Self::Children {
                    of: other,
                    request: requested,
                },
            ) => of == other && request == requested,
            (
                Self::Groups { arguments, .. },
                Self::Groups {
                    arguments: other, ..
                },
            ) => arguments == other,
            (Self::ChangesCursor, Self::ChangesCursor)
            | (Self::Given, Self::Given)
            | (Self::Updates, Self::Updates)
            | (Self::Patch, Self::Patch) => true,
            (Self::Collections(name), Self::Collections(other)) => name == other,
            (Self::Indexes(scope), Self::Indexes(other))
            | (Self::Type(scope), Self::Type(other))
            | (Self::Misfits(scope), Self::Misfits(other)) => scope == other,
            _ => false,
        }
    }
}

/// A value that lookups are below.
#[derive(Clone, PartialEq)]
pub(crate) struct ValueAt<'p> {
    pub(crate) document: DocumentAt,
    /// The path in the element of the scope.
    pub(crate) path: Cow<'p, Path>,
    /// The read that finds its place. None for a whole document.
    pub(crate) read: Option<ReadAt>,
}

/// A reference that is followed.
#[derive(Clone, PartialEq)]
pub(crate) struct FollowedReference<'p> {
    /// The value that is the key of the document.
    pub(crate) of: ValueAt<'p>,
    /// The collection of the document. None for that of the document with the key.
    pub(crate) collection: Option<Cow<'p, str>>,
    /// Whether a value that cannot be a key is an error. Otherwise it leads nowhere.
    pub(crate) typed: bool,
    /// Where each document has the key of the next one. None if there is no next one.
    pub(crate) chain: Option<Cow<'p, Path>>,
    /// At most so many documents are found.
    pub(crate) most: usize,
}

/// The parts that a JSONPath query selects in a value.
pub(crate) struct SelectedParts<'p> {
    pub(crate) of: ValueAt<'p>,
    pub(crate) query: Cow<'p, str>,
    /// The query, without compiled regular expressions. None if it is invalid or long.
    pub(crate) parsed: Option<Query>,
    /// What the query reads first: the number and the extent of each read of the scope. None if it
    /// is not read ahead.
    pub(crate) reads: Option<Vec<(usize, Extent)>>,
}

/// Two are the same if they select the same in the same value.
impl PartialEq for SelectedParts<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.of == other.of && self.query == other.query
    }
}

/// A read: its scope, and its number in the scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadAt {
    pub(crate) scope: usize,
    pub(crate) read: usize,
}

/// A document: its number in [`Bound::documents`], or the document of the current element of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentAt {
    Bound(usize),
    Element(usize),
}

impl DocumentAt {
    /// Whether a read of the document with this number is of this document. Elements have one.
    pub(crate) fn is(self, bound: usize) -> bool {
        match self {
            Self::Bound(number) => number == bound,
            Self::Element(_) => true,
        }
    }
}

impl Bound<'_> {
    /// Whether a position is that of a root field, or of an element of one.
    pub(crate) fn is_of_root(&self, position: usize) -> bool {
        let ResponsePosition { around, is } = self.positions[position];
        match is {
            PositionKind::Element(_) => around.is_some_and(|field| self.is_of_root(field)),
            PositionKind::Field(_) => around.is_none(),
            PositionKind::CurrentElement(_) => false,
        }
    }

    /// Whether a field that cannot be null can fail after something was written.
    pub(crate) fn can_fail(&self) -> bool {
        let is_page = |lookup: &Lookup<'_>| matches!(lookup.of, LookupOf::Documents(_));
        let fails = |step: &ResponseStep<'_>| {
            matches!(
                step,
                ResponseStep::Kind { .. }
                    | ResponseStep::Fail { .. }
                    | ResponseStep::OpenTyped { .. }
                    | ResponseStep::TypedLeaf { .. }
            )
        };
        !self.lookups.iter().all(is_page) || self.steps.iter().any(fails)
    }

    /// Whether anything is read.
    pub(crate) fn reads(&self) -> bool {
        let mut lookups = self.lookups.iter();
        !self.scopes[ROOT].reads.0.is_empty() || lookups.any(|lookup| lookup.of.reads())
    }

    /// The position of the first field that needs a read.
    pub(crate) fn position_of(&self, read: ReadAt) -> usize {
        let of_step = |step: &ResponseStep<'_>| match step {
            ResponseStep::Open { read, position, .. }
            | ResponseStep::Value { read, position }
            | ResponseStep::Remainder { read, position, .. }
            | ResponseStep::Between { read, position }
            | ResponseStep::Version { read, position }
            | ResponseStep::Kind { read, position } => Some((*position, *read)),
            ResponseStep::OpenTyped { typed, .. } | ResponseStep::TypedLeaf { typed, .. } => {
                Some((typed.position, typed.read))
            }
            _ => None,
        };
        let mut needs = self.steps.iter().filter_map(|step| match step {
            ResponseStep::Picked {
                scope,
                reads,
                position,
                ..
            } => (*scope == read.scope && reads.contains(&read.read)).then_some(*position),
            step => {
                of_step(step).and_then(|(position, needed)| (needed == read).then_some(position))
            }
        });
        let mut lookups = self.lookups.iter();
        let of_lookup = lookups.find(|lookup| lookup.scope == read.scope);
        let position = needs.next();
        position
            .or_else(|| of_lookup.map(|lookup| lookup.position))
            .unwrap_or_default()
    }

    /// All reads that are known before anything is found, in the order of their numbers.
    pub(crate) fn requested(&self) -> Vec<BorrowedRequest<'_>> {
        let requested = self.scopes[ROOT].reads.0.iter().map(|read| {
            let document = match read {
                ReadRequest::Value(document, ..)
                | ReadRequest::Remainder(document, ..)
                | ReadRequest::Between(document, ..)
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
        ReadRequest::Between(_, path, range) => ReadRequest::Between(document, &**path, &**range),
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
        read: ReadAt,
        position: usize,
        end: usize,
    },
    Value {
        read: ReadAt,
        position: usize,
    },
    /// Begins an object, a list or a map of a typed document. If nothing is stored there, or null, writes
    /// null and continues with the step `end`.
    OpenTyped {
        typed: TypedStep<'p>,
        end: usize,
    },
    /// Begins an object in a list that is null if it fails, up to the step `end`.
    OpenElement {
        end: usize,
    },
    /// A value of a typed document.
    TypedLeaf {
        typed: TypedStep<'p>,
        leaf: &'p LeafType,
    },
    /// The name of the member that the read found.
    EntryKey(ReadAt),
    /// The value at the place with this many segments below the element of the scope, with only the
    /// parts that were read.
    Picked {
        scope: usize,
        reads: Vec<usize>,
        above: usize,
        position: usize,
    },
    /// The value that was read without this many parts.
    Remainder {
        read: ReadAt,
        omitted: usize,
        position: usize,
    },
    /// The value that was read between two paths.
    Between {
        read: ReadAt,
        position: usize,
    },
    /// Begins a list of this many values.
    List(usize),
    /// Fails if the lookup with this number has failed. What it found cannot be null.
    Found {
        lookup: usize,
        position: usize,
    },
    /// Writes what the lookup with this number found: a list, or its only element. The steps of one
    /// element follow, up to the step `end`.
    Elements {
        lookup: usize,
        end: usize,
        is_list: bool,
    },
    /// The length that the lookup with this number found.
    Length {
        lookup: usize,
        position: usize,
    },
    /// Fails the field at this position.
    Fail {
        error: Box<Error>,
        position: usize,
        nullable: bool,
    },
    /// The text or JSON that the lookup with this number found.
    FoundText {
        lookup: usize,
        position: usize,
    },
    /// The text of the subgraph schema, as JSON.
    Sdl,
    /// A field of the current element of this scope.
    OfElement(usize, ElementField),
    /// An aggregate of the values with this number in the current group of this scope.
    OfValues {
        scope: usize,
        field: ValuesField,
        number: usize,
    },
    /// The cursor of the current element of this scope.
    Cursor(usize),
    /// A field of the page that the lookup with this number found.
    OfPage(usize, PageField),
    Version {
        read: ReadAt,
        position: usize,
    },
    Kind {
        read: ReadAt,
        position: usize,
    },
    Path(ReadAt),
    /// The id, key or collection of a document. They can be long, so they are written from the
    /// document for each field that selects them.
    DocumentId(DocumentAt),
    Key(DocumentAt),
    Collection(DocumentAt),
    /// The id of the place that the read found.
    SubdocumentId {
        document: DocumentAt,
        read: ReadAt,
    },
}

/// What a step of a typed document has besides its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypedStep<'p> {
    pub(crate) document: DocumentAt,
    pub(crate) read: ReadAt,
    pub(crate) place: &'p TypedPlace,
    pub(crate) position: usize,
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
    /// The current element of a scope.
    CurrentElement(usize),
}
