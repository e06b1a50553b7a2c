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

/// What the container of a place requires, besides the shape of the value itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Nothing: the value may be removed, and others may be inserted.
    Free,
    /// The place is a member that its object must have.
    Required,
    /// The place is an element of an array whose length has bounds. Look the length up after the change,
    /// and pass it to [`CollectionType::check_length`].
    Bounded {
        /// `minItems`
        items_min: u64,
        /// `maxItems`
        items_max: Option<u64>,
    },
}

impl CollectionType {
    /// What the container of a place requires when values are removed or inserted there.
    pub fn constraints_around(&self, place: &[Segment]) -> Around {
        let Some((last, container)) = place.split_last() else {
            return Around::Free;
        };
        let Some(constraints) = self.constraints_at(container) else {
            return Around::Free;
        };
        match last {
            Segment::Key(name) => match constraints.object.property(name) {
                Some(property) if property.required => Around::Required,
                _ => Around::Free,
            },
            Segment::Index(_) => {
                let array = &constraints.array;
                if array.items_min == 0 && array.items_max.is_none() {
                    return Around::Free;
                }
                Around::Bounded {
                    items_min: array.items_min,
                    items_max: array.items_max,
                }
            }
        }
    }

    /// The violation by removing the member at a place, if any. It needs no look at the document.
    pub fn check_removal(&self, place: &[Segment]) -> Option<Violation> {
        let (Segment::Key(name), object) = place.split_last()? else {
            return None;
        };
        let is_required = self.constraints_around(place) == Around::Required;
        is_required.then(|| missing(object, name))
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
