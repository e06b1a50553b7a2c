//! Executing a request: a query in one snapshot, a mutation in one transaction.

use std::sync::Arc;
use std::time::SystemTime;

use async_graphql::parser::types::{ExecutableDocument, OperationDefinition, OperationType};
use async_graphql::{Response, ServerError};
use tokio::time::{Instant, timeout_at};

use super::normalize::ready;
use super::planned;
use super::planned::write::WrittenResponse;
use crate::budget::Pool;
use crate::database::{Database, IdempotencyKey, StoredResponse, keep_answer, kept_answer};
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::graphql::context::batcher::{Batcher, LoadQueue};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_stats::{RequestStats, type_name};
use crate::graphql::context::session::Session;
use crate::graphql::prepare::plan::Plan;
use crate::graphql::prepare::prepared_query::{PreparedQueries, Refusal, select, select_named};
use crate::graphql::request::body::Request;
use crate::graphql::request::idempotency::once_only;
use crate::graphql::request::persisted::PersistedQueries;
use crate::graphql::request::raw_variables::GivenVariables;
use crate::graphql::response::write::{
    complete, fill, server_error, write, write_committed, write_uncommitted,
};
use crate::graphql::schema::build::{PhylloSchema, Purpose, SchemaScope};
use crate::graphql::variables::coerce::coerce;
use crate::graphql::variables::coerced::Coerced;
use crate::graphql::variables::variable_cost::check_uses;
use crate::limits::{Bounds, JSON_BYTES_AT_ONCE};
use crate::store::{
    Decision, MeteredTransaction, Transaction, TransactionResult, offload_if_large,
};

/// Which operations a request may execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Methods {
    /// Queries only, as GET has it.
    Queries,
    /// Queries only, because its sender may do no more; for this reason.
    ReadOnly(&'static str),
    /// Queries and mutations.
    All,
}

/// The answer to a request.
#[derive(Debug)]
pub enum GraphQlResponse {
    /// It was executed; the JSON of its response, which may tell errors of fields.
    Executed(Vec<u8>),
    /// It was refused before it was executed; the JSON of its response says why.
    Refused(Vec<u8>),
    /// It is a mutation where only queries are allowed.
    MutationRefused(Vec<u8>),
    /// It is a mutation, and its sender may only read.
    Forbidden(Vec<u8>),
}

/// What a GraphQL interface allows.
#[derive(Clone, Copy, Debug)]
pub struct GraphQlOptions {
    /// Which operations there are.
    pub scope: SchemaScope,
    /// Whether it tells its schema by introspection.
    pub introspection: bool,
    /// What a request may ask for.
    pub bounds: Bounds,
}

/// All operations, introspection, and the limits as documented.
impl Default for GraphQlOptions {
    fn default() -> Self {
        Self {
            scope: SchemaScope::default(),
            introspection: true,
            bounds: Bounds::DEFAULT,
        }
    }
}

/// The GraphQL interface of a database.
#[derive(Clone)]
pub struct GraphQl(Arc<ServiceParts>);

struct ServiceParts {
    database: Database,
    schema: PhylloSchema,
    operations: PreparedQueries,
    persisted: PersistedQueries,
    pool: Pool,
    bounds: Bounds,
}

/// One operation, ready to be executed any number of times.
#[derive(Clone)]
struct Operation {
    document: Arc<ExecutableDocument>,
    /// If it can be executed directly.
    plan: Option<Arc<Plan>>,
    name: Option<String>,
    variables: Coerced,
    once_only: Option<Arc<IdempotencyKey>>,
}

/// How long a request may take, and how large its response may be.
#[derive(Clone, Copy)]
struct Allowed {
    deadline: Instant,
    response_bytes: usize,
}

impl Allowed {
    /// What the bounds allow, or what a batch has left of it.
    fn of(request: &Request, bounds: &Bounds) -> Self {
        let deadline = Instant::now() + bounds.request_time;
        let response_bytes = bounds.response_bytes;
        match request.left {
            None => Self {
                deadline,
                response_bytes,
            },
            Some(left) => Self {
                deadline: deadline.min(left.deadline),
                response_bytes: response_bytes.min(left.response_bytes),
            },
        }
    }

    /// The bounds of this request.
    fn bounds(self, bounds: &Bounds) -> Bounds {
        Bounds {
            response_bytes: self.response_bytes,
            ..*bounds
        }
    }
}

/// What one execution of a mutation came to.
enum Mutated {
    /// It was executed.
    Now(Response),
    /// It was executed and its answer is kept, but for the version.
    LruCache(Vec<u8>),
    /// It took effect earlier, and this was the answer.
    Earlier(StoredResponse),
}

impl Operation {
    /// As the general executor is to have it.
    fn ready(mut self) -> Self {
        self.variables.make_values();
        let variables = &self.variables.values;
        self.document = ready(self.document, self.name.as_deref(), variables);
        self
    }
}

impl GraphQl {
    /// The interface of `database`, with the defaults of all options.
    pub fn new(database: Database) -> Self {
        Self::with_options(database, GraphQlOptions::default())
    }

    /// The interface of `database`.
    pub fn with_options(database: Database, options: GraphQlOptions) -> Self {
        let GraphQlOptions {
            scope,
            introspection,
            bounds,
        } = options;
        Self(Arc::new(ServiceParts {
            database,
            schema: PhylloSchema::new(scope, Purpose::Execute, &bounds),
            operations: PreparedQueries::new(scope, introspection, &bounds),
            persisted: PersistedQueries::new(),
            pool: Pool::new(bounds.held_bytes),
            bounds,
        }))
    }

    /// What all requests hold together; their bodies belong to it as well.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// What a request may ask for.
    pub fn bounds(&self) -> &Bounds {
        &self.0.bounds
    }

    /// Executes a request.
    pub async fn answer(&self, request: Request, methods: Methods) -> GraphQlResponse {
        self.answer_and_tell(request, methods, &mut RequestStats::default())
            .await
    }

    /// Executes a request, and tells about it.
    pub async fn answer_and_tell(
        &self,
        request: Request,
        methods: Methods,
        report: &mut RequestStats,
    ) -> GraphQlResponse {
        let allowed = Allowed::of(&request, &self.0.bounds);
        let (operation, ty) = match self.0.prepare(request, report).await {
            Ok(prepared) => prepared,
            Err(Refusal::Error(error)) if error.kind() == ErrorKind::Forbidden => {
                return GraphQlResponse::Forbidden(told(&error, report));
            }
            Err(Refusal::Error(error)) => return GraphQlResponse::Refused(told(&error, report)),
            Err(Refusal::Invalid(errors)) => {
                report.note(&errors);
                return GraphQlResponse::Refused(write(None, &errors));
            }
        };
        match (ty, methods) {
            (OperationType::Query, _) => {
                GraphQlResponse::Executed(self.0.query(operation, allowed, report).await)
            }
            // Boxed, so that queries need not carry its room.
            (OperationType::Mutation, Methods::All) => {
                GraphQlResponse::Executed(Box::pin(self.mutation(operation, allowed, report)).await)
            }
            (OperationType::Mutation, Methods::Queries) => {
                let error = Error::bad_input("a mutation is sent by POST");
                GraphQlResponse::MutationRefused(told(&error, report))
            }
            (OperationType::Mutation, Methods::ReadOnly(why)) => {
                let message = format!("{why}: a mutation is not executed");
                let error = Error::new(ErrorKind::Forbidden, message);
                GraphQlResponse::Forbidden(told(&error, report))
            }
            (OperationType::Subscription, _) => {
                let error = Error::bad_input("subscriptions are not served");
                GraphQlResponse::Refused(told(&error, report))
            }
        }
    }

    /// The response to a request that could not even be read.
    pub fn refuse(error: &Error) -> Vec<u8> {
        refusal(error)
    }

    async fn mutation(
        &self,
        operation: Operation,
        allowed: Allowed,
        report: &mut RequestStats,
    ) -> Vec<u8> {
        let inner = self.0.clone();
        let operation = operation.ready();
        let database = self.0.database.observed(report.store.clone());
        let settled = database.transact(allowed.deadline, move |transaction| {
            let (inner, operation) = (inner.clone(), operation.clone());
            Box::pin(async move { inner.mutate(operation, transaction, allowed).await })
        });
        match settled.await {
            Ok(TransactionResult::Committed(mutated, version)) => match mutated {
                Mutated::Now(response) => write_committed(&response.data, version),
                Mutated::LruCache(answer) => fill(&answer, version),
                Mutated::Earlier(kept) => fill(&kept.bytes, kept.version),
            },
            Ok(TransactionResult::Aborted(Mutated::Earlier(kept))) => {
                fill(&kept.bytes, kept.version)
            }
            Ok(TransactionResult::Aborted(Mutated::Now(response))) => {
                undone(&response.errors, report)
            }
            Ok(TransactionResult::Aborted(Mutated::LruCache(_))) => {
                let error = Error::internal("a kept answer was not committed");
                undone(&[server_error(&error)], report)
            }
            Err(error) if error.kind() == ErrorKind::Timeout => {
                let limit = self.0.bounds.request_time;
                let error = error
                    .at(format!("within {limit:?}, the limit for a request"))
                    .with_limit(Limit::of_time("requestMilliseconds", limit));
                undone(&[server_error(&error)], report)
            }
            Err(error) => undone(&[server_error(&error)], report),
        }
    }
}

impl ServiceParts {
    async fn prepare(
        self: &Arc<Self>,
        request: Request,
        report: &mut RequestStats,
    ) -> Result<(Operation, OperationType), Refusal> {
        let by_hash = request.query.is_empty() && request.query_hash.is_some();
        report.found_by_hash = by_hash.then_some(false);
        let request = self.persisted.resolve(request)?;
        report.found_by_hash = by_hash.then_some(true);
        let kept = self.operations.kept_document(&request.query);
        report.parsed_before = Some(kept.is_some());
        let prepared = match kept {
            Some(prepared) => prepared,
            None => self.operations.document(&request.query).await?,
        };
        self.persisted.keep(&request);
        let document = &prepared.document;
        let (name, selected) = select_named(document, request.operation_name.as_deref())?;
        let ty = selected.ty;
        report.ty = Some(type_name(ty));
        report.operation = name.map(str::to_owned);
        let plan = prepared.plan(name);
        let planned = plan.is_some();
        let variables = if request.variables.text().len() > JSON_BYTES_AT_ONCE {
            self.large_variables(document, &request, planned).await?
        } else {
            self.variables(selected, &request.variables, planned)?
        };
        check_uses(document, selected, &variables, &self.bounds)?;
        let once_only = match ty {
            OperationType::Mutation => once_only(&request).map(Arc::new),
            OperationType::Query | OperationType::Subscription => None,
        };
        let operation = Operation {
            document: document.clone(),
            plan,
            name: request.operation_name,
            variables,
            once_only,
        };
        Ok((operation, ty))
    }

    /// The variables of an operation, from those that a request has.
    fn variables(
        &self,
        selected: &OperationDefinition,
        given: &GivenVariables,
        planned: bool,
    ) -> Result<Coerced> {
        let definitions = &selected.variable_definitions;
        let inputs = self.operations.inputs();
        coerce(definitions, given, inputs, &self.bounds, planned)
    }

    /// As [`ServiceParts::variables`], where reading large ones holds nobody up.
    async fn large_variables(
        self: &Arc<Self>,
        document: &Arc<ExecutableDocument>,
        request: &Request,
        planned: bool,
    ) -> Result<Coerced> {
        let (inner, document) = (self.clone(), document.clone());
        let (name, given) = (request.operation_name.clone(), request.variables.clone());
        let read = move || inner.variables(select(&document, name.as_deref())?, &given, planned);
        offload_if_large(request.variables.text().len(), read).await
    }

    async fn query(
        &self,
        operation: Operation,
        allowed: Allowed,
        report: &mut RequestStats,
    ) -> Vec<u8> {
        if let Some(plan) = &operation.plan {
            let answer = self.query_directly(plan, &operation.variables, allowed, report);
            if let Some(answer) = answer.await {
                return answer;
            }
        }
        // Boxed, so that what is executed directly need not carry its room.
        Box::pin(self.query_generally(operation, allowed, report)).await
    }

    /// Executes a plan; none if that is left to the general executor.
    async fn query_directly(
        &self,
        plan: &Plan,
        variables: &Coerced,
        allowed: Allowed,
        report: &mut RequestStats,
    ) -> Option<Vec<u8>> {
        let request_budget = self.request_budget(allowed);
        let database = self.database.observed(report.store.clone());
        let execution = planned::execute(plan, variables, &database, &request_budget);
        let Ok(answer) = timeout_at(allowed.deadline, execution).await else {
            return Some(undone(
                &[server_error(&out_of_time(&request_budget))],
                report,
            ));
        };
        if let Some(passed) = request_budget.passed() {
            return Some(undone(&[server_error(passed)], report));
        }
        let WrittenResponse { data, errors } = answer?;
        report.planned = true;
        report.note(&errors);
        log(&errors);
        Some(complete(data, &errors))
    }

    async fn query_generally(
        &self,
        operation: Operation,
        allowed: Allowed,
        report: &mut RequestStats,
    ) -> Vec<u8> {
        let operation = operation.ready();
        let loads = LoadQueue::default();
        let request_budget = self.request_budget(allowed);
        let database = self.database.observed(report.store.clone());
        let session = Session::query(&database, &loads, &request_budget);
        let execution = Batcher::new(self.execute(operation, session), loads);
        let Ok(response) = timeout_at(allowed.deadline, execution).await else {
            return undone(&[server_error(&out_of_time(&request_budget))], report);
        };
        if let Some(passed) = request_budget.passed() {
            return undone(&[server_error(passed)], report);
        }
        report.note(&response.errors);
        log(&response.errors);
        let answer = write(Some(&response.data), &response.errors);
        match request_budget.budget().check_response(answer.len()) {
            Ok(()) => answer,
            Err(error) => undone(&[server_error(&error)], report),
        }
    }

    async fn mutate(
        &self,
        operation: Operation,
        transaction: Arc<dyn Transaction>,
        allowed: Allowed,
    ) -> Result<Decision<Mutated>> {
        let once_only = operation.once_only.clone();
        if let Some(once_only) = &once_only {
            let kept = kept_answer(&*transaction, once_only, SystemTime::now()).await?;
            if let Some(kept) = kept {
                return Ok(Decision::Abort(Mutated::Earlier(kept)));
            }
        }
        let loads = LoadQueue::default();
        let selected = select(&operation.document, operation.name.as_deref())?;
        let several = selected.selection_set.node.items.len() > 1;
        let request_budget = Arc::new(RequestBudget::of_mutation(
            &allowed.bounds(&self.bounds),
            &self.pool,
            allowed.deadline,
        ));
        let transaction: Arc<dyn Transaction> = Arc::new(MeteredTransaction::new(
            transaction,
            request_budget.budget(),
        ));
        let bytes_max = self.database.store().limits().transaction_bytes_max;
        let session = Session::mutation(
            transaction.clone(),
            &loads,
            &request_budget,
            several,
            bytes_max,
        );
        let response = Batcher::new(self.execute(operation, session), loads).await;
        if let Some(conflict) = conflict(&response.errors) {
            return Err(conflict.clone());
        }
        if let Some(passed) = request_budget.passed() {
            return Err(passed.clone());
        }
        if !response.errors.is_empty() {
            return Ok(Decision::Abort(Mutated::Now(response)));
        }
        let Some(once_only) = once_only else {
            return Ok(Decision::Commit(Mutated::Now(response)));
        };
        let answer = write_uncommitted(&response.data);
        keep_answer(&*transaction, &once_only, &answer, SystemTime::now()).await?;
        request_budget.check()?;
        Ok(Decision::Commit(Mutated::LruCache(answer)))
    }

    fn request_budget(&self, allowed: Allowed) -> Arc<RequestBudget> {
        let bounds = allowed.bounds(&self.bounds);
        Arc::new(RequestBudget::new(&bounds, &self.pool, allowed.deadline))
    }

    async fn execute(&self, operation: Operation, session: Session) -> Response {
        let mut request = async_graphql::Request::new("").variables(operation.variables.values);
        request.set_parsed_query((*operation.document).clone());
        if let Some(name) = operation.name {
            request = request.operation_name(name);
        }
        self.schema.execute(request.data(session)).await
    }
}

/// The error of a request whose time is over.
fn out_of_time(request_budget: &RequestBudget) -> Error {
    let checked = request_budget.check();
    checked
        .err()
        .unwrap_or_else(|| Error::internal("a deadline passed and did not"))
}

/// A conflict that a field met: the whole operation is to run again.
fn conflict(errors: &[ServerError]) -> Option<&Error> {
    let ours = errors.iter().filter_map(ServerError::source::<Error>);
    ours.into_iter()
        .find(|error| error.kind() == ErrorKind::Conflict)
}

/// The response to a request that was not executed.
fn refusal(error: &Error) -> Vec<u8> {
    let errors = [server_error(error)];
    log(&errors);
    write(None, &errors)
}

/// The same, told about.
fn told(error: &Error, report: &mut RequestStats) -> Vec<u8> {
    report.error = Some(error.kind());
    refusal(error)
}

/// The response to an operation of which nothing holds.
fn undone(errors: &[ServerError], report: &mut RequestStats) -> Vec<u8> {
    report.note(errors);
    log(errors);
    write(Some(&async_graphql::Value::Null), errors)
}

/// Tells the log what the client is not told.
fn log(errors: &[ServerError]) {
    for error in errors.iter().filter_map(ServerError::source::<Error>) {
        if let Some(detail) = error.detail() {
            tracing::error!(code = error.kind().code(), detail, "{}", error.message());
        }
    }
}
