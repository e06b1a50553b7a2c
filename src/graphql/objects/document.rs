//! The types `Document` and `Subdocument`.

use async_graphql::{Context, Enum, ID, Object, SimpleObject};

use super::children::Connection;
use super::located::Located;
use super::page::{AskedPage, PageInfo};
use crate::database::ChildBounds;
use crate::document::leaf;
use crate::error::Result;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::node_id;
use crate::graphql::scalars::types::{Json, JsonPath, PathScalar, SegmentScalar, VersionScalar};

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

impl JsonKind {
    /// The name of the kind in the schema.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "OBJECT",
            Self::Array => "ARRAY",
            Self::String => "STRING",
            Self::Number => "NUMBER",
            Self::Boolean => "BOOLEAN",
            Self::Null => "NULL",
        }
    }
}

impl From<leaf::Kind> for JsonKind {
    fn from(kind: leaf::Kind) -> Self {
        match kind {
            leaf::Kind::Object => Self::Object,
            leaf::Kind::Array => Self::Array,
            leaf::Kind::String => Self::String,
            leaf::Kind::Number => Self::Number,
            leaf::Kind::Boolean => Self::Boolean,
            leaf::Kind::Null => Self::Null,
        }
    }
}

pub(crate) struct Document(pub(crate) Located);

/// A whole document; an entity in a federated graph.
#[Object]
impl Document {
    /// The global id: `COLLECTION/KEY`, both percent-encoded. A document has the same id in every query.
    pub(crate) async fn id(&self) -> CountedBytes<ID> {
        CountedBytes(ID(node_id::of_document(&self.0.document)))
    }

    /// The key of the document in its collection, which `document(id:)` and the mutations take: the decimal text of a 64-bit integer, or a string.
    async fn key(&self) -> CountedBytes<ID> {
        CountedBytes(ID(self.0.document.id.to_string()))
    }

    /// The name of the collection that holds the document.
    async fn collection(&self) -> CountedBytes<&str> {
        CountedBytes(&self.0.document.collection)
    }

    #[graphql(flatten)]
    fn fields(&self) -> ValueFields<'_> {
        ValueFields(&self.0)
    }
}

pub(crate) struct Subdocument(pub(crate) Located);

/// The value at one path of a document.
#[Object]
impl Subdocument {
    /// The global id: `COLLECTION/KEY#POINTER`, percent-encoded, where POINTER is the JSON Pointer of the path. It identifies a path, not a value: when array elements move, another value has this id.
    pub(crate) async fn id(&self) -> CountedBytes<ID> {
        CountedBytes(ID(node_id::of_subdocument(&self.0.document, &self.0.place)))
    }

    /// The document that contains this part.
    async fn document(&self) -> Document {
        Document(self.0.whole())
    }

    /// The path in the document, in list form.
    async fn path(&self) -> CountedBytes<PathScalar> {
        CountedBytes(PathScalar::from(&self.0.place))
    }

    #[graphql(flatten)]
    fn fields(&self) -> ValueFields<'_> {
        ValueFields(&self.0)
    }
}

/// The fields that `Document` and `Subdocument` share. The type is not in the schema.
struct ValueFields<'l>(&'l Located);

#[Object]
impl ValueFields<'_> {
    /// The commit that last changed the document; null if Phyllo has not written it.
    async fn version(&self, context: &Context<'_>) -> Option<Result<VersionScalar>> {
        self.0.version(context).await.transpose()
    }

    /// The kind of the JSON value.
    async fn kind(&self, context: &Context<'_>) -> Result<JsonKind> {
        self.0.kind(context).await.map(JsonKind::from)
    }

    /// The JSON of this value, or of the part at `path` below it. Null if nothing is stored there, or if the stored value is null.
    async fn value(
        &self,
        context: &Context<'_>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path relative to this value; the empty path is this value."
        )]
        path: Option<PathScalar>,
    ) -> Option<Result<Json>> {
        self.0.value(context, path).await.transpose()
    }

    /// The JSON of the parts at `paths` below this value, in their order. Null where nothing is stored, or where the stored value is null.
    async fn values(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Paths relative to this value; at most 1,000.")] paths: Vec<PathScalar>,
    ) -> Result<Vec<Option<Result<Json>>>> {
        self.0.values(context, &paths).await
    }

    /// The JSON of this value with only the parts at `paths`, each at its place. Picked elements of an array keep their order and leave no holes. Paths at which nothing is stored are ignored; null if there is nothing at any of them. The empty path picks the whole value.
    async fn pick(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Paths relative to this value; at most 1,000.")] paths: Vec<PathScalar>,
    ) -> Option<Result<Json>> {
        self.0.pick(context, &paths).await.transpose()
    }

    /// The JSON of this value without the parts at `paths`. Later elements of an array move up. Paths at which nothing is stored are ignored. The omitted parts are not read. Null if a path is empty, which omits the whole value.
    async fn omit(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Paths relative to this value; at most 1,000.")] paths: Vec<PathScalar>,
    ) -> Option<Result<Json>> {
        self.0.omit(context, &paths).await.transpose()
    }

    /// The part at `path` below this value; null if nothing is stored there.
    async fn subdocument(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The path relative to this value.")] path: PathScalar,
    ) -> Option<Result<Subdocument>> {
        let at = self.0.at(context, &path).await.transpose()?;
        Some(at.map(Subdocument))
    }

    /// The parts that a JSONPath query selects, in the order of RFC 9535 (object members by name), including duplicates. Only what the names, indexes and slices at the beginning of the query name is read.
    async fn select(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The query; `$` is this value.")] query: JsonPath,
    ) -> Result<Vec<Subdocument>> {
        let selected = self.0.select(context, &query).await?;
        Ok(selected.into_iter().map(Subdocument).collect())
    }

    /// The number of elements of an array, of members of an object, or of Unicode characters (code points) of a string; null for other values. The length of an array is read from its last element.
    async fn length(&self, context: &Context<'_>) -> Option<Result<i32>> {
        self.0.length(context).await.transpose()
    }

    /// A page of the members of an object or the elements of an array, one level down. Members are sorted by the UTF-8 bytes of their names, elements by index. `prefix`, `from` and `to` bound the children that the pages have: by name in an object, by index in an array. Page forwards with `first` and `after`, or backwards with `last` and `before`.
    #[expect(clippy::too_many_arguments, reason = "they are the field's")]
    async fn children(
        &self,
        context: &Context<'_>,
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
        let requested = AskedPage {
            first,
            after,
            last,
            before,
        };
        let within = ChildBounds {
            prefix,
            from: from.map(|SegmentScalar(from)| from),
            to: to.map(|SegmentScalar(to)| to),
        };
        let connection = self.0.children(context, requested, within).await?;
        Ok(SubdocumentConnection(connection))
    }
}

pub(crate) struct SubdocumentConnection(pub(crate) Connection);

/// A page of children.
#[Object]
impl SubdocumentConnection {
    /// The children, each with its cursor.
    async fn edges(&self) -> Vec<SubdocumentEdge> {
        let edge = |(cursor, node): &(String, Located)| SubdocumentEdge {
            cursor: CountedBytes(cursor.clone()),
            node: Subdocument(node.clone()),
        };
        self.0.children.iter().map(edge).collect()
    }

    /// The children.
    async fn nodes(&self) -> Vec<Subdocument> {
        let nodes = self.0.children.iter();
        nodes.map(|(_, node)| Subdocument(node.clone())).collect()
    }

    /// Whether there are more pages, and the cursors to request them.
    async fn page_info(&self) -> PageInfo {
        let cursor = |child: Option<&(String, Located)>| {
            child.map(|(cursor, _)| CountedBytes(cursor.clone()))
        };
        PageInfo {
            has_next_page: self.0.next,
            has_previous_page: self.0.previous,
            start_cursor: cursor(self.0.children.first()),
            end_cursor: cursor(self.0.children.last()),
        }
    }
}

/// A child and its cursor.
#[derive(SimpleObject)]
pub(crate) struct SubdocumentEdge {
    /// Pass it as `after` to request the children after this one, or as `before` to request those before it.
    cursor: CountedBytes<String>,
    /// The child.
    node: Subdocument,
}
