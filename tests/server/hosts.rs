//! Validation of the `Host` header.

use crate::access::{READER, bearer, token_file};
use crate::support::Server;

/// The status of a request with these header lines.
fn status(server: &Server, target: &str, headers: &str) -> u16 {
    let mut connection = server.connect();
    connection.send(format!("GET {target} HTTP/1.1\r\n{headers}\r\n"));
    connection.response(false).status
}

#[test]
fn unknown_host_names_are_rejected_on_loopback() {
    let server = Server::start();
    let asked = "/graphql?query={__typename}";
    for known in [
        "localhost",
        "LOCALHOST:8080",
        "app.localhost",
        "localhost.",
        "127.0.0.1",
        "127.1.2.3:1",
        "[::1]:8080",
    ] {
        assert_eq!(
            status(&server, asked, &format!("host: {known}\r\n")),
            200,
            "{known}"
        );
    }
    for other in [
        "attacker.example",
        "localhost.attacker.example",
        "192.0.2.1",
        "notlocalhost",
        "user@localhost",
        "[::1",
        "",
    ] {
        for target in [asked, "/", "/schema.graphql", "/other"] {
            let found = status(&server, target, &format!("host: {other}\r\n"));
            assert!([400, 421].contains(&found), "{other} {target}: {found}");
        }
    }
    for headers in ["", "host: localhost\r\nhost: attacker.example\r\n"] {
        let found = status(&server, asked, headers);
        assert!([400, 421].contains(&found), "{headers:?}: {found}");
    }
    let proxied = format!("http://attacker.example{asked}");
    let found = status(&server, &proxied, "host: localhost\r\n");
    assert!([400, 421].contains(&found), "{found}");
}

#[test]
fn configured_host_names_are_accepted() {
    let server = Server::with(&["--host", "DB.example", "--host", "192.0.2.1"]);
    let asked = "/graphql?query={__typename}";
    for (host, expected) in [
        ("db.example", true),
        ("db.example:443", true),
        ("192.0.2.1", true),
        ("localhost", true),
        ("x.db.example", false),
        ("192.0.2.2", false),
    ] {
        let found = status(&server, asked, &format!("host: {host}\r\n"));
        assert_eq!(found == 200, expected, "{host}: {found}");
    }
}

#[test]
fn monitoring_routes_answer_every_host() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    let authorized = format!("authorization: {}\r\n", bearer(READER));
    for (flags, headers, metrics) in [
        (&[][..], "", 200),
        (&["--host", "db.example"], "", 200),
        (&["--token-file", &file], "", 401),
        (&["--token-file", &file], &authorized, 200),
    ] {
        let server = Server::with(flags);
        for host in ["10.1.2.3:8080", "pod.cluster.example", "localhost"] {
            let headers = format!("host: {host}\r\n{headers}");
            assert_eq!(status(&server, "/healthz", &headers), 200, "{host}");
            assert_eq!(status(&server, "/readyz", &headers), 200, "{host}");
            assert_eq!(status(&server, "/metrics", &headers), metrics, "{host}");
        }
    }
}

#[test]
fn a_refused_host_is_one_log_line_that_names_the_flag() {
    let server = Server::logged(&[]);
    for _ in 0..5 {
        assert_eq!(status(&server, "/", "host: Db.Example:8080\r\n"), 421);
    }
    let line = server.wait_for_log("\"Db.Example:8080\"");
    assert!(line.contains("WARN"), "{line}");
    assert!(line.contains("--host db.example allows it"), "{line}");
    // Clients cannot write lines of their own, and a flood has few lines.
    status(&server, "/", "host: evil.example\u{1b}[31m \"quoted\"\r\n");
    for number in 0..200 {
        status(&server, "/", &format!("host: {number}.example\r\n"));
    }
    let log = server.log();
    assert_eq!(log.matches("Db.Example").count(), 1, "{log}");
    assert_eq!(log.matches("was refused").count(), 10, "{log}");
    assert!(!log.contains("evil.example\u{1b}"), "{log}");
}
