//! The schema that a server has at one time.

use std::sync::Arc;

use async_graphql::dynamic::Schema;
use async_graphql::extensions::{
    Extension, ExtensionContext, ExtensionFactory, NextResolve, NextValidation, ResolveInfo,
};
use async_graphql::parser::types::ExecutableDocument;
use async_graphql::{
    CacheControl, Request, Response, ServerError, ServerResult, ValidationResult, Value,
};
use futures::executor::block_on;

use super::register::{Subscriptions, builder, finish};
use super::schema_source::SchemaSource;
use super::scope::SchemaScope;
use super::text::{description, printed, printed_subgraph};
use super::types::Types;
use crate::document::json::write_string;
use crate::error::Result;
use crate::limits::Bounds;

/// A schema, built from its source. It does not change: another schema takes its place.
pub(crate) struct ServedSchema {
    library: Schema,
    types: Types,
    text: Arc<str>,
    /// The text of the subgraph as JSON (Apollo Federation, subgraph specification 2.5).
    sdl: Vec<u8>,
}

impl ServedSchema {
    /// Builds the schema of these types.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the types do not form a schema.
    pub(crate) fn new(source: &SchemaSource, bounds: &Bounds) -> Result<Self> {
        let builder = builder(source, Subscriptions::Root)?
            .limit_recursive_depth(2 * bounds.query_levels)
            .extension(Adapted::new());
        let library = finish(builder)?;
        let mut sdl = Vec::new();
        write_string(&mut sdl, &printed_subgraph(source)?);
        Ok(Self {
            types: Types::of(library.registry(), source.typed()),
            text: printed(&library).into(),
            sdl,
            library,
        })
    }

    /// Builds the schema of a server of this scope.
    pub(crate) fn of(scope: SchemaScope, bounds: &Bounds) -> Self {
        let built = Self::new(&SchemaSource::of(scope), bounds);
        built.expect("schema.graphql is a schema, which a test checks")
    }

    /// The types of the schema.
    pub(crate) fn types(&self) -> &Types {
        &self.types
    }

    /// The text of the schema.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The text of the subgraph, as JSON.
    pub(crate) fn sdl(&self) -> &[u8] {
        &self.sdl
    }

    /// Validates a document, whose size must be bounded, by the rules of the library.
    ///
    /// # Errors
    /// The errors of the rules.
    pub(crate) async fn validate(
        &self,
        document: ExecutableDocument,
    ) -> Result<(), Vec<ServerError>> {
        let mut request = Request::new("").data(OnlyValidate);
        request.set_parsed_query(document);
        let errors = self.library.execute(request).await.errors;
        match &errors[..] {
            [only] if only.message == VALID => Ok(()),
            _ => Err(errors),
        }
    }

    /// Executes a valid operation that selects only `__schema`, `__type` and `__typename`. Takes milliseconds, in
    /// which it waits for nothing.
    pub(crate) fn introspect(&self, request: Request) -> Response {
        block_on(self.library.execute(request))
    }
}

/// The types of the schema with these definitions, which has no subgraph.
#[cfg(test)]
pub(crate) fn types_of(definitions: &str) -> Types {
    let source = SchemaSource::default()
        .extended(definitions)
        .expect(definitions);
    let builder = builder(&source, Subscriptions::Root);
    let schema = builder.and_then(finish).expect(definitions);
    Types::of(schema.registry(), source.typed())
}

/// What the library does otherwise than Phyllo.
///
/// It validates a document only as the first part of its execution: the documents of
/// [`ServedSchema::validate`] end after the validation, and a document that is executed has been
/// validated before (docs/decisions/0005). And it describes every schema with the same sentence.
#[derive(Clone)]
struct Adapted {
    /// The value of `__schema { description }`.
    description: Value,
}

/// The mark of a request that ends after the validation.
struct OnlyValidate;

/// The message of the error that a valid request ends with.
const VALID: &str = "valid";

impl Adapted {
    fn new() -> Self {
        Self {
            description: Value::from(description()),
        }
    }
}

impl ExtensionFactory for Adapted {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(self.clone())
    }
}

#[async_trait::async_trait]
impl Extension for Adapted {
    async fn resolve(
        &self,
        context: &ExtensionContext<'_>,
        info: ResolveInfo<'_>,
        next: NextResolve<'_>,
    ) -> ServerResult<Option<Value>> {
        if (info.parent_type, info.name) == ("__Schema", "description") {
            return Ok(Some(self.description.clone()));
        }
        next.run(context, info).await
    }

    async fn validation(
        &self,
        context: &ExtensionContext<'_>,
        next: NextValidation<'_>,
    ) -> Result<ValidationResult, Vec<ServerError>> {
        if context.data_opt::<OnlyValidate>().is_some() {
            next.run(context).await?;
            return Err(vec![ServerError::new(VALID, None)]);
        }
        Ok(ValidationResult {
            cache_control: CacheControl::default(),
            complexity: 0,
            depth: 0,
        })
    }
}
