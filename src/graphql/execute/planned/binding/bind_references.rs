//! Binds the fields that follow references. The documents that they lead to are elements of a scope of their
//! own: all of a level are read in one round.

use std::borrow::Cow;

use super::bind::{Binder, Here, join};
use super::bind_typed::{DOCUMENT, read_of_list};
use super::bound::{DocumentAt, FollowedReference, LookupOf, ValueAt};
use crate::database::check_collection;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::graphql::arguments::typed_children::TypedListRequest;
use crate::graphql::execute::planned::binding::field_reads::PlaceField;
use crate::graphql::prepare::plan::{
    Field, FollowSelection, InverseSelection, PageField, ReferenceSelection, Selection,
};
use crate::graphql::scalars::scalar_types::parsed;
use crate::graphql::schema::typed::typed_fields::ReferenceOf;
use crate::limits::FOLLOWED_DOCUMENTS_MAX;

/// The fields of a document are counted where it is an element, and not where its key is one.
static NO_FIELDS: Selection = Selection(Vec::new());

impl<'p> Binder<'p> {
    /// Binds a field that follows the reference in a member, or those in a list.
    pub(crate) fn reference(
        &mut self,
        here: &Here<'p>,
        selected: &'p ReferenceSelection,
    ) -> Result<()> {
        let ReferenceSelection {
            reference,
            arguments,
            ..
        } = selected;
        let path = join(&here.path, Cow::Borrowed(&reference.path));
        let keys = match &reference.of {
            ReferenceOf::One => return self.followed(here, path, selected),
            ReferenceOf::Chain => return self.chain(here, path, selected),
            ReferenceOf::List(keys) => keys,
        };
        let request: TypedListRequest = self.arguments.request(arguments)?;
        let field = read_of_list(request.is_of_whole());
        let list = (&**keys, field, request.children()?);
        self.list_of(here, path, list, &NO_FIELDS, |binder, key| {
            binder.followed(key, Cow::Borrowed(Path::root()), selected)
        })
    }

    /// Binds the documents that follow from the key at a place, each with the key of the next one.
    fn chain(
        &mut self,
        here: &Here<'p>,
        path: Cow<'p, Path>,
        selected: &'p ReferenceSelection,
    ) -> Result<()> {
        let ReferenceSelection {
            reference, below, ..
        } = selected;
        let followed = FollowedReference {
            of: self.key_at(here, path, PlaceField::Value),
            collection: Some(Cow::Borrowed(&reference.collection)),
            typed: true,
            chain: Some(Cow::Borrowed(&reference.path)),
            most: FOLLOWED_DOCUMENTS_MAX,
        };
        self.followed_documents(here, followed, below)
    }

    /// Binds the page of the documents that refer to a document.
    pub(crate) fn inverse(
        &mut self,
        here: &Here<'p>,
        selected: &'p InverseSelection,
    ) -> Result<()> {
        let below = &selected.page.below;
        let mut fields = self.arguments.included(below);
        let total = fields.any(|it| matches!(it.field, Field::OfPage(PageField::TotalCount)));
        let of = here.value();
        self.scopes[here.scope].needs_pairs = true;
        let (page, scope) = self.list(here.scope, LookupOf::Referring { of, selected }, below);
        self.lookups[page].total |= total;
        let document = Here::whole(DocumentAt::Element(scope), (scope, 0));
        self.text(b"{");
        self.found(page);
        self.members(below, |binder, field| {
            binder.field_of_page((page, scope), &document, field)
        })
    }

    /// Binds `follow`.
    pub(crate) fn follow(&mut self, here: &Here<'p>, selected: &'p FollowSelection) -> Result<()> {
        let FollowSelection {
            path,
            collection,
            first,
            below,
        } = selected;
        let path = self.arguments.path(path)?;
        let collection = collection
            .as_ref()
            .and_then(|given| self.arguments.value(given));
        let collection: Option<Option<String>> =
            collection.map(|given| parsed(Some(given))).transpose()?;
        let collection = collection.flatten();
        if let Some(collection) = &collection {
            check_collection(collection)?;
        }
        let first: Option<Option<i32>> = first
            .as_ref()
            .and_then(|given| self.arguments.value(given))
            .map(|given| parsed(Some(given)))
            .transpose()?;
        let followed = FollowedReference {
            of: self.key_at(here, path.clone(), PlaceField::Subdocument),
            collection: collection.map(Cow::Owned),
            typed: false,
            chain: Some(path),
            most: most(first.flatten())?,
        };
        self.followed_documents(here, followed, below)
    }

    /// Binds a list of the documents to which a reference leads. All of them exist.
    fn followed_documents(
        &mut self,
        here: &Here<'p>,
        followed: FollowedReference<'p>,
        below: &'p Selection,
    ) -> Result<()> {
        let list = self.list(here.scope, LookupOf::Followed(followed), below);
        let document = Here::whole(DocumentAt::Element(list.1), (list.1, 0));
        self.found(list.0);
        self.elements(list, |binder| {
            binder.object(below, |binder, field| binder.member(&document, field))
        })
    }

    /// The value at a path, which is a key.
    fn key_at(&mut self, here: &Here<'p>, path: Cow<'p, Path>, field: PlaceField) -> ValueAt<'p> {
        let read = self.read(here, path.clone(), field);
        self.scopes[here.scope].needs_pairs = true;
        ValueAt {
            document: here.document,
            path,
            read: Some(read),
        }
    }

    /// Binds the document whose key is at a place. It is null if it does not exist.
    fn followed(
        &mut self,
        here: &Here<'p>,
        path: Cow<'p, Path>,
        selected: &'p ReferenceSelection,
    ) -> Result<()> {
        let ReferenceSelection {
            reference, below, ..
        } = selected;
        let followed = FollowedReference {
            of: self.key_at(here, path, PlaceField::Value),
            collection: Some(Cow::Borrowed(&reference.collection)),
            typed: true,
            chain: None,
            most: 1,
        };
        let only = self.list(here.scope, LookupOf::Followed(followed), below);
        let document = Here::whole(DocumentAt::Element(only.1), (only.1, 0));
        self.null_if_it_fails(|binder| {
            binder.found(only.0);
            binder.element_alone(only, |binder| {
                let root = Cow::Borrowed(Path::root());
                if reference.typed {
                    binder.typed_object(&document, root, &DOCUMENT, below)
                } else {
                    binder.place(&document, root, below)
                }
            })
        })
    }
}

/// The number of documents that the argument `first` of `follow` asks for.
fn most(first: Option<i32>) -> Result<usize> {
    let Some(first) = first else {
        return Ok(FOLLOWED_DOCUMENTS_MAX);
    };
    let most = usize::try_from(first).ok();
    let most = most.filter(|most| *most <= FOLLOWED_DOCUMENTS_MAX);
    most.ok_or_else(|| {
        Error::bad_input(format!(
            "`first` is {first}; `follow` returns from 0 to {FOLLOWED_DOCUMENTS_MAX} documents"
        ))
    })
}
