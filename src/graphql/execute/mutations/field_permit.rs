//! What the rules allow one root field of a mutation, and the conditions that its documents must pass.

use std::sync::Arc;

use super::session::MutationSession;
use crate::database::query::passing;
use crate::database::{DocumentKey, exists};
use crate::document::filter::Filter;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::given::Outcome;

/// What the rules allow one root field of a mutation.
pub(super) struct FieldPermit {
    /// The document that is changed or stored, if its id is known.
    pub(super) document: Option<Arc<DocumentKey>>,
    /// What the document must pass before and after it is changed.
    pub(super) changed: Option<RuleCondition>,
    /// What the document must pass after it is stored.
    pub(super) created: Option<RuleCondition>,
    /// Whether the function may store the document if it does not exist. None if it does not do that.
    pub(super) creation: Option<Creation>,
    /// What the documents must pass from which values are taken.
    pub(super) sources: Vec<(DocumentKey, RuleCondition)>,
    /// What each document must pass that the function selects, before and after it is changed.
    pub(super) selected: Option<RuleCondition>,
    /// Whether the result has a removed value that only a condition allows to read.
    pub(super) returns_conditional: bool,
    /// What the documents must pass that are selected from the result.
    pub(super) result: Vec<(DocumentKey, Filter)>,
    /// Whether a document whose id is not known must pass something to be selected from the result.
    pub(super) result_is_unknown: bool,
    /// What the rules allow the writes of `writeDocuments`, in their order.
    pub(super) writes: Vec<FieldPermit>,
    /// The error if the result must not be returned again.
    pub(super) refusal: Error,
}

/// A condition, and the error of documents that do not pass it.
#[derive(Clone)]
pub(super) struct RuleCondition {
    pub(super) filter: Filter,
    pub(super) refusal: Error,
}

/// Whether a document may be stored if it does not exist.
pub(super) enum Creation {
    Allowed,
    /// If it passes this afterwards.
    Conditional(RuleCondition),
    Refused(Error),
}

/// What was found before a field was executed.
#[derive(Clone, Copy)]
pub(super) struct CheckedBefore {
    /// Whether the field stores a document that did not exist.
    creates: bool,
}

impl FieldPermit {
    /// What the rules allow `writeDocuments`.
    pub(super) fn of_writes(writes: Vec<Self>) -> Self {
        Self {
            document: None,
            changed: None,
            created: None,
            creation: None,
            sources: Vec::new(),
            selected: None,
            returns_conditional: false,
            result: Vec::new(),
            result_is_unknown: false,
            writes,
            refusal: mismatch(),
        }
    }

    /// Checks the conditions before the function of the field is called. A document that does not exist
    /// passes none.
    ///
    /// # Errors
    /// `FORBIDDEN`: a document does not pass. Errors of the store.
    pub(super) async fn check_before(&self, session: &MutationSession) -> Result<CheckedBefore> {
        for (document, condition) in &self.sources {
            check(session, document, condition).await?;
        }
        let mut creates = false;
        if let Some(document) = &self.document {
            let is_limited = !matches!(self.creation, None | Some(Creation::Allowed));
            if is_limited || self.changed.is_some() {
                let exists = exists(session.transaction(), document).await?;
                creates = !exists && self.creation.is_some();
            }
            match (&self.changed, &self.creation) {
                // Not distinguished from a document that does not pass.
                (Some(changed), Some(Creation::Refused(_))) if creates => {
                    return Err(changed.refusal.clone());
                }
                (None, Some(Creation::Refused(refusal))) if creates => return Err(refusal.clone()),
                (Some(changed), _) if !creates => check(session, document, changed).await?,
                _ => {}
            }
        }
        Ok(CheckedBefore { creates })
    }

    /// Checks the conditions after the function of the field was called. Those of selected documents are
    /// checked where they are changed.
    ///
    /// # Errors
    /// As [`FieldPermit::check_before`].
    pub(super) async fn check_after(
        &self,
        session: &MutationSession,
        before: CheckedBefore,
        outcome: &Outcome,
    ) -> Result<()> {
        let document = match outcome {
            Outcome::Document(document) | Outcome::IfAbsent(document, _) => document,
            Outcome::Deletion(deletion) if !deletion.is_of_whole() => &deletion.document,
            _ => return Ok(()),
        };
        for condition in [&self.changed, &self.created].into_iter().flatten() {
            check(session, document, condition).await?;
        }
        match &self.creation {
            Some(Creation::Conditional(condition)) if before.creates => {
                check(session, document, condition).await
            }
            _ => Ok(()),
        }
    }

    /// Checks documents that the function selected and changed.
    ///
    /// # Errors
    /// As [`FieldPermit::check_before`].
    pub(super) async fn check_selected(
        &self,
        session: &MutationSession,
        collection: &str,
        changed: &[Arc<DocumentKey>],
    ) -> Result<()> {
        let Some(RuleCondition { filter, refusal }) = &self.selected else {
            return Ok(());
        };
        let ids: Vec<_> = changed.iter().map(|document| document.id.clone()).collect();
        let (transaction, budget) = (session.transaction(), session.budget());
        let passed = passing(transaction, budget, collection, filter, &ids).await?;
        if passed.contains(&false) {
            return Err(refusal.clone());
        }
        Ok(())
    }

    /// Checks whether the stored response of this field may be returned again.
    ///
    /// # Errors
    /// `FORBIDDEN`: a document does not pass now, or cannot be read now. Errors of the store.
    pub(super) async fn check_again(&self, session: &MutationSession) -> Result<()> {
        for write in &self.writes {
            Box::pin(write.check_again(session)).await?;
        }
        if self.returns_conditional || self.result_is_unknown {
            return Err(self.refusal.clone());
        }
        for (document, filter) in &self.result {
            let condition = RuleCondition {
                filter: filter.clone(),
                refusal: self.refusal.clone(),
            };
            check(session, document, &condition).await?;
        }
        Ok(())
    }
}

/// Checks that a document exists and passes a condition.
async fn check(
    session: &MutationSession,
    document: &DocumentKey,
    RuleCondition { filter, refusal }: &RuleCondition,
) -> Result<()> {
    let (transaction, budget) = (session.transaction(), session.budget());
    if !exists(transaction, document).await? {
        return Err(refusal.clone());
    }
    let ids = std::slice::from_ref(&document.id);
    let passed = passing(transaction, budget, &document.collection, filter, ids).await?;
    match passed.first() {
        Some(true) => Ok(()),
        _ => Err(refusal.clone()),
    }
}
