//! Finds the objects that are maps: their names are data.
//!
//! Two observations make a map. Most names are rare, as the codes of the currencies of countries are: then
//! the rare ones are folded, and names that most objects have remain properties. Or all values look alike,
//! as the translations of a name do.

use std::collections::BTreeSet;

use super::graphql_names::is_name;
use super::sketch::{Sketch, SketchId, Sketches};
use crate::budget::Steps;
use crate::error::Result;
use crate::types::shape::Kinds;

/// The number of names from which an object may be a map.
const NAMES_MIN: usize = 8;

/// Folds the members of all objects that are maps.
///
/// # Errors
/// As [`Steps::spend`].
pub(super) fn fold_maps(sketches: &mut Sketches, steps: &Steps<'_>) -> Result<()> {
    let mut pending = vec![SketchId::ROOT];
    while let Some(id) = pending.pop() {
        steps.spend(1 + sketches.get(id).members.len() as u64)?;
        let folded = names_to_fold(sketches, id, steps)?;
        if !folded.is_empty() {
            sketches.fold(id, |name| folded.contains(name))?;
        }
        let sketch = sketches.get(id);
        pending.extend(sketch.members.values().copied());
        pending.extend(sketch.map.into_iter().chain(sketch.items));
    }
    Ok(())
}

fn names_to_fold(sketches: &Sketches, id: SketchId, steps: &Steps<'_>) -> Result<BTreeSet<String>> {
    let sketch = sketches.get(id);
    let names = |frequent: bool| {
        let is_frequent = |it: SketchId| 2 * sketches.get(it).values >= sketch.objects;
        let members = sketch.members.iter();
        members
            .filter(move |(_, member)| frequent || !is_frequent(**member))
            .map(|(name, member)| (name, *member))
    };
    let rare: Vec<_> = names(false).collect();
    if rare.len() >= NAMES_MIN && have_one_kind(sketches, rare.iter().map(|it| it.1)) {
        return Ok(rare.into_iter().map(|(name, _)| name.clone()).collect());
    }
    let all: Vec<_> = names(true).collect();
    if all.len() < NAMES_MIN || !have_one_kind(sketches, all.iter().map(|it| it.1)) {
        return Ok(BTreeSet::new());
    }
    let are_values = all.iter().filter(|(name, _)| !is_name(name)).count() * 2 > all.len();
    let members: Vec<SketchId> = all.iter().map(|it| it.1).collect();
    if are_values || look_alike(sketches, &members, steps)? {
        return Ok(all.into_iter().map(|(name, _)| name.clone()).collect());
    }
    Ok(BTreeSet::new())
}

/// Whether the values are of one kind, besides null.
fn have_one_kind(sketches: &Sketches, members: impl Iterator<Item = SketchId>) -> bool {
    const SINGLE: [Kinds; 5] = [
        Kinds::OBJECT,
        Kinds::ARRAY,
        Kinds::STRING,
        Kinds::NUMBER,
        Kinds::BOOLEAN,
    ];
    let kinds = members.map(|it| sketches.get(it).kinds);
    let kinds = kinds.fold(Kinds::NONE, Kinds::with).without(Kinds::NULL);
    SINGLE.iter().any(|single| single.has(kinds))
}

/// Whether the values are objects, or arrays of objects, that have mostly the same members.
fn look_alike(sketches: &Sketches, members: &[SketchId], steps: &Steps<'_>) -> Result<bool> {
    let objects: Vec<&Sketch> = members
        .iter()
        .map(|id| {
            let sketch = sketches.get(*id);
            sketch.items.map_or(sketch, |items| sketches.get(items))
        })
        .collect();
    let counted: usize = objects.iter().map(|it| it.members.len()).sum();
    steps.spend(counted as u64)?;
    let different: BTreeSet<&String> = objects.iter().flat_map(|it| it.members.keys()).collect();
    Ok(counted * 5 >= different.len() * objects.len() * 2 && counted > 0)
}
