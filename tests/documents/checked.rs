//! A check finds each kind of damage, reports its key, and reports nothing for sound data.

use foundationdb_tuple::pack;
use phyllo::database::{Existing, Severity};
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Leaf;
use phyllo::key::{Family, IndexKey, IndexValue};
use phyllo::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

use super::corruptions::{Damage, damages, element, named, system};
use super::world::{World, document_key, numbered};

/// Documents of every shape in collections with similar names.
fn filled() -> World {
    filled_in(World::new())
}

/// The same, to be damaged.
fn filled_to_damage() -> World {
    filled_in(World::damaged("the test damages it"))
}

fn filled_in(world: World) -> World {
    let long = format!(r#"{{"a\u0000":"{}","z":1}}"#, "é".repeat(60_000));
    let documents = [
        (numbered(1), r#"{"a":[1,[],{"b":null}],"a\u0000":{}}"#),
        (numbered(-7), "[[[[]]]]"),
        (named("D", "1"), "true"),
        (named("D", ""), &long),
        (
            named("D", "x\0y"),
            "[1.5,-0.0,123456789012345678901234567890]",
        ),
        (named("D\0", "x"), "{}"),
        (named("E", "x"), r#"{"":{"":""}}"#),
    ];
    for (document, json) in &documents {
        world.put(document, json, Existing::Fail).expect("stored");
    }
    for (document, _) in &documents[..2] {
        world
            .put(document, r#"{"a":[1,2]}"#, Existing::Replace)
            .expect("stored");
    }
    world
}

/// The findings of a check: codes and keys, with a prefix for information.
fn told(world: &World, collection: Option<&str>) -> Vec<(String, Vec<u8>)> {
    let (found, summary) = world.check(collection);
    let faults = found
        .iter()
        .filter(|finding| finding.severity == Severity::Fault);
    assert_eq!(summary.faults, faults.count() as u64);
    let told = found.into_iter().map(|finding| {
        assert!(!finding.message.is_empty(), "{finding:?}");
        let sign = match finding.severity {
            Severity::Fault => "",
            Severity::Unverified => "u ",
            Severity::Information => "i ",
        };
        (format!("{sign}{}", finding.code), finding.key)
    });
    told.collect()
}

#[test]
fn a_key_and_a_value_at_their_limits_are_sound() {
    let world = World::new();
    let document = numbered(1);
    // A packed string takes two bytes more than its text.
    let name = "k".repeat(KEY_BYTES_MAX - document_key(&document).len() - 2);
    let text = "v".repeat(VALUE_BYTES_MAX - 2);
    let json = format!(r#"{{"{name}":"{text}"}}"#);
    world.put(&document, &json, Existing::Fail).expect("stored");
    let pairs = world.stored(&document);
    let lengths = pairs.iter().map(|(key, value)| (key.len(), value.len()));
    assert_eq!(
        lengths.collect::<Vec<_>>(),
        [(KEY_BYTES_MAX, VALUE_BYTES_MAX)]
    );
    assert_eq!(told(&world, None), []);
}

#[test]
fn sound_stores_have_no_findings() {
    let world = World::new();
    let (found, summary) = world.check(None);
    assert_eq!((found, summary.documents, summary.pairs), (vec![], 0, 1));

    let world = filled();
    let (found, summary) = world.check(None);
    assert_eq!(found, []);
    let all = world.pairs(b"", b"\xFF");
    let bytes = all.iter().map(|(key, value)| key.len() + value.len());
    assert_eq!(summary.documents, 7);
    assert_eq!(summary.leaves, 2 + 2 + 1 + 2 + 3 + 1 + 1);
    assert_eq!(summary.pairs, all.len() as u64);
    assert_eq!(summary.bytes, bytes.sum::<usize>() as u64);

    let mut documents = 0;
    let mut pairs = 1;
    for collection in ["D", "D\0", "E", "nowhere"] {
        let (found, summary) = world.check(Some(collection));
        assert_eq!(found, [], "{collection:?}");
        documents += summary.documents;
        pairs += summary.pairs;
    }
    assert_eq!((documents, pairs), (summary.documents, summary.pairs));
}

/// Codes and keys in the form of [`told`].
fn coded(expected: Vec<(&str, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let expected = expected.into_iter();
    expected.map(|(code, key)| (code.to_owned(), key)).collect()
}

#[test]
fn each_kind_of_damage_is_found_and_reported_with_its_key() {
    for Damage {
        name,
        set,
        cleared,
        told: expected,
    } in damages()
    {
        let world = filled_to_damage();
        world.write(&set);
        for key in &cleared {
            world.clear(key);
        }
        let expected = coded(expected);
        assert_eq!(told(&world, None), expected, "{name}");
    }
}

#[test]
fn single_collections_can_be_checked() {
    let world = filled_to_damage();
    world.write(&[
        (pack(&("D", 1, "a", 3)), element(&1)),
        (pack(&("E", "x", "a", 1)), element(&1)),
        (system(&(10,)), vec![]),
    ]);
    let hole = |key: Vec<u8>| vec![("HOLE".to_owned(), key)];
    assert_eq!(told(&world, Some("D")), hole(pack(&("D", 1, "a", 3))));
    assert_eq!(told(&world, Some("E")), hole(pack(&("E", "x", "a", 1))));
    assert_eq!(told(&world, Some("D\0")), []);
}

#[test]
fn checks_in_many_batches_have_the_same_result() {
    let world = World::damaged("the test damages it");
    let elements: Vec<String> = (0..50_000)
        .map(|element: i32| element.to_string())
        .collect();
    world
        .put(
            &numbered(1),
            &format!("[{}]", elements.join(",")),
            Existing::Fail,
        )
        .expect("stored");
    for id in 2..2_000 {
        world
            .put(&numbered(id), "[1]", Existing::Fail)
            .expect("stored");
    }
    let (found, summary) = world.check(None);
    assert_eq!(found, []);
    assert_eq!((summary.documents, summary.leaves), (1_999, 51_998));
    world.clear(&pack(&("D", 1, 40_000)));
    let expected = ("HOLE".to_owned(), pack(&("D", 1, 40_001)));
    assert_eq!(told(&world, None), [expected]);
}

/// A document of which an index that is in use lacks an entry is found, whatever the reason.
#[test]
fn documents_that_a_ready_index_lacks_are_found_in_every_order() {
    let long = "y".repeat(KEY_BYTES_MAX + 1);
    let orders: [&[(&str, &[&str])]; 4] = [
        &[("long", &["$.long"]), ("pair", &["$.a", "$.long"])],
        &[("pair", &["$.a", "$.long"]), ("long", &["$.long"])],
        &[("pair", &["$.long", "$.l[*]"]), ("l", &["$.l[*]"])],
        &[("l", &["$.l[*]"]), ("pair", &["$.long", "$.l[*]"])],
    ];
    for indexes in orders {
        let world = World::damaged("an operation is undone in part");
        for (name, on) in indexes {
            world.create_index(name, on);
        }
        for id in 1..=3 {
            let json = r#"{"a":1,"long":"x","l":["x","z"]}"#;
            world.put(&numbered(id), json, Existing::Fail).expect("new");
        }
        assert_eq!(told(&world, None), []);
        // As an operation that ended in the middle would leave it.
        let leaf = |text: &str| element(&text);
        let document = document_key(&numbered(2));
        world.write(&[
            ([&document[..], &element(&"long")].concat(), leaf(&long)),
            (
                [&document[..], &element(&"l"), &element(&0_i64)].concat(),
                leaf(&long),
            ),
        ]);
        let found = told(&world, None);
        let lacking = ("VALUE_NOT_INDEXED".to_owned(), document);
        let times = found.iter().filter(|finding| **finding == lacking).count();
        assert_eq!(times, 2, "{found:?}");
        assert_eq!(told(&world, Some("D")), found);
    }
}

#[test]
fn two_entries_with_the_values_of_a_unique_index_are_found() {
    let world = World::damaged("an operation is undone in part");
    world.create_index_of("a", &["$.a"], true);
    for (id, json) in [(1, r#"{"a":1}"#), (2, r#"{"a":2}"#), (3, "{}"), (4, "{}")] {
        world.put(&numbered(id), json, Existing::Fail).expect("new");
    }
    assert_eq!(told(&world, None), []);
    let key = IndexKey::new("D", 1).expect("short");
    let value = IndexValue::of_leaf(&Leaf::Integer(1));
    let entry = key
        .entry(value.bytes(), &DocumentId::Integer(2))
        .expect("short");
    let document = document_key(&numbered(2));
    world.write(&[
        ([&document[..], &element(&"a")].concat(), element(&1_i64)),
        (entry.clone(), vec![]),
    ]);
    let found = told(&world, None);
    assert!(
        found.contains(&("NOT_UNIQUE".to_owned(), entry)),
        "{found:?}"
    );
}

/// Damage to indexes: its name, the pairs that are set, the keys that are removed, and the expected
/// findings.
type Planted = (
    &'static str,
    Vec<(Vec<u8>, Vec<u8>)>,
    Vec<Vec<u8>>,
    Vec<(&'static str, Vec<u8>)>,
);

#[test]
fn index_entries_are_compared_with_the_documents_in_both_directions() {
    let world = World::damaged("the test damages it");
    world.create_index("a", &["$.a"]);
    world.create_index("pair", &["$.a", "$.b"]);
    for (id, json) in [(1, r#"{"a":1,"b":2}"#), (2, r#"{"a":2}"#), (3, "{}")] {
        world.put(&numbered(id), json, Existing::Fail).expect("new");
    }
    assert_eq!(told(&world, None), []);
    let value = |number: i64| IndexValue::of_leaf(&Leaf::Integer(number));
    let entry = |index: u64, value: &IndexValue, id: i64| {
        let key = IndexKey::new("D", index).expect("short");
        key.entry(value.bytes(), &DocumentId::Integer(id))
            .expect("short")
    };
    let definition = Family::Definition("D", "a").key().expect("short");
    let (first, other) = (entry(1, &value(1), 1), entry(1, &value(7), 1));
    let cases: [Planted; 8] = [
        (
            "gone",
            vec![],
            vec![first.clone()],
            vec![("NO_INDEX_ENTRY", first.clone())],
        ),
        (
            "of another value",
            vec![(other.clone(), vec![])],
            vec![],
            vec![("STALE_INDEX_ENTRY", other)],
        ),
        (
            "of a document that has no such value",
            vec![(entry(1, &value(1), 3), vec![])],
            vec![],
            vec![("STALE_INDEX_ENTRY", entry(1, &value(1), 3))],
        ),
        (
            "of no document",
            vec![(entry(1, &value(1), 4), vec![])],
            vec![],
            vec![("STALE_INDEX_ENTRY", entry(1, &value(1), 4))],
        ),
        (
            "of no index",
            vec![(entry(3, &value(1), 1), vec![])],
            vec![],
            vec![("INDEX_ENTRY_ALONE", entry(3, &value(1), 1))],
        ),
        (
            "of too few values, and with one of its own",
            vec![(entry(2, &value(1), 1), vec![0])],
            vec![],
            vec![("UNKNOWN_KEY", entry(2, &value(1), 1))],
        ),
        (
            "with the form of another number",
            vec![(entry(1, &value(1), 1), vec![1])],
            vec![entry(1, &value(1), 1)],
            vec![("INDEX_ENTRY_VALUE", entry(1, &value(1), 1))],
        ),
        (
            "without a definition",
            vec![],
            vec![definition],
            vec![
                ("INDEX_ENTRY_ALONE", entry(1, &value(1), 1)),
                ("INDEX_ENTRY_ALONE", entry(1, &value(2), 2)),
            ],
        ),
    ];
    for (name, set, removed, expected) in cases {
        let restored: Vec<_> = removed
            .iter()
            .map(|key| {
                let end = [&key[..], &[0]].concat();
                world.pairs(key, &end).remove(0)
            })
            .collect();
        for key in &removed {
            world.clear(key);
        }
        world.write(&set);
        let expected = coded(expected);
        assert_eq!(told(&world, None), expected, "{name}");
        assert_eq!(told(&world, Some("D")), expected, "{name}");
        assert_eq!(told(&world, Some("E")), [], "{name}");
        for (key, _) in &set {
            world.clear(key);
        }
        world.write(&restored);
        assert_eq!(told(&world, None), [], "{name}");
    }
    world.write(&[(
        Family::Definition("D", "a").key().expect("short"),
        element(&1),
    )]);
    let definition = Family::Definition("D", "a").key().expect("short");
    let found = told(&world, None);
    assert!(
        found.contains(&("INDEX_DEFINITION".to_owned(), definition)),
        "{found:?}"
    );
}

#[test]
fn missing_and_stale_entries_of_large_documents_are_found() {
    let world = World::damaged("the test damages it");
    world.create_index("items", &["$.items[*]"]);
    for id in 1..3 {
        let items: Vec<String> = (0..40_000)
            .map(|item: i64| (item * id).to_string())
            .collect();
        let json = format!("{{\"items\":[{}]}}", items.join(","));
        world
            .put(&numbered(id), &json, Existing::Fail)
            .expect("stored");
    }
    assert_eq!(told(&world, None), []);
    let key = IndexKey::new("D", 1).expect("short");
    let entry = |value: i64| {
        let value = IndexValue::of_leaf(&Leaf::Integer(value));
        let entry = key.entry(value.bytes(), &DocumentId::Integer(1));
        entry.expect("short")
    };
    world.clear(&entry(39_000));
    world.write(&[(entry(50_000), vec![])]);
    let expected = coded(vec![
        ("STALE_INDEX_ENTRY", entry(50_000)),
        ("NO_INDEX_ENTRY", entry(39_000)),
    ]);
    assert_eq!(told(&world, None), expected);
}
