//! An HTTP load generator: connections that send a request, read the whole response, and repeat.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime;

/// A POST of JSON, as bytes on the wire.
pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A GraphQL request, as bytes on the wire.
pub(crate) fn graphql(query: &str, variables: &str) -> Vec<u8> {
    let query = query.replace('"', "\\\"");
    post(
        "/graphql",
        &format!("{{\"query\":\"{query}\",\"variables\":{variables}}}"),
    )
}

/// The body of the response to a request that succeeds.
pub(crate) async fn answer(address: SocketAddr, request: &[u8]) -> String {
    let mut connection = Connection::open(address).await;
    let answer = String::from_utf8_lossy(connection.ask(request).await).into_owned();
    assert!(answer.starts_with("{\"data\""), "{answer}");
    answer
}

/// Sends `request` on `connections` concurrent connections for `time`, from its own thread. Returns
/// responses per second.
pub(crate) fn rate(address: SocketAddr, request: &[u8], connections: usize, time: Duration) -> f64 {
    rate_of(address, &[request.to_vec()], connections, time)
}

/// Like [`rate`], but the connections cycle through the requests.
pub(crate) fn rate_of(
    address: SocketAddr,
    requests: &[Vec<u8>],
    connections: usize,
    time: Duration,
) -> f64 {
    let requests: Vec<Arc<[u8]>> = requests.iter().map(|request| request[..].into()).collect();
    let request = move |connection: usize| requests[connection % requests.len()].clone();
    alone(move || run(address, request, connections, time))
}

/// Like [`rate`], but each request is newly generated.
pub(crate) fn rate_of_new<R: AsRef<[u8]> + Send>(
    address: SocketAddr,
    new: impl Fn() -> R + Clone + Send + 'static,
    connections: usize,
    time: Duration,
) -> f64 {
    alone(move || run(address, move |_| new(), connections, time))
}

/// Runs a future on its own thread.
pub(crate) fn alone<T, W>(work: impl FnOnce() -> W + Send + 'static) -> T
where
    T: Send + 'static,
    W: Future<Output = T>,
{
    let client = thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(work())
    });
    client.join().expect("the load ran")
}

async fn run<R: AsRef<[u8]> + Send>(
    address: SocketAddr,
    request: impl Fn(usize) -> R + Clone + Send + 'static,
    connections: usize,
    time: Duration,
) -> f64 {
    let stop = Arc::new(AtomicBool::new(false));
    let responses = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..connections)
        .map(|connection| {
            let (request, stop, responses) = (request.clone(), stop.clone(), responses.clone());
            tokio::spawn(async move {
                let number = connection;
                let mut connection = Connection::open(address).await;
                while !stop.load(Relaxed) {
                    let response = connection.ask(request(number).as_ref()).await;
                    // A list of errors would follow the data. Searching a large response for it
                    // would cost as much as producing the response.
                    let answered = response.starts_with(b"{\"data\":") && response.ends_with(b"}}");
                    assert!(answered, "{}", String::from_utf8_lossy(response));
                    responses.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    let begin = Instant::now();
    tokio::time::sleep(time).await;
    let rate = responses.load(Relaxed) as f64 / begin.elapsed().as_secs_f64();
    stop.store(true, Relaxed);
    for client in clients {
        client.await.expect("every request was answered");
    }
    rate
}

/// Sends `per_second` requests per second for `time`, on this number of connections. Returns the
/// sorted latencies in seconds, measured from when each request was due. So a late response delays
/// the requests after it.
pub(crate) fn latencies(
    address: SocketAddr,
    request: &[u8],
    connections: usize,
    per_second: f64,
    time: Duration,
) -> Vec<f64> {
    let request: Arc<[u8]> = request.into();
    let work = async move {
        let begin = tokio::time::Instant::now();
        let clients = (0..connections).map(|number| {
            let request = request.clone();
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await;
                let mut taken = Vec::new();
                for at in (number..).step_by(connections) {
                    let due = Duration::from_secs_f64(at as f64 / per_second);
                    if due >= time {
                        break;
                    }
                    tokio::time::sleep_until(begin + due).await;
                    connection.ask(&request).await;
                    taken.push(begin.elapsed().as_secs_f64() - due.as_secs_f64());
                }
                taken
            })
        });
        let taken = futures::future::join_all(clients.collect::<Vec<_>>()).await;
        taken
            .into_iter()
            .flat_map(|taken| taken.expect("every request was answered"))
            .collect()
    };
    let mut taken: Vec<f64> = alone(move || work);
    taken.sort_by(f64::total_cmp);
    taken
}

/// Sends newly generated requests on this number of connections for `time`. A connection sends the
/// next request after the response. Returns the sorted latencies in seconds.
pub(crate) fn latencies_under_load(
    address: SocketAddr,
    request: impl Fn(usize) -> Arc<[u8]> + Clone + Send + 'static,
    connections: usize,
    time: Duration,
) -> Vec<f64> {
    let work = async move {
        let begin = Instant::now();
        let clients = (0..connections).map(|number| {
            let request = request.clone();
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await;
                let mut taken = Vec::new();
                while begin.elapsed() < time {
                    let sent = Instant::now();
                    let response = connection.ask(&request(number)).await;
                    assert!(response.starts_with(b"{\"data\":"), "an error");
                    taken.push(sent.elapsed().as_secs_f64());
                }
                taken
            })
        });
        let taken = futures::future::join_all(clients.collect::<Vec<_>>()).await;
        taken
            .into_iter()
            .flat_map(|taken| taken.expect("every request was answered"))
            .collect()
    };
    let mut taken: Vec<f64> = alone(move || work);
    taken.sort_by(f64::total_cmp);
    taken
}

/// Sends each sequence of requests on its own connection, all concurrently. Each request is sent
/// after the previous response.
pub(crate) fn ask_in_order(address: SocketAddr, sequences: &[Vec<Vec<u8>>]) {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let sequences = sequences.iter().map(|sequence| async move {
        let mut connection = Connection::open(address).await;
        for request in sequence {
            connection.ask(request).await;
        }
    });
    runtime
        .expect("a runtime")
        .block_on(futures::future::join_all(sequences));
}

/// A keep-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address)
            .await
            .expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Self {
            stream,
            read: Vec::with_capacity(1 << 16),
        }
    }

    /// Sends a request, reads the whole response and returns the body.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> &[u8] {
        self.stream.write_all(request).await.expect("sent");
        self.read.clear();
        let (body, length) = loop {
            self.more().await;
            if let Some(head) = memchr::memmem::find(&self.read, b"\r\n\r\n") {
                break (head + 4, content_length(&self.read[..head]));
            }
        };
        while self.read.len() < body + length {
            self.more().await;
        }
        &self.read[body..]
    }

    async fn more(&mut self) {
        let read = self.stream.read_buf(&mut self.read).await.expect("read");
        assert!(read > 0, "the server hung up");
    }
}

fn content_length(head: &[u8]) -> usize {
    assert!(
        head.starts_with(b"HTTP/1.1 200"),
        "{}",
        String::from_utf8_lossy(head)
    );
    let head = head.to_ascii_lowercase();
    let name = b"content-length: ";
    let at = memchr::memmem::find(&head, name).expect("a length") + name.len();
    let digits = head[at..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |length, digit| 10 * length + usize::from(digit - b'0'))
}
