//! The schema that a server has at one time.

use std::sync::Arc;

use async_graphql::dynamic::Schema;
use async_graphql::extensions::{Extension, ExtensionContext, ExtensionFactory, NextValidation};
use async_graphql::parser::types::ExecutableDocument;
use async_graphql::{CacheControl, Request, Response, ServerError, ValidationResult};

use crate::error::Result;
use crate::graphql::schema::register::{Subscriptions, builder, finish};
use crate::graphql::schema::schema_source::SchemaSource;
use crate::graphql::schema::scope::SchemaScope;
use crate::graphql::schema::subgraph_sdl::SubgraphSdl;
use crate::graphql::schema::text::{printed, printed_subgraph};
use crate::graphql::schema::types::Types;
use crate::limits::Bounds;

/// A schema, built from its source. It does not change: another schema takes its place.
pub(crate) struct ServedSchema {
    library: Schema,
    types: Types,
    text: Arc<str>,
    subgraph: SubgraphSdl,
}

impl ServedSchema {
    /// Builds the schema of these types.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the types do not form a schema.
    pub(crate) fn new(source: &SchemaSource, bounds: &Bounds) -> Result<Self> {
        let builder = builder(source, Subscriptions::Root)?
            .limit_recursive_depth(2 * bounds.query_levels)
            .extension(ValidateOnce);
        let library = finish(builder)?;
        Ok(Self {
            types: Types::of(library.registry()),
            text: printed(&library).into(),
            subgraph: SubgraphSdl::new(&printed_subgraph(source)?),
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

    /// The text of the subgraph.
    pub(crate) fn subgraph(&self) -> &SubgraphSdl {
        &self.subgraph
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

    /// Executes a valid operation that selects only `__schema`, `__type` and `__typename`.
    pub(crate) async fn introspect(&self, request: Request) -> Response {
        self.library.execute(request).await
    }
}

/// The types of the schema with these definitions, which has no subgraph.
#[cfg(test)]
pub(crate) fn types_of(definitions: &str) -> Types {
    let source = SchemaSource::default().extended(definitions);
    let builder = builder(&source.expect(definitions), Subscriptions::Root);
    let schema = builder.and_then(finish).expect(definitions);
    Types::of(schema.registry())
}

/// Validates the documents of [`ServedSchema::validate`], and then stops: the library validates a
/// document only as the first part of its execution. A document that is executed has been validated
/// before (docs/decisions/0005).
struct ValidateOnce;

/// The mark of a request that ends after the validation.
struct OnlyValidate;

/// The message of the error that a valid request ends with.
const VALID: &str = "valid";

impl ExtensionFactory for ValidateOnce {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_trait::async_trait]
impl Extension for ValidateOnce {
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
