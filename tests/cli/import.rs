//! `phyllo import`

use super::harness::{Store, both, both_indexed};

#[test]
fn each_format_is_detected() {
    both(|store| {
        let one = store.file("one.json", "\u{FEFF}{\n  \"a\": 1\n}\n");
        store
            .run(&["import", &one])
            .expect(0)
            .says("1 document imported");
        assert_eq!(store.out(&["get", "one"]), "{\"a\":1}\n");

        let many = store.file("many.json", "[{\"a\":1},\n [1,2], null, \"x\"]");
        store
            .run(&["import", &many])
            .expect(0)
            .says("4 documents imported");
        assert_eq!(store.out(&["get", "many-2"]), "[1,2]\n");
        assert_eq!(store.out(&["get", "many-3"]), "null\n");

        let lines = store.file(
            "lines.ndjson",
            "\r\n{\"a\":1}\r\n\r\n  {\"a\":2}\r\n{\"a\":3}",
        );
        store
            .run(&["import", &lines])
            .expect(0)
            .says("3 documents imported");
        assert_eq!(store.out(&["get", "lines-2", "/a"]), "2\n");
        assert_eq!(store.out(&["get", "lines-3", "/a"]), "3\n");

        let export =
            "{\"id\":\"7\",\"document\":{\"a\":7}}\n{\"document\":[],\"id\":\"\\\"7\\\"\"}\n";
        store.import(export, &[]);
        assert_eq!(store.out(&["get", "7"]), "{\"a\":7}\n");
        assert_eq!(store.out(&["get", "\"7\""]), "[]\n");
        assert_eq!(store.count(), 1 + 4 + 3 + 2);
    });
}

#[test]
fn explicit_format_overrides_detection() {
    let store = Store::alone();
    store.import("[1,2]", &["--format", "document", "--name", "d"]);
    assert_eq!(store.out(&["get", "d"]), "[1,2]\n");
    store.import("[1,2]", &["--format", "lines", "--name", "l"]);
    assert_eq!(store.out(&["get", "l-1"]), "[1,2]\n");
    store.import(
        "{\"id\":\"x\",\"document\":1}",
        &["--format", "lines", "--name", "r"],
    );
    assert_eq!(
        store.out(&["get", "r-1"]),
        "{\"document\":1,\"id\":\"x\"}\n"
    );
    let run = store.run_on("{}", &["import", "-", "--format", "array"]);
    run.expect(1).says("an array must begin with \"[\"");
    let run = store.run_on("{}", &["import", "-", "--format", "export"]);
    run.expect(1).says("not exactly {\"id\"");
}

#[test]
fn ids_come_from_a_member_the_document_or_the_file_name() {
    both(|store| {
        let documents = r#"[{"k":{"x":["a"]}},{"k":{"x":[-5]}},{"k":{"x":["42"]}}]"#;
        store.import(documents, &["--id", "/k/x/0", "--collection", "c"]);
        assert_eq!(store.ids("c"), ["\"42\"", "a", "-5"]);

        let own = r#"[{"doc_id":7},{"doc_id":"seven"},{"doc_id":[7]},{"doc_id":1.5}]"#;
        store.import(own, &["--name", "own", "--collection", "o"]);
        assert_eq!(store.ids("o"), ["own-3", "own-4", "seven", "7"]);

        let bad = r#"[{"k":1.0},{"k":[]},{},{"k":null},{"k":"good"}]"#;
        let run = store.run_on(
            bad,
            &[
                "import",
                "-",
                "--id",
                "/k",
                "--collection",
                "b",
                "--on-error",
                "continue",
            ],
        );
        let run = run
            .expect(1)
            .says("1 created, 0 replaced; 0 skipped, 4 failed");
        let run = run.says("(document 1): the member that --id names is neither a string");
        run.says("(document 3): the member that --id names is missing");
        assert_eq!(store.ids("b"), ["good"]);
    });
}

#[test]
fn export_like_lines_are_plain_documents_if_the_id_member_is_given() {
    let store = Store::alone();
    let line = "{\"id\":\"x\",\"document\":{\"k\":\"y\"}}\n";
    store.import(line, &["--id", "/id"]);
    assert_eq!(store.out(&["get", "x", "/document/k"]), "\"y\"\n");
    store.import(line, &["--id", "/k", "--format", "export"]);
    assert_eq!(store.out(&["get", "y"]), "{\"k\":\"y\"}\n");
}

#[test]
fn last_of_many_duplicate_members_wins_in_linear_time() {
    let store = Store::alone();
    let members: Vec<String> = (0..200_000).map(|value| format!("\"a\":{value}")).collect();
    store.import(format!("{{{}}}", members.join(",")), &["--name", "x"]);
    assert_eq!(store.out(&["get", "x"]), "{\"a\":199999}\n");
}

#[test]
fn repeated_imports_do_not_duplicate_documents() {
    both(|store| {
        let file = store.file("people.json", "[{\"a\":1},{\"a\":2}]");
        store
            .run(&["import", &file])
            .expect(0)
            .says("2 created, 0 replaced");
        let before = store.out(&["export"]);
        store
            .run(&["import", &file])
            .expect(0)
            .says("0 created, 0 replaced; 2 skipped");
        assert_eq!(store.out(&["export"]), before);
        assert_eq!(store.count(), 2);
    });
}

#[test]
fn existing_documents_are_replaced_or_skipped_or_an_error() {
    both(|store| {
        store.import("[{\"a\":1},{\"a\":2}]", &["--name", "x"]);
        let with = |existing: &str, more: &[&str], stdin: &str| {
            let arguments = ["import", "-", "--name", "x", "--existing", existing];
            store.run_on(stdin, &[&arguments, more].concat())
        };
        with("replace", &[], "[{\"b\":1}]").expect(0);
        assert_eq!(store.out(&["get", "x-1"]), "{\"b\":1}\n");
        with("skip", &[], "[1,2,3]")
            .expect(0)
            .says("1 created, 0 replaced; 2 skipped, 0 failed");
        assert_eq!(store.out(&["get", "x-1"]), "{\"b\":1}\n");
        let ran = with("fail", &[], "[1,2,3,4]").expect(1);
        let ran = ran.says("line 1, column 2 (document 1): something is already stored");
        ran.says("0 created, 0 replaced; 0 skipped, 1 failed; stopped there");
        let ran = with("fail", &["--on-error", "continue"], "[1,2,3,4,5]").expect(1);
        ran.says("2 created, 0 replaced; 0 skipped, 3 failed");
        assert_eq!(store.ids("D"), ["x-1", "x-2", "x-3", "x-4", "x-5"]);
    });
}

#[test]
fn invalid_lines_are_reported_with_position_and_stop_or_continue() {
    let lines = "{\"a\":1}\n\n{\"a\":2\n{\"a\":1e400}\n[1,]\n\u{1}\n{\"a\":6}\n";
    both(|store| {
        let run = store.run_on(lines, &["import", "-", "--name", "x", "--format", "lines"]);
        let run = run
            .expect(1)
            .says("-: line 3, column 7 (document 2): expected ',' or '}'");
        run.says("1 document imported into the collection \"D\"")
            .says("1 failed; stopped there; the documents before it are stored");
        assert_eq!(store.ids("D"), ["x-1"]);

        let go_on = ["import", "-", "--name", "y", "--on-error", "continue"];
        let run = store.run_on(lines, &go_on).expect(1);
        let run = run.says("line 3, column 7 (document 2): expected ',' or '}'");
        let run = run.says(
            "line 4, column 1 (document 3): at line 1, column 6 of the JSON: the number 1e400",
        );
        let run = run.says("line 5, column 4 (document 4): expected a JSON value");
        run.says("line 6, column 1 (document 5)")
            .says("2 created, 0 replaced; 0 skipped, 4 failed");
        assert_eq!(store.ids("D"), ["x-1", "y-1", "y-6"]);
    });
}

#[test]
fn invalid_array_elements_are_reported_with_position() {
    let store = Store::alone();
    let array = b"[\n  {\"a\": 1},\n  {\"a\": \xFF},\n  {\"a\"\n   1},\n  {\"a\": 4}\n]\n";
    let arguments = ["import", "-", "--name", "x", "--on-error", "continue"];
    let run = store.run_on(array, &arguments).expect(1);
    let run = run.says("line 3, column 9 (document 2): not valid UTF-8");
    run.says("line 5, column 4 (document 3): expected ':'");
    assert_eq!(store.ids("D"), ["x-1", "x-4"]);

    let run = store
        .run_on("[1,2,\n {\"a\":[", &["import", "-", "--name", "y"])
        .expect(1);
    run.says("line 2, column 2: the array is not closed: the stream ends in document 3")
        .says("2 documents imported");
    let run = store
        .run_on("[1] ]", &["import", "-", "--name", "z"])
        .expect(1);
    run.says("line 1, column 5: unexpected text after the array")
        .says("1 document imported");
}

#[test]
fn limits_are_reported_for_each_document() {
    both(|store| {
        let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
        let long = format!("{{\"{}\":1}}", "k".repeat(10_001));
        // The id in the key makes this key too long.
        let nearly = format!("{{\"{}\":1}}", "k".repeat(9_990));
        let digits = "7".repeat(700);
        let lines = [&deep, &long, &nearly, &digits, "1"].map(|line| format!("{line}\n"));
        let arguments = [
            "import",
            "-",
            "--name",
            "limits",
            "--on-error",
            "continue",
            "--format",
            "lines",
        ];
        let run = store.run_on(lines.concat(), &arguments).expect(1);
        let run = run.says("(document 1): more than 128 levels");
        let run = run.says("(document 3): the path /kkk").says("10000 bytes");
        run.says("1 created, 0 replaced; 0 skipped, 4 failed");
        assert_eq!(store.ids("D"), ["limits-5"]);
    });
}

#[test]
fn huge_documents_can_be_imported_and_exported() {
    both(|store| {
        let members: Vec<String> = (0..30_000)
            .map(|member| format!("\"member {member:06}\":[{member},\"{}\"]", "x".repeat(30)))
            .collect();
        let document = format!("{{{}}}", members.join(","));
        store
            .import(&document, &["--name", "huge"])
            .says("1 document imported");
        assert_eq!(store.out(&["get", "huge"]), format!("{document}\n"));
        assert_eq!(store.out(&["get", "huge", "/member 029999/0"]), "29999\n");
    });
}

#[test]
fn empty_streams_are_not_an_error() {
    both(|store| {
        store.import("", &[]).says("0 documents imported");
        store.import(" [ ] ", &[]).says("0 documents imported");
        assert_eq!(store.out(&["collections"]), "");
        let empty = store.run_on("", &["import", "-", "--format", "document"]);
        empty
            .expect(1)
            .says("line 1, column 1 (document 1): expected a JSON value");
    });
}

#[test]
fn unreadable_input_is_an_error() {
    let store = Store::alone();
    store
        .run(&["import", "nowhere.json"])
        .expect(1)
        .says("nowhere.json cannot be read");
    assert!(!store.path().exists(), "nothing was made");
    let directory = store.file("x", "");
    let directory = std::path::Path::new(&directory)
        .parent()
        .expect("a directory");
    let run = store.run(&["import", directory.to_str().expect("a plain path")]);
    run.expect(1).says("has no file whose name ends with");
}

#[test]
fn invalid_command_lines_have_exit_code_2() {
    let store = Store::alone();
    for arguments in [
        &["import"][..],
        &["import", "-", "--id", "code"],
        &["import", "-", "--format", "xml"],
        &["import", "-", "--name", ""],
        &["import", "-", "--collection", ""],
        &["get", ""],
        &["get", "\"x"],
        &["get", "x", "a/b"],
        &["get", "x", "[0.5]"],
        &["get", "x", "/~2"],
        &["serve", "--listen", "nowhere"],
        &["nonsense"],
    ] {
        store.run(arguments).expect(2);
    }
    assert!(!store.path().exists(), "nothing was made");
}

/// A document that is reported as failed is not stored, nor is any of its index entries.
#[test]
fn failed_documents_leave_nothing_behind() {
    let long = "y".repeat(10_001);
    let lines = format!(
        "{{\"k\":\"a\",\"x\":1,\"l\":[\"{long}\",\"zz\"]}}\n{{\"k\":\"b\",\"x\":1,\"l\":[\"ok\"]}}\n\
         {{\"k\":\"c\",\"x\":1,\"l\":[]}}\n{{\"k\":\"d\",\"x\":2,\"l\":[\"ok\"]}}\n"
    );
    both_indexed(&[("x", "$.x", true), ("l", "$.l[*]", false)], |store| {
        let import = ["import", "-", "--id", "/k", "--on-error"];
        let run = store
            .run_on(&lines, &[&import[..], &["continue"]].concat())
            .expect(1);
        let run = run.says("line 1, column 1 (document 1): ");
        let run = run.says("line 3, column 1 (document 3): the unique index \"x\"");
        run.says("2 created, 0 replaced; 0 skipped, 2 failed");
        assert_eq!(store.ids("D"), ["b", "d"]);
        store.run(&["check"]).expect(0);

        // The documents before the one at which an import stops are stored.
        let more = "{\"k\":\"e\",\"x\":3}\n{\"k\":\"f\",\"x\":1}\n{\"k\":\"g\",\"x\":4}\n";
        let run = store
            .run_on(more, &[&import[..], &["stop"]].concat())
            .expect(1);
        run.says("line 2, column 1 (document 2): the unique index \"x\"")
            .says("1 created, 0 replaced; 0 skipped, 1 failed; stopped there");
        assert_eq!(store.ids("D"), ["b", "d", "e"]);

        // A replaced document keeps its old state.
        let replaced = format!(
            "{{\"k\":\"b\",\"x\":9,\"l\":[\"{long}\"]}}\n{{\"k\":\"d\",\"x\":8,\"l\":[\"new\"]}}\n"
        );
        let run = store
            .run_on(&replaced, &[&import[..], &["continue"]].concat())
            .expect(1);
        run.says("0 created, 1 replaced; 0 skipped, 1 failed");
        assert_eq!(store.out(&["get", "b", "/x"]), "1\n");
        assert_eq!(store.out(&["get", "d", "/x"]), "8\n");
        store.run(&["check"]).expect(0);
    });
}

#[test]
fn unique_values_can_be_swapped_within_a_batch() {
    both_indexed(&[("x", "$.x", true)], |store| {
        store.import(
            "{\"k\":\"a\",\"x\":1}\n{\"k\":\"b\",\"x\":2}\n",
            &["--id", "/k"],
        );
        store
            .import(
                "{\"k\":\"a\",\"x\":2}\n{\"k\":\"b\",\"x\":1}\n",
                &["--id", "/k"],
            )
            .says("2 replaced");
        assert_eq!(store.out(&["get", "a", "/x"]), "2\n");
        store.run(&["check"]).expect(0);
    });
}

#[test]
fn the_ids_of_one_import_differ() {
    both(|store| {
        let lines = "{\"k\":\"a\",\"n\":1}\n{\"k\":\"b\"}\n{\"k\":\"a\",\"n\":3}\n";
        let import = ["import", "-", "--id", "/k", "--on-error", "continue"];
        let run = store.run_on(lines, &import).expect(1);
        run.says("line 3, column 1 (document 3): its id a is that of document 1, too")
            .says("2 created, 0 replaced; 0 skipped, 1 failed");
        assert_eq!(store.out(&["get", "a", "/n"]), "1\n");
    });
}

#[test]
fn generated_ids_do_not_replace_other_documents() {
    both(|store| {
        store.import("{\"a\":1}\n{\"a\":2}\n", &[]);
        store
            .import("{\"b\":1}\n{\"b\":2}\n", &[])
            .says("2 created");
        assert_eq!(store.count(), 4);

        let first = store.file("first/data.ndjson", "{\"a\":1}\n{\"a\":2}\n");
        let second = store.file("second/data.ndjson", "{\"b\":1}\n{\"b\":2}\n");
        store.run(&["import", &first]).expect(0).says("2 created");
        store
            .run(&["import", &first])
            .expect(0)
            .says("0 created, 0 replaced; 2 skipped");
        let run = store.run(&["import", &second]).expect(1);
        run.says("another document is already stored under the id data-1")
            .says("give --name or --id for other ids, or --existing replace");
        assert_eq!(store.out(&["get", "data-1"]), "{\"a\":1}\n");
        store
            .run(&["import", &second, "--existing", "replace"])
            .expect(0)
            .says("2 replaced");
        assert_eq!(store.out(&["get", "data-1"]), "{\"b\":1}\n");
    });
}

#[test]
fn a_cut_line_is_reported_and_the_others_are_imported() {
    for cut in ["{\"a\":[1,", "{\"a\":", "{", "{\"a\":\"x", "{\"a\":1"] {
        let store = Store::alone();
        let lines = format!("{cut}\n{{\"a\":2}}\n{{\"a\":3}}\n");
        let import = ["import", "-", "--name", "x", "--on-error", "continue"];
        let run = store.run_on(lines, &import).expect(1);
        run.says("line 1, column")
            .says("2 created, 0 replaced; 0 skipped, 1 failed");
        assert_eq!(store.ids("D"), ["x-2", "x-3"], "{cut}");
    }
}

#[test]
fn several_members_are_one_id() {
    both(|store| {
        let documents = r#"[{"c":"FRA","y":2024},{"c":"a/b","y":"~c"},{"c":"a","y":"b/~c"},{"c":"x"},{"c":[],"y":1}]"#;
        let arguments = [
            "import",
            "-",
            "--id",
            "/c",
            "--id",
            "/y",
            "--on-error",
            "continue",
        ];
        let run = store.run_on(documents, &arguments).expect(1);
        run.says("(document 4): the member that --id number 2 names is missing")
            .says("(document 5): the member that --id number 1 names is missing, or is an object")
            .says("3 created, 0 replaced; 0 skipped, 2 failed");
        assert_eq!(store.ids("D"), ["FRA/2024", "a/b~1~0c", "a~1b/~0c"]);
    });
}

#[test]
fn members_that_are_usual_ids_are_proposed() {
    let told = "takes them from the documents";
    for (document, options) in [
        (r#"{"id":7}"#, Some("--id /id")),
        (r#"{"id":"x","_id":"y"}"#, Some("--id /_id")),
        (
            r#"{"_id":{"$oid":"507f1f77bcf86cd799439011"}}"#,
            Some("--extended-json --id /_id"),
        ),
        (r#"{"id":[1]}"#, None),
        (r#"{"id":1,"doc_id":1}"#, None),
    ] {
        let store = Store::alone();
        let file = store.file("x.json", document);
        let run = store.run(&["import", &file]).expect(0);
        assert_eq!(run.err.contains(told), options.is_some(), "{}", run.err);
        let Some(options) = options else { continue };
        run.says(&format!("the ids are generated; {options} {told}"));
        let other = store.file("x.json", r#"{"id":8,"_id":8}"#);
        let run = store.run(&["import", &other]).expect(1);
        run.says("the id is generated: give --name or --id /_id for other ids");
        let again = ["import", &file, "--id", "/id", "--collection", "c"];
        let run = store.run(&again).expect(0);
        assert!(!run.err.contains(told), "{}", run.err);
    }
}

#[test]
fn documents_and_arrays_can_follow_one_another() {
    both(|store| {
        let pretty = "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n{\"a\": 3}{\"a\": [\n4]}\n";
        store
            .import(pretty, &["--name", "p"])
            .says("4 documents imported");
        assert_eq!(store.ids("D"), ["p-1", "p-2", "p-3", "p-4"]);
        let pages = "[\n{\"a\": 1},\n{\"a\": 2}\n]\n[\n]\n[\n{\"a\": 3}\n]\n";
        store
            .import(pages, &["--name", "q", "--collection", "q"])
            .says("3 documents imported");
        assert_eq!(store.ids("q"), ["q-1", "q-2", "q-3"]);
        let bad = "{\n\"a\": 1\n}\n{\n\"a\" 2\n}\n{\n\"a\": 3\n}\n";
        let arguments = [
            "import",
            "-",
            "--name",
            "r",
            "--collection",
            "r",
            "--on-error",
            "continue",
        ];
        let run = store.run_on(bad, &arguments).expect(1);
        run.says("-: line 5, column 5 (document 2): expected ':'");
        assert_eq!(store.ids("r"), ["r-1", "r-3"]);
    });
}
