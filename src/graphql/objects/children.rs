//! Pages of children, as the Relay connection specification has them.

use super::page::AskedPage;
use super::page::PageBounds;
use super::page::PageInfo;
use super::page::decode_cursor;
use super::page::digest;
use super::page::encode_cursor;
use async_graphql::{Context, Object, SimpleObject};

use super::document::Subdocument;
use super::located::Located;
use crate::database::{ChildrenPage, children};
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::response::counted::CountedBytes;

/// A page of children, and whether there are more on either side.
pub(crate) struct Connection {
    children: Vec<(String, Located)>,
    next: bool,
    previous: bool,
}

impl Connection {
    /// Reads a page of the children of `parent`.
    pub(crate) async fn read(
        context: &Context<'_>,
        parent: &Located,
        asked: AskedPage,
    ) -> Result<Self> {
        let PageBounds {
            size,
            backward,
            cursor,
            cursor_argument,
        } = asked.bounds("children")?;
        let digest = digest(&parent.document, &parent.place);
        let began = cursor.is_some();
        let from = cursor
            .map(|cursor| decode_cursor(&cursor, digest, cursor_argument))
            .transpose()?;
        let page = ChildrenPage {
            size,
            backward,
            from,
        };
        let session = Session::of(context);
        session.request_budget().places(1)?;
        let _turn = session.turn_to_page().await;
        let read = session.read().await?;
        let found = children(
            &*read,
            &parent.document,
            &parent.place,
            &page,
            &session.request_budget().memory,
        )
        .await?;
        session
            .request_budget()
            .elements(found.page.len(), context.field())?;
        let child = |child: crate::database::Child| {
            let cursor = encode_cursor(digest, &child.segment);
            (cursor, parent.child(child.part, child.kind))
        };
        Ok(Self {
            children: found.page.into_iter().map(child).collect(),
            next: if backward { began } else { found.more },
            previous: if backward { found.more } else { began },
        })
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
