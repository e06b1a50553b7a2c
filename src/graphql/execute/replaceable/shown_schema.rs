//! The part of the schema that a caller may know, and the introspection of a schema.
//!
//! Names of members are a part of the definition of a type, so rules that hide documents of a collection hide its
//! type, too. The caller gets a schema with the types of the other collections.

use std::sync::Arc;

use async_graphql::{Name, Value};
use tokio::sync::Mutex;

use crate::database::CollectionTypes;
use crate::error::{Error, Result};
use crate::graphql::execute::operation::Operation;
use crate::graphql::execute::planned::PlanArguments;
use crate::graphql::prepare::introspection::Introspection;
use crate::graphql::prepare::plan::Field;
use crate::graphql::scalars::scalar_types::{EnumValues, write_value};
use crate::graphql::schema::schema_source::SchemaSource;
use crate::graphql::schema::scope::SchemaScope;
use crate::graphql::schema::served_schema::ServedSchema;
use crate::key::Version;
use crate::limits::{Bounds, SCHEMAS_PARTIAL_MAX};
use crate::types::CollectionType;

/// Schemas with the types of some collections.
#[derive(Default)]
pub(in crate::graphql::execute) struct PartialSchemas(Mutex<KeptSchemas>);

#[derive(Default)]
struct KeptSchemas {
    /// The version of the types that they have.
    version: Option<Version>,
    /// The last one was used last.
    schemas: Vec<PartialSchema>,
}

struct PartialSchema {
    collections: Vec<String>,
    schema: Arc<ServedSchema>,
}

impl PartialSchemas {
    /// The schema of a scope with the types of these collections, of those that are `served`. One is built at
    /// a time.
    ///
    /// # Errors
    /// `INTERNAL`: the types form no schema.
    pub(super) async fn with(
        &self,
        collections: Vec<String>,
        served: &Mutex<CollectionTypes>,
        (scope, bounds): (SchemaScope, Bounds),
    ) -> Result<Arc<ServedSchema>> {
        let mut kept = self.0.lock().await;
        let mut unused = Vec::new();
        let types: Vec<CollectionType> = {
            let served = served.lock().await;
            if kept.version != served.version {
                kept.version.clone_from(&served.version);
                unused.append(&mut kept.schemas);
            }
            let types = served.types.iter();
            let types = types.filter(|it| collections.iter().any(|name| name == it.collection()));
            types.cloned().collect()
        };
        let mut found = kept.schemas.iter();
        if let Some(at) = found.position(|it| it.collections == collections) {
            let found = kept.schemas.remove(at);
            let schema = found.schema.clone();
            kept.schemas.push(found);
            return Ok(schema);
        }
        if kept.schemas.len() >= SCHEMAS_PARTIAL_MAX {
            unused.push(kept.schemas.remove(0));
        }
        let built = on_blocking_thread(move || {
            // It takes milliseconds.
            drop(unused);
            let (source, _) = SchemaSource::of(scope).with_collections(&types)?;
            ServedSchema::new(&source, &bounds)
        });
        let schema = Arc::new(built.await??);
        kept.schemas.push(PartialSchema {
            collections,
            schema: schema.clone(),
        });
        Ok(schema)
    }
}

/// Runs work that takes milliseconds.
pub(super) async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::internal(error.to_string()))
}

/// The values of the fields that introspect the schema, as JSON. Those that are not included have
/// none.
pub(in crate::graphql::execute) async fn introspect(
    schema: &ServedSchema,
    operation: &Operation,
    introspection: &Introspection,
) -> Result<Vec<Vec<u8>>> {
    let variables = &operation.variables;
    let included = PlanArguments(variables).included(&operation.plan.root);
    let included = included.filter_map(|selected| match selected.field {
        Field::Introspection(number) => Some((number, &selected.key)),
        _ => None,
    });
    let included: Vec<(usize, &Name)> = included.collect();
    let numbers = included.iter().map(|(number, _)| *number);
    let query = introspection.query(numbers, &variables.values);
    let mut request = async_graphql::Request::new("").variables(variables.values.clone());
    request.set_parsed_query(query);
    let response = schema.introspect(request).await;
    let mut values = vec![Vec::new(); introspection.count()];
    for (number, key) in included {
        match &response.data {
            Value::Object(data) if response.errors.is_empty() => {
                let value = data.get(key).unwrap_or(&Value::Null);
                let written = write_value(&mut values[number], value, EnumValues::Strings);
                written.map_err(Error::internal)?;
            }
            _ => return Err(Error::internal("the schema cannot be introspected")),
        }
    }
    Ok(values)
}
