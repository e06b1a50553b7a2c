//! A check finds each kind of damage, names its key, and finds nothing in what is sound.

use foundationdb_tuple::pack;

use phyllo::database::{Existing, Severity};

use super::damages::{Damage, damages, element, named, system};
use super::world::{World, numbered};

/// Documents of every shape in collections whose names lie close together.
fn filled() -> World {
    let world = World::new();
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

/// What a check tells, without the words: faults by code, information with a sign before it.
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
            Severity::Information => "i ",
        };
        (format!("{sign}{}", finding.code), finding.key)
    });
    told.collect()
}

#[test]
fn nothing_is_found_in_a_sound_store() {
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

#[test]
fn each_kind_of_damage_is_found_and_named_by_its_key() {
    for Damage {
        name,
        set,
        cleared,
        told: expected,
    } in damages()
    {
        let world = filled();
        world.write(&set);
        for key in &cleared {
            world.clear(key);
        }
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(code, key)| (code.to_owned(), key))
            .collect();
        assert_eq!(told(&world, None), expected, "{name}");
    }
}

#[test]
fn a_collection_is_checked_alone() {
    let world = filled();
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
fn many_batches_are_checked_as_one() {
    let world = World::new();
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
