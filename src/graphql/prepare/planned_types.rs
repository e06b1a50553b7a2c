//! The types of the schema that selections are planned for, and the fields of results.

use super::plan::{ElementField, MutationFunction};

/// The type that a selection belongs to.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Query,
    Document,
    Subdocument,
    Page,
    Edge,
    ChildPage,
    ChildEdge,
    PageInfo,
    QueryPlan,
    Aggregation,
    AggregationPlan,
    Group,
    Collection,
    Index,
    Service,
    Mutation,
    Deletion,
    Append,
    BulkResult,
    UpdateResult,
    CollectionDrop,
    Change,
}

impl Of {
    /// The name of the type, and the name as JSON.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Query => ("Query", "\"Query\""),
            Self::Document => ("Document", "\"Document\""),
            Self::Subdocument => ("Subdocument", "\"Subdocument\""),
            Self::Page => ("DocumentConnection", "\"DocumentConnection\""),
            Self::Edge => ("DocumentEdge", "\"DocumentEdge\""),
            Self::ChildPage => ("SubdocumentConnection", "\"SubdocumentConnection\""),
            Self::ChildEdge => ("SubdocumentEdge", "\"SubdocumentEdge\""),
            Self::PageInfo => ("PageInfo", "\"PageInfo\""),
            Self::QueryPlan => ("DocumentQueryPlan", "\"DocumentQueryPlan\""),
            Self::Aggregation => ("DocumentAggregation", "\"DocumentAggregation\""),
            Self::AggregationPlan => ("DocumentAggregationPlan", "\"DocumentAggregationPlan\""),
            Self::Group => ("DocumentGroup", "\"DocumentGroup\""),
            Self::Collection => ("DocumentCollection", "\"DocumentCollection\""),
            Self::Index => ("DocumentIndex", "\"DocumentIndex\""),
            Self::Service => ("_Service", "\"_Service\""),
            Self::Mutation => ("Mutation", "\"Mutation\""),
            Self::Deletion => ("DocumentDeletion", "\"DocumentDeletion\""),
            Self::Append => ("DocumentAppend", "\"DocumentAppend\""),
            Self::BulkResult => ("DocumentBulkResult", "\"DocumentBulkResult\""),
            Self::UpdateResult => ("DocumentUpdateResult", "\"DocumentUpdateResult\""),
            Self::CollectionDrop => ("DocumentCollectionDrop", "\"DocumentCollectionDrop\""),
            Self::Change => ("DocumentChange", "\"DocumentChange\""),
        }
    }
}

/// The function that a field of `Mutation` calls, and the type of its result. None for a scalar.
pub(super) fn function(field: &str) -> Option<(MutationFunction, Option<Of>)> {
    let (function, result) = match field {
        "insertDocument" => (MutationFunction::InsertDocument, Of::Document),
        "replaceDocument" => (MutationFunction::ReplaceDocument, Of::Document),
        "copyDocument" => (MutationFunction::CopyDocument, Of::Document),
        "testDocument" => (MutationFunction::TestDocument, Of::Document),
        "mergeDocument" => (MutationFunction::MergeDocument, Of::Document),
        "patchDocument" => (MutationFunction::PatchDocument, Of::Document),
        "incrementDocument" => (MutationFunction::IncrementDocument, Of::Document),
        "deleteDocument" => (MutationFunction::DeleteDocument, Of::Deletion),
        "appendDocument" => (MutationFunction::AppendDocument, Of::Append),
        "updateDocuments" => (MutationFunction::UpdateDocuments, Of::BulkResult),
        "deleteDocuments" => (MutationFunction::DeleteDocuments, Of::BulkResult),
        "takeDocuments" => (MutationFunction::TakeDocuments, Of::Deletion),
        "createIndex" => (MutationFunction::CreateIndex, Of::Index),
        "dropIndex" => return Some((MutationFunction::DropIndex, None)),
        "dropCollection" => (MutationFunction::DropCollection, Of::CollectionDrop),
        _ => return None,
    };
    Some((function, Some(result)))
}

/// A field of the result of a mutation, or of a change, that is known without a read.
pub(super) fn field_of_result(of: Of, name: &str) -> Option<ElementField> {
    Some(match (of, name) {
        (Of::Deletion, "key") => ElementField::DeletionKey,
        (Of::Deletion, "deleted") => ElementField::Deleted,
        (Of::Deletion, "deletedId") => ElementField::DeletedId,
        (Of::Deletion, "value") => ElementField::DeletedValue,
        (Of::Append, "documentId") => ElementField::AppendedId,
        (Of::Append, "key") => ElementField::AppendedKey,
        (Of::Append, "collection") => ElementField::AppendedCollection,
        (Of::Append, "version") => ElementField::AppendedVersion,
        (Of::BulkResult, "matched") => ElementField::Matched,
        (Of::BulkResult, "changed") => ElementField::Changed,
        (Of::BulkResult, "unchanged") => ElementField::Unchanged,
        (Of::UpdateResult, "operator") => ElementField::UpdateOperator,
        (Of::UpdateResult, "at") => ElementField::UpdateAt,
        (Of::UpdateResult, "places") => ElementField::UpdatePlaces,
        (Of::CollectionDrop, "collection") => ElementField::DroppedCollection,
        (Of::CollectionDrop, "documents") => ElementField::DroppedDocuments,
        (Of::Change, "cursor") => ElementField::ChangeCursor,
        (Of::Change, "version") => ElementField::ChangeVersion,
        (Of::Change, "collection") => ElementField::ChangeCollection,
        (Of::Change, "key") => ElementField::ChangeKey,
        (Of::Change, "kind") => ElementField::ChangeKind,
        (Of::Change, "paths") => ElementField::ChangePaths,
        (Of::Change, "resync") => ElementField::ChangeResync,
        _ => return None,
    })
}
