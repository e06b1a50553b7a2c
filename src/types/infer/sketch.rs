//! What the values at each place of the documents have in common.

use std::collections::{BTreeMap, BTreeSet};

use crate::budget::Steps;
use crate::document::leaf::{Kind, Leaf};
use crate::error::{Error, Limit, Result};
use crate::limits::{INFERRED_NAME_BYTES_MAX, INFERRED_NAMES_MAX, INFERRED_PLACES_MAX};
use crate::types::shape::{Format, Kinds};

/// Different strings that a sketch keeps. With more, the place has no `enum`.
pub(super) const STRINGS_MAX: usize = 16;
/// Bytes of a string that is kept.
const STRING_BYTES_MAX: usize = 40;

/// The number of a [`Sketch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SketchId(u32);

impl SketchId {
    /// The whole documents.
    pub(super) const ROOT: Self = Self(0);

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What the values at one place have in common.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    /// The number of values.
    pub(super) values: u64,
    /// Their kinds.
    pub(super) kinds: Kinds,
    /// The number of objects.
    pub(super) objects: u64,
    /// The members, by name.
    pub(super) members: BTreeMap<String, SketchId>,
    /// The values of all members, if the objects have too many names.
    pub(super) map: Option<SketchId>,
    /// The elements of arrays.
    pub(super) items: Option<SketchId>,
    /// The number of arrays, and their shortest and longest length.
    pub(super) arrays: u64,
    pub(super) lengths: Option<(u64, u64)>,
    /// The number of strings, and the different ones. None if there are many or long ones.
    pub(super) strings: u64,
    pub(super) different: Option<BTreeSet<String>>,
    /// The formats that all strings have.
    pub(super) formats: Vec<Format>,
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            values: 0,
            kinds: Kinds::NONE,
            objects: 0,
            members: BTreeMap::new(),
            map: None,
            items: None,
            arrays: 0,
            lengths: None,
            strings: 0,
            different: Some(BTreeSet::new()),
            formats: Format::NAMED.map(|(_, format)| format).to_vec(),
        }
    }
}

/// Whether a string may be meant to have a format. Many texts with a colon are URIs only by chance.
fn suggests(format: Format, text: &str) -> bool {
    format.accepts(text) && (format != Format::Uri || text.contains("://"))
}

/// The sketches of all places.
pub(super) struct Sketches(Vec<Sketch>);

impl Sketches {
    pub(super) fn new() -> Self {
        Self(vec![Sketch::default()])
    }

    pub(super) fn get(&self, id: SketchId) -> &Sketch {
        &self.0[id.index()]
    }

    /// The places right below one.
    pub(super) fn inside(&self, id: SketchId) -> impl Iterator<Item = SketchId> {
        let sketch = self.get(id);
        let members = sketch.members.values().copied();
        members.chain(sketch.map).chain(sketch.items)
    }

    fn at(&mut self, id: SketchId) -> &mut Sketch {
        &mut self.0[id.index()]
    }

    fn add(&mut self) -> Result<SketchId> {
        if self.0.len() >= INFERRED_PLACES_MAX {
            return Err(Error::too_complex(
                Limit::new("inferredPlaces", INFERRED_PLACES_MAX),
                format!(
                    "the documents have more than {INFERRED_PLACES_MAX} different places, which is the \
                     limit: their type has to be written by hand"
                ),
            ));
        }
        let id = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.push(Sketch::default());
        Ok(SketchId(id))
    }

    /// Counts an object or array at a place.
    pub(super) fn count(&mut self, id: SketchId, kind: Kind) {
        let sketch = self.at(id);
        sketch.values += 1;
        sketch.kinds = sketch.kinds.with(Kinds::of_kind(kind));
        match kind {
            Kind::Array => sketch.arrays += 1,
            _ => sketch.objects += 1,
        }
    }

    /// Counts the length of an array at a place.
    pub(super) fn length(&mut self, id: SketchId, length: u64) {
        let lengths = &mut self.at(id).lengths;
        let (min, max) = lengths.unwrap_or((length, length));
        *lengths = Some((min.min(length), max.max(length)));
    }

    /// Counts a leaf at a place.
    pub(super) fn leaf(&mut self, id: SketchId, leaf: &Leaf<'_>) {
        let sketch = self.at(id);
        sketch.values += 1;
        sketch.kinds = sketch.kinds.with(Kinds::of_leaf(leaf));
        if let Leaf::String(text) = leaf {
            sketch.strings += 1;
            sketch.formats.retain(|format| suggests(*format, text));
            let Some(different) = &mut sketch.different else {
                return;
            };
            if text.len() > STRING_BYTES_MAX {
                sketch.different = None;
            } else if !different.contains(&**text) {
                different.insert(text.clone().into_owned());
                if different.len() > STRINGS_MAX {
                    sketch.different = None;
                }
            }
        }
    }

    /// The elements of the arrays at a place.
    pub(super) fn items(&mut self, id: SketchId) -> Result<SketchId> {
        if let Some(items) = self.get(id).items {
            return Ok(items);
        }
        let items = self.add()?;
        self.at(id).items = Some(items);
        Ok(items)
    }

    /// A member of the objects at a place. Objects with many names, or with a long one, are maps.
    pub(super) fn member(
        &mut self,
        id: SketchId,
        name: &str,
        steps: &Steps<'_>,
    ) -> Result<SketchId> {
        let sketch = self.get(id);
        if let Some(known) = sketch.members.get(name).copied().or(sketch.map) {
            return Ok(known);
        }
        if sketch.members.len() >= INFERRED_NAMES_MAX || name.len() > INFERRED_NAME_BYTES_MAX {
            return self.fold(id, |_| true, steps);
        }
        let member = self.add()?;
        self.at(id).members.insert(name.to_owned(), member);
        Ok(member)
    }

    /// Merges the members whose names are chosen into one sketch, that of the values of a map.
    pub(super) fn fold(
        &mut self,
        id: SketchId,
        mut chosen: impl FnMut(&str) -> bool,
        steps: &Steps<'_>,
    ) -> Result<SketchId> {
        let map = match self.get(id).map {
            Some(map) => map,
            None => self.add()?,
        };
        self.at(id).map = Some(map);
        let members = std::mem::take(&mut self.at(id).members);
        let (folded, kept) = members.into_iter().partition(|(name, _)| chosen(name));
        self.at(id).members = kept;
        let folded: BTreeMap<String, SketchId> = folded;
        for member in folded.into_values() {
            self.merge(map, member, steps)?;
        }
        Ok(map)
    }

    /// Adds the values of `other` to those of `id`. Nothing refers to `other` afterwards.
    fn merge(&mut self, id: SketchId, other: SketchId, steps: &Steps<'_>) -> Result<()> {
        steps.spend(1)?;
        let other = std::mem::take(self.at(other));
        let sketch = self.at(id);
        sketch.values += other.values;
        sketch.kinds = sketch.kinds.with(other.kinds);
        sketch.objects += other.objects;
        sketch.arrays += other.arrays;
        sketch.strings += other.strings;
        sketch.lengths = match (sketch.lengths, other.lengths) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, two) => one.or(two),
        };
        sketch.formats.retain(|it| other.formats.contains(it));
        sketch.different = match (sketch.different.take(), other.different) {
            (Some(mut one), Some(two)) => {
                one.extend(two);
                (one.len() <= STRINGS_MAX).then_some(one)
            }
            _ => None,
        };
        if let Some(items) = other.items {
            let into = self.items(id)?;
            self.merge(into, items, steps)?;
        }
        if let Some(map) = other.map {
            let into = self.fold(id, |_| true, steps)?;
            self.merge(into, map, steps)?;
        }
        for (name, member) in other.members {
            let into = self.member(id, &name, steps)?;
            self.merge(into, member, steps)?;
        }
        Ok(())
    }
}
