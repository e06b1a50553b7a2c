//! Whether a type of a collection can be in the schema.

use super::collection_types::check_names_of;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::graphql::schema::schema_source::SchemaSource;
use crate::graphql::schema::scope::SchemaScope;
use crate::graphql::schema::served_schema::ServedSchema;
use crate::limits::Bounds;
use crate::types::CollectionType;

/// Rejects a type of a collection that cannot be in the schema beside those of other collections.
///
/// # Errors
/// `BAD_USER_INPUT`: a name of the type is no name of GraphQL, or is taken, or its GraphQL types form no schema.
/// The message has the place in the schema. `TOO_COMPLEX`: the types of all collections have too many fields.
pub fn check_schema_of(new: &CollectionType, others: &[CollectionType]) -> Result<()> {
    check_names_of(new, others)?;
    // Only names connect the types of two collections, so the others are not built.
    let (source, _) = SchemaSource::of(SchemaScope::Full).with_collections([new])?;
    let built = ServedSchema::new(&source, &Bounds::DEFAULT);
    built.map(drop).map_err(|error| not_served(new, &error))
}

fn not_served(new: &CollectionType, error: &Error) -> Error {
    Error::bad_input(format!(
        "the schema cannot be the type of the collection {:?}: its GraphQL types form no schema: {error}",
        abridged(new.collection())
    ))
}
