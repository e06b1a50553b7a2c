//! The client of a server's local socket.

use std::io;
use std::path::Path;

use bytes::Bytes;
use form_urlencoded::Serializer;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::sync::Mutex;

use crate::cli::outcome::failed;
use crate::database::{
    Adopted, Collection, DefinedType, DocumentKey, Finding, Foreign, Put, Scanned, StoredType,
    Summary, Swept,
};
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::operations::{ChangeRequest, Policy, Sweep};
use crate::server::local::{
    SOCKET_NAME, backup_records, checked, following, removal, sweeping, typing, wire,
    with_short_path,
};
use crate::store::Pairs;

/// A connection to a server's local socket.
pub(crate) struct Client {
    sender: Mutex<SendRequest<Full<Bytes>>>,
}

impl Client {
    /// Connects to the server that holds the store in `directory`. Returns `None` if there is no
    /// server.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the socket exists but cannot be reached.
    pub(crate) async fn connect(directory: &Path) -> Result<Option<Self>> {
        let connected = with_short_path(directory, SOCKET_NAME, |path| {
            std::os::unix::net::UnixStream::connect(path)
        });
        let stream = match connected {
            Ok(stream) => stream,
            // There is no socket, or its server ended without removing it.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(unreachable(directory, &error)),
        };
        let stream = asynchronous(stream).map_err(|error| unreachable(directory, &error))?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(broken)?;
        // The pending request receives any error of the connection.
        tokio::spawn(connection);
        Ok(Some(Self {
            sender: Mutex::new(sender),
        }))
    }

    pub(crate) async fn put_batch(
        &self,
        collection: &str,
        documents: impl Iterator<Item = (&DocumentId, &Vec<u8>)>,
        policy: Policy,
    ) -> Result<Vec<Result<Put>>> {
        let (existing, on_error) = policy.names();
        let query = [
            ("collection", collection),
            ("existing", existing),
            ("on-error", on_error),
        ];
        let mut body = Vec::new();
        for (id, text) in documents {
            wire::write_document(&mut body, id, text);
        }
        let answer = self.request(Method::POST, wire::PUT_BATCH, &query, body);
        wire::read_results(&whole(answer.await?).await?)
    }

    pub(crate) async fn adopt(&self, collection: &str, begin: Option<Vec<u8>>) -> Result<Adopted> {
        let query = [("collection", collection)];
        let begin = begin.unwrap_or_default();
        let answer = self.request(Method::POST, wire::ADOPT, &query, begin);
        wire::read_adopted(&whole(answer.await?).await?)
    }

    pub(crate) async fn get(&self, document: &DocumentKey, path: &str) -> Result<Option<Vec<u8>>> {
        let answer = self.at(wire::GET, document, path).await?;
        if answer.status() == StatusCode::NO_CONTENT {
            return Ok(None);
        }
        whole(answer).await.map(|json| Some(json.to_vec()))
    }

    pub(crate) async fn pairs(&self, document: &DocumentKey, path: &str) -> Result<Pairs> {
        let answer = self.at(wire::PAIRS, document, path).await?;
        wire::read_pairs(&whole(answer).await?)
    }

    pub(crate) async fn collections(&self) -> Result<Vec<Collection>> {
        let answer = self.request(Method::GET, wire::COLLECTIONS, &[], Vec::new());
        wire::read_collections(&whole(answer.await?).await?)
    }

    pub(crate) async fn drop_collection(&self, collection: &str) -> Result<i64> {
        let query = [("collection", collection)];
        let answer = self.request(Method::POST, removal::DROP, &query, Vec::new());
        wire::number(&whole(answer.await?).await?)
    }

    pub(crate) async fn types(&self, collection: Option<&str>) -> Result<Vec<StoredType>> {
        let query = collection.map(|collection| ("collection", collection));
        let answer = self.request(Method::GET, typing::TYPES, query.as_slice(), Vec::new());
        typing::read_types(&whole(answer.await?).await?)
    }

    pub(crate) async fn set_type(
        &self,
        collection: &str,
        schema: &str,
        dry_run: bool,
    ) -> Result<DefinedType> {
        let dry_run = dry_run.to_string();
        let query = [("collection", collection), ("dry-run", &*dry_run)];
        let schema = schema.as_bytes().to_vec();
        let answer = self.request(Method::POST, typing::SET_TYPE, &query, schema);
        typing::read_defined(&whole(answer.await?).await?)
    }

    /// An operation on the type of a collection, which says whether there is one.
    pub(crate) async fn type_operation(
        &self,
        operation: &'static str,
        collection: &str,
    ) -> Result<bool> {
        let query = [("collection", collection)];
        let answer = self.request(Method::POST, operation, &query, Vec::new());
        Ok(&whole(answer.await?).await?[..] == b"true")
    }

    pub(crate) async fn sweep_portion(
        &self,
        sweep: &Sweep,
        after: Option<&DocumentId>,
        documents_max: usize,
    ) -> Result<Swept> {
        let (documents, everything) = (documents_max.to_string(), sweep.everything.to_string());
        let after = after.map(ToString::to_string);
        let mut query = vec![
            ("collection", &*sweep.collection),
            ("change", sweeping::change_name(&sweep.change)),
            ("documents", &documents),
            ("everything", &everything),
        ];
        query.extend(after.as_deref().map(|after| ("after", after)));
        let body = sweeping::write_sweep(sweep);
        let answer = self.request(Method::POST, sweeping::SWEEP, &query, body);
        sweeping::read_swept(&whole(answer.await?).await?)
    }

    pub(crate) async fn other_names(&self, collection: &str) -> Result<Option<Vec<String>>> {
        let query = [("collection", collection)];
        let answer = self.request(Method::GET, removal::NAMES, &query, Vec::new());
        let answer = answer.await?;
        if answer.status() == StatusCode::NO_CONTENT {
            return Ok(None);
        }
        removal::read_names(&whole(answer).await?).map(Some)
    }

    pub(crate) async fn export(&self, collection: &str) -> Result<Records> {
        let query = [("collection", collection)];
        let answer = self.request(Method::GET, wire::EXPORT, &query, Vec::new());
        Ok(Records(Fields::new(answer.await?)))
    }

    pub(crate) async fn check(&self, collection: Option<&str>) -> Result<FindingsStream> {
        let query = collection.map(|collection| ("collection", collection));
        let query = query.as_slice();
        let answer = self.request(Method::GET, checked::CHECK, query, Vec::new());
        Ok(FindingsStream(Fields::new(answer.await?)))
    }

    pub(crate) async fn backup(&self) -> Result<BackupStream> {
        let answer = self.request(Method::GET, backup_records::BACKUP, &[], Vec::new());
        let mut fields = Fields::new(answer.await?);
        match backup_records::BackupRecord::read(fields.next().await?)? {
            backup_records::BackupRecord::Begin(last_commit) => Ok(BackupStream {
                last_commit,
                fields,
            }),
            _ => Err(wire::cut_short()),
        }
    }

    pub(crate) async fn changes(&self, request: &ChangeRequest, path: &str) -> Result<LineStream> {
        let follow = if request.follow { "true" } else { "false" };
        let mut query = vec![
            ("collection", &*request.collection),
            ("follow", follow),
            ("path", path),
        ];
        let id = request.id.as_ref().map(ToString::to_string);
        query.extend(id.as_ref().map(|id| ("id", &**id)));
        query.extend(request.after.as_ref().map(|after| ("after", &**after)));
        let answer = self.request(Method::GET, following::CHANGES, &query, Vec::new());
        Ok(LineStream(Fields::new(answer.await?)))
    }

    pub(crate) async fn watch(&self, document: &DocumentKey, path: &str) -> Result<LineStream> {
        let answer = self.at(following::WATCH, document, path).await?;
        Ok(LineStream(Fields::new(answer)))
    }

    async fn at(
        &self,
        route: &str,
        document: &DocumentKey,
        path: &str,
    ) -> Result<Response<Incoming>> {
        let id = document.id.to_string();
        let query = [
            ("collection", &*document.collection),
            ("id", &id),
            ("path", path),
        ];
        self.request(Method::GET, route, &query, Vec::new()).await
    }

    async fn request(
        &self,
        method: Method,
        route: &str,
        query: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Response<Incoming>> {
        let query = Serializer::new(String::new()).extend_pairs(query).finish();
        let request = Request::builder()
            .method(method)
            .uri(format!("{route}?{query}"))
            .header(http::header::HOST, "localhost")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| Error::internal(error.to_string()))?;
        let mut sender = self.sender.lock().await;
        sender.ready().await.map_err(broken)?;
        let response = sender.send_request(request).await.map_err(broken)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let body = whole(response).await?;
        Err(wire::read_error(&String::from_utf8_lossy(&body)))
    }
}

/// The records of an export, decoded as they arrive.
pub(crate) struct Records(Fields);

impl Records {
    /// The next document, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
        match wire::ExportRecord::read(self.0.next().await?)? {
            wire::ExportRecord::Document(document) => Ok(Some(Ok(document))),
            wire::ExportRecord::Foreign(foreign) => Ok(Some(Err(foreign))),
            wire::ExportRecord::End => Ok(None),
            wire::ExportRecord::Failed(error) => Err(error),
        }
    }
}

/// Lines, decoded as they arrive.
pub(crate) struct LineStream(Fields);

impl LineStream {
    /// The next line, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        match following::LineRecord::read(self.0.next().await?)? {
            following::LineRecord::Line(line) => Ok(Some(line)),
            following::LineRecord::End => Ok(None),
            following::LineRecord::Failed(error) => Err(error),
        }
    }
}

/// The findings of a check, decoded as they arrive.
pub(crate) struct FindingsStream(Fields);

impl FindingsStream {
    /// The next finding, or the summary at the end.
    pub(crate) async fn next(&mut self) -> Result<Result<Finding, Summary>> {
        match checked::CheckRecord::read(self.0.next().await?)? {
            checked::CheckRecord::Finding(finding) => Ok(Ok(finding)),
            checked::CheckRecord::End(summary) => Ok(Err(summary)),
            checked::CheckRecord::Failed(error) => Err(error),
        }
    }
}

/// A backup, decoded as it arrives.
pub(crate) struct BackupStream {
    last_commit: u64,
    fields: Fields,
}

impl BackupStream {
    /// The number of the last commit in the backup.
    pub(crate) fn last_commit(&self) -> u64 {
        self.last_commit
    }

    /// The next pairs, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Pairs>> {
        match backup_records::BackupRecord::read(self.fields.next().await?)? {
            backup_records::BackupRecord::Pairs(pairs) => Ok(Some(pairs)),
            backup_records::BackupRecord::End => Ok(None),
            backup_records::BackupRecord::Failed(error) => Err(error),
            backup_records::BackupRecord::Begin(_) => Err(wire::cut_short()),
        }
    }
}

/// The fields of a response, split as they arrive.
struct Fields {
    body: Incoming,
    bytes: Vec<u8>,
    at: usize,
}

impl Fields {
    fn new(answer: Response<Incoming>) -> Self {
        Self {
            body: answer.into_body(),
            bytes: Vec::new(),
            at: 0,
        }
    }

    async fn next(&mut self) -> Result<&[u8]> {
        loop {
            if let Some((field, rest)) = wire::split_field(&self.bytes[self.at..]) {
                let end = self.bytes.len() - rest.len();
                let begin = end - field.len();
                self.at = end;
                return Ok(&self.bytes[begin..end]);
            }
            self.bytes.drain(..self.at);
            self.at = 0;
            let frame = self.body.frame().await.ok_or_else(wire::cut_short)?;
            if let Ok(data) = frame.map_err(broken)?.into_data() {
                self.bytes.extend_from_slice(&data);
            }
        }
    }
}

async fn whole(response: Response<Incoming>) -> Result<Bytes> {
    let collected = response.into_body().collect().await.map_err(broken)?;
    Ok(collected.to_bytes())
}

fn asynchronous(stream: std::os::unix::net::UnixStream) -> io::Result<UnixStream> {
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

fn unreachable(directory: &Path, error: &io::Error) -> Error {
    failed(format!(
        "the server that holds the store {} cannot be reached through its {SOCKET_NAME}: {error}",
        directory.display()
    ))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn broken(error: hyper::Error) -> Error {
    failed(format!(
        "the connection to the server that holds the store failed: {error}; the last write may or \
         may not be committed"
    ))
}
