//! Missing collections

use foundationdb_tuple::pack;

use super::harness::{Store, both, open};

const FILTER: &str = r#"{"at":"$.n","eq":1}"#;

#[test]
fn misspelled_collections_are_rejected_with_suggestions() {
    both(|store| {
        store.import("[1]", &["--collection", "countries"]);
        store.import("[1]", &["--collection", "counties"]);
        store.import("[1]", &["--collection", "planets"]);
        for arguments in [
            &["get", "x", "--collection", "contries"][..],
            &["pairs", "x", "--collection", "contries"],
            &["export", "--collection", "contries"],
            &["check", "--collection", "contries"],
            &["delete", "contries", "--where", FILTER],
            &["drop", "contries", "--everything"],
        ] {
            let ran = store.run(arguments).expect(2);
            assert_eq!(ran.out, "", "{arguments:?}");
            ran.says("there is no collection \"contries\"")
                .says("did you mean \"countries\" or \"counties\"?");
        }
        let ran = store.run(&["export", "--collection", "x"]).expect(2);
        ran.says("`phyllo collections` lists the existing ones");
        // The default collection must exist, too.
        store.run(&["export"]).expect(2).says("no collection \"D\"");
        // A rejected export creates no file.
        let file = store.file("out", "as it was");
        store.run(&["export", "--output", &file]).expect(2);
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "as it was");
        assert_eq!(store.ids("planets").len(), 1);
    });
}

#[test]
fn collections_of_other_programs_or_with_only_an_index_exist() {
    for served in [false, true] {
        let mut store = Store::alone();
        store.import("[1]", &[]);
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        runtime.block_on(async {
            let database = open(store.path()).await;
            let transaction = database.store().begin().await.expect("a transaction");
            transaction.set(&pack(&("recipe", 7, "n")), &pack(&(1,)));
            let paths = ["$.n"];
            phyllo::database::create_index(
                &*transaction,
                "indexed",
                "n",
                &paths,
                false,
                phyllo::document::filter::Filter::default(),
            )
            .await
            .expect("an index");
            transaction.commit().await.expect("a commit");
        });
        if served {
            store.serve();
        }
        let get = store.out(&["get", "7", "--collection", "recipe"]);
        assert_eq!(get, "{\"n\":1}\n");
        let ran = store.run(&["get", "8", "--collection", "recipe"]).expect(1);
        ran.says("nothing is stored under the id");
        assert_eq!(store.ids("recipe"), ["7"]);
        assert_eq!(store.out(&["export", "--collection", "indexed"]), "");
        store.run(&["check", "--collection", "indexed"]).expect(0);
        let ran = store
            .run(&["get", "7", "--collection", "recipes"])
            .expect(2);
        ran.says("did you mean \"recipe\"?");
        let ran = store.run(&["drop", "recipe", "--everything"]).expect(0);
        ran.says("it held 0 documents");
        store.run(&["get", "7", "--collection", "recipe"]).expect(2);
    }
}
