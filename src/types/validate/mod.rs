//! Validates values as streams of leaves.
//!
//! A [`Validator`] takes the pairs of one value in the order of their keys, as they are stored and as
//! documents are split. It holds one entry for each open object and array, and no tree. The value may
//! be a whole document or what is at a place in it.

mod check_leaf;
mod describe;
mod multiple_of;
mod open_values;
mod seen_reference;

use super::collection_type::{CollectionType, Resolved};
use super::violation::Violations;
use crate::budget::Steps;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::{Segment, SegmentRef};
use crate::document::tree::TEXT_BYTES_PER_STEP;
use crate::error::Error;
use crate::key::{Assemble, Decoding, Malformed, decode_leaf};
pub(super) use check_leaf::check_leaf;
pub(super) use describe::{missing, wrong_length};
pub(super) use multiple_of::is_multiple;
use open_values::OpenValues;
pub use seen_reference::{SeenReference, too_many_references};

/// Validates one value.
pub struct Validator<'t>(Decoding<OpenValues<'t>>);

/// Why a value could not be validated.
#[derive(Clone, Debug)]
pub enum NotValidated {
    /// The pairs are malformed. Other programs may have written them.
    Malformed(Malformed),
    /// The budget is used up, or there is no memory.
    Failed(Error),
}

impl From<Malformed> for NotValidated {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

impl From<Error> for NotValidated {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl CollectionType {
    /// A validator of the value at a place. An empty place is the whole document.
    ///
    /// It also validates that there can be a value: that `additionalProperties` allows the name, and
    /// that the places above are objects and arrays.
    pub fn validator<'t>(&'t self, place: &[Segment], steps: &'t Steps<'t>) -> Validator<'t> {
        Validator(Decoding::new(OpenValues::new(self, place, steps, false)))
    }

    /// A validator as [`CollectionType::validator`], which also returns the references whose keys depend on other
    /// documents.
    pub fn referring_validator<'t>(
        &'t self,
        place: &[Segment],
        steps: &'t Steps<'t>,
    ) -> Validator<'t> {
        Validator(Decoding::new(OpenValues::new(self, place, steps, true)))
    }

    /// Whether every value fits at a place, so that values there need not be validated.
    pub fn accepts_everything_at(&self, place: &[Segment]) -> bool {
        match self.resolve(place) {
            Resolved::Open => true,
            Resolved::Shape(id) => self.shape(id).constraints.accepts_everything(),
            Resolved::Forbidden { .. } => false,
        }
    }
}

impl Validator<'_> {
    /// Takes the next pair. `key` is relative to the place of the value.
    ///
    /// # Errors
    /// The pairs are malformed, or the budget is used up.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), NotValidated> {
        self.0.push(key, value)
    }

    /// Ends the value.
    ///
    /// # Errors
    /// As [`Validator::push`].
    pub fn finish(self) -> Result<Violations, NotValidated> {
        Ok(self.finish_with_references()?.0)
    }

    /// Ends the value. Returns the references, too, if the validator collects them.
    ///
    /// # Errors
    /// As [`Validator::push`].
    pub fn finish_with_references(self) -> Result<(Violations, Vec<SeenReference>), NotValidated> {
        Ok(self.0.finish()?.finish())
    }
}

impl Assemble for OpenValues<'_> {
    type Error = NotValidated;

    fn enter(&mut self, level: usize, segment: SegmentRef<'_>) -> Result<(), NotValidated> {
        let bytes = match segment {
            SegmentRef::Key(name) => name.len() as u64,
            SegmentRef::Index(_) => 0,
        };
        self.steps.spend(1 + bytes / TEXT_BYTES_PER_STEP)?;
        OpenValues::enter(self, level, segment).map_err(Malformed::Shape)?;
        Ok(())
    }

    fn leaf(&mut self, value: &[u8]) -> Result<(), NotValidated> {
        let leaf = decode_leaf(value).ok_or(Malformed::Value)?;
        Ok(OpenValues::leaf(self, &leaf)?)
    }

    fn string(&mut self, text: &str) -> Result<(), NotValidated> {
        Ok(OpenValues::leaf(self, &Leaf::String(text.into()))?)
    }

    fn empty(&mut self, kind: Kind) -> Result<(), NotValidated> {
        OpenValues::empty(self, kind);
        Ok(())
    }
}
