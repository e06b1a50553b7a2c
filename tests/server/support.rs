//! A server process on its own store, and a client that sends raw bytes.

#[path = "../sound/files/mod.rs"]
mod files;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use files::assert_sound;
use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};

/// A timeout for operations that are expected to be fast, so that a failure does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, killed when dropped. Its store must then be sound.
pub(crate) struct Server {
    process: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) address: String,
    directory: Option<TempDir>,
    log: Option<NamedTempFile>,
}

/// The command line of a server on a free port.
pub(crate) fn command(directory: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    command.arg("serve").arg("--store").arg(directory.path());
    if !arguments.contains(&"--listen") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    command.args(arguments);
    command
        .env_remove("PHYLLO_INSECURE")
        .env_remove("PHYLLO_TOKEN_FILE")
        .env_remove("PHYLLO_RULES")
        .env_remove("PHYLLO_JWT_KEYS")
        .env_remove("PHYLLO_JWT_ISSUER")
        .env_remove("PHYLLO_JWT_AUDIENCES")
        .env_remove("PHYLLO_JWT_CA")
        .env_remove("PHYLLO_TLS_CERT")
        .env_remove("PHYLLO_TLS_KEY")
        .env_remove("PHYLLO_LOG_FORMAT")
        .env_remove("OTEL_EXPORTER_OTLP_ENDPOINT")
        .env_remove("RUST_LOG")
        .env_remove("PHYLLO_LISTEN")
        .env_remove("PHYLLO_CORS_ORIGINS")
        .env_remove("PHYLLO_STORE");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts a server with additional arguments.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self::on(directory, arguments)
    }

    /// Starts a server on a directory.
    pub(crate) fn on(directory: TempDir, arguments: &[&str]) -> Self {
        let mut command = command(&directory, arguments);
        command.stderr(Stdio::inherit());
        Self::run(command, directory, None)
    }

    /// Starts a server with additional arguments and captures its log.
    pub(crate) fn logged(arguments: &[&str]) -> Self {
        Self::logged_at("info", arguments)
    }

    /// The same, with this log filter.
    pub(crate) fn logged_at(filter: &str, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self::logged_on(directory, filter, arguments)
    }

    /// The same, on a directory.
    pub(crate) fn logged_on(directory: TempDir, filter: &str, arguments: &[&str]) -> Self {
        let log = NamedTempFile::new().expect("a file");
        let mut command = command(&directory, arguments);
        command.stderr(log.reopen().expect("the file"));
        command.env("RUST_LOG", filter);
        Self::run(command, directory, Some(log))
    }

    fn run(mut command: Command, directory: TempDir, log: Option<NamedTempFile>) -> Self {
        let reports_in_log = command.get_args().any(|argument| argument == "json");
        let mut process = command.spawn().expect("the binary starts");
        let stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut server = Self {
            process,
            stdout,
            address: String::new(),
            directory: Some(directory),
            log,
        };
        let url = if reports_in_log {
            let entry = server.wait_for_log("\"serving\"");
            let entry: Value = serde_json::from_str(&entry).expect("JSON");
            entry["url"].as_str().expect("a URL").to_owned()
        } else {
            let mut line = String::new();
            server.stdout.read_line(&mut line).expect("a line");
            let url = line.trim().strip_prefix("Phyllo serves on ");
            url.unwrap_or_else(|| panic!("no address: {line:?}"))
                .to_owned()
        };
        let address = url
            .strip_suffix('/')
            .and_then(|url| url.split("://").nth(1));
        let address = address.unwrap_or_else(|| panic!("{url}"));
        address.clone_into(&mut server.address);
        server
    }

    /// The directory of its store.
    pub(crate) fn store(&self) -> &Path {
        self.directory.as_ref().expect("it was not taken").path()
    }

    /// The log so far.
    pub(crate) fn log(&self) -> String {
        let log = self.log.as_ref().expect("its log is kept");
        std::fs::read_to_string(log).expect("UTF-8")
    }

    /// Waits for the process to end and returns its log.
    pub(crate) fn log_at_end(mut self) -> String {
        self.process.wait().expect("it ends");
        self.log()
    }

    /// Waits for a log line that contains `part` and returns it.
    pub(crate) fn wait_for_log(&self, part: &str) -> String {
        let begin = Instant::now();
        loop {
            let log = self.log();
            if let Some(line) = log.lines().find(|line| line.contains(part)) {
                return line.to_owned();
            }
            assert!(begin.elapsed() < PATIENCE, "no {part:?} in {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn connect(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream.set_nodelay(true).expect("a socket");
        Connection(BufReader::new(stream))
    }

    /// Sends a request on a new connection and returns the response.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Response {
        self.connect().ask(method, path, headers, body)
    }

    /// Sends a query as a JSON client and returns the response.
    pub(crate) fn query(&self, query: &str) -> Value {
        let response = self.ask(
            "POST",
            "/graphql",
            &[JSON],
            json!({"query": query}).to_string(),
        );
        assert_eq!(response.status, 200);
        response.json()
    }

    /// Asserts that the server still serves other clients.
    pub(crate) fn assert_serves(&self) {
        assert_eq!(
            self.query("{ __typename }"),
            json!({"data": {"__typename": "Query"}})
        );
    }

    /// The peak memory of the process so far, in bytes.
    pub(crate) fn memory_peak(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.expect("Linux tells");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.parse::<usize>().ok())
            .expect("a number")
            << 10
    }

    /// Sends a signal, given by its name.
    pub(crate) fn signal(&self, signal: &str) {
        let kill = Command::new("kill")
            .args(["-s", signal, &self.process.id().to_string()])
            .status();
        assert!(kill.expect("kill runs").success());
    }

    /// Waits for a successful exit, checks the store and returns its directory.
    pub(crate) fn stopped(mut self) -> TempDir {
        let status = self.process.wait().expect("it ends");
        assert!(status.success(), "{status}");
        let directory = self.ended();
        assert_sound(directory.path());
        directory
    }

    /// Waits for the process to end and returns the directory.
    pub(crate) fn ended(mut self) -> TempDir {
        self.process.wait().expect("it ends");
        self.directory.take().expect("it was not taken before")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
        if let Some(directory) = &self.directory {
            assert_sound(directory.path());
        }
    }
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

pub(crate) struct Connection(BufReader<TcpStream>);

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    /// The body, unless it is compressed.
    pub(crate) body: String,
    /// The body as it was sent.
    pub(crate) bytes: Vec<u8>,
}

impl Connection {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0
            .get_mut()
            .write_all(bytes.as_ref())
            .expect("it is sent");
    }

    /// Sends as much as the server reads. The server may respond and close before the end. Returns
    /// whether all was sent.
    pub(crate) fn offer(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.get_mut().write_all(bytes.as_ref()).is_ok()
    }

    /// Shuts down one or both directions.
    pub(crate) fn shutdown(&self, how: Shutdown) {
        // The server may have closed the connection already.
        let _ended = self.0.get_ref().shutdown(how);
    }

    /// Clones the connection, to send on one thread and receive on another.
    pub(crate) fn other(&self) -> Self {
        let stream = self.0.get_ref().try_clone();
        Self(BufReader::new(stream.expect("a socket")))
    }

    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Response {
        self.send(head(method, path, headers, body.as_ref().len()));
        self.send(body);
        self.response(method != "HEAD")
    }

    /// Reads the next response, with or without a body.
    pub(crate) fn response(&mut self, with_body: bool) -> Response {
        let status = self.line();
        let status = status
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("a status");
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut response = Response {
            status,
            headers,
            body: String::new(),
            bytes: Vec::new(),
        };
        if with_body {
            response.bytes = self.body(&response);
        }
        if response.header("content-encoding").is_none() {
            response.body = String::from_utf8(response.bytes.clone()).expect("UTF-8");
        }
        response
    }

    fn body(&mut self, response: &Response) -> Vec<u8> {
        if response.header("transfer-encoding") != Some("chunked") {
            let length = response.header("content-length");
            return self.exactly(length.map_or(0, |length| length.parse().expect("a length")));
        }
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(&self.line(), 16).expect("a length");
            body.extend(self.exactly(length));
            assert_eq!(self.line(), "");
            if length == 0 {
                return body;
            }
        }
    }

    fn exactly(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).expect("the body");
        bytes
    }

    /// Asserts that the server closes the connection without sending more.
    pub(crate) fn assert_closed(&mut self) {
        assert_eq!(String::from_utf8_lossy(&self.rest()), "");
    }

    /// Reads until the server closes the connection. It must close it.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        if let Err(error) = self.0.read_to_end(&mut rest) {
            // A reset also ends the connection.
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
        }
        rest
    }

    /// Reads what has arrived, at least something.
    pub(crate) fn text(&mut self) -> String {
        let arrived = self.0.fill_buf().expect("it arrives");
        assert!(!arrived.is_empty(), "the connection ended");
        let text = String::from_utf8_lossy(arrived).into_owned();
        let length = arrived.len();
        self.0.consume(length);
        text
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The values of a list header, across all its lines.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let lines = self.headers.iter().filter(|(header, _)| header == name);
        let elements = lines.flat_map(|(_, value)| value.split(','));
        let mut elements: Vec<String> = elements
            .map(|element| element.trim().to_ascii_lowercase())
            .collect();
        elements.sort();
        elements
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the first error.
    pub(crate) fn code(&self) -> String {
        self.json()["errors"][0]["extensions"]["code"]
            .as_str()
            .expect("a code")
            .to_owned()
    }
}

/// The head of a request.
pub(crate) fn head(method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
    if length > 0 {
        write!(head, "content-length: {length}\r\n").expect("a string takes all");
    }
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("a string takes all");
    }
    head + "\r\n"
}

/// The body of a request that inserts a JSON document under an id.
pub(crate) fn insertion(id: &str, document: &str) -> String {
    let query = "mutation($id: ID, $d: JSON) { insertDocument(id: $id, document: $d) { key } }";
    format!(
        r#"{{"query":{},"variables":{{"id":"{id}","d":{document}}}}}"#,
        json!(query)
    )
}
