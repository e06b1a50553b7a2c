//! Executes a request: a query in one snapshot, a mutation in one transaction.

use std::pin::{Pin, pin};
use std::sync::Arc;

use async_graphql::parser::types::OperationType;
use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

use super::allowed::Allowed;
use super::change_targets::check_targets;
use super::failures::{
    error_response, is_forbidden, log, out_of_time, refusal, unanswered, undone,
};
use super::hints::{QueryAnswer, with_hints};
use super::interface::{GraphQlOptions, GraphQlResponse, Methods};
use super::mutations::attempt::{AttemptLimits, Mutated, attempt};
use super::operation::{IdleOperation, Operation, coerced, state_before};
use super::planned::seen_change::SeenChange;
use super::planned::write_response::WrittenResponse;
use super::planned::{PlanExecutor, PlanSource};
use super::replaceable::served_types::ServedTypes;
use super::replaceable::shown_schema::{PartialSchemas, introspect};
use super::streaming::{EventResponse, ResponseStream, Started};
use super::subscriptions::changes::responses_to_changes;
use super::subscriptions::followed_place::cut_to;
use super::subscriptions::live::{LiveKey, LiveQueries};
use super::subscriptions::target::{FollowedSpan, SubscriptionTarget, target};
use crate::budget::Pool;
use crate::database::{Database, FollowFrom, FollowedChange, Interest, changes_cursor};
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_stats::{RequestStats, type_name};
use crate::graphql::context::rules_in_force::{RulesInForce, SameCaller, caller_digest, rights_of};
use crate::graphql::prepare::prepared_query::{PreparedQueries, Refusal, select, select_named};
use crate::graphql::prepare::root_field::root_field;
use crate::graphql::request::body::Request;
use crate::graphql::request::idempotency::once_only;
use crate::graphql::request::persisted::PersistedQueries;
use crate::graphql::response::commit_version::fill;
use crate::graphql::response::write_errors::{complete, server_error, without_data};
use crate::graphql::schema::scope::SchemaScope;
use crate::graphql::variables::variable_cost::check_uses;
use crate::key::Version;
use crate::limits::Bounds;
use crate::rights::{Principal, RequestRights};
use crate::store::{Decision, Transaction, TransactionResult};

/// The GraphQL interface of a database.
#[derive(Clone)]
pub struct GraphQl(pub(super) Arc<ServiceParts>);

pub(super) struct ServiceParts {
    pub(super) database: Database,
    pub(super) operations: PreparedQueries,
    pub(super) persisted: PersistedQueries,
    /// Whether only listed operations are executed.
    listed_only: bool,
    /// Whether responses to queries have hints.
    hints: bool,
    pool: Pool,
    pub(super) bounds: Bounds,
    live: Arc<LiveQueries>,
    /// The access rules.
    pub(super) rules: Option<RulesInForce>,
    pub(super) scope: SchemaScope,
    pub(super) served_types: ServedTypes,
    pub(super) partial_schemas: PartialSchemas,
}

impl GraphQl {
    /// Creates the interface of `database` with default options.
    pub fn new(database: Database) -> Self {
        Self::with_options(database, GraphQlOptions::default())
    }

    /// Creates the interface of `database`.
    pub fn with_options(database: Database, options: GraphQlOptions) -> Self {
        let GraphQlOptions {
            scope,
            introspection,
            hints,
            listed_only,
            bounds,
            rules,
        } = options;
        let pool = Pool::new(bounds.held_bytes);
        database.changes().count_in(pool.clone());
        let operations = PreparedQueries::new(scope, introspection, &bounds, pool.clone());
        Self(Arc::new(ServiceParts {
            database,
            operations,
            persisted: PersistedQueries::new(),
            listed_only,
            hints,
            live: Arc::new(LiveQueries::new(pool.clone())),
            pool,
            bounds,
            rules,
            scope,
            served_types: ServedTypes::default(),
            partial_schemas: PartialSchemas::default(),
        }))
    }

    /// The memory that all requests hold, including their bodies.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// The limits of a request.
    pub fn bounds(&self) -> &Bounds {
        &self.0.bounds
    }

    /// Executes a request.
    pub fn answer(&self, request: Request, methods: Methods) -> BoxFuture<'_, GraphQlResponse> {
        Box::pin(async move {
            let mut report = RequestStats::default();
            self.answer_and_report(request, methods, &mut report).await
        })
    }

    /// Executes a request, and records statistics in `report`.
    // Boxed and not inlined: the compiler would copy all that it awaits into each part of another crate that
    // calls it.
    #[inline(never)]
    pub fn answer_and_report<'r>(
        &'r self,
        request: Request,
        methods: Methods,
        report: &'r mut RequestStats,
    ) -> BoxFuture<'r, GraphQlResponse> {
        Box::pin(async move {
            let allowed = Allowed::of(&request, &self.0.bounds);
            match self.prepared(request, report).await {
                Ok(prepared) => self.execute(prepared, methods, allowed, report).await,
                Err(answer) => answer,
            }
        })
    }

    async fn prepared(
        &self,
        request: Request,
        report: &mut RequestStats,
    ) -> Result<(Operation, OperationType), GraphQlResponse> {
        self.0
            .prepare(request, report)
            .await
            .map_err(|refusal| match refusal {
                Refusal::Error(error) if error.kind() == ErrorKind::Forbidden => {
                    GraphQlResponse::Forbidden(error_response(&error, report))
                }
                Refusal::Error(error) => GraphQlResponse::Refused(error_response(&error, report)),
                Refusal::Invalid(errors) => {
                    report.note(&errors);
                    GraphQlResponse::Refused(without_data(&errors))
                }
            })
    }

    async fn execute(
        &self,
        (operation, ty): (Operation, OperationType),
        methods: Methods,
        allowed: Allowed,
        report: &mut RequestStats,
    ) -> GraphQlResponse {
        match (ty, methods) {
            (OperationType::Query, _) => GraphQlResponse::Executed(
                self.0.query(operation, allowed, report, self.0.hints).await,
            ),
            // Boxed, so that it does not enlarge the futures of queries.
            (OperationType::Mutation, Methods::All) => {
                GraphQlResponse::Executed(Box::pin(self.mutation(operation, allowed, report)).await)
            }
            (OperationType::Mutation, Methods::Queries) => {
                let error = Error::bad_input("a mutation must be sent by POST");
                GraphQlResponse::MutationRefused(error_response(&error, report))
            }
            (OperationType::Mutation, Methods::ReadOnly(why)) => {
                let message = format!("{why}: mutations are rejected");
                let error = Error::new(ErrorKind::Forbidden, message);
                GraphQlResponse::Forbidden(error_response(&error, report))
            }
            (OperationType::Subscription, _) => {
                let error = Error::bad_input(
                    "a subscription needs a transport for many responses: WebSocket \
                     (graphql-transport-ws), or an Accept header with text/event-stream or \
                     multipart/mixed",
                );
                GraphQlResponse::Refused(error_response(&error, report))
            }
        }
    }

    /// Starts an operation of any type. A subscription resumes after the cursor `after`, if it is
    /// given and the operation can be resumed.
    #[inline(never)] // As `answer_and_report`.
    pub fn start<'r>(
        &'r self,
        request: Request,
        methods: Methods,
        after: Option<String>,
        report: &'r mut RequestStats,
    ) -> BoxFuture<'r, Started> {
        Box::pin(async move {
            let allowed = Allowed::of(&request, &self.0.bounds);
            let variables = request.variables.text().clone();
            let answer = match self.prepared(request, report).await {
                Ok((operation, OperationType::Subscription)) => {
                    let subscribed =
                        self.subscribe(operation, allowed, variables, after.as_deref());
                    return match subscribed.await {
                        Ok(responses) => Started::Responses(responses),
                        Err(error) => Started::Refused(error_response(&error, report)),
                    };
                }
                Ok(prepared) => self.execute(prepared, methods, allowed, report).await,
                Err(answer) => answer,
            };
            match answer {
                GraphQlResponse::Executed(json) => Started::Responses(ResponseStream::once(json)),
                GraphQlResponse::Refused(json)
                | GraphQlResponse::MutationRefused(json)
                | GraphQlResponse::Forbidden(json) => Started::Refused(json),
            }
        })
    }

    async fn subscribe(
        &self,
        operation: Operation,
        allowed: Allowed,
        variables: Bytes,
        after: Option<&str>,
    ) -> Result<ResponseStream> {
        let document = &operation.prepared.document;
        let selected = select(document, operation.name.as_deref())?;
        let field = root_field(document, selected)?;
        let target = target(field, (&operation.plan, &operation.variables), after)?;
        let memory = self.0.pool.share();
        let inner = self.0.clone();
        let rules = inner.rules.as_ref().map(RulesInForce::followed);
        let time = allowed.deadline.saturating_duration_since(Instant::now());
        let allowed = move || Allowed {
            deadline: Instant::now() + time,
            ..allowed
        };
        match target {
            SubscriptionTarget::Live(interest, pause) => {
                let interest = if operation.rights.rules_in_force().is_some() {
                    // A condition can test any part of the document.
                    interest.in_whole_documents()
                } else {
                    interest
                };
                let follow = self.0.database.changes().follow(interest, FollowFrom::Now);
                // A copy, because the text is a part of the whole message.
                memory.take(variables.len())?;
                let key = LiveKey {
                    document: operation.prepared.document.number(),
                    operation: operation.name.as_deref().map(Into::into),
                    variables: variables[..].into(),
                    caller: caller_digest(&operation.rights, SameCaller::Rights),
                };
                let idle = self.0.idle(operation, memory)?;
                let execute = move || -> BoxFuture<'static, EventResponse> {
                    let (inner, operation) = (inner.clone(), inner.renewed(&idle));
                    Box::pin(async move { inner.respond_to_event(operation, allowed()).await })
                };
                let live = &self.0.live;
                live.subscribe(key, pause, follow, rules, execute, refusal)
                    .await
            }
            SubscriptionTarget::Changes(interest, span) => {
                let idle = Arc::new(self.0.idle(operation, memory)?);
                let interest = Arc::new(interest);
                let check = {
                    let (inner, idle, interest) = (inner.clone(), idle.clone(), interest.clone());
                    move || cut_to(&inner.renewed(&idle).rights, &interest).map(|_| ())
                };
                // By the rules of now, because those that replace them from now on are noticed.
                check()?;
                let changes = self.0.database.changes();
                let end = self.0.end_of(&span).await?;
                let follower = changes.follow((*interest).clone(), span.from).await?;
                let respond = move |change| -> BoxFuture<'static, EventResponse> {
                    let (inner, operation) = (inner.clone(), inner.renewed(&idle));
                    let interest = interest.clone();
                    Box::pin(async move {
                        let followed = (&*interest, &change);
                        inner
                            .respond_to_change(operation, allowed(), followed)
                            .await
                    })
                };
                let changes = (follower, end);
                Ok(responses_to_changes(
                    changes, rules, refusal, check, respond,
                ))
            }
        }
    }

    /// The response to a request that could not be read.
    pub fn refuse(error: &Error) -> Vec<u8> {
        refusal(error)
    }

    async fn mutation(
        &self,
        operation: Operation,
        allowed: Allowed,
        report: &mut RequestStats,
    ) -> Vec<u8> {
        let can_change_types = operation.plan.can_change_types();
        let (inner, operation) = (self.0.clone(), Arc::new(operation));
        let database = self.0.database.observed(report.store.clone());
        let settled = database
            .transact(allowed.deadline, move |transaction| {
                let (inner, operation) = (inner.clone(), operation.clone());
                Box::pin(async move { inner.mutate(&operation, transaction, allowed).await })
            })
            .await;
        let is_committed = matches!(settled, Ok(TransactionResult::Committed(..)));
        if can_change_types && is_committed {
            self.refresh_types_until(allowed.deadline).await;
        }
        match settled {
            Ok(TransactionResult::Committed(Mutated::Now(json), version)) => fill(&json, version),
            Ok(
                TransactionResult::Committed(Mutated::Earlier(kept), _)
                | TransactionResult::Aborted(Mutated::Earlier(kept)),
            ) => fill(&kept.bytes, kept.version),
            Ok(TransactionResult::Aborted(Mutated::Failed(errors))) => undone(&errors, report),
            Ok(
                TransactionResult::Committed(Mutated::Failed(_), _)
                | TransactionResult::Aborted(Mutated::Now(_)),
            ) => {
                let error = Error::internal("a failed mutation was committed, or another was not");
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
    /// The version of the last commit that a subscription follows. `None` if it waits for further ones.
    async fn end_of(&self, span: &FollowedSpan) -> Result<Option<Version>> {
        if span.waits {
            return Ok(None);
        }
        let snapshot = self.database.snapshot().await?;
        let cursor = changes_cursor(&*snapshot).await?;
        Ok(cursor.map(|cursor| cursor.position.version))
    }

    async fn prepare(
        self: &Arc<Self>,
        request: Request,
        report: &mut RequestStats,
    ) -> Result<(Operation, OperationType), Refusal> {
        let by_id = request.query.is_empty() && request.query_id.is_some();
        report.found_by_id = by_id.then_some(false);
        let resolved = self.persisted.resolve(request)?;
        report.found_by_id = by_id.then_some(true);
        if self.listed_only {
            resolved.check_listed()?;
        }
        let request = &resolved.request;
        let rights = self.rights((request.principal.clone(), resolved.is_listed));
        let kept = self.operations.kept_document(&request.query);
        report.parsed_before = Some(kept.is_some());
        let prepared = match kept {
            Some(prepared) => prepared,
            None => match self.operations.document(&request.query).await {
                Ok(prepared) => prepared,
                Err(refusal) => {
                    return Err(Box::pin(self.known_refusal(refusal, request, &rights)).await);
                }
            },
        };
        self.persisted.keep(&resolved);
        let document = &prepared.document;
        let (name, selected) = select_named(document, request.operation_name.as_deref())?;
        let ty = selected.ty;
        report.ty = Some(type_name(ty));
        report.operation = name.map(str::to_owned);
        let plan = prepared.plan(name)?;
        let variables = match coerced(&prepared, request, self.bounds).await {
            Ok(variables) => variables,
            Err(error) => {
                let refused = self.known_refusal(error.into(), request, &rights);
                return Err(Box::pin(refused).await);
            }
        };
        check_uses(document, selected, &variables, &self.bounds)?;
        let once_only = match ty {
            OperationType::Mutation => {
                check_targets(&plan, &variables, prepared.schema.types())?;
                once_only(request, caller_digest(&rights, SameCaller::User)).map(Arc::new)
            }
            OperationType::Query | OperationType::Subscription => None,
        };
        let state_before = state_before(&self.operations, request, self.bounds).await?;
        let operation = Operation {
            prepared,
            plan,
            name: resolved.request.operation_name,
            variables,
            once_only,
            state_before,
            rights,
        };
        Ok((operation, ty))
    }

    async fn query(
        &self,
        operation: Operation,
        allowed: Allowed,
        report: &mut RequestStats,
        hints: bool,
    ) -> Vec<u8> {
        let request_budget = self.request_budget(allowed);
        let answer = self.execute(&operation, &request_budget, report).await;
        // A hint may reveal what the sender may not read.
        let hints = hints && operation.rights.rules_in_force().is_none();
        if !hints || !answer.may_be_empty {
            return answer.json;
        }
        Box::pin(self.hinted(answer, &operation, &request_budget, report)).await
    }

    async fn hinted(
        &self,
        answer: QueryAnswer,
        operation: &Operation,
        request_budget: &RequestBudget,
        report: &RequestStats,
    ) -> Vec<u8> {
        let database = self.database.observed(report.store.clone());
        with_hints(answer, operation, &database, request_budget).await
    }

    /// Executes the plan of a query.
    async fn execute(
        &self,
        operation: &Operation,
        request_budget: &Arc<RequestBudget>,
        report: &mut RequestStats,
    ) -> QueryAnswer {
        let known = match self.known_schema(operation, request_budget.budget()).await {
            Ok(known) => known,
            Err(error) => return unanswered(&error, report),
        };
        let introspected = match &operation.plan.introspection {
            None => Vec::new(),
            // Boxed, because it is rare.
            Some(introspection) => {
                let budget = request_budget.budget();
                match Box::pin(introspect(&known, operation, introspection, budget)).await {
                    Ok(introspected) => introspected,
                    Err(error) => return unanswered(&error, report),
                }
            }
        };
        let database = self.database.observed(report.store.clone());
        let executor = PlanExecutor {
            variables: &operation.variables,
            source: PlanSource::Database(&database),
            request_budget,
            rights: &operation.rights,
            sdl: known.sdl(),
        };
        let executed = pin!(executor.execute(&operation.plan, &introspected));
        answer(executed, request_budget, report).await
    }

    /// The operation of a subscription, with the rights that its sender has now.
    fn renewed(&self, idle: &IdleOperation) -> Operation {
        idle.operation(self.rights(idle.sender()))
    }

    /// The response of a live query to one event.
    async fn respond_to_event(&self, operation: Operation, allowed: Allowed) -> EventResponse {
        let mut report = RequestStats::default();
        let request_budget = self.request_budget(allowed);
        let executed = self.execute(&operation, &request_budget, &mut report);
        event_response(executed.await)
    }

    /// The response to one change of a subscription.
    async fn respond_to_change(
        &self,
        operation: Operation,
        allowed: Allowed,
        (interest, followed): (&Interest, &FollowedChange),
    ) -> EventResponse {
        let mut report = RequestStats::default();
        let cut_to = match cut_to(&operation.rights, interest) {
            Ok(cut_to) => cut_to,
            Err(error) => {
                return EventResponse {
                    json: refusal(&error),
                    is_last: true,
                };
            }
        };
        let request_budget = self.request_budget(allowed);
        let database = self.database.observed(report.store.clone());
        let executor = PlanExecutor {
            variables: &operation.variables,
            source: PlanSource::Database(&database),
            request_budget: &request_budget,
            rights: &operation.rights,
            sdl: operation.prepared.schema.sdl(),
        };
        let change = SeenChange { followed, cut_to };
        let executed = pin!(executor.respond_to_change(&operation.plan, change));
        event_response(answer(executed, &request_budget, &mut report).await)
    }

    async fn mutate(
        &self,
        operation: &Operation,
        transaction: Arc<dyn Transaction>,
        allowed: Allowed,
    ) -> Result<Decision<Mutated>> {
        let limits = AttemptLimits {
            allowed,
            bounds: &self.bounds,
            pool: &self.pool,
            bytes_max: self.database.store().limits().transaction_bytes_max,
        };
        attempt(operation, transaction, &limits).await
    }

    /// What a caller may do now.
    fn rights(&self, (principal, is_listed): (Principal, bool)) -> RequestRights {
        rights_of(self.rules.as_ref(), principal, is_listed)
    }

    /// The budget of one request, or of one response of a subscription.
    pub(super) fn request_budget(&self, allowed: Allowed) -> Arc<RequestBudget> {
        let bounds = allowed.bounds(&self.bounds);
        Arc::new(RequestBudget::new(&bounds, &self.pool, allowed.deadline))
    }
}

/// The response to an event. If the rules do not allow it, it is the last one.
fn event_response(answer: QueryAnswer) -> EventResponse {
    EventResponse {
        is_last: is_forbidden(&answer.errors),
        json: answer.json,
    }
}

/// The answer of a plan that is executed, within the deadline. The execution is pinned by the caller: a
/// future that has it as an argument has room for it twice.
async fn answer(
    executed: Pin<&mut impl Future<Output = Result<WrittenResponse>>>,
    request_budget: &RequestBudget,
    report: &mut RequestStats,
) -> QueryAnswer {
    let deadline = request_budget.budget().deadline();
    let Ok(executed) = timeout_at(deadline, executed).await else {
        return unanswered(&out_of_time(request_budget), report);
    };
    if let Some(passed) = request_budget.passed() {
        return unanswered(passed, report);
    }
    let WrittenResponse {
        data,
        errors,
        may_be_empty,
        ..
    } = match executed {
        Ok(written) => written,
        Err(error) => return unanswered(&error, report),
    };
    report.note(&errors);
    log(&errors);
    QueryAnswer {
        json: complete(data, &errors),
        errors,
        may_be_empty,
    }
}
