//! `phyllo delete`

use super::harness::{Store, both};

/// More than one GraphQL operation deletes.
const DOCUMENTS: usize = 12_000;

fn lines() -> String {
    let line = |at: usize| {
        format!(
            "{{\"doc_id\":{at},\"odd\":{},\"n\":{}}}\n",
            at % 2 == 1,
            at % 10
        )
    };
    (0..DOCUMENTS).map(line).collect()
}

#[test]
fn matching_documents_are_deleted_in_portions() {
    both(|store| {
        store.import(lines(), &["--format", "lines"]);
        let ran = store.run(&["delete", "D", "--where", r#"{"at":"$.odd","eq":true}"#]);
        let ran = ran.expect(0);
        assert_eq!(ran.out, "");
        ran.says("the collection \"D\": 6,000 documents deleted of 12,000 examined");
        assert_eq!(store.count(), DOCUMENTS / 2);
        store
            .run(&["get", "11"])
            .expect(1)
            .says("nothing is stored");
        assert_eq!(store.out(&["get", "12", "/n"]), "2\n");
        let ran = store.run(&["delete", "D", "--where", r#"{"at":"$.none","exists":true}"#]);
        ran.expect(0).says("0 documents deleted of 6,000 examined");
        let ran = store.run(&["delete", "D", "--everything"]).expect(0);
        ran.says("6,000 documents deleted of 6,000 examined");
        assert_eq!(store.count(), 0);
        store.run(&["check"]).expect(0);
    });
}

#[test]
fn invalid_and_always_true_filters_are_rejected() {
    both(|store| {
        store.import("[1,2]", &[]);
        for filter in [
            r#"{"not":{"any":[]}}"#,
            r#"{"not":{"not":{"all":[{}]}}}"#,
            r#"{"at":"$","exists":true}"#,
        ] {
            let ran = store.run(&["delete", "D", "--where", filter]).expect(2);
            ran.says("the filter is always true").says("--everything");
        }
        for filter in ["{}", r#"{"all":[]}"#] {
            let ran = store.run(&["delete", "D", "--where", filter]).expect(2);
            ran.says("the filter is empty").says("--everything");
        }
        // Without a filter it is the id of a document.
        store
            .run(&["delete", "D"])
            .expect(1)
            .says("nothing is stored under the id D");
        for filter in [
            "",
            "{",
            "7",
            r#"{"at":"$.a"}"#,
            r#"{"at":"$.a","is":1}"#,
            r#"{"at":"a","eq":1}"#,
        ] {
            let ran = store.run(&["delete", "D", "--where", filter]).expect(2);
            ran.says("the filter");
        }
        store
            .run(&["delete", "--where", "{}"])
            .expect(2)
            .says("COLLECTION");
        assert_eq!(store.count(), 2);
    });
}

#[test]
fn delete_uses_an_index() {
    for served in [false, true] {
        let mut store = Store::alone();
        store.import(lines(), &["--format", "lines"]);
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        runtime.block_on(async {
            let database = super::harness::open(store.path()).await;
            let transaction = database.store().begin().await.expect("a transaction");
            phyllo::database::create_index(
                &*transaction,
                "D",
                "n",
                &["$.n"],
                false,
                phyllo::document::filter::Filter::default(),
            )
            .await
            .expect("an index");
            transaction.commit().await.expect("a commit");
            let mut builder = phyllo::database::Builder::new(database);
            builder.finish().await.expect("it is built");
        });
        if served {
            store.serve();
        }
        let ran = store
            .run(&["delete", "D", "--where", r#"{"at":"$.n","gte":9}"#])
            .expect(0);
        ran.says("1,200 documents deleted of 1,200 examined");
        let ran = store
            .run(&["delete", "D", "--where", r#"{"at":"$.n","eq":3}"#])
            .expect(0);
        ran.says("1,200 documents deleted of 1,200 examined");
        assert_eq!(store.count(), DOCUMENTS - 2_400);
        store.run(&["check"]).expect(0);
    }
}
