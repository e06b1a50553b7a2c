//! Validates leaves.

use std::cmp::Ordering;

use super::describe::{named, not_listed, not_of_type};
use super::multiple_of::is_multiple;
use crate::budget::Steps;
use crate::document::leaf::Leaf;
use crate::document::number;
use crate::document::path::Segment;
use crate::document::tree::TEXT_BYTES_PER_STEP;
use crate::error::Result;
use crate::types::shape::{Constraints, Kinds, NumberConstraints, StringConstraints};
use crate::types::violation::{Violation, Violations, shown};

/// Adds the violations by a leaf at a place.
pub(crate) fn check_leaf(
    constraints: &Constraints,
    leaf: &Leaf<'_>,
    place: &[Segment],
    violations: &mut Violations,
    steps: &Steps<'_>,
) -> Result<()> {
    let found = || match leaf.kind() {
        crate::document::leaf::Kind::Null => named(leaf.kind()).to_owned(),
        _ => shown(leaf),
    };
    if let Some(enumeration) = &constraints.enumeration {
        if !enumeration.contains(leaf) {
            violations.add_with(|| not_listed(enumeration, place, &found()));
            return Ok(());
        }
    } else if !constraints.kinds.has(Kinds::of_leaf(leaf)) {
        violations.add_with(|| not_of_type(constraints, place, &found()));
        return Ok(());
    }
    let mut violated = |keyword, expected: String| {
        violations.add_with(|| Violation::new(place, keyword, expected, found()));
    };
    match leaf {
        Leaf::String(text) => check_string(&constraints.string, text, &mut violated, steps),
        Leaf::Integer(_) | Leaf::BigInteger(_) | Leaf::Double(_) => {
            check_number(&constraints.number, leaf, &mut violated, steps)
        }
        Leaf::Null | Leaf::Bool(_) => Ok(()),
    }
}

fn check_string(
    string: &StringConstraints,
    text: &str,
    violated: &mut impl FnMut(&'static str, String),
    steps: &Steps<'_>,
) -> Result<()> {
    if string.length_min > 0 || string.length_max.is_some() {
        steps.spend(text.len() as u64 / TEXT_BYTES_PER_STEP)?;
        let characters = text.chars().count() as u64;
        if characters < string.length_min {
            violated(
                "minLength",
                format!("at least {} characters", string.length_min),
            );
        }
        if let Some(max) = string.length_max.filter(|max| characters > *max) {
            violated("maxLength", format!("at most {max} characters"));
        }
    }
    if let Some(pattern) = &string.pattern
        && !pattern.matches(text, steps)?
    {
        violated(
            "pattern",
            format!("a match of {:?}", shortened(pattern.text())),
        );
    }
    if let Some(format) = string.format {
        steps.spend(text.len() as u64 / TEXT_BYTES_PER_STEP)?;
        if !format.accepts(text) {
            violated("format", format!("the format {}", format.name()));
        }
    }
    Ok(())
}

fn shortened(pattern: &str) -> &str {
    const CHARACTERS: usize = 100;
    match pattern.char_indices().nth(CHARACTERS) {
        Some((end, _)) => &pattern[..end],
        None => pattern,
    }
}

fn check_number(
    numbers: &NumberConstraints,
    leaf: &Leaf<'_>,
    violated: &mut impl FnMut(&'static str, String),
    steps: &Steps<'_>,
) -> Result<()> {
    let bounds: [(&'static str, &Option<Leaf<'static>>, &[Ordering], &str); 4] = [
        (
            "minimum",
            &numbers.minimum,
            &[Ordering::Greater, Ordering::Equal],
            "at least",
        ),
        (
            "exclusiveMinimum",
            &numbers.exclusive_minimum,
            &[Ordering::Greater],
            "more than",
        ),
        (
            "maximum",
            &numbers.maximum,
            &[Ordering::Less, Ordering::Equal],
            "at most",
        ),
        (
            "exclusiveMaximum",
            &numbers.exclusive_maximum,
            &[Ordering::Less],
            "less than",
        ),
    ];
    for (keyword, bound, allowed, words) in bounds {
        let Some(bound) = bound else {
            continue;
        };
        let order = number::order(leaf, bound);
        if !order.is_some_and(|order| allowed.contains(&order)) {
            violated(keyword, format!("{words} {}", shown(bound)));
        }
    }
    if let Some(divisor) = &numbers.multiple_of
        && !is_multiple(leaf, divisor, steps)?
    {
        violated("multipleOf", format!("a multiple of {}", shown(divisor)));
    }
    Ok(())
}
