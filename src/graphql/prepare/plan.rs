//! A plan of an operation: the places and lists that it reads, with the variables left open.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_graphql::{Name, Pos, Positioned};
use async_graphql_value::Value as Input;

use super::condition::FieldCondition;
use super::introspection::Introspection;
use super::prepared_memory::PartMemory;
use crate::document::path::Path;
use crate::graphql::schema::typed::typed_fields::{
    TypedInverse, TypedPage, TypedPlace, TypedReference,
};
use crate::graphql::schema::typed::typed_inputs::TypedInputs;
use crate::graphql::schema::typed::typed_writes::TypedWrites;

/// A plan of a query, of a mutation, or of a subscription.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) root: Selection,
    pub(crate) size: PlanSize,
    pub(super) memory: PartMemory,
    /// The fields that introspect the schema, if there are any.
    pub(crate) introspection: Option<Introspection>,
}

impl Plan {
    /// Whether its mutations can change the types of collections.
    pub(crate) fn can_change_types(&self) -> bool {
        let mut selected = self.root.0.iter();
        selected.any(|selected| match &selected.field {
            Field::Mutation(planned) => matches!(
                planned.function,
                MutationFunction::SetCollectionType
                    | MutationFunction::DropCollectionType
                    | MutationFunction::DropCollection
            ),
            _ => false,
        })
    }
}

/// How much of a plan is bound to variables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlanSize {
    /// The number of fields.
    pub(crate) fields: usize,
    /// The number of paths in lists of the text.
    pub(crate) paths: usize,
    /// The number of arguments for paths, and for lists of paths, that have variables.
    pub(crate) given_paths: usize,
}

impl PlanSize {
    /// The size of a selection that is bound so many times.
    pub(crate) fn times(self, count: usize) -> Self {
        Self {
            fields: self.fields.saturating_mul(count),
            paths: self.paths.saturating_mul(count),
            given_paths: self.given_paths.saturating_mul(count),
        }
    }

    /// The size of what was planned after a plan had the size `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            fields: self.fields - before.fields,
            paths: self.paths - before.paths,
            given_paths: self.given_paths - before.given_paths,
        }
    }
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
    /// A number that all occurrences of this response name in the selection have, from 0. Only the first
    /// one that is included is executed. `None` if there is one occurrence.
    pub(crate) repeated: Option<usize>,
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
    /// A field of `Query` that returns a document of a collection with a type.
    TypedDocument {
        collection: Arc<str>,
        key: Input,
        below: Selection,
    },
    /// A field of `Query` that returns a page of such documents.
    TypedDocuments(TypedPageSelection),
    /// `nodes` of such a page: the selection of each document.
    TypedNodes(Selection),
    /// `node` of an edge of such a page.
    TypedNode(Selection),
    /// A field of an object of such a document.
    Typed(TypedSelection),
    /// `key` of an entry of a map in such a document.
    EntryKey,
    /// A field that follows a reference.
    Reference(ReferenceSelection),
    /// A field that returns the documents which refer to one.
    Inverse(InverseSelection),
    /// `Document.follow`
    Follow(FollowSelection),
    /// `Query._entities`
    Entities {
        representations: Input,
        below: EntitySelection,
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
    /// `Query.collections`, with its argument `name`.
    Collections(Option<Input>, Selection),
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
    /// `DocumentCollection.type`
    CollectionType(Selection),
    /// `DocumentCollectionType.violations` and `DocumentCollectionTypeChange.violations`
    TypeViolations(Selection),
    /// `DocumentBulkResult.updates`
    Updates(Selection),
    /// `document` of a deletion or of a change.
    DocumentNow(Selection),
    /// `DocumentChange.patch`
    Patch,
    /// A field of an element that is known when it is found.
    OfElement(ElementField),
    /// `__typename`, as JSON.
    Typename(Box<str>),
    /// `__typename` of an entity, whose type is not known before.
    EntityTypename,
    /// `Document.id`
    DocumentId,
    /// `Subdocument.id`
    SubdocumentId,
    Key,
    Collection,
    Path,
    Version,
    /// `Document.created`
    Created,
    Kind,
    Value(Where),
    Values(Paths),
    Pick(Paths),
    Omit(Paths),
    /// `range`, with its arguments `from` and `to`.
    Range(Where, Where),
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

/// Declares fields that are planned by their type and their name in the schema alone.
macro_rules! schema_fields {
    ($(#[$doc:meta])* $fields:ident { $($($ty:literal)|+: $($name:literal => $field:ident),+;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $fields { $($($field,)+)+ }

        impl $fields {
            /// The field of a type with this name. None if there is none.
            pub(super) fn of(ty: &str, name: &str) -> Option<Self> {
                Some(match ty {
                    $($($ty)|+ => match name {
                        $($name => Self::$field,)+
                        _ => return None,
                    },)+
                    _ => return None,
                })
            }
        }
    };
}

schema_fields! {
    /// A field of a page or of groups, of its `pageInfo` or of its `plan`.
    PageField {
        "DocumentConnection": "totalCount" => TotalCount;
        "DocumentAggregation": "groupCount" => GroupCount;
        "PageInfo": "hasNextPage" => HasNextPage, "hasPreviousPage" => HasPreviousPage,
            "startCursor" => StartCursor, "endCursor" => EndCursor;
        "DocumentQueryPlan" | "DocumentAggregationPlan": "index" => Index, "partial" => Partial, "scanned" => Scanned,
            "examined" => Examined, "covered" => Covered, "returned" => Returned,
            "totalCountReason" => TotalCountReason;
    }
}

schema_fields! {
    /// An aggregate of the values of a group.
    ValuesField {
        "DocumentGroup": "sum" => Sum, "average" => Average, "min" => Min, "max" => Max;
    }
}

schema_fields! {
    /// A field of an element that is known when it is found: of a group, a collection, an index or a type, of the
    /// result of a mutation, or of a change.
    ElementField {
        "DocumentGroup": "key" => GroupKey, "count" => GroupCount;
        "DocumentCollection": "name" => CollectionName, "count" => CollectionCount;
        "DocumentIndex": "name" => IndexName, "on" => IndexOn, "unique" => IndexUnique,
            "where" => IndexWhere, "state" => IndexState, "indexed" => IndexIndexed,
            "error" => IndexError;
        "DocumentCollectionType": "schema" => TypeSchema, "state" => TypeState, "checked" => TypeChecked,
            "text" => TypeText;
        "DocumentCollectionTypeViolation": "key" => MisfitKey, "place" => MisfitPlace,
            "keyword" => MisfitKeyword, "expected" => MisfitExpected, "value" => MisfitValue;
        "DocumentCollectionTypeChange": "collection" => TypedCollection, "effect" => TypeEffect,
            "state" => ChangedTypeState, "examined" => TypeExamined, "complete" => TypeComplete;
        "DocumentDeletion": "key" => DeletionKey, "deleted" => Deleted, "deletedId" => DeletedId,
            "value" => DeletedValue;
        "DocumentAppend": "documentId" => AppendedId, "key" => AppendedKey,
            "collection" => AppendedCollection, "version" => AppendedVersion;
        "DocumentBulkResult": "matched" => Matched, "changed" => Changed, "unchanged" => Unchanged,
            "examined" => BulkExamined, "next" => BulkNext;
        "DocumentWriteResult": "key" => WrittenKey, "collection" => WrittenCollection,
            "created" => WrittenCreated, "deleted" => WrittenDeleted;
        "DocumentUpdateResult": "operator" => UpdateOperator, "at" => UpdateAt, "places" => UpdatePlaces;
        "DocumentCollectionDrop": "collection" => DroppedCollection, "documents" => DroppedDocuments;
        "DocumentChange": "cursor" => ChangeCursor, "version" => ChangeVersion,
            "collection" => ChangeCollection, "key" => ChangeKey, "kind" => ChangeKind,
            "paths" => ChangePaths, "resync" => ChangeResync,
            "time" => ChangeTime;
    }
}

schema_fields! {
    /// The function that a field of `Mutation` calls.
    MutationFunction {
        "Mutation": "insertDocument" => InsertDocument, "replaceDocument" => ReplaceDocument,
            "copyDocument" => CopyDocument, "testDocument" => TestDocument,
            "mergeDocument" => MergeDocument, "patchDocument" => PatchDocument,
            "incrementDocument" => IncrementDocument, "deleteDocument" => DeleteDocument,
            "appendDocument" => AppendDocument, "updateDocument" => UpdateDocument,
            "updateDocuments" => UpdateDocuments,
            "writeDocuments" => WriteDocuments, "deleteDocuments" => DeleteDocuments, "takeDocuments" => TakeDocuments,
            "createIndex" => CreateIndex, "dropIndex" => DropIndex,
            "dropCollection" => DropCollection, "setCollectionType" => SetCollectionType,
            "dropCollectionType" => DropCollectionType;
    }
}

/// A field of `Mutation`: the function that it calls, and what is selected from its result.
#[derive(Debug)]
pub(crate) struct PlannedMutation {
    /// The name of the field in the schema.
    pub(crate) name: Name,
    pub(crate) function: MutationFunction,
    /// With their positions in the query.
    pub(crate) arguments: Vec<(Positioned<Name>, Positioned<Input>)>,
    /// The argument that has a typed document, if there is one.
    pub(crate) typed: Option<TypedArgument>,
    /// Empty if the result is a scalar.
    pub(crate) below: Selection,
    /// Its size.
    pub(crate) size: PlanSize,
}

/// The selection of an object that is a `Document` or a `Subdocument`.
#[derive(Debug)]
pub(crate) struct NodeSelection {
    pub(crate) of_document: Selection,
    pub(crate) of_subdocument: Selection,
}

/// An argument of a mutation that is a typed document or a patch of one.
#[derive(Debug)]
pub(crate) struct TypedArgument {
    /// Its name in the function.
    pub(crate) name: &'static str,
    /// The name of its type.
    pub(crate) input: String,
    pub(crate) writes: TypedWrites,
}

/// The selection of a page of documents of a collection with a type.
#[derive(Debug)]
pub(crate) struct TypedPageSelection {
    pub(crate) page: Arc<TypedPage>,
    /// What the filters and orders in the arguments mean.
    pub(crate) inputs: TypedInputs,
    pub(crate) arguments: Vec<(Name, Input)>,
    pub(crate) below: Selection,
}

/// The selection of a place in a document of a collection with a type.
#[derive(Debug)]
pub(crate) struct TypedSelection {
    /// The path in the object around it.
    pub(crate) path: Path,
    pub(crate) place: Arc<TypedPlace>,
    /// The arguments of a list or a map.
    pub(crate) arguments: Vec<(Name, Input)>,
    /// The selection of the object, of each element, or of each entry. Empty for values without
    /// selections.
    pub(crate) below: Selection,
}

/// The selection of the documents that a reference leads to.
#[derive(Debug)]
pub(crate) struct ReferenceSelection {
    pub(crate) reference: Arc<TypedReference>,
    /// The arguments of a list.
    pub(crate) arguments: Vec<(Name, Input)>,
    pub(crate) below: Selection,
}

/// The selection of the documents that refer to one.
#[derive(Debug)]
pub(crate) struct InverseSelection {
    pub(crate) inverse: Arc<TypedInverse>,
    pub(crate) page: TypedPageSelection,
}

/// The selection of the documents that `follow` finds.
#[derive(Debug)]
pub(crate) struct FollowSelection {
    pub(crate) path: Where,
    pub(crate) collection: Option<Input>,
    pub(crate) first: Option<Input>,
    pub(crate) below: Selection,
}

/// The selection of an entity.
#[derive(Debug)]
pub(crate) struct EntitySelection {
    pub(crate) of_document: Selection,
    /// The selections of the types of collections that fragments name.
    pub(crate) typed: HashMap<String, Selection>,
    /// The selection of the other types of collections.
    pub(crate) of_others: Selection,
    /// The collection of each of these types.
    pub(crate) collections: Arc<BTreeMap<String, Arc<str>>>,
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
