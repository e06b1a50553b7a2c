//! Proposes a schema for documents that are stored already.
//!
//! Every place of the documents is summed up in a sketch: the kinds of its values, how often each member
//! is there, few different strings, formats that all strings have. Places are then proposed as people
//! write them: an object whose names differ from document to document is a map, equal objects are one
//! member of `$defs`, a string with few values is an `enum`.

mod find_maps;
mod graphql_names;
mod propose;
mod share_definitions;
mod sketch;
mod write_schema;

use crate::budget::Steps;
use crate::document::assemble::Misshapen;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::SegmentRef;
use crate::document::tree::TEXT_BYTES_PER_STEP;
use crate::error::Result;
use crate::key::{Assemble, Decoding, Malformed, decode_leaf};
use crate::limits::TYPE_BYTES_MAX;
use crate::types::validate::NotValidated;
use sketch::{SketchId, Sketches};

/// What a number of documents look like.
pub struct Inference {
    sketches: Sketches,
    documents: u64,
}

/// A document that is being read.
pub struct InferredDocument<'i>(Decoding<Path<'i>>);

/// The place in a document that was entered last.
struct Path<'i> {
    sketches: &'i mut Sketches,
    steps: &'i Steps<'i>,
    current: SketchId,
    open: Vec<OpenSketch>,
}

struct OpenSketch {
    sketch: SketchId,
    kind: Kind,
    elements: u64,
}

impl Inference {
    /// Of no documents.
    pub fn new() -> Self {
        Self {
            sketches: Sketches::new(),
            documents: 0,
        }
    }

    /// The number of documents so far.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Begins the next document. Pass its pairs to [`InferredDocument::push`].
    pub fn document<'i>(&'i mut self, steps: &'i Steps<'i>) -> InferredDocument<'i> {
        self.documents += 1;
        InferredDocument(Decoding::new(Path {
            sketches: &mut self.sketches,
            steps,
            current: SketchId::ROOT,
            open: Vec::new(),
        }))
    }

    /// The text of a schema that all the documents fit. [`CollectionType::parse`] accepts it: if the
    /// documents have very many places, the deepest ones are left open.
    ///
    /// # Errors
    /// As [`InferredDocument::push`].
    ///
    /// [`CollectionType::parse`]: crate::types::CollectionType::parse
    pub fn into_schema(mut self, steps: &Steps<'_>) -> Result<String> {
        find_maps::fold_maps(&mut self.sketches, steps)?;
        let mut levels = propose::levels_described(&self.sketches, steps)?;
        loop {
            let proposed = propose::propose(&self.sketches, levels);
            let text = write_schema::write(&share_definitions::share(proposed));
            steps.spend(text.len() as u64 / TEXT_BYTES_PER_STEP)?;
            if text.len() <= TYPE_BYTES_MAX || levels == 0 {
                return Ok(text);
            }
            levels -= 1;
        }
    }
}

impl Default for Inference {
    fn default() -> Self {
        Self::new()
    }
}

impl InferredDocument<'_> {
    /// Takes the next pair of the document. `key` is relative to the document.
    ///
    /// # Errors
    /// The pairs are malformed, the budget is used up, or the documents have too many different places.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), NotValidated> {
        self.0.push(key, value)
    }

    /// Ends the document.
    ///
    /// # Errors
    /// As [`InferredDocument::push`].
    pub fn finish(self) -> Result<(), NotValidated> {
        self.0.finish()?.close_to(0);
        Ok(())
    }
}

impl Path<'_> {
    fn open(&mut self, kind: Kind) {
        self.sketches.count(self.current, kind);
        self.open.push(OpenSketch {
            sketch: self.current,
            kind,
            elements: 0,
        });
    }

    fn close_to(&mut self, level: usize) {
        while self.open.len() > level
            && let Some(closed) = self.open.pop()
        {
            if closed.kind == Kind::Array {
                self.sketches.length(closed.sketch, closed.elements);
            }
        }
    }

    fn take(&mut self, leaf: &Leaf<'_>) -> Result<()> {
        if let Leaf::String(text) = leaf {
            self.steps.spend(text.len() as u64 / TEXT_BYTES_PER_STEP)?;
        }
        self.sketches.leaf(self.current, leaf);
        Ok(())
    }
}

impl Assemble for Path<'_> {
    type Error = NotValidated;

    fn enter(&mut self, level: usize, segment: SegmentRef<'_>) -> Result<(), NotValidated> {
        const STEPS: u64 = 2;
        self.steps.spend(STEPS)?;
        self.close_to(level + 1);
        if self.open.len() == level {
            self.open(match segment {
                SegmentRef::Key(_) => Kind::Object,
                SegmentRef::Index(_) => Kind::Array,
            });
        }
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        self.current = match (open.kind, segment) {
            (Kind::Object, SegmentRef::Key(name)) => {
                self.sketches.member(open.sketch, name, self.steps)?
            }
            (Kind::Array, SegmentRef::Index(index)) => {
                if index != open.elements {
                    return Err(Malformed::Shape(Misshapen::Hole).into());
                }
                open.elements += 1;
                self.sketches.items(open.sketch)?
            }
            _ => return Err(Malformed::Shape(Misshapen::MixedSegments).into()),
        };
        Ok(())
    }

    fn leaf(&mut self, value: &[u8]) -> Result<(), NotValidated> {
        let leaf = decode_leaf(value).ok_or(Malformed::Value)?;
        Ok(self.take(&leaf)?)
    }

    fn string(&mut self, text: &str) -> Result<(), NotValidated> {
        Ok(self.take(&Leaf::String(text.into()))?)
    }

    fn empty(&mut self, kind: Kind) -> Result<(), NotValidated> {
        self.sketches.count(self.current, kind);
        if kind == Kind::Array {
            self.sketches.length(self.current, 0);
        }
        Ok(())
    }
}
