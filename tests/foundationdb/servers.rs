//! Several servers on one cluster.

use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use phyllo::database::Database;
use phyllo::limits::CLUSTER_READY_KEPT_TIME;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::cluster::{Cluster, Redundancy, phyllo};
use super::replay::Replay;
use super::shared::open;

cases!(
    threads [
        a_server_reads_commits_of_another,
        acknowledged_writes_survive_a_kill_under_load,
        changes_of_two_servers_are_told_once_across_kills,
        a_server_without_its_cluster_is_not_ready_and_stops_cleanly,
        a_server_waits_for_its_cluster_when_it_starts,
        a_server_is_not_ready_while_most_processes_are_paused,
        acknowledged_writes_survive_kills_of_a_process_that_comes_back,
        a_subscription_over_http_resumes_after_a_restart_of_its_server,
        commands_work_on_a_cluster_with_running_servers,
    ]
);

async fn a_server_reads_commits_of_another() {
    let cluster = Cluster::start(Redundancy::Single);
    let servers = [
        Server::start(&cluster.file()),
        Server::start(&cluster.file()),
    ];
    for number in 0..20 {
        let (writer, reader) = (&servers[number % 2], &servers[(number + 1) % 2]);
        writer.insert(number).await.expect("it serves");
        assert_eq!(reader.stored(number).await, json!({"n": number}));
    }
}

async fn acknowledged_writes_survive_a_kill_under_load() {
    let cluster = Cluster::start(Redundancy::Single);
    let killed = Arc::new(Server::start(&cluster.file()));
    let other = Server::start(&cluster.file());
    let over = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let (server, over) = (killed.clone(), over.clone());
        writers.spawn(async move {
            let mut acknowledged = Vec::new();
            for number in (writer..).step_by(4) {
                match server.insert(number).await {
                    Ok(()) => acknowledged.push(number),
                    Err(_) => break,
                }
                if over.load(Ordering::Acquire) {
                    break;
                }
            }
            acknowledged
        });
    }
    sleep(Duration::from_secs(1)).await;
    killed.signal("KILL");
    sleep(Duration::from_secs(1)).await;
    over.store(true, Ordering::Release);
    let acknowledged = writers.join_all().await.concat();
    assert!(acknowledged.len() > 10);
    for number in &acknowledged {
        assert_eq!(other.stored(*number).await, json!({"n": number}));
    }
    let counted = other.data("{ collections { count } }", json!({})).await;
    let count = counted["collections"][0]["count"]
        .as_u64()
        .expect("a count");
    assert!(count >= acknowledged.len() as u64);
}

/// Two servers write the same documents while the log is followed, and one is killed again and
/// again.
async fn changes_of_two_servers_are_told_once_across_kills() {
    const WRITERS: usize = 6;
    let cluster = Cluster::start(Redundancy::Single);
    let file = cluster.file();
    let logging = ["--change-retention", "1h"];
    let other = Arc::new(Server::start_with(&file, &logging));
    let mut replay = Replay::default();
    let mut acknowledged = 0;
    for round in 0..6 {
        let killed = Arc::new(Server::start(&file));
        let over = Arc::new(AtomicBool::new(false));
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let server = if writer % 2 == 0 { &other } else { &killed };
            let (server, over) = (server.clone(), over.clone());
            writers.spawn(async move {
                let (mut done, mut sent) = (0, 0);
                while !over.load(Ordering::Acquire) {
                    let number = round * 1_000_000 + sent * WRITERS + writer;
                    let Some(changed) = server.edit(number).await else {
                        break;
                    };
                    done += usize::from(changed);
                    sent += 1;
                }
                done
            });
        }
        // Catches up in the middle of the load.
        for _ in 0..3 {
            sleep(Duration::from_millis(200)).await;
            replay.apply(
                &run(phyllo(&file, "changes").args(replay.arguments("D"))).expect("it runs"),
            );
        }
        killed.signal("KILL");
        sleep(Duration::from_millis(200)).await;
        over.store(true, Ordering::Release);
        acknowledged += writers.join_all().await.into_iter().sum::<usize>();
        replay.apply(&run(phyllo(&file, "changes").args(replay.arguments("D"))).expect("it runs"));
        replay.assert_equals(&run(&mut phyllo(&file, "export")).expect("it runs"));
    }
    assert!(acknowledged > 20, "{acknowledged}");
    let told: usize = replay.changes.values().sum();
    assert!(told >= acknowledged, "{told} of {acknowledged}");
    let mut again = Replay::default();
    again.apply(&run(&mut phyllo(&file, "changes")).expect("it runs"));
    assert_eq!(again.documents, replay.documents);
    assert_eq!(again.changes, replay.changes);
}

async fn a_server_without_its_cluster_is_not_ready_and_stops_cleanly() {
    let cluster = Cluster::start(Redundancy::Single);
    let mut server = Server::start(&cluster.file());
    assert_eq!(server.status("/readyz").await, 200);
    cluster.pause(0);
    sleep(CLUSTER_READY_KEPT_TIME).await;
    assert_eq!(server.status("/readyz").await, 503);
    assert_eq!(server.status("/healthz").await, 200);
    let refused = server.insert(1).await.expect_err("the cluster is away");
    assert!(refused.contains("UNAVAILABLE"), "{refused}");
    cluster.resume(0);
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.status("/readyz").await != 200 {
        assert!(Instant::now() < deadline, "it is not ready again");
    }
    server.insert(1).await.expect("it serves again");
    server.signal("TERM");
    assert!(server.process.wait().expect("it ends").success());
}

async fn a_server_waits_for_its_cluster_when_it_starts() {
    let cluster = Cluster::start(Redundancy::Single);
    cluster.pause(0);
    let mut process = phyllo(&cluster.file(), "serve")
        .args(["--listen", "127.0.0.1:0"])
        .env("RUST_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut log = BufReader::new(process.stderr.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("the store is not available yet, waiting for it") {
        assert_ne!(log.read_line(&mut said).expect("text"), 0, "{said}");
    }
    cluster.resume(0);
    // The log is read to its end, so that the server does not wait for its reader.
    let reading = std::thread::spawn(move || {
        let mut rest = String::new();
        log.read_to_string(&mut rest).expect("text");
        rest
    });
    let server = Server::of(process);
    server.insert(1).await.expect("it serves");
    server.signal("TERM");
    let rest = reading.join().expect("it ends");
    assert!(rest.contains("the store is available now"), "{rest}");
}

async fn a_server_is_not_ready_while_most_processes_are_paused() {
    let cluster = Cluster::start(Redundancy::Double);
    let server = Server::start(&cluster.file());
    server.insert(1).await.expect("it serves");
    assert_eq!(server.status("/readyz").await, 200);
    for process in [1, 2] {
        cluster.pause(process);
    }
    sleep(CLUSTER_READY_KEPT_TIME).await;
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        assert_eq!(server.status("/readyz").await, 503);
        assert_eq!(server.status("/healthz").await, 200);
    }
    for process in [1, 2] {
        cluster.resume(process);
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.status("/readyz").await != 200 {
        assert!(Instant::now() < deadline, "it is not ready again");
        sleep(CLUSTER_READY_KEPT_TIME).await;
    }
    server.insert(2).await.expect("it is ready");
}

/// The only process of a cluster that keeps its data on the disk is killed again and again, while
/// clients write through a server.
async fn acknowledged_writes_survive_kills_of_a_process_that_comes_back() {
    const WRITERS: usize = 4;
    let mut cluster = Cluster::start_with_ssd();
    let file = cluster.file();
    let server = Arc::new(Server::start(&file));
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let over = Arc::new(AtomicBool::new(false));
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let (server, over) = (server.clone(), over.clone());
            writers.spawn(async move {
                let mut done = Vec::new();
                for number in (1_000_000 * round + writer..).step_by(WRITERS) {
                    if over.load(Ordering::Acquire) {
                        break;
                    }
                    if server.insert(number).await.is_ok() {
                        done.push(number);
                    }
                }
                done
            });
        }
        sleep(Duration::from_secs(1)).await;
        cluster.kill(0);
        sleep(Duration::from_secs(1)).await;
        cluster.start_again(0);
        let deadline = Instant::now() + Duration::from_secs(60);
        while server.status("/readyz").await != 200 {
            assert!(Instant::now() < deadline, "it does not come back");
            sleep(CLUSTER_READY_KEPT_TIME).await;
        }
        sleep(Duration::from_secs(1)).await;
        over.store(true, Ordering::Release);
        acknowledged.extend(writers.join_all().await.concat());
    }
    assert!(acknowledged.len() > 20, "{}", acknowledged.len());
    for number in acknowledged {
        assert_eq!(server.stored(number).await, json!({"n": number}));
    }
    let checked = run(&mut phyllo(&file, "check")).expect("it is sound");
    assert!(checked.trim_end().ends_with("sound"), "{checked}");
}

/// A client follows changes as server-sent events. Its server is killed again and again, and it resumes
/// with the last event on the next one, while another server writes.
async fn a_subscription_over_http_resumes_after_a_restart_of_its_server() {
    const EDITS: usize = 120;
    let cluster = Cluster::start(Redundancy::Single);
    let file = cluster.file();
    let writing = Arc::new(Server::start_with(&file, &["--change-retention", "1h"]));
    let mut replay = Replay::default();
    for round in 0..3 {
        let mut server = Server::start(&file);
        let mut events = server.follow(replay.cursor.as_deref()).await;
        let edits = tokio::spawn({
            let writing = writing.clone();
            async move {
                for number in 0..EDITS {
                    writing
                        .edit(round * EDITS + number)
                        .await
                        .expect("it serves");
                }
            }
        });
        for _ in 0..EDITS / 4 {
            let change = events.next().await.expect("the server runs");
            replay.apply(&change.to_string());
        }
        server.signal("KILL");
        server.process.wait().expect("it ends");
        edits.await.expect("the edits are made");
    }
    let exported = run(&mut phyllo(&file, "export")).expect("it runs");
    let server = Server::start(&file);
    let mut events = server.follow(replay.cursor.as_deref()).await;
    let told = run(&mut phyllo(&file, "changes")).expect("it runs");
    let last = told.lines().last().expect("changes");
    let last: Value = serde_json::from_str(last).expect("JSON");
    while replay.cursor.as_deref() != last["cursor"].as_str() {
        let change = events.next().await.expect("the server runs");
        replay.apply(&change.to_string());
    }
    replay.assert_equals(&exported);
    let mut again = Replay::default();
    again.apply(&told);
    assert_eq!(again.changes, replay.changes);
}

async fn commands_work_on_a_cluster_with_running_servers() {
    let cluster = Cluster::start(Redundancy::Single);
    let file = cluster.file();
    let missing = run(&mut phyllo(&file, "collections"));
    let said = missing.expect_err("there is nothing yet");
    assert!(said.contains("there is no store"), "{said}");
    assert!(!Database::is_in(&open(&cluster)).await.expect("read"));
    let server = Server::start(&file);
    server.insert(7).await.expect("it serves");
    assert_eq!(
        run(&mut phyllo(&file, "collections")).expect("it runs"),
        "D\t1\n"
    );
    let got = run(phyllo(&file, "get").args(["7", "/n"])).expect("it runs");
    assert_eq!(got.trim(), "7");
    let exported = run(&mut phyllo(&file, "export")).expect("it runs");
    assert_eq!(exported, "{\"id\":\"7\",\"document\":{\"n\":7}}\n");
}

/// The standard output of a command or, if it fails, its standard error.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().expect("it runs");
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).expect("text"))
    } else {
        Err(String::from_utf8(output.stderr).expect("text"))
    }
}

/// A server process, killed when dropped.
pub(crate) struct Server {
    process: Child,
    _stdout: BufReader<ChildStdout>,
    address: String,
    client: reqwest::Client,
}

impl Server {
    pub(crate) fn start(cluster_file: &Path) -> Self {
        Self::start_with(cluster_file, &[])
    }

    fn start_with(cluster_file: &Path, arguments: &[&str]) -> Self {
        let process = phyllo(cluster_file, "serve")
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("RUST_LOG", "off")
            .stdout(Stdio::piped())
            .spawn();
        Self::of(process.expect("the binary starts"))
    }

    /// A process that will serve.
    fn of(mut process: Child) -> Self {
        let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Phyllo serves on ");
        Self {
            address: address.expect("an address").to_owned(),
            process,
            _stdout: stdout,
            client: reqwest::Client::new(),
        }
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args(["-s", signal, &self.process.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
    }

    async fn status(&self, path: &str) -> u16 {
        let url = format!("{}{}", self.address, path.trim_start_matches('/'));
        let response = self.client.get(url).send().await.expect("it answers");
        response.status().as_u16()
    }

    async fn ask(&self, query: &str, variables: Value) -> Result<Value, reqwest::Error> {
        let request = self.client.post(format!("{}graphql", self.address));
        let body = json!({"query": query, "variables": variables});
        request.json(&body).send().await?.json().await
    }

    pub(crate) async fn data(&self, query: &str, variables: Value) -> Value {
        let mut response = self.ask(query, variables).await.expect("it answers");
        assert_eq!(response.get("errors"), None, "{query}");
        response["data"].take()
    }

    /// Follows the changes after a cursor, or all of them.
    async fn follow(&self, after: Option<&str>) -> Events {
        let query = "subscription { changes { cursor key kind patch resync } }";
        let request = self.client.post(format!("{}graphql", self.address));
        let request = request.header("accept", "text/event-stream");
        let request = match after {
            Some(after) => request.header("last-event-id", after),
            None => request,
        };
        let response = request.json(&json!({"query": query})).send().await;
        Events {
            response: response.expect("it answers"),
            text: String::new(),
        }
    }

    /// Stores a document. The error is the response if it was not acknowledged.
    async fn insert(&self, number: usize) -> Result<(), String> {
        let mutation =
            "mutation($id: ID, $d: JSON) { insertDocument(id: $id, document: $d) { key } }";
        let variables = json!({"id": number.to_string(), "d": {"n": number}});
        match self.ask(mutation, variables).await {
            Ok(response) if response.get("errors").is_none() => Ok(()),
            Ok(response) => Err(response.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Changes one of a few documents: inserts, appends, removes the first element, or deletes.
    /// Returns whether it certainly changed the document, or `None` if the server did not answer.
    async fn edit(&self, number: usize) -> Option<bool> {
        let id = format!("shared{}", number % 5);
        let kind = number / 5 % 7;
        let query = match kind {
            0 => {
                "mutation($id: ID!, $d: JSON) { replaceDocument(id: $id, document: $d) { version } }"
            }
            1 => "mutation($id: ID!) { deleteDocument(id: $id) { key } }",
            2 => {
                "mutation($id: ID!) { patchDocument(id: $id, patch: [{op: \"remove\", path: \"/list/0\"}]) { version } }"
            }
            _ => {
                "mutation($id: ID!, $d: JSON) { replaceDocument(id: $id, path: \"/list/-\", document: $d) { version } }"
            }
        };
        let document = if kind == 0 {
            json!({"list": [], "text": "x".repeat(number % 3 * 6_000)})
        } else {
            json!({ "n": number })
        };
        let asked = self.ask(query, json!({"id": id, "d": document})).await;
        let is_done = asked.ok()?.get("errors").is_none();
        Some(is_done && kind > 2)
    }

    async fn stored(&self, number: usize) -> Value {
        let query = "query($id: ID!) { document(id: $id) { value } }";
        let mut data = self.data(query, json!({"id": number.to_string()})).await;
        data["document"]["value"].take()
    }
}

/// Server-sent events with changes.
struct Events {
    response: reqwest::Response,
    /// What was received and not returned yet.
    text: String,
}

impl Events {
    /// The next change. None if the server has ended.
    async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                let data = data.and_then(|data| serde_json::from_str::<Value>(data).ok());
                if let Some(mut data) = data {
                    assert_eq!(data.get("errors"), None, "{data}");
                    return Some(data["data"]["changes"].take());
                }
            }
            let chunk = timeout(Duration::from_secs(30), self.response.chunk()).await;
            let chunk = chunk.expect("a change arrives").ok()??;
            self.text
                .push_str(std::str::from_utf8(&chunk).expect("changes are ASCII here"));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A process that has ended cannot be killed.
        let _killed = self.process.kill();
        let _status = self.process.wait();
    }
}
