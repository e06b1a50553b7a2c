//! `phyllo update`

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use super::harness::{Ran, Store, both};

/// More than one GraphQL operation changes.
const DOCUMENTS: usize = 12_000;

fn lines() -> String {
    let line = |at: usize| {
        format!(
            "{{\"doc_id\":{at},\"n\":{},\"odd\":{}}}\n",
            at % 10,
            at % 2 == 1
        )
    };
    (0..DOCUMENTS).map(line).collect()
}

fn imported(store: &Store) {
    store.import(lines(), &["--format", "lines"]);
}

#[test]
fn matching_documents_are_updated_in_portions() {
    both(|store| {
        imported(store);
        let ran = store.run(&[
            "update",
            "--where",
            r#"{"at":"$.odd","eq":true}"#,
            "--merge",
            r#"$={"m": {"x": 1}}"#,
            "--append",
            r#"$.l="a=b""#,
            "--append",
            "$.l=2",
            "--remove",
            "$.l=1.0",
            "--increment",
            "$.n=10",
            "--unset",
            "$.odd",
            "--set",
            r#"$.s={"t":[]}"#,
            "--set",
            "$.l=[1,2]",
            "--set",
            "$.none.x=1",
        ]);
        let ran = ran.expect(0);
        assert_eq!(ran.out, "");
        ran.says("the collection \"D\": 6,000 documents changed of 12,000 examined")
            .says("--set $.s: 6,000 places")
            .says("--set $.none.x: 0 places")
            .says("--unset $.odd: 6,000 places")
            .says("--increment $.n: 6,000 places")
            .says("--remove $.l: 6,000 places")
            .says("--append $.l: 6,000 places")
            .says("--merge $: 6,000 places");
        let updated = r#"{"doc_id":11,"l":[2,"a=b",2],"m":{"x":1},"n":11,"s":{"t":[]}}"#;
        assert_eq!(store.out(&["get", "11"]), format!("{updated}\n"));
        let other = r#"{"doc_id":12,"n":2,"odd":false}"#;
        assert_eq!(store.out(&["get", "12"]), format!("{other}\n"));
        assert_eq!(store.count(), DOCUMENTS);
        store.run(&["check"]).expect(0);
    });
}

/// The updates make documents match again that were changed, and documents that were not examined
/// yet.
#[test]
fn each_document_is_updated_once() {
    both(|store| {
        imported(store);
        let sum = |store: &Store| -> u64 {
            let export = store.out(&["export"]);
            let number = |line: &str| {
                let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
                record["document"]["n"].as_u64().expect("a number")
            };
            export.lines().map(number).sum()
        };
        let before = sum(store);
        let ran = store.run(&[
            "update",
            "--where",
            r#"{"at":"$.n","gte":5}"#,
            "--increment",
            "$.n=1",
        ]);
        ran.expect(0)
            .says("6,000 documents changed of 12,000 examined");
        assert_eq!(sum(store), before + 6_000);
        let ran = store.run(&["update", "--everything", "--increment", "$.n=1"]);
        ran.expect(0)
            .says("12,000 documents changed of 12,000 examined");
        assert_eq!(sum(store), before + 18_000);
        let ran = store.run(&[
            "update",
            "--everything",
            "--increment",
            "$.n=1",
            "--after",
            "9999",
        ]);
        ran.expect(0)
            .says("2,000 documents changed of 2,000 examined");
        assert_eq!(sum(store), before + 20_000);
    });
}

#[test]
fn an_interrupt_reports_the_id_to_continue_after() {
    both(|store| {
        imported(store);
        let child = store.spawn(&["update", "--everything", "--increment", "$.times=1"]);
        sleep(Duration::from_millis(150));
        let id = child.id().to_string();
        // The command may have ended already.
        let _sent = Command::new("kill").args(["-INT", &id]).status();
        let ran = Ran::from(child.wait_with_output().expect("the binary runs"));
        if ran.code != Some(0) && ran.err.contains("documents changed") {
            let (_, rest) = ran.err.split_once("up to the id ").expect("where it ended");
            let after = rest.split_whitespace().next().expect("an id");
            let rest = [
                "update",
                "--everything",
                "--increment",
                "$.times=1",
                "--after",
                after,
            ];
            store.run(&rest).expect(0);
        } else if ran.code != Some(0) {
            store
                .run(&["update", "--everything", "--increment", "$.times=1"])
                .expect(0);
        }
        let export = store.out(&["export"]);
        assert_eq!(
            export.matches("\"times\":1").count(),
            DOCUMENTS,
            "{}",
            ran.err
        );
    });
}

#[test]
fn a_value_that_does_not_fit_ends_the_update_and_is_named() {
    both(|store| {
        imported(store);
        store.import("{\"doc_id\":6000,\"n\":\"six\"}", &["--id", "/doc_id"]);
        let ran = store.run(&["update", "--everything", "--increment", "$.n=1"]);
        let ran = ran.expect(1);
        assert!(
            ran.err.contains("the document 6000: `increment` at $.n"),
            "{}",
            ran.err
        );
        let (_, rest) = ran.err.split_once("up to the id ").expect("where it ended");
        let reached: u64 = rest
            .split_whitespace()
            .next()
            .expect("an id")
            .parse()
            .expect("a number");
        assert!(reached < 6_000, "{reached}");
        assert_eq!(store.out(&["get", "0", "/n"]), "1\n");
        assert_eq!(
            store.out(&["get", &reached.to_string(), "/n"]),
            format!("{}\n", reached % 10 + 1)
        );
        let next = reached + 1;
        assert_eq!(
            store.out(&["get", &next.to_string(), "/n"]),
            format!("{}\n", next % 10)
        );
    });
}

#[test]
fn invalid_updates_are_rejected() {
    both(|store| {
        store.import("[1,2]", &[]);
        for (arguments, part) in [
            (&["--everything"][..], "--set"),
            (&["--set", "$=1"], "the filter is empty"),
            (&["--everything", "--set", "$"], "`=`"),
            (&["--everything", "--set", "$=x"], "--set"),
            (&["--everything", "--set", "a=1"], "--set"),
            (
                &["--everything", "--increment", "$=\"1\""],
                "is not a number",
            ),
            (&["--everything", "--unset", "$"], "whole document"),
            (&["--everything", "--unset", "$["], "--unset"),
            (&["--where", "7", "--set", "$=1"], "the filter"),
            (
                &["--everything", "--collection", "none", "--set", "$=1"],
                "no collection",
            ),
        ] {
            let ran = store.run(&[&["update"], arguments].concat()).expect(2);
            ran.says(part);
        }
        let ran = store
            .run(&["update", "--everything", "--set", "$=3"])
            .expect(0);
        ran.says("2 documents changed of 2 examined");
    });
}
