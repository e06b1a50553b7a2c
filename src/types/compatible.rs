//! Whether documents that fit one type fit another.

use std::collections::HashSet;

use super::collection_type::CollectionType;
use super::shape::{
    Additional, ArrayConstraints, Constraints, Enumeration, Kinds, NumberConstraints,
    ObjectConstraints, ShapeId, StringConstraints,
};
use super::validate::{check_leaf, is_multiple};
use super::violation::Violations;
use crate::budget::Steps;
use crate::document::leaf::Leaf;
use crate::document::number;
use crate::error::Result;
use crate::limits::TYPE_COMPARISONS_MAX;

/// Whether documents that fit `old` certainly fit `new`, so that they need not be validated again. It is
/// false also if that is not certain.
///
/// # Errors
/// As [`Steps::spend`].
pub fn is_compatible(
    old: &CollectionType,
    new: &CollectionType,
    steps: &Steps<'_>,
) -> Result<bool> {
    let open = Constraints::open();
    let mut comparison = Comparison {
        old,
        new,
        open: &open,
        seen: HashSet::new(),
        pending: Vec::new(),
        compared: 0,
        steps,
    };
    comparison.require(Some(ShapeId::ROOT), Some(ShapeId::ROOT));
    while let Some((one, other)) = comparison.pending.pop() {
        comparison.compared += 1;
        if comparison.compared > TYPE_COMPARISONS_MAX || !comparison.fits(one, other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Shapes of both types. A place that a type leaves open has none.
type ShapePair = (Option<ShapeId>, Option<ShapeId>);

struct Comparison<'t> {
    old: &'t CollectionType,
    new: &'t CollectionType,
    /// Those of a place that a type leaves open.
    open: &'t Constraints,
    /// The pairs that have been compared, or will be. A recursive pair is assumed to fit: it fits unless
    /// something else in it does not.
    seen: HashSet<ShapePair>,
    pending: Vec<ShapePair>,
    /// The pairs and properties that were compared.
    compared: usize,
    steps: &'t Steps<'t>,
}

impl Comparison<'_> {
    /// The values of `old` have to fit `new`.
    fn require(&mut self, old: Option<ShapeId>, new: Option<ShapeId>) {
        if new.is_some() && self.seen.insert((old, new)) {
            self.pending.push((old, new));
        }
    }

    fn fits(&mut self, old: Option<ShapeId>, new: Option<ShapeId>) -> Result<bool> {
        self.steps.spend(1)?;
        let (old_type, new_type) = (self.old, self.new);
        let Some(new) = new.map(|id| new_type.shape(id)) else {
            return Ok(true);
        };
        let old = old.map(|id| old_type.shape(id));
        let constraints = old.map_or(self.open, |it| &*it.constraints);
        self.constraints_fit(constraints, &new.constraints)
    }

    fn constraints_fit(&mut self, old: &Constraints, new: &Constraints) -> Result<bool> {
        if let Some(enumeration) = &old.enumeration {
            return values_fit(enumeration, new, self.steps);
        }
        let has = |kinds: Kinds| old.kinds.has(kinds);
        Ok(new.enumeration.is_none()
            && new.kinds.has(old.kinds)
            && (!has(Kinds::OBJECT) || self.objects_fit(&old.object, &new.object)?)
            && (!has(Kinds::ARRAY) || self.arrays_fit(&old.array, &new.array))
            && (!has(Kinds::STRING) || strings_fit(&old.string, &new.string))
            && (!has(Kinds::INTEGER) || numbers_fit(old, &new.number, self.steps)?))
    }

    fn objects_fit(&mut self, old: &ObjectConstraints, new: &ObjectConstraints) -> Result<bool> {
        let properties = old.properties.len() + new.properties.len();
        self.steps.spend(properties as u64)?;
        self.compared += properties;
        for property in &new.properties {
            let before = old.property(&property.name);
            if property.required && !before.is_some_and(|it| it.required) {
                return Ok(false);
            }
            match (before, old.additional) {
                (Some(before), _) => self.require(Some(before.shape), Some(property.shape)),
                (None, Additional::Open) => self.require(None, Some(property.shape)),
                (None, Additional::Map(shape)) => self.require(Some(shape), Some(property.shape)),
                (None, Additional::Forbidden) => {}
            }
        }
        let others = old.properties.iter();
        for property in others.filter(|it| new.position(&it.name).is_none()) {
            match new.additional {
                Additional::Open => {}
                Additional::Map(shape) => self.require(Some(property.shape), Some(shape)),
                Additional::Forbidden => return Ok(false),
            }
        }
        match (old.additional, new.additional) {
            (Additional::Forbidden, _) | (_, Additional::Open) => {}
            (_, Additional::Forbidden) => return Ok(false),
            (Additional::Open, Additional::Map(shape)) => self.require(None, Some(shape)),
            (Additional::Map(old), Additional::Map(new)) => self.require(Some(old), Some(new)),
        }
        Ok(true)
    }

    fn arrays_fit(&mut self, old: &ArrayConstraints, new: &ArrayConstraints) -> bool {
        self.require(old.items, new.items);
        old.items_min >= new.items_min && at_most(old.items_max, new.items_max)
    }
}

fn at_most(old: Option<u64>, new: Option<u64>) -> bool {
    new.is_none_or(|new| old.is_some_and(|old| old <= new))
}

fn values_fit(old: &Enumeration, new: &Constraints, steps: &Steps<'_>) -> Result<bool> {
    let mut violations = Violations::default();
    for value in old.values() {
        steps.spend(1)?;
        check_leaf(new, value, &[], &mut violations, steps)?;
    }
    Ok(violations.is_empty())
}

fn strings_fit(old: &StringConstraints, new: &StringConstraints) -> bool {
    let same_pattern = || old.pattern == new.pattern;
    old.length_min >= new.length_min
        && at_most(old.length_max, new.length_max)
        && (new.pattern.is_none() || same_pattern())
        && (new.format.is_none() || old.format == new.format)
}

fn numbers_fit(old: &Constraints, new: &NumberConstraints, steps: &Steps<'_>) -> Result<bool> {
    const ONE: Leaf<'static> = Leaf::Integer(1);
    let is_integer = !old.kinds.has(Kinds::NUMBER);
    let old = &old.number;
    let at_least = |bound: &Option<Leaf<'_>>, least: &Leaf<'_>, or_equal: bool| {
        let order = bound.as_ref().and_then(|it| number::order(it, least));
        order.is_some_and(|order| order.is_gt() || or_equal && order.is_eq())
    };
    let at_most = |bound: &Option<Leaf<'_>>, most: &Leaf<'_>, or_equal: bool| {
        let order = bound.as_ref().and_then(|it| number::order(it, most));
        order.is_some_and(|order| order.is_lt() || or_equal && order.is_eq())
    };
    let bounds = [
        new.minimum.as_ref().is_none_or(|it| {
            at_least(&old.minimum, it, true) || at_least(&old.exclusive_minimum, it, true)
        }),
        new.exclusive_minimum.as_ref().is_none_or(|it| {
            at_least(&old.minimum, it, false) || at_least(&old.exclusive_minimum, it, true)
        }),
        new.maximum.as_ref().is_none_or(|it| {
            at_most(&old.maximum, it, true) || at_most(&old.exclusive_maximum, it, true)
        }),
        new.exclusive_maximum.as_ref().is_none_or(|it| {
            at_most(&old.maximum, it, false) || at_most(&old.exclusive_maximum, it, true)
        }),
    ];
    if bounds.contains(&false) {
        return Ok(false);
    }
    let Some(divisor) = &new.multiple_of else {
        return Ok(true);
    };
    if let Some(before) = &old.multiple_of
        && is_multiple(before, divisor, steps)?
    {
        return Ok(true);
    }
    Ok(is_integer && is_multiple(&ONE, divisor, steps)?)
}
