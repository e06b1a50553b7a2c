//! Follows references: from the key at a place to the document that has it, and from there to the next one.
//! All references of a level are followed together, so a step of all of them is one round of reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::{BoxFuture, try_join_all};

use super::finder::Finder;
use crate::budget::{in_turns, turn};
use crate::database::{Answer, DocumentKey, Extent, ReadRequest, Value, load};
use crate::document::id::DocumentId;
use crate::document::leaf::{Kind, Leaf, abridged};
use crate::document::path::Path;
use crate::error::{Error, Result, TypeViolation};
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::{FollowedReference, LookupOf};
use crate::limits::{HELD_PER_READ, STEPS_PER_READ};

/// The documents that a reference leads to. One of a single reference may not exist.
#[derive(Default)]
pub(crate) struct FollowedDocuments {
    pub(crate) documents: Vec<Arc<DocumentKey>>,
    /// The answers to the reads of each document, document by document.
    answers: Vec<Result<Answer>>,
}

impl FollowedDocuments {
    /// Sets the answers to the reads of all documents.
    pub(super) fn answer(&mut self, answers: Vec<Result<Answer>>) {
        self.answers = answers;
    }

    /// The answers to so many reads from a number on.
    pub(super) fn answers(&self, first: usize, reads: usize) -> Result<&[Result<Answer>]> {
        let answers = self.answers.get(first..first + reads);
        answers.ok_or_else(mismatch)
    }
}

/// A reference that is being followed.
pub(super) struct Walk {
    /// The number of the lookup.
    lookup: usize,
    /// The document with the first key.
    from: Arc<DocumentKey>,
    next: Option<Arc<DocumentKey>>,
    found: Vec<Arc<DocumentKey>>,
    failed: Option<Error>,
}

impl Walk {
    /// Begins at the key that a document has at a place.
    ///
    /// # Errors
    /// `TYPE_MISMATCH`: the type of the collection requires a key, and it is none.
    pub(super) fn begin(
        lookup: usize,
        followed: &FollowedReference<'_>,
        from: Arc<DocumentKey>,
        key: Option<&Value>,
    ) -> Result<Self> {
        let next = key.map(|key| next(followed, &from, key)).transpose()?;
        // A chain has each document once.
        let repeats = |next: &Arc<DocumentKey>| followed.chain.is_some() && *next == from;
        let next = next.flatten();
        let next = next.filter(|next| followed.most > 0 && !repeats(next));
        Ok(Self {
            lookup,
            from,
            next,
            found: Vec::new(),
            failed: None,
        })
    }

    /// The documents that were found.
    pub(super) fn found(self) -> Result<FollowedDocuments> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(FollowedDocuments {
                documents: self.found,
                answers: Vec::new(),
            }),
        }
    }

    /// Goes to the next document, if it exists.
    fn go(
        &mut self,
        followed: &FollowedReference<'_>,
        exists: &Answer,
        key: &Answer,
    ) -> Result<()> {
        let (Some(here), Answer::Value(Some(_))) = (self.next.take(), exists) else {
            return Ok(());
        };
        if let (Answer::Value(Some(key)), true) = (key, self.found.len() + 1 < followed.most) {
            self.next = next(followed, &here, key)?;
        }
        self.found.push(here);
        let is_known = |it: &Arc<DocumentKey>| *it == self.from || self.found.contains(it);
        if self.next.as_ref().is_some_and(is_known) {
            self.next = None;
        }
        Ok(())
    }
}

/// Follows references as far as they lead.
///
/// # Errors
/// An exceeded limit of the budget. Errors of the store. Each reference has an error of its own.
pub(super) async fn follow(finder: &Finder<'_>, walks: &mut [&mut Walk]) -> Result<()> {
    loop {
        finder.request_budget.check()?;
        turn().await;
        hide(finder, walks).await?;
        let mut requests = Vec::new();
        {
            let mut begun = in_turns(walks.iter_mut());
            while let Some(walk) = begun.next().await {
                match (&reference(finder, walk.lookup)?.chain, &walk.next) {
                    (Some(path), Some(next)) => {
                        let read = |path: &Path| {
                            ReadRequest::Value(next.clone(), path.clone(), Extent::First)
                        };
                        requests.extend([read(Path::root()), read(path)]);
                    }
                    _ => walk.found.extend(walk.next.take()),
                }
            }
        }
        if requests.is_empty() {
            return Ok(());
        }
        finder.request_budget.places(requests.len())?;
        let memory = &finder.request_budget.memory;
        memory.hold(requests.len() * HELD_PER_READ)?;
        let steps = requests.len() as u64;
        let requested = || requests.iter().collect();
        let requested: Vec<&ReadRequest> = memory.budget().portion(steps, requested).await;
        let mut answers = load(finder.read()?, &requested, memory).await.into_iter();
        let mut going = in_turns(walks.iter_mut());
        while let Some(walk) = going.next().await {
            if walk.next.is_none() {
                continue;
            }
            let followed = reference(finder, walk.lookup)?;
            let (Some(exists), Some(key)) = (answers.next(), answers.next()) else {
                return Err(mismatch());
            };
            let gone = match (exists, key) {
                (Ok(exists), Ok(key)) => walk.go(followed, &exists, &key),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
            if let Err(error) = gone {
                walk.next = None;
                walk.failed = Some(error);
            }
        }
    }
}

/// Ends the walks whose next document the rules hide.
async fn hide(finder: &Finder<'_>, walks: &mut [&mut Walk]) -> Result<()> {
    let Some(permit) = finder.permit else {
        return Ok(());
    };
    let request_budget = finder.request_budget;
    let steps = STEPS_PER_READ * walks.len() as u64;
    let asked = || {
        let mut asked: BTreeMap<(usize, &str), BTreeSet<&DocumentId>> = BTreeMap::new();
        for walk in walks.iter().filter(|walk| permit.limits(walk.lookup)) {
            if let Some(next) = &walk.next {
                let of = (walk.lookup, &*next.collection);
                asked.entry(of).or_default().insert(&next.id);
            }
        }
        asked
    };
    let asked = request_budget.budget().portion(steps, asked).await;
    if asked.is_empty() {
        return Ok(());
    }
    let hidden = asked.into_iter().map(|((lookup, collection), ids)| {
        let ids: Vec<DocumentId> = ids.into_iter().cloned().collect();
        let hidden: BoxFuture<'_, _> = Box::pin(hidden(finder, lookup, collection, ids));
        hidden
    });
    let hidden: BTreeSet<(usize, DocumentId)> = try_join_all(hidden.collect::<Vec<_>>())
        .await?
        .into_iter()
        .flatten()
        .collect();
    let mut walks = in_turns(walks.iter_mut());
    while let Some(walk) = walks.next().await {
        let is_hidden =
            |next: &mut Arc<DocumentKey>| hidden.contains(&(walk.lookup, next.id.clone()));
        walk.next.take_if(is_hidden);
    }
    Ok(())
}

/// The documents with these ids that the rules hide from the references of a lookup.
async fn hidden(
    finder: &Finder<'_>,
    lookup: usize,
    collection: &str,
    ids: Vec<DocumentId>,
) -> Result<Vec<(usize, DocumentId)>> {
    let (Some(permit), request_budget) = (finder.permit, finder.request_budget) else {
        return Ok(Vec::new());
    };
    request_budget.places(ids.len())?;
    let from = (finder.read()?, request_budget);
    let allowed = permit.allows(lookup, collection, &ids, from).await?;
    let hidden = ids
        .into_iter()
        .zip(allowed)
        .filter_map(|(id, allowed)| (!allowed).then_some((lookup, id)));
    Ok(hidden.collect())
}

fn reference<'f>(finder: &Finder<'f>, lookup: usize) -> Result<&'f FollowedReference<'f>> {
    match &finder.bound.lookups[lookup].of {
        LookupOf::Followed(followed) => Ok(followed),
        _ => Err(mismatch()),
    }
}

/// The document with the key that a value is. None if there can be none.
///
/// # Errors
/// As [`Walk::begin`].
fn next(
    followed: &FollowedReference<'_>,
    from: &DocumentKey,
    key: &Value,
) -> Result<Option<Arc<DocumentKey>>> {
    let leaf = key.leaf()?;
    let id = match &leaf {
        Some(Leaf::Null | Leaf::String(_) | Leaf::Integer(_) | Leaf::BigInteger(_)) => {
            leaf.as_ref().and_then(DocumentId::of_leaf)
        }
        Some(Leaf::Double(double)) if double.fract() == 0.0 => {
            leaf.as_ref().and_then(DocumentId::of_leaf)
        }
        // No key is as long.
        None if key.kind()? == Kind::String => None,
        _ if followed.typed => return Err(misfit(from, key)?),
        _ => None,
    };
    let collection = followed.collection.as_deref();
    let collection = collection.unwrap_or(&from.collection);
    // A key that is too long is that of no document.
    let document = id.and_then(|id| DocumentKey::new(collection, id).ok());
    Ok(document.map(Arc::new))
}

fn misfit(from: &DocumentKey, key: &Value) -> Result<Error> {
    let place = Path::from(&key.place).to_string();
    let kind = match key.kind()? {
        Kind::Object => "an object",
        Kind::Array => "an array",
        Kind::Number => "a number that is no integer",
        _ => "a boolean",
    };
    let message = format!(
        "the value at {:?} of the document {} does not fit the type of the collection {:?}: a key is required, \
         but there is {kind}",
        abridged(&place),
        from.id,
        abridged(&from.collection)
    );
    let violation = TypeViolation {
        place,
        keyword: "type".to_owned(),
        expected: "the key of a document".to_owned(),
        value: None,
    };
    Ok(Error::type_mismatch(vec![violation], message))
}
