//! The places that a bound plan uses.

use std::borrow::Cow;

use crate::database::query::{AggregateQuery, Select};
use crate::database::{DocumentKey, ReadRequest};
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::arguments::documents_request::PageQuery;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::{
    Bound, DocumentAt, FollowedReference, Lookup, LookupOf, ReadAt, ResponseStep, ValueAt,
};
use crate::graphql::prepare::plan::PageField;
use crate::limits::SCAN_DOCUMENTS_DEFAULT;
use crate::rights::{Action, PlaceUsed};

/// The query of a lookup, if it has one.
pub(crate) enum LookupQuery {
    Page(PageQuery),
    Groups(AggregateQuery),
    None,
}

/// Who uses a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UsedBy {
    /// Fields of the document with this number.
    Document(usize),
    /// The page of documents of the lookup with this number.
    Page(usize),
    /// Fields of the documents to which the references of the lookup with this number lead.
    Followed(usize),
    /// A field that shows something of all documents of the collection, so that it needs a right
    /// without a condition.
    All,
}

/// Where a place is used, to find the position of its error.
#[derive(Clone, Copy)]
pub(super) enum UsedAt {
    Read(ReadAt),
    Position(usize),
}

impl UsedAt {
    /// The number of the position.
    pub(super) fn position(self, bound: &Bound<'_>) -> usize {
        match self {
            Self::Read(read) => bound.position_of(read),
            Self::Position(position) => position,
        }
    }
}

/// All places that a bound plan uses.
pub(super) struct UsedPlaces<'b> {
    pub(super) used: Vec<PlaceUsed<'b>>,
    /// Who uses each of them, and where.
    pub(super) by: Vec<(UsedBy, UsedAt)>,
}

/// What the elements of a scope are.
#[derive(Clone, Copy)]
enum ScopeOf {
    /// The root of the response.
    Root,
    /// The documents of a page, which is the lookup with this number.
    Page(usize),
    /// The documents to which references lead, of the lookup with this number.
    Followed(usize),
    /// Values inside a value whose place is used as a whole.
    Inside,
    /// Elements that are known when they are found, and have no reads.
    Found,
}

impl<'b> UsedPlaces<'b> {
    /// The places of a plan. `queries` are those of its lookups. If `is_new`, the documents of the plan
    /// have ids that are not known yet.
    ///
    /// # Errors
    /// `INTERNAL`: the parts of the plan do not fit each other.
    pub(super) fn of(
        bound: &'b Bound<'_>,
        queries: &'b [LookupQuery],
        is_new: bool,
    ) -> Result<Self> {
        let collector = Collector {
            bound,
            queries,
            is_new,
            scopes: scopes(bound),
            places: Self {
                used: Vec::with_capacity(4),
                by: Vec::with_capacity(4),
            },
        };
        collector.places()
    }
}

/// What the elements of each scope are.
fn scopes(bound: &Bound<'_>) -> Vec<ScopeOf> {
    let mut scopes = vec![ScopeOf::Root; bound.scopes.len()];
    for (number, lookup) in bound.lookups.iter().enumerate() {
        let Some(elements) = lookup.elements else {
            continue;
        };
        scopes[elements] = match lookup.of {
            LookupOf::Documents(_) | LookupOf::Referring { .. } => ScopeOf::Page(number),
            LookupOf::Followed(_) => ScopeOf::Followed(number),
            LookupOf::Selected(_) | LookupOf::Children { .. } => ScopeOf::Inside,
            LookupOf::Length { .. }
            | LookupOf::Groups { .. }
            | LookupOf::ChangesCursor
            | LookupOf::Collections(_)
            | LookupOf::Indexes(_)
            | LookupOf::Type(_)
            | LookupOf::Misfits(_)
            | LookupOf::Given
            | LookupOf::Updates
            | LookupOf::Patch => ScopeOf::Found,
        };
    }
    scopes
}

struct Collector<'b, 'p> {
    bound: &'b Bound<'p>,
    queries: &'b [LookupQuery],
    is_new: bool,
    scopes: Vec<ScopeOf>,
    places: UsedPlaces<'b>,
}

/// The documents in which a place is.
struct UsedDocuments<'b> {
    collection: &'b str,
    id: Option<&'b DocumentId>,
    by: UsedBy,
}

impl<'b> Collector<'b, '_> {
    fn places(mut self) -> Result<UsedPlaces<'b>> {
        let bound = self.bound;
        for (scope, of) in bound.scopes.iter().enumerate() {
            for (read, request) in of.reads.0.iter().enumerate() {
                let (document, path) = match request {
                    ReadRequest::Value(document, path, _)
                    | ReadRequest::Remainder(document, path, _)
                    | ReadRequest::Between(document, path, _) => (*document, &**path),
                    // Whoever may use any place of a document may know its version.
                    ReadRequest::Version(_) => continue,
                };
                if let Some(documents) = self.documents(scope, DocumentAt::Bound(document))? {
                    let at = UsedAt::Read(ReadAt { scope, read });
                    self.add(Action::Read, &documents, Cow::Borrowed(path), at);
                }
            }
        }
        for (number, lookup) in bound.lookups.iter().enumerate() {
            self.lookup(number, lookup)?;
        }
        Ok(self.places)
    }

    fn lookup(&mut self, number: usize, lookup: &'b Lookup<'_>) -> Result<()> {
        let at = UsedAt::Position(lookup.position);
        match &lookup.of {
            LookupOf::Selected(selected) => {
                let Some(documents) = self.documents(lookup.scope, selected.of.document)? else {
                    return Ok(());
                };
                let above = &*selected.of.path;
                let Some(query) = &selected.parsed else {
                    self.add(Action::Read, &documents, Cow::Borrowed(above), at);
                    return Ok(());
                };
                for below in query.places_read() {
                    let path = above.join(&Path::of_segments(&below));
                    self.add(Action::Read, &documents, Cow::Owned(path), at);
                }
            }
            LookupOf::Children { of, .. } | LookupOf::Length { of, .. } => {
                let ValueAt { document, path, .. } = of;
                if let Some(documents) = self.documents(lookup.scope, *document)? {
                    self.add(Action::Read, &documents, Cow::Borrowed(path), at);
                }
            }
            LookupOf::Followed(followed) => {
                if let Some(path) = &followed.chain {
                    let documents = self.followed(number, followed)?;
                    // It reveals whether the document exists.
                    self.add(Action::Read, &documents, Cow::Borrowed(Path::root()), at);
                    self.add(Action::Read, &documents, Cow::Borrowed(path), at);
                }
            }
            LookupOf::Documents(_) => {
                let LookupQuery::Page(PageQuery { select, .. }) = &self.queries[number] else {
                    return Err(mismatch());
                };
                self.page(number, select, None, at);
            }
            LookupOf::Referring { selected, .. } => {
                let LookupQuery::Page(PageQuery { select, .. }) = &self.queries[number] else {
                    return Err(mismatch());
                };
                self.page(number, select, Some(&selected.inverse.selected), at);
            }
            LookupOf::Groups { .. } => {
                let LookupQuery::Groups(query) = &self.queries[number] else {
                    return Err(mismatch());
                };
                self.groups(number, query, at);
            }
            // A version of the whole store, which reveals nothing of what it has.
            LookupOf::ChangesCursor
            // Only those are listed that the rules allow (`Permit::lists`).
            | LookupOf::Collections(_)
            | LookupOf::Indexes(_)
            | LookupOf::Type(_)
            | LookupOf::Misfits(_)
            // Decided before it was computed.
            | LookupOf::Given
            | LookupOf::Updates
            | LookupOf::Patch => {}
        }
        Ok(())
    }

    /// Adds what a page uses. `keys` selects a further value that its documents are found by.
    fn page(&mut self, number: usize, select: &'b Select, keys: Option<&Query>, at: UsedAt) {
        let (counts, shows_plan) = self.shows(number);
        // It shows how many documents are examined.
        let has_scan_limit = select.scan_max != SCAN_DOCUMENTS_DEFAULT;
        let by = if counts || shows_plan || has_scan_limit {
            UsedBy::All
        } else {
            UsedBy::Page(number)
        };
        let documents = UsedDocuments::all(&select.collection, by);
        self.list(&documents, shows_plan, at);
        let order = select.order.values.iter().map(|value| &value.by);
        self.queries(
            &documents,
            select.filter.queries().into_iter().chain(order).chain(keys),
            at,
        );
    }

    fn groups(&mut self, number: usize, query: &'b AggregateQuery, at: UsedAt) {
        let (_, shows_plan) = self.shows(number);
        let documents = UsedDocuments::all(&query.collection, UsedBy::All);
        self.list(&documents, shows_plan, at);
        let of = query.of.iter().map(|of| &of.path);
        let paths = query.filter.queries().into_iter().chain(&query.group_by);
        self.queries(&documents, paths.chain(of), at);
    }

    /// Adds that documents are found, and what a plan of a query shows: the indexes of the collection.
    fn list(&mut self, documents: &UsedDocuments<'b>, shows_plan: bool, at: UsedAt) {
        let whole = Path::root();
        self.add(Action::List, documents, Cow::Borrowed(whole), at);
        if shows_plan {
            self.add(Action::Read, documents, Cow::Borrowed(whole), at);
        }
    }

    /// Adds what JSONPath queries read in documents.
    fn queries<'q>(
        &mut self,
        documents: &UsedDocuments<'b>,
        queries: impl Iterator<Item = &'q Query>,
        at: UsedAt,
    ) {
        for query in queries {
            for place in query.places_read() {
                let path = Cow::Owned(Path::of_segments(&place));
                self.add(Action::Read, documents, path, at);
            }
        }
    }

    /// Whether the selection of a page or of groups has a number of all documents, and whether it has
    /// how they were found.
    fn shows(&self, lookup: usize) -> (bool, bool) {
        let (mut counts, mut shows_plan) = (false, false);
        for step in &self.bound.steps {
            if let ResponseStep::OfPage(of, field) = step
                && *of == lookup
            {
                match field {
                    PageField::TotalCount | PageField::TotalCountReason | PageField::GroupCount => {
                        counts = true;
                    }
                    PageField::Index
                    | PageField::Partial
                    | PageField::Scanned
                    | PageField::Examined
                    | PageField::Covered => shows_plan = true,
                    PageField::HasNextPage
                    | PageField::HasPreviousPage
                    | PageField::StartCursor
                    | PageField::EndCursor
                    | PageField::Returned => {}
                }
            }
        }
        (counts, shows_plan)
    }

    /// The documents in which the paths of a scope are. None if they are inside a value whose place is
    /// used as a whole.
    fn documents(&self, scope: usize, document: DocumentAt) -> Result<Option<UsedDocuments<'b>>> {
        let bound = self.bound;
        match (self.scopes[scope], document) {
            (ScopeOf::Inside, _) => Ok(None),
            (ScopeOf::Root, DocumentAt::Bound(number)) => {
                let DocumentKey { collection, id } =
                    &**bound.documents.get(number).ok_or_else(mismatch)?;
                Ok(Some(UsedDocuments {
                    collection,
                    id: (!self.is_new).then_some(id),
                    by: UsedBy::Document(number),
                }))
            }
            (ScopeOf::Page(page), _) => match &self.queries[page] {
                LookupQuery::Page(query) => {
                    let collection = &query.select.collection;
                    Ok(Some(UsedDocuments::all(collection, UsedBy::Page(page))))
                }
                _ => Err(mismatch()),
            },
            (ScopeOf::Followed(number), _) => match &bound.lookups[number].of {
                LookupOf::Followed(followed) => self.followed(number, followed).map(Some),
                _ => Err(mismatch()),
            },
            (ScopeOf::Root, DocumentAt::Element(_)) | (ScopeOf::Found, _) => Err(mismatch()),
        }
    }

    /// The documents to which a reference leads.
    fn followed(
        &self,
        number: usize,
        followed: &'b FollowedReference<'_>,
    ) -> Result<UsedDocuments<'b>> {
        let by = UsedBy::Followed(number);
        let collection = if let Some(collection) = &followed.collection {
            collection
        } else {
            let scope = self.bound.lookups[number].scope;
            let around = self.documents(scope, followed.of.document)?;
            around.ok_or_else(mismatch)?.collection
        };
        Ok(UsedDocuments::all(collection, by))
    }

    fn add(
        &mut self,
        action: Action,
        documents: &UsedDocuments<'b>,
        path: Cow<'b, Path>,
        at: UsedAt,
    ) {
        self.places.used.push(PlaceUsed {
            action,
            collection: Cow::Borrowed(documents.collection),
            id: documents.id.map(Cow::Borrowed),
            path,
        });
        self.places.by.push((documents.by, at));
    }
}

impl<'b> UsedDocuments<'b> {
    /// All documents of a collection.
    fn all(collection: &'b str, by: UsedBy) -> Self {
        Self {
            collection,
            id: None,
            by,
        }
    }
}
