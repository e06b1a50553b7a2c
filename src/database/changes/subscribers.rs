//! The subscribers of a process, in the order of what they want to know of.
//!
//! The key of a subscriber is a collection, a document and a place, encoded as in the keys of
//! documents, then `0x00` and its number: number 1 at `/a` of document 7 in `c` is
//! `02 63 00 | 15 07 | 02 61 00 | 00 | 00 00 00 00 00 00 00 01`. No element begins with `0x00`, so
//! the subscribers at a place come before those below it, and each of both is a range. A walk over a
//! range can stop after any subscriber and resume there. So the lock of the subscribers is held for
//! a bounded number of them, however many there are.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use super::interest::Interest;
use crate::budget::turn;
use crate::document::path::SegmentRef;
use crate::key::{LoggedChange, append_id, append_place, append_segment};

/// The most subscribers that are visited while they are locked.
pub(super) const VISITED_AT_ONCE: usize = 64;

/// Follows the place in the key of a subscriber.
const NUMBER: u8 = 0x00;
/// Is larger than the first byte of every element.
const END: u8 = 0xFF;

/// Subscribers, by what they want to know of.
pub(super) struct Subscribers<S>(BTreeMap<Box<[u8]>, Arc<S>>);

/// A range of keys of subscribers.
#[derive(Debug)]
pub(super) struct SubscriberRange {
    begin: Vec<u8>,
    /// Exclusive.
    end: Vec<u8>,
}

/// A walk over the subscribers that the changes of several commits concern. It visits the
/// subscribers of a place once, for the first change that concerns them.
#[derive(Default)]
pub(super) struct SubscriberWalk {
    /// The beginnings of the ranges that were visited and are not empty.
    visited: HashSet<Vec<u8>>,
}

impl<S> Default for Subscribers<S> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<S> Subscribers<S> {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a subscriber with a unique number.
    pub(super) fn add(&mut self, interest: &Interest, number: u64, subscriber: &Arc<S>) {
        for key in keys(interest, number) {
            self.0.insert(key, subscriber.clone());
        }
    }

    /// Removes a subscriber.
    pub(super) fn remove(&mut self, interest: &Interest, number: u64) {
        for key in keys(interest, number) {
            self.0.remove(&key);
        }
    }

    /// All subscribers, some of them more than once.
    pub(super) fn into_all(self) -> impl Iterator<Item = Arc<S>> {
        self.0.into_values()
    }

    /// The first subscribers of a range, at most so many. They are taken out of the range.
    pub(super) fn first(&self, range: &mut SubscriberRange, most: usize) -> Vec<Arc<S>> {
        let (begin, end) = (range.begin.as_slice(), range.end.as_slice());
        let keys = (Bound::Included(begin), Bound::Excluded(end));
        let mut found = Vec::new();
        let mut last = None;
        for (key, subscriber) in self.0.range::<[u8], _>(keys).take(most) {
            found.push(subscriber.clone());
            last = Some(key);
        }
        match last {
            Some(last) if found.len() == most => {
                range.begin.clear();
                range.begin.extend_from_slice(last);
                // The smallest key after it.
                range.begin.push(0);
            }
            _ => range.begin.clone_from(&range.end),
        }
        found
    }
}

/// The keys of a subscriber, one for each of its places.
fn keys(interest: &Interest, number: u64) -> impl Iterator<Item = Box<[u8]>> {
    let above = match &interest.id {
        None => collection_key(&interest.collection),
        Some(id) => {
            let mut key = collection_key(&interest.collection);
            append_id(&mut key, id);
            key
        }
    };
    interest.places.iter().map(move |place| {
        let mut key = above.clone();
        append_place(&mut key, place);
        key.push(NUMBER);
        key.extend_from_slice(&number.to_be_bytes());
        key.into()
    })
}

fn collection_key(collection: &str) -> Vec<u8> {
    let mut key = Vec::new();
    append_segment(&mut key, SegmentRef::Key(collection));
    key
}

impl SubscriberRange {
    /// The subscribers at a place.
    fn at(place: &[u8]) -> Self {
        Self {
            begin: [place, &[NUMBER]].concat(),
            end: [place, &[NUMBER + 1]].concat(),
        }
    }

    /// The subscribers at a place and below it.
    fn at_and_below(place: &[u8]) -> Self {
        Self {
            begin: place.to_vec(),
            end: [place, &[END]].concat(),
        }
    }

    fn is_empty(&self) -> bool {
        self.begin >= self.end
    }
}

impl SubscriberWalk {
    /// Calls `visit` with each subscriber that a change concerns and that was not visited for the
    /// same reason. `first` is [`Subscribers::first`] of the subscribers, which it locks meanwhile.
    /// Yields to the scheduler between two calls of it.
    pub(super) async fn visit<S>(
        &mut self,
        change: &LoggedChange,
        first: impl Fn(&mut SubscriberRange, usize) -> Vec<Arc<S>>,
        mut visit: impl FnMut(&S),
    ) {
        turn().await;
        let mut key = collection_key(&change.collection);
        let Some(id) = &change.id else {
            let all = SubscriberRange::at_and_below(&key);
            return self.visit_range(all, &first, &mut visit).await;
        };
        let all = SubscriberRange::at(&key);
        self.visit_range(all, &first, &mut visit).await;
        append_id(&mut key, id);
        // Most documents have no subscribers, which one lookup finds out.
        if first(&mut SubscriberRange::at_and_below(&key), 1).is_empty() {
            return;
        }
        for place in &change.places {
            let mut key = key.clone();
            for segment in &place.0 {
                let above = SubscriberRange::at(&key);
                self.visit_range(above, &first, &mut visit).await;
                append_segment(&mut key, segment.as_ref());
            }
            let below = SubscriberRange::at_and_below(&key);
            self.visit_range(below, &first, &mut visit).await;
        }
    }

    async fn visit_range<S>(
        &mut self,
        mut range: SubscriberRange,
        first: &impl Fn(&mut SubscriberRange, usize) -> Vec<Arc<S>>,
        visit: &mut impl FnMut(&S),
    ) {
        if self.visited.contains(&range.begin) {
            return;
        }
        let begin = range.begin.clone();
        let mut any = false;
        while !range.is_empty() {
            turn().await;
            let subscribers = first(&mut range, VISITED_AT_ONCE);
            any |= !subscribers.is_empty();
            for subscriber in &subscribers {
                visit(subscriber);
            }
        }
        if any {
            self.visited.insert(begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::document::id::DocumentId;
    use crate::document::path::{Path, Place, Segment};
    use crate::key::ChangeKind;

    type Counts = Vec<Arc<AtomicUsize>>;

    fn change(id: Option<DocumentId>, places: &[&[&str]]) -> LoggedChange {
        let segment = |name: &&str| Segment::Key((*name).to_owned());
        let place = |names: &&[&str]| Place(names.iter().map(segment).collect());
        LoggedChange {
            collection: "c".to_owned(),
            kind: ChangeKind::Updated,
            id,
            places: places.iter().map(place).collect(),
            patch: None,
        }
    }

    fn integer(id: i64) -> DocumentId {
        DocumentId::Integer(id)
    }

    fn of(id: i64, path: &str) -> Interest {
        let path = Path::parse(path).expect("valid");
        Interest::in_path("c".to_owned(), DocumentId::Integer(id), &path)
    }

    fn in_collection(name: &str) -> Interest {
        Interest::in_collection(name.to_owned())
    }

    /// Subscribers with these interests, and how often each was visited.
    fn subscribers(interests: &[Interest]) -> (Subscribers<AtomicUsize>, Counts) {
        let mut subscribers = Subscribers::default();
        let add = |(number, interest): (usize, &Interest)| {
            let count = Arc::default();
            subscribers.add(interest, number as u64, &count);
            count
        };
        let counts = interests.iter().enumerate().map(add).collect();
        (subscribers, counts)
    }

    /// Visits what the changes of a walk concern. Returns the number of visits, and of times that
    /// the subscribers were locked.
    async fn visits(
        subscribers: &Subscribers<AtomicUsize>,
        changes: &[LoggedChange],
    ) -> (usize, usize) {
        let (visits, locks) = (Cell::new(0), Cell::new(0));
        let mut walk = SubscriberWalk::default();
        for change in changes {
            let first = |range: &mut SubscriberRange, most| {
                assert!(most <= VISITED_AT_ONCE);
                locks.set(locks.get() + 1);
                let first = subscribers.first(range, most);
                assert!(first.len() <= most);
                first
            };
            walk.visit(change, first, |count| {
                count.fetch_add(1, Relaxed);
                visits.set(visits.get() + 1);
            })
            .await;
        }
        (visits.get(), locks.get())
    }

    #[tokio::test]
    async fn exactly_those_are_visited_whose_interest_includes_the_change() {
        let interests = [
            in_collection("c"),
            in_collection("c\0"),
            in_collection("d"),
            of(1, ""),
            of(1, "/a"),
            of(1, "/a/b"),
            of(1, "/b/7/-1"),
            of(2, "/a/b"),
            of(-1, ""),
        ];
        let (mut subscribers, counts) = subscribers(&interests);
        for change in [
            change(None, &[]),
            change(Some(integer(1)), &[&[]]),
            change(Some(integer(1)), &[&["a"]]),
            change(Some(integer(1)), &[&["a", "b", "c"]]),
            change(Some(integer(1)), &[&["b", "7", "x"]]),
            change(Some(integer(1)), &[&["c"]]),
            change(Some(integer(2)), &[&["a"], &["z"]]),
            change(Some(integer(3)), &[&[]]),
            change(Some(integer(-1)), &[&["\0"]]),
            change(Some(DocumentId::Text("1".to_owned())), &[&[]]),
        ] {
            visits(&subscribers, std::slice::from_ref(&change)).await;
            for (count, interest) in counts.iter().zip(&interests) {
                let visited = count.swap(0, Relaxed) > 0;
                assert_eq!(
                    visited,
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

    #[tokio::test]
    async fn the_work_is_the_sum_of_changes_and_subscribers() {
        const SUBSCRIBERS: usize = 1_000;
        const CHANGES: usize = 500;
        let interests: Vec<_> = (0..SUBSCRIBERS)
            .flat_map(|_| [in_collection("c"), of(1, ""), of(1, "/a/b")])
            .collect();
        let (subscribers, counts) = subscribers(&interests);
        let changes: Vec<_> = (0..CHANGES)
            .flat_map(|number| {
                let other = i64::try_from(number).expect("a small number") + 2;
                [
                    change(Some(integer(1)), &[&["a", "b", "c"]]),
                    change(Some(integer(other)), &[&[]]),
                ]
            })
            .collect();
        let (visits, locks) = visits(&subscribers, &changes).await;
        assert_eq!(visits, 3 * SUBSCRIBERS);
        let pieces = 3 * SUBSCRIBERS.div_ceil(VISITED_AT_ONCE);
        // One lookup for the document of each change, and one for each place that has no subscribers.
        let lookups = 3 * changes.len();
        assert!(locks <= pieces + lookups, "{locks} locks");
        assert!(counts.iter().all(|count| count.load(Relaxed) == 1));
    }
}
