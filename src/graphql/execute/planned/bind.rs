//! Binds a plan to the variables of one request: the reads, and the steps that write the response.
//!
//! Binding walks the plan once, in the order of the response, and appends to four lists. Elements
//! refer to each other by their numbers in these lists:
//!
//! - **documents**: the keys of the documents that are read.
//! - **reads**: what is read from them. Equal reads of one root field are one read.
//! - **steps**: the program that writes the response. Most steps write a text, or the result of one
//!   read. `Open` begins the object of a place. If nothing is stored there, it writes `null` and
//!   jumps to its `end`, the first step after the object. `place` adds the step with `end: 0`, and
//!   sets `end` when the steps of the object are known.
//! - **positions**: the positions of fields in the response, as a tree, for the paths of errors.
//!
//! For `{ document(id: 1) { value(path: "/a") } }` that is one document, two reads (the first pair at
//! the root, the whole of `/a`), and the steps: the text `{"data":{"document":`, `Open` (read 0), the
//! text `"value":`, `Value` (read 1), and the closing braces.
//!
//! The lists exist because no step needs the store: all reads are made in one round, and the response
//! is then written without waiting.

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::{Name, Value};
use async_graphql_value::Value as Input;

use crate::database::{BorrowedRequest, DocumentKey, ReadRequest};
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::objects::field_reads::{FieldReads, PlaceField};
use crate::graphql::prepare::plan::{
    Field, FieldCondition, Flag, Paths, Plan, PlannedField, Selection, Where,
};
use crate::graphql::scalars::types::path_of;
use crate::graphql::variables::coerced::Coerced;
use crate::limits::{LISTED_PATHS_MAX, PLANNED_PATHS_MAX, READS_AHEAD_MAX};

/// A plan that is bound to the variables of one request.
pub(crate) struct Bound<'p> {
    pub(crate) documents: Vec<Cow<'p, DocumentKey>>,
    reads: BoundReads<'p>,
    pub(crate) steps: Vec<ResponseStep<'p>>,
    pub(crate) positions: Vec<ResponsePosition<'p>>,
}

/// Reads from the documents with these numbers.
type BoundReads<'p> = FieldReads<usize, Cow<'p, Path>>;

impl Bound<'_> {
    /// All reads, in the order of their numbers.
    pub(crate) fn requested(&self) -> Vec<BorrowedRequest<'_>> {
        let requested = self.reads.0.iter().map(|read| match read {
            ReadRequest::Value(document, path, extent) => {
                ReadRequest::Value(&*self.documents[*document], &**path, *extent)
            }
            ReadRequest::Remainder(document, path, omitted) => {
                ReadRequest::Remainder(&*self.documents[*document], &**path, &**omitted)
            }
            ReadRequest::Version(document) => ReadRequest::Version(&*self.documents[*document]),
        });
        requested.collect()
    }
}

/// A step of writing the response. It refers to reads and positions by number.
#[derive(Debug)]
pub(crate) enum ResponseStep<'p> {
    Text(&'p [u8]),
    /// Begins the object for a place. If nothing is stored there, writes null and continues with
    /// the step `end`.
    Open {
        read: usize,
        position: usize,
        end: usize,
    },
    Value {
        read: usize,
        position: usize,
    },
    /// The value at the place with this many segments, with only the parts that were read.
    Picked {
        reads: Vec<usize>,
        above: usize,
        position: usize,
    },
    /// The value that was read without this many parts.
    Remainder {
        read: usize,
        omitted: usize,
        position: usize,
    },
    /// Begins a list of this many values.
    List(usize),
    Version {
        read: usize,
        position: usize,
    },
    Kind(usize),
    Path(usize),
    /// The id, key or collection of the document with this number. They can be long, so they are
    /// written from the document for each field that selects them.
    DocumentId(usize),
    Key(usize),
    Collection(usize),
    /// The id of the place that the read found.
    SubdocumentId {
        document: usize,
        read: usize,
    },
}

/// A position in the response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponsePosition<'p> {
    /// The number of the enclosing position.
    pub(crate) around: Option<usize>,
    pub(crate) is: PositionKind<'p>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum PositionKind<'p> {
    Field(&'p PlannedField),
    Element(usize),
}

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
        variables,
        request_budget,
        places: 0,
        listed: 0,
        documents: Vec::new(),
        reads: FieldReads::default(),
        steps: Vec::new(),
        positions: Vec::new(),
        position: None,
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
        places,
        ..
    } = binder;
    request_budget.places(places)?;
    Ok(Some(Bound {
        documents,
        reads,
        steps,
        positions,
    }))
}

struct Binder<'p> {
    variables: &'p Coerced,
    request_budget: &'p RequestBudget,
    documents: Vec<Cow<'p, DocumentKey>>,
    reads: BoundReads<'p>,
    /// The number of reads that are parts of documents.
    places: usize,
    /// The number of paths in lists.
    listed: usize,
    steps: Vec<ResponseStep<'p>>,
    positions: Vec<ResponsePosition<'p>>,
    /// The current position.
    position: Option<usize>,
}

/// The place in a document that a selection is bound to.
struct Here<'p> {
    /// The number of the document.
    document: usize,
    path: Cow<'p, Path>,
    /// The read of this place; none for a document that is known to exist.
    read: Option<usize>,
    /// The first read of the enclosing root field. Repeated reads within the field are shared.
    first: usize,
}

impl<'p> Binder<'p> {
    /// The number of requested entities, and the number of fields for all of them. Skipped fields
    /// do not count.
    fn entities(&self, selection: &Selection) -> Option<(usize, usize)> {
        let included = selection.0.iter();
        let included = included.filter(|selected| self.is_there(selected) == Some(true));
        let requested = included.filter_map(|selected| {
            let Field::Entities {
                representations,
                below,
            } = &selected.field
            else {
                return None;
            };
            let entities = self.variables.entities(representations)?.len();
            Some((entities, entities.saturating_mul(self.fields(below).max(1))))
        });
        requested.reduce(|(entities, fields), (more, of_more)| {
            (
                entities.saturating_add(more),
                fields.saturating_add(of_more),
            )
        })
    }

    /// The number of selected fields, at every level.
    fn fields(&self, selection: &Selection) -> usize {
        let included = selection.0.iter();
        let included = included.filter(|selected| self.is_there(selected) == Some(true));
        let each = included.map(|selected| match &selected.field {
            Field::Subdocument(_, below) | Field::Whole(below) => 1 + self.fields(below),
            _ => 1,
        });
        each.sum()
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
                    Some(collection) => binder.string(collection)?,
                };
                let document = document(collection, &binder.id(id)?)?;
                let document = binder.document(Cow::Owned(document));
                let path = binder.path(path)?;
                let first = binder.reads.0.len();
                binder.place(document, path, first, below)
            }
            Field::Entities {
                representations,
                below,
            } => binder.represented(representations, below),
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

    fn member(&mut self, here: &Here<'p>, field: &'p Field) -> Option<()> {
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
                let read = self.reads.version(first, document);
                let position = self.position?;
                ResponseStep::Version { read, position }
            }
            Field::Kind => ResponseStep::Kind(match here.read {
                Some(read) => read,
                None => self.read(first, document, here.path.clone(), PlaceField::Kind),
            }),
            Field::Value(path) => {
                let path = join(&here.path, self.path(path)?);
                let read = self.read(first, document, path, PlaceField::Value);
                let position = self.position?;
                ResponseStep::Value { read, position }
            }
            Field::Values(paths) => return self.values(here, paths),
            Field::Pick(paths) => {
                let paths = self.paths(here, paths)?;
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
                let path = join(&here.path, self.path(path)?);
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
            Field::Document { .. } | Field::Entities { .. } => return None,
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

    fn object(
        &mut self,
        selection: &'p Selection,
        member: impl FnMut(&mut Self, &'p Field) -> Option<()>,
    ) -> Option<()> {
        self.text(b"{");
        self.members(selection, member)
    }

    /// Binds the members of an object, and its end.
    fn members(
        &mut self,
        selection: &'p Selection,
        mut member: impl FnMut(&mut Self, &'p Field) -> Option<()>,
    ) -> Option<()> {
        let mut first = true;
        for selected in &selection.0 {
            if self.is_there(selected)? {
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

    fn is_there(&self, selected: &PlannedField) -> Option<bool> {
        for FieldCondition { flag, is } in &selected.conditions {
            let flag = match flag {
                Flag::Fixed(flag) => *flag,
                Flag::Variable(name) => match self.variables.values.get(name)? {
                    Value::Boolean(flag) => *flag,
                    _ => return None,
                },
            };
            if flag != *is {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Enters a position inside the current one, and returns the current one.
    fn enter(&mut self, is: PositionKind<'p>) -> Option<usize> {
        let around = self.position.replace(self.positions.len());
        self.positions.push(ResponsePosition { around, is });
        around
    }

    fn text(&mut self, text: &'p [u8]) {
        self.steps.push(ResponseStep::Text(text));
    }

    /// The number of a read of `path`. Adds the read if the root field has none of this path.
    fn read(
        &mut self,
        first: usize,
        document: usize,
        path: Cow<'p, Path>,
        field: PlaceField,
    ) -> usize {
        let before = self.reads.0.len();
        let read = self.reads.value(first, document, path, field.extent());
        self.places += self.reads.0.len() - before;
        read
    }

    /// As [`Binder::read`], of the current place without parts of it.
    fn remainder(&mut self, here: &Here<'p>, omitted: Arc<[Path]>) -> usize {
        let before = self.reads.0.len();
        let (path, places) = (here.path.clone(), 1 + omitted.len());
        let read = self
            .reads
            .remainder(here.first, here.document, path, omitted);
        self.places += places * (self.reads.0.len() - before);
        read
    }

    fn path(&self, path: &'p Where) -> Option<Cow<'p, Path>> {
        let given = match path {
            Where::Fixed(path) => return Some(Cow::Borrowed(path)),
            Where::Given(given) => given,
        };
        let path = if let Input::Variable(name) = given {
            // Without the variable, the argument has its default: the whole document.
            let given = self.variables.values.get(name);
            given.map_or_else(|| Ok(Path::default()), path_of)
        } else {
            let variable = |name| self.variables.values.get(&name).cloned().ok_or(());
            path_of(&given.clone().into_const_with(variable).ok()?)
        };
        path.ok().map(Cow::Owned)
    }

    /// The paths in a list, below the current place. None also if there are too many of them.
    fn paths(&mut self, here: &Here<'p>, paths: &'p Paths) -> Option<Vec<Cow<'p, Path>>> {
        let listed: Vec<_> = match paths {
            Paths::Listed(listed) => {
                let listed = listed.iter().map(|path| self.required_path(path));
                listed.collect::<Option<_>>()?
            }
            Paths::Variable(name) => match self.variables.values.get(name)? {
                Value::List(listed) if listed.len() <= LISTED_PATHS_MAX => {
                    let listed = listed.iter().map(required);
                    listed.collect::<Option<_>>()?
                }
                _ => return None,
            },
        };
        self.listed += listed.len();
        let reads = self.reads.0.len() - here.first + listed.len();
        if self.listed > PLANNED_PATHS_MAX || reads > READS_AHEAD_MAX {
            return None;
        }
        let below = |path| join(&here.path, path);
        Some(listed.into_iter().map(below).collect())
    }

    /// As [`Binder::path`]; none if the path is a variable without a value.
    fn required_path(&self, path: &'p Where) -> Option<Cow<'p, Path>> {
        match path {
            Where::Given(Input::Variable(name)) => required(self.variables.values.get(name)?),
            path => self.path(path),
        }
    }

    fn string(&self, argument: &'p Input) -> Option<&'p str> {
        match argument {
            Input::String(text) => Some(text),
            Input::Variable(name) => match self.variables.values.get(name)? {
                Value::String(text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    fn id(&self, argument: &'p Input) -> Option<Cow<'p, str>> {
        match argument {
            Input::String(text) => Some(Cow::Borrowed(text)),
            Input::Number(number) => Some(Cow::Owned(number.as_i64()?.to_string())),
            Input::Variable(name) => id(self.variables.values.get(name)?),
            _ => None,
        }
    }
}

/// The path in an element of a list; none if it is null or not a path.
fn required<'p>(element: &Value) -> Option<Cow<'p, Path>> {
    match element {
        Value::Null => None,
        path => path_of(path).ok().map(Cow::Owned),
    }
}

fn id(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.as_i64()?.to_string())),
        _ => None,
    }
}

/// Joins two paths.
fn join<'p>(above: &Cow<'p, Path>, below: Cow<'p, Path>) -> Cow<'p, Path> {
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
