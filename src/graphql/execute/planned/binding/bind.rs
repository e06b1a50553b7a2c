//! Binds a plan to the variables of one request: the reads, the lookups, and the steps that write the
//! response.
//!
//! Binding walks the plan once, in the order of the response, and appends to lists. Elements refer
//! to each other by their numbers in these lists:
//!
//! - **documents**: the keys of the documents that are read.
//! - **scopes**: the root of the response is a scope, and so is one element of each list of unknown
//!   length. A scope has reads and lookups. They are bound once, and made for each element.
//! - **reads**: what is read from a document. Equal reads of one root field are one read.
//! - **lookups**: what is found after the reads of a scope: pages of documents and of children, the
//!   parts that a JSONPath query selects, and lengths. Equal lookups of one scope are one lookup.
//! - **steps**: the program that writes the response. Most steps write a text, or the result of one
//!   read. `Open` begins the object of a place. If nothing is stored there, it writes `null` and
//!   jumps to its `end`, the first step after the object. `place` adds the step with `end: 0`, and
//!   sets `end` when the steps of the object are known. `Elements` begins a list; the steps up to its
//!   `end` are executed for each element.
//! - **positions**: the positions of fields in the response, as a tree, for the paths of errors.
//!
//! For `{ document(id: 1) { value(path: "/a") } }` that is one document, one scope with two reads (the
//! first pair at the root, the whole of `/a`), and the steps: the text `{"data":{"document":`, `Open`
//! (read 0), the text `"value":`, `Value` (read 1), and the closing braces.

use std::borrow::Cow;
use std::sync::Arc;

use super::arguments::PlanArguments;
use super::bound::{
    Bound, BoundReads, DocumentAt, Lookup, PositionKind, ROOT, ReadAt, ResponsePosition,
    ResponseStep, Scope, ValueAt,
};
use crate::database::{DocumentKey, Extent};
use crate::document::path::{Path, PathRange};
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::field_reads::PlaceField;
use crate::graphql::execute::planned::given::Given;
use crate::graphql::prepare::plan::{Field, Paths, Plan, PlanSize, PlannedField, Selection, Where};
use crate::graphql::response::commit_version::OF_COMMIT;
use crate::graphql::variables::coerced::Coerced;

/// The steps for which a response has room at once.
const STEPS_AT_FIRST: usize = 8;

/// Binds the plan of a query to these variables.
///
/// # Errors
/// As [`RequestBudget::entities`], [`RequestBudget::fields`] and [`RequestBudget::places`].
pub(crate) fn bind<'p>(
    plan: &'p Plan,
    introspected: &'p [Vec<u8>],
    variables: &'p Coerced,
    request_budget: &'p RequestBudget,
) -> Result<Bound<'p>> {
    let mut binder = Binder::new(variables, request_budget);
    binder.introspected = introspected;
    binder.root(&plan.root)?;
    binder.bound()
}

/// What a root field that is not of a query selects from its result.
pub(crate) struct SelectedResult<'p> {
    pub(crate) field: &'p PlannedField,
    pub(crate) given: Given<'p>,
    /// What is selected from it.
    pub(crate) below: &'p Selection,
    /// The size of what is selected from it.
    pub(crate) size: PlanSize,
    /// Whether this operation has written the document, so that its version is that of the commit.
    pub(crate) is_written: bool,
}

/// Binds what a root field selects from its result. The steps write the value of the field.
///
/// # Errors
/// As [`bind`].
pub(crate) fn bind_result<'p>(
    result: &SelectedResult<'p>,
    variables: &'p Coerced,
    request_budget: &'p RequestBudget,
) -> Result<Bound<'p>> {
    let mut binder = Binder::new(variables, request_budget);
    binder.is_written = result.is_written;
    binder.enter(PositionKind::Field(result.field));
    binder.given(result.given, result.below)?;
    binder.bound()
}

impl<'p> Binder<'p> {
    fn new(variables: &'p Coerced, request_budget: &'p RequestBudget) -> Self {
        Self {
            arguments: PlanArguments(variables),
            request_budget,
            places: 0,
            listed: 0,
            documents: Vec::new(),
            scopes: vec![Scope::default()],
            lookups: Vec::new(),
            steps: Vec::with_capacity(STEPS_AT_FIRST),
            positions: Vec::new(),
            position: None,
            is_written: false,
            created: None,
            entity: None,
            introspected: &[],
        }
    }

    fn bound(self) -> Result<Bound<'p>> {
        self.request_budget.places(self.places)?;
        Ok(Bound {
            documents: self.documents,
            scopes: self.scopes,
            lookups: self.lookups,
            steps: self.steps,
            positions: self.positions,
        })
    }
}

pub(crate) struct Binder<'p> {
    pub(crate) arguments: PlanArguments<'p>,
    pub(crate) request_budget: &'p RequestBudget,
    documents: Vec<Cow<'p, DocumentKey>>,
    pub(crate) scopes: Vec<Scope<'p>>,
    pub(crate) lookups: Vec<Lookup<'p>>,
    /// The number of reads of the root that are parts of documents.
    pub(crate) places: usize,
    /// The number of paths in lists.
    listed: usize,
    pub(crate) steps: Vec<ResponseStep<'p>>,
    positions: Vec<ResponsePosition<'p>>,
    /// The current position.
    pub(crate) position: Option<usize>,
    /// Whether the version of documents is that of the commit.
    pub(crate) is_written: bool,
    /// What `Document.created` is.
    pub(crate) created: Option<bool>,
    /// The type of the current entity, if it is that of a collection.
    pub(crate) entity: Option<&'p str>,
    /// The values of the fields that introspect the schema, as JSON.
    pub(crate) introspected: &'p [Vec<u8>],
}

/// The place in a document that a selection is bound to.
#[derive(Clone)]
pub(crate) struct Here<'p> {
    pub(crate) document: DocumentAt,
    /// The scope whose elements have the place.
    pub(crate) scope: usize,
    /// The path in the element of the scope.
    pub(crate) path: Cow<'p, Path>,
    /// The read of this place; none for a document that is known to exist.
    pub(crate) read: Option<ReadAt>,
    /// The first read of the enclosing root field. Repeated reads within the field are shared.
    pub(crate) first: usize,
    /// The scope whose elements have the whole document, and the first read there.
    pub(crate) home: (usize, usize),
}

impl<'p> Here<'p> {
    /// The root of a document that the elements of `scope` have, and that is known to exist.
    pub(crate) fn whole(document: DocumentAt, (scope, first): (usize, usize)) -> Self {
        Self {
            document,
            scope,
            path: Cow::Borrowed(Path::root()),
            read: None,
            first,
            home: (scope, first),
        }
    }

    /// The number of the document among those that are bound. Elements have their own.
    fn number(&self) -> usize {
        match self.document {
            DocumentAt::Bound(number) => number,
            DocumentAt::Element(_) => 0,
        }
    }

    pub(crate) fn value(&self) -> ValueAt<'p> {
        ValueAt {
            document: self.document,
            path: self.path.clone(),
            read: self.read,
        }
    }
}

impl<'p> Binder<'p> {
    /// Adds a document, and returns its number.
    pub(crate) fn document(&mut self, document: Cow<'p, DocumentKey>) -> usize {
        self.documents.push(document);
        self.documents.len() - 1
    }

    /// Binds the selection of a place at which possibly nothing is stored. The path begins at the
    /// element of the scope.
    pub(crate) fn place(
        &mut self,
        above: &Here<'p>,
        path: Cow<'p, Path>,
        selection: &'p Selection,
    ) -> Result<()> {
        let read = self.read(above, path.clone(), PlaceField::Subdocument);
        let open = self.steps.len();
        let position = self.position();
        self.steps.push(ResponseStep::Open {
            read,
            position,
            end: 0,
        });
        let here = Here {
            path,
            read: Some(read),
            ..above.clone()
        };
        self.members(selection, |binder, field| binder.member(&here, field))?;
        let after = self.steps.len();
        if let Some(ResponseStep::Open { end, .. }) = self.steps.get_mut(open) {
            *end = after;
        }
        Ok(())
    }

    pub(crate) fn member(&mut self, here: &Here<'p>, field: &'p Field) -> Result<()> {
        let document = here.document;
        let position = self.position();
        let step = match field {
            Field::DocumentId => ResponseStep::DocumentId(document),
            Field::SubdocumentId => ResponseStep::SubdocumentId {
                document,
                read: here.read.ok_or_else(mismatch)?,
            },
            Field::Key => ResponseStep::Key(document),
            Field::Collection => ResponseStep::Collection(document),
            Field::Path => ResponseStep::Path(here.read.ok_or_else(mismatch)?),
            Field::Created => ResponseStep::Text(match self.created {
                Some(true) => b"true",
                Some(false) => b"false",
                None => b"null",
            }),
            Field::Version if self.is_written => ResponseStep::Text(OF_COMMIT),
            Field::Version => {
                let (scope, first) = here.home;
                let read = self.scopes[scope].reads.version(first, here.number());
                let read = ReadAt { scope, read };
                ResponseStep::Version { read, position }
            }
            Field::Kind => {
                let read = match here.read {
                    Some(read) => read,
                    None => self.read(here, here.path.clone(), PlaceField::Kind),
                };
                ResponseStep::Kind { read, position }
            }
            Field::Value(path) => {
                let path = join(&here.path, self.arguments.path(path)?);
                let read = self.read(here, path, PlaceField::Value);
                ResponseStep::Value { read, position }
            }
            Field::Values(paths) => return self.values(here, paths),
            Field::Pick(paths) => {
                let paths = self.paths(here, paths)?;
                self.scopes[here.scope].needs_pairs = true;
                let reads = paths
                    .into_iter()
                    .map(|path| self.read(here, path, PlaceField::Value).read);
                ResponseStep::Picked {
                    scope: here.scope,
                    reads: reads.collect(),
                    above: here.path.tokens().len(),
                    position,
                }
            }
            Field::Omit(paths) => {
                let paths = self.paths(here, paths)?.into_iter();
                let omitted: Arc<[Path]> = paths.map(Cow::into_owned).collect();
                ResponseStep::Remainder {
                    omitted: omitted.len(),
                    read: self.remainder(here, omitted),
                    position,
                }
            }
            Field::Range(from, to) => ResponseStep::Between {
                read: self.between(here, from, to)?,
                position,
            },
            Field::Subdocument(path, below) => {
                let path = join(&here.path, self.arguments.path(path)?);
                return self.place(here, path, below);
            }
            Field::Whole(below) => {
                let here = Here::whole(document, here.home);
                return self.object(below, |binder, field| binder.member(&here, field));
            }
            Field::Select(query, below) => return self.select(here, query, below),
            Field::Length => {
                self.length(here);
                return Ok(());
            }
            Field::Children(arguments, below) => return self.children(here, arguments, below),
            Field::Typed(selected) => return self.typed(here, selected),
            Field::Reference(selected) => return self.reference(here, selected),
            Field::Inverse(selected) => return self.inverse(here, selected),
            Field::Follow(selected) => {
                let whole = Here::whole(document, here.home);
                return self.follow(&whole, selected);
            }
            Field::EntryKey => ResponseStep::EntryKey(here.read.ok_or_else(mismatch)?),
            _ => return Err(mismatch()),
        };
        self.steps.push(step);
        Ok(())
    }

    /// Binds the values at paths. Each has its own position, since each can fail on its own.
    fn values(&mut self, here: &Here<'p>, paths: &'p Paths) -> Result<()> {
        let paths = self.paths(here, paths)?;
        self.steps.push(ResponseStep::List(paths.len()));
        for (at, path) in paths.into_iter().enumerate() {
            if at > 0 {
                self.text(b",");
            }
            let read = self.read(here, path, PlaceField::Value);
            let around = self.enter(PositionKind::Element(at));
            let position = self.position();
            self.steps.push(ResponseStep::Value { read, position });
            self.position = around;
        }
        self.text(b"]");
        Ok(())
    }

    pub(crate) fn object(
        &mut self,
        selection: &'p Selection,
        member: impl FnMut(&mut Self, &'p Field) -> Result<()>,
    ) -> Result<()> {
        self.text(b"{");
        self.members(selection, member)
    }

    /// Binds the members of an object with `member`, which does not get `__typename`, and its end. The error of a member is that of its arguments,
    /// and becomes a step.
    ///
    /// # Errors
    /// An exceeded limit of the budget.
    pub(crate) fn members(
        &mut self,
        selection: &'p Selection,
        mut member: impl FnMut(&mut Self, &'p Field) -> Result<()>,
    ) -> Result<()> {
        let mut first = true;
        for selected in self.arguments.included(selection) {
            self.text(&selected.name[usize::from(first)..]);
            first = false;
            match (&selected.field, self.entity) {
                (Field::Typename(name), _) => {
                    self.text(name.as_bytes());
                    continue;
                }
                (Field::EntityTypename, Some(ty)) => {
                    for part in ["\"", ty, "\""] {
                        self.text(part.as_bytes());
                    }
                    continue;
                }
                _ => {}
            }
            let around = self.enter(PositionKind::Field(selected));
            if let Err(error) = member(self, &selected.field) {
                self.fail(error, selected.nullable)?;
            }
            self.position = around;
        }
        self.text(b"}");
        Ok(())
    }

    /// Adds the error of the current field.
    ///
    /// # Errors
    /// The error, if it is an exceeded limit of the budget.
    pub(crate) fn fail(&mut self, error: Error, nullable: bool) -> Result<()> {
        if self.request_budget.passed().is_some() {
            return Err(error);
        }
        let position = self.position();
        self.steps.push(ResponseStep::Fail {
            error: Box::new(error),
            position,
            nullable,
        });
        Ok(())
    }

    /// The number of the current position. There is one in every object.
    pub(crate) fn position(&self) -> usize {
        self.position.unwrap_or_default()
    }

    /// Enters a position inside the current one, and returns the current one.
    pub(crate) fn enter(&mut self, is: PositionKind<'p>) -> Option<usize> {
        let around = self.position.replace(self.positions.len());
        self.positions.push(ResponsePosition { around, is });
        around
    }

    pub(crate) fn text(&mut self, text: &'p [u8]) {
        self.steps.push(ResponseStep::Text(text));
    }

    /// The read of `path`, which begins at the element of the scope. Adds the read if the root field
    /// has none of this path.
    pub(crate) fn read(
        &mut self,
        here: &Here<'p>,
        path: Cow<'p, Path>,
        field: PlaceField,
    ) -> ReadAt {
        self.read_extent(here, path, field.extent())
    }

    pub(crate) fn read_extent(
        &mut self,
        here: &Here<'p>,
        path: Cow<'p, Path>,
        extent: Extent,
    ) -> ReadAt {
        let (scope, first, document) = (here.scope, here.first, here.number());
        self.add(scope, 1, |reads| reads.value(first, document, path, extent))
    }

    /// As [`Binder::read`], of the current place without parts of it.
    fn remainder(&mut self, here: &Here<'p>, omitted: Arc<[Path]>) -> ReadAt {
        let (scope, first, document) = (here.scope, here.first, here.number());
        let (path, places) = (here.path.clone(), 1 + omitted.len());
        self.add(scope, places, |reads| {
            reads.remainder(first, document, path, omitted)
        })
    }

    /// As [`Binder::read`], of the parts of the current place between two paths below it.
    fn between(&mut self, here: &Here<'p>, from: &'p Where, to: &'p Where) -> Result<ReadAt> {
        let range = PathRange {
            from: join(&here.path, self.arguments.path(from)?).into_owned(),
            to: join(&here.path, self.arguments.path(to)?).into_owned(),
        };
        let (scope, first, document) = (here.scope, here.first, here.number());
        let path = here.path.clone();
        Ok(self.add(scope, PathRange::PLACES, |reads| {
            reads.between(first, document, path, range)
        }))
    }

    fn add(
        &mut self,
        scope: usize,
        places: usize,
        add: impl FnOnce(&mut BoundReads<'p>) -> usize,
    ) -> ReadAt {
        let reads = &mut self.scopes[scope].reads;
        let before = reads.0.len();
        let read = add(reads);
        if scope == ROOT {
            self.places += places * (reads.0.len() - before);
        }
        ReadAt { scope, read }
    }

    /// The paths in a list, below the current place.
    ///
    /// # Errors
    /// As [`PlanArguments::paths`]. `TOO_COMPLEX`: the request has too many.
    fn paths(&mut self, here: &Here<'p>, paths: &'p Paths) -> Result<Vec<Cow<'p, Path>>> {
        let listed = self.arguments.paths(paths)?;
        self.listed += listed.len();
        self.request_budget.room(self.listed)?;
        let below = |path| join(&here.path, path);
        Ok(listed.into_iter().map(below).collect())
    }
}

/// Joins two paths.
pub(crate) fn join<'p>(above: &Cow<'p, Path>, below: Cow<'p, Path>) -> Cow<'p, Path> {
    if above.tokens().is_empty() {
        return below;
    }
    if below.tokens().is_empty() {
        return above.clone();
    }
    Cow::Owned(above.join(&below))
}
