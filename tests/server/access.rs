//! Authentication: tokens, permissions, and listen addresses of servers without tokens.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use phyllo::limits::WATCHED_FILE_BYTES_MAX;
use serde_json::json;

use crate::support::{JSON, Server, command};

pub(crate) const READER: &str = "reader-0123456789abcdef";
pub(crate) const WRITER: &str = "writer+0123456789/abcdef==";
pub(crate) const QUERY: &str = "{ __typename }";
pub(crate) const MUTATION: &str = "mutation M { incrementDocument(id: 1) { value } }";

/// Writes a token file with both tokens.
pub(crate) fn token_file(directory: &Path) -> String {
    let path = directory.join("tokens");
    let lines =
        format!("# who may come in\nreader read-only {READER}\nwriter read-write {WRITER}\n");
    fs::write(&path, lines).expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("its owner");
    path.to_str().expect("a plain path").to_owned()
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[test]
fn unauthenticated_requests_get_401_with_a_challenge_and_a_graphql_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    let server = Server::with(&[
        "--token-file",
        &file,
        "--cors-origin",
        "https://app.example",
    ]);
    let graphql = "application/graphql-response+json";
    let origin = ("origin", "https://app.example");
    let (reader, wrong) = (bearer(READER), bearer("wrong-0123456789abcdef"));
    for (authorization, query, status, challenge) in [
        (None, QUERY, 401, "Bearer realm=\"phyllo\""),
        (
            Some(&wrong),
            QUERY,
            401,
            "Bearer realm=\"phyllo\", error=\"invalid_token\"",
        ),
        (
            Some(&reader),
            MUTATION,
            403,
            "Bearer realm=\"phyllo\", error=\"insufficient_scope\"",
        ),
    ] {
        for (accept, media) in [
            (graphql, graphql),
            ("*/*", "application/json"),
            ("text/html", "application/json"),
        ] {
            if status == 403 && accept == "text/html" {
                continue; // Status 406 takes precedence.
            }
            let mut headers = vec![JSON, origin, ("accept", accept)];
            headers.extend(authorization.map(|value| ("authorization", value.as_str())));
            let body = json!({"query": query}).to_string();
            let response = server.ask("POST", "/graphql", &headers, body);
            assert_eq!(response.status, status);
            assert_eq!(response.header("www-authenticate"), Some(challenge));
            let content_type = response.header("content-type").expect("a type");
            assert!(content_type.starts_with(media), "{accept}: {content_type}");
            // A page of an allowed origin can read the response.
            assert_eq!(
                response.header("access-control-allow-origin"),
                Some(origin.1)
            );
            let answer = response.json();
            assert_eq!(answer.get("data"), None);
            assert!(answer["errors"][0]["message"].is_string());
        }
    }
    // A preflight carries no token.
    let preflight = [
        origin,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ];
    let response = server.ask("OPTIONS", "/graphql", &preflight, "");
    assert_eq!(
        response.header("access-control-allow-headers"),
        Some("authorization")
    );
}

#[test]
fn unauthenticated_requests_are_rejected_before_their_body_is_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    let server = Server::with(&["--token-file", &file]);
    let mut connection = server.connect();
    // The announced body is never sent.
    connection.send(crate::support::head("POST", "/graphql", &[JSON], 1000));
    assert_eq!(connection.response(true).status, 401);
}

/// The status of the response to a mutation.
fn ask(server: &Server, token: &str) -> u16 {
    let token = bearer(token);
    let headers = [JSON, ("authorization", token.as_str())];
    let body = json!({"query": MUTATION}).to_string();
    server.ask("POST", "/graphql", &headers, body).status
}

/// Repeats the request until the status matches. Files are checked about every second.
fn wait_for(server: &Server, token: &str, status: u16) {
    for _ in 0..600 {
        if ask(server, token) == status {
            return;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("the file was not reloaded");
}

#[test]
fn token_file_changes_apply_without_a_restart_and_invalid_files_are_ignored() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = token_file(directory.path());
    let server = Server::logged(&["--token-file", &path]);
    wait_for(&server, WRITER, 200);
    // Makes the writer read-only and adds a token.
    let new = "newcomer-0123456789abcdef";
    let lines = format!("writer read-only {WRITER}\nnew read-write {new}\n");
    fs::write(&path, &lines).expect("a file");
    wait_for(&server, new, 200);
    wait_for(&server, WRITER, 403);
    wait_for(&server, READER, 401);
    server.wait_for_log("changed and was reloaded");
    for (broken, why) in [
        (
            Some(format!("new read-write {new}\noops {READER}")),
            "line 2",
        ),
        (Some(String::new()), "no token"),
        (None, "cannot be read"),
    ] {
        match broken {
            Some(broken) => fs::write(&path, broken).expect("a file"),
            None => fs::remove_file(&path).expect("it is there"),
        }
        let line = server.wait_for_log(why);
        assert!(
            line.contains("stays in effect") && line.contains("ERROR"),
            "{line}"
        );
        wait_for(&server, new, 200);
        wait_for(&server, WRITER, 403);
    }
    // Replaces the file by renaming, as editors do.
    let beside = directory.path().join("tokens.new");
    fs::write(&beside, format!("writer read-write {WRITER}\n")).expect("a file");
    fs::rename(&beside, &path).expect("renamed");
    wait_for(&server, WRITER, 200);
    wait_for(&server, new, 401);
    let log = server.log();
    for secret in [READER, WRITER, new] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn token_files_readable_by_others_log_a_warning() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = token_file(directory.path());
    for (mode, warned) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its owner");
        let server = Server::logged(&["--token-file", &path]);
        assert_eq!(server.log().contains("chmod 600"), warned, "{mode:o}");
    }
}

/// The output of a server that fails to start.
fn refused_start(arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = command(&directory, arguments);
    let output = command.output().expect("it runs");
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn invalid_token_files_prevent_the_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tokens");
    let file = path.to_str().expect("a plain path");
    assert!(refused_start(&["--token-file", file]).contains("cannot be read"));
    fs::write(&path, format!("{READER}\n")).expect("a file");
    let said = refused_start(&["--token-file", file]);
    assert!(said.contains("line 1") && !said.contains(READER), "{said}");
    fs::write(&path, "#".repeat(WATCHED_FILE_BYTES_MAX + 1)).expect("a file");
    assert!(refused_start(&["--token-file", file]).contains("more than"));
}

#[test]
fn non_loopback_addresses_require_tokens_or_the_insecure_flag() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let said = refused_start(&["--listen", listen]);
        for way in ["--token-file", "--insecure", "127.0.0.1"] {
            assert!(said.contains(way), "{said}");
        }
    }
    for (arguments, warned) in [
        (
            vec!["--listen", "0.0.0.0:0", "--insecure"],
            "everyone who can reach",
        ),
        (
            vec!["--listen", "0.0.0.0:0", "--token-file", &file],
            "in clear text",
        ),
    ] {
        let server = Server::logged(&arguments);
        assert!(server.log().contains(warned), "{}", server.log());
    }
    for loopback in ["127.0.0.1:0", "127.1.2.3:0", "[::ffff:127.0.0.1]:0"] {
        let mut process = command(&directory, &["--listen", loopback])
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line)
            .expect("a line");
        assert!(line.starts_with("Phyllo serves on"), "{loopback}: {line}");
        process.kill().expect("it runs");
        process.wait().expect("it ends");
    }
}

#[test]
fn sighup_reloads_the_token_file_immediately() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = token_file(directory.path());
    let server = Server::logged(&["--token-file", &path]);
    wait_for(&server, WRITER, 200);
    server.signal("HUP");
    server.wait_for_log("SIGHUP: reloading");
    server.wait_for_log("tokens has not changed");
    // The file is also checked every second. A round begins right after a check, so without the
    // signal it would take a second.
    let rounds = (0..5).map(|round| {
        let token = format!("token-of-round-{round}-0123456789");
        fs::write(&path, format!("writer read-write {token}\n")).expect("a file");
        let begin = Instant::now();
        server.signal("HUP");
        while ask(&server, &token) != 200 {
            assert!(begin.elapsed() < Duration::from_secs(60), "round {round}");
            sleep(Duration::from_millis(5));
        }
        begin.elapsed()
    });
    let times: Vec<Duration> = rounds.collect();
    let shortest = times[1..].iter().min().expect("rounds");
    assert!(*shortest < Duration::from_millis(500), "{times:?}");
    // An invalid file changes nothing, and each signal logs that.
    fs::write(&path, "oops").expect("a file");
    for times in 1..=2 {
        server.signal("HUP");
        let begin = Instant::now();
        while server.log().matches("stays in effect").count() < times {
            assert!(begin.elapsed() < Duration::from_secs(60), "{times}");
            sleep(Duration::from_millis(20));
        }
    }
    assert_eq!(ask(&server, "token-of-round-4-0123456789"), 200);
    server.signal("TERM");
    server.stopped();
}

#[test]
fn sighup_without_reloadable_files_does_not_stop_the_server() {
    let server = Server::logged(&[]);
    server.query("mutation { insertDocument(id: 1, document: 1) { key } }");
    for _ in 0..3 {
        server.signal("HUP");
        server.wait_for_log("SIGHUP: there is no file");
        server.assert_serves();
    }
    server.signal("TERM");
    // The store was closed, so it is not recovered when it is opened again.
    let directory = server.stopped();
    let server = Server::on(directory, &[]);
    let found = server.query("{ document(id: 1) { value } }");
    assert_eq!(found, json!({"data": {"document": {"value": 1}}}));
}

#[test]
fn sighup_during_startup_does_not_stop_the_server() {
    for pause in [0, 5, 20, 50] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut process = command(&directory, &[]).spawn().expect("the binary starts");
        let file = directory.path().join("phyllo.redb.new");
        // Before the server opens its store, its process may not be running yet.
        let begin = Instant::now();
        while !file.exists() && !directory.path().join("phyllo.redb").exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it starts");
        }
        sleep(Duration::from_millis(pause));
        let signal = |name: &str| {
            let id = process.id().to_string();
            let sent = std::process::Command::new("kill")
                .args(["-s", name, &id])
                .status();
            assert!(sent.expect("kill runs").success());
        };
        signal("HUP");
        while !directory.path().join("phyllo.sock").exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it serves");
            sleep(Duration::from_millis(5));
        }
        signal("TERM");
        assert!(process.wait().expect("it ends").success());
    }
}
