//! Page arguments, page bounds and cursors.

use crate::database::{ChildBounds, DocumentKey};
use crate::document::path::{Place, Segment};
use crate::error::{Error, Limit, Result};
use crate::graphql::scalars::list_cursor;
use crate::key::{KeyStep, append_segment, step};
use crate::limits::{PAGE_DEFAULT, PAGE_MAX};

/// The page arguments of a connection.
#[derive(Clone, Default)]
pub(crate) struct AskedPage {
    pub(crate) first: Option<i32>,
    pub(crate) after: Option<String>,
    pub(crate) last: Option<i32>,
    pub(crate) before: Option<String>,
}

/// The size and direction of a page, and the cursor at which it begins.
pub(crate) struct PageBounds {
    pub(crate) size: usize,
    pub(crate) backward: bool,
    pub(crate) cursor: Option<String>,
    /// The name of the argument that gave the cursor.
    pub(crate) cursor_argument: &'static str,
}

impl AskedPage {
    /// The bounds of a page of `what`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the arguments give both directions. As [`page_size`].
    pub(crate) fn bounds(self, what: &str) -> Result<PageBounds> {
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

/// The boundaries of a page.
pub(crate) struct PageBoundaries {
    pub(crate) has_next_page: bool,
    pub(crate) has_previous_page: bool,
    /// The cursors of the first and of the last item. None if the page is empty.
    pub(crate) start_cursor: Option<String>,
    pub(crate) end_cursor: Option<String>,
}

/// The size of a page of `what`, from the argument of this name.
///
/// # Errors
/// `BAD_USER_INPUT`: the size is negative or exceeds [`PAGE_MAX`].
pub(crate) fn page_size(argument: &str, size: Option<i32>, what: &str) -> Result<usize> {
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

/// A digest of a place and of the bounds on its children, which binds their cursors to them.
///
/// # Errors
/// `TOO_LARGE`: the key of the place exceeds the limit.
pub(crate) fn digest(document: &DocumentKey, place: &Place, within: &ChildBounds) -> Result<u64> {
    let mut query = document.place(place)?;
    let ChildBounds { prefix, from, to } = within;
    let prefix = prefix.clone().map(Segment::Key);
    for (kind, bound) in [&prefix, from, to].into_iter().enumerate() {
        if let Some(bound) = bound {
            // No segment begins with 0xFF.
            query.extend_from_slice(&[0xFF, u8::try_from(kind).unwrap_or(u8::MAX)]);
            append_segment(&mut query, bound.as_ref());
        }
    }
    Ok(list_cursor::digest(&query))
}

pub(crate) fn encode_cursor(digest: u64, last: &Segment) -> String {
    let mut position = Vec::new();
    append_segment(&mut position, last.as_ref());
    list_cursor::encode(digest, &position)
}

pub(crate) fn decode_cursor(cursor: &str, digest: u64, argument: &str) -> Result<Segment> {
    let last = list_cursor::decode(cursor, digest, argument, "the children of this value")?;
    match step(&last) {
        Some((KeyStep::Key(key), bytes)) if bytes == last.len() => {
            Ok(Segment::Key(key.into_owned()))
        }
        Some((KeyStep::Index(index), bytes)) if bytes == last.len() => Ok(Segment::Index(index)),
        _ => Err(list_cursor::damaged(argument)),
    }
}
