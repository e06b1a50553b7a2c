//! Pages of children, as the Relay connection specification has them.

use async_graphql::{Context, Object, SimpleObject};

use super::counted::Counted;
use super::cursor;
use super::document::Subdocument;
use super::located::Located;
use super::session::Session;
use crate::database::{DocumentKey, children};
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result};
use crate::key::{Step, append_segment, step};
use crate::limits::{PAGE_DEFAULT, PAGE_MAX};

/// A page of children, and whether there are more on either side.
pub(super) struct Connection {
    children: Vec<(String, Located)>,
    more: bool,
    before: bool,
}

impl Connection {
    /// Reads a page of the children of `parent`.
    pub(super) async fn read(
        context: &Context<'_>,
        parent: &Located,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Self> {
        let first = page_size("first", first, "children")?;
        let digest = digest(&parent.document, &parent.place);
        let before = after.is_some();
        let after = after
            .map(|cursor| decode_cursor(&cursor, digest))
            .transpose()?;
        let session = Session::of(context);
        session.tally().places(1)?;
        let _turn = session.turn_to_page().await;
        let read = session.read().await?;
        let found = children(
            &*read,
            &parent.document,
            &parent.place,
            after.as_ref(),
            first,
            &session.tally().memory,
        )
        .await?;
        session
            .tally()
            .elements(found.page.len(), context.field())?;
        let child = |child: crate::database::Child| {
            let cursor = encode_cursor(digest, &child.segment);
            (cursor, parent.child(child.part, child.kind))
        };
        Ok(Self {
            children: found.page.into_iter().map(child).collect(),
            more: found.more,
            before,
        })
    }
}

pub(super) struct SubdocumentConnection(pub(super) Connection);

/// A page of children.
#[Object]
impl SubdocumentConnection {
    /// The children, each with the cursor behind which to go on.
    async fn edges(&self) -> Vec<SubdocumentEdge> {
        let edge = |(cursor, node): &(String, Located)| SubdocumentEdge {
            cursor: Counted(cursor.clone()),
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
        let cursor =
            |child: Option<&(String, Located)>| child.map(|(cursor, _)| Counted(cursor.clone()));
        PageInfo {
            has_next_page: self.0.more,
            has_previous_page: self.0.before,
            start_cursor: cursor(self.0.children.first()),
            end_cursor: cursor(self.0.children.last()),
        }
    }
}

/// A child and its cursor.
#[derive(SimpleObject)]
pub(super) struct SubdocumentEdge {
    /// Give it as `after` to go on behind this child.
    cursor: Counted<String>,
    /// The child.
    node: Subdocument,
}

/// A cursor holds the last key and a digest of the query; with another query it is `BAD_USER_INPUT`.
// Any subgraph with connections has this type: shareable, or no two of them compose.
#[derive(Clone, SimpleObject)]
#[graphql(shareable)]
pub(super) struct PageInfo {
    /// Whether there are more behind this page; paging backwards, whether it ended before a cursor.
    pub(super) has_next_page: bool,
    /// Whether this page began behind a cursor; paging backwards, whether there are more before it.
    pub(super) has_previous_page: bool,
    /// The cursor of the first one; null if there is none.
    pub(super) start_cursor: Option<Counted<String>>,
    /// The cursor of the last one; null if there is none.
    pub(super) end_cursor: Option<Counted<String>>,
}

/// The size of a page of `what`, given by an argument of this name.
///
/// # Errors
/// `BAD_USER_INPUT`: it is negative or past [`PAGE_MAX`].
pub(super) fn page_size(argument: &str, size: Option<i32>, what: &str) -> Result<usize> {
    let Some(size) = size else {
        return Ok(PAGE_DEFAULT);
    };
    usize::try_from(size)
        .ok()
        .filter(|size| *size <= PAGE_MAX)
        .ok_or_else(|| {
            Error::bad_input(format!(
                "`{argument}` is {size}; a page has from 0 to {PAGE_MAX} {what}"
            ))
        })
}

/// Tells the cursors of one place from those of another.
fn digest(document: &DocumentKey, place: &Place) -> u64 {
    let DocumentKey { collection, id } = document;
    cursor::digest(&format!("{collection:?} {id:?} {:?}", place.0))
}

fn encode_cursor(digest: u64, last: &Segment) -> String {
    let mut position = Vec::new();
    append_segment(&mut position, last.as_ref());
    cursor::encode(digest, &position)
}

fn decode_cursor(cursor: &str, digest: u64) -> Result<Segment> {
    let last = cursor::decode(cursor, digest, "after", "this place's children")?;
    match step(&last) {
        Some((Step::Key(key), bytes)) if bytes == last.len() => Ok(Segment::Key(key.into_owned())),
        Some((Step::Index(index), bytes)) if bytes == last.len() => Ok(Segment::Index(index)),
        _ => Err(cursor::damaged("after")),
    }
}
