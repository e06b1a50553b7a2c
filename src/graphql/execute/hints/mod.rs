//! Hints: a response whose result is empty, or that failed for want of an index, names mistakes that
//! can explain it, in `extensions.hints`.
//!
//! They are computed after the response, from its text and the plan. Their reads draw from the budget of
//! the request. An error while they are computed leaves them out, and never fails the request.
//! Subscriptions and mutations have none.

pub(crate) mod empty;
mod keys;
mod rounded;

use async_graphql::{PathSegment, ServerError, Value};
use async_graphql_value::Value as Input;
use tokio::time::{Instant, timeout_at};

use super::operation::Operation;
use super::planned::PlanArguments;
use empty::{ObjectMembers, is_empty, nulls, path};

use crate::database::query::missing_index;
use crate::database::{Database, is_there, near_names};
use crate::document::leaf::abridged;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::graphql::arguments::documents_request::DocumentsRequest;
use crate::graphql::arguments::page_arguments::FieldRequest as _;
use crate::graphql::arguments::place_input::DEFAULT_COLLECTION;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::prepare::plan::{Field, PlannedField, Where};
use crate::graphql::response::hint::{Hint, HintCode, hints_text};
use crate::limits::{HINT_TIME_MAX, HINTED_LOOKUPS_MAX, HINTED_RESPONSE_BYTES_MAX, HINTS_MAX};
use crate::store::Read;

/// The response to a query.
pub(crate) struct QueryAnswer {
    pub(crate) json: Vec<u8>,
    pub(crate) errors: Vec<ServerError>,
    /// Whether a result may be empty.
    pub(crate) may_be_empty: bool,
}

impl QueryAnswer {
    /// A response that gets no hints.
    pub(crate) fn without_hints(json: Vec<u8>) -> Self {
        Self {
            json,
            errors: Vec::new(),
            may_be_empty: false,
        }
    }
}

/// The response with hints, if there are any.
pub(crate) async fn with_hints(
    answer: QueryAnswer,
    operation: &Operation,
    database: &Database,
    request_budget: &RequestBudget,
) -> Vec<u8> {
    let QueryAnswer {
        mut json, errors, ..
    } = answer;
    if json.len() > HINTED_RESPONSE_BYTES_MAX {
        return json;
    }
    let mut hints = Vec::new();
    let budget = request_budget.budget();
    let deadline = budget.deadline().min(Instant::now() + HINT_TIME_MAX);
    let finding = find(
        &mut hints,
        (&json, &errors),
        operation,
        database,
        request_budget,
    );
    if let Ok(Err(error)) = timeout_at(deadline, finding).await {
        tracing::debug!("the hints of a response are incomplete: {error}");
    }
    hints.truncate(HINTS_MAX);
    if hints.is_empty() {
        return json;
    }
    let text = hints_text(&hints);
    if json.len() + text.len() <= budget.response_bytes_max() && json.pop() == Some(b'}') {
        json.extend(text);
        json.push(b'}');
    }
    json
}

async fn find(
    hints: &mut Vec<Hint>,
    (json, errors): (&[u8], &[ServerError]),
    operation: &Operation,
    database: &Database,
    request_budget: &RequestBudget,
) -> Result<()> {
    hints.extend(errors.iter().filter_map(of_error));
    let text = std::str::from_utf8(json).map_err(|_| Error::internal("a response is not UTF-8"))?;
    let data = ObjectMembers::of(text).and_then(|response| response.get("data"));
    let Some(data) = data.and_then(ObjectMembers::of) else {
        return Ok(());
    };
    let has_failed = |field: &PlannedField| {
        let mut first = errors.iter().filter_map(|error| error.path.first());
        first.any(|first| matches!(first, PathSegment::Field(name) if *name == *field.key))
    };
    let arguments = PlanArguments(&operation.variables);
    let included = arguments.included(&operation.plan.root);
    let mut fields: Vec<EmptyField<'_>> = Vec::new();
    for field in included.take(HINTED_LOOKUPS_MAX) {
        if let Some(text) = data.get(&field.key)
            && is_empty(arguments, field, text)
            && !has_failed(field)
        {
            fields.push(EmptyField {
                nulls: nulls(text),
                arguments: GivenArguments::of(arguments, &field.field),
                field,
            });
        }
    }
    if fields.is_empty() {
        return Ok(());
    }
    let read = database.metered_snapshot(request_budget.budget()).await?;
    let finder = HintFinder {
        read: &*read,
        request_budget,
    };
    finder.find(hints, fields).await
}

/// A root field with an empty result.
struct EmptyField<'d> {
    field: &'d PlannedField,
    arguments: GivenArguments<'d>,
    /// The elements that are null.
    nulls: Vec<usize>,
}

/// The hint of an error that a mutation would avoid.
fn of_error(error: &ServerError) -> Option<Hint> {
    let ours: &Error = error.source()?;
    let mutation = ours.facts()?.remedy.clone()?;
    Some(missing(error.path.clone(), mutation))
}

fn missing(path: Vec<PathSegment>, mutation: String) -> Hint {
    Hint {
        code: HintCode::MissingIndex,
        path,
        message: format!("no index serves this query; this operation creates one: {mutation}"),
        suggestion: Some(mutation),
    }
}

/// Looks for the mistakes in an operation.
struct HintFinder<'r> {
    read: &'r dyn Read,
    request_budget: &'r RequestBudget,
}

impl HintFinder<'_> {
    async fn find(&self, hints: &mut Vec<Hint>, fields: Vec<EmptyField<'_>>) -> Result<()> {
        for empty in fields {
            if hints.len() >= HINTS_MAX {
                break;
            }
            let EmptyField {
                field,
                arguments,
                nulls,
            } = empty;
            let at = path(field, None);
            match &field.field {
                Field::Document { path, .. } => {
                    let is_whole = matches!(path, Where::Fixed(path) if path == Path::root());
                    hints.extend(self.of_document(at, &arguments, is_whole).await?);
                }
                Field::TypedDocument { collection, .. } => {
                    let key = arguments.get("key");
                    hints.extend(self.of_typed_document(at, collection, key).await?);
                }
                Field::NodeById(..) => hints.extend(self.of_node(at, arguments.get("id")).await?),
                Field::NodesById(..) => {
                    let ids = arguments.get("ids");
                    self.of_nodes(hints, field, ids, &nulls).await?;
                }
                Field::Documents(..) => self.of_documents(hints, at, arguments).await?,
                Field::Aggregate(..) => {
                    hints.extend(self.of_collection(at, arguments.collection()).await?);
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn of_documents(
        &self,
        hints: &mut Vec<Hint>,
        path: Vec<PathSegment>,
        arguments: GivenArguments<'_>,
    ) -> Result<()> {
        let collection = arguments.collection();
        if let Some(hint) = self.of_collection(path.clone(), collection).await? {
            hints.push(hint);
            return Ok(());
        }
        let mut request = DocumentsRequest::default();
        for (name, value) in &arguments.0 {
            if request.set(name, value.clone()).is_err() {
                return Ok(());
            }
        }
        // The page behind the last one is empty.
        if request.page.after.is_some() || request.page.before.is_some() {
            return Ok(());
        }
        let given = collection.unwrap_or(DEFAULT_COLLECTION).to_owned();
        let found = self.of_keys(&path, &given, arguments.get("keys")).await?;
        if !found.is_empty() {
            hints.extend(found);
            return Ok(());
        }
        let select = request.query(self.request_budget, false).await?.select;
        if select.page.size == 0 {
            return Ok(());
        }
        let budget = self.request_budget.budget();
        let mutation = missing_index(self.read, budget, &select).await?;
        hints.extend(mutation.map(|mutation| missing(path, mutation)));
        Ok(())
    }

    /// The hint that the collection holds nothing. `given` is none if the default applies.
    async fn of_collection(
        &self,
        path: Vec<PathSegment>,
        given: Option<&str>,
    ) -> Result<Option<Hint>> {
        let collection = given.unwrap_or(DEFAULT_COLLECTION);
        if collection.is_empty() || is_there(self.read, collection).await? {
            return Ok(None);
        }
        let near = near_names(self.read, self.request_budget.budget(), collection).await?;
        // In an empty store nothing is wrong.
        let Some(first) = near.names.first() else {
            return Ok(None);
        };
        let names: Vec<String> = near
            .names
            .iter()
            .map(|name| format!("{:?}", abridged(name)))
            .collect();
        let names = names.join(", ");
        let default = if given.is_none() {
            ", which is the default of the argument `collection`"
        } else {
            ""
        };
        let known = if near.similar {
            format!("similar names are {names}")
        } else {
            format!("the store has {names}; `collections` lists all")
        };
        let collection = abridged(collection);
        Ok(Some(Hint {
            code: HintCode::UnknownCollection,
            path,
            message: format!("the collection {collection:?}{default} holds nothing; {known}"),
            suggestion: near.similar.then(|| first.clone()),
        }))
    }
}

/// The given arguments of a field.
struct GivenArguments<'d>(Vec<(&'d str, Value)>);

impl<'d> GivenArguments<'d> {
    /// The arguments of a root field that has hints.
    fn of(arguments: PlanArguments<'_>, field: &'d Field) -> Self {
        let given: Vec<(&'d str, Option<&'d Input>)> = match field {
            Field::Document { collection, id, .. } => {
                vec![("collection", collection.as_ref()), ("id", Some(id))]
            }
            Field::TypedDocument { key, .. } => vec![("key", Some(key))],
            Field::NodeById(id, _) => vec![("id", Some(id))],
            Field::NodesById(ids, _) => vec![("ids", Some(ids))],
            Field::Documents(given, _) | Field::Aggregate(given, _) => {
                let given = given.iter();
                given.map(|(name, value)| (&**name, Some(value))).collect()
            }
            _ => Vec::new(),
        };
        let given = given.into_iter();
        let values = given.filter_map(|(name, value)| Some((name, arguments.value(value?)?)));
        Self(values.collect())
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let mut arguments = self.0.iter();
        let argument = arguments.find(|(argument, _)| *argument == name);
        argument.map(|(_, value)| value)
    }

    /// The collection, if it is given.
    fn collection(&self) -> Option<&str> {
        match self.get("collection") {
            Some(Value::String(name)) => Some(name),
            _ => None,
        }
    }
}
