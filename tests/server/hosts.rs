//! Validation of the `Host` header.

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
        for target in [asked, "/", "/schema.graphql", "/healthz"] {
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
