//! Writes the response of a planned query from its reads.

use async_graphql::{PathSegment, ServerError};

use super::bound::{Bound, BoundList, ListOf, PositionKind, ResponsePosition, ResponseStep};
use super::element::{Element, NULL};
use super::found::{FoundPage, FoundPages};
use super::selected::select;
use crate::database::{Loaded, QuerySelection};
use crate::document::json::write_string;
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::mismatch;
use crate::graphql::prepare::plan::PageField;
use crate::graphql::response::write::server_error;
use crate::graphql::scalars::node_id;
use crate::store::Read;

/// The data of the response, and its errors. Failed fields are null.
pub(crate) struct WrittenResponse {
    /// `{"data":…`, without the closing brace.
    pub(crate) data: Vec<u8>,
    pub(crate) errors: Vec<ServerError>,
    /// Whether a root field is null, or a page is empty.
    pub(crate) may_be_empty: bool,
}

impl WrittenResponse {
    /// The response if the non-nullable root field at this position fails.
    pub(crate) fn failed(bound: &Bound<'_>, error: &Error, position: usize) -> Self {
        Self {
            data: b"{\"data\":null".to_vec(),
            errors: vec![located(error, &bound.positions, position, 0)],
            may_be_empty: true,
        }
    }
}

/// What the response is written from.
pub(crate) struct PlanWriter<'a> {
    pub(crate) bound: &'a Bound<'a>,
    pub(crate) pages: &'a FoundPages,
    pub(crate) loaded: &'a Loaded<'a>,
    /// For JSONPath queries that read the lengths of arrays first; none without JSONPath queries.
    pub(crate) read: Option<&'a dyn Read>,
    pub(crate) request_budget: &'a RequestBudget,
}

/// The list that is being written.
struct CurrentList<'a> {
    list: usize,
    elements: ListElements<'a>,
    /// The current element, and the number of elements.
    at: usize,
    count: usize,
    /// The steps of one element.
    begin: usize,
    end: usize,
}

/// The objects whose steps are being executed, from the outermost one. Each can be null.
struct OpenObjects {
    objects: Vec<OpenObject>,
    /// Whether a list can fail. Otherwise the objects are not needed.
    needed: bool,
}

struct OpenObject {
    /// The step that began the object, and the first step after it.
    begin: usize,
    end: usize,
    /// The length of the response before the object.
    written: usize,
}

impl OpenObjects {
    fn new(bound: &Bound<'_>) -> Self {
        let can_fail = |list: &BoundList<'_>| matches!(list.of, ListOf::Selected(_));
        Self {
            objects: Vec::new(),
            needed: bound.lists.iter().any(can_fail),
        }
    }

    fn push(&mut self, begin: usize, end: usize, written: usize) {
        if self.needed {
            self.close(begin);
            self.objects.push(OpenObject {
                begin,
                end,
                written,
            });
        }
    }

    /// The innermost object that has this step.
    fn around(&mut self, step: usize) -> Option<OpenObject> {
        self.close(step);
        self.objects.pop()
    }

    /// Removes the objects that do not have this step.
    fn close(&mut self, step: usize) {
        let has = |object: &OpenObject| object.begin < step && step < object.end;
        while self.objects.pop_if(|object| !has(object)).is_some() {}
    }
}

enum ListElements<'a> {
    Page(&'a FoundPage),
    Selected(QuerySelection),
}

impl<'a> PlanWriter<'a> {
    /// Writes the response. Yields to the scheduler while it writes large values.
    ///
    /// # Errors
    /// The error of a non-nullable field. An exceeded limit of the budget.
    pub(crate) async fn write(&self) -> Result<WrittenResponse> {
        let steps = &self.bound.steps;
        let mut out = Vec::with_capacity(8 * steps.len() + 64);
        let mut errors = Vec::new();
        let mut element = Element::outside(self.bound, self.loaded);
        let mut current: Option<CurrentList<'a>> = None;
        let mut open = OpenObjects::new(self.bound);
        let mut may_be_empty = self.pages.has_empty();
        let (mut at, mut written) = (0, 0);
        loop {
            if let Some(list) = &mut current
                && at == list.end
            {
                if let Some(next) = self.next_element(&mut out, list)? {
                    (at, element) = (list.begin, next);
                } else {
                    element = Element::outside(self.bound, self.loaded);
                    current = None;
                }
                continue;
            }
            let Some(step) = steps.get(at) else { break };
            if written % STEPS_PER_CHECK == 0 {
                self.request_budget.check()?;
            }
            written += 1;
            at += 1;
            self.request_budget.budget().check_response(out.len())?;
            let before = out.len();
            let (error, position) = match step {
                ResponseStep::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                ResponseStep::Open {
                    read,
                    position,
                    end,
                } => match element.kind(*read) {
                    Ok(Some(_)) => {
                        open.push(at - 1, *end, before);
                        out.push(b'{');
                        continue;
                    }
                    Ok(None) => {
                        out.extend_from_slice(NULL);
                        at = *end;
                        may_be_empty |= self.bound.positions[*position].around.is_none();
                        continue;
                    }
                    Err(error) => {
                        at = *end;
                        (error, *position)
                    }
                },
                ResponseStep::Value { position, .. }
                | ResponseStep::Picked { position, .. }
                | ResponseStep::Remainder { position, .. }
                | ResponseStep::Version { position, .. } => {
                    match self.json(&mut out, step, &element).await {
                        Ok(()) => continue,
                        Err(error) => (error, *position),
                    }
                }
                ResponseStep::Elements { list, end } => {
                    let list = match Box::pin(self.list(*list, at, *end)).await {
                        Ok(list) => list,
                        // A list cannot be null, so the object that has it is.
                        Err(error) => {
                            let object = open.around(at - 1).ok_or(error.clone())?;
                            let position = self.bound.lists[*list].position;
                            errors.push(self.failed(&error, position, None)?);
                            write_null(&mut out, object.written);
                            at = object.end;
                            continue;
                        }
                    };
                    out.push(b'[');
                    if list.count == 0 {
                        out.push(b']');
                        at = *end;
                    } else {
                        element = self.element(&list)?;
                        current = Some(list);
                    }
                    continue;
                }
                step => {
                    self.identity(&mut out, step, &element, current.as_ref())?;
                    continue;
                }
            };
            errors.push(self.failed(&error, position, current.as_ref())?);
            write_null(&mut out, before);
        }
        Ok(WrittenResponse {
            data: out,
            may_be_empty: may_be_empty || !errors.is_empty(),
            errors,
        })
    }

    /// Goes to the next element of a list, or ends the list.
    fn next_element(
        &self,
        out: &mut Vec<u8>,
        list: &mut CurrentList<'a>,
    ) -> Result<Option<Element<'a>>> {
        list.at += 1;
        if list.at == list.count {
            out.push(b']');
            return Ok(None);
        }
        out.push(b',');
        self.element(list).map(Some)
    }

    /// The error of a nullable field, outside a list or in its current element.
    ///
    /// # Errors
    /// An exceeded limit of the budget, which is not an error of the field.
    fn failed(
        &self,
        error: &Error,
        position: usize,
        list: Option<&CurrentList<'_>>,
    ) -> Result<ServerError> {
        self.request_budget.check()?;
        let number = list.map_or(0, |list| list.at);
        Ok(located(error, &self.bound.positions, position, number))
    }

    /// Begins a list whose elements have these steps.
    async fn list(&self, list: usize, begin: usize, end: usize) -> Result<CurrentList<'a>> {
        let bound = &self.bound.lists[list];
        let (elements, count) = match &bound.of {
            ListOf::Documents { .. } => {
                let page = self.pages.page(list).ok_or_else(mismatch)?;
                (ListElements::Page(page), page.documents.len())
            }
            ListOf::Selected(parts) => {
                let read = self.read.ok_or_else(mismatch)?;
                let request_budget = self.request_budget;
                let selection =
                    select(parts, self.bound, self.loaded, read, request_budget).await?;
                let count = selection.nodes().len();
                let fields = count.saturating_mul(bound.fields.max(1));
                request_budget.fields(fields)?;
                (ListElements::Selected(selection), count)
            }
        };
        Ok(CurrentList {
            list,
            elements,
            at: 0,
            count,
            begin,
            end,
        })
    }

    /// The current element of a list.
    fn element(&self, list: &CurrentList<'a>) -> Result<Element<'a>> {
        Ok(match &list.elements {
            ListElements::Page(page) => {
                Element::of_page(self.bound, self.loaded, (list.list, *page), list.at)
            }
            ListElements::Selected(selection) => {
                let node = selection.nodes().get(list.at).ok_or_else(mismatch)?;
                let part = selection.value(node).ok_or_else(mismatch)?;
                Element::selected(self.bound, list.list, part)
            }
        })
    }

    /// Writes a step that is part of every object: a text, or what identifies an object.
    fn identity(
        &self,
        out: &mut Vec<u8>,
        step: &ResponseStep<'_>,
        element: &Element<'_>,
        list: Option<&CurrentList<'_>>,
    ) -> Result<()> {
        match step {
            ResponseStep::List(values) => {
                self.request_budget.fields(*values)?;
                out.push(b'[');
            }
            ResponseStep::Kind(read) => {
                let kind = element.kind(*read)?.ok_or_else(mismatch)?;
                write_string(out, kind.name());
            }
            ResponseStep::Path(read) => place(out, &element.place(*read)?),
            ResponseStep::DocumentId(document) => {
                write_string(out, &node_id::of_document(element.document(*document)));
            }
            ResponseStep::Key(document) => {
                write_string(out, &element.document(*document).id.to_string());
            }
            ResponseStep::Collection(document) => {
                write_string(out, &element.document(*document).collection);
            }
            ResponseStep::SubdocumentId { document, read } => {
                let id =
                    node_id::of_subdocument(element.document(*document), &element.place(*read)?);
                write_string(out, &id);
            }
            ResponseStep::Cursor => {
                let cursor = list.and_then(|list| match &list.elements {
                    ListElements::Page(page) => page.cursor(list.at),
                    ListElements::Selected(_) => None,
                });
                write_string(out, &cursor.ok_or_else(mismatch)?);
            }
            ResponseStep::OfPage(page, field) => {
                of_page(out, self.pages.page(*page).ok_or_else(mismatch)?, *field);
            }
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    /// Writes a step that can fail by itself.
    async fn json(
        &self,
        out: &mut Vec<u8>,
        step: &ResponseStep<'_>,
        element: &Element<'_>,
    ) -> Result<()> {
        let request_budget = self.request_budget;
        match step {
            ResponseStep::Value { read, .. } => {
                element.write_value(out, *read, request_budget).await
            }
            ResponseStep::Version { read, .. } => element.write_version(out, *read),
            ResponseStep::Picked { reads, above, .. } => {
                request_budget.fields(reads.len())?;
                let parts = (&reads[..], *above);
                element.write_picked(out, parts, request_budget).await
            }
            ResponseStep::Remainder { read, omitted, .. } => {
                request_budget.fields(*omitted)?;
                element.write_remainder(out, *read, request_budget).await
            }
            _ => Err(mismatch()),
        }
    }
}

/// The number of steps between checks of the time limit.
const STEPS_PER_CHECK: usize = 64;

/// Writes a field of a page of documents.
fn of_page(out: &mut Vec<u8>, page: &FoundPage, field: PageField) {
    let (info, plan) = (&page.page_info, &page.plan);
    match field {
        PageField::TotalCount => number(out, page.total_count()),
        PageField::HasNextPage => boolean(out, info.has_next_page),
        PageField::HasPreviousPage => boolean(out, info.has_previous_page),
        PageField::StartCursor => string(out, info.start_cursor.as_ref().map(|text| &*text.0)),
        PageField::EndCursor => string(out, info.end_cursor.as_ref().map(|text| &*text.0)),
        PageField::Index => string(out, plan.index.as_ref().map(|text| &*text.0)),
        PageField::Partial => boolean(out, plan.partial),
        PageField::Scanned => number(out, Some(plan.scanned)),
        PageField::Examined => number(out, Some(plan.examined)),
        PageField::Covered => boolean(out, plan.covered),
        PageField::Returned => number(out, Some(plan.returned)),
        PageField::TotalCountReason => string(out, plan.total_count_reason),
    }
}

fn boolean(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

fn number(out: &mut Vec<u8>, value: Option<impl itoa::Integer>) {
    match value {
        Some(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        None => out.extend_from_slice(NULL),
    }
}

fn string(out: &mut Vec<u8>, value: Option<&str>) {
    match value {
        Some(value) => write_string(out, value),
        None => out.extend_from_slice(NULL),
    }
}

/// A place in list form.
fn place(out: &mut Vec<u8>, place: &Place) {
    out.push(b'[');
    for (at, segment) in place.0.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match segment {
            Segment::Key(key) => write_string(out, key),
            Segment::Index(index) => out.extend_from_slice(index.to_string().as_bytes()),
        }
    }
    out.push(b']');
}

/// Converts an error, with its location in the query and its path in the response. `element` is the
/// number of the current element.
fn located(
    error: &Error,
    positions: &[ResponsePosition<'_>],
    position: usize,
    element: usize,
) -> ServerError {
    let mut told = server_error(error);
    let mut at = Some(position);
    while let Some(ResponsePosition { around, is }) = at.map(|at| positions[at]) {
        told.path.push(match is {
            PositionKind::Field(selected) => {
                if told.locations.is_empty() {
                    told.locations.push(selected.pos);
                }
                PathSegment::Field(selected.key.to_string())
            }
            PositionKind::Element(index) => PathSegment::Index(index),
            PositionKind::CurrentElement => PathSegment::Index(element),
        });
        at = around;
    }
    told.path.reverse();
    told
}

/// Replaces what was written after `written` bytes by null.
fn write_null(out: &mut Vec<u8>, written: usize) {
    out.truncate(written);
    out.extend_from_slice(NULL);
}
