//! JSON Merge Patch (RFC 7396), applied to leaves.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::{BoxFuture, try_join};

use super::editor::Editor;
use super::editor::argument::leaves_of;
use super::editor::location::{CreatedParents, Location, Parent, Target, first_of};
use crate::budget::{Budget, Share, in_turns};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::document::leaf::Kind;
use crate::document::parse_merge_patch::MergePatch;
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Leaves;
use crate::limits::{LOOK_AHEAD_MAX, PORTION_STEPS_MAX, STEPS_PER_READ};
use crate::store::{Pairs, Read, Transaction};

/// Applies a merge patch at a place. Creates the document and missing parent objects. Missing arrays
/// are not created. A patch that is `null` stores null at the place. Returns whether the document changed.
///
/// # Errors
/// `INVALID_PATH`: the path leads through a scalar, or through an element that does not exist.
/// `BAD_USER_INPUT`, `TOO_LARGE`: a value of the patch cannot be stored. Errors of the store.
pub async fn merge(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
    patch: &MergePatch,
) -> Result<bool> {
    merge_if(transaction, budget, document, path, patch, |_, _| Ok(())).await
}

/// Applies a merge patch to a document that must exist, as [`merge`]. Returns whether the document changed.
///
/// # Errors
/// `NOT_FOUND`: the document does not exist. As [`merge`].
pub async fn merge_document(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    patch: &MergePatch,
) -> Result<bool> {
    let whole = Path::default();
    let exists = |editor: &Editor<'_>, target: &Target| match target {
        Target::Vacant(_) | Target::Orphan => Err(editor.nothing_at(&whole)),
        Target::Present(_) | Target::Unfit(_) => Ok(()),
    };
    merge_if(transaction, budget, document, &whole, patch, exists).await
}

/// As [`merge`], if the check of the target passes.
async fn merge_if(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
    patch: &MergePatch,
    check: impl Fn(&Editor<'_>, &Target) -> Result<()>,
) -> Result<bool> {
    let memory = budget.counted_share();
    let held = || memory.take(patch.held());
    budget.portion(steps_to_name(patch), held).await?;
    let (mut editor, target) = match patch {
        MergePatch::Members(_) => {
            let mut ahead = Vec::new();
            add_members(path, patch, &mut ahead);
            Editor::begin_above(transaction, budget, document, path, &ahead).await?
        }
        _ => Editor::begin(transaction, budget, document, path).await?,
    };
    check(&editor, &target)?;
    match target {
        Target::Present(location) => editor.merge_value(location, patch).await?,
        Target::Vacant(location) => {
            editor
                .put_new(&location, &alone(patch, budget).await?)
                .await?;
        }
        Target::Orphan => {
            let location = editor.below_missing(path, CreatedParents::Objects).await?;
            editor
                .put_new(&location, &alone(patch, budget).await?)
                .await?;
        }
        Target::Unfit(error) => return Err(error),
    }
    editor.finish().await
}

/// The steps to visit the members that a patch names, or more than a portion if there are many.
fn steps_to_name(patch: &MergePatch) -> u64 {
    let most = PORTION_STEPS_MAX / STEPS_PER_READ + 1;
    STEPS_PER_READ * patch.named(usize::try_from(most).unwrap_or(usize::MAX)) as u64
}

/// Adds the places that a patch names, up to the limit of one read-ahead.
fn add_members(path: &Path, patch: &MergePatch, places: &mut Vec<Path>) {
    let MergePatch::Members(members) = patch else {
        return;
    };
    for (name, member) in members {
        if places.len() >= LOOK_AHEAD_MAX {
            return;
        }
        let segment = Segment::Key(name.clone());
        let place = path.join(&Path::from(&Place(vec![segment])));
        places.push(place.clone());
        add_members(&place, member, places);
    }
}

/// The leaves of the result of a patch applied to no value.
pub(crate) async fn alone(patch: &MergePatch, budget: &Budget) -> Result<Leaves> {
    leaves_of(&patch.alone().unwrap_or("null".into()), budget).await
}

/// The stored values at the places that a merge patch names.
type Locations = HashMap<Place, Location>;

impl Editor<'_> {
    /// Applies a patch to an existing value.
    pub(crate) async fn merge_value(&mut self, at: Location, patch: &MergePatch) -> Result<()> {
        if let MergePatch::Members(_) = patch {
            return self.merge_at(at, patch).await;
        }
        let leaves = alone(patch, self.budget).await?;
        self.overwrite(&at, &leaves).await
    }

    /// Merges into an existing value. Reads all places that the patch names in one round.
    async fn merge_at(&mut self, at: Location, patch: &MergePatch) -> Result<()> {
        let memory = self.budget.counted_share();
        let named = || -> Result<_> {
            let mut named = Vec::new();
            self.places(&at.place, patch, &mut named, &memory)?;
            // For an object that is merged into, the patch depends only on its existence.
            let of_objects =
                |(_, patch): &(_, &MergePatch)| matches!(patch, MergePatch::Members(_));
            Ok(named.into_iter().partition::<Vec<_>, _>(of_objects))
        };
        let steps = steps_to_name(patch);
        let (merged, written) = self.budget.portion(steps, named).await?;
        let free = self.transaction.without_conflict();
        let (merged, mut locations) = try_join(
            values_at(free, merged, self.budget),
            values_at(self.transaction, written, self.budget),
        )
        .await?;
        let mut objects = in_turns(merged.values());
        while let Some(location) = objects.next().await {
            if location.first.is_empty() {
                self.transaction
                    .add_read_conflict(&location.key, &prefix_end(&location.key));
            } else {
                self.depend_on(&location.key);
            }
        }
        let extend = || locations.extend(merged);
        self.budget.portion(steps, extend).await;
        self.merge_object(at, patch, &locations).await
    }

    /// Collects the members that a patch names, below a place.
    fn places<'p>(
        &self,
        place: &Place,
        patch: &'p MergePatch,
        named: &mut Vec<(Location, &'p MergePatch)>,
        memory: &Share,
    ) -> Result<()> {
        let MergePatch::Members(members) = patch else {
            return Ok(());
        };
        for (name, member) in members {
            self.budget.spend(1)?;
            let place = place.child(Segment::Key(name.clone()));
            match self.document.place(&place) {
                Ok(key) => {
                    let location = Location::new(place.clone(), key, Pairs::default());
                    memory.take(held(&location))?;
                    named.push((location, member));
                    self.places(&place, member, named, memory)?;
                }
                // Nothing can be stored there, so there is nothing to remove.
                Err(error)
                    if error.kind() == ErrorKind::KeyTooLong
                        && matches!(member, MergePatch::Remove) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn merge_object<'a>(
        &'a mut self,
        at: Location,
        patch: &'a MergePatch,
        locations: &'a Locations,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let MergePatch::Members(members) = patch else {
                return Ok(());
            };
            if at.kind()? != Some(Kind::Object) {
                self.transaction
                    .add_read_conflict(&at.key, &prefix_end(&at.key));
                let leaves = alone(patch, self.budget).await?;
                return self.overwrite(&at, &leaves).await;
            }
            let mut object = Some(object(&at)?);
            let mut removed = false;
            let mut left = false;
            for (name, member) in members {
                self.budget.pace(1).await?;
                let place = at.place.child(Segment::Key(name.clone()));
                let Some(location) = locations.get(&place) else {
                    continue;
                };
                let present = !location.first.is_empty();
                match member {
                    MergePatch::Remove if present => {
                        self.clear_place(location).await?;
                        removed = true;
                    }
                    MergePatch::Remove => {}
                    MergePatch::Members(_) if present => {
                        self.merge_object(location.clone(), member, locations)
                            .await?;
                        left = true;
                    }
                    MergePatch::Put(text) if present => {
                        let leaves = leaves_of(text, self.budget).await?;
                        self.overwrite(location, &leaves).await?;
                        left = true;
                    }
                    MergePatch::Members(_) | MergePatch::Put(_) => {
                        // All new members depend on the same keys of the object.
                        if let Some(object) = object.take() {
                            self.extend(&object).await?;
                        }
                        let leaves = alone(member, self.budget).await?;
                        self.write_new(location, &leaves).await?;
                        left = true;
                    }
                }
            }
            if removed && !left {
                self.mark_if_empty(&at.key).await?;
            }
            Ok(())
        })
    }
}

/// The approximate memory of a place that a patch names, in bytes: in the list of the places,
/// in its copy by key range, and as an entry of [`Locations`] with its own place.
fn held(location: &Location) -> usize {
    let segments = location.place.0.len() * size_of::<Segment>();
    3 * size_of::<Location>() + 2 * segments + 4 * location.key.len()
}

/// An existing object as the parent of new members.
fn object(at: &Location) -> Result<Parent> {
    let (first, _) = at
        .first
        .first()
        .ok_or_else(|| Error::internal("an object without a pair"))?;
    let (marker, _) = crate::key::empty_marker(&at.key, Kind::Object);
    Ok(Parent {
        key: at.key.clone(),
        kind: Kind::Object,
        empty: first == marker,
        evidence: None,
    })
}

/// Reads the values at places of one document. The places are in key order.
async fn values_at(
    read: &dyn Read,
    named: Vec<(Location, &MergePatch)>,
    budget: &Budget,
) -> Result<Locations> {
    let steps = STEPS_PER_READ * named.len() as u64;
    let ends = || named.iter().map(|(location, _)| prefix_end(&location.key));
    let ends: Vec<_> = budget.portion(steps, || ends().collect()).await;
    let ranges = || {
        let bounds = named.iter().zip(&ends);
        bounds.map(|((location, _), end)| first_of(&location.key, end))
    };
    let ranges: Vec<_> = budget.portion(steps, || ranges().collect()).await;
    let found = read.ranges(&ranges).await;
    let located = || -> Result<Locations> {
        named
            .into_iter()
            .zip(found.into_batches())
            .map(|((location, _), first)| {
                let first = first?.pairs;
                Ok((location.place.clone(), Location { first, ..location }))
            })
            .collect()
    };
    budget.portion(steps, located).await
}
