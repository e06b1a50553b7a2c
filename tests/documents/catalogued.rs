//! Ids, counts and existence of documents.

use std::collections::BTreeSet;

use phyllo::database::{Collection, Existing, Put, collections};
use phyllo::document::id::DocumentId;
use phyllo::document::path::Path;
use phyllo::error::ErrorKind;
use phyllo::key::{Leaves, Version};
use phyllo::limits::BULK_DOCUMENTS_PER_MEASURE;
use phyllo::store::key_after;

use super::world::{World, document_key, numbered, text};

cases!(
    sync [
        counts_equal_the_number_of_documents_after_any_operation,
        foreign_documents_exist_and_are_counted_after_replacement,
        documents_are_not_created_over_existing_ones,
        doc_id_is_the_default_id,
        without_an_id_a_random_unused_positive_integer_is_chosen,
        collection_and_id_separate_documents,
        empty_or_overlong_collections_are_rejected,
        keys_of_10000_bytes_are_stored_and_longer_ones_rejected,
        replaced_members_with_overlong_keys_are_ignored,
        every_change_has_a_later_version_and_no_change_keeps_it,
        documents_are_deleted_together_within_the_bytes_of_a_transaction,
    ]
);

fn count(world: &World) -> i64 {
    let found = world.run(async {
        let snapshot = world.database.snapshot().await?;
        collections(&*snapshot).await
    });
    match &found.expect("readable")[..] {
        [] => 0,
        [Collection { name, count }] if name == "D" => *count,
        other => panic!("other collections: {other:?}"),
    }
}

fn counts_equal_the_number_of_documents_after_any_operation() {
    let world = World::new();
    assert_eq!(count(&world), 0);
    for id in 0..40 {
        world.put(&numbered(id), "{}", Existing::Fail).expect("new");
    }
    for id in 20..60 {
        let put = world.put(&numbered(id), "[]", Existing::Replace);
        let expected = if id < 40 { Put::Replaced } else { Put::Created };
        assert_eq!(put.expect("any"), expected);
        let put = world.put(&numbered(id), "1", Existing::Skip);
        assert_eq!(put.expect("any"), Put::Skipped);
        assert!(world.put(&numbered(id), "1", Existing::Fail).is_err());
    }
    assert_eq!(count(&world), 60);
    assert_eq!(world.scan().len(), 60);
}

fn foreign_documents_exist_and_are_counted_after_replacement() {
    let world = World::new();
    let document = numbered(1);
    let leaves = Leaves::from_json(r#"{"theirs":[1,2]}"#).expect("valid JSON");
    let prefix = document_key(&document);
    let pair = |(key, value): (&[u8], &[u8])| ([&prefix, key].concat(), value.to_vec());
    world.write(&leaves.iter().map(pair).collect::<Vec<_>>());

    let whole = world.load(&document, &Path::default());
    let whole = whole.expect("readable").expect("there");
    assert_eq!(text(&whole), r#"{"theirs":[1,2]}"#);
    let error = world.insert(Some(document.id.clone()), "{}");
    assert_eq!(error.expect_err("taken").kind(), ErrorKind::AlreadyExists);
    let put = world.put(&document, "{}", Existing::Skip);
    assert_eq!(put.expect("any"), Put::Skipped);
    assert_eq!(count(&world), 0);
    let put = world.put(&document, "{}", Existing::Replace);
    assert_eq!(put.expect("any"), Put::Replaced);
    assert_eq!(count(&world), 1);
}

fn documents_are_not_created_over_existing_ones() {
    let world = World::new();
    let document = world.insert(None, r#"{"doc_id":"x","a":1}"#).expect("new");
    for json in [r#"{"doc_id":"x"}"#, r#"{"doc_id":"\u0078"}"#] {
        let error = world.insert(None, json).expect_err("taken");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
        assert!(error.message().contains('x') && error.message().contains("\"D\""));
    }
    let whole = world.load(&document, &Path::default());
    let whole = whole.expect("readable").expect("there");
    assert_eq!(text(&whole), r#"{"a":1,"doc_id":"x"}"#);
    assert_eq!(count(&world), 1);
}

fn doc_id_is_the_default_id() {
    let world = World::new();
    let string = |text: &str| Ok(DocumentId::Text(text.to_owned()));
    for (json, expected) in [
        (r#"{"doc_id":7}"#, Ok(DocumentId::Integer(7))),
        (r#"{"doc_id":-0}"#, Ok(DocumentId::Integer(0))),
        (r#"{"doc_id":"7"}"#, string("7")),
        (r#"{"doc_id":1,"doc_id":"last"}"#, string("last")),
        (r#"{"doc_id":"a\u0000b","doc_id\u0000":1}"#, string("a\0b")),
        (r#"{"doc_id":{}}"#, Err(())),
        (r#"{"doc_id":[1]}"#, Err(())),
        (r#"{"doc_id":null}"#, Err(())),
        (r#"{"doc_id":1.0}"#, Err(())),
        (r#"{"doc_id":9223372036854775808}"#, Err(())),
    ] {
        let inserted = world.insert(None, json);
        let id = inserted.map(|document| document.id).map_err(|error| {
            assert_eq!(error.kind(), ErrorKind::BadUserInput);
        });
        assert_eq!(id, expected, "{json}");
    }
}

fn without_an_id_a_random_unused_positive_integer_is_chosen() {
    let world = World::new();
    let mut ids = BTreeSet::new();
    for json in [
        r#"{"a":{"doc_id":1}}"#,
        r#"{"doc_id\u0000":1}"#,
        "[]",
        "null",
        "1",
    ] {
        for _ in 0..20 {
            match world.insert(None, json).expect("any").id {
                DocumentId::Integer(id) if id > 0 => assert!(ids.insert(id)),
                other => panic!("{other}"),
            }
        }
    }
    assert_eq!(count(&world), 100);
}

fn collection_and_id_separate_documents() {
    let world = World::new();
    let ids = ["", "a", "a\0", "a\0b", "1"].map(|text| DocumentId::Text(text.to_owned()));
    let ids = [&ids[..], &[DocumentId::Integer(0), DocumentId::Integer(1)]].concat();
    for (number, id) in ids.iter().enumerate() {
        let json = format!("{{\"a\":{number}}}");
        world.insert(Some(id.clone()), &json).expect("new");
    }
    for (number, id) in ids.into_iter().enumerate() {
        let document = phyllo::database::DocumentKey::new("D", id).expect("short");
        let whole = world.load(&document, &Path::default());
        let whole = whole.expect("readable").expect("there");
        assert_eq!(text(&whole), format!("{{\"a\":{number}}}"));
    }
    let elsewhere = phyllo::database::DocumentKey::new("D\0", DocumentId::Integer(1));
    let found = world.load(&elsewhere.expect("short"), &Path::default());
    assert!(found.expect("readable").is_none());
}

fn empty_or_overlong_collections_are_rejected() {
    let new = |name: &str| phyllo::database::DocumentKey::new(name, DocumentId::Integer(1));
    let kind = |name: &str| new(name).expect_err("refused").kind();
    assert_eq!(kind(""), ErrorKind::BadUserInput);
    assert_eq!(kind(&"c".repeat(10_000)), ErrorKind::KeyTooLong);
    assert!(new(&"c".repeat(9_900)).is_ok());
}

fn keys_of_10000_bytes_are_stored_and_longer_ones_rejected() {
    let world = World::new();
    let document = numbered(1);
    let room = 10_000 - document_key(&document).len() - 2;
    let longest = format!("{{\"{}\":1}}", "k".repeat(room));
    world
        .put(&document, &longest, Existing::Fail)
        .expect("it fits");
    let whole = world.load(&document, &Path::default());
    assert_eq!(text(&whole.expect("readable").expect("there")), longest);
    let longer = format!("{{\"k{}", &longest[2..]);
    let error = world.put(&numbered(2), &longer, Existing::Fail);
    let error = error.expect_err("too long");
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.message().contains("/kkk") && error.message().contains("10000 bytes"));
    assert!(world.stored(&numbered(2)).is_empty());
}

fn replaced_members_with_overlong_keys_are_ignored() {
    let world = World::new();
    let json = format!("{{\"a\":{{\"{}\":1}},\"a\":2}}", "k".repeat(9_990));
    let document = world
        .insert(Some(DocumentId::Integer(1)), &json)
        .expect("stored");
    let whole = world.load(&document, &Path::default());
    assert_eq!(
        text(&whole.expect("readable").expect("there")),
        r#"{"a":2}"#
    );
}

fn every_change_has_a_later_version_and_no_change_keeps_it() {
    let world = World::new();
    let document = numbered(1);
    let key = phyllo::key::Family::Version("D", &document.id)
        .key()
        .expect("short");
    let mut versions = Vec::new();
    for json in ["1", "2", "2", "[2]", "[2,3]", "[2,3]", "3"] {
        world.put(&document, json, Existing::Replace).expect("any");
        let end = key_after(&key);
        let pairs = world.pairs(&key, &end);
        versions.push(Version::decode(&pairs[0].1).expect("a version"));
    }
    let later: Vec<bool> = versions.windows(2).map(|pair| pair[0] < pair[1]).collect();
    assert!(versions.is_sorted(), "{versions:?}");
    assert_eq!(
        later,
        [true, false, true, true, false, true],
        "what changes nothing keeps its version"
    );
}

fn documents_are_deleted_together_within_the_bytes_of_a_transaction() {
    for number in [
        1,
        BULK_DOCUMENTS_PER_MEASURE,
        BULK_DOCUMENTS_PER_MEASURE + 1,
    ] {
        let world = World::new();
        let documents: Vec<_> = (1_i64..).take(number).map(numbered).collect();
        for document in &documents {
            world.put(document, "1", Existing::Fail).expect("new");
        }
        let error = world.delete_all(&documents, 1).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{number}");
        assert_eq!(world.scan().len(), number);
        let deleted = world.delete_all(&documents, 1_000_000);
        assert_eq!(deleted.expect("it fits"), number);
        assert!(world.scan().is_empty());
    }
}
