//! What a subscription follows.

use std::time::Duration;

use async_graphql::parser::types::Field;
use async_graphql::{InputType, Value, Variables};

use crate::database::{ChangeCursor, FollowFrom, Interest, check_collection};
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, Limit, Result};
use crate::graphql::arguments::place_input::DEFAULT_COLLECTION;
use crate::graphql::execute::planned::{PageArguments, Plan, PlanArguments};
use crate::graphql::prepare::plan::Field as PlanField;
use crate::graphql::scalars::scalar_types::{PathScalar, path_argument};
use crate::graphql::variables::coerced::Coerced;
use crate::limits::{LIVE_PAGE_TIME_MIN, LIVE_SCAN_DOCUMENTS_MAX};

/// What a subscription follows.
pub(crate) enum SubscriptionTarget {
    /// The newest result of the operation. It is executed again after changes that the interest
    /// includes, but not sooner than this time after the last execution.
    Live(Interest, Duration),
    /// Each change that the interest includes, from a position on.
    Changes(Interest, FollowedSpan),
}

/// Which part of the change log a subscription follows.
pub(crate) struct FollowedSpan {
    pub(crate) from: FollowFrom,
    /// Whether it waits for further changes at the end of the log.
    pub(crate) waits: bool,
}

/// What the subscription with this root field follows. `resumed_after` is a cursor that the client
/// gave apart from the operation.
///
/// # Errors
/// `BAD_USER_INPUT`, `INVALID_PATH`: an argument has no meaning.
pub(crate) fn target(
    field: &Field,
    (plan, variables): (&Plan, &Coerced),
    resumed_after: Option<&str>,
) -> Result<SubscriptionTarget> {
    if let Some(typed) = typed_target(plan, variables)? {
        return Ok(typed);
    }
    let variables = &variables.values;
    let arguments = Arguments { field, variables };
    let collection = arguments
        .text("collection")?
        .unwrap_or_else(|| DEFAULT_COLLECTION.to_owned());
    check_collection(&collection)?;
    let id = arguments
        .text("id")?
        .as_deref()
        .map(DocumentId::parse)
        .transpose()?;
    if field.name.node == "documents" {
        check_scan_limit(arguments.value("scanLimit")?)?;
        let interest = Interest::in_collection(collection);
        return Ok(SubscriptionTarget::Live(interest, LIVE_PAGE_TIME_MIN));
    }
    let path: Option<PathScalar> = arguments.value("path")?;
    let path = path_argument(path.as_ref())?;
    let interest = match id {
        Some(id) => Interest::in_path(collection, id, &path),
        None if path.tokens().is_empty() => Interest::in_collection(collection),
        None => {
            return Err(Error::bad_input(
                "`path` is a path in a document: give its `id`",
            ));
        }
    };
    if field.name.node == "document" {
        return Ok(SubscriptionTarget::Live(interest, Duration::ZERO));
    }
    let after = match resumed_after {
        Some(after) => Some(after.to_owned()),
        None => arguments.text("after")?,
    };
    let from_start = arguments.value("fromStart")?.unwrap_or(false);
    let from = match after.as_deref().map(ChangeCursor::parse).transpose()? {
        // A client that lost its connection resumes with the cursor.
        Some(after) if !from_start || resumed_after.is_some() => FollowFrom::Cursor(after),
        Some(_) => {
            return Err(Error::bad_input(
                "`fromStart` begins with the first change in the log: omit `after`",
            ));
        }
        None if from_start => FollowFrom::Beginning,
        None => FollowFrom::Now,
    };
    let waits = arguments.value("follow")?.unwrap_or(true);
    Ok(SubscriptionTarget::Changes(
        interest,
        FollowedSpan { from, waits },
    ))
}

/// What a subscription to documents of a collection with a type follows. None if it is another one.
///
/// # Errors
/// As [`target`].
fn typed_target(plan: &Plan, variables: &Coerced) -> Result<Option<SubscriptionTarget>> {
    let arguments = PlanArguments(variables);
    let field = plan.root.0.first().map(|selected| &selected.field);
    Ok(Some(match field {
        Some(PlanField::TypedDocument {
            collection, key, ..
        }) => {
            let id = DocumentId::parse(&arguments.id(key)?)?;
            let interest = Interest::in_path(collection.to_string(), id, &Path::default());
            SubscriptionTarget::Live(interest, Duration::ZERO)
        }
        Some(PlanField::TypedDocuments(selected)) => {
            let request = arguments.page(PageArguments::Typed(selected))?;
            check_scan_limit(request.scan_limit)?;
            let interest = Interest::in_collection(request.collection);
            SubscriptionTarget::Live(interest, LIVE_PAGE_TIME_MIN)
        }
        _ => return Ok(None),
    }))
}

/// Checks the number of documents that may be examined for a live page after each change.
///
/// # Errors
/// `BAD_USER_INPUT`: more than [`LIVE_SCAN_DOCUMENTS_MAX`].
fn check_scan_limit(scan_limit: Option<i32>) -> Result<()> {
    let limit = scan_limit.and_then(|limit| usize::try_from(limit).ok());
    let Some(limit) = limit.filter(|limit| *limit > LIVE_SCAN_DOCUMENTS_MAX) else {
        return Ok(());
    };
    Err(Error::bad_input(format!(
        "`scanLimit` is {limit}; a subscription may examine at most {LIVE_SCAN_DOCUMENTS_MAX} \
         documents"
    ))
    .with_limit(Limit::new("scanLimit", LIVE_SCAN_DOCUMENTS_MAX)))
}

/// The arguments of a field.
struct Arguments<'a> {
    field: &'a Field,
    variables: &'a Variables,
}

impl Arguments<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        let argument = self.field.get_argument(name)?;
        let variable = |name| self.variables.get(&name).cloned().ok_or(());
        argument.node.clone().into_const_with(variable).ok()
    }

    fn value<T: InputType>(&self, name: &str) -> Result<Option<T>> {
        let Some(value) = self.get(name).filter(|value| *value != Value::Null) else {
            return Ok(None);
        };
        let parsed = T::parse(Some(value));
        parsed.map(Some).map_err(|_| {
            Error::bad_input(format!("the argument `{name}` has a value of another type"))
        })
    }

    /// The value of an argument of type `ID` or `String`.
    fn text(&self, name: &str) -> Result<Option<String>> {
        let value: Option<async_graphql::ID> = self.value(name)?;
        Ok(value.map(|id| id.0))
    }
}
