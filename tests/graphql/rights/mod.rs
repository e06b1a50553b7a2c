//! Access rules: what they allow, and that nothing else is read, written or told.

mod canary;
mod conditions;
mod counts;
mod every_field;
mod mutations;
mod one_step;
mod queries;
pub(crate) mod rounds;
mod subscriptions;

use std::sync::Arc;

use phyllo::graphql::{GraphQlResponse, Methods, Request, RulesInForce};
use phyllo::rights::{Principal, Rules};
use serde_json::{Map, Value, json};

use super::support::{Client, Counts, NONE, client};

cases!(modules [
    canary,
    conditions,
    counts,
    every_field,
    mutations,
    one_step,
    queries,
    rounds,
    subscriptions,
]);

/// A user with these claims.
fn user(claims: Value) -> Principal {
    let claims: Map<String, Value> = serde_json::from_value(claims).expect("an object");
    Principal::User {
        claims: Arc::new(claims),
    }
}

fn rules(text: &str) -> RulesInForce {
    RulesInForce::fixed(Rules::parse(text).expect("rules"))
}

/// Rules for everybody, each given by its other members.
fn anyone(rules_for_anyone: &[&str]) -> RulesInForce {
    let text: String = rules_for_anyone
        .iter()
        .map(|members| format!("[[allow]]\nwho = \"anyone\"\n{members}\n"))
        .collect();
    rules(&text)
}

impl Client {
    /// The message of the only error of a request that the rules refuse. Nothing is read or written.
    async fn refused(&self, query: &str) -> String {
        // A transaction reads the format of the store.
        let nothing = if query.starts_with("mutation") {
            self.cost("mutation { __typename }", NONE).await.1
        } else {
            self.cost("{ __typename }", NONE).await.1
        };
        let before = self.counts();
        let (code, message) = self.error(query, NONE).await;
        let after = self.counts();
        assert_eq!(code, "FORBIDDEN", "{query}: {message}");
        let of = |counts: Counts| [counts.gets, counts.ranges, counts.pairs, counts.writes];
        for ((before, after), nothing) in of(before).iter().zip(of(after)).zip(of(nothing)) {
            assert!(after - before <= nothing, "{query} reads or writes");
        }
        message
    }

    /// The response to a request with an idempotency key.
    async fn once(&self, query: &str, key: &str) -> Value {
        let request = self.request(json!({"query": query}).to_string());
        let request = Request {
            idempotency_key: Some(key.to_owned()),
            ..request.expect("a request")
        };
        match self.graphql.answer(request, Methods::All).await {
            GraphQlResponse::Executed(json) => serde_json::from_slice(&json).expect("JSON"),
            other => panic!("{other:?}"),
        }
    }

    /// The message of the only error of a request that is refused when documents were read.
    async fn refused_by_condition(&self, query: &str) -> String {
        let (code, message) = self.error(query, NONE).await;
        assert_eq!(code, "FORBIDDEN", "{query}: {message}");
        message
    }
}
