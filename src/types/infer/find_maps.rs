//! Finds the objects that are maps: their names are data.
//!
//! Three observations make a map of an object with several names. No name is in most of the objects, as with
//! the codes of the currencies of countries. Or most names are no identifiers. Or the values are objects that
//! look alike, as the translations of a name do, or very many objects. Where that is so only of the names that
//! are in few objects, they are the map, and the others remain properties.

use std::collections::{BTreeMap, BTreeSet};

use super::graphql_names::is_name;
use super::sketch::{Sketch, SketchId, Sketches};
use crate::budget::Steps;
use crate::error::Result;
use crate::types::shape::Kinds;

/// The number of names from which an object may be a map.
const NAMES_MIN: usize = 8;
/// The number of names of objects from which an object is a map.
const NAMES_OF_OBJECTS_MIN: usize = 24;

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
            sketches.fold(id, |name| folded.contains(name), steps)?;
        }
        pending.extend(sketches.inside(id));
    }
    Ok(())
}

fn names_to_fold(sketches: &Sketches, id: SketchId, steps: &Steps<'_>) -> Result<BTreeSet<String>> {
    let sketch = sketches.get(id);
    let is_rare = |it: SketchId| 2 * sketches.get(it).values < sketch.objects;
    let all = ChosenMembers::of(sketch, |_| true);
    let rare = ChosenMembers::of(sketch, is_rare);
    let no_name_is_frequent = rare.names.len() == all.names.len();
    for (members, are_data) in [(rare, no_name_is_frequent), (all, false)] {
        if members.names.len() >= NAMES_MIN && members.are_map(sketches, are_data, steps)? {
            return Ok(members.names.into_iter().cloned().collect());
        }
    }
    Ok(BTreeSet::new())
}

/// Some members of the objects at a place.
struct ChosenMembers<'s> {
    names: Vec<&'s String>,
    values: Vec<SketchId>,
}

impl<'s> ChosenMembers<'s> {
    fn of(sketch: &'s Sketch, chosen: impl Fn(SketchId) -> bool) -> Self {
        let members = sketch.members.iter().filter(|(_, member)| chosen(**member));
        let (names, values) = members.unzip();
        Self { names, values }
    }

    /// Whether they are a map. `are_data` if that is known of their names.
    fn are_map(&self, sketches: &Sketches, are_data: bool, steps: &Steps<'_>) -> Result<bool> {
        let others = self.names.iter().filter(|name| !is_name(name)).count();
        let values = || self.values.iter().map(|id| sketches.get(*id));
        let are_many =
            self.values.len() >= NAMES_OF_OBJECTS_MIN && values().all(|it| it.objects > 0);
        if (are_data || are_many || others * 2 > self.names.len()) && have_one_kind(values()) {
            return Ok(true);
        }
        look_alike(sketches, values(), steps)
    }
}

/// Whether the values are of one kind, besides null.
fn have_one_kind<'s>(values: impl Iterator<Item = &'s Sketch>) -> bool {
    const SINGLE: [Kinds; 5] = [
        Kinds::OBJECT,
        Kinds::ARRAY,
        Kinds::STRING,
        Kinds::NUMBER,
        Kinds::BOOLEAN,
    ];
    let kinds = values
        .fold(Kinds::NONE, |kinds, value| kinds.with(value.kinds))
        .without(Kinds::NULL);
    SINGLE.iter().any(|single| single.has(kinds))
}

/// Whether the values are objects, or arrays of objects, and most of their members are in most of them.
fn look_alike<'s>(
    sketches: &'s Sketches,
    values: impl Iterator<Item = &'s Sketch>,
    steps: &Steps<'_>,
) -> Result<bool> {
    const CONTAINERS: Kinds = Kinds::OBJECT.with(Kinds::ARRAY).with(Kinds::NULL);
    let mut found: BTreeMap<&String, usize> = BTreeMap::new();
    let mut objects = 0;
    for value in values {
        if !CONTAINERS.has(value.kinds) {
            return Ok(false);
        }
        let object = match value.items {
            Some(items) if value.objects == 0 => sketches.get(items),
            _ => value,
        };
        steps.spend(1 + object.members.len() as u64)?;
        objects += 1;
        for name in object.members.keys() {
            *found.entry(name).or_default() += 1;
        }
    }
    let members: usize = found.values().sum();
    let shared: usize = found.values().filter(|count| **count * 2 >= objects).sum();
    Ok(members > 0 && shared * 2 >= members)
}
