//! Pages of children, as the Relay connection specification has them.

use async_graphql::{Context, Object, SimpleObject};

use super::document::Subdocument;
use super::located::Located;
use super::session::Session;
use crate::database::{DocumentKey, children};
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result};
use crate::key::{Step, append_segment, hex, step};
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
        let first = page(first)?;
        let digest = digest(&parent.document, &parent.place);
        let before = after.is_some();
        let after = after
            .map(|cursor| decode_cursor(&cursor, digest))
            .transpose()?;
        let session = Session::of(context);
        session.tally().places(1)?;
        let read = session.read().await?;
        let found = children(
            &*read,
            &parent.document,
            &parent.place,
            after.as_ref(),
            first,
        )
        .await?;
        session.tally().elements(found.page.len(), context.field())?;
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
            cursor: cursor.clone(),
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
        let cursor = |child: Option<&(String, Located)>| child.map(|(cursor, _)| cursor.clone());
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
    cursor: String,
    /// The child.
    node: Subdocument,
}

/// A cursor holds the last key and a digest of the query; with another query it is `BAD_USER_INPUT`.
// Any subgraph with connections has this type: shareable, or no two of them compose.
#[derive(SimpleObject)]
#[graphql(shareable)]
pub(super) struct PageInfo {
    /// Whether there are more behind this page.
    has_next_page: bool,
    /// Whether this page began behind a cursor.
    has_previous_page: bool,
    /// The cursor of the first one; null if there is none.
    start_cursor: Option<String>,
    /// The cursor of the last one; null if there is none.
    end_cursor: Option<String>,
}

fn page(first: Option<i32>) -> Result<usize> {
    let Some(first) = first else {
        return Ok(PAGE_DEFAULT);
    };
    usize::try_from(first)
        .ok()
        .filter(|first| *first <= PAGE_MAX)
        .ok_or_else(|| {
            Error::bad_input(format!(
                "`first` is {first}; a page has from 0 to {PAGE_MAX} children"
            ))
        })
}

/// Tells the cursors of one place from those of another: FNV-1a over what names it.
fn digest(document: &DocumentKey, place: &Place) -> u64 {
    let name = format!("{:?} {:?} {:?}", document.collection, document.id, place.0);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn encode_cursor(digest: u64, last: &Segment) -> String {
    let mut cursor = digest.to_be_bytes().to_vec();
    append_segment(&mut cursor, last.as_ref());
    hex(&cursor)
}

fn decode_cursor(cursor: &str, digest: u64) -> Result<Segment> {
    let bytes = unhex(cursor).unwrap_or_default();
    let (of, last) = bytes.split_at(bytes.len().min(8));
    if of != digest.to_be_bytes() {
        return Err(Error::bad_input(
            "the cursor given as `after` is not one of this place's children",
        ));
    }
    match step(last) {
        Some((Step::Key(key), bytes)) if bytes == last.len() => Ok(Segment::Key(key.into_owned())),
        Some((Step::Index(index), bytes)) if bytes == last.len() => Ok(Segment::Index(index)),
        _ => Err(Error::bad_input("the cursor given as `after` is damaged")),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    digits
        .chunks(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}
