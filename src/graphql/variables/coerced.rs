//! Variables that have their declared types.

use std::collections::HashMap;

use async_graphql::{Name, Value, Variables};

use crate::database::DocumentKey;
use crate::graphql::prepare::prepared_memory::const_value_bytes;
use crate::graphql::schema::entities::Entities;

/// The coerced variables of an operation.
#[derive(Clone, Default)]
pub(crate) struct Coerced {
    pub(crate) values: Variables,
    /// The lists of entities that were read directly as documents.
    pub(crate) entities: Vec<(Name, Entities)>,
    /// The bytes of their JSON text.
    pub(crate) bytes: usize,
}

impl Coerced {
    /// The entities in a variable.
    pub(crate) fn entities(&self, variable: &Name) -> Option<&[DocumentKey]> {
        let mut lists = self.entities.iter();
        let list = lists.find(|(name, _)| name == variable);
        list.map(|(_, entities)| &entities[..])
    }

    /// The approximate size of a copy of each variable, in bytes.
    pub(crate) fn sizes(&self) -> HashMap<&Name, usize> {
        let values = self
            .values
            .iter()
            .map(|(name, value)| (name, const_value_bytes(value)));
        let entities = self.entities.iter().map(|(name, entities)| {
            let texts = entities.iter().map(|it| it.collection.len());
            (
                name,
                texts.sum::<usize>() + 4 * size_of::<Value>() * entities.len(),
            )
        });
        values.chain(entities).collect()
    }
}

/// The coerced variables of an operation that waits for a long time. A map of one variable has room
/// for eleven.
pub(crate) struct IdleVariables {
    values: Box<[(Name, Value)]>,
    entities: Vec<(Name, Entities)>,
    bytes: usize,
}

impl IdleVariables {
    /// Keeps variables.
    pub(crate) fn new(variables: Coerced) -> Self {
        let Coerced {
            values,
            entities,
            bytes,
        } = variables;
        let values = values.iter();
        Self {
            values: values
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            entities,
            bytes,
        }
    }

    /// The variables, to execute the operation.
    pub(crate) fn coerced(&self) -> Coerced {
        let mut values = Variables::default();
        values.extend(self.values.iter().cloned());
        Coerced {
            values,
            entities: self.entities.clone(),
            bytes: self.bytes,
        }
    }
}
