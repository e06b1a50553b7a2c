//! The arguments and conditions of planned fields, with the variables of one request.
//!
//! A variable without a value, as an argument, leaves the argument out, so it takes its default. In a
//! list it is null, and in an object it leaves the member out (GraphQL specification, 6.4.1 Coercing
//! Field Arguments).

use std::borrow::Cow;

use async_graphql::indexmap::IndexMap;
use async_graphql::{Name, Value};
use async_graphql_value::Value as Input;

use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::arguments::documents_request::DocumentsRequest;
use crate::graphql::arguments::page_arguments::FieldRequest;
use crate::graphql::prepare::condition::{FieldCondition, Flag};
use crate::graphql::prepare::plan::{
    Field, FollowSelection, InverseSelection, Paths, PlannedField, ReferenceSelection, Selection,
    TypedPageSelection, TypedSelection, Where,
};
use crate::graphql::scalars::scalar_types::{JsonPath, check_listed_paths, parsed, path_of};
use crate::graphql::schema::typed::typed_fields::TypedPage;
use crate::graphql::variables::coerced::Coerced;

/// The arguments of a page of documents.
#[derive(Clone, Copy)]
pub(crate) enum PageArguments<'p> {
    /// Of the field `documents`.
    Untyped(&'p [(Name, Input)]),
    /// Of a field that returns documents of a collection with a type.
    Typed(&'p TypedPageSelection),
}

/// Reads arguments with these variables.
#[derive(Clone, Copy)]
pub(crate) struct PlanArguments<'p>(pub(crate) &'p Coerced);

impl<'p> PlanArguments<'p> {
    /// Whether all conditions hold. A variable without a value is false.
    fn hold(self, conditions: &[FieldCondition]) -> bool {
        conditions.iter().all(|FieldCondition { flag, is }| {
            let flag = match flag {
                Flag::Fixed(flag) => *flag,
                Flag::Variable(name) => self.variable(name) == Some(&Value::Boolean(true)),
            };
            flag == *is
        })
    }

    /// The fields of a selection that are included, of each response name the first one.
    pub(crate) fn included(self, selection: &Selection) -> impl Iterator<Item = &PlannedField> {
        let mut passed = Vec::new();
        selection.0.iter().filter(move |selected| {
            let Some(number) = selected.repeated else {
                return self.hold(&selected.conditions);
            };
            if passed.len() <= number {
                passed.resize(number + 1, false);
            }
            if !passed[number] {
                passed[number] = self.hold(&selected.conditions);
                return passed[number];
            }
            false
        })
    }

    /// The number of selected fields, at every level.
    pub(crate) fn fields(self, selection: &Selection) -> usize {
        let each = self
            .included(selection)
            .map(|selected| match &selected.field {
                Field::Subdocument(_, below)
                | Field::Whole(below)
                | Field::Select(_, below)
                | Field::Children(_, below)
                | Field::Nodes(below)
                | Field::TypedNodes(below)
                | Field::TypedNode(below)
                | Field::Edges(below)
                | Field::Node(below)
                | Field::AboutPage(below)
                | Field::Indexes(below)
                | Field::CollectionType(below)
                | Field::TypeViolations(below)
                | Field::Updates(below)
                | Field::DocumentNow(below)
                | Field::Reference(ReferenceSelection { below, .. })
                | Field::Inverse(InverseSelection {
                    page: TypedPageSelection { below, .. },
                    ..
                })
                | Field::Follow(FollowSelection { below, .. })
                | Field::Typed(TypedSelection { below, .. }) => 1 + self.fields(below),
                _ => 1,
            });
        each.sum()
    }

    /// # Errors
    /// `INVALID_PATH`: the argument is not a path.
    pub(crate) fn path(self, path: &'p Where) -> Result<Cow<'p, Path>> {
        match path {
            Where::Fixed(path) => Ok(Cow::Borrowed(path)),
            Where::Given(given) => {
                let given = self.value(given);
                given
                    .map_or_else(|| Ok(Path::default()), |given| path_of(&given))
                    .map(Cow::Owned)
            }
        }
    }

    /// The paths in a list.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: the list is too long. `INVALID_PATH`: an element is not a path.
    pub(crate) fn paths(self, paths: &'p Paths) -> Result<Vec<Cow<'p, Path>>> {
        match paths {
            Paths::Listed(listed) => {
                check_listed_paths(listed.len())?;
                listed.iter().map(|path| self.path(path)).collect()
            }
            Paths::Variable(name) => {
                let listed = match self.variable(name) {
                    Some(Value::List(listed)) => &listed[..],
                    Some(single) => std::slice::from_ref(single),
                    None => &[],
                };
                check_listed_paths(listed.len())?;
                listed
                    .iter()
                    .map(|path| path_of(path).map(Cow::Owned))
                    .collect()
            }
        }
    }

    /// # Errors
    /// `BAD_USER_INPUT`: the argument is not a string.
    pub(crate) fn string(self, argument: &'p Input) -> Result<Cow<'p, str>> {
        match argument {
            Input::String(text) => Ok(Cow::Borrowed(text)),
            Input::Variable(name) => match self.variable(name) {
                Some(Value::String(text)) => Ok(Cow::Borrowed(text)),
                given => parsed(given.cloned()).map(Cow::Owned),
            },
            _ => parsed(self.value(argument)).map(Cow::Owned),
        }
    }

    /// The string in an argument that can be null. None also for a variable without a value.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the argument is neither a string nor null.
    pub(crate) fn optional_string(self, argument: &Input) -> Result<Option<String>> {
        parsed(self.value(argument))
    }

    /// The text of an argument of the type `ID`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the argument is neither a string nor an integer.
    pub(crate) fn id(self, argument: &'p Input) -> Result<Cow<'p, str>> {
        let text = match argument {
            Input::String(text) => Some(Cow::Borrowed(&**text)),
            Input::Number(number) => number.as_i64().map(|number| Cow::Owned(number.to_string())),
            Input::Variable(name) => self.variable(name).and_then(id),
            _ => None,
        };
        text.map_or_else(
            || {
                let id: async_graphql::ID = parsed(self.value(argument))?;
                Ok(Cow::Owned(id.0))
            },
            Ok,
        )
    }

    /// The request of a field with these arguments.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: an argument does not have its type.
    pub(crate) fn request<T: FieldRequest>(self, arguments: &[(Name, Input)]) -> Result<T> {
        let mut request = T::default();
        for (name, argument) in arguments {
            if let Some(argument) = self.value(argument) {
                request.set(name, argument)?;
            }
        }
        Ok(request)
    }

    /// The request of a page of documents.
    ///
    /// # Errors
    /// As [`PlanArguments::request`].
    pub(crate) fn page(self, of: PageArguments<'_>) -> Result<DocumentsRequest> {
        let selected = match of {
            PageArguments::Untyped(arguments) => return self.request(arguments),
            PageArguments::Typed(selected) => selected,
        };
        let TypedPage {
            collection,
            filter,
            order,
        } = &*selected.page;
        let mut request = DocumentsRequest {
            collection: collection.to_string(),
            ..DocumentsRequest::default()
        };
        for (name, argument) in &selected.arguments {
            let Some(argument) = self.value(argument) else {
                continue;
            };
            let inputs = &selected.inputs;
            let argument = match name.as_str() {
                "where" if argument != Value::Null => inputs.filter(filter, argument)?,
                "orderBy" => inputs.order(order, argument)?,
                _ => argument,
            };
            request.set(name, argument)?;
        }
        Ok(request)
    }

    /// The JSONPath in an argument.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the argument is not a string.
    pub(crate) fn json_path(self, argument: &'p Input) -> Result<Cow<'p, str>> {
        if let Input::String(text) = argument {
            return Ok(Cow::Borrowed(text));
        }
        let JsonPath(text) = parsed(self.value(argument))?;
        Ok(Cow::Owned(text))
    }

    /// The value of an argument. None if it is a variable without a value.
    pub(crate) fn value(self, argument: &Input) -> Option<Value> {
        Some(match argument {
            Input::Variable(name) => self.variable(name)?.clone(),
            Input::Null => Value::Null,
            Input::Number(number) => Value::Number(number.clone()),
            Input::String(text) => Value::String(text.clone()),
            Input::Boolean(value) => Value::Boolean(*value),
            Input::Binary(bytes) => Value::Binary(bytes.clone()),
            Input::Enum(name) => Value::Enum(name.clone()),
            Input::List(elements) => {
                let elements = elements
                    .iter()
                    .map(|element| self.value(element).unwrap_or(Value::Null));
                Value::List(elements.collect())
            }
            Input::Object(members) => {
                let members = members.iter();
                let members =
                    members.filter_map(|(name, member)| Some((name.clone(), self.value(member)?)));
                Value::Object(members.collect::<IndexMap<_, _>>())
            }
        })
    }

    fn variable(self, name: &Name) -> Option<&'p Value> {
        self.0.values.get(name)
    }
}

fn id(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.as_i64()?.to_string())),
        _ => None,
    }
}
