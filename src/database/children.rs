//! Members of an object or elements of an array, one level down, a page at a time.

use std::sync::Arc;

use super::part::{Brought, Part};
use super::plan::covers;
use super::slice::malformed;
use super::{DocumentKey, end_of};
use crate::budget::Reservation;
use crate::document::assemble::Misshapen;
use crate::document::leaf::Kind;
use crate::document::path::{Place, Segment};
use crate::error::Result;
use crate::key::{Malformed, Marker, Step, append_segment, kind_at, step};
use crate::store::{Batch, Pairs, RangeRead, Read};

/// The least number of pairs to read at a time when children turn out to be large.
const BATCH_PAIRS_MIN: usize = 8;

/// One child.
#[derive(Clone, Debug)]
pub struct Child {
    /// The member's name or the element's index.
    pub segment: Segment,
    /// What kind of value it is.
    pub kind: Kind,
    /// What was read of it, whole or only its beginning.
    pub part: Part,
}

/// A page of children.
#[derive(Clone, Debug, Default)]
pub struct Children {
    /// In the order in which they are stored: members by name, elements by index.
    pub page: Vec<Child>,
    /// Whether there are more behind them.
    pub more: bool,
}

/// At most `first` children of the value at `place`, behind the child `after`. Reads about as much
/// as the page needs, however large the value is: past a large child it skips to the next one.
///
/// # Errors
/// `TOO_LARGE`: the place makes a key past the limit, or what was read is past the budget.
/// `INTERNAL`: damaged data. What the store fails with.
pub async fn children(
    read: &dyn Read,
    document: &Arc<DocumentKey>,
    place: &Place,
    after: Option<&Segment>,
    first: usize,
    memory: &Reservation,
) -> Result<Children> {
    let key = document.place(place)?;
    let end = end_of(&key);
    let mut begin = match after {
        Some(segment) => end_of(&below(&key, segment)),
        None => key.clone(),
    };
    let mut reading = Reading {
        document,
        place,
        key: &key,
        after,
        wanted: first,
        found: Children::default(),
    };
    let mut batch_pairs = (first + 1).max(2 * BATCH_PAIRS_MIN);
    let mut resumed = false;
    loop {
        let range = RangeRead {
            resumed,
            ..RangeRead::new(&begin, &end).at_most(batch_pairs)
        };
        let batch = read.range(range).await?;
        memory.hold(batch.pairs.bytes())?;
        let more = batch.more || batch.pairs.len() == batch_pairs;
        let before = reading.found.page.len();
        let last = reading.take(batch, more)?;
        let (Some(last), true, false) = (last, more, reading.found.more) else {
            return Ok(reading.found);
        };
        if reading.found.page.len() <= before + 1 {
            batch_pairs = (batch_pairs / 2).max(BATCH_PAIRS_MIN);
        }
        begin = end_of(&below(&key, &last));
        resumed = true;
    }
}

fn below(key: &[u8], segment: &Segment) -> Vec<u8> {
    let mut key = key.to_vec();
    append_segment(&mut key, segment.as_ref());
    key
}

struct Reading<'a> {
    document: &'a Arc<DocumentKey>,
    place: &'a Place,
    key: &'a [u8],
    after: Option<&'a Segment>,
    wanted: usize,
    found: Children,
}

impl Reading<'_> {
    /// Takes the children that a batch begins with or goes on with. Returns the last one, which
    /// may not be whole if there is more to read.
    fn take(&mut self, batch: Batch, more: bool) -> Result<Option<Segment>> {
        let pairs: Arc<Pairs> = Arc::new(batch.pairs);
        let mut last: Option<(Segment, Vec<u8>)> = None;
        for at in 0..pairs.len() {
            let (key, value) = pairs.get(at);
            if last.as_ref().is_some_and(|(_, child)| covers(child, key)) {
                continue;
            }
            let Some(segment) = self.segment(key)? else {
                self.check_childless(key, &pairs)?;
                return Ok(None);
            };
            self.check_follows(&segment)
                .map_err(|misshapen| malformed(misshapen.into(), key))?;
            if self.found.page.len() == self.wanted {
                self.found.more = true;
                return Ok(None);
            }
            let child = below(self.key, &segment);
            let kind =
                kind_at(&key[child.len()..], value).map_err(|error| malformed(error, key))?;
            self.push(segment.clone(), kind, &child, &pairs, more);
            last = Some((segment, child));
        }
        Ok(last.map(|(segment, _)| segment))
    }

    /// The child that a key belongs to; none if it is the value itself, which has no children.
    fn segment(&self, key: &[u8]) -> Result<Option<Segment>> {
        let relative = &key[self.key.len()..];
        if relative.is_empty() {
            return Ok(None);
        }
        match step(relative) {
            Some((Step::Key(name), _)) => Ok(Some(Segment::Key(name.into_owned()))),
            Some((Step::Index(index), _)) => Ok(Some(Segment::Index(index))),
            Some((Step::Marker(_), _)) => Ok(None),
            None => Err(malformed(Malformed::Segment, key)),
        }
    }

    /// Nothing but the pieces of a split string stands beside what has no children.
    fn check_childless(&self, key: &[u8], pairs: &Pairs) -> Result<()> {
        let relative = &key[self.key.len()..];
        let split = matches!(step(relative), Some((Step::Marker(Marker::Piece), _)));
        if self.found.page.is_empty() && (split || pairs.len() == 1) {
            return Ok(());
        }
        Err(malformed(Misshapen::LeafWithChildren.into(), key))
    }

    /// An element stands behind the one before it, and not among members.
    fn check_follows(&self, segment: &Segment) -> Result<(), Misshapen> {
        let Segment::Index(index) = segment else {
            return Ok(());
        };
        let before = self.found.page.last().map(|child| &child.segment);
        let expected = match (before, self.after) {
            (Some(Segment::Key(_)), _) => return Err(Misshapen::MixedSegments),
            (Some(Segment::Index(before)), _) | (None, Some(Segment::Index(before))) => {
                before.saturating_add(1)
            }
            (None, _) => 0,
        };
        if *index == expected {
            Ok(())
        } else {
            Err(Misshapen::Hole)
        }
    }

    fn push(&mut self, segment: Segment, kind: Kind, key: &[u8], pairs: &Arc<Pairs>, more: bool) {
        // Only what stands before the end of the batch is known to be whole.
        let end = end_of(key);
        let whole = !more || pairs.last().is_some_and(|(last, _)| last >= &end[..]);
        let place = self.place.child(segment.clone());
        let all = Brought {
            pairs: pairs.clone(),
            range: 0..pairs.len(),
            whole,
        };
        let part = Part::of(self.document.clone(), place, key.len(), all.below(key));
        if let Some(part) = part {
            self.found.page.push(Child {
                segment,
                kind,
                part,
            });
        }
    }
}
