//! What a change requires of the object or array around it.
//!
//! A value that replaces another leaves the names and the length of its container as they were. Only a
//! member that is removed can break `required`, and only elements that are inserted or removed can break
//! `minItems` and `maxItems`. All elements of an array have one schema, so elements that move are not
//! validated again.

use super::collection_type::{CollectionType, Resolved};
use super::shape::Constraints;
use super::validate::{missing, wrong_length};
use super::violation::Violation;
use crate::document::path::Segment;

impl CollectionType {
    /// The violation by removing the member at a place, if any. It needs no read of the document.
    pub fn check_removal(&self, place: &[Segment]) -> Option<Violation> {
        let (Segment::Key(name), object) = place.split_last()? else {
            return None;
        };
        let property = self.constraints_at(object)?.object.property(name)?;
        property.required.then(|| missing(object, name))
    }

    /// Whether the arrays at a place have a least or a greatest length. If so, look the length up after
    /// elements were inserted or removed, and pass it to [`CollectionType::check_length`].
    pub fn bounds_length(&self, array: &[Segment]) -> bool {
        self.constraints_at(array).is_some_and(|constraints| {
            constraints.array.items_min > 0 || constraints.array.items_max.is_some()
        })
    }

    /// The violation by an array at a place that has a length after a change, if any.
    pub fn check_length(&self, array: &[Segment], length: u64) -> Option<Violation> {
        let constraints = self.constraints_at(array)?;
        wrong_length(&constraints.array, array, length)
    }

    fn constraints_at(&self, place: &[Segment]) -> Option<&Constraints> {
        match self.resolve(place) {
            Resolved::Shape(id) => Some(&self.shape(id).constraints),
            Resolved::Open | Resolved::Forbidden { .. } => None,
        }
    }
}
