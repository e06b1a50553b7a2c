//! The part of the schema that a caller may know, and the introspection of a schema.
//!
//! Names of members are a part of the definition of a type, so rules that hide documents of a collection hide its
//! type, too. The caller gets a schema with the types of the other collections.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_graphql::{Name, Value};
use tokio::sync::OnceCell;
use tokio::time::timeout_at;

use crate::budget::Budget;
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

#[derive(Clone)]
struct PartialSchema {
    collections: Vec<String>,
    /// Empty until one of those who wait for it has built it.
    schema: Arc<OnceCell<Arc<ServedSchema>>>,
}

impl PartialSchemas {
    /// The schema of a scope with the types of these collections, of those that are `served`. It is built
    /// once, as long work of the request.
    ///
    /// # Errors
    /// `INTERNAL`: the types form no schema. As [`Budget::check`].
    pub(super) async fn with(
        &self,
        collections: Vec<String>,
        served: &CollectionTypes,
        (scope, bounds): (SchemaScope, Bounds),
        budget: &Budget,
    ) -> Result<Arc<ServedSchema>> {
        let kept = self.entry(collections, served.version.as_ref()).await?;
        let built = kept.schema.get_or_try_init(|| {
            budget.compute_long(|| {
                let is_shown = |it: &&CollectionType| {
                    let mut names = kept.collections.iter();
                    names.any(|name| name == it.collection())
                };
                let (shown, hidden): (Vec<_>, Vec<_>) = served.types.iter().partition(is_shown);
                let hidden: HashSet<String> = hidden
                    .into_iter()
                    .map(|it| it.collection().to_owned())
                    .collect();
                let (source, _) = SchemaSource::of(scope).with_some_collections(shown, &hidden)?;
                ServedSchema::new(&source, &bounds).map(Arc::new)
            })
        });
        let Ok(built) = timeout_at(budget.deadline(), built).await else {
            budget.check()?;
            return Err(Error::internal("the wait ended before the deadline"));
        };
        built.cloned()
    }

    /// The place of the schema with the types of these collections at a version.
    async fn entry(
        &self,
        collections: Vec<String>,
        version: Option<&Version>,
    ) -> Result<PartialSchema> {
        let (entry, unused) = self.kept().entry(collections, version);
        if !unused.is_empty() {
            on_blocking_thread(move || drop(unused)).await?;
        }
        Ok(entry)
    }

    fn kept(&self) -> MutexGuard<'_, KeptSchemas> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptSchemas {
    /// The place, and those that are not kept any more.
    fn entry(
        &mut self,
        collections: Vec<String>,
        version: Option<&Version>,
    ) -> (PartialSchema, Vec<PartialSchema>) {
        let mut unused = Vec::new();
        if self.version.as_ref() != version {
            self.version = version.copied();
            unused.append(&mut self.schemas);
        }
        let mut found = self.schemas.iter();
        let entry = match found.position(|it| it.collections == collections) {
            Some(at) => self.schemas.remove(at),
            None => PartialSchema {
                collections,
                schema: Arc::default(),
            },
        };
        if self.schemas.len() >= SCHEMAS_PARTIAL_MAX {
            unused.push(self.schemas.remove(0));
        }
        self.schemas.push(entry.clone());
        (entry, unused)
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
///
/// # Errors
/// As [`Budget::compute_long`].
pub(in crate::graphql::execute) async fn introspect(
    schema: &ServedSchema,
    operation: &Operation,
    introspection: &Introspection,
    budget: &Budget,
) -> Result<Vec<Vec<u8>>> {
    let variables = &operation.variables;
    let included: Vec<(usize, &Name)> = PlanArguments(variables)
        .included(&operation.plan.root)
        .filter_map(|selected| match selected.field {
            Field::Introspection(number) => Some((number, &selected.key)),
            _ => None,
        })
        .collect();
    let numbers = included.iter().map(|(number, _)| *number);
    let query = introspection.query(numbers, &variables.values);
    let mut request = async_graphql::Request::new("").variables(variables.values.clone());
    request.set_parsed_query(query);
    let values = budget.compute_long(|| {
        let response = schema.introspect(request);
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
    });
    values.await
}
