//! The type of a collection.

use std::sync::Arc;

use super::parse;
use super::shape::{Additional, Kinds, Shape, ShapeId};
use crate::budget::Steps;
use crate::document::path::Segment;
use crate::error::Result;

/// What the documents of a collection look like. A clone is cheap.
#[derive(Clone, Debug)]
pub struct CollectionType(Arc<ParsedType>);

#[derive(Debug)]
struct ParsedType {
    collection: String,
    text: String,
    shapes: Vec<Shape>,
}

/// What a type says about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// The values there have this shape.
    Shape(ShapeId),
    /// The schema leaves it open.
    Open,
    /// There can be no value: an `additionalProperties` forbids the name, or the place above is not of
    /// the kind that has members or elements. `at` is the number of segments of the place above.
    Forbidden {
        /// The number of segments of the place whose schema forbids it.
        at: usize,
        /// That place's shape.
        by: ShapeId,
    },
}

impl CollectionType {
    /// Parses a JSON Schema, which becomes the type of documents of a collection.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON, or it has a keyword that is not supported or means
    /// nothing. The message has the JSON Pointer of each such keyword, and what to write instead.
    /// `TOO_LARGE`, `TOO_COMPLEX`: the schema exceeds a limit, which the message names. As
    /// [`Steps::spend`].
    pub fn parse(collection: &str, text: &str, steps: &Steps<'_>) -> Result<Self> {
        Ok(Self(Arc::new(ParsedType {
            collection: collection.to_owned(),
            text: text.to_owned(),
            shapes: parse::shapes(collection, text, steps)?,
        })))
    }

    /// The name of the collection.
    pub fn collection(&self) -> &str {
        &self.0.collection
    }

    /// The schema as it was written.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The approximate memory of the type.
    pub fn held(&self) -> usize {
        let shapes = self.0.shapes.iter().enumerate();
        let shapes = shapes.map(|(at, shape)| {
            // Shapes with one definition share its constraints.
            let own = shape.definition.index() == at;
            size_of::<Shape>() + if own { shape.constraints.held() } else { 0 }
        });
        // Titles, descriptions and names are parts of the text.
        2 * self.0.text.len() + shapes.sum::<usize>()
    }

    /// The shape of a whole document.
    pub fn root(&self) -> &Shape {
        self.shape(ShapeId::ROOT)
    }

    /// The shape with this number.
    pub fn shape(&self, id: ShapeId) -> &Shape {
        &self.0.shapes[id.index()]
    }

    /// All shapes with their numbers.
    pub fn shapes(&self) -> impl Iterator<Item = (ShapeId, &Shape)> {
        (0..).map(ShapeId).zip(&self.0.shapes)
    }

    /// The shape of the values at a place. `None` if the schema leaves it open, or if no value can be
    /// there.
    pub fn shape_at(&self, place: &[Segment]) -> Option<&Shape> {
        match self.resolve(place) {
            Resolved::Shape(id) => Some(self.shape(id)),
            Resolved::Open | Resolved::Forbidden { .. } => None,
        }
    }

    /// What the type says about a place.
    pub fn resolve(&self, place: &[Segment]) -> Resolved {
        let mut id = ShapeId::ROOT;
        for (at, segment) in place.iter().enumerate() {
            match self.child(id, segment) {
                Some(Resolved::Shape(child)) => id = child,
                Some(Resolved::Open) => return Resolved::Open,
                _ => return Resolved::Forbidden { at, by: id },
            }
        }
        Resolved::Shape(id)
    }

    /// What a shape says about a member or an element. `None` if it has none of that name.
    fn child(&self, above: ShapeId, segment: &Segment) -> Option<Resolved> {
        let constraints = &self.shape(above).constraints;
        match segment {
            Segment::Key(name) if constraints.kinds.has(Kinds::OBJECT) => {
                if let Some(property) = constraints.object.property(name) {
                    return Some(Resolved::Shape(property.shape));
                }
                match constraints.object.additional {
                    Additional::Open => Some(Resolved::Open),
                    Additional::Map(shape) => Some(Resolved::Shape(shape)),
                    Additional::Forbidden => None,
                }
            }
            Segment::Index(_) if constraints.kinds.has(Kinds::ARRAY) => {
                let items = constraints.array.items;
                Some(items.map_or(Resolved::Open, Resolved::Shape))
            }
            _ => None,
        }
    }
}
