//! Checks the arguments of mutations.

use async_graphql::MaybeUndefined;
use bytes::Bytes;

use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::graphql::scalars::scalar_types::{Json, PathScalar, path_argument};

/// The text of a JSON argument that is required but may be null.
pub(crate) fn required_json(name: &str, argument: &MaybeUndefined<Json>) -> Result<Bytes> {
    match argument {
        MaybeUndefined::Value(Json(text)) => Ok(text.clone()),
        MaybeUndefined::Null => Ok(Bytes::from_static(b"null")),
        MaybeUndefined::Undefined => Err(Error::bad_input(format!(
            "the argument `{name}` is missing; a null value must be given explicitly"
        ))),
    }
}

/// The path of a place that a mutation reads or changes. A null is probably a mistake: the whole
/// document would be changed.
///
/// # Errors
/// `BAD_USER_INPUT`: the argument is null. `INVALID_PATH`: it is not a path.
pub(crate) fn path_of_change(argument: Option<&PathScalar>) -> Result<Path> {
    if argument.is_none() {
        return Err(Error::bad_input(
            "`path` is null: in a mutation, leave it out, or give an empty path, for the whole \
             document",
        ));
    }
    path_argument(argument)
}

pub(crate) fn in_argument(name: &str, error: Error) -> Error {
    error.at(format!("the argument `{name}`"))
}
