//! A client that measures responses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The time after which a request counts as unanswered.
const PATIENCE: Duration = Duration::from_secs(60);
/// The bytes of a body that are stored. The rest is only counted.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// A connection that is reopened when it ends.
pub(crate) struct Client {
    address: String,
    connection: Option<BufReader<TcpStream>>,
}

/// The response to one request.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The size of the body, in bytes.
    pub(crate) bytes: usize,
    /// The body, or its beginning.
    body: Vec<u8>,
    pub(crate) time: Duration,
}

impl Client {
    pub(crate) fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            connection: None,
        }
    }

    /// Sends a request, as bytes on the wire. Returns `None` if the server closed the connection,
    /// or did not respond for a long time.
    pub(crate) fn send(&mut self, request: &[u8]) -> Option<Answer> {
        let begin = Instant::now();
        let reused = self.connection.is_some();
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect(),
        };
        // The server may respond and close before it has read everything.
        let refused = connection.get_mut().write_all(request);
        let Some((answer, stays)) = receive(&mut connection, begin) else {
            // Prints the reason, for the output of a failed test.
            let next = std::io::Read::read(&mut connection, &mut [0; 64]);
            println!(
                "a connection ended after {:?}: reused {reused}, {} bytes written: {refused:?}, then {next:?}",
                begin.elapsed(),
                request.len()
            );
            return None;
        };
        self.connection = stays.then_some(connection);
        Some(answer)
    }

    /// The response to a query.
    pub(crate) fn ask(&mut self, query: &str, variables: &Value) -> Value {
        let answer = self.send(&post(&body(query, &variables.to_string())));
        answer.expect("it answers").json()
    }

    /// Like [`Client::ask`]. The response must have no errors.
    pub(crate) fn data(&mut self, query: &str, variables: &Value) -> Value {
        let response = self.ask(query, variables);
        assert!(
            response["errors"].is_null(),
            "{query:.300}: {response:.1000}"
        );
        response["data"].clone()
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream.set_nodelay(true).expect("a socket");
        BufReader::with_capacity(64 << 10, stream)
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:.300}", String::from_utf8_lossy(&self.body)))
    }

    /// The body, or its beginning.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Whether it has no errors. The data comes before the errors.
    pub(crate) fn is_data(&self) -> bool {
        self.body.starts_with(b"{\"data\":{") && self.codes().is_empty()
    }

    /// The distinct error codes, including those of a batch.
    pub(crate) fn codes(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.body);
        if !text.contains("\"errors\":[") {
            return Vec::new();
        }
        let found = text.split("\"extensions\":{\"code\":\"").skip(1);
        let mut codes: Vec<String> = found
            .filter_map(|rest| rest.split('"').next().map(str::to_owned))
            .collect();
        codes.sort();
        codes.dedup();
        if codes.is_empty() {
            codes.push("an error without a code".to_owned());
        }
        codes
    }
}

/// Reads the next response, and whether the connection stays open. `None` if the connection ends
/// before.
fn receive(connection: &mut BufReader<TcpStream>, begin: Instant) -> Option<(Answer, bool)> {
    let status = line(connection)?;
    let status = status.split(' ').nth(1)?.parse().ok()?;
    let (mut length, mut chunked, mut stays) = (0, false, true);
    loop {
        let header = line(connection)?.to_ascii_lowercase();
        let Some((name, value)) = header.split_once(": ") else {
            break;
        };
        match name {
            "content-length" => length = value.parse().ok()?,
            "transfer-encoding" => chunked = value == "chunked",
            "connection" => stays = value != "close",
            _ => {}
        }
    }
    let (mut bytes, mut body) = (0, Vec::new());
    if chunked {
        loop {
            let chunk = usize::from_str_radix(&line(connection)?, 16).ok()?;
            part(connection, chunk, &mut body)?;
            line(connection)?;
            bytes += chunk;
            if chunk == 0 {
                break;
            }
        }
    } else {
        part(connection, length, &mut body)?;
        bytes = length;
    }
    let answer = Answer {
        status,
        bytes,
        body,
        time: begin.elapsed(),
    };
    Some((answer, stays))
}

fn line(connection: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = connection.read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}

fn part(connection: &mut BufReader<TcpStream>, length: usize, body: &mut Vec<u8>) -> Option<()> {
    let mut rest = length;
    let mut buffer = vec![0; length.min(64 << 10)];
    while rest > 0 {
        let end = rest.min(buffer.len());
        let read = connection.read(&mut buffer[..end]).ok()?;
        if read == 0 {
            return None;
        }
        let kept = read.min(KEPT_BYTES_MAX.saturating_sub(body.len()));
        body.extend_from_slice(&buffer[..kept]);
        rest -= read;
    }
    Some(())
}

/// The body of a request.
pub(crate) fn body(query: &str, variables: &str) -> String {
    format!("{{\"query\":{},\"variables\":{variables}}}", json!(query))
}

/// A POST of JSON, as bytes on the wire.
pub(crate) fn post(body: &str) -> Vec<u8> {
    format!(
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A GET of a query, as a page of another site can send it.
pub(crate) fn get(query: &str) -> Vec<u8> {
    let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
    format!(
        "GET /graphql?query={query} HTTP/1.1\r\nhost: localhost\r\n\
         sec-fetch-site: cross-site\r\n\r\n"
    )
    .into_bytes()
}
