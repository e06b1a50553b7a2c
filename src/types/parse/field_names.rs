//! Checks that the fields of each object type have names of GraphQL, and different ones.

use std::collections::HashSet;

use super::annotations::is_graphql_name;
use super::problems::Problems;
use super::{FIELDS_OF_DOCUMENT, Parser};
use crate::document::leaf::abridged;
use crate::types::shape::{Property, Reference, ShapeId, ShapeKind};

impl Parser<'_> {
    /// Checks the names of the fields of every object type.
    pub(super) fn check_field_names(&mut self) {
        let mut problems = std::mem::take(&mut self.problems);
        self.find_wrong_names(&mut problems);
        self.problems = problems;
    }

    fn find_wrong_names(&self, problems: &mut Problems) {
        let document = self.shapes[ShapeId::ROOT.index()]
            .as_ref()
            .map(|shape| shape.definition);
        for (id, shape) in (0..).map(ShapeId).zip(&self.shapes) {
            let Some(shape) = shape.as_ref().filter(|shape| shape.definition == id) else {
                continue;
            };
            let ShapeKind::Object(object) = shape.kind() else {
                continue;
            };
            let pointer = &self.pointers[id.index()];
            let mut fields: HashSet<&str> = HashSet::new();
            if document == Some(id) {
                fields.extend(FIELDS_OF_DOCUMENT);
            }
            for property in &object.properties {
                if !is_graphql_name(&property.field) {
                    let message = format!(
                        "the property {:?} is no name of GraphQL: give it one in its schema, such as \
                         \"x-graphql\": {{\"name\": \"other\"}}",
                        abridged(&property.name)
                    );
                    problems.add_at(pointer, message);
                    continue;
                }
                for field in self.fields_of(property) {
                    if !fields.insert(field) {
                        let message = format!(
                            "the property {:?} makes a second field {:?}: give it another name in its \
                             schema, such as \"x-graphql\": {{\"name\": \"other\"}}",
                            abridged(&property.name),
                            abridged(field)
                        );
                        problems.add_at(pointer, message);
                    }
                }
            }
        }
    }

    /// The fields that a property makes: its own, and those that follow its reference.
    fn fields_of<'p>(&'p self, property: &'p Property) -> impl Iterator<Item = &'p str> {
        let followed = self
            .reference_of(property)
            .into_iter()
            .flat_map(|it| [Some(&*it.field), it.chain.as_deref()]);
        std::iter::once(&*property.field).chain(followed.flatten())
    }

    /// The reference of a property, or of the elements of a property.
    fn reference_of(&self, property: &Property) -> Option<&Reference> {
        let shape = self.shapes[property.shape.index()].as_ref()?;
        if let Some(reference) = &shape.reference {
            return Some(reference);
        }
        let items = shape.constraints.array.items?;
        self.shapes[items.index()].as_ref()?.reference.as_deref()
    }
}
