//! `phyllo get`, `pairs`, `collections` and `schema`

use super::harness::{Store, both};

const DOCUMENT: &str =
    r#"{"n":1.50,"i":123456789012345678901234567890,"a":[[],{"0":"zero"},"é"],"e":{},"a/b":null}"#;

#[test]
fn get_prints_a_part_as_stored() {
    both(|store| {
        store.import(DOCUMENT, &["--name", "d"]);
        let get = |path: &str| store.out(&["get", "d", path]);
        assert_eq!(
            get(""),
            "{\"a\":[[],{\"0\":\"zero\"},\"é\"],\"a/b\":null,\"e\":{},\
             \"i\":123456789012345678901234567890,\"n\":1.5}\n"
        );
        assert_eq!(get("/n"), "1.5\n");
        assert_eq!(get("/i"), "123456789012345678901234567890\n");
        assert_eq!(get("/a/1/0"), "\"zero\"\n");
        assert_eq!(get("[\"a\", 1, \"0\"]"), "\"zero\"\n");
        assert_eq!(get("/a~1b"), "null\n");
        assert_eq!(get("[]"), get(""));
        assert_eq!(
            store.out(&["get", "--pretty", "d", "/a"]),
            "[\n  [],\n  {\n    \"0\": \"zero\"\n  },\n  \"é\"\n]\n"
        );
    });
}

#[test]
fn get_and_pairs_report_missing_values() {
    both(|store| {
        store.import(DOCUMENT, &["--name", "d"]);
        for command in ["get", "pairs"] {
            for arguments in [
                &["d", "/a/3"][..],
                &["d", "/n/x"],
                &["d", "[\"a\", \"0\"]"],
                &["x"],
            ] {
                let run = store.run(&[&[command], arguments].concat()).expect(1);
                assert_eq!(run.out, "");
                run.says("nothing is stored under the id");
            }
        }
    });
}

#[test]
fn negative_and_quoted_ids_are_found() {
    both(|store| {
        store.import(
            "[{\"doc_id\":-5},{\"doc_id\":\"-5\"},{\"doc_id\":\"\"}]",
            &[],
        );
        assert_eq!(store.out(&["get", "-5", "/doc_id"]), "-5\n");
        assert_eq!(store.out(&["get", "\"-5\"", "/doc_id"]), "\"-5\"\n");
        assert_eq!(store.out(&["get", "\"\"", "/doc_id"]), "\"\"\n");
    });
}

#[test]
fn pairs_are_printed_as_tuples_or_bytes() {
    both(|store| {
        store.import(r#"{"a":[1,"x"],"b":{}}"#, &["--name", "d"]);
        assert_eq!(
            store.out(&["pairs", "d"]),
            "(\"D\", \"d\", \"a\", 0) → (1,)\n\
             (\"D\", \"d\", \"a\", 1) → (\"x\",)\n\
             (\"D\", \"d\", \"b\", -2) → (null,)\n"
        );
        assert_eq!(
            store.out(&["pairs", "d", "/a", "--hex"]),
            "02440002640002610014 1501\n0244000264000261001501 027800\n"
        );
    });
}

#[test]
fn collections_are_listed_with_their_counts() {
    both(|store| {
        store.import("[1,2,3]", &["--collection", "b"]);
        store.import("[1,2]", &["--collection", "a"]);
        store.import("[4,5,6]", &["--collection", "b"]);
        assert_eq!(store.out(&["collections"]), "a\t2\nb\t6\n");
    });
}

#[test]
fn reading_commands_create_no_store() {
    let store = Store::alone();
    for arguments in [
        &["get", "x"][..],
        &["pairs", "x"],
        &["export"],
        &["collections"],
        &["check"],
    ] {
        store.run(arguments).expect(1).says("there is no store in");
        assert!(!store.path().exists());
        std::fs::create_dir(store.path()).expect("a directory");
        store.run(arguments).expect(1).says("there is no store in");
        std::fs::remove_dir(store.path()).expect("an empty directory");
    }
}

#[test]
fn schema_is_printed_without_a_store() {
    let store = Store::alone();
    assert!(store.out(&["schema"]).contains("type Query"));
    assert!(!store.path().exists());
}

#[test]
fn help_has_examples() {
    let store = Store::alone();
    for command in ["serve", "import", "export", "get", "pairs", "check"] {
        let help = store.out(&[command, "--help"]);
        assert!(help.contains("Examples:"), "{help}");
        assert!(help.contains("PHYLLO_STORE"), "{help}");
    }
}
