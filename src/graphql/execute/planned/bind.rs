//! Binds a plan to the variables of one request: the reads, and the steps that write the response.
//!
//! Binding walks the plan once, in the order of the response, and appends to five lists. Elements
//! refer to each other by their numbers in these lists:
//!
//! - **documents**: the keys of the documents that are read.
//! - **reads**: what is read from them. Equal reads of one root field are one read.
//! - **steps**: the program that writes the response. Most steps write a text, or the result of one
//!   read. `Open` begins the object of a place. If nothing is stored there, it writes `null` and
//!   jumps to its `end`, the first step after the object. `place` adds the step with `end: 0`, and
//!   sets `end` when the steps of the object are known.
//! - **positions**: the positions of fields in the response, as a tree, for the paths of errors.
//! - **lists**: the lists of the response whose length is not known yet: pages of documents, and the
//!   parts that a JSONPath query selects. The steps of one element are bound once, and are executed
//!   for each element: `Elements` begins the list, and its `end` is the step after the element's. The
//!   reads of a list are those of one element.
//!
//! For `{ document(id: 1) { value(path: "/a") } }` that is one document, two reads (the first pair at
//! the root, the whole of `/a`), and the steps: the text `{"data":{"document":`, `Open` (read 0), the
//! text `"value":`, `Value` (read 1), and the closing braces.
//!
//! The pages of documents are found first. Then all reads are made in one round, and the response is
//! written without waiting, except for JSONPath queries that read the length of an array first.

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::Name;

use super::arguments::PlanArguments;
use super::bound::{Bound, BoundList, BoundReads, PositionKind, ResponsePosition, ResponseStep};
use crate::database::{DocumentKey, Extent};
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::objects::field_reads::{FieldReads, PlaceField};
use crate::graphql::prepare::plan::{Field, Paths, Plan, Selection};
use crate::graphql::variables::coerced::Coerced;
use crate::limits::{PLANNED_PATHS_MAX, READS_AHEAD_MAX};

/// Binds a plan to these variables. None if the general executor must run the query.
///
/// # Errors
/// As [`RequestBudget::entities`], [`RequestBudget::fields`] and [`RequestBudget::places`].
pub(crate) fn bind<'p>(
    plan: &'p Plan,
    variables: &'p Coerced,
    request_budget: &'p RequestBudget,
) -> Result<Option<Bound<'p>>> {
    let mut binder = Binder {
        arguments: PlanArguments(variables),
        variables,
        request_budget,
        places: 0,
        listed: 0,
        documents: Vec::new(),
        reads: FieldReads::default(),
        steps: Vec::new(),
        positions: Vec::new(),
        lists: Vec::new(),
        position: None,
        element_of: None,
    };
    if let Some((entities, fields)) = binder.entities(&plan.0) {
        request_budget.entities(entities)?;
        request_budget.fields(fields)?;
    }
    if binder.root(&plan.0).is_none() {
        return Ok(None);
    }
    let Binder {
        documents,
        reads,
        steps,
        positions,
        lists,
        places,
        ..
    } = binder;
    request_budget.places(places)?;
    Ok(Some(Bound {
        documents,
        reads,
        steps,
        positions,
        lists,
    }))
}

pub(super) struct Binder<'p> {
    pub(super) arguments: PlanArguments<'p>,
    variables: &'p Coerced,
    pub(super) request_budget: &'p RequestBudget,
    documents: Vec<Cow<'p, DocumentKey>>,
    pub(super) reads: BoundReads<'p>,
    /// The number of reads that are parts of documents.
    places: usize,
    /// The number of paths in lists.
    listed: usize,
    pub(super) steps: Vec<ResponseStep<'p>>,
    positions: Vec<ResponsePosition<'p>>,
    pub(super) lists: Vec<BoundList<'p>>,
    /// The current position.
    pub(super) position: Option<usize>,
    /// The list whose element is being bound.
    pub(super) element_of: Option<usize>,
}

/// The place in a document that a selection is bound to.
pub(super) struct Here<'p> {
    /// The number of the document.
    pub(super) document: usize,
    pub(super) path: Cow<'p, Path>,
    /// The read of this place; none for a document that is known to exist.
    pub(super) read: Option<usize>,
    /// The first read of the enclosing root field. Repeated reads within the field are shared.
    pub(super) first: usize,
}

impl<'p> Binder<'p> {
    /// The number of requested entities, and the number of fields for all of them. Skipped fields
    /// do not count.
    fn entities(&self, selection: &Selection) -> Option<(usize, usize)> {
        let included = self.arguments.included(selection);
        let requested = included.filter_map(|selected| {
            let Field::Entities {
                representations,
                below,
            } = &selected.field
            else {
                return None;
            };
            let entities = self.variables.entities(representations)?.len();
            Some((
                entities,
                entities.saturating_mul(self.arguments.fields(below).max(1)),
            ))
        });
        requested.reduce(|(entities, fields), (more, of_more)| {
            (
                entities.saturating_add(more),
                fields.saturating_add(of_more),
            )
        })
    }

    fn root(&mut self, selection: &'p Selection) -> Option<()> {
        self.text(b"{\"data\":");
        self.object(selection, |binder, field| match field {
            Field::Typename(name) => {
                binder.text(name.as_bytes());
                Some(())
            }
            Field::Document {
                collection,
                id,
                path,
                below,
            } => {
                let collection = match collection {
                    None => "D",
                    Some(collection) => binder.arguments.string(collection)?,
                };
                let document = document(collection, &binder.arguments.id(id)?)?;
                let document = binder.document(Cow::Owned(document));
                let path = binder.arguments.path(path)?;
                let first = binder.reads.0.len();
                binder.place(document, path, first, below)
            }
            Field::Entities {
                representations,
                below,
            } => binder.represented(representations, below),
            Field::Documents(arguments, below) => binder.documents(arguments, below),
            _ => None,
        })
    }

    fn represented(&mut self, representations: &Name, below: &'p Selection) -> Option<()> {
        let entities = self.variables.entities(representations)?;
        self.text(b"[");
        for (at, entity) in entities.iter().enumerate() {
            if at > 0 {
                self.text(b",");
            }
            let document = self.document(Cow::Borrowed(entity));
            let first = self.reads.0.len();
            let around = self.enter(PositionKind::Element(at));
            self.place(document, Cow::Borrowed(Path::root()), first, below)?;
            self.position = around;
            // Over the limit, binding stops here. The budget keeps the error.
            self.request_budget.room(self.places).ok()?;
        }
        self.text(b"]");
        Some(())
    }

    /// Adds a document, and returns its number.
    fn document(&mut self, document: Cow<'p, DocumentKey>) -> usize {
        self.documents.push(document);
        self.documents.len() - 1
    }

    /// Binds the selection of a place at which possibly nothing is stored.
    fn place(
        &mut self,
        document: usize,
        path: Cow<'p, Path>,
        first: usize,
        selection: &'p Selection,
    ) -> Option<()> {
        let read = self.read(first, document, path.clone(), PlaceField::Subdocument);
        let open = self.steps.len();
        let position = self.position?;
        self.steps.push(ResponseStep::Open {
            read,
            position,
            end: 0,
        });
        let here = Here {
            document,
            path,
            read: Some(read),
            first,
        };
        self.members(selection, |binder, field| binder.member(&here, field))?;
        let after = self.steps.len();
        if let Some(ResponseStep::Open { end, .. }) = self.steps.get_mut(open) {
            *end = after;
        }
        Some(())
    }

    pub(super) fn member(&mut self, here: &Here<'p>, field: &'p Field) -> Option<()> {
        let Here {
            document, first, ..
        } = *here;
        let step = match field {
            Field::Typename(name) => ResponseStep::Text(name.as_bytes()),
            Field::DocumentId => ResponseStep::DocumentId(document),
            Field::SubdocumentId => ResponseStep::SubdocumentId {
                document,
                read: here.read?,
            },
            Field::Key => ResponseStep::Key(document),
            Field::Collection => ResponseStep::Collection(document),
            Field::Path => ResponseStep::Path(here.read?),
            Field::Version => {
                let read = self.reads().version(first, document);
                let position = self.position?;
                ResponseStep::Version { read, position }
            }
            Field::Kind => ResponseStep::Kind(match here.read {
                Some(read) => read,
                None => self.read(first, document, here.path.clone(), PlaceField::Kind),
            }),
            Field::Value(path) => {
                let path = join(&here.path, self.arguments.path(path)?);
                let read = self.read(first, document, path, PlaceField::Value);
                let position = self.position?;
                ResponseStep::Value { read, position }
            }
            Field::Values(paths) => return self.values(here, paths),
            Field::Pick(paths) => {
                let paths = self.paths(here, paths)?;
                self.needs_pairs();
                let reads = paths
                    .into_iter()
                    .map(|path| self.read(first, document, path, PlaceField::Value));
                ResponseStep::Picked {
                    reads: reads.collect(),
                    above: here.path.tokens().len(),
                    position: self.position?,
                }
            }
            Field::Omit(paths) => {
                let paths = self.paths(here, paths)?.into_iter();
                let omitted: Arc<[Path]> = paths.map(Cow::into_owned).collect();
                ResponseStep::Remainder {
                    omitted: omitted.len(),
                    read: self.remainder(here, omitted),
                    position: self.position?,
                }
            }
            Field::Subdocument(path, below) => {
                let path = join(&here.path, self.arguments.path(path)?);
                return self.place(document, path, first, below);
            }
            Field::Whole(below) => {
                let here = Here {
                    document,
                    path: Cow::Borrowed(Path::root()),
                    read: None,
                    first,
                };
                return self.object(below, |binder, field| binder.member(&here, field));
            }
            Field::Select(query, below) => return self.select(here, query, below),
            _ => return None,
        };
        self.steps.push(step);
        Some(())
    }

    /// Binds the values at paths. Each has its own position, since each can fail on its own.
    fn values(&mut self, here: &Here<'p>, paths: &'p Paths) -> Option<()> {
        let paths = self.paths(here, paths)?;
        self.steps.push(ResponseStep::List(paths.len()));
        for (at, path) in paths.into_iter().enumerate() {
            if at > 0 {
                self.text(b",");
            }
            let read = self.read(here.first, here.document, path, PlaceField::Value);
            let around = self.enter(PositionKind::Element(at));
            let position = self.position?;
            self.steps.push(ResponseStep::Value { read, position });
            self.position = around;
        }
        self.text(b"]");
        Some(())
    }

    pub(super) fn object(
        &mut self,
        selection: &'p Selection,
        member: impl FnMut(&mut Self, &'p Field) -> Option<()>,
    ) -> Option<()> {
        self.text(b"{");
        self.members(selection, member)
    }

    /// Binds the members of an object, and its end.
    pub(super) fn members(
        &mut self,
        selection: &'p Selection,
        mut member: impl FnMut(&mut Self, &'p Field) -> Option<()>,
    ) -> Option<()> {
        let mut first = true;
        for selected in &selection.0 {
            if self.arguments.is_there(selected)? {
                self.text(&selected.name[usize::from(first)..]);
                let around = self.enter(PositionKind::Field(selected));
                member(self, &selected.field)?;
                self.position = around;
                first = false;
            }
        }
        self.text(b"}");
        Some(())
    }

    /// Enters a position inside the current one, and returns the current one.
    pub(super) fn enter(&mut self, is: PositionKind<'p>) -> Option<usize> {
        let around = self.position.replace(self.positions.len());
        self.positions.push(ResponsePosition { around, is });
        around
    }

    pub(super) fn text(&mut self, text: &'p [u8]) {
        self.steps.push(ResponseStep::Text(text));
    }

    /// The number of a read of `path`. Adds the read if the root field has none of this path.
    pub(super) fn read(
        &mut self,
        first: usize,
        document: usize,
        path: Cow<'p, Path>,
        field: PlaceField,
    ) -> usize {
        self.read_extent(first, document, path, field.extent())
    }

    pub(super) fn read_extent(
        &mut self,
        first: usize,
        document: usize,
        path: Cow<'p, Path>,
        extent: Extent,
    ) -> usize {
        let before = self.reads.0.len();
        let read = self.reads().value(first, document, path, extent);
        self.places += self.reads.0.len() - before;
        read
    }

    /// The reads of the element that is being bound, or those outside of lists.
    fn reads(&mut self) -> &mut BoundReads<'p> {
        match self.element_of {
            Some(list) => &mut self.lists[list].reads,
            None => &mut self.reads,
        }
    }

    fn needs_pairs(&mut self) {
        if let Some(list) = self.element_of {
            self.lists[list].needs_pairs = true;
        }
    }

    /// As [`Binder::read`], of the current place without parts of it.
    fn remainder(&mut self, here: &Here<'p>, omitted: Arc<[Path]>) -> usize {
        let before = self.reads.0.len();
        let (path, places) = (here.path.clone(), 1 + omitted.len());
        let (first, document) = (here.first, here.document);
        let read = self.reads().remainder(first, document, path, omitted);
        self.places += places * (self.reads.0.len() - before);
        read
    }

    /// The paths in a list, below the current place. None also if there are too many of them.
    fn paths(&mut self, here: &Here<'p>, paths: &'p Paths) -> Option<Vec<Cow<'p, Path>>> {
        let listed = self.arguments.paths(paths)?;
        self.listed += listed.len();
        let reads = self.reads().0.len() - here.first + listed.len();
        if self.listed > PLANNED_PATHS_MAX || reads > READS_AHEAD_MAX {
            return None;
        }
        let below = |path| join(&here.path, path);
        Some(listed.into_iter().map(below).collect())
    }
}

/// Joins two paths.
pub(super) fn join<'p>(above: &Cow<'p, Path>, below: Cow<'p, Path>) -> Cow<'p, Path> {
    if above.tokens().is_empty() {
        return below;
    }
    if below.tokens().is_empty() {
        return above.clone();
    }
    Cow::Owned(above.join(&below))
}

fn document(collection: &str, id: &str) -> Option<DocumentKey> {
    let id = DocumentId::parse(id).ok()?;
    DocumentKey::new(collection, id).ok()
}
