//! Pages of children, as the Relay connection specification has them.

use async_graphql::{Context, Object, SimpleObject};

use super::counted::CountedBytes;
use super::cursor;
use super::document::Subdocument;
use super::located::Located;
use super::session::Session;
use crate::database::{ChildrenPage, DocumentKey, children};
use crate::document::path::{Place, Segment};
use crate::error::{Error, Limit, Result};
use crate::key::{KeyStep, append_segment, step};
use crate::limits::{PAGE_DEFAULT, PAGE_MAX};

/// A page of children, and whether there are more on either side.
pub(super) struct Connection {
    children: Vec<(String, Located)>,
    next: bool,
    previous: bool,
}

/// Which page the arguments of a connection ask for.
#[derive(Default)]
pub(super) struct AskedPage {
    pub(super) first: Option<i32>,
    pub(super) after: Option<String>,
    pub(super) last: Option<i32>,
    pub(super) before: Option<String>,
}

/// A page's size and direction, and the cursor that it goes on from.
pub(super) struct PageBounds {
    pub(super) size: usize,
    pub(super) backward: bool,
    pub(super) cursor: Option<String>,
    /// The argument that gave the cursor.
    pub(super) cursor_argument: &'static str,
}

impl AskedPage {
    /// The bounds of a page of `what`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it goes in both directions. As [`page_size`].
    pub(super) fn bounds(self, what: &str) -> Result<PageBounds> {
        let backward = self.last.is_some() || self.before.is_some();
        if backward && (self.first.is_some() || self.after.is_some()) {
            return Err(Error::bad_input(
                "`first` and `after` page forwards, `last` and `before` backwards: a page has one \
                 direction",
            ));
        }
        let (argument, size, cursor_argument, cursor) = if backward {
            ("last", self.last, "before", self.before)
        } else {
            ("first", self.first, "after", self.after)
        };
        Ok(PageBounds {
            size: page_size(argument, size, what)?,
            backward,
            cursor,
            cursor_argument,
        })
    }
}

impl Connection {
    /// Reads a page of the children of `parent`.
    pub(super) async fn read(
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

pub(super) struct SubdocumentConnection(pub(super) Connection);

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
pub(super) struct SubdocumentEdge {
    /// Give it as `after` to go on behind this child, or as `before` to go back before it.
    cursor: CountedBytes<String>,
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
    pub(super) start_cursor: Option<CountedBytes<String>>,
    /// The cursor of the last one; null if there is none.
    pub(super) end_cursor: Option<CountedBytes<String>>,
}

/// The size of a page of `what`, given by an argument of this name.
///
/// # Errors
/// `BAD_USER_INPUT`: it is negative or past [`PAGE_MAX`].
fn page_size(argument: &str, size: Option<i32>, what: &str) -> Result<usize> {
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
            .with_limit(Limit::new("pageSize", PAGE_MAX))
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

fn decode_cursor(cursor: &str, digest: u64, argument: &str) -> Result<Segment> {
    let last = cursor::decode(cursor, digest, argument, "this place's children")?;
    match step(&last) {
        Some((KeyStep::Key(key), bytes)) if bytes == last.len() => {
            Ok(Segment::Key(key.into_owned()))
        }
        Some((KeyStep::Index(index), bytes)) if bytes == last.len() => Ok(Segment::Index(index)),
        _ => Err(cursor::damaged(argument)),
    }
}
