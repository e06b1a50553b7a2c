//! What the fields of one mutation share: the transaction, the budget, and the documents written so far.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use async_graphql::{PathSegment, Pos, ServerError};

use crate::budget::Budget;
use crate::database::{DocumentKey, depend_on_version, version_before};
use crate::error::{Error, Limit, Result, Versions};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::prepare::plan::PlannedField;
use crate::key::Version;
use crate::store::Transaction;

/// The shared state of one attempt of a mutation.
pub(crate) struct MutationSession {
    pub(crate) transaction: Arc<dyn Transaction>,
    pub(crate) request_budget: Arc<RequestBudget>,
    /// Whether the mutation has several fields, so that a later one may need the version from
    /// before an earlier one.
    several: bool,
    /// The limit on the bytes of the transaction, if the store has one.
    pub(crate) bytes_max: Option<usize>,
    written: Mutex<HashMap<Arc<DocumentKey>, Arc<FieldPosition>>>,
    /// The versions that documents had before this operation, as far as they were read.
    before: Mutex<HashMap<Arc<DocumentKey>, Option<Version>>>,
    /// The number of documents that this operation has appended.
    appended: AtomicUsize,
    /// The time of this attempt, which all fields of the operation store.
    pub(crate) time: SystemTime,
}

/// The position of a field in the query, and its name in the response.
struct FieldPosition {
    at: Pos,
    key: String,
}

impl MutationSession {
    /// The session of a mutation with one or `several` fields. `bytes_max` limits its transaction.
    pub(crate) fn new(
        transaction: Arc<dyn Transaction>,
        request_budget: &Arc<RequestBudget>,
        several: bool,
        bytes_max: Option<usize>,
    ) -> Self {
        Self {
            transaction,
            request_budget: request_budget.clone(),
            several,
            bytes_max,
            written: Mutex::default(),
            before: Mutex::default(),
            appended: AtomicUsize::new(0),
            time: SystemTime::now(),
        }
    }

    /// The budget of the request.
    pub(crate) fn budget(&self) -> &Budget {
        self.request_budget.budget()
    }

    /// The transaction.
    pub(crate) fn transaction(&self) -> &dyn Transaction {
        &*self.transaction
    }

    /// Checks that a document had the `expected` version before this operation, if one is given.
    /// Must be called before the operation first writes the document: after a write, the version is
    /// unknown until the commit.
    ///
    /// # Errors
    /// `VERSION_MISMATCH`: the document had another version or none.
    pub(crate) async fn expect_version(
        &self,
        document: &Arc<DocumentKey>,
        expected: Option<Version>,
    ) -> Result<()> {
        if expected.is_none() && !self.several {
            return Ok(());
        }
        let transaction = self.transaction();
        let known = self.before().get(document).copied();
        let before = if let Some(before) = known {
            before
        } else {
            let before = version_before(transaction, document).await?;
            self.before().insert(document.clone(), before);
            before
        };
        let Some(expected) = expected else {
            return Ok(());
        };
        depend_on_version(transaction, document)?;
        if before == Some(expected) {
            return Ok(());
        }
        let DocumentKey { collection, id } = &**document;
        let found = before.map_or_else(
            || "has no version or does not exist".to_owned(),
            |before| format!("has the version {before}"),
        );
        let versions = Versions {
            expected: expected.to_string(),
            current: before.map(|before| before.to_string()),
        };
        Err(Error::version_mismatch(
            versions,
            format!("the document {id} in the collection {collection:?} {found}, not {expected}"),
        ))
    }

    /// Records that this operation inserted a document, which had no version before.
    pub(crate) fn inserted(&self, document: &Arc<DocumentKey>) {
        if self.several {
            self.before().entry(document.clone()).or_insert(None);
        }
    }

    /// The number of the next document that this operation appends.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: a versionstamp has no greater number.
    pub(crate) fn next_append(&self) -> Result<u16> {
        let number = self.appended.fetch_add(1, Relaxed);
        u16::try_from(number).map_err(|_| {
            let max = usize::from(u16::MAX) + 1;
            Error::too_complex(
                Limit::new("appendedDocuments", max),
                format!("one operation appends at most {max} documents"),
            )
        })
    }

    /// Records that a field of this operation has written documents.
    pub(crate) fn wrote(
        &self,
        field: &PlannedField,
        documents: impl IntoIterator<Item = Arc<DocumentKey>>,
    ) {
        let field = Arc::new(FieldPosition {
            at: field.pos,
            key: field.key.to_string(),
        });
        let documents = documents.into_iter();
        let written = documents.map(|document| (document, field.clone()));
        self.written().extend(written);
    }

    /// Whether this operation has written a document.
    pub(crate) fn has_written(&self, document: &DocumentKey) -> bool {
        self.written().contains_key(document)
    }

    /// Adds the position and the path of the field that wrote a document last to an error.
    pub(crate) fn place(&self, document: &DocumentKey, error: ServerError) -> ServerError {
        match self.written().get(document) {
            Some(field) => ServerError {
                locations: vec![field.at],
                path: vec![PathSegment::Field(field.key.clone())],
                ..error
            },
            None => error,
        }
    }

    fn before(&self) -> MutexGuard<'_, HashMap<Arc<DocumentKey>, Option<Version>>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self) -> MutexGuard<'_, HashMap<Arc<DocumentKey>, Arc<FieldPosition>>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
