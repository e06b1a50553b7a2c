//! Malformed data of other programs causes errors and is never interpreted.

use phyllo::database::{ChildBounds, ChildrenPage, Existing};
use phyllo::document::path::{Path, Place, Segment};
use phyllo::error::{Error, ErrorKind};
use phyllo::key::{hex, tuple_text};

use super::world::{Pairs, World, document_key, numbered, text};

cases!(
    sync [
        reading_malformed_data_is_an_internal_error_and_only_the_log_has_the_key,
        replacing_malformed_data_repairs_it,
        sound_parts_next_to_malformed_ones_can_be_read,
        malformed_containers_are_not_listed,
        scans_continue_after_damaged_or_foreign_documents,
        integers_with_or_without_a_length_byte_are_equal,
    ]
);

/// One packed element.
fn element(element: &impl foundationdb_tuple::TuplePack) -> Vec<u8> {
    foundationdb_tuple::pack(&(element,))
}

fn key(name: &str) -> Vec<u8> {
    element(&name)
}

fn integer(integer: i64) -> Vec<u8> {
    element(&integer)
}

fn bytes(bytes: &[u8]) -> Vec<u8> {
    element(&foundationdb_tuple::Bytes::from(bytes))
}

/// Each case has a name, and relative keys with values, which are stored below the path `x`.
#[expect(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<(&'static str, Pairs)> {
    let one = || integer(1);
    let null = || vec![0];
    let join = |parts: &[Vec<u8>]| parts.concat();
    let piece = |number: i64| join(&[integer(-3), integer(number)]);
    vec![
        (
            "a leaf with a member",
            vec![(vec![], one()), (key("a"), one())],
        ),
        (
            "a leaf with an element",
            vec![(vec![], one()), (integer(0), one())],
        ),
        (
            "a leaf and an empty object",
            vec![(vec![], one()), (integer(-2), null())],
        ),
        (
            "a member and an empty object",
            vec![(key("a"), one()), (integer(-2), null())],
        ),
        (
            "a member of a member and an empty array",
            vec![(join(&[key("a"), key("b")]), one()), (integer(-1), null())],
        ),
        (
            "an empty array and an element",
            vec![(integer(-1), null()), (integer(0), one())],
        ),
        (
            "both kinds of empty",
            vec![(integer(-2), null()), (integer(-1), null())],
        ),
        (
            "an empty object that is no null",
            vec![(integer(-2), one())],
        ),
        (
            "below an empty object",
            vec![(join(&[integer(-2), key("a")]), null())],
        ),
        ("no first element", vec![(integer(1), one())]),
        ("a hole", vec![(integer(0), one()), (integer(2), one())]),
        (
            "a hole behind a container",
            vec![(join(&[integer(0), key("a")]), one()), (integer(2), one())],
        ),
        (
            "members and elements",
            vec![(key("a"), one()), (integer(0), one())],
        ),
        (
            "an index past 63 bits",
            vec![(element(&(1_u64 << 63)), one())],
        ),
        ("an unknown marker", vec![(integer(-4), null())]),
        ("a segment of bytes", vec![(bytes(b"a"), one())]),
        ("a null segment", vec![(vec![0], one())]),
        (
            "a segment that is no UTF-8",
            vec![(vec![2, 0xC3, 0], one())],
        ),
        ("a segment without an end", vec![(vec![2, b'a'], one())]),
        ("an unknown type code", vec![(vec![0x7F], one())]),
        ("no value", vec![(vec![], vec![])]),
        (
            "two elements as a value",
            vec![(vec![], join(&[one(), one()]))],
        ),
        ("bytes as a value", vec![(vec![], bytes(b"a"))]),
        (
            "a nested tuple as a value",
            vec![(vec![], element(&(1_i64, 2_i64)))],
        ),
        ("a value that nests deep", vec![(vec![], vec![5; 90_000])]),
        ("a segment that nests deep", vec![(vec![5; 9_000], one())]),
        ("a single float", vec![(vec![], element(&1.5_f32))]),
        ("not a number", vec![(vec![], element(&f64::NAN))]),
        ("infinity", vec![(key("a"), element(&f64::INFINITY))]),
        (
            "a string that is no UTF-8",
            vec![(vec![], vec![2, 0xFF, 0])],
        ),
        ("half an integer", vec![(vec![], vec![0x16, 1])]),
        ("pieces from 1", vec![(piece(1), bytes(b"a"))]),
        (
            "a piece is missing",
            vec![(piece(0), bytes(b"a")), (piece(2), bytes(b"b"))],
        ),
        ("a piece without a number", vec![(integer(-3), bytes(b"a"))]),
        ("a piece that is a string", vec![(piece(0), key("a"))]),
        (
            "below a piece",
            vec![(join(&[piece(0), key("a")]), bytes(b"a"))],
        ),
        (
            "pieces that are no UTF-8",
            vec![(piece(0), bytes(b"a\xC3")), (piece(1), bytes(b"b"))],
        ),
        (
            "a leaf and pieces",
            vec![(vec![], one()), (piece(0), bytes(b"a"))],
        ),
        (
            "pieces and an element",
            vec![(piece(0), bytes(b"a")), (integer(0), one())],
        ),
        (
            "pieces and an empty array",
            vec![(piece(0), bytes(b"a")), (integer(-1), null())],
        ),
        (
            "a member and pieces",
            vec![(key("a"), one()), (piece(0), bytes(b"a"))],
        ),
    ]
}

fn check(name: &str, error: &Error, below: &[u8]) {
    assert_eq!(error.kind(), ErrorKind::Internal, "{name}: {error}");
    let detail = error.detail().expect("the log is told");
    assert!(detail.contains(&hex(below)), "{name}: {detail}");
    assert!(!error.message().contains(&hex(below)), "{name}: {error}");
}

fn stored_at(path: &[Vec<u8>], pairs: &Pairs) -> (World, Vec<u8>) {
    let world = World::damaged("its pairs are malformed");
    let below = [document_key(&numbered(1)), path.concat()].concat();
    let pair = |(key, value): &(Vec<u8>, Vec<u8>)| ([&below[..], key].concat(), value.clone());
    let pairs: Pairs = pairs.iter().map(pair).collect();
    assert!(pairs.is_sorted());
    world.write(&pairs);
    (world, below)
}

fn reading_malformed_data_is_an_internal_error_and_only_the_log_has_the_key() {
    for (name, pairs) in cases() {
        for path in [vec![], vec![key("x")], vec![integer(0), key("x")]] {
            let (world, below) = stored_at(&path, &pairs);
            let whole = world.load(&numbered(1), &Path::default());
            let whole = whole.expect("readable").expect("there");
            check(name, &whole.json().expect_err(name), &below);
            let scanned = &world.scan()[0];
            let document = document_key(&numbered(1));
            check(name, scanned.as_ref().expect_err(name), &document);
        }
    }
}

fn replacing_malformed_data_repairs_it() {
    for (name, pairs) in cases() {
        let (world, _) = stored_at(&[], &pairs);
        let document = numbered(1);
        assert!(
            world.put(&document, "[]", Existing::Fail).is_err(),
            "{name}"
        );
        world
            .put(&document, r#"{"a":[1]}"#, Existing::Replace)
            .expect(name);
        let whole = world.load(&document, &Path::default());
        let whole = whole.expect("readable").expect("there");
        assert_eq!(text(&whole), r#"{"a":[1]}"#, "{name}");
        assert_eq!(world.stored(&document).len(), 1, "{name}");
    }
}

fn sound_parts_next_to_malformed_ones_can_be_read() {
    for (name, pairs) in cases() {
        let (world, below) = stored_at(&[key("x")], &pairs);
        let beside = [document_key(&numbered(1)), key("y")].concat();
        world.write(&[(beside, integer(7))]);
        let path = Path::pointer("/y").expect("a pointer");
        let part = world.load(&numbered(1), &path).expect(name).expect(name);
        assert_eq!(text(&part), "7", "{name}");
        let path = Path::pointer("/x").expect("a pointer");
        let part = world.load(&numbered(1), &path).expect(name).expect(name);
        check(name, &part.json().expect_err(name), &below);
    }
}

fn malformed_containers_are_not_listed() {
    let of_the_container = [
        "a leaf with a member",
        "a leaf with an element",
        "a leaf and an empty object",
        "a member and an empty object",
        "a member of a member and an empty array",
        "an empty array and an element",
        "both kinds of empty",
        "no first element",
        "a hole",
        "a hole behind a container",
        "members and elements",
        "an index past 63 bits",
        "an unknown marker",
        "a segment of bytes",
        "a null segment",
        "a segment that is no UTF-8",
        "a segment without an end",
        "a segment that nests deep",
        "a leaf and pieces",
        "a member and pieces",
    ];
    let cases = cases();
    for name in of_the_container {
        let (_, pairs) = cases.iter().find(|case| case.0 == name).expect(name);
        let (world, below) = stored_at(&[key("x")], pairs);
        let place = Place(vec![Segment::Key("x".to_owned())]);
        for backward in [false, true] {
            let mut pages = Vec::new();
            let mut from = None;
            let error = loop {
                let page = ChildrenPage {
                    size: 1,
                    backward,
                    from,
                    within: ChildBounds::default(),
                };
                match world.children(&numbered(1), &place, &page) {
                    Err(error) => break error,
                    Ok(page) => {
                        assert!(page.more, "{name}, {backward}: {pages:?}");
                        from = page.page.last().map(|child| child.segment.clone());
                        pages.push(page);
                    }
                }
            };
            check(name, &error, &below);
        }
    }
}

fn scans_continue_after_damaged_or_foreign_documents() {
    let world = World::damaged("its pairs are malformed");
    let collection = key("D");
    let at = |id: Vec<u8>, rest: Vec<u8>| [collection.clone(), id, rest].concat();
    for id in [0, 2, 4] {
        world
            .put(&numbered(id), "{\"a\":1}", Existing::Fail)
            .expect("new");
    }
    world.write(&[
        // A pair of the collection itself, ids of bytes and of nested tuples, and no ids at all.
        (collection.clone(), integer(1)),
        (at(bytes(b"id"), vec![]), integer(1)),
        (at(bytes(b"id"), key("a")), integer(1)),
        (at(element(&(1_i64, "x")), key("a")), integer(1)),
        (at(vec![5; 9_000], vec![]), integer(1)),
        // Damaged, followed by more pairs than one batch has.
        (at(integer(1), key("a")), vec![]),
        (at(integer(1), key("b")), vec![b'x'; 90_000]),
        (at(integer(3), integer(0)), integer(1)),
        (at(integer(3), integer(2)), integer(1)),
        (at(integer(3), integer(3)), integer(1)),
    ]);
    let many: Pairs = (0..20_000)
        .map(|number| {
            (
                at(integer(1), [key("c"), integer(number)].concat()),
                integer(1),
            )
        })
        .collect();
    world.write(&many);
    let told: Vec<String> = world
        .scan()
        .into_iter()
        .map(|scanned| match scanned {
            Ok(Ok(scanned)) => scanned.id.to_string(),
            Ok(Err(foreign)) => tuple_text(&foreign.key).chars().take(16).collect(),
            Err(error) => error.kind().code().to_owned(),
        })
        .collect();
    let expected = [
        "(\"D\",)",
        "(\"D\", b\"id\")",
        "(\"D\", b\"id\")",
        "not a tuple: 024",
        "(\"D\", Tuple([Int",
        "0",
        "INTERNAL",
        "2",
        "INTERNAL",
        "4",
    ];
    assert_eq!(told, expected);
}

fn integers_with_or_without_a_length_byte_are_equal() {
    let world = World::damaged("its pairs are malformed");
    let document = document_key(&numbered(1));
    let at = |index: i64| [document.clone(), integer(index)].concat();
    world.write(&[
        (at(0), [&[0x1C][..], &[0xFF; 8]].concat()),
        (at(1), [&[0x1D, 8][..], &[0xFF; 8]].concat()),
        (at(2), [&[0x0C][..], &[0; 8]].concat()),
        (at(3), [&[0x0B, 0xF7][..], &[0; 8]].concat()),
    ]);
    let whole = world.load(&numbered(1), &Path::default());
    assert_eq!(
        text(&whole.expect("readable").expect("there")),
        "[18446744073709551615,18446744073709551615,\
          -18446744073709551615,-18446744073709551615]"
    );
}
