//! `phyllo types`

use super::harness::{Store, both};

const SCHEMA: &str =
    r#"{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}"#;

/// Creates a store, which commands of types do not.
fn create(store: &Store) {
    store.import("{}", &[]);
    store.run(&["delete", "D", "--everything"]).expect(0);
}

#[test]
fn a_type_is_set_listed_shown_and_dropped() {
    both(|store| {
        store.import(r#"[{"name":"a"},{"name":"b"}]"#, &[]);
        let file = store.file("schema.json", SCHEMA);
        assert_eq!(store.out(&["types", "list"]), "");
        store
            .run(&["types", "set", "D", &file])
            .expect(0)
            .says("all documents of the collection \"D\" fit its type");
        assert_eq!(store.out(&["types", "list"]), "D\tENFORCED\t0\n");
        assert_eq!(store.out(&["types", "show", "D"]), format!("{SCHEMA}\n"));
        store.run(&["types", "check", "D"]).expect(0);
        store
            .run(&["types", "drop", "D"])
            .expect(0)
            .says("the type of the collection \"D\" is dropped");
        assert_eq!(store.out(&["types", "list"]), "");
        for command in ["show", "check", "drop"] {
            store
                .run(&["types", command, "D"])
                .expect(2)
                .says("the collection \"D\" has no type");
        }
    });
}

#[test]
fn places_that_do_not_fit_are_printed() {
    both(|store| {
        let lines = "{\"id\":\"1\",\"document\":{\"name\":1}}\n\
                     {\"id\":\"2\",\"document\":{\"name\":\"b\"}}\n\
                     {\"id\":\"3\",\"document\":{}}\n";
        store.import(lines, &["--format", "export"]);
        let file = store.file("schema.json", SCHEMA);
        for arguments in [
            &["types", "set", "D", &*file, "--dry-run"][..],
            &["types", "set", "D", &file],
            &["types", "check", "D"],
        ] {
            let ran = store.run(arguments).expect(1);
            let lines: Vec<&str> = ran.out.lines().collect();
            assert_eq!(lines.len(), 2, "{arguments:?}: {}", ran.out);
            assert!(lines[0].starts_with("1\t/name\ttype: "), "{}", ran.out);
            assert!(lines[1].starts_with("3\t\trequired: "), "{}", ran.out);
            ran.says("2 places do not fit the type");
        }
        assert_eq!(store.out(&["types", "list"]), "D\tFAILED\t2\n");
        store
            .run(&["update", "--everything", "--set", "$.name=\"x\""])
            .expect(0);
        store.run(&["types", "check", "D"]).expect(0);
        assert_eq!(store.out(&["types", "list"]), "D\tENFORCED\t0\n");
    });
}

#[test]
fn each_place_is_one_line_of_three_columns() {
    both(|store| {
        store.import(
            "{\"id\":\"1\",\"document\":{\"a\\n9\\t\\u001b\":1}}\n",
            &["--format", "export"],
        );
        let schema =
            r#"{"required":["name"],"properties":{"name":true},"additionalProperties":false}"#;
        let file = store.file("schema.json", schema);
        let ran = store.run(&["types", "set", "D", &file]).expect(1);
        let expected = "1\t/a\\n9\\t\\u001b\tadditionalProperties: members that are listed in `properties` only\n\
                        1\t\trequired: the member \"name\"\n";
        assert_eq!(ran.out, expected);
    });
}

#[test]
fn a_copy_leaves_a_type_of_its_target_as_it_is() {
    let path = |store: &Store| store.path().to_str().expect("a plain path").to_owned();
    let (source, target) = (Store::alone(), Store::alone());
    source.import(r#"[{"name":"a"},{"name":5}]"#, &["--name", "x"]);
    let file = source.file("schema.json", SCHEMA);
    source.run(&["types", "set", "D", &file]).expect(1);
    let other = r#"{"type":"object"}"#;
    create(&target);
    let file = target.file("schema.json", other);
    target.run(&["types", "set", "D", &file]).expect(0);
    for _ in 0..2 {
        target
            .run(&["copy", "--from", &path(&source), "--to", &path(&target)])
            .expect(0);
        assert_eq!(target.out(&["types", "show", "D"]), format!("{other}\n"));
        assert_eq!(target.out(&["types", "list"]), "D\tENFORCED\t0\n");
    }
}

#[test]
fn imports_are_validated() {
    both(|store| {
        create(store);
        let file = store.file("schema.json", SCHEMA);
        store.run(&["types", "set", "D", &file]).expect(0);
        let documents = r#"[{"name":"a"},{"name":5},{"name":"c"}]"#;
        let ran = store.run_on(
            documents,
            &["import", "-", "--name", "x", "--on-error", "continue"],
        );
        ran.expect(1).says("does not fit the type");
        assert_eq!(store.ids("D"), ["x-1", "x-3"]);
        let ran = store.run(&["update", "--everything", "--set", "$.name=1"]);
        ran.expect(1).says("does not fit the type");
    });
}

#[test]
fn a_schema_that_is_inferred_fits_its_documents() {
    both(|store| {
        store.import(
            r#"[{"name":"a","tags":["x"],"at":{"lat":1.5}},{"name":"b","tags":[],"at":null}]"#,
            &[],
        );
        let schema = store.out(&["types", "infer", "D"]);
        let file = store.file("inferred.json", &schema);
        store.run(&["types", "set", "D", &file]).expect(0);
        assert_eq!(store.out(&["types", "list"]), "D\tENFORCED\t0\n");
        assert_eq!(store.out(&["types", "show", "D"]), schema);
        store
            .run(&["types", "infer", "E"])
            .expect(2)
            .says("no collection");
    });
}

#[test]
fn invalid_schemas_are_rejected_with_the_file_as_it_is() {
    let store = Store::alone();
    store.import("{}", &[]);
    for (schema, says) in [
        ("{", "JSON"),
        (r#"{"type":"objekt"}"#, "write \"object\""),
        (r#"{"oneOf":[]}"#, "oneOf"),
    ] {
        let file = store.file("schema.json", schema);
        store
            .run(&["types", "set", "D", &file])
            .expect(1)
            .says(says);
    }
    store
        .run(&["types", "set", "D", "nowhere.json"])
        .expect(1)
        .says("nowhere.json cannot be read");
}

#[test]
fn copies_and_backups_have_the_types() {
    let store = Store::alone();
    store.import(r#"[{"name":"a"},{"name":5}]"#, &["--name", "x"]);
    let file = store.file("schema.json", SCHEMA);
    store.run(&["types", "set", "D", &file]).expect(1);
    let other = store.file("other.json", r#"{"type":"object"}"#);
    store.run(&["types", "set", "empty", &other]).expect(0);
    let listed = store.out(&["types", "list"]);
    assert_eq!(listed, "D\tFAILED\t1\nempty\tENFORCED\t0\n");

    let copy = Store::alone();
    let path = |store: &Store| store.path().to_str().expect("a plain path").to_owned();
    store
        .run(&["copy", "--from", &path(&store), "--to", &path(&copy)])
        .expect(0);
    let backup = Store::at("backup");
    store.run(&["backup", &path(&backup)]).expect(0);
    for other in [&copy, &backup] {
        assert_eq!(other.out(&["types", "list"]), listed);
        assert_eq!(other.out(&["types", "show", "D"]), format!("{SCHEMA}\n"));
        let ran = other.run_on(r#"[{"name":6}]"#, &["import", "-", "--name", "y"]);
        ran.expect(1).says("does not fit the type");
    }
    // A document that is copied to a collection with a type is checked there.
    let typed = Store::alone();
    create(&typed);
    typed.run(&["types", "set", "D", &file]).expect(0);
    store
        .run(&["copy", "--from", &path(&store), "--to", &path(&typed)])
        .expect(0);
    assert_eq!(typed.out(&["types", "list"]), listed);
}

#[test]
fn salvaged_types_are_requests_that_set_them() {
    let store = Store::alone();
    store.import(r#"[{"name":"a"}]"#, &["--name", "x"]);
    let file = store.file("schema.json", SCHEMA);
    store.run(&["types", "set", "D", &file]).expect(0);
    let directory = store.path().with_file_name("salvaged");
    let ran = store.run(&["salvage", "--to", directory.to_str().expect("a plain path")]);
    ran.expect(0);
    let types = std::fs::read_to_string(directory.join("types.ndjson")).expect("a file");
    let request: serde_json::Value = serde_json::from_str(&types).expect("one request");
    assert_eq!(request["variables"]["collection"], "D");
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
    assert_eq!(request["variables"]["schema"], schema);
    let query = request["query"].as_str().expect("a query");
    assert!(query.contains("setCollectionType"), "{query}");
}
