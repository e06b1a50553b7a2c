//! The types `Document` and `Subdocument`.

use super::page::PageInfo;
use async_graphql::{Context, Enum, ID, Object, SimpleObject};

use super::children::Connection;
use super::located::Located;
use super::page::AskedPage;
use crate::document::leaf;
use crate::error::Result;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::node_id;
use crate::graphql::scalars::types::{Json, JsonPath, PathScalar, VersionScalar};

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
    /// The name that the schema has for it.
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
    /// Its id in the whole graph: `COLLECTION/KEY`, both percent-encoded. The same document has the same id however it was reached.
    pub(crate) async fn id(&self) -> CountedBytes<ID> {
        CountedBytes(ID(node_id::of_document(&self.0.document)))
    }

    /// Its id in its collection, which `document(id:)` and the mutations take: the decimal text of a 64-bit integer, or a string.
    async fn key(&self) -> CountedBytes<ID> {
        CountedBytes(ID(self.0.document.id.to_string()))
    }

    /// The name of its collection.
    async fn collection(&self) -> CountedBytes<&str> {
        CountedBytes(&self.0.document.collection)
    }

    /// The commit that last changed it; null if Phyllo has not written it.
    async fn version(&self, context: &Context<'_>) -> Option<Result<VersionScalar>> {
        self.0.version(context).await.transpose()
    }

    /// What kind of value the document is.
    async fn kind(&self, context: &Context<'_>) -> Result<JsonKind> {
        self.0.kind(context).await.map(JsonKind::from)
    }

    /// The JSON of the document, or of the part at `path`; null also if nothing is stored there.
    async fn value(
        &self,
        context: &Context<'_>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "Where to go on from here; the empty path is here."
        )]
        path: Option<PathScalar>,
    ) -> Option<Result<Json>> {
        self.0.value(context, path).await.transpose()
    }

    /// The part at `path`; null if nothing is stored there.
    async fn subdocument(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Where to go on from here.")] path: PathScalar,
    ) -> Option<Result<Subdocument>> {
        let at = self.0.at(context, &path).await.transpose()?;
        Some(at.map(Subdocument))
    }

    /// What a JSONPath query selects here, in the order of RFC 9535 (members of an object by name), duplicates kept. What the query begins with in names and indexes is all that is read.
    async fn select(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its `$` is what stands here.")] query: JsonPath,
    ) -> Result<Vec<Subdocument>> {
        let selected = self.0.select(context, &query).await?;
        Ok(selected.into_iter().map(Subdocument).collect())
    }

    /// Members of an object or elements of an array, one level down, a page at a time: members by name in the order of their UTF-8 bytes, elements by index. A page goes forwards (`first`, `after`) or backwards (`last`, `before`).
    async fn children(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most, the first ones; 100 if not given, 10,000 at most.")]
        first: Option<i32>,
        #[graphql(desc = "The cursor behind which to go on.")] after: Option<String>,
        #[graphql(desc = "How many at most, the last ones; 100 if not given, 10,000 at most.")]
        last: Option<i32>,
        #[graphql(desc = "The cursor before which to go back.")] before: Option<String>,
    ) -> Result<SubdocumentConnection> {
        let asked = AskedPage {
            first,
            after,
            last,
            before,
        };
        let connection = self.0.children(context, asked).await?;
        Ok(SubdocumentConnection(connection))
    }
}

pub(crate) struct Subdocument(pub(crate) Located);

/// What stands at one place of a document.
#[Object]
impl Subdocument {
    /// Its id in the whole graph: `COLLECTION/KEY#POINTER`, percent-encoded, where the pointer is the JSON Pointer of its place. It names a place and not a thing: when elements of an array move, another value has this id.
    pub(crate) async fn id(&self) -> CountedBytes<ID> {
        CountedBytes(ID(node_id::of_subdocument(&self.0.document, &self.0.place)))
    }

    /// The whole document that this is a part of.
    async fn document(&self) -> Document {
        Document(self.0.whole())
    }

    /// Its place in the document, in list form.
    async fn path(&self) -> CountedBytes<PathScalar> {
        CountedBytes(PathScalar::from(&self.0.place))
    }

    /// The commit that last changed the document; null if Phyllo has not written it.
    async fn version(&self, context: &Context<'_>) -> Option<Result<VersionScalar>> {
        self.0.version(context).await.transpose()
    }

    /// What kind of value stands here.
    async fn kind(&self, context: &Context<'_>) -> Result<JsonKind> {
        self.0.kind(context).await.map(JsonKind::from)
    }

    /// The JSON here, or further down at `path`; null also if nothing is stored there.
    async fn value(
        &self,
        context: &Context<'_>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "Where to go on from here; the empty path is here."
        )]
        path: Option<PathScalar>,
    ) -> Option<Result<Json>> {
        self.0.value(context, path).await.transpose()
    }

    /// The part further down at `path`; null if nothing is stored there.
    async fn subdocument(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Where to go on from here.")] path: PathScalar,
    ) -> Option<Result<Subdocument>> {
        let at = self.0.at(context, &path).await.transpose()?;
        Some(at.map(Subdocument))
    }

    /// What a JSONPath query selects here, in the order of RFC 9535 (members of an object by name), duplicates kept. What the query begins with in names and indexes is all that is read.
    async fn select(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its `$` is what stands here.")] query: JsonPath,
    ) -> Result<Vec<Subdocument>> {
        let selected = self.0.select(context, &query).await?;
        Ok(selected.into_iter().map(Subdocument).collect())
    }

    /// Members of an object or elements of an array, one level down, a page at a time: members by name in the order of their UTF-8 bytes, elements by index. A page goes forwards (`first`, `after`) or backwards (`last`, `before`).
    async fn children(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most, the first ones; 100 if not given, 10,000 at most.")]
        first: Option<i32>,
        #[graphql(desc = "The cursor behind which to go on.")] after: Option<String>,
        #[graphql(desc = "How many at most, the last ones; 100 if not given, 10,000 at most.")]
        last: Option<i32>,
        #[graphql(desc = "The cursor before which to go back.")] before: Option<String>,
    ) -> Result<SubdocumentConnection> {
        let asked = AskedPage {
            first,
            after,
            last,
            before,
        };
        let connection = self.0.children(context, asked).await?;
        Ok(SubdocumentConnection(connection))
    }
}

pub(crate) struct SubdocumentConnection(pub(crate) Connection);

/// A page of children.
#[Object]
impl SubdocumentConnection {
    /// The children, each with the cursor behind which to go on.
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

    /// Whether there are more, and how to get them.
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
    /// Give it as `after` to go on behind this child, or as `before` to go back before it.
    cursor: CountedBytes<String>,
    /// The child.
    node: Subdocument,
}
