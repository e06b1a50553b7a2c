//! Parses and validates the text of a query within limits, and caches the prepared queries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption};
use async_graphql::parser::types::{ExecutableDocument, OperationDefinition, OperationType};
use async_graphql::{Name, ServerError};
use futures::FutureExt as _;
use tokio::task::yield_now;

use super::parse::parse;
use super::plan::Plan;
use super::prepared_memory::{PartMemory, PreparedDocument};
use super::query_cost::check_expanded;
use super::root_field::root_field;
use super::text_limits::check_text;
use super::validate::literals::incorrect_literals;
use super::validate::overlapping::conflicts;
use super::validate::shown::shown;
use super::validate::unknown_fields::many_unknown_fields;
use super::validate::variable_usage::disallowed;
use crate::budget::{Pool, portion};
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::lru_cache::LruCache;
use crate::graphql::schema::scope::SchemaScope;
use crate::graphql::schema::served_schema::ServedSchema;
use crate::graphql::schema::types::{Types, base_name};
use crate::limits::{
    Bounds, OPERATION_CACHED_BYTES_MAX, OPERATIONS_CACHED_BYTES_MAX, OPERATIONS_CACHED_MAX,
    STEPS_PER_QUERY_BYTE,
};

/// The reason why a query is rejected.
pub(crate) enum Refusal {
    /// The query exceeds a limit, or has no operation of the requested name.
    Error(Error),
    /// The text is not GraphQL, or not valid against the schema.
    Invalid(Vec<ServerError>),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// A valid document, and the plans of its operations.
pub(crate) struct PreparedQuery {
    /// The schema that the document is valid against.
    pub(crate) schema: Arc<ServedSchema>,
    pub(crate) document: Arc<PreparedDocument>,
    /// The plans, by the names of their operations.
    plans: Vec<(Option<Name>, Arc<Plan>)>,
}

impl PreparedQuery {
    /// # Errors
    /// As [`Plan::of`].
    fn new(document: ExecutableDocument, schema: Arc<ServedSchema>, pool: &Pool) -> Result<Self> {
        let document = Arc::new(PreparedDocument::new(document, pool)?);
        let plans = document
            .operations
            .iter()
            .map(|(name, operation)| {
                let plan = Plan::of(&document, &operation.node, schema.types(), pool)?;
                Ok((name.cloned(), Arc::new(plan)))
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            schema,
            document,
            plans,
        })
    }

    /// The memory of its parts.
    fn memory(&self) -> impl Iterator<Item = &PartMemory> {
        let plans = self.plans.iter().map(|(_, plan)| &plan.memory);
        plans.chain([&self.document.memory])
    }

    /// The same query, valid against another schema that the caller knows. A subscription has no use for its
    /// own after it has begun, and so does not keep it.
    pub(crate) fn with_schema(&self, schema: &Arc<ServedSchema>) -> Arc<Self> {
        Arc::new(Self {
            schema: schema.clone(),
            document: self.document.clone(),
            plans: self.plans.clone(),
        })
    }

    /// The plan of the operation with this name in the document.
    ///
    /// # Errors
    /// `INTERNAL`: there is no such operation.
    pub(crate) fn plan(&self, name: Option<&str>) -> Result<Arc<Plan>> {
        let mut plans = self.plans.iter();
        let named = plans.find(|(planned, _)| planned.as_deref() == name);
        let plan = named.map(|(_, plan)| plan.clone());
        plan.ok_or_else(|| Error::internal("an operation has no plan"))
    }
}

/// A prepared query in a cache.
struct CachedQuery(Arc<PreparedQuery>);

impl CachedQuery {
    fn new(query: Arc<PreparedQuery>) -> Arc<Self> {
        query.memory().for_each(PartMemory::enter_cache);
        Arc::new(Self(query))
    }
}

impl Drop for CachedQuery {
    fn drop(&mut self) {
        self.0.memory().for_each(PartMemory::leave_cache);
    }
}

/// Prepares queries for the current schema, and caches them by their text.
pub(crate) struct PreparedQueries {
    schema: ArcSwap<ServedSchema>,
    /// The schema without the types of collections.
    fixed: Arc<ServedSchema>,
    bounds: Bounds,
    /// The memory of queries that are not in the cache.
    pool: Pool,
    introspection: bool,
    kept: Mutex<PreparedCache>,
    pinned: ArcSwap<PinnedQueries>,
    /// Schemas that were replaced and are still used by requests. A large one is not dropped by the last
    /// of them, which would block its thread.
    replaced: Mutex<Vec<Arc<ServedSchema>>>,
}

type PreparedCache = LruCache<Box<str>, Arc<CachedQuery>>;

/// Queries that stay prepared, by their text. One that is not valid has no value, and also one that was
/// not requested since the schema was replaced.
type PinnedQueries = HashMap<Arc<str>, ArcSwapOption<CachedQuery>>;

impl PreparedQueries {
    pub(crate) fn new(
        scope: SchemaScope,
        introspection: bool,
        bounds: &Bounds,
        pool: Pool,
    ) -> Self {
        let fixed = Arc::new(ServedSchema::of(scope, bounds));
        Self {
            schema: ArcSwap::new(fixed.clone()),
            fixed,
            bounds: *bounds,
            pool,
            introspection,
            kept: Mutex::new(empty_cache()),
            pinned: ArcSwap::default(),
            replaced: Mutex::default(),
        }
    }

    /// The prepared query for this text and the current schema, if it is pinned or in the cache.
    pub(crate) fn kept_document(&self, text: &str) -> Option<Arc<PreparedQuery>> {
        let kept = match self.pinned.load().get(text) {
            Some(pinned) => pinned.load_full(),
            None => self.kept().get(text),
        };
        // The schema may have been replaced since the query was looked up.
        kept.filter(|kept| self.is_current(&kept.0))
            .map(|kept| kept.0.clone())
    }

    /// Parses, validates and caches this text.
    pub(crate) async fn document(&self, text: &str) -> Result<Arc<PreparedQuery>, Refusal> {
        let document = self.prepare(text).await?;
        if let Some(pinned) = self.pinned.load().get(text) {
            pinned.store(Some(CachedQuery::new(document.clone())));
            self.unpin_if_replaced(pinned);
        } else {
            let bytes = text.len() + document.memory().map(PartMemory::bytes).sum::<usize>();
            let mut cache = self.kept();
            // A replacement of the schema empties the cache afterwards.
            if bytes <= OPERATION_CACHED_BYTES_MAX && self.is_current(&document) {
                cache.keep(text.into(), CachedQuery::new(document.clone()), bytes);
            }
        }
        Ok(document)
    }

    /// Whether a query was prepared for the current schema.
    fn is_current(&self, query: &PreparedQuery) -> bool {
        Arc::ptr_eq(&query.schema, &self.schema.load())
    }

    /// Drops a pinned query that was prepared while the schema was replaced.
    fn unpin_if_replaced(&self, pinned: &ArcSwapOption<CachedQuery>) {
        if pinned
            .load()
            .as_ref()
            .is_some_and(|it| !self.is_current(&it.0))
        {
            pinned.store(None);
        }
    }

    /// Prepares these texts and pins them, in place of all that were pinned before. Returns the texts that
    /// are not valid.
    pub(crate) async fn pin(&self, texts: &[Arc<str>]) -> HashMap<Arc<str>, Refusal> {
        let (mut pinned, mut refused) = (PinnedQueries::new(), HashMap::new());
        for text in texts {
            if pinned.contains_key(text) {
                continue;
            }
            let document = match self.kept_document(text) {
                Some(kept) => Some(kept),
                None => match self.prepare(text).await {
                    Ok(document) => Some(document),
                    Err(refusal) => {
                        refused.insert(text.clone(), refusal);
                        None
                    }
                },
            };
            let document = document.map(CachedQuery::new);
            pinned.insert(text.clone(), ArcSwapOption::new(document));
            yield_now().await;
        }
        let pinned = Arc::new(pinned);
        self.pinned.store(pinned.clone());
        for pinned in pinned.values() {
            self.unpin_if_replaced(pinned);
        }
        refused
    }

    /// Parses and validates this text. Its validity does not depend on variables, which are checked for
    /// each request.
    async fn prepare(&self, text: &str) -> Result<Arc<PreparedQuery>, Refusal> {
        self.prepare_for(text, self.schema()).await
    }

    /// Parses this text and validates it against a schema.
    pub(crate) async fn prepare_for(
        &self,
        text: &str,
        schema: Arc<ServedSchema>,
    ) -> Result<Arc<PreparedQuery>, Refusal> {
        // A fragment can be spread any number of times.
        let steps = if text.contains("...") {
            u64::MAX
        } else {
            text.len() as u64 * STEPS_PER_QUERY_BYTE
        };
        portion(steps, || self.prepare_now(text, schema)).await
    }

    fn prepare_now(
        &self,
        text: &str,
        schema: Arc<ServedSchema>,
    ) -> Result<Arc<PreparedQuery>, Refusal> {
        check_text(text, &self.bounds)?;
        let parsed = parse(text).map_err(|error| Refusal::Invalid(vec![error.into()]));
        let document = parsed?;
        let types = schema.types();
        if !types.contains("Mutation") {
            check_queries_only(&document)?;
        }
        let introspects = check_expanded(&document, types, &self.bounds)?;
        if introspects && !self.introspection {
            let error = Error::bad_input("introspection is turned off on this server");
            return Err(error.into());
        }
        check_types(&document, types)?;
        if let Some(unknown) = many_unknown_fields(&document, types) {
            return Err(Refusal::Invalid(unknown));
        }
        validate(&document, &schema)?;
        for (_, operation) in document.operations.iter() {
            if operation.node.ty == OperationType::Subscription {
                root_field(&document, &operation.node)?;
            }
        }
        Ok(Arc::new(PreparedQuery::new(document, schema, &self.pool)?))
    }

    /// The current schema.
    pub(crate) fn schema(&self) -> Arc<ServedSchema> {
        self.schema.load_full()
    }

    /// The schema without the types of collections.
    pub(crate) fn fixed_schema(&self) -> &Arc<ServedSchema> {
        &self.fixed
    }

    /// Replaces the schema. Queries that have been prepared keep the previous one.
    pub(crate) fn replace_schema(&self, schema: ServedSchema) {
        let before = self.schema.swap(Arc::new(schema));
        let kept = std::mem::replace(&mut *self.kept(), empty_cache());
        for pinned in self.pinned.load().values() {
            pinned.store(None);
        }
        if !Arc::ptr_eq(&before, &self.fixed) {
            self.replaced().push(before);
        }
        // Behind the lock of the cache.
        drop(kept);
    }

    /// Drops the schemas that were replaced and that no request uses any more. It can take milliseconds.
    pub(crate) fn drop_replaced(&self) {
        let is_used = |schema: &mut Arc<ServedSchema>| Arc::strong_count(schema) > 1;
        let unused: Vec<_> = self.replaced().extract_if(.., |it| !is_used(it)).collect();
        drop(unused);
    }

    /// The number of schemas for [`PreparedQueries::drop_replaced`].
    pub(crate) fn replaced_count(&self) -> usize {
        self.replaced().len()
    }

    fn replaced(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ServedSchema>>> {
        self.replaced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, PreparedCache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn empty_cache() -> PreparedCache {
    LruCache::new(OPERATIONS_CACHED_MAX, OPERATIONS_CACHED_BYTES_MAX)
}

/// Rejects variables of unknown types, because validation panics on the default of a list of
/// such a type.
fn check_types(document: &ExecutableDocument, types: &Types) -> Result<()> {
    let operations = document
        .operations
        .iter()
        .map(|(_, operation)| &operation.node);
    for definition in operations.flat_map(|operation| &operation.variable_definitions) {
        let variable = &definition.node.name.node;
        let ty = base_name(&definition.node.var_type.node.base);
        if !types.contains(ty) {
            return Err(Error::bad_input(format!(
                "the variable `${}` is of the type {}, which does not exist",
                abridged(variable),
                abridged(ty)
            )));
        }
    }
    Ok(())
}

fn validate(document: &ExecutableDocument, schema: &ServedSchema) -> Result<(), Refusal> {
    // The library is asynchronous because its extensions are, and ours waits for nothing.
    let validated = schema
        .validate(shown(document))
        .now_or_never()
        .ok_or_else(|| Error::internal("the validation waits"))?;
    validated.map_err(Refusal::Invalid)?;
    // Each of these rules needs a document that is valid according to the previous ones.
    for rule in [incorrect_literals, disallowed, conflicts] {
        let errors = rule(document, schema.types());
        if !errors.is_empty() {
            return Err(Refusal::Invalid(errors));
        }
    }
    Ok(())
}

/// Rejects mutations in a read-only schema.
///
/// # Errors
/// `FORBIDDEN`: an operation of the document is a mutation.
fn check_queries_only(document: &ExecutableDocument) -> Result<()> {
    let mut operations = document.operations.iter();
    if operations.any(|(_, operation)| operation.node.ty == OperationType::Mutation) {
        return Err(Error::new(
            ErrorKind::Forbidden,
            "this server is read-only: mutations are rejected",
        ));
    }
    Ok(())
}

/// The operation with this name, or the only operation.
///
/// # Errors
/// As [`select_named`].
pub(crate) fn select<'d>(
    document: &'d ExecutableDocument,
    name: Option<&str>,
) -> Result<&'d OperationDefinition> {
    select_named(document, name).map(|(_, operation)| operation)
}

/// The operation with this name, or the only operation, and its name in the document, if any.
///
/// # Errors
/// `BAD_USER_INPUT`: no operation has this name, or the document has several operations and `name`
/// is none.
pub(crate) fn select_named<'d>(
    document: &'d ExecutableDocument,
    name: Option<&str>,
) -> Result<(Option<&'d str>, &'d OperationDefinition)> {
    let mut operations = document.operations.iter();
    let found = if let Some(name) = name {
        operations.find(|(named, _)| named.is_some_and(|named| named == name))
    } else {
        let first = operations.next();
        if operations.next().is_some() {
            return Err(Error::bad_input(
                "the query has several operations: `operationName` must name one",
            ));
        }
        first
    };
    let found = found.map(|(name, operation)| (name.map(Name::as_str), &operation.node));
    found.ok_or_else(|| {
        let name = abridged(name.unwrap_or_default());
        Error::bad_input(format!("the query has no operation named {name:?}"))
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::graphql::prepare::plan::Field;

    fn operations() -> (PreparedQueries, Pool) {
        let pool = Pool::new(1 << 30);
        let operations =
            PreparedQueries::new(SchemaScope::Full, true, &Bounds::DEFAULT, pool.clone());
        (operations, pool)
    }

    async fn prepared(operations: &PreparedQueries, text: &str) -> Arc<PreparedQuery> {
        operations.document(text).await.unwrap_or_else(|refusal| {
            panic!(
                "it is valid: {}",
                match refusal {
                    Refusal::Error(error) => error.to_string(),
                    Refusal::Invalid(errors) => format!("{errors:?}"),
                }
            )
        })
    }

    /// A query of `uses` fields that copy an argument of `bytes` bytes from a fragment.
    fn copying(uses: usize, bytes: usize) -> String {
        let mut fields = String::new();
        for number in 0..uses {
            // Writing to a string cannot fail.
            let _ = write!(fields, " a{number}: documents {{ nodes {{ ...F }} }}");
        }
        let path = "x".repeat(bytes);
        format!("{{{fields} }} fragment F on Document {{ select(query: \"$.{path}\") {{ path }} }}")
    }

    #[tokio::test]
    async fn queries_over_the_cache_limit_are_not_cached_and_count_while_they_are_used() {
        let (operations, pool) = operations();
        let small = copying(100, 1_000);
        let query = prepared(&operations, &small).await;
        assert!(operations.kept_document(&small).is_some());
        assert_eq!(pool.held(), 0, "the cache has a bound of its own");
        drop(query);
        let large = copying(500, 10_000);
        let query = prepared(&operations, &large).await;
        assert!(operations.kept_document(&large).is_none());
        assert!(pool.held() > 500 * 10_000, "{}", pool.held());
        // As a subscription has it, which needs neither its document nor its schema.
        let plan = query.plan(None).expect("an operation");
        drop(query);
        assert!(pool.held() > 500 * 10_000, "{}", pool.held());
        drop(plan);
        assert_eq!(pool.held(), 0);
    }

    #[tokio::test]
    async fn the_cache_is_bounded_by_memory_and_what_leaves_it_counts_while_it_is_used() {
        let (operations, pool) = operations();
        let text = copying(500, 1_000);
        let first = prepared(&operations, &text).await;
        let bytes = first.memory().map(PartMemory::bytes).sum::<usize>();
        assert!(bytes > 500 * 1_000, "{bytes}");
        let room = OPERATIONS_CACHED_BYTES_MAX / bytes;
        for number in 0..room {
            let text = format!("{text} # {number}");
            prepared(&operations, &text).await;
        }
        assert!(operations.kept_document(&text).is_none(), "it was evicted");
        let (_, cached) = operations.kept().size();
        assert!(cached <= OPERATIONS_CACHED_BYTES_MAX, "{cached}");
        assert!(pool.held() > 500 * 1_000, "{}", pool.held());
        drop(first);
        assert_eq!(pool.held(), 0);
    }

    #[tokio::test]
    async fn a_plan_that_takes_too_much_memory_is_refused() {
        let (operations, pool) = operations();
        let too_large = copying(500, 100_000);
        match operations.document(&too_large).await {
            Err(Refusal::Error(error)) => {
                let limit = error.facts().and_then(|facts| facts.limit);
                let limit = limit.expect("it exceeds a limit");
                assert_eq!(limit.name(), "plannedBytes");
            }
            _ => panic!("50 MB are planned"),
        }
        assert_eq!(pool.held(), 0);
    }

    /// The occurrences of a field under different conditions take memory and time in proportion to their
    /// number.
    #[tokio::test]
    async fn occurrences_under_many_conditions_are_planned_in_linear_memory() {
        const EACH: usize = 20;
        let (operations, _) = operations();
        let mut variables = String::new();
        let mut fragments = String::new();
        for level in 0..3 {
            let below = if level < 2 {
                format!("...F{}", level + 1)
            } else {
                "kind".to_owned()
            };
            let mut spreads = String::new();
            for number in 0..EACH {
                let _ = write!(variables, " $v{level}_{number}: Boolean!");
                let _ = write!(spreads, " {below} @include(if: $v{level}_{number})");
            }
            let _ = write!(
                fragments,
                " fragment F{level} on Subdocument {{{spreads} }}"
            );
        }
        let text = format!("query({variables}) {{ document(id: 1) {{ ...F0 }} }}{fragments}");
        let query = prepared(&operations, &text).await;
        let plan = query.plan(None).expect("an operation");
        let Field::Document { below, .. } = &plan.root.0[0].field else {
            panic!("a document");
        };
        assert_eq!(below.0.len(), EACH.pow(3));
        assert!(below.0.iter().all(|field| field.repeated == Some(0)));
        let each = plan.memory.bytes() / EACH.pow(3);
        assert!(each < 2_000, "{each} bytes for each");
    }

    #[tokio::test]
    async fn the_root_fields_of_a_subscription_are_merged() {
        let (operations, _) = operations();
        let text = "subscription { document(id: 1) { kind } ...F }
            fragment F on Subscription { document(id: 1) { length } ... { document(id: 1) { id } } }";
        let query = prepared(&operations, text).await;
        let plan = query.plan(None).expect("an operation");
        let [only] = &plan.root.0[..] else {
            panic!("one root field");
        };
        let Field::Document { below, .. } = &only.field else {
            panic!("a document");
        };
        assert_eq!(below.0.len(), 3);
    }
}
