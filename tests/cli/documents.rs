//! `phyllo put`, `insert`, `merge`, `patch`, `delete ID`, `find`, `query`, `index` and `stats`, over every way to a
//! store

use serde_json::{Value, json};

use super::transports::{Reached, everywhere};

fn get(reached: &Reached, id: &str) -> String {
    reached.out(&["get", id, "--collection", "shop"])
}

fn in_shop<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["--collection", "shop"]].concat()
}

#[test]
fn one_document_is_written_and_read() {
    everywhere(|reached| {
        let run = |arguments: &[&str]| reached.run(&in_shop(arguments));
        let inserted = run(&["insert", r#"{"doc_id":"tea","price":3}"#])
            .expect(0)
            .out;
        let (key, version) = inserted.trim_end().split_once('\t').expect("two columns");
        assert_eq!(key, "tea");
        let exists = run(&["insert", "{}", "--id", "tea"]).expect(1);
        exists.says("ALREADY_EXISTS");
        let changed = run(&["put", "tea", "/price", "1e300", "--if-version", version]);
        assert_ne!(changed.expect(0).out.trim_end(), version);
        let stale = run(&["put", "tea", "/price", "4", "--if-version", version]).expect(1);
        stale.says("[VERSION_MISMATCH, current version ");
        run(&["put", "tea", "/stock/a/b", "7"])
            .expect(1)
            .says("NOT_FOUND");
        run(&["put", "tea", "/stock/a/b", "7", "--create-parents"]).expect(0);
        run(&["put", "tea", "{}", "--if-absent"])
            .expect(1)
            .says("nothing is changed");
        run(&["merge", "tea", "/stock", r#"{"a":null,"c":[1]}"#]).expect(0);
        let patch = r#"[{"op":"test","path":"/stock/c/0","value":2}]"#;
        let failed = run(&["patch", "tea", patch]).expect(1);
        failed.says("[TEST_FAILED, at /stock/c/0, operation 0]");
        let patch = r#"[{"op":"add","path":"/stock/c/-","value":"é"}]"#;
        run(&["patch", "tea", patch]).expect(0);
        let expected = "{\"doc_id\":\"tea\",\"price\":1e300,\"stock\":{\"c\":[1,\"é\"]}}\n";
        assert_eq!(get(reached, "tea"), expected);
        run(&["delete", "tea", "/stock"]).expect(0);
        run(&["delete", "tea", "/stock"])
            .expect(1)
            .says("nothing is stored under the id tea");
        run(&["delete", "tea"]).expect(0);
        assert_ne!(run(&["get", "tea"]).code, Some(0));
    });
}

#[test]
fn values_are_texts_files_or_standard_input() {
    everywhere(|reached| {
        let file = reached.store.file("tea.json", "{\n \"a\": [1.50]\n}\n");
        reached.run(&in_shop(&["put", "7", &file])).expect(0);
        assert_eq!(get(reached, "7"), "{\"a\":[1.5]}\n");
        reached
            .run_on("\"x\"", &in_shop(&["put", "7", "/a/0", "-"]))
            .expect(0);
        assert_eq!(get(reached, "7"), "{\"a\":[\"x\"]}\n");
        for (text, says) in [
            ("tea", "neither JSON nor a file"),
            ("{\"a\":", "JSON"),
            ("[1,]", "JSON"),
        ] {
            reached
                .run(&in_shop(&["put", "7", text]))
                .expect(1)
                .says(says);
        }
    });
}

#[test]
fn documents_are_found_in_pages_and_columns() {
    everywhere(|reached| {
        let line = |n: usize| format!("{{\"doc_id\":{n},\"n\":{},\"t\":\"a\\tb\"}}\n", n % 7);
        let documents: String = (0..2_500).map(line).collect();
        reached
            .run_on(&documents, &in_shop(&["import", "-"]))
            .expect(0);
        let all = reached.out(&in_shop(&["find"]));
        assert_eq!(all, reached.out(&in_shop(&["export"])));
        let filter = r#"{"at":"$.n","eq":3}"#;
        let found = reached.out(&in_shop(&[
            "find", "--where", filter, "--column", "/n", "--column", "[\"t\"]", "--column", "/x",
        ]));
        assert_eq!(found.lines().count(), 357);
        assert_eq!(found.lines().next(), Some("3\t3\ta\\tb\t"));
        let index = ["index", "create", "shop", "by_n", "$.n"];
        reached.run(&index).expect(0).says("is ready");
        let ordered = reached.out(&in_shop(&[
            "find", "--order", "$.n desc", "--limit", "2", "--column", "/n",
        ]));
        assert_eq!(ordered, "2498\t6\n2491\t6\n");
        assert_eq!(reached.out(&in_shop(&["find", "--limit", "0"])), "");
        reached
            .run(&in_shop(&["find", "--where", "{"]))
            .expect(2)
            .says("the filter");
        // At a URL, the caller may see only some of the collections.
        let code = if reached.url().is_empty() { 2 } else { 0 };
        reached.run(&["find", "--collection", "shpo"]).expect(code);
    });
}

#[test]
fn operations_are_executed() {
    everywhere(|reached| {
        reached.run(&in_shop(&["put", "a", r#"{"n":1}"#])).expect(0);
        let query = r#"query Q($id: ID!) { document(id: $id, collection: "shop") { value } }"#;
        let variables = r#"{"id":"a"}"#;
        let expected = "{\"data\":{\"document\":{\"value\":{\"n\":1}}}}\n";
        assert_eq!(
            reached.out(&["query", query, "--variables", variables]),
            expected
        );
        let file = reached.store.file("query.graphql", query);
        let from_file = ["query", &file, "--variables", "-", "--name", "Q"];
        assert_eq!(
            reached.run_on(variables, &from_file).expect(0).out,
            expected
        );
        let mutation =
            r#"mutation { dropCollection(collection: "shop", everything: true) { documents } }"#;
        let dropped = reached.run_on(mutation, &["query", "-"]).expect(0);
        assert!(dropped.out.contains("\"documents\":1"), "{}", dropped.out);
        let failed = reached.run(&["query", r#"mutation { a: deleteDocument(id: "") { key } }"#]);
        let failed = failed.expect(1);
        assert!(failed.out.contains("BAD_USER_INPUT"), "{failed:?}");
        let invalid = reached.run(&["query", "{ nothing }"]).expect(1);
        assert!(invalid.out.contains("nothing"), "{invalid:?}");
    });
}

#[test]
fn indexes_are_created_listed_and_dropped() {
    everywhere(|reached| {
        reached.run(&in_shop(&["put", "a", r#"{"n":1}"#])).expect(0);
        reached.run(&in_shop(&["put", "b", r#"{"n":1}"#])).expect(0);
        let filter = r#"{"at":"$.n","gt":0}"#;
        let create = ["index", "create", "shop", "n", "$.n", "--where", filter];
        reached.run(&create).expect(0);
        let listed = reached.out(&["index", "list", "shop"]);
        let expected = "shop\tn\t[\"$.n\"]\t\tREADY\twhere {\"at\":\"$.n\",\"gt\":0}\n";
        assert_eq!(listed, expected);
        let unique = ["index", "create", "shop", "u", "$.n", "--unique"];
        let ran = reached.run(&unique);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let stats = reached.out(&["stats", "--json"]);
        let stats: Value = serde_json::from_str(&stats).expect("JSON");
        let shop = &stats["collections"].as_array().expect("a list").last();
        assert_eq!(shop.expect("the collection")["count"], json!(2));
        assert!(reached.out(&["stats"]).contains("change log: "));
        reached.run(&["index", "drop", "shop", "n"]).expect(0);
        reached
            .run(&["index", "drop", "shop", "n"])
            .expect(1)
            .says("has no index");
        let collections = reached.out(&["collections", "--json"]);
        assert_eq!(collections, "{\"count\":2,\"name\":\"shop\"}\n");
    });
}
