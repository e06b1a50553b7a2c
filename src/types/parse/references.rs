//! Completes the shapes with a `$ref`, and checks what depends on it.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use super::{Completion, Parser};
use crate::error::{Error, Limit, Result};
use crate::limits::TYPE_REFERENCES_MAX;
use crate::types::shape::{Kinds, OnDelete, Shape, ShapeId};

/// The name in a token of a JSON Pointer in a URI fragment. None if an escape is malformed.
pub(super) fn decode(token: &str) -> Option<String> {
    let decoded = percent_decode_str(token).decode_utf8().ok()?;
    let mut name = String::with_capacity(decoded.len());
    let mut parts = decoded.split('~');
    name.push_str(parts.next()?);
    for part in parts {
        let (escaped, rest) = match part.as_bytes().first()? {
            b'0' => ('~', &part[1..]),
            b'1' => ('/', &part[1..]),
            _ => return None,
        };
        name.push(escaped);
        name.push_str(rest);
    }
    Some(name)
}

impl Parser<'_> {
    /// Completes all shapes.
    pub(super) fn finish(mut self) -> Result<Vec<Shape>> {
        let completions = std::mem::take(&mut self.completions);
        let targets: HashMap<ShapeId, ShapeId> = completions
            .iter()
            .map(|completion| (completion.shape, completion.target))
            .collect();
        let mut completed = Vec::with_capacity(completions.len());
        for completion in completions {
            match self.end_of_chain(&targets, &completion)? {
                Some(end) => completed.push((completion, end)),
                None => self.problems.add_at(
                    &self.pointers[completion.shape.index()],
                    "it refers to itself, and no schema says what the values are",
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

    /// The shape that a chain of references ends at. None if it is a circle.
    fn end_of_chain(
        &self,
        targets: &HashMap<ShapeId, ShapeId>,
        completion: &Completion,
    ) -> Result<Option<ShapeId>> {
        let mut end = completion.target;
        for _ in 0..TYPE_REFERENCES_MAX {
            self.steps.spend(1)?;
            match targets.get(&end) {
                Some(_) if end == completion.shape => return Ok(None),
                Some(next) => end = *next,
                None => return Ok(Some(end)),
            }
        }
        // A circle that a chain leads into is reported where it is.
        let mut slow = end;
        let mut fast = end;
        while let (Some(one), Some(two)) = (
            targets.get(&slow),
            targets.get(&fast).and_then(|it| targets.get(it)),
        ) {
            self.steps.spend(1)?;
            (slow, fast) = (*one, *two);
            if slow == fast {
                return Ok(None);
            }
        }
        Err(Error::too_complex(
            Limit::new("typeReferences", TYPE_REFERENCES_MAX),
            format!(
                "the schema of the collection {:?}: at {:?}: the `$ref` leads over more than \
                 {TYPE_REFERENCES_MAX} others, which is the limit",
                self.collection,
                self.pointers[completion.shape.index()]
            ),
        ))
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
