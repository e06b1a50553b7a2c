//! The validation of values against a type, as streams of pairs.

use std::mem::take;
use std::sync::{Mutex, PoisonError};

use crate::budget::{Budget, Steps};
use crate::database::document_key::{DocumentKey, below, covers, is_pending, prefix_end};
use crate::document::leaf::abridged;
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result, TypeViolation};
use crate::key::{KeyStep, Leaves, Malformed, step};
use crate::limits::{LEAVES_PER_PACE, REFERENCES_CHECKED_MAX, TYPE_VIOLATIONS_MAX};
use crate::store::{Batches, RangeRead, Transaction};
use crate::types::{
    CollectionType, NotValidated, SeenReference, Validator, Violation, too_many_references,
};

/// Passes pairs to a validator. Their keys are relative to its value.
///
/// # Errors
/// The pairs are malformed. As [`Budget::pace`].
pub(crate) async fn push_all<'p>(
    validator: &mut Validator<'_>,
    budget: &Budget,
    pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>,
) -> Result<(), NotValidated> {
    for (at, (key, value)) in pairs.enumerate() {
        validator.push(key, value)?;
        if at % LEAVES_PER_PACE == LEAVES_PER_PACE - 1 {
            budget.pace(LEAVES_PER_PACE as u64).await?;
        }
    }
    Ok(())
}

/// The places that a validator has found not to fit, and the references that it has seen.
///
/// # Errors
/// As [`push_all`].
fn found_with_references(
    validator: Validator<'_>,
) -> Result<(Vec<TypeViolation>, Vec<SeenReference>), NotValidated> {
    let (violations, references) = validator.finish_with_references()?;
    Ok((
        violations.listed().iter().map(in_error).collect(),
        references,
    ))
}

/// The places that a validator has found not to fit.
///
/// # Errors
/// As [`push_all`].
pub(crate) fn found(validator: Validator<'_>) -> Result<Vec<TypeViolation>, NotValidated> {
    let violations = validator.finish()?;
    Ok(violations.listed().iter().map(in_error).collect())
}

/// The error of a write whose value could not be validated.
fn not_validated(error: NotValidated) -> Error {
    match error {
        NotValidated::Malformed(error) => damaged(error),
        NotValidated::Failed(error) => error,
    }
}

fn damaged(error: Malformed) -> Error {
    Error::internal(format!("a value that is validated: {error}"))
}

fn in_error(violation: &Violation) -> TypeViolation {
    TypeViolation {
        place: violation.place.to_string(),
        keyword: violation.keyword.to_owned(),
        expected: violation.expected.clone(),
        value: violation.value(),
    }
}

/// Validates the value at a place, whose leaves are known. Returns the references that depend on other documents,
/// too.
///
/// # Errors
/// `INTERNAL`: the leaves are malformed. As [`Budget::pace`].
pub(crate) async fn of_leaves(
    of: &CollectionType,
    place: &Place,
    budget: &Budget,
    leaves: &Leaves,
) -> Result<(Vec<TypeViolation>, Vec<SeenReference>)> {
    let steps = Steps::of(budget);
    let mut validator = of.referring_validator(&place.0, &steps);
    let pushed = push_all(&mut validator, budget, leaves.iter()).await;
    pushed.map_err(not_validated)?;
    found_with_references(validator).map_err(not_validated)
}

/// A document that is being changed, and the type of its collection.
pub(crate) struct TypedDocument<'d> {
    of: &'d CollectionType,
    transaction: &'d dyn Transaction,
    budget: &'d Budget,
    document: &'d DocumentKey,
    prefix: Vec<u8>,
    /// The references that were seen.
    references: Mutex<Vec<SeenReference>>,
}

impl<'d> TypedDocument<'d> {
    /// A document of a collection with this type.
    ///
    /// # Errors
    /// `TOO_LARGE`: its key exceeds the limit.
    pub(crate) fn new(
        of: &'d CollectionType,
        transaction: &'d dyn Transaction,
        budget: &'d Budget,
        document: &'d DocumentKey,
    ) -> Result<Self> {
        Ok(Self {
            of,
            transaction,
            budget,
            document,
            prefix: document.place(&Place::default())?,
            references: Mutex::default(),
        })
    }

    /// The key of the whole document.
    pub(crate) fn key(&self) -> &[u8] {
        &self.prefix
    }

    /// The budget of the edit.
    pub(crate) fn budget(&self) -> &'d Budget {
        self.budget
    }

    /// Validates the value at a key. Its leaves are read if they are not known.
    pub(crate) async fn value(
        &self,
        key: &[u8],
        leaves: Option<&Leaves>,
    ) -> Result<Vec<TypeViolation>> {
        let place = self.place(key)?;
        if self.of.accepts_everything_at(&place.0) {
            return Ok(Vec::new());
        }
        if let Some(leaves) = leaves {
            let (violations, references) = of_leaves(self.of, &place, self.budget, leaves).await?;
            return self.seen(violations, references);
        }
        let steps = Steps::of(self.budget);
        let mut validator = self.of.referring_validator(&place.0, &steps);
        let free = self.transaction.without_conflict();
        let mut batches = Batches::new(free, key, prefix_end(key));
        while let Some(pairs) = batches.next().await? {
            let pairs = pairs
                .iter()
                .map(|(stored, value)| (&stored[key.len()..], value));
            let pushed = push_all(&mut validator, self.budget, pairs).await;
            pushed.map_err(not_validated)?;
        }
        self.found(validator)
    }

    /// The references that were seen so far, each of which depends on other documents.
    pub(crate) fn take_references(&self) -> Vec<SeenReference> {
        take(
            &mut *self
                .references
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn found(&self, validator: Validator<'_>) -> Result<Vec<TypeViolation>> {
        let (violations, references) = found_with_references(validator).map_err(not_validated)?;
        self.seen(violations, references)
    }

    fn seen(
        &self,
        violations: Vec<TypeViolation>,
        references: Vec<SeenReference>,
    ) -> Result<Vec<TypeViolation>> {
        let mut seen = self
            .references
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if seen.len() + references.len() > REFERENCES_CHECKED_MAX {
            return Err(too_many_references());
        }
        seen.extend(references);
        Ok(violations)
    }

    /// Validates the whole document, which the client may not be allowed to read: reports only whether it
    /// fits.
    pub(crate) async fn elsewhere(&self) -> Result<Option<TypeViolation>> {
        let violations = self.value(&self.prefix, None).await?;
        Ok((!violations.is_empty()).then(|| TypeViolation {
            place: String::new(),
            keyword: "type".to_owned(),
            expected: "a document that fits at all places, because another program stored it; \
                       after `phyllo adopt` it can be corrected step by step"
                .to_owned(),
            value: None,
        }))
    }

    /// Validates the elements of an array from an index on, until so many violations are found.
    pub(crate) async fn elements(
        &self,
        array: &[u8],
        first: u64,
        violations_max: usize,
    ) -> Result<Vec<TypeViolation>> {
        let begin = below(array, &Segment::Index(first));
        let place = self.place(&begin)?;
        if self.of.accepts_everything_at(&place.0) {
            return Ok(Vec::new());
        }
        let steps = Steps::of(self.budget);
        let free = self.transaction.without_conflict();
        let mut batches = Batches::new(free, begin, prefix_end(array));
        let mut violations = Vec::new();
        let mut open: Option<(Vec<u8>, Validator<'_>)> = None;
        while let Some(pairs) = batches.next().await? {
            self.budget.pace(pairs.len() as u64).await?;
            for (key, value) in pairs.iter() {
                if !matches!(&open, Some((element, _)) if covers(element, key)) {
                    if let Some((_, validator)) = open.take() {
                        violations.extend(self.found(validator)?);
                        if violations.len() >= violations_max {
                            return Ok(violations);
                        }
                    }
                    let bytes = step(&key[array.len()..]).map_or(0, |(_, bytes)| bytes);
                    let element = key[..array.len() + bytes].to_vec();
                    let place = self.place(&element)?;
                    let validator = self.of.referring_validator(&place.0, &steps);
                    open = Some((element, validator));
                }
                if let Some((element, validator)) = &mut open {
                    let pushed = validator.push(&key[element.len()..], value);
                    pushed.map_err(not_validated)?;
                }
            }
        }
        if let Some((_, validator)) = open {
            violations.extend(self.found(validator)?);
        }
        Ok(violations)
    }

    /// The violation by a removed member that the object around it requires. If it were stored again, it
    /// would be a written value.
    pub(crate) fn removed(&self, key: &[u8]) -> Result<Option<TypeViolation>> {
        let place = self.place(key)?;
        let violation = self.of.check_removal(&place.0);
        Ok(violation.as_ref().map(in_error))
    }

    /// Whether an array has too few or too many elements. The violation has no number of them, because the
    /// client may not be allowed to read it. If it had too few or too many before, which a stored document
    /// can have, an edit that brings it closer to the bound is accepted.
    pub(crate) async fn length(&self, array: &[u8], more: i64) -> Result<Option<TypeViolation>> {
        let place = self.place(array)?;
        if !self.of.bounds_length(&place.0) {
            return Ok(None);
        }
        let end = prefix_end(array);
        let last = RangeRead {
            reverse: true,
            ..RangeRead::new(array, &end).at_most(1)
        };
        // The edit depends on the length: it has inserted or removed elements.
        let last = self.transaction.without_conflict().range(last).await?;
        let Some((key, _)) = last.pairs.first() else {
            return Ok(None);
        };
        let length = match step(&key[array.len()..]) {
            Some((KeyStep::Index(last), _)) => last + 1,
            _ => 0,
        };
        let violation = self.of.check_length(&place.0, length);
        let before = length.saturating_add_signed(-more);
        let before = self.of.check_length(&place.0, before);
        let is_closer = match &before {
            Some(before) if before.keyword == "maxItems" => more < 0,
            Some(_) => more > 0,
            None => false,
        };
        let same_bound =
            |it: &Violation| before.as_ref().is_some_and(|was| was.keyword == it.keyword);
        let violation = violation.filter(|it| !(is_closer && same_bound(it)));
        Ok(violation.as_ref().map(in_error))
    }

    /// # Errors
    /// `TYPE_MISMATCH`: there are violations.
    pub(crate) fn check(&self, violations: Vec<TypeViolation>) -> Result<()> {
        check(self.document, violations)
    }

    /// The place of a key of the document.
    fn place(&self, key: &[u8]) -> Result<Place> {
        let mut rest = &key[self.prefix.len()..];
        let mut place = Place::default();
        while !rest.is_empty() {
            let (segment, bytes) = match step(rest) {
                Some((KeyStep::Key(name), bytes)) => (Segment::Key(name.into_owned()), bytes),
                Some((KeyStep::Index(index), bytes)) => (Segment::Index(index), bytes),
                _ => return Err(damaged(Malformed::Segment)),
            };
            place.0.push(segment);
            rest = &rest[bytes..];
        }
        Ok(place)
    }
}

/// # Errors
/// `TYPE_MISMATCH`: there are violations.
pub(crate) fn check(document: &DocumentKey, mut violations: Vec<TypeViolation>) -> Result<()> {
    violations.truncate(TYPE_VIOLATIONS_MAX);
    let Some(first) = violations.first() else {
        return Ok(());
    };
    let DocumentKey { collection, id } = document;
    let place = match &*first.place {
        "" => "the root".to_owned(),
        place => format!("the value at {:?}", abridged(place)),
    };
    let value = first.value.as_ref();
    let value = value.map_or(String::new(), |value| format!(", but there is {value}"));
    let more = match violations.len() - 1 {
        0 => String::new(),
        more if violations.len() == TYPE_VIOLATIONS_MAX => {
            format!("; at least {more} more places do not fit")
        }
        more => format!("; {more} more places do not fit"),
    };
    let named = if is_pending(id) {
        "a new document".to_owned()
    } else {
        format!("the document {id}")
    };
    let message = format!(
        "{place} of {named} does not fit the type of the collection {collection:?}: `{}` requires \
         {}{value}{more}",
        first.keyword, first.expected
    );
    Err(Error::type_mismatch(violations, message))
}
