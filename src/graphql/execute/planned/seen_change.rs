//! A change as a subscriber sees it.

use std::borrow::Cow;

use crate::budget::Budget;
use crate::database::FollowedChange;
use crate::document::json::{Event, Reader};
use crate::document::path::Place;
use crate::error::{Error, Result};
use crate::key::{ChangeKind, LoggedChange};
use crate::limits::JSON_BYTES_PER_STEP;

/// A change, and the places of the document that its subscriber may see.
#[derive(Clone, Copy)]
pub(crate) struct SeenChange<'g> {
    pub(crate) followed: &'g FollowedChange,
    /// None for all. Otherwise the change is of one document.
    pub(crate) places: Option<&'g [Place]>,
}

impl<'g> SeenChange<'g> {
    /// What the log has of the change.
    pub(crate) fn logged(self) -> &'g LoggedChange {
        &self.followed.commit.changes[self.followed.change]
    }

    /// What happened. A subscriber of a part of a document is not told that the document exists.
    pub(crate) fn kind(self) -> ChangeKind {
        match (self.logged().kind, self.places) {
            (ChangeKind::Created | ChangeKind::Deleted, Some(_)) => ChangeKind::Updated,
            (kind, _) => kind,
        }
    }

    /// Whether the subscriber must read the current state.
    pub(crate) fn needs_resync(self) -> bool {
        self.logged().needs_resync() || self.is_above()
    }

    /// The places that changed, as far as the subscriber sees them.
    pub(crate) fn changed_places(self) -> Cow<'g, [Place]> {
        let changed = &self.logged().places;
        let Some(seen) = self.places else {
            return Cow::Borrowed(changed);
        };
        let mut places: Vec<Place> = Vec::new();
        for changed in changed {
            for seen in seen {
                let place = if changed.0.starts_with(&seen.0) {
                    changed
                } else if seen.0.starts_with(&changed.0) {
                    seen
                } else {
                    continue;
                };
                if !places.contains(place) {
                    places.push(place.clone());
                }
            }
        }
        Cow::Owned(places)
    }

    /// The edits as a JSON Patch, as far as the subscriber sees them. None if they are not known.
    ///
    /// # Errors
    /// As [`ChangePatch::read`](crate::database::ChangePatch::read).
    pub(crate) async fn patch(self, budget: &Budget) -> Result<Option<Vec<u8>>> {
        if self.is_above() {
            return Ok(None);
        }
        let patch = self.followed.patch.read(budget).await?;
        match (patch, self.places) {
            (Some(patch), Some(seen)) => {
                let cut = budget.compute(|steps| {
                    steps.spend(1 + patch.len() as u64 / JSON_BYTES_PER_STEP)?;
                    cut(&patch, seen)
                });
                cut.await.map(Some)
            }
            (patch, _) => Ok(patch),
        }
    }

    /// Whether the change is of a place above one that the subscriber sees, so that its edits have more
    /// than the subscriber sees.
    fn is_above(self) -> bool {
        let Some(seen) = self.places else {
            return false;
        };
        let is_above = |changed: &Place| {
            let mut seen = seen.iter();
            seen.any(|seen| seen.0.len() > changed.0.len() && seen.0.starts_with(&changed.0))
        };
        self.logged().places.iter().any(is_above)
    }
}

/// The operations of a patch at or below these places.
fn cut(patch: &[u8], seen: &[Place]) -> Result<Vec<u8>> {
    let malformed = || Error::internal("a patch in the change log is malformed");
    let seen: Vec<String> = seen.iter().map(Place::to_string).collect();
    let is_seen = |path: &str| {
        let mut seen = seen.iter();
        seen.any(|seen| {
            let below = path.strip_prefix(&**seen);
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    };
    let text = std::str::from_utf8(patch).map_err(|_| malformed())?;
    let mut reader = Reader::new(text, usize::MAX);
    if !matches!(reader.next(), Ok(Event::BeginArray)) {
        return Err(malformed());
    }
    let mut kept = Vec::new();
    while let Some(operation) = reader.next_element().map_err(|_| malformed())? {
        let path = path_of(operation).ok_or_else(malformed)?;
        if is_seen(&path) {
            kept.push(operation);
        }
    }
    Ok(format!("[{}]", kept.join(",")).into_bytes())
}

/// The member `path` of an operation. None if there is none.
fn path_of(operation: &str) -> Option<Cow<'_, str>> {
    let mut reader = Reader::new(operation, usize::MAX);
    if !matches!(reader.next(), Ok(Event::BeginObject)) {
        return None;
    }
    let mut found = None;
    while let Some((name, value)) = reader.next_member().ok()? {
        // An operation that reads another place is not known to be cut.
        if name == "from" {
            return None;
        }
        if name == "path" {
            let Ok(Event::String(path)) = Reader::new(value, 1).next() else {
                return None;
            };
            found = Some(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::path::Segment;

    #[test]
    fn operations_elsewhere_are_cut() {
        let patch = br#"[{"op":"add","path":"/a/b","value":1},{"op":"remove","path":"/ab"},
            {"op":"replace","path":"/a","value":{"path":"/c"}},{"op":"remove","path":"/c/a"}]"#;
        let seen = [Place(vec![Segment::Key("a".to_owned())])];
        let cut = cut(patch, &seen).expect("a patch");
        let expected = r#"[{"op":"add","path":"/a/b","value":1},{"op":"replace","path":"/a","value":{"path":"/c"}}]"#;
        assert_eq!(String::from_utf8_lossy(&cut), expected);
    }
}
