//! `--url`: the rights of a token, types, changes, and servers that are not there

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use super::harness::Store;
use super::transports::Reached;

const TOKEN: &str = "a9LhE4uGd1PsXo6QiVrBtM";

#[test]
fn a_dead_server_and_a_refused_token_are_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let store = Store::alone();
    let dead = format!("http://127.0.0.1:{port}");
    for command in [
        &["get", "a"][..],
        &["export"],
        &["import", "-"],
        &["query", "{ collections { name } }"],
    ] {
        let ran = store.run(&[command, &["--url", &dead]].concat()).expect(1);
        ran.says(&format!("{dead}/ cannot be reached"));
    }
    assert!(!store.path().exists(), "a store was created");
    store.damaged("there is none");
    let tokens = store.file("tokens", format!("a read-write {TOKEN}\n"));
    let server = Reached::at_url(&["--token-file", &tokens], "this-is-not-the-token");
    for command in [&["get", "a"][..], &["export"], &["put", "a", "1"]] {
        server.run(command).expect(1).says("UNAUTHENTICATED");
    }
    let file = store.file("token", format!("{TOKEN}\n"));
    server
        .run(&["put", "a", "1", "--token-file", &file])
        .expect(0);
    store
        .run(&["get", "a", "--token-file", &file])
        .expect(2)
        .says("--url");
    store.run(&["get", "a", "--url", "db.example"]).expect(2);
}

#[test]
fn a_token_sees_and_changes_only_its_part() {
    let store = Store::alone();
    store.import(
        r#"[{"doc_id":1,"of":"a"},{"doc_id":2,"of":"b"},{"doc_id":3,"of":"a"}]"#,
        &["--collection", "parts"],
    );
    store.import("[1]", &["--collection", "secret"]);
    let rules = "[[allow]]\nwho = { token = \"a\" }\nactions = [\"read\", \"list\", \"write\", \"create\"]\n\
                 collection = \"parts\"\nwhere = { at = \"$.of\", eq = \"a\" }\n";
    let rules = store.file("rules.toml", rules);
    let tokens = store.file("tokens", format!("a read-write {TOKEN}\n"));
    let options = ["--token-file", &*tokens, "--rules", &*rules];
    let server = Reached::serving(store, &options, TOKEN);
    let parts = |command: &[&str]| server.run(&[command, &["--collection", "parts"]].concat());
    let mine = "{\"id\":\"1\",\"document\":{\"doc_id\":1,\"of\":\"a\"}}\n\
                {\"id\":\"3\",\"document\":{\"doc_id\":3,\"of\":\"a\"}}\n";
    assert_eq!(parts(&["export"]).expect(0).out, mine);
    assert_eq!(parts(&["find"]).expect(0).out, mine);
    parts(&["get", "1"]).expect(0);
    parts(&["get", "2"]).expect(1).says("nothing is stored");
    parts(&["put", "1", "/n", "1"]).expect(0);
    parts(&["put", "1", "/of", "\"b\""])
        .expect(1)
        .says("FORBIDDEN");
    let file = server.store.file(
        "more.ndjson",
        "{\"doc_id\":4,\"of\":\"a\"}\n{\"doc_id\":5,\"of\":\"b\"}\n{\"doc_id\":6,\"of\":\"a\"}\n",
    );
    let import = parts(&["import", &file, "--on-error", "continue"]).expect(1);
    import
        .says("document 2")
        .says("2 created, 0 replaced; 0 skipped, 1 failed");
    for command in [&["get", "D-1"][..], &["export"], &["find"]] {
        let ran = server.run(&[command, &["--collection", "secret"]].concat());
        assert_ne!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.out, "");
    }
    server.run(&["drop", "parts", "--everything"]).expect(1);
}

#[test]
fn types_changes_and_bulk_commands_work_at_a_url() {
    let server = Reached::at_url(&[], "");
    let line = |n: usize| format!("{{\"doc_id\":{n},\"n\":{n}}}\n");
    let lines: String = (0..1_500).map(line).collect();
    server.run_on(&lines, &["import", "-"]).expect(0);
    let schema = r#"{"type":"object","required":["n"]}"#;
    let file = server.store.file("schema.json", schema);
    server.run(&["types", "set", "D", &file]).expect(0);
    assert_eq!(server.out(&["types", "list"]), "D\tENFORCED\t0\n");
    assert_eq!(server.out(&["types", "show", "D"]), format!("{schema}\n"));
    assert!(server.out(&["types", "infer", "D"]).contains("\"n\""));
    server
        .run(&["types", "check", "D"])
        .expect(2)
        .says("without --url");
    server
        .run(&["put", "x", "{}"])
        .expect(1)
        .says("TYPE_MISMATCH");
    let filter = r#"{"at":"$.n","lt":1000}"#;
    server
        .run(&["update", "--where", filter, "--set", "$.low=true"])
        .expect(0)
        .says("1,000 documents changed of 1,500 examined");
    server
        .run(&["delete", "D", "--where", filter])
        .expect(0)
        .says("1,000 documents deleted of 1,500 examined");
    let changes = server.out(&["changes"]);
    assert_eq!(changes.lines().count(), 3_500);
    let schema = server.out(&["schema", "--types"]);
    assert!(schema.contains("type Query"));
    server.run(&["sample"]).expect(0);
    assert!(server.out(&["collections"]).contains("countries\t40\n"));
    assert_eq!(
        server.out(&["get", "FRA", "/name/common", "--collection", "countries"]),
        "\"France\"\n"
    );
    server.run(&["drop", "countries", "--everything"]).expect(0);
    // What only an operator may do has no URL.
    for command in [
        &["check"][..],
        &["backup", "x"],
        &["adopt", "D"],
        &["compact"],
    ] {
        let url = ["--url", server.url()];
        server.store.run(&[command, &url].concat()).expect(2);
    }
}

/// The URL of a server that gives this response to everything.
fn answering(status: &str, body: &str) -> String {
    let length = body.len();
    let response =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.expect("a connection");
            let _request = client.read(&mut [0; 16 << 10]);
            // The client may have left.
            let _written = client.write_all(response.as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn messages_of_servers_cannot_control_the_terminal() {
    let store = Store::alone();
    let refusal = r#"{"code":"NOT_FOUND","detail":"\u001b]0;title\u0007no\r\u009b2J"}"#;
    let url = answering("404 Not Found", refusal);
    for command in [&["get", "a"][..], &["put", "a", "1"]] {
        let ran = store.run(&[command, &["--url", &url]].concat()).expect(1);
        let shown = ran.says(r"\u001b]0;title\u0007no\u000d\u009b2J");
        let is_text = |shown: char| !shown.is_control() || shown == '\n';
        assert!(shown.err.chars().all(is_text), "{shown:?}");
    }
    let id = "\u{1b}[31mred";
    let here = answering("200 OK", r#"{"data":{"document":null}}"#);
    let ran = store.run(&["get", id, "--url", &here]).expect(1);
    ran.says(r"nothing is stored under the id \u001b[31mred");
}

#[test]
fn lines_that_are_not_of_an_export_are_not_taken_for_documents() {
    let store = Store::alone();
    for line in ["<html>", "{\"errors\":[]}", "1"] {
        let url = answering("200 OK", line);
        let ran = store.run(&["export", "--collection", "c", "--url", &url]);
        assert_eq!(ran.out, "", "{line}");
        ran.expect(1).says("the response cannot be read");
    }
}
