//! A database on any engine, used through `GraphQl::answer`, with counts of store operations.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use phyllo::database::{Builder, Check, Database, DocumentKey, Finding, TypeChecker};
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Leaf;
use phyllo::document::path::Path;
use phyllo::error::{Error, Result};
use phyllo::graphql::{GraphQl, GraphQlOptions, GraphQlResponse, Methods, Request, RulesInForce};
use phyllo::key::pack_leaf;
use phyllo::limits::Bounds;
use phyllo::rights::Principal;
use phyllo::store::{
    Batches, Decision, Observed, Operations, Pairs, Read, Store, StoreLimits, Transaction,
    TransactionResult,
};
use serde_json::{Value, json};
use tokio::time::Instant;

/// The variables of a query that has none.
pub(crate) const NONE: &str = "{}";

/// A client with its own database.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) graphql: GraphQl,
    pub(crate) database: Database,
    operations: Arc<Operations>,
    /// The sender of the requests.
    principal: Principal,
}

/// The store operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) transactions: u64,
    pub(crate) gets: u64,
    pub(crate) ranges: u64,
    pub(crate) pairs: u64,
    pub(crate) writes: u64,
    pub(crate) commits: u64,
}

/// A client of an empty store.
pub(crate) async fn client() -> Client {
    client_of(super::empty_store().await).await
}

/// A client of a store on `engine`.
pub(crate) async fn client_of(engine: impl Store + 'static) -> Client {
    client_of_within(engine, Bounds::DEFAULT).await
}

/// A client of a store on `engine` with these limits.
pub(crate) async fn client_of_within(engine: impl Store + 'static, bounds: Bounds) -> Client {
    let observed = Observed::new(engine);
    let operations = observed.operations();
    let deadline = Instant::now() + Duration::from_secs(30);
    let database = Database::open(Arc::new(observed), deadline)
        .await
        .expect("the database opens");
    Client {
        graphql: bounded(&database, bounds),
        database,
        operations,
        principal: Principal::default(),
    }
}

fn bounded(database: &Database, bounds: Bounds) -> GraphQl {
    let options = GraphQlOptions {
        bounds,
        ..GraphQlOptions::default()
    };
    GraphQl::with_options(database.clone(), options)
}

/// An engine that reports that other processes can have it open.
pub(crate) struct NotExclusive<S>(pub(crate) S);

#[async_trait]
impl<S: Store> Store for NotExclusive<S> {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        self.0.snapshot().await
    }

    async fn lazy_snapshot(&self) -> Result<Arc<dyn Read>> {
        self.0.lazy_snapshot().await
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        self.0.begin().await
    }

    fn limits(&self) -> StoreLimits {
        self.0.limits()
    }

    fn commits_can_end_unknown(&self) -> bool {
        self.0.commits_can_end_unknown()
    }

    async fn ready(&self) -> Result<()> {
        self.0.ready().await
    }

    async fn failed(&self) -> Error {
        self.0.failed().await
    }
}

impl Client {
    /// A client of another handle on the same store, whose operations are not counted.
    pub(crate) fn of_database(&self, database: Database) -> Self {
        Self {
            graphql: bounded(&database, Bounds::DEFAULT),
            database,
            ..self.clone()
        }
    }

    /// A client of the same database with these limits.
    pub(crate) fn within(&self, bounds: Bounds) -> Self {
        Self {
            graphql: bounded(&self.database, bounds),
            ..self.clone()
        }
    }

    /// A client of the same database, whose requests of this sender are limited by rules.
    pub(crate) fn limited(&self, rules: RulesInForce, principal: Principal) -> Self {
        let options = GraphQlOptions {
            rules: Some(rules),
            ..GraphQlOptions::default()
        };
        Self {
            graphql: GraphQl::with_options(self.database.clone(), options),
            principal,
            ..self.clone()
        }
    }

    /// A client with the same rules, whose requests are sent by another one.
    pub(crate) fn sent_by(&self, principal: Principal) -> Self {
        Self {
            principal,
            ..self.clone()
        }
    }

    /// A request of this sender, from the text of its body.
    ///
    /// # Errors
    /// As [`Request::from_json`].
    pub(crate) fn request(&self, body: String) -> Result<Request> {
        let request = Request::from_json(&Bytes::from(body))?;
        Ok(Request {
            principal: self.principal.clone(),
            ..request
        })
    }

    /// A client of the same database whose responses have no hints.
    pub(crate) fn without_hints(&self) -> Self {
        let options = GraphQlOptions {
            hints: false,
            ..GraphQlOptions::default()
        };
        Self {
            graphql: GraphQl::with_options(self.database.clone(), options),
            ..self.clone()
        }
    }

    /// The whole response, as text. `variables` is the JSON text of an object.
    pub(crate) async fn text(&self, query: &str, variables: impl Display) -> String {
        self.named(query, None, variables).await.1
    }

    /// The response to a named operation, and whether it was executed.
    pub(crate) async fn named(
        &self,
        query: &str,
        name: Option<&str>,
        variables: impl Display,
    ) -> (bool, String) {
        let (query, name) = (json!(query), json!(name));
        let body = format!(r#"{{"query":{query},"operationName":{name},"variables":{variables}}}"#);
        let answer = match self.request(body) {
            Ok(request) => self.graphql.answer(request, Methods::All).await,
            Err(error) => GraphQlResponse::Refused(GraphQl::refuse(&error)),
        };
        let (executed, bytes) = match answer {
            GraphQlResponse::Executed(bytes) => (true, bytes),
            GraphQlResponse::Refused(bytes)
            | GraphQlResponse::MutationRefused(bytes)
            | GraphQlResponse::Forbidden(bytes) => (false, bytes),
        };
        (
            executed,
            String::from_utf8(bytes).expect("a response is UTF-8"),
        )
    }

    /// The whole response.
    pub(crate) async fn ask(&self, query: &str, variables: impl Display) -> Value {
        parse(&self.text(query, variables).await)
    }

    /// The data of a response without errors.
    pub(crate) async fn data(&self, query: &str, variables: impl Display) -> Value {
        let mut response = self.ask(query, variables).await;
        assert_eq!(response.get("errors"), None, "{query:.300}");
        response["data"].take()
    }

    /// The code and message of the only error of a response, in which no field has data.
    pub(crate) async fn error(&self, query: &str, variables: impl Display) -> (String, String) {
        let response = self.ask(query, variables).await;
        let brief = response.to_string();
        assert!(has_none(&response["data"]), "{query:.300}: {brief:.300}");
        only_error(&response)
    }

    /// Stores a document under an id, both given as JSON text.
    pub(crate) async fn insert(&self, id: &str, document: impl Display) {
        let query = "mutation($id: ID, $d: JSON) { insertDocument(id: $id, document: $d) { key } }";
        let id = json!(id);
        let response = self
            .ask(query, format!(r#"{{"id":{id},"d":{document}}}"#))
            .await;
        assert_eq!(response, json!({"data": {"insertDocument": {"key": id}}}));
    }

    /// Stores pairs under an integer id as another program would. Each is a path, as a JSON list,
    /// and a decimal number.
    pub(crate) async fn plant(&self, id: i64, pairs: &[(Value, &str)]) {
        let document = DocumentKey::new("D", DocumentId::Integer(id)).expect("short");
        let pairs = pairs.iter().map(|(path, number)| {
            let path = Path::parse(&path.to_string()).expect("a path");
            let place = path.places().remove(0);
            let leaf = Leaf::number(number).expect("a number");
            (document.place(&place).expect("short"), pack_leaf(&leaf))
        });
        let pairs: Vec<_> = pairs.collect();
        let deadline = Instant::now() + Duration::from_secs(30);
        let write = move |transaction: Arc<dyn Transaction>| {
            for (key, value) in &pairs {
                transaction.set(key, value);
            }
            Box::pin(std::future::ready(Ok(Decision::Commit(())))) as BoxFuture<'static, _>
        };
        let planted = self.database.transact(deadline, write).await;
        assert!(matches!(planted, Ok(TransactionResult::Committed((), _))));
    }

    /// The JSON text of a document, as in the response.
    pub(crate) async fn stored(&self, id: &str) -> String {
        let response = self.text(
            "query($id: ID!) { document(id: $id) { value } }",
            json!({"id": id}),
        );
        let response = response.await;
        let value = response.strip_prefix(r#"{"data":{"document":{"value":"#);
        let value = value.and_then(|value| value.strip_suffix("}}}"));
        value
            .unwrap_or_else(|| panic!("no document: {response}"))
            .to_owned()
    }

    /// Commits a change elsewhere. The next query has a new snapshot, in which nothing is cached.
    pub(crate) async fn renew_snapshot(&self) {
        self.mutate(r#"replaceDocument(collection: "elsewhere", id: 1, document: 1) { key }"#)
            .await;
        self.mutate(r#"deleteDocument(collection: "elsewhere", id: 1) { key }"#)
            .await;
    }

    /// The store operations so far.
    pub(crate) fn counts(&self) -> Counts {
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        Counts {
            transactions: count(&self.operations.transactions),
            gets: count(&self.operations.gets),
            ranges: count(&self.operations.ranges),
            pairs: count(&self.operations.pairs),
            writes: count(&self.operations.writes),
            commits: count(&self.operations.commits),
        }
    }

    /// The data of a response, and its store operations.
    pub(crate) async fn cost(&self, query: &str, variables: impl Display) -> (Value, Counts) {
        let before = self.counts();
        let data = self.data(query, variables).await;
        let after = self.counts();
        let cost = Counts {
            transactions: after.transactions - before.transactions,
            gets: after.gets - before.gets,
            ranges: after.ranges - before.ranges,
            pairs: after.pairs - before.pairs,
            writes: after.writes - before.writes,
            commits: after.commits - before.commits,
        };
        (data, cost)
    }

    /// The data of a mutation, given by its fields.
    pub(crate) async fn mutate(&self, fields: &str) -> Value {
        self.data(&format!("mutation {{ {fields} }}"), NONE).await
    }

    /// Builds the pending indexes.
    pub(crate) async fn build(&self) {
        let mut builder = Builder::new(self.database.clone());
        builder.finish().await.expect("indexes can be built");
    }

    /// Checks the stored documents against the types that are new.
    pub(crate) async fn check_types(&self) {
        let mut checker = TypeChecker::new(self.database.clone());
        checker.finish().await.expect("documents can be checked");
    }

    /// The findings of a check of the whole store.
    pub(crate) async fn check(&self) -> Vec<Finding> {
        let check = Check::of_store(self.database.store().clone(), None).await;
        let mut check = check.expect("a check");
        let mut found = Vec::new();
        while let Some(finding) = check.next_finding().await.expect("a check") {
            found.push(finding);
        }
        found
    }

    /// Asserts that the database still works.
    pub(crate) async fn assert_serves(&self) {
        let data = self
            .data("{ __typename document(id: \"nobody\") { kind } }", NONE)
            .await;
        assert_eq!(data, json!({"__typename": "Query", "document": null}));
    }
}

/// Whether all fields of the data are null.
fn has_none(data: &Value) -> bool {
    match data {
        Value::Object(fields) => fields.values().all(has_none),
        data => data.is_null(),
    }
}

/// The code and message of the only error of a response.
pub(crate) fn only_error(response: &Value) -> (String, String) {
    let errors = response["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 1, "{response}");
    let code = errors[0]["extensions"]["code"].as_str().expect("a code");
    let message = errors[0]["message"].as_str().expect("a message");
    (code.to_owned(), message.to_owned())
}

/// The code of the only error of a response that also has data.
pub(crate) fn field_error(response: &Value) -> String {
    assert!(response.get("data").is_some(), "{response}");
    only_error(response).0
}

pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:.300}"))
}

/// All pairs of a range, batch by batch.
pub(crate) async fn all_pairs(read: &dyn Read, begin: &[u8], end: &[u8]) -> Pairs {
    let mut pairs = Pairs::default();
    let mut batches = Batches::new(read, begin, end);
    while let Some(batch) = batches.next().await.expect("read") {
        pairs.append(&batch);
    }
    pairs
}
