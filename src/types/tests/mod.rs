//! Tests of types.

mod compatibility;
mod inference;
mod schemas;
mod validation;

use super::CollectionType;
use crate::budget::{Budget, Steps};
use crate::error::Result;
use crate::limits::Bounds;

/// The type of the collection `products` with this schema.
fn parse(text: &str) -> Result<CollectionType> {
    let budget = Budget::of_test(&Bounds::DEFAULT);
    CollectionType::parse("products", text, &Steps::of(&budget))
}

fn parsed(text: &str) -> CollectionType {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
