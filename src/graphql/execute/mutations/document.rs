//! The functions that change or test one document.

use std::sync::Arc;

use async_graphql::{ID, MaybeUndefined};

use super::call::{Call, CallError, TargetArguments};
use crate::budget::Budget;
use crate::database::{self, DocumentKey};
use crate::document::id::DocumentId;
use crate::document::parse_merge_patch::MergePatch;
use crate::document::path::Path;
use crate::document::{number, patch as json_patch};
use crate::error::Result;
use crate::graphql::arguments::filter_input::FilterInput;
use crate::graphql::arguments::place_input::PlaceInput;
use crate::graphql::arguments::required::{in_argument, path_of_change};
use crate::graphql::execute::planned::given::Outcome;
use crate::graphql::scalars::scalar_types::{Json, PathScalar};
use crate::key::Version;
use crate::store::Transaction;

pub(super) async fn insert(call: &Call<'_>) -> Result<Outcome, CallError> {
    let document: MaybeUndefined<Json> = call.argument("document")?;
    let id: Option<ID> = call.argument("id")?;
    let collection = call.collection()?;
    database::check_collection(&collection)?;
    let id = id.map(|id| DocumentId::parse(&id)).transpose()?;
    let session = call.session;
    let leaves = call.leaves(&document).await?;
    let (transaction, budget) = (session.transaction(), session.budget());
    let inserted = |document: &Arc<DocumentKey>| {
        session.inserted(document);
        session.wrote(call.field, [document.clone()]);
    };
    if call.if_absent()? {
        let stored = database::insert_if_absent(transaction, budget, &collection, id, &leaves);
        let (document, created) = stored.await?;
        let document = Arc::new(document);
        if created {
            inserted(&document);
        }
        return Ok(Outcome::IfAbsent(document, created));
    }
    let document = database::insert(transaction, budget, &collection, id, &leaves).await?;
    let document = Arc::new(document);
    inserted(&document);
    Ok(Outcome::Document(document))
}

pub(super) async fn replace(call: &Call<'_>) -> Result<Outcome, CallError> {
    let document: MaybeUndefined<Json> = call.argument("document")?;
    let at = ChangeArguments::of(call)?;
    let parents = call.missing_parents()?;
    let leaves = call.leaves(&document).await?;
    let change = at.begin(call).await?;
    let (transaction, budget, document, path) = change.target();
    if call.if_absent()? {
        let stored = database::put_if_absent(transaction, budget, document, path, &leaves, parents);
        let created = stored.await?;
        let document = document.clone();
        change.finish(call, created);
        return Ok(Outcome::IfAbsent(document, created));
    }
    let changed = database::replace(transaction, budget, document, path, &leaves, parents).await?;
    Ok(change.finish(call, changed))
}

pub(super) async fn copy(call: &Call<'_>) -> Result<Outcome, CallError> {
    let from: PlaceInput = call.argument("from")?;
    let parents = call.missing_parents()?;
    let change = Change::begin(call).await?;
    let (transaction, budget, document, path) = change.target();
    let memory = budget.reserve();
    let leaves = from
        .read(
            transaction,
            &call.session.request_budget,
            &memory,
            Some(document),
        )
        .await?;
    let changed = database::replace(transaction, budget, document, path, &leaves, parents).await?;
    Ok(change.finish(call, changed))
}

pub(super) async fn test(call: &Call<'_>) -> Result<Outcome, CallError> {
    let matches: FilterInput = call.argument("matches")?;
    let at = ChangeArguments {
        target: call.target()?,
        path: Some(PathScalar::default()),
        version: None,
    };
    let change = at.begin(call).await?;
    let filter = matches
        .read(&call.session.request_budget)
        .await
        .map_err(|error| in_argument("matches", error))?;
    let (transaction, budget, document, _) = change.target();
    database::test_document(transaction, budget, document, &filter).await?;
    Ok(change.finish(call, false))
}

pub(super) async fn merge(call: &Call<'_>) -> Result<Outcome, CallError> {
    let patch: MaybeUndefined<Json> = call.argument("patch")?;
    let at = ChangeArguments::of(call)?;
    let patch = call.patch(&patch, MergePatch::parse).await?;
    let change = at.begin(call).await?;
    let (transaction, budget, document, path) = change.target();
    let changed = if call.planned.typed.is_some() {
        database::merge_document(transaction, budget, document, &patch).await?
    } else {
        database::merge(transaction, budget, document, path, &patch).await?
    };
    Ok(change.finish(call, changed))
}

pub(super) async fn patch(call: &Call<'_>) -> Result<Outcome, CallError> {
    let patch: MaybeUndefined<Json> = call.argument("patch")?;
    let at = ChangeArguments::of(call)?;
    let parents = call.missing_parents()?;
    let operations = call.patch(&patch, json_patch::parse).await?;
    let change = at.begin(call).await?;
    let (transaction, budget, document, path) = change.target();
    let changed =
        database::patch(transaction, budget, document, path, &operations, parents).await?;
    Ok(change.finish(call, changed))
}

pub(super) async fn increment(call: &Call<'_>) -> Result<Outcome, CallError> {
    let by = call.argument_or("by", Json::one())?;
    let at = ChangeArguments::of(call)?;
    let parents = call.missing_parents()?;
    let by = number::parse(&by.0).map_err(|error| in_argument("by", error))?;
    let change = at.begin(call).await?;
    let (transaction, budget, document, path) = change.target();
    let changed = database::increment(transaction, budget, document, path, &by, parents).await?;
    Ok(change.finish(call, changed))
}

pub(super) async fn update(call: &Call<'_>) -> Result<Outcome, CallError> {
    let lists = call.update_lists()?;
    let at = ChangeArguments {
        target: call.target()?,
        path: Some(PathScalar::default()),
        version: call.version()?,
    };
    let change = at.begin(call).await?;
    let (transaction, budget, document, _) = change.target();
    let memory = budget.reserve();
    let request_budget = &call.session.request_budget;
    let updates = lists
        .read(transaction, request_budget, &memory, Some(document))
        .await?;
    let changed = database::update_document(transaction, budget, document, &updates).await?;
    Ok(change.finish(call, changed))
}

/// The arguments that say what is changed.
struct ChangeArguments {
    target: TargetArguments,
    path: Option<PathScalar>,
    version: Option<Version>,
}

impl ChangeArguments {
    fn of(call: &Call<'_>) -> Result<Self, CallError> {
        Ok(Self {
            target: call.target()?,
            path: call.path()?,
            version: call.version()?,
        })
    }

    /// Checks the arguments and the expected version.
    async fn begin<'c>(self, call: &Call<'c>) -> Result<Change<'c>> {
        let path = path_of_change(self.path.as_ref())?;
        let session = call.session;
        session.request_budget.check()?;
        let document = self.target.document(session).await?;
        session.expect_version(&document, self.version).await?;
        let transaction = session.transaction();
        // Under conflict: an element that another writer appends changes which one is the last.
        let memory = &session.request_budget.memory;
        let path = database::settled_path(transaction, &document, path, memory).await?;
        Ok(Change {
            transaction,
            budget: session.budget(),
            document,
            path,
        })
    }
}

/// A change of one document.
pub(super) struct Change<'c> {
    transaction: &'c dyn Transaction,
    budget: &'c Budget,
    pub(super) document: Arc<DocumentKey>,
    pub(super) path: Path,
}

impl<'c> Change<'c> {
    /// Reads and checks the arguments that say what is changed.
    pub(super) async fn begin(call: &Call<'c>) -> Result<Self, CallError> {
        Ok(ChangeArguments::of(call)?.begin(call).await?)
    }

    /// The first arguments of every operation that changes a document.
    pub(super) fn target(&self) -> (&'c dyn Transaction, &'c Budget, &Arc<DocumentKey>, &Path) {
        (self.transaction, self.budget, &self.document, &self.path)
    }

    /// The whole document after an operation that may have changed it.
    fn finish(self, call: &Call<'_>, changed: bool) -> Outcome {
        if changed {
            call.session.wrote(call.field, [self.document.clone()]);
        }
        Outcome::Document(self.document)
    }
}
