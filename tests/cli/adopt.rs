//! `phyllo adopt`

use foundationdb_tuple::{Bytes, pack};

use super::harness::{Store, open};

/// A store with a document of Phyllo and documents of another program.
fn store_with_others() -> Store {
    let store = Store::alone();
    store.import("[1]", &["--name", "x"]);
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let database = open(store.path()).await;
        let transaction = database.store().begin().await.expect("a transaction");
        for id in 0..2_100_i64 {
            transaction.set(&pack(&("D", id, "n")), &pack(&(id,)));
        }
        transaction.set(
            &pack(&("D", Bytes::from(&b"\x00\xFF"[..]), 0)),
            &pack(&(1,)),
        );
        transaction.commit().await.expect("a commit");
    });
    store
}

#[test]
fn adopt_adds_foreign_documents_to_the_catalog_once() {
    for served in [false, true] {
        let mut store = store_with_others();
        if served {
            store.serve();
        }
        assert_eq!(store.count(), 1);
        for (entered, known) in [(2_100, 1), (0, 2_101)] {
            let ran = store.run(&["adopt", "D"]).expect(0);
            assert_eq!(ran.out, "(\"D\", b\"\\x00\\xff\")\n");
            ran.says(&format!(
                "{entered} documents adopted, {known} already known; 1 with ids"
            ));
            assert_eq!(store.count(), 2_101);
        }
        assert_eq!(store.out(&["get", "7", "/n"]), "7\n");
    }
}

#[test]
fn adopt_requires_a_store_and_a_collection() {
    let store = Store::alone();
    store
        .run(&["adopt", "D"])
        .expect(1)
        .says("there is no store");
    store.run(&["adopt", ""]).expect(2).says("name is empty");
    store.run(&["adopt"]).expect(2).says("COLLECTION");
    store.import("[1]", &[]);
    let ran = store.run(&["adopt", "nowhere"]).expect(0);
    ran.says("0 documents adopted, 0 already known; 0 with ids");
}
