//! The schema of a server, built from definitions.
//!
//! - `source` has the definitions, `scope` says which of them a server has.
//! - `register` builds the library's schema from them, with their `annotations`, and `text` prints it.
//! - `served` is a schema that is built, with its `types` and `inputs` in the form in which validation
//!   looks them up.

mod annotations;
pub(crate) mod inputs;
mod register;
pub(crate) mod scope;
pub(crate) mod served;
pub(crate) mod source;
pub(crate) mod text;
pub(crate) mod types;
