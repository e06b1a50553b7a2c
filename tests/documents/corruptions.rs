//! Kinds of damage that a check must find.

use foundationdb_tuple::{Bytes, TuplePack, pack};
use phyllo::database::DocumentKey;
use phyllo::document::id::DocumentId;
use phyllo::key::Family;
use phyllo::limits::COUNT_SHARDS;

use super::world::{Pairs, document_key, numbered};

pub(crate) fn element(element: &impl TuplePack) -> Vec<u8> {
    pack(&(element,))
}

/// A key that begins with null.
pub(crate) fn system(rest: &impl TuplePack) -> Vec<u8> {
    [vec![0], pack(rest)].concat()
}

pub(crate) fn named(collection: &str, id: &str) -> DocumentKey {
    let id = DocumentId::Text(id.to_owned());
    DocumentKey::new(collection, id).expect("a short key")
}

fn packed(family: Family<'_>) -> Vec<u8> {
    family.key().expect("a short key")
}

fn existence(document: &DocumentKey) -> Vec<u8> {
    packed(Family::Existence(&document.collection, &document.id))
}

fn version(document: &DocumentKey) -> Vec<u8> {
    packed(Family::Version(&document.collection, &document.id))
}

/// A modification of a sound store, and the expected finding.
pub(crate) struct Damage {
    pub(crate) name: &'static str,
    pub(crate) set: Pairs,
    pub(crate) cleared: Vec<Vec<u8>>,
    pub(crate) told: Vec<(&'static str, Vec<u8>)>,
}

/// A pair that is set and reported with its own key.
fn at_its_key(name: &'static str, key: Vec<u8>, value: Vec<u8>, code: &'static str) -> Damage {
    Damage {
        name,
        told: vec![(code, key.clone())],
        set: vec![(key, value)],
        cleared: vec![],
    }
}

/// A pair of the document 1, `{"a":[1,2]}`, that is set and reported.
fn of_one(name: &'static str, path: Vec<u8>, value: Vec<u8>, code: &'static str) -> Damage {
    let key = [document_key(&numbered(1)), path].concat();
    at_its_key(name, key, value, code)
}

#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn damages() -> Vec<Damage> {
    let one = || element(&1);
    let join = |parts: &[Vec<u8>]| parts.concat();
    let (a, index) = (element(&"a"), |index: i64| element(&index));
    let of_x = |path: Vec<u8>| join(&[document_key(&named("E", "x")), path]);
    let split = |number: i64| {
        let place = join(&[document_key(&named("D", "")), element(&"a\0")]);
        join(&[place, index(-3), index(number)])
    };
    let nowhere = named("D", "nowhere");
    let count_of_e = system(&(2, "E", 0));
    let stamp = [vec![0x33], vec![0; 12]].concat();
    vec![
        of_one(
            "an undecodable leaf",
            join(&[a.clone(), index(0)]),
            vec![0x16, 1],
            "VALUE",
        ),
        of_one(
            "two elements as a leaf",
            join(&[a.clone(), index(1)]),
            vec![0, 0],
            "VALUE",
        ),
        of_one("a hole", join(&[a.clone(), index(3)]), one(), "HOLE"),
        of_one(
            "a member beside elements",
            element(&1),
            one(),
            "MIXED_SEGMENTS",
        ),
        of_one(
            "an empty object that is none",
            index(-2),
            vec![0],
            "LEAF_WITH_CHILDREN",
        ),
        of_one(
            "a marker with a value",
            join(&[element(&"b"), index(-1)]),
            one(),
            "VALUE",
        ),
        of_one(
            "an unknown marker",
            join(&[element(&"b"), index(-4)]),
            vec![0],
            "SEGMENT",
        ),
        of_one(
            "an index in too many bytes",
            join(&[element(&"b"), vec![0x16, 0, 0]]),
            one(),
            "SEGMENT",
        ),
        of_one(
            "no UTF-8 in a key",
            vec![0x02, 0xC3, 0x00],
            one(),
            "SEGMENT",
        ),
        Damage {
            name: "a leaf above others",
            set: vec![(document_key(&numbered(1)), one())],
            cleared: vec![],
            told: vec![(
                "LEAF_WITH_CHILDREN",
                join(&[document_key(&numbered(1)), a.clone(), index(0)]),
            )],
        },
        Damage {
            name: "a first element that is gone",
            set: vec![],
            cleared: vec![join(&[document_key(&numbered(1)), a.clone(), index(0)])],
            told: vec![(
                "HOLE",
                join(&[document_key(&numbered(1)), a.clone(), index(1)]),
            )],
        },
        Damage {
            name: "a piece that is gone",
            set: vec![],
            cleared: vec![split(4)],
            told: vec![("PIECES", split(5))],
        },
        at_its_key("a piece that is no bytes", split(4), one(), "VALUE"),
        at_its_key(
            "a piece that is no UTF-8",
            split(4),
            element(&Bytes::from(&b"a\xFFa"[..])),
            "PIECES",
        ),
        at_its_key(
            "half a character at the end",
            split(12),
            element(&Bytes::from(&b"\xC3"[..])),
            "PIECES",
        ),
        of_one(
            "a key past the limit",
            element(&"k".repeat(10_000)),
            one(),
            "KEY_TOO_LONG",
        ),
        of_one(
            "a value past the limit",
            element(&"v"),
            element(&"v".repeat(100_000)),
            "VALUE_TOO_LONG",
        ),
        Damage {
            name: "an entry that is gone",
            set: vec![],
            cleared: vec![existence(&numbered(1))],
            told: vec![
                ("NOT_ENTERED", version(&numbered(1))),
                ("COUNT", system(&(2, "D", 0))),
            ],
        },
        Damage {
            name: "an entry and a version that are gone",
            set: vec![],
            cleared: vec![existence(&named("E", "x")), version(&named("E", "x"))],
            told: vec![
                ("i NOT_ADOPTED", of_x(vec![])),
                ("COUNT", count_of_e.clone()),
            ],
        },
        Damage {
            name: "leaves that are gone",
            set: vec![],
            cleared: vec![of_x(join(&[element(&""), element(&"")]))],
            told: vec![("NO_LEAVES", existence(&named("E", "x")))],
        },
        Damage {
            name: "an entry of nothing",
            set: vec![(existence(&nowhere), vec![])],
            cleared: vec![],
            told: vec![
                ("NO_LEAVES", existence(&nowhere)),
                ("COUNT", system(&(2, "D", 0))),
            ],
        },
        at_its_key(
            "an entry with a value",
            existence(&numbered(1)),
            one(),
            "EXISTENCE_VALUE",
        ),
        at_its_key(
            "a version of nothing",
            version(&nowhere),
            stamp,
            "VERSION_ALONE",
        ),
        at_its_key(
            "a version that is none",
            version(&numbered(1)),
            one(),
            "VERSION_VALUE",
        ),
        Damage {
            name: "a count that is off",
            set: (0..COUNT_SHARDS)
                .map(|shard| (packed(Family::Count("E", shard)), vec![0; 8]))
                .collect(),
            cleared: vec![],
            told: vec![("COUNT", count_of_e.clone())],
        },
        Damage {
            name: "a count of a collection without documents",
            set: vec![(packed(Family::Count("Dx", 3)), 2_i64.to_le_bytes().to_vec())],
            cleared: vec![],
            told: vec![("COUNT", system(&(2, "Dx", 0)))],
        },
        Damage {
            name: "shards that even out",
            set: vec![
                (packed(Family::Count("Dx", 3)), 2_i64.to_le_bytes().to_vec()),
                (
                    packed(Family::Count("Dx", 4)),
                    (-2_i64).to_le_bytes().to_vec(),
                ),
            ],
            cleared: vec![],
            told: vec![],
        },
        at_its_key(
            "a count that is no number",
            packed(Family::Count("Dx", 0)),
            vec![0; 7],
            "COUNT_VALUE",
        ),
        at_its_key(
            "a shard that is none",
            system(&(2, "E", 0, 16)),
            vec![0; 8],
            "UNKNOWN_KEY",
        ),
        at_its_key(
            "an unknown family",
            system(&(13, "E")),
            vec![],
            "UNKNOWN_KEY",
        ),
        at_its_key(
            "a text of a type without its number",
            system(&(10, "E")),
            vec![],
            "UNKNOWN_KEY",
        ),
        at_its_key(
            "a check of a type with a number",
            system(&(11, "E", 0)),
            vec![],
            "UNKNOWN_KEY",
        ),
        at_its_key(
            "a misfit with a negative number",
            system(&(12, "E", -1)),
            vec![],
            "UNKNOWN_KEY",
        ),
        at_its_key(
            "an unknown part of the catalog",
            system(&(2, "E", 7)),
            vec![],
            "UNKNOWN_KEY",
        ),
        at_its_key("null alone", vec![0], vec![], "UNKNOWN_KEY"),
        at_its_key(
            "an entry that names no document",
            system(&(1, "E")),
            vec![],
            "UNKNOWN_KEY",
        ),
        at_its_key(
            "a version that continues",
            system(&(3, "E", "x", 1)),
            vec![],
            "UNKNOWN_KEY",
        ),
        at_its_key(
            "another format",
            packed(Family::Format),
            element(&10),
            "FORMAT_VALUE",
        ),
        Damage {
            name: "no format",
            set: vec![],
            cleared: vec![packed(Family::Format)],
            told: vec![("NO_FORMAT", packed(Family::Format))],
        },
        Damage {
            name: "keys of families that are kept for others",
            set: (5..=9)
                .map(|family| (system(&(family, "any")), vec![1]))
                .collect(),
            cleared: vec![],
            told: vec![],
        },
        at_its_key(
            "an index definition that is none",
            system(&(2, "E", 1, "by name")),
            vec![1],
            "INDEX_DEFINITION",
        ),
        Damage {
            name: "documents of another program",
            set: vec![
                (pack(&("D", 99, "a")), one()),
                (pack(&("D", 99, "b")), one()),
                (pack(&("F", "x", 0)), one()),
            ],
            cleared: vec![],
            told: vec![
                ("i NOT_ADOPTED", pack(&("D", 99))),
                ("i NOT_ADOPTED", pack(&("F", "x"))),
            ],
        },
        Damage {
            name: "a damaged document of another program",
            set: vec![(pack(&("F", "x", 1)), one())],
            cleared: vec![],
            told: vec![
                ("i NOT_ADOPTED", pack(&("F", "x"))),
                ("HOLE", pack(&("F", "x", 1))),
            ],
        },
        Damage {
            name: "ids of other kinds",
            set: vec![
                (pack(&("D", Bytes::from(&b"id"[..]), "a")), one()),
                (pack(&("D", Bytes::from(&b"id"[..]), "b")), one()),
                (pack(&("D", 1.5, "a")), one()),
                (pack(&("D", true)), one()),
                (join(&[element(&"D"), vec![0x16, 0, 1]]), one()),
            ],
            cleared: vec![],
            told: vec![
                ("i FOREIGN", pack(&("D", Bytes::from(&b"id"[..])))),
                ("i FOREIGN", join(&[element(&"D"), vec![0x16, 0, 1]])),
                ("i FOREIGN", pack(&("D", 1.5))),
                ("i FOREIGN", pack(&("D", true))),
            ],
        },
        Damage {
            name: "what is of no collection",
            set: vec![
                (pack(&(Bytes::from(&b"x"[..]), 1)), one()),
                (pack(&(7, 1)), one()),
                (element(&"D"), one()),
                (pack(&("", 1)), one()),
                (vec![0x02, b'D'], one()),
                (vec![], one()),
            ],
            cleared: vec![],
            told: vec![
                ("i FOREIGN", vec![]),
                ("i FOREIGN", pack(&(Bytes::from(&b"x"[..]), 1))),
                ("i FOREIGN", pack(&(7, 1))),
                ("i FOREIGN", pack(&("", 1))),
                ("i FOREIGN", vec![0x02, b'D']),
                ("i FOREIGN", element(&"D")),
            ],
        },
    ]
}
