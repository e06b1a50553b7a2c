//! The places that the function of a root field uses, and what it does there.
//!
//! A place is what the arguments say, before anything is read. A removal or an insertion in an array
//! renumbers the elements behind it, so it uses the place of the array.

use std::borrow::Cow;
use std::collections::BTreeSet;

use async_graphql::{ID, MaybeUndefined};

use super::call::{Call, CallError};
use super::definitions::given_type;
use crate::database::{DocumentKey, MissingParents, UpdateOperator};
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::document::patch::{self as json_patch, PatchOperation};
use crate::document::path::{Path, Segment, Token};
use crate::error::Result;
use crate::graphql::arguments::filter_input::FilterInput;
use crate::graphql::arguments::place_input::{NamedDocument, PlaceInput};
use crate::graphql::arguments::required::path_of_change;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::prepare::plan::MutationFunction;
use crate::graphql::scalars::scalar_types::Json;
use crate::limits::STEPS_PER_READ;
use crate::rights::{Action, PlaceUsed};
use crate::types::CollectionType;

/// Of which documents a condition on a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceRole {
    /// The document that the function changes: before and after the change.
    Changed,
    /// The document that the function stores: after it is stored.
    Created,
    /// The document with this number, from which a value is taken.
    Source(usize),
    /// Each document that the function selects.
    Selected,
    /// All documents of the collection, so that no condition is possible.
    All,
}

/// The places that a function uses.
#[derive(Default)]
pub(super) struct FunctionPlaces {
    pub(super) used: Vec<PlaceUsed<'static>>,
    /// The role of each.
    pub(super) roles: Vec<PlaceRole>,
    /// The document that is changed or stored, if its id is known.
    pub(super) document: Option<DocumentKey>,
    /// The collection of the document that is changed, if the id is read in the transaction. Every place in it
    /// is one of all documents.
    pub(super) unknown_in: Option<String>,
    /// Whether the function stores the document if it does not exist.
    pub(super) stores: bool,
    /// The path in the document that is changed. Empty for the whole document.
    pub(super) path: Path,
    /// The documents from which values are taken.
    pub(super) sources: Vec<DocumentKey>,
    /// Whether the result has a value that the function removes.
    pub(super) returns_removed: bool,
}

impl FunctionPlaces {
    /// The places that a call uses.
    ///
    /// # Errors
    /// The errors of the arguments, as the function has them.
    pub(super) async fn of(call: &Call<'_>) -> Result<Self, CallError> {
        let mut places = Self::default();
        match call.planned.function {
            MutationFunction::InsertDocument => places.insert(call)?,
            MutationFunction::AppendDocument => {
                // Its id is known after the commit, so that it cannot be read before.
                places.of_all(&[Action::Create], &call.collection()?);
            }
            MutationFunction::ReplaceDocument => {
                places.change(call)?;
                places.stores = places.stores_if_absent(call)?;
                if call.if_absent()? {
                    // The result shows whether there was a value.
                    places.read_changed(places.path.clone());
                }
            }
            MutationFunction::MergeDocument => {
                places.change(call)?;
                // A typed document is changed only if it exists.
                places.stores = call.planned.typed.is_none();
            }
            MutationFunction::CopyDocument => {
                places.change(call)?;
                places.stores = places.stores_if_absent(call)?;
                let from: PlaceInput = call.argument("from")?;
                let collection = call.collection()?;
                places.source(&from, &collection)?;
            }
            MutationFunction::IncrementDocument => {
                places.change(call)?;
                places.stores = places.stores_if_absent(call)?;
                places.read_changed(places.path.clone());
            }
            MutationFunction::PatchDocument => places.patch(call).await?,
            MutationFunction::TestDocument => {
                places.target(call)?;
                // An error that nothing is at a path shows that the document exists.
                places.read_changed(Path::default());
            }
            MutationFunction::DeleteDocument => places.delete(call)?,
            MutationFunction::TakeDocuments => {
                let collection = call.collection()?;
                places.select(&collection);
                let action = Action::Delete;
                places.add(
                    action,
                    &collection,
                    None,
                    Path::default(),
                    PlaceRole::Selected,
                );
                if call.selects_value() {
                    places.returns_removed = true;
                    places.selected(Action::Read, &collection, Path::default());
                }
            }
            MutationFunction::UpdateDocument => {
                places.target(call)?;
                let collection = call.collection()?;
                places.updates(call, &collection).await?;
            }
            // Each write has its own places.
            MutationFunction::WriteDocuments => return Err(mismatch().into()),
            MutationFunction::UpdateDocuments => {
                let collection = places.filter(call).await?;
                places.updates(call, &collection).await?;
            }
            MutationFunction::DeleteDocuments => {
                let collection = places.filter(call).await?;
                places.selected(Action::Delete, &collection, Path::default());
            }
            MutationFunction::CreateIndex | MutationFunction::DropIndex => {
                places.of_all(&[Action::Index], &call.collection()?);
            }
            MutationFunction::DropCollection => {
                let collection: String = call.argument("collection")?;
                places.of_all(&[Action::Delete, Action::Index], &collection);
            }
            MutationFunction::SetCollectionType | MutationFunction::DropCollectionType => {
                let collection: String = call.argument("collection")?;
                places.of_all(&[Action::Index], &collection);
                if call.argument_or("dryRun", false)? {
                    // It shows values of documents.
                    places.of_all(&[Action::Read], &collection);
                }
                if call.planned.function == MutationFunction::SetCollectionType {
                    places.acted_on(&given_type(call).await?);
                }
            }
        }
        if let Some(collection) = places.unknown_in.clone().filter(|_| places.stores) {
            places.of_all(&[Action::Create], &collection);
        }
        Ok(places)
    }

    /// Adds the collections whose types or deletions the references of a type change.
    fn acted_on(&mut self, of: &CollectionType) {
        let references = of
            .shapes()
            .filter_map(|(_, shape)| shape.reference.as_ref());
        let indexed = references.filter(|it| it.is_indexed());
        let targets: BTreeSet<&str> = indexed.map(|it| &*it.collection).collect();
        for target in targets {
            self.of_all(&[Action::Index], target);
        }
    }

    /// Adds the whole documents of a collection, whatever their ids are.
    fn of_all(&mut self, actions: &[Action], collection: &str) {
        for action in actions {
            self.add(*action, collection, None, Path::default(), PlaceRole::All);
        }
    }

    /// Without an argument `id`, the document can be stored under any id.
    fn insert(&mut self, call: &Call<'_>) -> Result<(), CallError> {
        let id: Option<ID> = call.argument("id")?;
        let collection = call.collection()?;
        let id = id.map(|id| DocumentId::parse(&id)).transpose()?;
        if call.if_absent()? {
            // The document that is stored already is returned, and it may be any of the collection without an id.
            let Some(id) = id else {
                for action in [Action::Create, Action::Read] {
                    let whole = Path::default();
                    self.add(action, &collection, None, whole, PlaceRole::All);
                }
                return Ok(());
            };
            self.document = Some(DocumentKey::new(collection, id)?);
            self.stores = true;
            self.read_changed(Path::default());
            return Ok(());
        }
        self.add(
            Action::Create,
            &collection,
            id.as_ref(),
            Path::default(),
            PlaceRole::Created,
        );
        if let Some(id) = id {
            self.document = Some(DocumentKey::new(collection, id)?);
        }
        Ok(())
    }

    fn delete(&mut self, call: &Call<'_>) -> Result<(), CallError> {
        self.target(call)?;
        self.path = path_of_change(call.path()?.as_ref())?;
        if self.path.tokens().is_empty() {
            self.changed(Action::Delete, Path::default());
        } else {
            self.changed(Action::Write, renumbered(&self.path));
        }
        if call.selects_value() {
            self.returns_removed = true;
            self.read_changed(self.path.clone());
        }
        Ok(())
    }

    async fn patch(&mut self, call: &Call<'_>) -> Result<(), CallError> {
        let patch: MaybeUndefined<Json> = call.argument("patch")?;
        self.target(call)?;
        self.path = path_of_change(call.path()?.as_ref())?;
        let operations = call.patch(&patch, json_patch::parse).await?;
        let steps = STEPS_PER_READ * operations.len() as u64;
        let budget = call.session.budget();
        budget.portion(steps, || self.operations(&operations)).await;
        Ok(())
    }

    /// Adds what the operations of a patch use.
    fn operations(&mut self, operations: &[PatchOperation]) {
        let base = self.path.clone();
        for operation in operations {
            let path = base.join(operation.path());
            if let Some(from) = operation.from() {
                self.read_changed(base.join(from));
            }
            match operation {
                PatchOperation::Add(..) | PatchOperation::Copy(..) | PatchOperation::Remove(_) => {
                    self.changed(Action::Write, renumbered_below(&base, &path));
                }
                PatchOperation::Move(from, _) => {
                    let from = base.join(from);
                    self.changed(Action::Write, renumbered_below(&base, &from));
                    self.changed(Action::Write, renumbered_below(&base, &path));
                }
                PatchOperation::Replace(..) => self.changed(Action::Write, path),
                PatchOperation::Test(..) => self.read_changed(path),
            }
        }
        if self.used.is_empty() {
            self.changed(Action::Write, base);
        }
    }

    async fn updates(&mut self, call: &Call<'_>, collection: &str) -> Result<(), CallError> {
        let lists = call.update_lists()?;
        let budget = call.session.request_budget.budget();
        for (operator, at, from) in lists.targets() {
            let query = at.query(budget).await?;
            self.update(collection, operator, &query);
            if let Some(from) = from {
                self.source(from, collection)?;
            }
        }
        Ok(())
    }

    fn update(&mut self, collection: &str, operator: UpdateOperator, at: &Query) {
        let places = at.places_read();
        let written = places.first().map_or(&[][..], |place| &place[..]);
        let written = match written {
            [array @ .., Segment::Index(_)] if operator == UpdateOperator::Unset => array,
            written => written,
        };
        self.used_in_target(Action::Write, collection, Path::of_segments(written));
        if depends_on_value(operator) || at.place().is_none() {
            for place in &places {
                self.used_in_target(Action::Read, collection, Path::of_segments(place));
            }
        }
    }

    /// Adds a place in the document that is changed, or in each of those that are selected.
    fn used_in_target(&mut self, action: Action, collection: &str, path: Path) {
        if self.document.is_some() || self.unknown_in.is_some() {
            self.changed(action, path);
        } else {
            self.selected(action, collection, path);
        }
    }

    /// Adds the document that a call names.
    fn target(&mut self, call: &Call<'_>) -> Result<(), CallError> {
        let target = call.target()?;
        match target.named()? {
            NamedDocument::Key(document) => self.document = Some(document),
            NamedDocument::Stored(collection, at) => {
                self.unknown_in = Some(collection.to_owned());
                // No document is changed before the key is known.
                self.source(at, collection)?;
            }
            NamedDocument::Changed => return Err(mismatch().into()),
        }
        Ok(())
    }

    /// Adds the place that a call changes.
    fn change(&mut self, call: &Call<'_>) -> Result<(), CallError> {
        self.target(call)?;
        self.path = path_of_change(call.path()?.as_ref())?;
        self.changed(Action::Write, self.path.clone());
        Ok(())
    }

    /// Whether a call that stores a value at its path stores the document, if it does not exist.
    fn stores_if_absent(&self, call: &Call<'_>) -> Result<bool, CallError> {
        Ok(self.path.tokens().is_empty() || call.missing_parents()? == MissingParents::Create)
    }

    fn changed(&mut self, action: Action, path: Path) {
        if let Some(DocumentKey { collection, id }) = self.document.clone() {
            self.add(action, &collection, Some(&id), path, PlaceRole::Changed);
        } else if let Some(collection) = self.unknown_in.clone() {
            self.add(action, &collection, None, path, PlaceRole::All);
        }
    }

    fn read_changed(&mut self, path: Path) {
        self.changed(Action::Read, path);
    }

    /// Adds what the arguments that select documents use. Returns the collection.
    async fn filter(&mut self, call: &Call<'_>) -> Result<String, CallError> {
        let collection = call.collection()?;
        let filter: FilterInput = call.argument("where")?;
        let filter = filter
            .read(&call.session.request_budget)
            .await
            .map_err(|error| error.at("the argument `where`"))?;
        self.select(&collection);
        self.filtered(&collection, &filter);
        Ok(collection)
    }

    /// Adds what a filter reads.
    fn filtered(&mut self, collection: &str, filter: &Filter) {
        for query in filter.queries() {
            for place in query.places_read() {
                self.selected(Action::Read, collection, Path::of_segments(&place));
            }
        }
    }

    /// Adds that documents of a collection are found.
    fn select(&mut self, collection: &str) {
        self.selected(Action::List, collection, Path::default());
    }

    fn selected(&mut self, action: Action, collection: &str, path: Path) {
        self.add(action, collection, None, path, PlaceRole::Selected);
    }

    /// Adds the place from which a value is taken, and those of the keys that lead to it. `collection` is that
    /// of the documents that are changed.
    fn source(&mut self, from: &PlaceInput, collection: &str) -> Result<()> {
        let path = from.path()?;
        match from.document()? {
            NamedDocument::Key(document) => {
                let role = PlaceRole::Source(self.sources.len());
                let DocumentKey { collection, id } = &document;
                self.add(Action::Read, collection, Some(id), path, role);
                self.sources.push(document);
            }
            NamedDocument::Stored(stored, at) => {
                self.source(at, collection)?;
                self.add(Action::Read, stored, None, path, PlaceRole::All);
            }
            NamedDocument::Changed => self.used_in_target(Action::Read, collection, path),
        }
        Ok(())
    }

    fn add(
        &mut self,
        action: Action,
        collection: &str,
        id: Option<&DocumentId>,
        path: Path,
        role: PlaceRole,
    ) {
        self.used.push(PlaceUsed {
            action,
            collection: Cow::Owned(collection.to_owned()),
            id: id.cloned().map(Cow::Owned),
            path: Cow::Owned(path),
        });
        self.roles.push(role);
    }
}

/// Whether what an operator does reveals something about the value.
fn depends_on_value(operator: UpdateOperator) -> bool {
    match operator {
        UpdateOperator::Rename
        | UpdateOperator::Increment
        | UpdateOperator::Min
        | UpdateOperator::Max
        | UpdateOperator::Remove
        | UpdateOperator::Add => true,
        UpdateOperator::Set
        | UpdateOperator::Unset
        | UpdateOperator::Append
        | UpdateOperator::Merge
        | UpdateOperator::Now => false,
    }
}

/// The place that a removal or an insertion at a path changes: that of the array, if the path can lead to
/// an element of one.
fn renumbered(path: &Path) -> Path {
    match path.split_last() {
        None | Some((_, Token::Segment(Segment::Key(_)))) => path.clone(),
        Some((array, _)) => array,
    }
}

/// As [`renumbered`], of an operation of a patch. The patched value itself is replaced.
fn renumbered_below(base: &Path, path: &Path) -> Path {
    if path == base {
        path.clone()
    } else {
        renumbered(path)
    }
}
