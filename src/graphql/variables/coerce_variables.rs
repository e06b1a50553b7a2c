//! Coerces variables to the types that the operation declares. JSON stays text, also inside input
//! objects; all other values are checked here.

use std::collections::{HashMap, HashSet};

use async_graphql::Positioned;
use async_graphql::parser::types::VariableDefinition;
use bytes::Bytes;

use super::coerce_value::ValueReader;
use super::coerced::Coerced;
use super::listed::is_list_of_representations;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::graphql::request::raw_variables::GivenVariables;
use crate::graphql::scalars::scalar_types::name;
use crate::graphql::schema::entities;
use crate::graphql::schema::types::{Types, base_name};
use crate::limits::Bounds;

/// Coerces the given variables to those that an operation declares. Lists of entities are stored
/// separately.
///
/// # Errors
/// `BAD_USER_INPUT`: a required variable is missing or null, or the named variable does not have
/// its type. `TOO_COMPLEX`, `TOO_LARGE`: a variable that is not JSON exceeds a limit.
pub(crate) fn coerce(
    definitions: &[Positioned<VariableDefinition>],
    given: &GivenVariables,
    types: &Types,
    bounds: &Bounds,
) -> Result<Coerced> {
    let mut reading = ValueReader::new(types, bounds);
    let mut given = declared(definitions, given);
    let mut coerced = Coerced::default();
    let variables = &mut coerced.values;
    for definition in definitions {
        let definition = &definition.node;
        let variable = definition.name.node.as_str();
        let ty = &definition.var_type.node;
        if let Some(text) = given.remove(variable.as_bytes()) {
            if is_list_of_representations(ty)
                && let Some(entities) = reading.entities(text)
            {
                coerced.entities.push((name(variable), entities));
                continue;
            }
            let value = reading
                .variable(ty, text)
                .map_err(|error| error.at(format!("the variable `${}`", abridged(variable))))?;
            variables.insert(name(variable), value);
        } else if let Some(default) = &definition.default_value {
            let default = default.node.clone();
            let default = match base_name(&ty.base) {
                entities::REPRESENTATION => entities::all_keys_only(default),
                _ => default,
            };
            variables.insert(name(variable), default);
        } else if !ty.nullable {
            return Err(Error::bad_input(format!(
                "the variable `${}` of the type {} is required and not given",
                abridged(variable),
                abridged(&ty.to_string())
            )));
        }
    }
    Ok(coerced)
}

/// The texts of the declared variables. The last of several with the same name counts.
fn declared<'g>(
    definitions: &[Positioned<VariableDefinition>],
    given: &'g GivenVariables,
) -> HashMap<&'g [u8], &'g Bytes> {
    let names: HashSet<&[u8]> = definitions
        .iter()
        .map(|definition| definition.node.name.node.as_bytes())
        .collect();
    given
        .iter()
        .filter(|(name, _)| names.contains(name))
        .collect()
}
