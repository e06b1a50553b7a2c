//! Tests of types.

mod compatibility;
mod inference;
mod schema_limits;
mod schemas;
mod validation;

use super::CollectionType;
use crate::budget::{Budget, Steps};
use crate::error::{Error, Result};
use crate::limits::Bounds;

/// The type of the collection `products` with this schema.
fn parse(text: &str) -> Result<CollectionType> {
    let budget = Budget::of_test(&Bounds::DEFAULT);
    CollectionType::parse("products", text, &Steps::of(&budget))
}

fn parsed(text: &str) -> CollectionType {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The message of the error of a schema.
fn refusal(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("it is accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

/// Checks that a schema is refused at a place, with these words.
fn refuses(text: &str, pointer: &str, words: &str) {
    let message = refusal(text);
    assert!(
        message.contains(&format!("at {pointer:?}: ")) && message.contains(words),
        "{text}: {message}"
    );
}

/// The name of the limit that a schema exceeds.
fn exceeded(text: &str) -> &'static str {
    limit_of(&parse(text).expect_err("it exceeds a limit"))
}

fn limit_of(error: &Error) -> &'static str {
    let facts = error.facts().expect("it has facts");
    facts.limit.expect("it names the limit").name()
}
