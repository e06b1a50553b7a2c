//! The validation of values against a type, as streams of pairs.

use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, below, prefix_end};
use crate::document::leaf::abridged;
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result, TypeViolation};
use crate::key::{KeyStep, Leaves, Malformed, StoredLeaves, step};
use crate::limits::{LEAVES_PER_PACE, TYPE_VIOLATIONS_MAX};
use crate::store::{Batches, RangeRead, Transaction};
use crate::types::{CollectionType, Validation, Violation};

/// The validation of one value, whose pairs come in key order.
pub(crate) struct ValueValidation<'t>(StoredLeaves<Validation<'t>>);

impl<'t> ValueValidation<'t> {
    /// The validation of a whole document.
    pub(crate) fn of_document(of: &'t CollectionType) -> Self {
        Self::at(of, &Place::default())
    }

    /// The validation of the value at a place of a document.
    pub(crate) fn at(of: &'t CollectionType, place: &Place) -> Self {
        let validation = Validation::at(of, &place.0, TYPE_VIOLATIONS_MAX);
        Self(StoredLeaves::new(validation))
    }

    /// Adds the next pair. The key is relative to the value.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.push(key, value).map_err(damaged)
    }

    /// Adds pairs, whose keys are relative to the value.
    ///
    /// # Errors
    /// As [`ValueValidation::push`]. As [`Budget::pace`].
    pub(crate) async fn push_all<'p>(
        &mut self,
        budget: &Budget,
        pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>,
    ) -> Result<()> {
        for (at, (key, value)) in pairs.enumerate() {
            if at % LEAVES_PER_PACE == 0 {
                budget.pace(LEAVES_PER_PACE as u64).await?;
            }
            self.push(key, value)?;
        }
        Ok(())
    }

    /// The places that do not fit.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed.
    pub(crate) fn finish(self) -> Result<Vec<TypeViolation>> {
        let validation = self.0.finish().map_err(damaged)?;
        Ok(validation.finish().into_iter().map(in_error).collect())
    }
}

fn damaged(error: Malformed) -> Error {
    Error::internal(format!("a value that is validated: {error}"))
}

fn in_error(violation: Violation) -> TypeViolation {
    TypeViolation {
        place: violation.place.to_string(),
        keyword: violation.keyword.to_owned(),
        expected: violation.expected,
        value: violation.value,
    }
}

/// A document that is being changed, and the type of its collection.
pub(crate) struct TypedDocument<'d> {
    of: &'d CollectionType,
    transaction: &'d dyn Transaction,
    budget: &'d Budget,
    document: &'d DocumentKey,
    prefix: Vec<u8>,
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
        })
    }

    /// The key of the whole document.
    pub(crate) fn key(&self) -> &[u8] {
        &self.prefix
    }

    /// Validates the value at a key. Its leaves are read if they are not known.
    pub(crate) async fn value(
        &self,
        key: &[u8],
        leaves: Option<&Leaves>,
    ) -> Result<Vec<TypeViolation>> {
        let mut validation = ValueValidation::at(self.of, &self.place(key)?);
        if let Some(leaves) = leaves {
            validation.push_all(self.budget, leaves.iter()).await?;
            return validation.finish();
        }
        let free = self.transaction.without_conflict();
        let mut batches = Batches::new(free, key, prefix_end(key));
        while let Some(pairs) = batches.next().await? {
            let pairs = pairs.iter();
            let pairs = pairs.map(|(stored, value)| (&stored[key.len()..], value));
            validation.push_all(self.budget, pairs).await?;
        }
        validation.finish()
    }

    /// Validates the elements of an array from an index on.
    pub(crate) async fn elements(&self, array: &[u8], first: u64) -> Result<Vec<TypeViolation>> {
        let begin = below(array, &Segment::Index(first));
        let free = self.transaction.without_conflict();
        let mut batches = Batches::new(free, begin, prefix_end(array));
        let mut found = Vec::new();
        let mut element: Option<(Vec<u8>, ValueValidation<'_>)> = None;
        while let Some(pairs) = batches.next().await? {
            self.budget.pace(pairs.len() as u64).await?;
            for (key, value) in pairs.iter() {
                let (open, mut validation) = match element.take() {
                    Some((open, validation)) if is_at_or_below(key, &open) => (open, validation),
                    ended => {
                        if let Some((_, validation)) = ended {
                            found.extend(validation.finish()?);
                        }
                        let bytes = step(&key[array.len()..]).map_or(0, |(_, bytes)| bytes);
                        let open = key[..array.len() + bytes].to_vec();
                        let validation = ValueValidation::at(self.of, &self.place(&open)?);
                        (open, validation)
                    }
                };
                validation.push(&key[open.len()..], value)?;
                element = Some((open, validation));
            }
        }
        if let Some((_, validation)) = element {
            found.extend(validation.finish()?);
        }
        Ok(found)
    }

    /// Whether a member that was removed is missing: its object requires it, and nothing is stored
    /// there now.
    pub(crate) async fn removed(&self, key: &[u8]) -> Result<Option<TypeViolation>> {
        let _place = self.place(key)?;
        let end = prefix_end(key);
        let first = RangeRead::new(key, &end).at_most(1);
        let _found = self.transaction.without_conflict().range(first).await?;
        Ok(None)
    }

    /// Whether an array has too few or too many elements.
    pub(crate) async fn length(&self, array: &[u8]) -> Result<Option<TypeViolation>> {
        let _place = self.place(array)?;
        let end = prefix_end(array);
        let last = RangeRead {
            reverse: true,
            ..RangeRead::new(array, &end).at_most(1)
        };
        let last = self.transaction.without_conflict().range(last).await?;
        let _length = match last.pairs.first() {
            Some((key, _)) => match step(&key[array.len()..]) {
                Some((KeyStep::Index(last), _)) => last + 1,
                _ => 0,
            },
            None => return Ok(None),
        };
        Ok(None)
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

fn is_at_or_below(key: &[u8], above: &[u8]) -> bool {
    key.starts_with(above) && key < &prefix_end(above)[..]
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
        "" => "the document".to_owned(),
        place => format!("the value at {:?}", abridged(place)),
    };
    let value = first.value.as_ref();
    let value = value.map_or(String::new(), |value| format!(", not {}", abridged(value)));
    let more = match violations.len() - 1 {
        0 => String::new(),
        more => format!("; {more} more places do not fit"),
    };
    let message = format!(
        "{place} does not fit the type of the collection {collection:?} (document {id}): {}: \
         expected {}{value}{more}",
        first.keyword,
        abridged(&first.expected)
    );
    Err(Error::type_mismatch(violations, message))
}
