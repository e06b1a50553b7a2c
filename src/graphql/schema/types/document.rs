//! The types `Document` and `Subdocument`. Their fields are executed from plans.
#![expect(
    unused_variables,
    clippy::unused_async,
    clippy::too_many_arguments,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{Enum, ID, Object};

use super::page::PageInfo;
use crate::error::Result;
use crate::graphql::scalars::types::{Json, JsonPath, PathScalar, SegmentScalar, VersionScalar};
use crate::graphql::schema::declared::declared;

/// The kinds of JSON values.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "JSONKind")]
pub(crate) enum JsonKind {
    /// An object, empty or not.
    Object,
    /// An array, empty or not.
    Array,
    /// A string.
    String,
    /// A number, integer or not.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A stored null.
    Null,
}

pub(crate) struct Document;

/// A whole document; an entity in a federated graph.
#[Object]
impl Document {
    /// The global id: `COLLECTION/KEY`, both percent-encoded. A document has the same id in every query.
    pub(crate) async fn id(&self) -> Result<ID> {
        declared()
    }

    /// The key of the document in its collection, which `document(id:)` and the mutations take: the decimal text of a 64-bit integer, or a string.
    async fn key(&self) -> Result<ID> {
        declared()
    }

    /// The name of the collection that holds the document.
    async fn collection(&self) -> Result<String> {
        declared()
    }

    #[graphql(flatten)]
    fn fields(&self) -> ValueFields {
        ValueFields
    }
}

pub(crate) struct Subdocument;

/// The value at one path of a document.
#[Object]
impl Subdocument {
    /// The global id: `COLLECTION/KEY#POINTER`, percent-encoded, where POINTER is the JSON Pointer of the path. It identifies a path, not a value: when array elements move, another value has this id.
    pub(crate) async fn id(&self) -> Result<ID> {
        declared()
    }

    /// The document that contains this part.
    async fn document(&self) -> Result<Document> {
        declared()
    }

    /// The path in the document, in list form.
    async fn path(&self) -> Result<PathScalar> {
        declared()
    }

    #[graphql(flatten)]
    fn fields(&self) -> ValueFields {
        ValueFields
    }
}

/// The fields that `Document` and `Subdocument` share. The type is not in the schema.
struct ValueFields;

#[Object]
impl ValueFields {
    /// The commit that last changed the document; null if Phyllo has not written it.
    async fn version(&self) -> Result<Option<VersionScalar>> {
        declared()
    }

    /// The kind of the JSON value.
    async fn kind(&self) -> Result<JsonKind> {
        declared()
    }

    /// The JSON of this value, or of the part at `path` below it. Null if nothing is stored there, or if the stored value is null.
    async fn value(
        &self,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path relative to this value; the empty path is this value."
        )]
        path: Option<PathScalar>,
    ) -> Result<Option<Json>> {
        declared()
    }

    /// The JSON of the parts at `paths` below this value, in their order. Null where nothing is stored, or where the stored value is null.
    async fn values(
        &self,
        #[graphql(desc = "Paths relative to this value; at most 1,000.")] paths: Vec<PathScalar>,
    ) -> Result<Vec<Option<Json>>> {
        declared()
    }

    /// The JSON of this value with only the parts at `paths`, each at its place. Picked elements of an array keep their order and leave no holes. Paths at which nothing is stored are ignored; null if there is nothing at any of them. The empty path picks the whole value.
    async fn pick(
        &self,
        #[graphql(desc = "Paths relative to this value; at most 1,000.")] paths: Vec<PathScalar>,
    ) -> Result<Option<Json>> {
        declared()
    }

    /// The JSON of this value without the parts at `paths`. Later elements of an array move up. Paths at which nothing is stored are ignored. The omitted parts are not read. Null if a path is empty, which omits the whole value.
    async fn omit(
        &self,
        #[graphql(desc = "Paths relative to this value; at most 1,000.")] paths: Vec<PathScalar>,
    ) -> Result<Option<Json>> {
        declared()
    }

    /// The part at `path` below this value; null if nothing is stored there.
    async fn subdocument(
        &self,
        #[graphql(desc = "The path relative to this value.")] path: PathScalar,
    ) -> Result<Option<Subdocument>> {
        declared()
    }

    /// The parts that a JSONPath query selects, in the order of RFC 9535 (object members by name), including duplicates. Only what the names, indexes and slices at the beginning of the query name is read.
    async fn select(
        &self,
        #[graphql(desc = "The query; `$` is this value.")] query: JsonPath,
    ) -> Result<Vec<Subdocument>> {
        declared()
    }

    /// The number of elements of an array, of members of an object, or of Unicode characters (code points) of a string; null for other values. The length of an array is read from its last element.
    async fn length(&self) -> Result<Option<i32>> {
        declared()
    }

    /// A page of the members of an object or the elements of an array, one level down. Members are sorted by the UTF-8 bytes of their names, elements by index. `prefix`, `from` and `to` bound the children that the pages have: by name in an object, by index in an array. Page forwards with `first` and `after`, or backwards with `last` and `before`.
    async fn children(
        &self,
        #[graphql(desc = "The page size when paging forwards; 100 by default, at most 10,000.")]
        first: Option<i32>,
        #[graphql(desc = "The page begins after this cursor.")] after: Option<String>,
        #[graphql(desc = "The page size when paging backwards; 100 by default, at most 10,000.")]
        last: Option<i32>,
        #[graphql(desc = "The page ends before this cursor.")] before: Option<String>,
        #[graphql(desc = "Only members whose names begin with this.")] prefix: Option<String>,
        #[graphql(desc = "Only children from this name or index.")] from: Option<SegmentScalar>,
        #[graphql(desc = "Only children before this name or index.")] to: Option<SegmentScalar>,
    ) -> Result<SubdocumentConnection> {
        declared()
    }
}

pub(crate) struct SubdocumentConnection;

/// A page of children.
#[Object]
impl SubdocumentConnection {
    /// The children, each with its cursor.
    async fn edges(&self) -> Result<Vec<SubdocumentEdge>> {
        declared()
    }

    /// The children.
    async fn nodes(&self) -> Result<Vec<Subdocument>> {
        declared()
    }

    /// Whether there are more pages, and the cursors to request them.
    async fn page_info(&self) -> Result<PageInfo> {
        declared()
    }
}

pub(crate) struct SubdocumentEdge;

/// A child and its cursor.
#[Object]
impl SubdocumentEdge {
    /// Pass it as `after` to request the children after this one, or as `before` to request those before it.
    async fn cursor(&self) -> Result<String> {
        declared()
    }

    /// The child.
    async fn node(&self) -> Result<Subdocument> {
        declared()
    }
}
