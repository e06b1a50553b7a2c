//! A client that notices when it is not answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// Time for what never takes so long, so that a failure is no hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection that is kept.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Connects to the server at `http://ADDRESS`, if there is one.
    pub(crate) fn open(url: &str) -> Option<Self> {
        let address = url.strip_prefix("http://").expect("a URL");
        let stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self(BufReader::with_capacity(1 << 10, stream)))
    }

    /// The response to a query. None if the connection ends without any of it; a response that is
    /// not whole fails the test.
    pub(crate) fn query(&mut self, query: &str) -> Option<Value> {
        let body = json!({"query": query}).to_string();
        let request = format!(
            "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.get_mut().write_all(request.as_bytes()).ok()?;
        let mut status = String::new();
        if self.0.read_line(&mut status).unwrap_or(0) == 0 {
            return None;
        }
        assert!(status.starts_with("HTTP/1.1 200 "), "{status:?}");
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).expect("the rest of the head");
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().expect("a number");
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).expect("the body");
        Some(serde_json::from_slice(&body).expect("JSON"))
    }
}

/// The response to a query on a connection of its own.
pub(crate) fn ask(url: &str, query: &str) -> Value {
    let mut connection = Connection::open(url).expect("the server listens");
    connection.query(query).expect("it answers")
}
