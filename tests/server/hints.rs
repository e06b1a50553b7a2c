//! Hints in responses with empty results.

use serde_json::json;

use crate::support::Server;

#[test]
fn hints_can_be_disabled() {
    let query = "{ document(id: \"countries/FRA\") { value } documents { nodes { key } } }";
    let data = json!({"document": null, "documents": {"nodes": []}});
    for (flags, has_hints) in [(&[][..], true), (&["--no-hints"], false)] {
        let server = Server::with(flags);
        server.query(
            "mutation { insertDocument(collection: \"countries\", id: \"FRA\", document: 1) { key } }",
        );
        let answer = server.query(query);
        assert_eq!(answer["data"], data);
        assert_eq!(answer.get("extensions").is_some(), has_hints, "{answer}");
    }
}
