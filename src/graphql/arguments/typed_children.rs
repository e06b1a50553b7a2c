//! The arguments of the lists and the maps of a type of a collection.

use async_graphql::Value;

use super::children_request::ChildrenRequest;
use super::page_arguments::FieldRequest;
use crate::database::ChildBounds;
use crate::document::path::Segment;
use crate::error::{Error, Result};
use crate::graphql::scalars::scalar_types::parsed;
use crate::limits::PAGE_MAX;

/// The arguments of a list.
#[derive(Default)]
pub(crate) struct TypedListRequest {
    first: Option<i32>,
    last: Option<i32>,
    from: Option<i32>,
    to: Option<i32>,
}

impl FieldRequest for TypedListRequest {
    fn set(&mut self, name: &str, argument: Value) -> Result<()> {
        let argument = Some(argument);
        match name {
            "first" => self.first = parsed(argument)?,
            "last" => self.last = parsed(argument)?,
            "from" => self.from = parsed(argument)?,
            "to" => self.to = parsed(argument)?,
            _ => {}
        }
        Ok(())
    }
}

impl TypedListRequest {
    /// Whether the whole list is requested.
    pub(crate) fn is_of_whole(&self) -> bool {
        [self.first, self.last, self.from, self.to]
            .iter()
            .all(Option::is_none)
    }

    /// The elements that are requested.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: an index is negative, or both ends are requested.
    pub(crate) fn children(self) -> Result<ChildrenRequest> {
        if self.first.is_some() && self.last.is_some() {
            return Err(Error::bad_input(
                "`first` requests the beginning of a list and `last` its end: give one of them",
            ));
        }
        let within = ChildBounds {
            prefix: None,
            from: index("from", self.from)?,
            to: index("to", self.to)?,
        };
        let mut request = ChildrenRequest {
            within,
            ..ChildrenRequest::default()
        };
        request.page.first = self.first;
        request.page.last = self.last;
        Ok(complete(request))
    }
}

fn index(argument: &str, given: Option<i32>) -> Result<Option<Segment>> {
    let index = given.map(|given| {
        let index = u64::try_from(given).map(Segment::Index);
        index.map_err(|_| {
            Error::bad_input(format!(
                "`{argument}` is {given}; the first element has the index 0"
            ))
        })
    });
    index.transpose()
}

/// The arguments of a map.
#[derive(Default)]
pub(crate) struct TypedMapRequest {
    prefix: Option<String>,
    from: Option<String>,
    to: Option<String>,
    first: Option<i32>,
    after: Option<String>,
}

impl FieldRequest for TypedMapRequest {
    fn set(&mut self, name: &str, argument: Value) -> Result<()> {
        let argument = Some(argument);
        match name {
            "prefix" => self.prefix = parsed(argument)?,
            "from" => self.from = parsed(argument)?,
            "to" => self.to = parsed(argument)?,
            "first" => self.first = parsed(argument)?,
            "after" => self.after = parsed(argument)?,
            _ => {}
        }
        Ok(())
    }
}

impl TypedMapRequest {
    /// Whether the whole map is requested.
    pub(crate) fn is_of_whole(&self) -> bool {
        self.first.is_none()
            && [&self.prefix, &self.from, &self.to, &self.after]
                .iter()
                .all(|argument| argument.is_none())
    }

    /// The entries that are requested.
    pub(crate) fn children(self) -> ChildrenRequest {
        // The first name behind another one, by the bytes of UTF-8.
        let after = self.after.map(|after| format!("{after}\0"));
        let from = self.from.into_iter().chain(after).max();
        let within = ChildBounds {
            prefix: self.prefix,
            from: from.map(Segment::Key),
            to: self.to.map(Segment::Key),
        };
        let mut request = ChildrenRequest {
            within,
            ..ChildrenRequest::default()
        };
        request.page.first = self.first;
        complete(request)
    }
}

/// A request of all children within the bounds, if it has no number of them.
fn complete(mut request: ChildrenRequest) -> ChildrenRequest {
    if request.page.first.is_none() && request.page.last.is_none() {
        request.page.first = i32::try_from(PAGE_MAX).ok();
        request.complete = true;
    }
    request
}
