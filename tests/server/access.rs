//! Who may come in: tokens, rights, and where a server without tokens may listen.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{JSON, Server, command};

pub(crate) const READER: &str = "reader-0123456789abcdef";
pub(crate) const WRITER: &str = "writer+0123456789/abcdef==";
pub(crate) const QUERY: &str = "{ __typename }";
pub(crate) const MUTATION: &str = "mutation M { incrementDocument(id: 1) { value } }";

/// A file of the two tokens.
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
fn a_refusal_is_graphql_in_the_type_that_was_asked_for_and_says_how_to_come_in() {
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
                continue; // 406 comes first.
            }
            let mut headers = vec![JSON, origin, ("accept", accept)];
            headers.extend(authorization.map(|value| ("authorization", value.as_str())));
            let body = json!({"query": query}).to_string();
            let response = server.ask("POST", "/graphql", &headers, body);
            assert_eq!(response.status, status);
            assert_eq!(response.header("www-authenticate"), Some(challenge));
            let content_type = response.header("content-type").expect("a type");
            assert!(content_type.starts_with(media), "{accept}: {content_type}");
            // A page of an origin that may send requests can read it.
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
fn nothing_of_a_body_is_read_before_its_sender_is_known() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    let server = Server::with(&["--token-file", &file]);
    let mut connection = server.connect();
    // None of the body that is announced is sent.
    connection.send(crate::support::head("POST", "/graphql", &[JSON], 1000));
    assert_eq!(connection.response(true).status, 401);
}

/// The status of the answer to a mutation.
fn ask(server: &Server, token: &str) -> u16 {
    let token = bearer(token);
    let headers = [JSON, ("authorization", token.as_str())];
    let body = json!({"query": MUTATION}).to_string();
    server.ask("POST", "/graphql", &headers, body).status
}

/// Asks until the answer is of this status: a changed file is looked at within a second or so.
fn wait_for(server: &Server, token: &str, status: u16) {
    for _ in 0..600 {
        if ask(server, token) == status {
            return;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("the file was not read anew");
}

#[test]
fn a_changed_file_holds_without_a_restart_and_a_broken_one_leaves_the_old_one_in_force() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = token_file(directory.path());
    let server = Server::logged(&["--token-file", &path]);
    wait_for(&server, WRITER, 200);
    // The writer's rights are taken back, and a new token is given.
    let new = "newcomer-0123456789abcdef";
    let lines = format!("writer read-only {WRITER}\nnew read-write {new}\n");
    fs::write(&path, &lines).expect("a file");
    wait_for(&server, new, 200);
    wait_for(&server, WRITER, 403);
    wait_for(&server, READER, 401);
    server.wait_for_log("changed and holds from now on");
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
            line.contains("stays in force") && line.contains("ERROR"),
            "{line}"
        );
        wait_for(&server, new, 200);
        wait_for(&server, WRITER, 403);
    }
    // Put in place as editors do.
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
fn a_file_that_others_can_read_is_warned_of() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = token_file(directory.path());
    for (mode, warned) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its owner");
        let server = Server::logged(&["--token-file", &path]);
        assert_eq!(server.log().contains("chmod 600"), warned, "{mode:o}");
    }
}

/// What a server says that does not start.
fn refused_start(arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = command(&directory, arguments);
    let output = command.output().expect("it runs");
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn a_file_of_tokens_that_is_none_keeps_the_server_from_starting() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tokens");
    let file = path.to_str().expect("a plain path");
    assert!(refused_start(&["--token-file", file]).contains("cannot be read"));
    fs::write(&path, format!("{READER}\n")).expect("a file");
    let said = refused_start(&["--token-file", file]);
    assert!(said.contains("line 1") && !said.contains(READER), "{said}");
    fs::write(&path, "#".repeat((1 << 20) + 1)).expect("a file");
    assert!(refused_start(&["--token-file", file]).contains("more than"));
}

#[test]
fn an_address_that_others_can_reach_needs_tokens_or_a_plain_word() {
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
            "everybody who can reach",
        ),
        (
            vec!["--listen", "0.0.0.0:0", "--token-file", &file],
            "in the clear",
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
fn sighup_reloads_the_file_of_tokens_at_once_and_the_server_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = token_file(directory.path());
    let server = Server::logged(&["--token-file", &path]);
    wait_for(&server, WRITER, 200);
    server.signal("HUP");
    server.wait_for_log("SIGHUP: reloading");
    server.wait_for_log("tokens has not changed");
    // The file is looked at each second anyway. A round begins right after the last look, so
    // without the signal it takes a second.
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
    // A broken file changes nothing, and each signal says so again.
    fs::write(&path, "oops").expect("a file");
    for times in 1..=2 {
        server.signal("HUP");
        let begin = Instant::now();
        while server.log().matches("stays in force").count() < times {
            assert!(begin.elapsed() < Duration::from_secs(60), "{times}");
            sleep(Duration::from_millis(20));
        }
    }
    assert_eq!(ask(&server, "token-of-round-4-0123456789"), 200);
    server.signal("TERM");
    server.stopped();
}

#[test]
fn sighup_does_not_end_a_server_that_has_nothing_to_reload() {
    let server = Server::logged(&[]);
    server.query("mutation { insertDocument(id: 1, document: 1) { key } }");
    for _ in 0..3 {
        server.signal("HUP");
        server.wait_for_log("SIGHUP: there is no file of tokens");
        server.assert_serves();
    }
    server.signal("TERM");
    // Closed, it is not repaired when it is opened again.
    let directory = server.stopped();
    let server = Server::on(directory, &[]);
    let found = server.query("{ document(id: 1) { value } }");
    assert_eq!(found, json!({"data": {"document": {"value": 1}}}));
}

#[test]
fn sighup_does_not_end_a_server_that_is_starting() {
    for pause in [0, 5, 20, 50] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut process = command(&directory, &[]).spawn().expect("the binary starts");
        let file = directory.path().join("phyllo.redb.new");
        // Until it opens its store, it may not have begun to run at all.
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
