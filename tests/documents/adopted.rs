//! Adoption of documents that another program stored.

use foundationdb_tuple::{Bytes, pack};
use futures::FutureExt;
use phyllo::budget::Budget;
use phyllo::database::{Adopted, Collection, Existing, Put, ReadRequest, adopt, collections};
use phyllo::key::{IndexKey, tuple_text};
use phyllo::store::{Decision, TransactionResult, key_after};

use super::world::{World, deadline, numbered};

cases!(
    sync [
        foreign_documents_are_adopted_once_and_counted,
        unsupported_ids_are_listed_and_unchanged,
        documents_of_any_size_are_adopted_in_batches,
        adopted_documents_have_index_entries,
    ]
);

/// Adopts a whole collection, batch by batch.
fn adopt_all(world: &World, collection: &'static str) -> (Adopted, usize) {
    let mut total = Adopted::default();
    let mut batches = 0;
    loop {
        let begin = total.next.take();
        let batch = adopt_one(world, collection, begin.as_deref());
        batches += 1;
        total.entered += batch.entered;
        total.known += batch.known;
        total.foreign.extend(batch.foreign);
        total.next = batch.next;
        if total.next.is_none() {
            return (total, batches);
        }
    }
}

fn adopt_one(world: &World, collection: &'static str, begin: Option<&[u8]>) -> Adopted {
    let settled = world.run(world.database.transact(deadline(), |transaction| {
        let begin = begin.map(<[u8]>::to_vec);
        async move {
            let adopted = adopt(&*transaction, collection, begin.as_deref()).await?;
            Ok(Decision::Commit(adopted))
        }
        .boxed()
    }));
    match settled.expect("it can be adopted") {
        TransactionResult::Committed(adopted, _) | TransactionResult::Aborted(adopted) => adopted,
    }
}

fn counts(world: &World) -> Vec<(String, i64)> {
    let found = world.run(async {
        let snapshot = world.database.snapshot().await?;
        collections(&*snapshot).await
    });
    let pair = |Collection { name, count }| (name, count);
    found.expect("readable").into_iter().map(pair).collect()
}

/// The leaves `{"n": …}` of a document as another program writes them.
fn leaf(id: i64) -> (Vec<u8>, Vec<u8>) {
    (pack(&("D", id, "n")), pack(&(id,)))
}

fn version(world: &World, id: i64) -> String {
    let want = ReadRequest::Version(numbered(id).into());
    let answers = world.run(async {
        let snapshot = world.database.snapshot().await.expect("a snapshot");
        phyllo::database::load(&*snapshot, &[&want], &Budget::of_background().reserve()).await
    });
    format!("{:?}", answers[0].as_ref().expect("a version"))
}

fn foreign_documents_are_adopted_once_and_counted() {
    let world = World::new();
    world.put(&numbered(2), "{}", Existing::Fail).expect("new");
    let mut pairs = vec![leaf(1), leaf(3), leaf(-4)];
    pairs.push((pack(&("D", "name", 0)), pack(&(true,))));
    pairs.push((pack(&("D", "name", 1)), pack(&(false,))));
    pairs.push((pack(&("other", 1)), pack(&(1,))));
    world.write(&pairs);
    let (adopted, batches) = adopt_all(&world, "D");
    let expected = Adopted {
        entered: 4,
        known: 1,
        ..Adopted::default()
    };
    assert_eq!((adopted, batches), (expected, 1));
    assert_eq!(counts(&world), [("D".to_owned(), 5)]);
    let stored = world.pairs(b"", b"\xFF");
    let (again, _) = adopt_all(&world, "D");
    assert_eq!((again.entered, again.known), (0, 5));
    assert_eq!(counts(&world), [("D".to_owned(), 5)]);
    // Excludes the marker of the commit that adopted nothing.
    let documents = |pairs: Vec<(Vec<u8>, Vec<u8>)>| -> Vec<_> {
        let mut pairs = pairs;
        pairs.retain(|(key, _)| !key.starts_with(&[0, 0x15, 8]));
        pairs
    };
    assert_eq!(documents(world.pairs(b"", b"\xFF")), documents(stored));
    assert_eq!(version(&world, 1), "Version(None)");
    let put = world.put(&numbered(1), "1", Existing::Replace);
    assert_eq!(put.expect("any"), Put::Replaced);
    assert_ne!(version(&world, 1), "Version(None)");
    assert_eq!(counts(&world), [("D".to_owned(), 5)]);
}

fn unsupported_ids_are_listed_and_unchanged() {
    let world = World::new();
    let long = "i".repeat(9_994);
    let pairs = [
        (pack(&("D", Bytes::from(&b"\x01"[..]), "a")), pack(&(1,))),
        (pack(&("D", Bytes::from(&b"\x01"[..]), "b")), pack(&(1,))),
        // A leaf with leaves below it.
        (pack(&("D", Bytes::from(&b"\x02"[..]))), pack(&(1,))),
        (pack(&("D", Bytes::from(&b"\x02"[..]), "a")), pack(&(1,))),
        (pack(&("D",)), pack(&(1,))),
        (pack(&("D", long.as_str())), pack(&(1,))),
        // An integer that no tuple layer packs like this.
        ([&pack(&("D",))[..], &[0x16, 0, 9]].concat(), pack(&(1,))),
        leaf(5),
    ];
    world.write(&pairs);
    let (adopted, _) = adopt_all(&world, "D");
    assert_eq!((adopted.entered, adopted.known), (1, 0));
    let foreign: Vec<_> = adopted.foreign.iter().map(|f| tuple_text(&f.key)).collect();
    assert_eq!(
        foreign,
        [
            "(\"D\",)",
            "(\"D\", b\"\\x01\")",
            "(\"D\", b\"\\x02\")",
            &format!("(\"D\", {long:?})"),
            "(\"D\", 9)",
        ]
    );
    assert_eq!(counts(&world), [("D".to_owned(), 1)]);
    for (key, value) in pairs {
        let found = world.pairs(&key, &key_after(&key));
        assert_eq!(found, [(key, value)]);
    }
}

fn documents_of_any_size_are_adopted_in_batches() {
    let world = World::new();
    let mut pairs = Vec::new();
    for id in 0..2_500_i64 {
        // Documents larger and smaller than a read batch, and of sizes in between.
        for n in 0..[1, 2, 31, 32, 33, 65][usize::try_from(id % 6).expect("small")] {
            pairs.push((pack(&("D", id, n)), pack(&(id,))));
        }
        if id % 500 == 499 {
            world.write(&pairs);
            pairs.clear();
        }
    }
    let (adopted, batches) = adopt_all(&world, "D");
    assert_eq!((adopted.entered, adopted.known), (2_500, 0));
    assert!(batches >= 3, "{batches} batches");
    assert_eq!(counts(&world), [("D".to_owned(), 2_500)]);
}

fn adopted_documents_have_index_entries() {
    let world = World::new();
    world.create_index("n", &["$.n"]);
    world.create_index("each", &["$[*]"]);
    world.write(&[leaf(1), leaf(2), leaf(-3)]);
    let entries = |number| {
        let (begin, end) = IndexKey::new("D", number).expect("short").all();
        world.pairs(&begin, &end).len()
    };
    assert_eq!((entries(1), entries(2)), (0, 0));
    let (adopted, _) = adopt_all(&world, "D");
    assert_eq!(adopted.entered, 3);
    assert_eq!((entries(1), entries(2)), (3, 3));
    assert_eq!(world.check(None).0, []);
}
