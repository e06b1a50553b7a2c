//! Which subscribers a change concerns.

use std::collections::HashMap;
use std::sync::Arc;

use super::small_map::SmallMap;
use crate::document::id::DocumentId;
use crate::document::path::{Path, Place, Segment, Token};
use crate::key::LoggedChange;

/// The changes that a subscriber wants to know of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interest {
    /// The collection.
    pub collection: String,
    /// The document. `None` for all documents of the collection.
    pub id: Option<DocumentId>,
    /// The places in the document. A change at, below or above one of them is wanted.
    pub places: Vec<Place>,
}

/// A path with more possible places is watched at its unambiguous beginning.
const PLACES_MAX: usize = 8;

impl Interest {
    /// Interest in all documents of a collection.
    pub fn in_collection(collection: String) -> Self {
        Self {
            collection,
            id: None,
            places: vec![Place::default()],
        }
    }

    /// Interest in what a path leads to in a document.
    pub fn in_path(collection: String, id: DocumentId, path: &Path) -> Self {
        Self {
            collection,
            id: Some(id),
            places: places(path),
        }
    }

    /// Whether a change is wanted.
    pub fn includes(&self, change: &LoggedChange) -> bool {
        if change.collection != self.collection {
            return false;
        }
        match (&self.id, &change.id) {
            (None, _) | (_, None) => true,
            (Some(own), Some(changed)) => {
                own == changed
                    && change.places.iter().any(|changed| {
                        self.places.iter().any(|own| {
                            own.0.starts_with(&changed.0) || changed.0.starts_with(&own.0)
                        })
                    })
            }
        }
    }
}

/// The places that contain whatever a path leads to.
fn places(path: &Path) -> Vec<Place> {
    let fixed = path.tokens().iter();
    let fixed = fixed.take_while(|token| !matches!(token, Token::FromEnd(_) | Token::Dash));
    let fixed = Path::new(fixed.cloned().collect());
    if fixed.ambiguous() <= PLACES_MAX.ilog2() as usize {
        return fixed.places();
    }
    let segments = fixed.tokens().iter().map_while(|token| match token {
        Token::Segment(segment) => Some(segment.clone()),
        _ => None,
    });
    vec![Place(segments.collect())]
}

/// Subscribers, by what they want to know of.
pub(super) struct Subscribers<S> {
    collections: HashMap<String, CollectionSubscribers<S>>,
}

struct CollectionSubscribers<S> {
    /// Those who want all changes of the collection.
    all: SubscriberMap<S>,
    documents: HashMap<DocumentId, PlaceNode<S>>,
}

/// Subscribers by their number.
type SubscriberMap<S> = SmallMap<u64, Arc<S>>;

/// The subscribers at a place, and below it.
struct PlaceNode<S> {
    members: SubscriberMap<S>,
    below: SmallMap<Segment, PlaceNode<S>>,
}

impl<S> Default for Subscribers<S> {
    fn default() -> Self {
        Self {
            collections: HashMap::new(),
        }
    }
}

impl<S> Default for PlaceNode<S> {
    fn default() -> Self {
        Self {
            members: SmallMap::default(),
            below: SmallMap::default(),
        }
    }
}

impl<S> Subscribers<S> {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.collections.is_empty()
    }

    /// Adds a subscriber with a unique number.
    pub(super) fn add(&mut self, interest: &Interest, number: u64, subscriber: &Arc<S>) {
        let collection = self.collections.entry(interest.collection.clone());
        let collection = collection.or_insert_with(|| CollectionSubscribers {
            all: SmallMap::default(),
            documents: HashMap::new(),
        });
        let Some(id) = &interest.id else {
            collection.all.insert(number, subscriber.clone());
            return;
        };
        for place in &interest.places {
            let root = collection.documents.entry(id.clone()).or_default();
            root.add(&place.0, number, subscriber);
        }
    }

    /// Removes a subscriber.
    pub(super) fn remove(&mut self, interest: &Interest, number: u64) {
        let Some(collection) = self.collections.get_mut(&interest.collection) else {
            return;
        };
        match &interest.id {
            None => {
                collection.all.remove(&number);
            }
            Some(id) => {
                if let Some(root) = collection.documents.get_mut(id) {
                    for place in &interest.places {
                        root.remove(&place.0, number);
                    }
                    if root.is_empty() {
                        collection.documents.remove(id);
                    }
                }
            }
        }
        if collection.all.is_empty() && collection.documents.is_empty() {
            self.collections.remove(&interest.collection);
        }
    }

    /// Calls `notify` with each subscriber that wants a change, some of them more than once.
    pub(super) fn each(&self, change: &LoggedChange, notify: &mut impl FnMut(&S)) {
        let Some(collection) = self.collections.get(&change.collection) else {
            return;
        };
        collection.all.each(|member| notify(member));
        match &change.id {
            None => {
                for root in collection.documents.values() {
                    root.each(notify);
                }
            }
            Some(id) => {
                if let Some(root) = collection.documents.get(id) {
                    for place in &change.places {
                        root.each_at(&place.0, notify);
                    }
                }
            }
        }
    }

    /// Calls `notify` with each subscriber.
    pub(super) fn every(&self, notify: &mut impl FnMut(&S)) {
        for collection in self.collections.values() {
            collection.all.each(|member| notify(member));
            for root in collection.documents.values() {
                root.each(notify);
            }
        }
    }
}

impl<S> PlaceNode<S> {
    fn is_empty(&self) -> bool {
        self.members.is_empty() && self.below.is_empty()
    }

    fn add(&mut self, place: &[Segment], number: u64, subscriber: &Arc<S>) {
        let Some((first, rest)) = place.split_first() else {
            self.members.insert(number, subscriber.clone());
            return;
        };
        if self.below.get(first).is_none() {
            self.below.insert(first.clone(), Self::default());
        }
        if let Some(node) = self.below.get_mut(first) {
            node.add(rest, number, subscriber);
        }
    }

    fn remove(&mut self, place: &[Segment], number: u64) {
        let Some((first, rest)) = place.split_first() else {
            self.members.remove(&number);
            return;
        };
        if let Some(node) = self.below.get_mut(first) {
            node.remove(rest, number);
            if node.is_empty() {
                self.below.remove(first);
            }
        }
    }

    /// The subscribers at, above and below a place.
    fn each_at(&self, place: &[Segment], notify: &mut impl FnMut(&S)) {
        let mut node = self;
        for segment in place {
            node.members.each(|member| notify(member));
            match node.below.get(segment) {
                Some(below) => node = below,
                None => return,
            }
        }
        node.each(notify);
    }

    /// The subscribers at and below this place.
    fn each(&self, notify: &mut impl FnMut(&S)) {
        self.members.each(|member| notify(member));
        self.below.each(|below| below.each(notify));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::key::ChangeKind;

    fn change(id: Option<i64>, places: &[&[&str]]) -> LoggedChange {
        let place = |names: &&[&str]| {
            Place(
                names
                    .iter()
                    .map(|name| Segment::Key((*name).to_owned()))
                    .collect(),
            )
        };
        LoggedChange {
            collection: "c".to_owned(),
            kind: ChangeKind::Updated,
            id: id.map(DocumentId::Integer),
            places: places.iter().map(place).collect(),
            patch: None,
        }
    }

    #[test]
    fn subscribers_are_notified_exactly_of_changes_that_their_interest_includes() {
        let path = |text| Path::parse(text).expect("valid");
        let of = |id, text| Interest::in_path("c".to_owned(), DocumentId::Integer(id), &path(text));
        let interests = [
            Interest::in_collection("c".to_owned()),
            Interest::in_collection("d".to_owned()),
            of(1, ""),
            of(1, "/a"),
            of(1, "/a/b"),
            of(1, "/b/7/-1"),
            of(2, "/a/b"),
        ];
        let mut subscribers = Subscribers::default();
        let counts: Vec<_> = interests
            .iter()
            .map(|_| Arc::new(AtomicUsize::new(0)))
            .collect();
        for (number, interest) in interests.iter().enumerate() {
            subscribers.add(interest, number as u64, &counts[number]);
        }
        for change in [
            change(None, &[]),
            change(Some(1), &[&[]]),
            change(Some(1), &[&["a"]]),
            change(Some(1), &[&["a", "b", "c"]]),
            change(Some(1), &[&["b", "7", "x"]]),
            change(Some(1), &[&["c"]]),
            change(Some(2), &[&["a"], &["z"]]),
            change(Some(3), &[&[]]),
        ] {
            subscribers.each(&change, &mut |count: &AtomicUsize| {
                count.store(1, Relaxed);
            });
            for (count, interest) in counts.iter().zip(&interests) {
                let notified = count.swap(0, Relaxed) > 0;
                assert_eq!(
                    notified,
                    interest.includes(&change),
                    "{interest:?} {change:?}"
                );
            }
        }
        for (number, interest) in interests.iter().enumerate() {
            subscribers.remove(interest, number as u64);
        }
        assert!(subscribers.is_empty());
    }
}
