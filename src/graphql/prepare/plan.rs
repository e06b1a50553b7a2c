//! A plan of an operation: the places and lists that it reads, with the variables left open.

use async_graphql::{Name, Pos, Positioned};
use async_graphql_value::Value as Input;

use super::condition::FieldCondition;
use super::introspection::Introspection;
use crate::document::path::Path;

/// A plan of a query, of a mutation, or of a subscription.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) root: Selection,
    /// The number of fields.
    pub(crate) fields: usize,
    /// The fields that introspect the schema, if there are any.
    pub(crate) introspection: Option<Introspection>,
}

/// The fields that are selected from an object. Fragments are expanded, and fields of the same response
/// name are merged.
#[derive(Debug)]
pub(crate) struct Selection(pub(crate) Vec<PlannedField>);

#[derive(Debug)]
pub(crate) struct PlannedField {
    /// The name of the field in the response.
    pub(crate) key: Name,
    /// `,"name":`
    pub(crate) name: Box<[u8]>,
    /// The position of the field in the query.
    pub(crate) pos: Pos,
    pub(crate) conditions: Vec<FieldCondition>,
    /// The conditions of earlier occurrences of the field in the selection. If one of them is included,
    /// the field is there.
    pub(crate) earlier: Vec<Vec<FieldCondition>>,
    /// Whether the field can be null, so that its error makes only the field null.
    pub(crate) nullable: bool,
    pub(crate) field: Field,
}

#[derive(Debug)]
pub(crate) enum Field {
    /// A field of `Mutation`
    Mutation(PlannedMutation),
    /// `Subscription.changes`
    Change(Selection),
    /// `Query.document`
    Document {
        collection: Option<Input>,
        id: Input,
        path: Where,
        below: Selection,
    },
    /// `Query._entities`
    Entities {
        representations: Input,
        below: Selection,
    },
    /// `Query.node`
    NodeById(Input, NodeSelection),
    /// `Query.nodes`
    NodesById(Input, NodeSelection),
    /// `Query.aggregate`, with its arguments.
    Aggregate(Vec<(Name, Input)>, Selection),
    /// `Query.__schema` or `Query.__type`: its number in [`Plan::introspection`].
    Introspection(usize),
    /// `Query.changesCursor`
    ChangesCursor,
    /// `Query.collections`
    Collections(Selection),
    /// `Query._service`
    Service(Selection),
    /// `_Service.sdl`
    Sdl,
    /// `DocumentAggregation.groups`
    Groups(Selection),
    /// `sum`, `average`, `min` or `max` of a group, with the argument `of`.
    OfValues(ValuesField, Input),
    /// `DocumentCollection.indexes`
    Indexes(Selection),
    /// `DocumentBulkResult.updates`
    Updates(Selection),
    /// `document` of a deletion or of a change.
    DocumentNow(Selection),
    /// `DocumentChange.patch`
    Patch,
    /// A field of an element that is known when it is found.
    OfElement(ElementField),
    /// `__typename`, as JSON.
    Typename(&'static str),
    /// `Document.id`
    DocumentId,
    /// `Subdocument.id`
    SubdocumentId,
    Key,
    Collection,
    Path,
    Version,
    Kind,
    Value(Where),
    Values(Paths),
    Pick(Paths),
    Omit(Paths),
    Subdocument(Where, Selection),
    /// `Subdocument.document`
    Whole(Selection),
    /// `select`, with its argument `query`.
    Select(Input, Selection),
    Length,
    /// `children`, with its arguments.
    Children(Vec<(Name, Input)>, Selection),
    /// `Query.documents`, with its arguments.
    Documents(Vec<(Name, Input)>, Selection),
    /// `nodes` of a page: the selection of each document or child.
    Nodes(Selection),
    /// `edges` of a page: the selection of each edge.
    Edges(Selection),
    /// `node` of an edge.
    Node(Selection),
    /// `cursor` of an edge.
    Cursor,
    /// `pageInfo` or `plan` of a page.
    AboutPage(Selection),
    /// A field that is known when the documents or children are found.
    OfPage(PageField),
}

/// A scalar field of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageField {
    TotalCount,
    /// Fields of `PageInfo`.
    HasNextPage,
    HasPreviousPage,
    StartCursor,
    EndCursor,
    /// Fields of `DocumentQueryPlan`.
    Index,
    Partial,
    Scanned,
    Examined,
    Covered,
    Returned,
    TotalCountReason,
    /// `DocumentAggregation.groupCount`
    GroupCount,
}

/// An aggregate of the values of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValuesField {
    Sum,
    Average,
    Min,
    Max,
}

/// A field of a group, a collection or an index, of the result of a mutation, or of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementField {
    /// Fields of `DocumentGroup`.
    GroupKey,
    GroupCount,
    /// Fields of `DocumentCollection`.
    CollectionName,
    CollectionCount,
    /// Fields of `DocumentIndex`.
    IndexName,
    IndexOn,
    IndexUnique,
    IndexWhere,
    IndexState,
    IndexError,
    /// Fields of `DocumentDeletion`.
    DeletionKey,
    Deleted,
    DeletedId,
    DeletedValue,
    /// Fields of `DocumentAppend`.
    AppendedId,
    AppendedKey,
    AppendedCollection,
    AppendedVersion,
    /// Fields of `DocumentBulkResult`.
    Matched,
    Changed,
    Unchanged,
    /// Fields of `DocumentUpdateResult`.
    UpdateOperator,
    UpdateAt,
    UpdatePlaces,
    /// Fields of `DocumentCollectionDrop`.
    DroppedCollection,
    DroppedDocuments,
    /// Fields of `DocumentChange`.
    ChangeCursor,
    ChangeVersion,
    ChangeCollection,
    ChangeKey,
    ChangeKind,
    ChangePaths,
    ChangeResync,
}

/// A field of `Mutation`: the function that it calls, and what is selected from its result.
#[derive(Debug)]
pub(crate) struct PlannedMutation {
    pub(crate) function: MutationFunction,
    /// With their positions in the query.
    pub(crate) arguments: Vec<(Positioned<Name>, Positioned<Input>)>,
    /// Empty if the result is a scalar.
    pub(crate) below: Selection,
    /// The number of fields in it.
    pub(crate) fields: usize,
}

/// The function that a field of `Mutation` calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MutationFunction {
    InsertDocument,
    ReplaceDocument,
    CopyDocument,
    TestDocument,
    MergeDocument,
    PatchDocument,
    IncrementDocument,
    DeleteDocument,
    AppendDocument,
    UpdateDocuments,
    DeleteDocuments,
    TakeDocuments,
    CreateIndex,
    DropIndex,
    DropCollection,
}

/// The selection of an object that is a `Document` or a `Subdocument`.
#[derive(Debug)]
pub(crate) struct NodeSelection {
    pub(crate) of_document: Selection,
    pub(crate) of_subdocument: Selection,
}

/// The path in an argument.
#[derive(Debug)]
pub(crate) enum Where {
    Fixed(Path),
    /// The value of the argument, which contains variables.
    Given(Input),
}

/// The paths in an argument that is a list.
#[derive(Debug)]
pub(crate) enum Paths {
    Listed(Vec<Where>),
    /// A variable that is the whole list.
    Variable(Name),
}
