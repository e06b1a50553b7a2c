//! The arguments of fields that return pages.

use async_graphql::Value;

use crate::error::{Error, Limit, Result};
use crate::graphql::scalars::scalar_types::parsed;
use crate::limits::{PAGE_DEFAULT, PAGE_MAX};

/// The arguments of a field, by default those of a field without arguments.
pub(crate) trait FieldRequest: Default {
    /// Sets an argument.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it does not have its type.
    fn set(&mut self, name: &str, argument: Value) -> Result<()>;
}

/// The page arguments of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
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

impl FieldRequest for AskedPage {
    fn set(&mut self, name: &str, argument: Value) -> Result<()> {
        let argument = Some(argument);
        match name {
            "first" => self.first = parsed(argument)?,
            "after" => self.after = parsed(argument)?,
            "last" => self.last = parsed(argument)?,
            "before" => self.before = parsed(argument)?,
            _ => {}
        }
        Ok(())
    }
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
