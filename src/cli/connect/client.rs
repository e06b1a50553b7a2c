//! The client of the commands. It sends the requests that any client can send, over one of three transports: a URL, the
//! local socket of the server that holds the store, or in process, if this process opens the store.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use tokio::time::{Instant, sleep};

use super::cluster;
use super::data::{EventStream, OperationData, OperationVariables};
use super::opening::{
    HELD_CHECK_TIME, RecoveryProgress, StorePurpose, check_directory, held, is_missing, no_store,
    open_database, open_unless_held,
};
use super::reply::Reply;
use super::server_connection::{Effect, ServerConnection};
use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::server::ServerArguments;
use crate::cli::terminal::output::say;
use crate::database::Database;
use crate::error::{Error, Result};
use crate::key::hex;
use crate::limits::{CHANGE_RETENTION_OF_NEW_STORES, RECEIVED_BYTES_MAX, STORE_WAIT_TIME_MAX};
use crate::server::local::InProcess;
use crate::server::trust::connector;
use crate::store::EmbeddedOptions;

/// The media type of the responses to operations of GraphQL.
const GRAPHQL_RESPONSE: &str = "application/graphql-response+json";

/// The way to a database.
pub(crate) struct Client(Transport);

enum Transport {
    Server(Box<ServerConnection>),
    InProcess(Box<InProcess>),
}

/// Where a command finds its data.
#[derive(Clone, Copy)]
pub(crate) struct DataSource<'a> {
    pub(crate) store: &'a StoreLocation,
    pub(crate) server: &'a ServerArguments,
}

impl Client {
    /// Connects to the server at the URL, if there is one in the arguments, or else opens the store.
    ///
    /// # Errors
    /// As [`ServerArguments::token`], [`connector`] and [`Client::open_store`].
    pub(crate) async fn open(source: DataSource<'_>, purpose: StorePurpose) -> Result<Self> {
        let token = source.server.token()?;
        let Some(url) = &source.server.url else {
            return Self::open_store(source.store, purpose).await;
        };
        let server = Self::at_url(url, source.server.ca.as_deref(), token)?;
        Ok(Self(Transport::Server(Box::new(server))))
    }

    fn at_url(
        url: &Uri,
        authority: Option<&Path>,
        token: Option<HeaderValue>,
    ) -> Result<ServerConnection> {
        let tls = match url.scheme_str() {
            Some("https") => Some(connector(authority, "--ca")?),
            _ => None,
        };
        Ok(ServerConnection::to_url(url.clone(), tls, token))
    }

    /// Opens a store. If a server holds its directory, connects to that server.
    ///
    /// # Errors
    /// `NOT_FOUND`: there is no store. `UNAVAILABLE`: another process holds it without serving it,
    /// or it cannot be opened.
    pub(crate) async fn open_store(store: &StoreLocation, purpose: StorePurpose) -> Result<Self> {
        match store {
            StoreLocation::Directory(directory) => {
                Self::open_directory(store, directory, purpose).await
            }
            StoreLocation::Cluster(file) => {
                let cluster = cluster::open(file.as_deref())?;
                if purpose != StorePurpose::Create && !Database::is_in(&cluster).await? {
                    return Err(no_store(store));
                }
                let retention = CHANGE_RETENTION_OF_NEW_STORES;
                let database = open_database(Arc::new(cluster), retention).await?;
                Ok(Self::in_this_process(store, database))
            }
        }
    }

    async fn open_directory(
        location: &StoreLocation,
        directory: &Path,
        purpose: StorePurpose,
    ) -> Result<Self> {
        check_directory(directory)?;
        let deadline = Instant::now() + STORE_WAIT_TIME_MAX;
        let options = EmbeddedOptions::default();
        let progress = RecoveryProgress::OnTerminal;
        loop {
            if let Some(server) = ServerConnection::to_socket(directory).await? {
                return Ok(Self(Transport::Server(Box::new(server))));
            }
            if purpose != StorePurpose::Create && is_missing(directory) {
                return Err(no_store(&directory.display()));
            }
            let opened = open_unless_held(directory, options, purpose, progress).await?;
            if let Some(store) = opened {
                let database = open_database(store, CHANGE_RETENTION_OF_NEW_STORES).await?;
                return Ok(Self::in_this_process(location, database));
            }
            // The holder may be a server that is about to create its socket, or a short command.
            if Instant::now() >= deadline {
                return Err(held(directory));
            }
            sleep(HELD_CHECK_TIME).await;
        }
    }

    /// The interfaces of a database of this process. Reports a new store, because its directory may not be
    /// the one that was meant.
    fn in_this_process(location: &StoreLocation, database: Database) -> Self {
        if database.is_new() {
            say(format_args!(
                "created a new store in {}; --store selects another one",
                location.absolute()
            ));
        }
        Self(Transport::InProcess(Box::new(InProcess::new(database))))
    }

    /// Whether the routes for an operator are there: not at a URL.
    pub(crate) fn is_of_operator(&self) -> bool {
        match &self.0 {
            Transport::InProcess(_) => true,
            Transport::Server(server) => server.is_local(),
        }
    }

    /// The database, if this process has opened it, so that no server works in the background.
    pub(crate) fn database(&self) -> Option<&Database> {
        match &self.0 {
            Transport::InProcess(interfaces) => Some(interfaces.database()),
            Transport::Server(_) => None,
        }
    }

    /// Makes the types of the collections a part of the schema, which they are in a server.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn serve_types(&self) -> Result<()> {
        match &self.0 {
            Transport::InProcess(interfaces) => interfaces.refresh_types().await,
            Transport::Server(_) => Ok(()),
        }
    }

    /// Executes an operation of GraphQL.
    ///
    /// # Errors
    /// The first error of the response. `UNAVAILABLE`: the server cannot be reached.
    pub(crate) async fn execute(
        &self,
        query: &str,
        variables: OperationVariables,
    ) -> Result<OperationData> {
        let effect = effect_of(query);
        let reply = self.post_graphql(variables.body(query), GRAPHQL_RESPONSE, effect);
        OperationData::of(&reply.await?.whole().await?)
    }

    /// The responses to an operation in `body`, one after another.
    ///
    /// # Errors
    /// Why the operation is refused.
    pub(crate) async fn start(&self, body: Bytes, effect: Effect) -> Result<EventStream> {
        let reply = self.post_graphql(body, "text/event-stream", effect);
        Ok(EventStream::new(reply.await?))
    }

    /// Starts a subscription.
    ///
    /// # Errors
    /// Why the subscription is refused.
    pub(crate) async fn subscribe(
        &self,
        query: &str,
        variables: OperationVariables,
    ) -> Result<EventStream> {
        self.start(variables.body(query), Effect::Read).await
    }

    async fn post_graphql(
        &self,
        body: Bytes,
        accepted: &'static str,
        effect: Effect,
    ) -> Result<Reply> {
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static(accepted)),
        ];
        let request = request(Method::POST, "/graphql", headers, body)?;
        self.answer(request, effect).await
    }

    /// The response to `GET` of a path with a query.
    ///
    /// # Errors
    /// The error in the response. `UNAVAILABLE`: the server cannot be reached, or the connection was closed.
    pub(crate) async fn get(&self, path: &str) -> Result<Reply> {
        self.answer(request(Method::GET, path, [], Bytes::new())?, Effect::Read)
            .await
    }

    /// The response to `POST` to a path with a query.
    ///
    /// # Errors
    /// The error in the response. `UNAVAILABLE`: the server cannot be reached. `OUTCOME_UNKNOWN`: the connection was
    /// closed after the request was sent.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
        body: Bytes,
    ) -> Result<Reply> {
        let request = request(Method::POST, path, headers, body)?;
        self.answer(request, Effect::Write).await
    }

    async fn answer(&self, request: Request<Bytes>, effect: Effect) -> Result<Reply> {
        let response = match &self.0 {
            Transport::Server(server) => server.send(request, effect).await?,
            Transport::InProcess(interfaces) => interfaces.call(request).await,
        };
        // A server of this machine has documents of any size.
        let bytes_max = if self.is_of_operator() {
            usize::MAX
        } else {
            RECEIVED_BYTES_MAX
        };
        Reply::of(response, effect, bytes_max).await
    }
}

fn request(
    method: Method,
    path: &str,
    headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
    body: Bytes,
) -> Result<Request<Bytes>> {
    let request = Request::builder().method(method).uri(path).body(body);
    let mut request = request.map_err(|error| Error::internal(error.to_string()))?;
    *request.headers_mut() = HeaderMap::from_iter(headers);
    Ok(request)
}

/// What an operation may do. The word can also be in a string or a name of a query.
pub(crate) fn effect_of(operation: &str) -> Effect {
    if operation.contains("mutation") {
        Effect::Write
    } else {
        Effect::Read
    }
}

/// The path of a collection, or of something in it: each segment percent-encoded.
pub(crate) fn address<'s>(segments: impl IntoIterator<Item = &'s str>) -> String {
    let mut path = "/documents".to_owned();
    for segment in segments {
        path.push('/');
        for byte in segment.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) {
                path.push(char::from(byte));
            } else {
                path.push('%');
                path.push_str(&hex(&[byte]).to_uppercase());
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn segments_of_addresses_are_percent_encoded() {
        assert_eq!(address(["a b", "é/.."]), "/documents/a%20b/%C3%A9%2F%2E%2E");
    }
}
