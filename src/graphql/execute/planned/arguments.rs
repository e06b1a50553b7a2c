//! The arguments and conditions of planned fields, with the variables of one request.
//!
//! A function returns none if the general executor must run the query: an argument is invalid, or a
//! variable is absent where that has a meaning of its own.

use std::borrow::Cow;

use async_graphql::{InputType, Name, Value};
use async_graphql_value::Value as Input;

use super::children::ChildrenRequest;
use crate::document::path::Path;
use crate::graphql::objects::documents::DocumentsRequest;
use crate::graphql::prepare::plan::{
    Field, FieldCondition, Flag, Paths, PlannedField, Selection, Where,
};
use crate::graphql::scalars::types::{SegmentScalar, path_of};
use crate::graphql::variables::coerced::Coerced;
use crate::limits::LISTED_PATHS_MAX;

/// Reads arguments with these variables.
#[derive(Clone, Copy)]
pub(super) struct PlanArguments<'p>(pub(super) &'p Coerced);

impl<'p> PlanArguments<'p> {
    /// Whether the conditions of a field include it.
    pub(super) fn is_there(self, selected: &PlannedField) -> Option<bool> {
        for FieldCondition { flag, is } in &selected.conditions {
            let flag = match flag {
                Flag::Fixed(flag) => *flag,
                Flag::Variable(name) => match self.variable(name)? {
                    Value::Boolean(flag) => *flag,
                    _ => return None,
                },
            };
            if flag != *is {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The fields of a selection that are included.
    pub(super) fn included(self, selection: &Selection) -> impl Iterator<Item = &PlannedField> {
        let included = selection.0.iter();
        included.filter(move |selected| self.is_there(selected) == Some(true))
    }

    /// The number of selected fields, at every level.
    pub(super) fn fields(self, selection: &Selection) -> usize {
        let each = self.included(selection);
        let each = each.map(|selected| match &selected.field {
            Field::Subdocument(_, below)
            | Field::Whole(below)
            | Field::Select(_, below)
            | Field::Children(_, below)
            | Field::Nodes(below)
            | Field::Edges(below)
            | Field::Node(below)
            | Field::AboutPage(below) => 1 + self.fields(below),
            _ => 1,
        });
        each.sum()
    }

    pub(super) fn path(self, path: &'p Where) -> Option<Cow<'p, Path>> {
        let given = match path {
            Where::Fixed(path) => return Some(Cow::Borrowed(path)),
            Where::Given(given) => given,
        };
        let path = if let Input::Variable(name) = given {
            // Without the variable, the argument has its default: the whole document.
            let given = self.variable(name);
            given.map_or_else(|| Ok(Path::default()), path_of)
        } else {
            path_of(&self.value(given)?)
        };
        path.ok().map(Cow::Owned)
    }

    /// The paths in a list. None also if there are too many of them.
    pub(super) fn paths(self, paths: &'p Paths) -> Option<Vec<Cow<'p, Path>>> {
        match paths {
            Paths::Listed(listed) => {
                let listed = listed.iter().map(|path| self.required_path(path));
                listed.collect()
            }
            Paths::Variable(name) => match self.variable(name)? {
                Value::List(listed) if listed.len() <= LISTED_PATHS_MAX => {
                    listed.iter().map(required).collect()
                }
                _ => None,
            },
        }
    }

    /// As [`PlanArguments::path`]; none if the path is a variable without a value.
    fn required_path(self, path: &'p Where) -> Option<Cow<'p, Path>> {
        match path {
            Where::Given(Input::Variable(name)) => required(self.variable(name)?),
            path => self.path(path),
        }
    }

    pub(super) fn string(self, argument: &'p Input) -> Option<&'p str> {
        match argument {
            Input::String(text) => Some(text),
            Input::Variable(name) => match self.variable(name)? {
                Value::String(text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn id(self, argument: &'p Input) -> Option<Cow<'p, str>> {
        match argument {
            Input::String(text) => Some(Cow::Borrowed(text)),
            Input::Number(number) => Some(Cow::Owned(number.as_i64()?.to_string())),
            Input::Variable(name) => id(self.variable(name)?),
            _ => None,
        }
    }

    /// The request of a field `documents`.
    pub(super) fn documents(self, arguments: &[(Name, Input)]) -> Option<DocumentsRequest> {
        let mut request = DocumentsRequest::default();
        for (name, argument) in arguments {
            request.set(name, self.value(argument)?)?;
        }
        Some(request)
    }

    /// The request of a field `children`.
    pub(super) fn children(self, arguments: &[(Name, Input)]) -> Option<ChildrenRequest> {
        let mut request = ChildrenRequest::default();
        for (name, argument) in arguments {
            let argument = self.value(argument)?;
            let segment = |argument| {
                let given: Option<SegmentScalar> = parsed(argument)?;
                Some(given.map(|SegmentScalar(segment)| segment))
            };
            let (page, within) = (&mut request.page, &mut request.within);
            match name.as_str() {
                "first" => page.first = parsed(argument)?,
                "after" => page.after = parsed(argument)?,
                "last" => page.last = parsed(argument)?,
                "before" => page.before = parsed(argument)?,
                "prefix" => within.prefix = parsed(argument)?,
                "from" => within.from = segment(argument)?,
                "to" => within.to = segment(argument)?,
                _ => return None,
            }
        }
        Some(request)
    }

    /// The value of an argument; none if one of its variables has no value.
    fn value(self, argument: &Input) -> Option<Value> {
        let variable = |name| self.variable(&name).cloned().ok_or(());
        argument.clone().into_const_with(variable).ok()
    }

    fn variable(self, name: &Name) -> Option<&'p Value> {
        self.0.values.get(name)
    }
}

fn parsed<T: InputType>(argument: Value) -> Option<T> {
    T::parse(Some(argument)).ok()
}

/// The path in an element of a list; none if it is null or not a path.
fn required<'p>(element: &Value) -> Option<Cow<'p, Path>> {
    match element {
        Value::Null => None,
        path => path_of(path).ok().map(Cow::Owned),
    }
}

fn id(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.as_i64()?.to_string())),
        _ => None,
    }
}
