//! From the text of a query to an operation that is parsed, bounded and valid; the last ones are
//! kept.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::extensions::{Extension, ExtensionContext, ExtensionFactory, NextValidation};
use async_graphql::parser::types::{
    BaseType, DocumentOperations, ExecutableDocument, OperationDefinition, ServiceDocument,
    TypeSystemDefinition,
};
use async_graphql::parser::{parse_query, parse_schema};
use async_graphql::{EmptySubscription, Schema, ServerError, ValidationMode, ValidationResult};
use lru::LruCache;

use super::entities::REPRESENTATION;
use super::guard::{check_expanded, check_introspection, check_text};
use super::inputs::Inputs;
use super::mutation::Mutation;
use super::query::Query;
use crate::error::{Error, Result};
use crate::limits::{OPERATION_CACHED_BYTES_MAX, OPERATIONS_CACHED_MAX, QUERY_LEVELS_MAX};

pub(super) type PhylloSchema = Schema<Query, Mutation, EmptySubscription>;

/// What a schema is for: the same types, but validation is done once for each text and execution
/// each time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Validate,
    Execute,
}

pub(super) fn schema(purpose: Purpose) -> PhylloSchema {
    let builder = Schema::build(Query, Mutation::default(), EmptySubscription)
        .enable_federation()
        .limit_recursive_depth(2 * QUERY_LEVELS_MAX);
    match purpose {
        Purpose::Validate => builder.extension(ValidateOnly).finish(),
        Purpose::Execute => builder.validation_mode(ValidationMode::Fast).finish(),
    }
}

/// Why a query is not executed.
pub(super) enum Refusal {
    /// It passes a bound, or names no operation.
    Error(Error),
    /// It is no GraphQL, or not valid against the schema.
    Invalid(Vec<ServerError>),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Parsed and valid documents by their text.
pub(super) struct Operations {
    validating: PhylloSchema,
    types: HashSet<String>,
    inputs: Inputs,
    introspection: bool,
    kept: Mutex<LruCache<Box<str>, Arc<ExecutableDocument>>>,
}

impl Operations {
    pub(super) fn new(introspection: bool) -> Self {
        let capacity = NonZeroUsize::new(OPERATIONS_CACHED_MAX).unwrap_or(NonZeroUsize::MIN);
        let validating = schema(Purpose::Validate);
        let text = parse_schema(validating.sdl());
        let text = text.expect("the text that the schema prints is GraphQL");
        Self {
            inputs: Inputs::of(&text),
            types: type_names(text),
            validating,
            introspection,
            kept: Mutex::new(LruCache::new(capacity)),
        }
    }

    /// The valid document of this text, if it is kept.
    pub(super) fn kept_document(&self, text: &str) -> Option<Arc<ExecutableDocument>> {
        self.kept().get(text).cloned()
    }

    /// The valid document of this text, made anew and kept. Whether it is valid depends on nothing
    /// else: variables are checked for each request.
    pub(super) async fn document(&self, text: &str) -> Result<Arc<ExecutableDocument>, Refusal> {
        check_text(text)?;
        let document = parse_query(text).map_err(|error| Refusal::Invalid(vec![error.into()]))?;
        check_expanded(&document)?;
        if !self.introspection {
            check_introspection(&document)?;
        }
        self.check_types(&document)?;
        // Boxed, because it is rare and large.
        Box::pin(self.validate(&document)).await?;
        let document = Arc::new(document);
        if text.len() <= OPERATION_CACHED_BYTES_MAX {
            self.kept().put(text.into(), document.clone());
        }
        Ok(document)
    }

    /// The schema's input objects.
    pub(super) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Validation panics at the default of a list of a type that does not exist.
    fn check_types(&self, document: &ExecutableDocument) -> Result<()> {
        let operations = document
            .operations
            .iter()
            .map(|(_, operation)| &operation.node);
        for definition in operations.flat_map(|operation| &operation.variable_definitions) {
            let variable = &definition.node.name.node;
            let ty = base_name(&definition.node.var_type.node.base);
            if !self.types.contains(ty) {
                return Err(Error::bad_input(format!(
                    "the variable `${variable}` is of the type {ty}, which does not exist"
                )));
            }
        }
        Ok(())
    }

    async fn validate(&self, document: &ExecutableDocument) -> Result<(), Refusal> {
        let mut request = async_graphql::Request::new("");
        request.set_parsed_query(document.clone());
        let errors = self.validating.execute(request).await.errors;
        match &errors[..] {
            [only] if only.message == VALID => Ok(()),
            _ => Err(Refusal::Invalid(errors)),
        }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, LruCache<Box<str>, Arc<ExecutableDocument>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names of a schema's types.
fn type_names(document: ServiceDocument) -> HashSet<String> {
    let defined = document
        .definitions
        .into_iter()
        .filter_map(|definition| match definition {
            TypeSystemDefinition::Type(ty) => Some(ty.node.name.node.to_string()),
            _ => None,
        });
    let built_in = ["Boolean", "Float", "ID", "Int", "String", REPRESENTATION];
    defined.chain(built_in.map(str::to_owned)).collect()
}

/// The name of a type without the lists around it.
pub(super) fn base_name(ty: &BaseType) -> &str {
    match ty {
        BaseType::Named(name) => name,
        BaseType::List(element) => base_name(&element.base),
    }
}

/// The operation of this name, or the only one.
///
/// # Errors
/// As [`select_named`].
pub(super) fn select<'d>(
    document: &'d ExecutableDocument,
    name: Option<&str>,
) -> Result<&'d OperationDefinition> {
    select_named(document, name).map(|(_, operation)| operation)
}

/// The operation of this name, or the only one; and its name in the document, if it has one.
///
/// # Errors
/// `BAD_USER_INPUT`: there is none of this name, or several and none is named.
pub(super) fn select_named<'d>(
    document: &'d ExecutableDocument,
    name: Option<&str>,
) -> Result<(Option<&'d str>, &'d OperationDefinition)> {
    let found = match (&document.operations, name) {
        (DocumentOperations::Single(only), None) => Some((None, only)),
        (DocumentOperations::Single(_), Some(_)) => None,
        (DocumentOperations::Multiple(all), Some(name)) => all.get_key_value(name).map(named),
        (DocumentOperations::Multiple(all), None) if all.len() == 1 => all.iter().next().map(named),
        (DocumentOperations::Multiple(_), None) => {
            return Err(Error::bad_input(
                "the query has several operations: `operationName` must say which",
            ));
        }
    };
    let found = found.map(|(name, operation)| (name, &operation.node));
    found.ok_or_else(|| {
        let name = name.unwrap_or_default();
        Error::bad_input(format!("the query has no operation named {name:?}"))
    })
}

type Positioned<'d> = &'d async_graphql::Positioned<OperationDefinition>;

fn named<'d>(
    (name, operation): (&'d async_graphql::Name, Positioned<'d>),
) -> (Option<&'d str>, Positioned<'d>) {
    (Some(name.as_str()), operation)
}

/// Ends a request when it is found valid.
struct ValidateOnly;

/// The error that a valid request ends with.
const VALID: &str = "valid";

impl ExtensionFactory for ValidateOnly {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_trait::async_trait]
impl Extension for ValidateOnly {
    async fn validation(
        &self,
        context: &ExtensionContext<'_>,
        next: NextValidation<'_>,
    ) -> Result<ValidationResult, Vec<ServerError>> {
        next.run(context).await?;
        Err(vec![ServerError::new(VALID, None)])
    }
}
