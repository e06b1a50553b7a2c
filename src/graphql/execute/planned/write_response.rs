//! Writes the response of a planned query from its reads.

use async_graphql::{PathSegment, ServerError};

use super::fields::{
    kind_name, number, of_aggregation, of_children, of_element, of_page, of_values, string,
    write_place,
};
use super::given_fields::{of_given, of_update};
use super::write_state::{ElementFrame, ElementFrames, Failure, OpenObjects, WriteState};
use crate::budget::{count_steps, grow, release_unused, turn};
use crate::database::{DocumentKey, Loaded};
use crate::document::json::write_string;
use crate::document::path::{Place, Segment};
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::{
    Bound, DocumentAt, PositionKind, ROOT, ReadAt, ResponsePosition, ResponseStep,
};
use crate::graphql::execute::planned::finding::element::{Element, NULL};
use crate::graphql::execute::planned::finding::found::{Found, Instance};
use crate::graphql::execute::planned::finding::rounds::Rounds;
use crate::graphql::response::write_errors::server_error;
use crate::graphql::scalars::node_id;
use crate::limits::{ERRORS_MAX, MOVED_BYTES_AT_ONCE, STEPS_PER_ITEM};

/// Bytes that most steps write at most, besides values, which make their own room.
const STEP_BYTES: usize = 256;

/// The data of the response, and its errors. Failed fields are null.
pub(crate) struct WrittenResponse {
    /// `{"data":…`, without the closing brace; of a result, what it begins with and its value.
    pub(crate) data: Vec<u8>,
    /// Whether there is no data, because of the last error.
    pub(crate) is_null: bool,
    pub(crate) errors: Vec<ServerError>,
    /// Whether a root field is null, or a page is empty.
    pub(crate) may_be_empty: bool,
}

impl WrittenResponse {
    /// The response if the non-nullable root field at this position fails.
    pub(crate) fn failed(bound: &Bound<'_>, error: &Error, position: usize) -> Self {
        Self::without_data(vec![bound.error(error, position)])
    }

    fn without_data(errors: Vec<ServerError>) -> Self {
        Self {
            data: b"{\"data\":null".to_vec(),
            is_null: true,
            errors,
            may_be_empty: true,
        }
    }
}

/// What the response is written from.
pub(crate) struct PlanWriter<'a> {
    pub(crate) bound: &'a Bound<'a>,
    pub(crate) rounds: &'a Rounds<'a>,
    pub(crate) loaded: &'a Loaded<'a>,
    pub(crate) request_budget: &'a RequestBudget,
    /// The text of the subgraph schema, as JSON.
    pub(crate) sdl: &'a [u8],
}

impl<'a> PlanWriter<'a> {
    /// Writes the response behind `out`. Yields to the scheduler while it writes large values.
    ///
    /// # Errors
    /// An exceeded limit of the budget, which is not an error of a field.
    pub(crate) async fn write(&self, mut out: Vec<u8>) -> Result<WrittenResponse> {
        let steps = &self.bound.steps;
        out.reserve(8 * steps.len() + 64);
        let root = ElementFrame {
            element: Element::root(self.loaded),
            instance: ROOT,
            at: 0,
            count: 1,
            begin: 0,
            end: usize::MAX,
            is_list: false,
        };
        let mut state = WriteState {
            out,
            errors: Vec::new(),
            frames: ElementFrames(vec![root]),
            open: OpenObjects {
                objects: Vec::new(),
                needed: self.bound.can_fail(),
            },
            may_be_empty: self.rounds.has_empty(),
            at: 0,
        };
        let mut written = STEPS_PER_CHECK;
        loop {
            if let Some(frame) = state.frames.0.last()
                && state.at == frame.end
            {
                state.at = self.next_element(&mut state.out, &mut state.frames)?;
                continue;
            }
            let Some(step) = steps.get(state.at) else {
                break;
            };
            written += parts(step);
            if written >= STEPS_PER_CHECK {
                self.request_budget.check()?;
                turn().await;
                count_steps(STEPS_PER_ITEM * written as u64);
                written = 0;
            }
            state.at += 1;
            self.request_budget
                .budget()
                .check_response(state.out.len())?;
            if state.out.len() > MOVED_BYTES_AT_ONCE {
                grow(&mut state.out, STEP_BYTES);
            }
            let before = state.out.len();
            let failure = match step {
                ResponseStep::Text(text) => {
                    state.out.extend_from_slice(text);
                    None
                }
                ResponseStep::Value { .. }
                | ResponseStep::Picked { .. }
                | ResponseStep::Remainder { .. }
                | ResponseStep::Between { .. }
                | ResponseStep::Version { .. }
                | ResponseStep::FoundText { .. }
                | ResponseStep::Length { .. } => {
                    let (written, position) = self.json(&mut state.out, step, &state.frames).await;
                    let error = written.err();
                    error.map(|error| Failure::Nullable(error, position))
                }
                ResponseStep::TypedLeaf { typed, leaf } => {
                    self.typed_leaf(&mut state, typed, leaf).await?
                }
                step => self.object(&mut state, step)?,
            };
            if let Some(failure) = failure
                && !self.fail(&mut state, &failure, before)?
            {
                return Ok(WrittenResponse::without_data(state.errors));
            }
        }
        release_unused(&mut state.out);
        Ok(WrittenResponse {
            data: state.out,
            is_null: false,
            may_be_empty: state.may_be_empty || !state.errors.is_empty(),
            errors: state.errors,
        })
    }

    /// Executes a step that begins an object or a list, or writes what every object has.
    fn object(
        &self,
        state: &mut WriteState<'a>,
        step: &ResponseStep<'_>,
    ) -> Result<Option<Failure>> {
        let WriteState { out, frames, .. } = state;
        Ok(match step {
            ResponseStep::Open {
                read,
                position,
                end,
            } => {
                let kind = frames.element(read.scope)?.kind(read.read);
                return Ok(state.open_object(kind, *end, *position, self.bound));
            }
            ResponseStep::OpenTyped { typed, end } => return self.open_typed(state, typed, *end),
            ResponseStep::OpenElement { end } => {
                state.open_nullable(*end);
                None
            }
            ResponseStep::Elements {
                lookup,
                end,
                is_list,
            } => {
                let steps = (state.at, *end);
                state.at = self.elements(out, frames, (*lookup, *is_list), steps)?;
                None
            }
            ResponseStep::Kind { read, position } => {
                match frames.element(read.scope)?.kind(read.read) {
                    Ok(kind) => {
                        write_string(out, kind_name(kind.ok_or_else(mismatch)?));
                        None
                    }
                    Err(error) => Some(Failure::Required(error, *position)),
                }
            }
            ResponseStep::Fail {
                error,
                position,
                nullable,
            } => {
                let error = Error::clone(error);
                Some(if *nullable {
                    Failure::Nullable(error, *position)
                } else {
                    Failure::Required(error, *position)
                })
            }
            ResponseStep::Found { lookup, position } => {
                let (_, Instance { found, .. }) = self.instance(frames, *lookup)?;
                let error = found.as_ref().err();
                error.map(|error| Failure::Required(error.clone(), *position))
            }
            step => {
                self.identity(out, step, frames)?;
                None
            }
        })
    }

    /// Writes null in place of the field that failed, or of the object that has it. `before` is the
    /// length of the response before the field. Returns false if there is no data left.
    fn fail(&self, state: &mut WriteState<'a>, failure: &Failure, before: usize) -> Result<bool> {
        let (Failure::Nullable(error, position) | Failure::Required(error, position)) = failure;
        let around = match failure {
            Failure::Nullable(..) => None,
            Failure::Required(..) => Some(state.open.around(state.at - 1)),
        };
        // A list can have as many errors as elements. A response does not report those past the limit, unless
        // they are the reason why there is no data.
        let is_counted = state.errors.len() >= ERRORS_MAX
            && error.kind() == ErrorKind::TypeMismatch
            && !matches!(around, Some(None));
        state.errors.push(if is_counted {
            ServerError::new(String::new(), None)
        } else {
            self.failed(error, *position, &state.frames)?
        });
        let object = match around {
            None => {
                write_null(&mut state.out, before);
                return Ok(true);
            }
            Some(None) => return Ok(false),
            Some(Some(object)) => object,
        };
        write_null(&mut state.out, object.written);
        state.frames.0.truncate(object.frames);
        state.at = object.end;
        Ok(true)
    }

    /// Begins a list, or an element that is in none. Returns the next step.
    fn elements(
        &self,
        out: &mut Vec<u8>,
        frames: &mut ElementFrames<'a>,
        (lookup, is_list): (usize, bool),
        (begin, end): (usize, usize),
    ) -> Result<usize> {
        let (instance, Instance { found, .. }) = self.instance(frames, lookup)?;
        // A step before this one has failed the field if the lookup has failed.
        let count = found.as_ref().map_err(Clone::clone)?.count();
        if is_list {
            out.push(b'[');
        }
        if count == 0 {
            out.extend_from_slice(if is_list { b"]" } else { NULL });
            return Ok(end);
        }
        frames.0.push(ElementFrame {
            element: self.element((instance, 0))?,
            instance,
            at: 0,
            count,
            begin,
            end,
            is_list,
        });
        Ok(begin)
    }

    /// Goes to the next element of the innermost list, or ends the list. Returns the next step.
    fn next_element(&self, out: &mut Vec<u8>, frames: &mut ElementFrames<'a>) -> Result<usize> {
        let frame = frames.0.last_mut().ok_or_else(mismatch)?;
        frame.at += 1;
        if frame.at < frame.count {
            out.push(b',');
            frame.element = self.element((frame.instance, frame.at))?;
            return Ok(frame.begin);
        }
        if frame.is_list {
            out.push(b']');
        }
        let end = frame.end;
        frames.0.pop();
        Ok(end)
    }

    fn element(&self, element: (usize, usize)) -> Result<Element<'a>> {
        self.rounds.element(self.bound, self.loaded, element)
    }

    /// What a lookup found for the current element, and its number.
    fn instance(
        &self,
        frames: &ElementFrames<'a>,
        lookup: usize,
    ) -> Result<(usize, &'a Instance<'a>)> {
        let lookup = &self.bound.lookups[lookup];
        let frame = frames.of(lookup.scope)?;
        let instance = self.rounds.instance(lookup, (frame.instance, frame.at))?;
        Ok((instance, &self.rounds.0[instance]))
    }

    /// The error of a field.
    ///
    /// # Errors
    /// An exceeded limit of the budget, which is not an error of the field.
    fn failed(
        &self,
        error: &Error,
        position: usize,
        frames: &ElementFrames<'_>,
    ) -> Result<ServerError> {
        self.request_budget.check()?;
        let element = |scope| frames.of(scope).map_or(0, |frame| frame.at);
        Ok(located(error, &self.bound.positions, position, element))
    }

    /// Writes a step that is part of every object: what identifies an object, or a field of a page.
    fn identity(
        &self,
        out: &mut Vec<u8>,
        step: &ResponseStep<'_>,
        frames: &ElementFrames<'a>,
    ) -> Result<()> {
        match step {
            ResponseStep::List(values) => {
                self.request_budget.fields(*values)?;
                out.push(b'[');
            }
            ResponseStep::Path(read) => write_place(out, &placed(frames, *read)?),
            ResponseStep::EntryKey(read) => match placed(frames, *read)?.0.last() {
                Some(Segment::Key(name)) => write_string(out, name),
                _ => return Err(mismatch()),
            },
            ResponseStep::DocumentId(document) => {
                write_string(
                    out,
                    &node_id::of_document(self.document(frames, *document)?),
                );
            }
            ResponseStep::Key(document) => {
                write_string(out, &self.document(frames, *document)?.id.to_string());
            }
            ResponseStep::Collection(document) => {
                write_string(out, &self.document(frames, *document)?.collection);
            }
            ResponseStep::SubdocumentId { document, read } => {
                let document = self.document(frames, *document)?;
                let id = node_id::of_subdocument(document, &placed(frames, *read)?);
                write_string(out, &id);
            }
            ResponseStep::Cursor(scope) => {
                let frame = frames.of(*scope)?;
                let cursor = match &self.rounds.0[frame.instance].found {
                    Ok(Found::Page(page)) => page.found.cursor(frame.at),
                    Ok(Found::Referring(page)) => page.found.cursor(frame.at),
                    Ok(Found::Children(found)) => found.cursor(frame.at),
                    _ => None,
                };
                write_string(out, &cursor.ok_or_else(mismatch)?);
            }
            ResponseStep::OfPage(lookup, field) => {
                let (_, Instance { found, .. }) = self.instance(frames, *lookup)?;
                match found {
                    Ok(Found::Page(page)) => of_page(out, page, *field),
                    Ok(Found::Referring(page)) => of_page(out, page, *field),
                    Ok(Found::Children(found)) => of_children(out, found, *field),
                    Ok(Found::Groups(found)) => of_aggregation(out, found, *field),
                    _ => return Err(mismatch()),
                }
            }
            ResponseStep::OfElement(scope, field) => {
                let frame = frames.of(*scope)?;
                let found = &self.rounds.0[frame.instance].found;
                let found = found.as_ref().map_err(Clone::clone)?;
                match found {
                    Found::Given(given) => {
                        return of_given(out, *given, frame.at, *field, self.request_budget);
                    }
                    Found::Updates(updates) => {
                        let update = updates.get(frame.at).ok_or_else(mismatch)?;
                        of_update(out, update, *field).ok_or_else(mismatch)?;
                    }
                    found => of_element(out, found, frame.at, *field).ok_or_else(mismatch)?,
                }
            }
            ResponseStep::OfValues {
                scope,
                field,
                number,
            } => {
                let frame = frames.of(*scope)?;
                let Ok(Found::Groups(found)) = &self.rounds.0[frame.instance].found else {
                    return Err(mismatch());
                };
                let group = found.groups.get(frame.at).ok_or_else(mismatch)?;
                of_values(out, group.of.get(*number).ok_or_else(mismatch)?, *field);
            }
            ResponseStep::Sdl => out.extend_from_slice(self.sdl),
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    pub(super) fn document<'f>(
        &self,
        frames: &'f ElementFrames<'a>,
        document: DocumentAt,
    ) -> Result<&'f DocumentKey>
    where
        'a: 'f,
    {
        match document {
            DocumentAt::Bound(number) => Ok(&self.bound.documents[number]),
            DocumentAt::Element(scope) => frames.element(scope)?.document.ok_or_else(mismatch),
        }
    }

    /// Writes a step that can fail by itself. Returns the position of the field, too.
    async fn json(
        &self,
        out: &mut Vec<u8>,
        step: &ResponseStep<'_>,
        frames: &ElementFrames<'a>,
    ) -> (Result<()>, usize) {
        let request_budget = self.request_budget;
        match step {
            ResponseStep::Value { read, position } => {
                let written = match frames.element(read.scope) {
                    Ok(element) => element.write_value(out, read.read, request_budget).await,
                    Err(error) => Err(error),
                };
                (written, *position)
            }
            ResponseStep::Version { read, position } => {
                let element = frames.element(read.scope);
                let written = element.and_then(|element| element.write_version(out, read.read));
                (written, *position)
            }
            ResponseStep::Picked {
                scope,
                reads,
                above,
                position,
            } => {
                let picked = async {
                    request_budget.fields(reads.len())?;
                    let parts = (&reads[..], *above);
                    let element = frames.element(*scope)?;
                    element.write_picked(out, parts, request_budget).await
                };
                (picked.await, *position)
            }
            ResponseStep::Remainder {
                read,
                omitted,
                position,
            } => {
                let remainder = async {
                    request_budget.fields(*omitted)?;
                    let element = frames.element(read.scope)?;
                    element
                        .write_remainder(out, read.read, request_budget)
                        .await
                };
                (remainder.await, *position)
            }
            ResponseStep::Between { read, position } => {
                let written = match frames.element(read.scope) {
                    Ok(element) => element.write_between(out, read.read, request_budget).await,
                    Err(error) => Err(error),
                };
                (written, *position)
            }
            ResponseStep::FoundText { lookup, position } => {
                let text = self.instance(frames, *lookup);
                let written = text.and_then(|(_, instance)| match &instance.found {
                    Ok(Found::Text(text)) => {
                        string(out, text.as_deref());
                        Ok(())
                    }
                    Ok(Found::Json(json)) => {
                        out.extend_from_slice(json.as_deref().unwrap_or(NULL));
                        Ok(())
                    }
                    Ok(_) => Err(mismatch()),
                    Err(error) => Err(error.clone()),
                });
                (written, *position)
            }
            ResponseStep::Length { lookup, position } => {
                let length = self.instance(frames, *lookup);
                let length = length.and_then(|(_, instance)| match &instance.found {
                    Ok(Found::Length(length)) => Ok(*length),
                    Ok(_) => Err(mismatch()),
                    Err(error) => Err(error.clone()),
                });
                // No document has as many children or characters as the maximum of `Int`.
                let int = |length: u64| i32::try_from(length).unwrap_or(i32::MAX);
                let written = length.map(|length| number(out, length.map(int)));
                (written, *position)
            }
            _ => (Err(mismatch()), 0),
        }
    }
}

/// The place that a read found.
fn placed(frames: &ElementFrames<'_>, read: ReadAt) -> Result<Place> {
    let place = frames.element(read.scope)?.place(read.read)?;
    place.ok_or_else(mismatch)
}

/// The number of parts of a document that a step writes.
fn parts(step: &ResponseStep<'_>) -> usize {
    match step {
        ResponseStep::Picked { reads, .. } => 1 + reads.len(),
        ResponseStep::Remainder { omitted, .. } => 1 + omitted,
        _ => 1,
    }
}

/// The number of steps between checks of the time limit. One with several parts counts as several.
const STEPS_PER_CHECK: usize = 64;

impl Bound<'_> {
    /// The error of a field, with its location and its path.
    pub(crate) fn error(&self, error: &Error, position: usize) -> ServerError {
        located(error, &self.positions, position, |_| 0)
    }
}

/// Converts an error, with its location in the query and its path in the response. `element` returns
/// the number of the current element of a scope.
fn located(
    error: &Error,
    positions: &[ResponsePosition<'_>],
    position: usize,
    element: impl Fn(usize) -> usize,
) -> ServerError {
    let mut located = server_error(error);
    let mut at = Some(position);
    while let Some(ResponsePosition { around, is }) = at.map(|at| positions[at]) {
        located.path.push(match is {
            PositionKind::Field(selected) => {
                if located.locations.is_empty() {
                    located.locations.push(selected.pos);
                }
                PathSegment::Field(selected.key.to_string())
            }
            PositionKind::Element(index) => PathSegment::Index(index),
            PositionKind::CurrentElement(scope) => PathSegment::Index(element(scope)),
        });
        at = around;
    }
    located.path.reverse();
    located
}

/// Replaces what was written after `written` bytes by null.
fn write_null(out: &mut Vec<u8>, written: usize) {
    out.truncate(written);
    out.extend_from_slice(NULL);
}
