//! Executes the lookups of a bound plan, level by level. A level has the lookups of all elements that
//! the level before found. Its lookups are made concurrently, and then the reads of what they found
//! in one round.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_graphql::Name;
use async_graphql::dataloader::Loader;
use async_graphql_value::Value as Input;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _};

use super::children::AskedChildren;
use super::document_pages::FoundPages;
use super::element::Element;
use super::finder::{Finder, ValuePlace};
use super::followed::{FollowedDocuments, Walk, follow};
use super::found::{Found, Instance};
use super::list_loader::{ListKey, ListPart, LoadedList};
use super::referring::find_referring;
use super::selected::{LengthOf, length, select};
use crate::budget::{OwnedList, in_turns, turn};
use crate::database::query;
use crate::database::{self, Children, DocumentKey, Loaded, children_of};
use crate::document::path::{Path, Place};
use crate::error::Result;
use crate::graphql::arguments::aggregate_request::{AggregateRequest, AggregatedValues, groups};
use crate::graphql::arguments::children_request::ChildrenRequest;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::{
    Bound, DocumentAt, Lookup, LookupOf, ROOT, ReadAt, ValueAt,
};
use crate::graphql::execute::planned::given::{Given, Outcome};
use crate::graphql::execute::planned::permit::apply_rules::without_advice;
use crate::limits::{PAGES_AT_ONCE, STEPS_PER_ITEM, STEPS_PER_READ};

/// What all lookups of a plan found.
pub(crate) struct Rounds<'a>(pub(crate) OwnedList<Instance<'a>>);

/// The result of a lookup, before lists are loaded.
enum LookedUp<'a> {
    Found(Found<'a>),
    /// The children with this key, or a length.
    List(ListKey, Option<AskedChildren>),
    /// The documents to which a reference leads.
    Walk(Walk),
}

impl<'a> From<Found<'a>> for LookedUp<'a> {
    fn from(found: Found<'a>) -> Self {
        Self::Found(found)
    }
}

impl<'a> LookedUp<'a> {
    fn found(self, lists: &HashMap<ListKey, Result<LoadedList>>) -> Result<Found<'a>> {
        let (key, asked) = match self {
            Self::Found(found) => return Ok(found),
            Self::Walk(walk) => return walk.found().map(Found::Followed),
            Self::List(key, asked) => (key, asked),
        };
        let list = lists.get(&key).ok_or_else(mismatch)?;
        match (list.clone()?, asked) {
            (LoadedList::Children(page, more), Some(asked)) => {
                Ok(Found::Children(asked.found(page, more)?))
            }
            (LoadedList::Length(length), None) => Ok(Found::Length(length)),
            _ => Err(mismatch()),
        }
    }
}

impl<'a> Rounds<'a> {
    /// The root alone.
    pub(crate) fn root() -> Self {
        let root = Instance {
            around: (ROOT, 0),
            lookup: None,
            found: Ok(Found::Root),
            lookups: Vec::new(),
        };
        Self(OwnedList::from(vec![root]))
    }

    /// The root, and an instance for each of its lookups, of which those of pages are made.
    pub(crate) fn new(bound: &Bound<'_>, pages: &'a FoundPages) -> Self {
        let mut rounds = Self::root();
        for lookup in &bound.scopes[ROOT].lookups {
            let instance = rounds.0.len();
            rounds.0[ROOT].lookups.push(instance);
            let page = pages.of(*lookup);
            rounds.0.push(Instance {
                around: (ROOT, 0),
                lookup: Some(*lookup),
                found: Ok(page.map_or(Found::Nothing, Found::Page)),
                lookups: Vec::new(),
            });
        }
        rounds
    }

    /// Whether a page of documents or a list of groups is empty.
    pub(crate) fn has_empty(&self) -> bool {
        let is_empty = |found: &Result<Found<'_>>| match found {
            Ok(Found::Page(page)) => page.documents.is_empty(),
            Ok(Found::Groups(found)) => found.groups.iter().all(|group| group.count == 0),
            _ => false,
        };
        self.0.iter().any(|instance| is_empty(&instance.found))
    }

    /// Makes all lookups that depend on reads, and the reads of what they find.
    ///
    /// # Errors
    /// An exceeded limit of the budget. Each lookup has an error of its own.
    pub(crate) async fn find(&mut self, finder: &Finder<'a>, loaded: &Loaded<'_>) -> Result<()> {
        let budget = finder.request_budget.budget();
        let is_page = |instance: &Instance<'_>| matches!(instance.found, Ok(Found::Page(_)));
        let mut level = vec![ROOT];
        level.extend((1..self.0.len()).filter(|number| is_page(&self.0[*number])));
        loop {
            let mut asked = Vec::new();
            let mut numbers = in_turns(level);
            while let Some(number) = numbers.next().await {
                let steps = STEPS_PER_ITEM * self.further(finder.bound, number) as u64;
                let ask = || self.ask(finder.bound, number, &mut asked);
                budget.portion(steps, ask).await;
            }
            if asked.is_empty() {
                return Ok(());
            }
            let found = self.look_up_all(finder, loaded, &asked).await?;
            finder.request_budget.check()?;
            let mut found = in_turns(found);
            while let Some((instance, found)) = found.next().await {
                self.0[instance].found = found;
            }
            self.read_elements(finder, &asked).await?;
            level = asked;
        }
    }

    /// The number of lookups that the elements of an instance ask for.
    fn further(&self, bound: &Bound<'_>, number: usize) -> usize {
        let instance = &self.0[number];
        let count = instance.found.as_ref().map_or(0, Found::count);
        let scope = instance.scope(bound);
        scope.map_or(0, |scope| {
            count.saturating_mul(bound.scopes[scope].lookups.len())
        })
    }

    /// Adds the instances of the lookups of each element of an instance. `asked` are those to make.
    fn ask(&mut self, bound: &Bound<'_>, number: usize, asked: &mut Vec<usize>) {
        let instance = &self.0[number];
        let count = instance.found.as_ref().map_or(0, Found::count);
        let Some(scope) = instance.scope(bound) else {
            return;
        };
        if number == ROOT {
            let is_made = |instance: &usize| matches!(self.0[*instance].found, Ok(Found::Page(_)));
            asked.extend(self.0[ROOT].lookups.iter().filter(|it| !is_made(it)));
            return;
        }
        for lookup in &bound.scopes[scope].lookups {
            let first = self.0.len();
            self.0[number].lookups.push(first);
            for element in 0..count {
                asked.push(self.0.len());
                self.0.push(Instance {
                    around: (number, element),
                    lookup: Some(*lookup),
                    found: Ok(Found::Nothing),
                    lookups: Vec::new(),
                });
            }
        }
    }

    /// Makes lookups, several at a time. The next one begins when another has ended, so that no more
    /// than these take memory for what they do. Then loads the lists that they need, equal ones once.
    async fn look_up_all(
        &self,
        finder: &Finder<'a>,
        loaded: &Loaded<'_>,
        asked: &[usize],
    ) -> Result<Vec<(usize, Result<Found<'a>>)>> {
        let finding = asked.iter().copied().map(|instance| -> BoxFuture<'_, _> {
            let find = self.look_up(finder, loaded, instance);
            Box::pin(async move { (instance, find.await) })
        });
        let finding = stream::iter(finding).buffer_unordered(PAGES_AT_ONCE);
        let mut looked_up: Vec<(usize, Result<LookedUp<'a>>)> = finding.collect().await;
        follow_walks(finder, &mut looked_up).await?;
        let steps = STEPS_PER_READ * looked_up.len() as u64;
        let keys = || {
            let keys: HashSet<&ListKey> = looked_up
                .iter()
                .filter_map(|(_, looked_up)| match looked_up {
                    Ok(LookedUp::List(key, _)) => Some(key),
                    _ => None,
                })
                .collect();
            keys.into_iter().cloned().collect::<Vec<ListKey>>()
        };
        let keys = finder.request_budget.budget().portion(steps, keys).await;
        let lists = match &keys[..] {
            [] => HashMap::new(),
            keys => finder.loader()?.load(keys).await?,
        };
        let mut found = Vec::with_capacity(looked_up.len());
        let mut looked_up = in_turns(looked_up);
        while let Some((instance, looked_up)) = looked_up.next().await {
            let of_one = looked_up.and_then(|looked_up| {
                let of_one = looked_up.found(&lists)?;
                self.count(finder, instance, &of_one)?;
                Ok(of_one)
            });
            found.push((instance, of_one));
        }
        Ok(found)
    }

    /// Counts the fields of the elements that a lookup found.
    fn count(&self, finder: &Finder<'_>, instance: usize, found: &Found<'_>) -> Result<()> {
        let lookup = self.0[instance].lookup.ok_or_else(mismatch)?;
        let lookup = &finder.bound.lookups[lookup];
        // A page has counted its own.
        if lookup.elements.is_none() || matches!(found, Found::Referring(_)) {
            return Ok(());
        }
        let fields = finder.elements(lookup)?.fields.max(1);
        let fields = found.count().saturating_mul(fields);
        finder.request_budget.fields(fields)
    }

    /// Makes a lookup. What it waits for is boxed: a level can have thousands of these futures, and each is moved
    /// with the size of its largest part.
    async fn look_up(
        &self,
        finder: &Finder<'a>,
        loaded: &Loaded<'_>,
        instance: usize,
    ) -> Result<LookedUp<'a>> {
        let Instance { around, lookup, .. } = &self.0[instance];
        let number = lookup.ok_or_else(mismatch)?;
        let lookup = &finder.bound.lookups[number];
        finder.request_budget.check()?;
        turn().await;
        let element = self.element(finder.bound, loaded, *around)?;
        let found = match &lookup.of {
            LookupOf::Documents(_) => return Err(mismatch()),
            LookupOf::Selected(selected) => {
                let Some((document, base)) = self.value(finder, &element, &selected.of, *around)?
                else {
                    return Ok(Found::Nothing.into());
                };
                let below = (&document, &base.path);
                Found::Selected(Box::pin(select(selected, &element, below, finder)).await?)
            }
            LookupOf::Children { of, request } => {
                let value = self.value(finder, &element, of, *around)?;
                return Box::pin(look_up_children(finder, &element, (of, value), request)).await;
            }
            LookupOf::Followed(followed) => {
                let Some((document, _)) = self.value(finder, &element, &followed.of, *around)?
                else {
                    return Ok(Found::Followed(FollowedDocuments::default()).into());
                };
                let key = |read: &ReadAt| element.part(read.read, &document);
                let key = followed.of.read.as_ref().map_or(Ok(None), key)?;
                let walk = Walk::begin(number, followed, document, key.as_ref())?;
                return Ok(LookedUp::Walk(walk));
            }
            LookupOf::Length { of, first, last } => {
                let Some((document, base)) = self.value(finder, &element, of, *around)? else {
                    return Ok(Found::Nothing.into());
                };
                let length = length(&element, of, (*first, *last), &document, finder);
                match Box::pin(length).await? {
                    LengthOf::Known(length) => Found::Length(length),
                    LengthOf::Unread(of) => {
                        let key = ListKey {
                            document,
                            place: base.place,
                            of,
                        };
                        return Ok(LookedUp::List(key, None));
                    }
                }
            }
            LookupOf::Referring { of, selected } => {
                let Some((document, _)) = self.value(finder, &element, of, *around)? else {
                    return Ok(Found::Nothing.into());
                };
                let page = find_referring(finder, (number, lookup), selected, &document.id);
                Found::Referring(Box::new(Box::pin(page).await?))
            }
            LookupOf::Groups { arguments, values } => {
                let groups = self.groups(finder, instance, (*arguments, values));
                Found::Groups(Box::pin(groups).await?)
            }
            LookupOf::ChangesCursor => {
                let cursor = Box::pin(database::changes_cursor(finder.read()?)).await?;
                Found::Text(cursor.map(|cursor| cursor.to_string()))
            }
            LookupOf::Collections(name) => {
                Found::Collections(Box::pin(collections(finder, name.as_deref())).await?)
            }
            LookupOf::Indexes(_) => {
                let collection = self.collection(*around)?;
                let stored = database::stored_indexes(finder.read()?, collection);
                Found::Indexes(Box::pin(stored).await?)
            }
            LookupOf::Type(_) => {
                let collection = self.collection(*around)?;
                let stored = Box::pin(database::stored_type(finder.read()?, collection)).await?;
                let held = stored.as_ref().map_or(0, database::StoredType::held);
                finder.request_budget.memory.hold(held)?;
                Found::Type(stored.map(Box::new))
            }
            LookupOf::Misfits(_) => self.misfits(finder, *around)?,
            LookupOf::Given => Found::Given(finder.given.ok_or_else(mismatch)?),
            LookupOf::Updates => match finder.given {
                Some(Given::Outcome(Outcome::Bulk(result))) => Found::Updates(&result.updates),
                _ => return Err(mismatch()),
            },
            LookupOf::Patch => match finder.given {
                Some(Given::Change(change)) => {
                    Found::Json(Box::pin(change.patch(finder.request_budget.budget())).await?)
                }
                _ => return Err(mismatch()),
            },
        };
        Ok(found.into())
    }

    /// The places that do not fit the type that was found or defined.
    fn misfits(&self, finder: &Finder<'a>, (type_of, _): (usize, usize)) -> Result<Found<'a>> {
        match (&self.0[type_of].found, finder.given) {
            (Ok(Found::Type(Some(stored))), _) => {
                finder.request_budget.memory.hold(stored.held())?;
                Ok(Found::Misfits(stored.misfits.clone()))
            }
            (_, Some(Given::Outcome(Outcome::TypeDefinition(definition)))) => {
                Ok(Found::Misfits(definition.misfits.clone()))
            }
            _ => Err(mismatch()),
        }
    }

    /// The name of a collection that was found.
    fn collection(&self, (instance, element): (usize, usize)) -> Result<&str> {
        let Ok(Found::Collections(found)) = &self.0[instance].found else {
            return Err(mismatch());
        };
        Ok(&found.get(element).ok_or_else(mismatch)?.name)
    }

    /// The groups of documents that a lookup finds.
    async fn groups(
        &self,
        finder: &Finder<'_>,
        instance: usize,
        (arguments, values): (&[(Name, Input)], &AggregatedValues),
    ) -> Result<query::Aggregation> {
        let request_budget = finder.request_budget;
        let Some(permit) = finder.permit else {
            let request: AggregateRequest = finder.arguments.request(arguments)?;
            let query = request.query(request_budget, values).await?;
            return groups(&query, finder.read()?, request_budget).await;
        };
        let lookup = self.0[instance].lookup.ok_or_else(mismatch)?;
        let query = permit.groups(lookup).ok_or_else(mismatch)?;
        let found = groups(query, finder.read()?, request_budget).await;
        found.map_err(without_advice)
    }

    /// The document and the place of a value. None if nothing is stored there, or if the rules hide the
    /// document.
    fn value(
        &self,
        finder: &Finder<'_>,
        element: &Element<'_>,
        of: &ValueAt<'_>,
        around: (usize, usize),
    ) -> Result<Option<(Arc<DocumentKey>, ValuePlace)>> {
        if let DocumentAt::Bound(number) = of.document
            && finder.hidden.has(number)
        {
            return Ok(None);
        }
        let place = match of.read {
            None => Place::default(),
            Some(read) => match element.place(read.read)? {
                Some(place) => place,
                None => return Ok(None),
            },
        };
        let document = self.document(finder, of.document, around)?;
        let path = match element.base() {
            None => of.path.clone().into_owned(),
            Some(base) => Path::from(base).join(&of.path),
        };
        Ok(Some((document.clone(), ValuePlace { place, path })))
    }

    /// The document that an element is in, or below which it is.
    fn document<'r>(
        &'r self,
        finder: &'r Finder<'_>,
        document: DocumentAt,
        (mut instance, mut element): (usize, usize),
    ) -> Result<&'r Arc<DocumentKey>> {
        let scope = match document {
            DocumentAt::Bound(number) => return Ok(finder.document(number)),
            DocumentAt::Element(scope) => scope,
        };
        loop {
            let Instance { around, found, .. } = &self.0[instance];
            if self.0[instance].scope(finder.bound) == Some(scope)
                && let Some(documents) = found.as_ref().ok().and_then(Found::documents)
            {
                return documents.get(element).ok_or_else(mismatch);
            }
            if instance == ROOT {
                return Err(mismatch());
            }
            (instance, element) = *around;
        }
    }

    /// An element of an instance.
    pub(crate) fn element<'r>(
        &'r self,
        bound: &'r Bound<'r>,
        loaded: &'r Loaded<'r>,
        (instance, element): (usize, usize),
    ) -> Result<Element<'r>> {
        let instance = &self.0[instance];
        let scope = instance.scope(bound).ok_or_else(mismatch)?;
        let found = instance.found.as_ref().map_err(Clone::clone)?;
        Element::of(bound, scope, loaded, found, element)
    }

    /// The number of the instance of a lookup for an element.
    pub(crate) fn instance(&self, lookup: &Lookup<'_>, element: (usize, usize)) -> Result<usize> {
        let (instance, element) = element;
        let first = self.0[instance].lookups.get(lookup.number);
        Ok(first.ok_or_else(mismatch)? + element)
    }
}

/// Looks up the children of a value, or asks for them if the whole value was not read.
async fn look_up_children<'a>(
    finder: &Finder<'_>,
    element: &Element<'_>,
    (of, value): (&ValueAt<'_>, Option<(Arc<DocumentKey>, ValuePlace)>),
    request: &ChildrenRequest,
) -> Result<LookedUp<'a>> {
    let Some((document, base)) = value else {
        return Ok(Found::Nothing.into());
    };
    let asked = AskedChildren::of(&document, &base.place, request.clone())?;
    finder.request_budget.places(1)?;
    let reads = &finder.bound.scopes[element.scope].reads;
    let Some(whole) = element.whole(reads, of, &document) else {
        let key = ListKey {
            document,
            place: base.place,
            of: ListPart::Children(asked.page.clone()),
        };
        return Ok(LookedUp::List(key, Some(asked)));
    };
    let memory = &finder.request_budget.memory;
    let Children { page, more } = children_of(&whole, &asked.page, memory).await?;
    Ok(Found::Children(asked.found(page.into(), more)?).into())
}

/// Follows the references of a level together.
async fn follow_walks(
    finder: &Finder<'_>,
    looked_up: &mut [(usize, Result<LookedUp<'_>>)],
) -> Result<()> {
    let mut walks = Vec::new();
    let mut begun = in_turns(looked_up.iter_mut());
    while let Some((_, looked_up)) = begun.next().await {
        if let Ok(LookedUp::Walk(walk)) = looked_up {
            walks.push(walk);
        }
    }
    if walks.is_empty() {
        return Ok(());
    }
    // Boxed, so that it does not enlarge the futures of plans without references.
    let followed: BoxFuture<'_, Result<()>> = Box::pin(follow(finder, &mut walks));
    followed.await
}

/// The collections that the caller may know, or the one with this name.
async fn collections(finder: &Finder<'_>, name: Option<&str>) -> Result<Vec<database::Collection>> {
    let mut found = database::collections(finder.read()?).await?;
    if let Some(name) = name {
        found.retain(|collection| collection.name == name);
    }
    if let Some(permit) = finder.permit {
        let steps = permit.list_steps(found.len());
        let list = || found.retain(|collection| permit.lists(&collection.name));
        finder.request_budget.budget().portion(steps, list).await;
    }
    Ok(found)
}
