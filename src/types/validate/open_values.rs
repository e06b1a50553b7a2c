//! The objects and arrays that are open while the leaves of a value pass.

use super::check_leaf::check_leaf;
use super::describe::{additional_property, forbidden, missing, named, not_of_type, wrong_length};
use super::seen_reference::{SeenReference, too_many_references};
use crate::budget::Steps;
use crate::document::assemble::Misshapen;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::{Segment, SegmentRef};
use crate::error::Result;
use crate::limits::REFERENCES_CHECKED_MAX;
use crate::types::collection_type::{CollectionType, Resolved};
use crate::types::shape::{Additional, Constraints, Kinds, ShapeId};
use crate::types::violation::Violations;

/// A value whose leaves pass in the order of their paths.
pub(super) struct OpenValues<'t> {
    of: &'t CollectionType,
    pub(super) steps: &'t Steps<'t>,
    /// The place that was entered last. It begins with the place of the value.
    place: Vec<Segment>,
    /// The number of segments of the place of the value.
    begin: usize,
    /// What the schema says about the value at `place`. None if it says nothing, or if a violation above
    /// was reported.
    expected: Option<ShapeId>,
    open: Vec<OpenValue>,
    violations: Violations,
    /// The references that were seen, if they are collected.
    references: Option<Vec<SeenReference>>,
}

/// An object or an array whose last member or element is not complete.
enum OpenValue {
    Object {
        shape: Option<ShapeId>,
        /// The positions of the required properties that it has.
        required: Vec<u32>,
    },
    Array {
        shape: Option<ShapeId>,
        elements: u64,
    },
}

impl<'t> OpenValues<'t> {
    pub(super) fn new(
        of: &'t CollectionType,
        place: &[Segment],
        steps: &'t Steps<'t>,
        collects_references: bool,
    ) -> Self {
        let mut violations = Violations::default();
        let expected = match of.resolve(place) {
            Resolved::Shape(shape) => Some(shape),
            Resolved::Open => None,
            Resolved::Forbidden { at, by } => {
                violations.add(forbidden(&of.shape(by).constraints, place, at));
                None
            }
        };
        Self {
            of,
            steps,
            place: place.to_vec(),
            begin: place.len(),
            expected,
            open: Vec::new(),
            violations,
            references: collects_references.then(Vec::new),
        }
    }

    fn constraints(&self, shape: ShapeId) -> &'t Constraints {
        &self.of.shape(shape).constraints
    }

    /// Enters a member or element of the container at `level`, which is opened if it is not open. Closes
    /// all deeper ones.
    pub(super) fn enter(&mut self, level: usize, segment: SegmentRef<'_>) -> Result<(), Misshapen> {
        self.close_to(level + 1);
        if self.open.len() == level {
            self.open(segment);
        }
        let expected = match (self.open.last_mut(), segment) {
            (Some(OpenValue::Object { shape, required }), SegmentRef::Key(name)) => {
                let object = shape.map(|it| &self.of.shape(it).constraints.object);
                match object {
                    None => Ok(None),
                    Some(object) => match object.position(name) {
                        Some(at) => {
                            let property = &object.properties[at];
                            if property.required {
                                required.push(u32::try_from(at).unwrap_or(u32::MAX));
                            }
                            Ok(Some(property.shape))
                        }
                        None => match object.additional {
                            Additional::Open => Ok(None),
                            Additional::Map(shape) => Ok(Some(shape)),
                            Additional::Forbidden => Err(()),
                        },
                    },
                }
            }
            (Some(OpenValue::Array { shape, elements }), SegmentRef::Index(index)) => {
                if *elements != index {
                    return Err(Misshapen::Hole);
                }
                *elements += 1;
                Ok(shape.and_then(|it| self.of.shape(it).constraints.array.items))
            }
            _ => return Err(Misshapen::MixedSegments),
        };
        self.move_to(level, segment);
        self.expected = expected.unwrap_or_else(|()| {
            let place = &self.place;
            self.violations.add_with(|| additional_property(place));
            None
        });
        Ok(())
    }

    /// Takes a leaf at the current place.
    pub(super) fn leaf(&mut self, leaf: &Leaf<'_>) -> Result<()> {
        let Some(shape) = self.expected else {
            return Ok(());
        };
        let of = self.of.shape(shape);
        if let Some(references) = &mut self.references
            && let Some(reference) = of.reference.as_ref().filter(|it| it.is_checked())
            && !matches!(leaf, Leaf::Null)
        {
            if references.len() >= REFERENCES_CHECKED_MAX {
                return Err(too_many_references());
            }
            references.push(SeenReference::new(&self.place, reference, leaf));
        }
        check_leaf(
            &of.constraints,
            leaf,
            &self.place,
            &mut self.violations,
            self.steps,
        )
    }

    /// Takes an empty object or array at the current place.
    pub(super) fn empty(&mut self, kind: Kind) {
        let opened = self.opened(kind);
        self.close(&opened);
    }

    /// Ends the value.
    pub(super) fn finish(mut self) -> (Violations, Vec<SeenReference>) {
        self.close_to(0);
        (self.violations, self.references.unwrap_or_default())
    }

    fn open(&mut self, first: SegmentRef<'_>) {
        let opened = self.opened(match first {
            SegmentRef::Key(_) => Kind::Object,
            SegmentRef::Index(_) => Kind::Array,
        });
        self.open.push(opened);
    }

    /// An object or array at the current place.
    fn opened(&mut self, kind: Kind) -> OpenValue {
        let shape = self.expected.filter(|shape| {
            let constraints = self.constraints(*shape);
            let fits = constraints.kinds.has(Kinds::of_kind(kind));
            if !fits {
                let place = &self.place;
                self.violations
                    .add_with(|| not_of_type(constraints, place, named(kind)));
            }
            fits
        });
        match kind {
            Kind::Array => OpenValue::Array { shape, elements: 0 },
            _ => OpenValue::Object {
                shape,
                required: Vec::new(),
            },
        }
    }

    /// Moves to a member or element of the container at `level`. The memory of names is used again.
    fn move_to(&mut self, level: usize, segment: SegmentRef<'_>) {
        let at = self.begin + level;
        self.place.truncate(at + 1);
        match (self.place.get_mut(at), segment) {
            (Some(Segment::Key(last)), SegmentRef::Key(name)) => name.clone_into(last),
            (Some(last), _) => *last = segment.to_owned(),
            (None, _) => self.place.push(segment.to_owned()),
        }
    }

    fn close_to(&mut self, level: usize) {
        while self.open.len() > level
            && let Some(closed) = self.open.pop()
        {
            self.place.truncate(self.begin + self.open.len());
            self.close(&closed);
        }
    }

    /// Validates what depends on all members or elements. The current place is that of the container.
    fn close(&mut self, closed: &OpenValue) {
        let place = &self.place;
        match closed {
            OpenValue::Object {
                shape: Some(shape),
                required,
            } => {
                let object = &self.of.shape(*shape).constraints.object;
                if required.len() == object.required {
                    return;
                }
                if self.violations.is_full() {
                    let more = object.required - required.len();
                    self.violations.count(more as u64);
                    return;
                }
                let mut present = vec![false; object.properties.len()];
                for at in required {
                    present[*at as usize] = true;
                }
                let properties = object.properties.iter().zip(present);
                for (property, present) in properties {
                    if property.required && !present {
                        self.violations.add_with(|| missing(place, &property.name));
                    }
                }
            }
            OpenValue::Array {
                shape: Some(shape),
                elements,
            } => {
                let array = &self.of.shape(*shape).constraints.array;
                if let Some(violation) = wrong_length(array, place, *elements) {
                    self.violations.add(violation);
                }
            }
            _ => {}
        }
    }
}
