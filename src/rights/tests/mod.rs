//! Tests of rules as a whole: text in, decisions out.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Action, Decision, PlaceUsed, Principal, Rules};
use crate::document::id::DocumentId;
use crate::document::path::Path;

mod decisions;
mod examples;
mod explanations;
mod filters;
mod random_tests;
mod texts;

fn rules(text: &str) -> Rules {
    Rules::parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn user(claims: Value) -> Principal {
    let Value::Object(claims) = claims else {
        panic!("claims are an object")
    };
    Principal::User {
        claims: Arc::new(claims),
    }
}

fn token(name: &str) -> Principal {
    Principal::Token { name: name.into() }
}

/// A use of `path`, in either form, of document `id`. An empty id is every document.
fn used(action: Action, collection: &str, id: &str, path: &str) -> PlaceUsed<'static> {
    let id = (!id.is_empty()).then(|| DocumentId::parse(id).expect("an id"));
    let path = Path::parse(path).expect("a path");
    let place = match &id {
        Some(id) => PlaceUsed::in_document(action, collection, id, &path),
        None => PlaceUsed::in_collection(action, collection, &path),
    };
    place.into_owned()
}
