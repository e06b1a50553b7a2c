//! Binds the root fields of a query.

use std::borrow::Cow;

use async_graphql::Value;
use async_graphql_value::Value as Input;

use super::arguments::PageArguments;
use super::bind::{Binder, Here};
use super::bound::{DocumentAt, LookupOf, PositionKind, ROOT, ResponseStep};
use crate::database::DocumentKey;
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::arguments::place_input::DEFAULT_COLLECTION;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::prepare::plan::{EntitySelection, Field, NodeSelection, Selection};
use crate::graphql::scalars::node_id::NodeId;
use crate::graphql::scalars::scalar_types::parsed;
use crate::graphql::schema::entities::EntityKeys;

impl<'p> Binder<'p> {
    pub(crate) fn root(&mut self, selection: &'p Selection) -> Result<()> {
        self.text(b"{\"data\":");
        self.object(selection, Self::root_field)
    }

    fn root_field(&mut self, field: &'p Field) -> Result<()> {
        match field {
            Field::Introspection(number) => {
                let json = self.introspected.get(*number).ok_or_else(mismatch)?;
                self.text(json);
            }
            Field::Document {
                collection,
                id,
                path,
                below,
            } => {
                let collection = match collection {
                    None => Cow::Borrowed(DEFAULT_COLLECTION),
                    Some(Input::Variable(name)) if !self.arguments.0.values.contains_key(name) => {
                        Cow::Borrowed(DEFAULT_COLLECTION)
                    }
                    Some(collection) => self.arguments.string(collection)?,
                };
                let id = DocumentId::parse(&self.arguments.id(id)?)?;
                let document = DocumentKey::new(&*collection, id)?;
                let path = self.arguments.path(path)?;
                return self.document_at(Cow::Owned(document), path, below);
            }
            Field::TypedDocument {
                collection,
                key,
                below,
            } => {
                let id = DocumentId::parse(&self.arguments.id(key)?)?;
                let document = DocumentKey::new(&**collection, id)?;
                return self.typed_document(document, below);
            }
            Field::Entities {
                representations,
                below,
            } => return self.represented(representations, below),
            Field::NodeById(id, below) => {
                self.request_budget.entities(1)?;
                let id = NodeId::parse(&self.arguments.id(id)?)?;
                return self.node_by_id(id, below);
            }
            Field::NodesById(ids, below) => return self.nodes_by_id(ids, below),
            Field::Documents(arguments, below) => {
                return self.documents(PageArguments::Untyped(arguments), below);
            }
            Field::TypedDocuments(selected) => {
                return self.documents(PageArguments::Typed(selected), &selected.below);
            }
            Field::Aggregate(arguments, below) => return self.aggregate(arguments, below),
            Field::Collections(name, below) => {
                let name = match name {
                    None => None,
                    Some(name) => self.arguments.optional_string(name)?,
                };
                return self.collections(name, below);
            }
            Field::ChangesCursor => {
                let position = self.position();
                let lookup = self.lookup(ROOT, LookupOf::ChangesCursor);
                self.steps
                    .push(ResponseStep::FoundText { lookup, position });
            }
            Field::Service(below) => {
                return self.object(below, |binder, field| {
                    if !matches!(field, Field::Sdl) {
                        return Err(mismatch());
                    }
                    binder.steps.push(ResponseStep::Sdl);
                    Ok(())
                });
            }
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    /// Binds a field, or an element of one, that reads a document.
    pub(crate) fn document_at(
        &mut self,
        document: Cow<'p, DocumentKey>,
        path: Cow<'p, Path>,
        below: &'p Selection,
    ) -> Result<()> {
        let document = self.document(document);
        let first = self.scopes[ROOT].reads.0.len();
        let whole = Here::whole(DocumentAt::Bound(document), (ROOT, first));
        self.place(&whole, path, below)
    }

    fn represented(
        &mut self,
        representations: &'p Input,
        below: &'p EntitySelection,
    ) -> Result<()> {
        let EntitySelection {
            of_document: below,
            typed,
            of_others,
            collections,
        } = below;
        let of_typed = typed.values().chain([of_others, below]);
        let fields = of_typed
            .map(|below| self.arguments.fields(below))
            .chain([1])
            .max()
            .unwrap_or(1);
        let read = match representations {
            Input::Variable(name) => self.arguments.0.entities(name),
            _ => None,
        };
        if let Some(entities) = read {
            self.count_entities(entities.len(), fields)?;
            let entities = entities.iter();
            return self.elements_of(entities, |binder, entity| {
                binder.document_at(Cow::Borrowed(entity), Cow::Borrowed(Path::root()), below)
            });
        }
        let representations = listed(self.arguments.value(representations));
        self.count_entities(representations.len(), fields)?;
        self.elements_of(representations.into_iter(), |binder, representation| {
            let keys = EntityKeys::of(representation);
            let of_type = keys.typename().and_then(|ty| collections.get_key_value(ty));
            if let Some((ty, collection)) = of_type {
                binder.entity = Some(ty);
                let below = typed.get(ty).unwrap_or(of_others);
                return binder.typed_document(keys.in_collection(collection)?, below);
            }
            let document = keys.document()?;
            binder.document_at(Cow::Owned(document), Cow::Borrowed(Path::root()), below)
        })
    }

    fn nodes_by_id(&mut self, ids: &'p Input, below: &'p NodeSelection) -> Result<()> {
        let ids = listed(self.arguments.value(ids));
        let fields = self.arguments.fields(&below.of_document);
        let fields = fields.max(self.arguments.fields(&below.of_subdocument));
        self.count_entities(ids.len(), fields.max(1))?;
        self.elements_of(ids.into_iter(), |binder, id| {
            let id: async_graphql::ID = parsed(Some(id))?;
            binder.node_by_id(NodeId::parse(&id)?, below)
        })
    }

    fn node_by_id(&mut self, id: NodeId, below: &'p NodeSelection) -> Result<()> {
        match id {
            NodeId::Document(document) => {
                let root = Cow::Borrowed(Path::root());
                self.document_at(Cow::Owned(document), root, &below.of_document)
            }
            NodeId::Subdocument(document, path) => self.document_at(
                Cow::Owned(document),
                Cow::Owned(path),
                &below.of_subdocument,
            ),
        }
    }

    fn count_entities(&self, entities: usize, fields: usize) -> Result<()> {
        self.request_budget.entities(entities)?;
        self.request_budget.fields(entities.saturating_mul(fields))
    }

    /// Binds a list of objects that can be null.
    pub(crate) fn elements_of<T>(
        &mut self,
        elements: impl Iterator<Item = T>,
        mut element: impl FnMut(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        self.text(b"[");
        for (at, of) in elements.enumerate() {
            if at > 0 {
                self.text(b",");
            }
            let around = self.enter(PositionKind::Element(at));
            if let Err(error) = element(self, of) {
                self.fail(error, true)?;
            }
            self.position = around;
            // Over the limit, binding stops here.
            self.request_budget.room(self.places)?;
        }
        self.text(b"]");
        Ok(())
    }
}

/// The elements of a list. A single value is a list of one.
fn listed(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::List(elements)) => elements,
        Some(single) => vec![single],
        None => Vec::new(),
    }
}
