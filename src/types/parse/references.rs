//! Completes the shapes with a `$ref`, and checks what depends on it.

use std::collections::HashMap;

use super::{Completion, Parser};
use crate::error::{Error, Limit, Result};
use crate::limits::TYPE_REFERENCES_MAX;
use crate::types::shape::{Kinds, OnDelete, Shape, ShapeId};

/// Where a chain of references ends.
#[derive(Clone, Copy)]
struct ChainEnd {
    shape: ShapeId,
    /// The number of references that lead there.
    references: usize,
}

fn end_of(ends: &HashMap<ShapeId, Option<ChainEnd>>, completion: &Completion) -> Option<ChainEnd> {
    ends.get(&completion.shape).copied().flatten()
}

impl Parser<'_> {
    /// Completes all shapes.
    pub(super) fn finish(mut self) -> Result<Vec<Shape>> {
        let completions = std::mem::take(&mut self.completions);
        let ends = self.ends_of_chains(&completions)?;
        let mut completed = Vec::with_capacity(completions.len());
        for completion in completions {
            match end_of(&ends, &completion) {
                Some(end) => completed.push((completion, end.shape)),
                None => self.problems.add_at(
                    &self.pointers[completion.shape.index()],
                    "its references lead in a circle, and no schema says what the values are",
                ),
            }
        }
        for (completion, end) in completed {
            self.complete(completion, end);
        }
        self.check_references();
        self.check_field_names();
        self.problems.finish(self.collection)?;
        let shapes: Option<Vec<_>> = self.shapes.into_iter().collect();
        shapes.ok_or_else(|| Error::internal("a shape of a type is not complete"))
    }

    /// Where the chain of references from each shape ends. None if it is a circle, or leads into one.
    fn ends_of_chains(
        &self,
        completions: &[Completion],
    ) -> Result<HashMap<ShapeId, Option<ChainEnd>>> {
        let targets: HashMap<ShapeId, ShapeId> =
            completions.iter().map(|it| (it.shape, it.target)).collect();
        let mut ends = HashMap::with_capacity(completions.len());
        for completion in completions {
            let mut chain = Vec::new();
            let mut at = completion.shape;
            let end = loop {
                if let Some(known) = ends.get(&at) {
                    break *known;
                }
                let Some(next) = targets.get(&at) else {
                    break Some(ChainEnd {
                        shape: at,
                        references: 0,
                    });
                };
                self.steps.spend(1)?;
                chain.push(at);
                // If the chain comes back to here, it is a circle.
                ends.insert(at, None);
                at = *next;
            };
            for (more, shape) in (1..).zip(chain.into_iter().rev()) {
                let end = end.map(|end| ChainEnd {
                    references: end.references + more,
                    ..end
                });
                ends.insert(shape, end);
            }
            if end_of(&ends, completion).is_some_and(|it| it.references > TYPE_REFERENCES_MAX) {
                return Err(self.too_long(completion));
            }
        }
        Ok(ends)
    }

    fn too_long(&self, chain: &Completion) -> Error {
        Error::too_complex(
            Limit::new("typeReferences", TYPE_REFERENCES_MAX),
            format!(
                "the schema of the collection {:?}: at {:?}: the `$ref` leads over more than \
                 {TYPE_REFERENCES_MAX} others, which is the limit",
                self.collection,
                self.pointers[chain.shape.index()]
            ),
        )
    }

    fn complete(&mut self, completion: Completion, end: ShapeId) {
        let Some(mut shape) = self.shapes[end.index()].clone() else {
            return;
        };
        let Completion { annotations, .. } = completion;
        shape.title = annotations.title.or(shape.title);
        shape.description = annotations.description.or(shape.description);
        shape.deprecated |= annotations.deprecated;
        shape.reference = annotations.reference.or(shape.reference);
        shape.graphql_name = annotations.graphql_name;
        shape.graphql_plural = annotations.graphql_plural;
        shape.definition_name = completion.definition_name.or(shape.definition_name);
        self.shapes[completion.shape.index()] = Some(shape);
    }

    /// Checks that the values at references can be keys of documents.
    fn check_references(&mut self) {
        const KEYS: [Kinds; 2] = [Kinds::STRING, Kinds::INTEGER];
        for id in &self.references {
            let pointer = &self.pointers[id.index()];
            let Some(shape) = &self.shapes[id.index()] else {
                continue;
            };
            let kinds = shape.constraints.kinds;
            if !KEYS.contains(&kinds.without(Kinds::NULL)) {
                self.problems.add_at(
                    pointer,
                    "`x-reference` makes the value a key: its `type` is \"string\" or \"integer\", with or without \"null\"",
                );
            }
            let reference = shape.reference.as_ref();
            let nullifies = reference.is_some_and(|it| it.on_delete == OnDelete::Nullify);
            if nullifies && !shape.is_nullable() {
                let message =
                    "`x-reference` with \"onDelete\": \"nullify\" needs \"null\" in `type`";
                self.problems.add_at(pointer, message);
            }
        }
    }
}
