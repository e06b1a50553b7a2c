//! The state of a response that is being written.

use async_graphql::ServerError;

use crate::document::leaf::Kind;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::Bound;
use crate::graphql::execute::planned::finding::element::{Element, NULL};

/// The element whose steps are executed: the root, or the current one of a list.
pub(super) struct ElementFrame<'a> {
    pub(super) element: Element<'a>,
    /// The number of the instance that has the element, of the element, and of all elements.
    pub(super) instance: usize,
    pub(super) at: usize,
    pub(super) count: usize,
    /// The steps of one element.
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Whether the elements are in a list. Otherwise there is one.
    pub(super) is_list: bool,
}

/// The frames of the current step, from the root to the innermost list.
pub(super) struct ElementFrames<'a>(pub(super) Vec<ElementFrame<'a>>);

impl<'a> ElementFrames<'a> {
    /// The innermost frame with an element of this scope.
    pub(super) fn of(&self, scope: usize) -> Result<&ElementFrame<'a>> {
        let mut frames = self.0.iter().rev();
        let frame = frames.find(|frame| frame.element.scope == scope);
        frame.ok_or_else(mismatch)
    }

    pub(super) fn element(&self, scope: usize) -> Result<&Element<'a>> {
        Ok(&self.of(scope)?.element)
    }
}

/// The objects whose steps are being executed, from the outermost one. Each can be null.
pub(super) struct OpenObjects {
    pub(super) objects: Vec<OpenObject>,
    /// Whether a field that cannot be null can fail. Otherwise the objects are not needed.
    pub(super) needed: bool,
}

pub(super) struct OpenObject {
    /// The step that began the object, and the first step after it.
    pub(super) begin: usize,
    pub(super) end: usize,
    /// The length of the response before the object.
    pub(super) written: usize,
    /// The number of frames around the object.
    pub(super) frames: usize,
}

impl OpenObjects {
    pub(super) fn push(&mut self, object: OpenObject) {
        if self.needed {
            self.close(object.begin);
            self.objects.push(object);
        }
    }

    /// The innermost object that has this step.
    pub(super) fn around(&mut self, step: usize) -> Option<OpenObject> {
        self.close(step);
        self.objects.pop()
    }

    /// Removes the objects that do not have this step.
    pub(super) fn close(&mut self, step: usize) {
        let has = |object: &OpenObject| object.begin < step && step < object.end;
        while self.objects.pop_if(|object| !has(object)).is_some() {}
    }
}

/// A response that is being written.
pub(super) struct WriteState<'a> {
    pub(super) out: Vec<u8>,
    pub(super) errors: Vec<ServerError>,
    pub(super) frames: ElementFrames<'a>,
    pub(super) open: OpenObjects,
    pub(super) may_be_empty: bool,
    /// The next step.
    pub(super) at: usize,
}

impl WriteState<'_> {
    /// Begins the object for a place with a value of this kind, which ends before the step `end`.
    pub(super) fn open_object(
        &mut self,
        kind: Result<Option<Kind>>,
        end: usize,
        position: usize,
        bound: &Bound<'_>,
    ) -> Option<Failure> {
        match kind {
            Ok(Some(_)) => {
                self.open_nullable(end);
                self.out.push(b'{');
                return None;
            }
            Ok(None) => {
                self.out.extend_from_slice(NULL);
                self.may_be_empty |= bound.is_of_root(position);
            }
            Err(error) => {
                self.at = end;
                return Some(Failure::Nullable(error, position));
            }
        }
        self.at = end;
        None
    }
}

impl WriteState<'_> {
    /// Records that what is written up to the step `end` can be null.
    pub(super) fn open_nullable(&mut self, end: usize) {
        self.open.push(OpenObject {
            begin: self.at - 1,
            end,
            written: self.out.len(),
            frames: self.frames.0.len(),
        });
    }
}

/// A failed step.
pub(super) enum Failure {
    /// The field at this position can be null.
    Nullable(Error, usize),
    /// The field at this position cannot be null, so the object that has it is null.
    Required(Error, usize),
}
