//! A server in this process, on loopback, on a store that tests can access.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phyllo::database::{Check, Database};
use phyllo::server::{ServeOptions, router, serve_connections};
use phyllo::store::Store;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// A server and its client. Clones share the server.
#[derive(Clone)]
pub(crate) struct Served {
    database: Database,
    client: reqwest::Client,
    url: String,
}

impl Served {
    /// Serves a store.
    pub(crate) async fn on(store: impl Store + 'static) -> Self {
        let deadline = Instant::now() + Duration::from_secs(30);
        let database = Database::open(Arc::new(store), deadline).await;
        let database = database.expect("the database opens");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = TcpListener::bind(any).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let application = router(database.clone(), &ServeOptions::on(address));
        tokio::spawn(serve_connections(
            listener,
            application,
            std::future::pending(),
        ));
        Self {
            database,
            client: reqwest::Client::new(),
            url: format!("http://{address}/graphql"),
        }
    }

    /// The whole response to an operation. `variables` is an object.
    pub(crate) async fn ask(&self, query: &str, variables: &Value) -> Value {
        let body = json!({"query": query, "variables": variables});
        let response = self.client.post(&self.url).json(&body).send().await;
        let response = response.expect("the server answers").json().await;
        response.expect("a response is JSON")
    }

    /// The data of a response without errors.
    pub(crate) async fn data(&self, query: &str, variables: &Value) -> Value {
        let mut response = self.ask(query, variables).await;
        assert_eq!(response.get("errors"), None, "{query}\n{variables:#}");
        response["data"].take()
    }

    /// Asserts that every leaf, index entry, count and version is sound.
    pub(crate) async fn assert_sound(&self) {
        let snapshot = self.database.snapshot().await.expect("a snapshot");
        let mut check = Check::new(&snapshot, None);
        let finding = check.next_finding().await.expect("a check");
        assert!(finding.is_none(), "{finding:?}");
        assert!(check.summary().documents > 0, "nothing was stored");
    }
}
