//! Pages of children, according to the Relay connection specification.

use async_graphql::Context;

use super::located::Located;
use super::page::{AskedPage, PageBounds, decode_cursor, digest, encode_cursor};
use crate::database::{ChildBounds, ChildrenPage, children};
use crate::error::Result;
use crate::graphql::context::session::Session;

/// A page of children, and whether there are more before and after it.
pub(crate) struct Connection {
    pub(crate) children: Vec<(String, Located)>,
    pub(crate) next: bool,
    pub(crate) previous: bool,
}

impl Connection {
    /// Reads a page of the children of `parent`.
    pub(crate) async fn read(
        context: &Context<'_>,
        parent: &Located,
        requested: AskedPage,
        within: ChildBounds,
    ) -> Result<Self> {
        let PageBounds {
            size,
            backward,
            cursor,
            cursor_argument,
        } = requested.bounds("children")?;
        let digest = digest(&parent.document, &parent.place, &within)?;
        let began = cursor.is_some();
        let from = cursor
            .map(|cursor| decode_cursor(&cursor, digest, cursor_argument))
            .transpose()?;
        let page = ChildrenPage {
            size,
            backward,
            from,
            within,
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

impl Located {
    pub(crate) async fn children(
        &self,
        context: &Context<'_>,
        requested: AskedPage,
        within: ChildBounds,
    ) -> Result<Connection> {
        Connection::read(context, self, requested, within).await
    }
}
