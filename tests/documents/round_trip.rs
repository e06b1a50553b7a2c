//! Property tests against the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_bigint::BigInt;
use phyllo::database::{ChildBounds, ChildrenPage, Existing, Extent, Put, ReadRequest};
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Kind;
use phyllo::document::path::{Path, Place, Segment, Token};
use phyllo::key::Leaves;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::model::json::Json;
use super::world::{World, document_key, numbered, text};

cases!(
    sync [
        pointers_with_many_digit_tokens_resolve_keys_and_indexes,
        list_paths_take_digits_literally,
        pages_after_a_large_child_do_not_read_through_it,
        documents_and_all_their_paths_are_returned_as_stored,
        paths_read_together_return_the_same_as_alone,
        children_are_paged_in_order_for_any_page_size,
        replaced_documents_leave_no_keys,
        scans_return_every_document_in_id_order,
    ]
);

/// JSON as a person or a program may write it: members in any order, and duplicate names.
#[derive(Clone, Debug)]
enum Written {
    /// The text of a scalar.
    Scalar(String),
    Array(Vec<Written>),
    /// Names as JSON strings, with or without escapes.
    Object(Vec<(String, Written)>),
}

impl Written {
    fn write(&self, space: &str, out: &mut String) {
        match self {
            Self::Scalar(text) => out.push_str(text),
            Self::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(space);
                    element.write(space, out);
                }
                out.push_str(space);
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(space);
                    out.push_str(name);
                    out.push_str(space);
                    out.push(':');
                    value.write(space, out);
                    out.push_str(space);
                }
                out.push('}');
            }
        }
    }
}

fn json() -> impl Strategy<Value = String> {
    let written = scalar().prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Written::Array),
            vec((name(), inner), 0..8).prop_map(Written::Object),
        ]
    });
    (written, select(&["", " ", "\n\t\r "][..])).prop_map(|(written, space)| {
        let mut out = space.to_owned();
        written.write(space, &mut out);
        out + space
    })
}

/// Few names, so that duplicates occur, in different spellings.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => select(NAMES).prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| quoted(&text, false)),
        1 => any::<String>().prop_map(|text| quoted(&text, true)),
        1 => (0_usize..900).prop_map(|length| quoted(&"k".repeat(length), false)),
    ]
}

const NAMES: &[&str] = &[
    r#""""#,
    r#""a""#,
    r#""\u0061""#,
    r#""a\u0000""#,
    r#""a\u0000b""#,
    r#""\u0000""#,
    r#""\u0000\u0000""#,
    r#""0""#,
    r#""1""#,
    r#""01""#,
    r#""10""#,
    r#""-1""#,
    r#""99999999999999999999""#,
    r#""🌳""#,
    r#""\ud83c\udf33""#,
    r#""é""#,
    r#""\uffff""#,
    r#""\"\\\/""#,
    r#""/~""#,
    r#""$serde_json::private::Number""#,
    r#""$serde_json::private::RawValue""#,
    r#""__proto__""#,
];

fn scalar() -> impl Strategy<Value = Written> {
    let text = prop_oneof![
        3 => select(&["null", "true", "false", "0", "-0", "-0.0", "1e-400", "0e0"][..])
            .prop_map(str::to_owned),
        2 => any::<i64>().prop_map(|integer| integer.to_string()),
        1 => select(&[63_usize, 64, 65, 128, 2040][..]).prop_flat_map(near_power),
        1 => (vec(any::<u8>(), 1..=255), any::<bool>()).prop_map(|(bytes, negative)| {
            let magnitude = BigInt::from_bytes_be(num_bigint::Sign::Plus, &bytes);
            (if negative { -magnitude } else { magnitude }).to_string()
        }),
        2 => (any::<f64>().prop_filter("finite", |double| double.is_finite()))
            .prop_map(|double| format!("{double:e}")),
        1 => (1_u64..1 << 52).prop_map(|bits| format!("{:e}", f64::from_bits(bits))),
        1 => "-?(0|[1-9][0-9]{0,30})\\.[0-9]{1,30}([eE][+-]?[0-9]{1,2})?",
        4 => any::<String>().prop_map(|text| quoted(&text, false)),
        2 => any::<String>().prop_map(|text| quoted(&text, true)),
        1 => long_string(),
    ];
    text.prop_map(Written::Scalar)
}

fn near_power(bits: usize) -> impl Strategy<Value = String> {
    let edge = BigInt::from(1) << bits;
    (1_i64..4, any::<bool>()).prop_map(move |(less, negative)| {
        let magnitude: BigInt = &edge - less;
        (if negative { -magnitude } else { magnitude }).to_string()
    })
}

/// Lengths around the size at which a string is split, and around the size of a piece.
fn long_string() -> impl Strategy<Value = String> {
    let unit = select(&["x", "é", "€", "🌳", "\0", "\"", "a\0b"][..]);
    let bytes = prop_oneof![
        9_990_usize..10_010,
        49_990_usize..50_010,
        99_990_usize..100_010,
        100_000_usize..130_000,
    ];
    (unit, bytes, 0_usize..4).prop_map(|(unit, bytes, shift)| {
        let text = "y".repeat(shift) + &unit.repeat(bytes / unit.len());
        quoted(&text, false)
    })
}

/// A text as a JSON string. If `escaped`, every character is written as `\u`.
fn quoted(text: &str, escaped: bool) -> String {
    if !escaped {
        return Json::String(text.to_owned()).text();
    }
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
    format!("\"{}\"", units.collect::<Vec<_>>().concat())
}

/// Every path of a value, and the value there.
fn places(value: &Json) -> Vec<(Place, &Json)> {
    let mut found = vec![(Place::default(), value)];
    let mut at = 0;
    while at < found.len() {
        let (place, value) = found[at].clone();
        let below = children_of(value)
            .into_iter()
            .map(|(segment, child)| (place.child(segment), child));
        found.extend(below);
        at += 1;
    }
    found
}

fn children_of(value: &Json) -> Vec<(Segment, &Json)> {
    match value {
        Json::Array(elements) => (0..).map(Segment::Index).zip(elements).collect(),
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| (Segment::Key(name.clone()), value))
            .collect(),
        _ => Vec::new(),
    }
}

fn kind(value: &Json) -> Kind {
    match value {
        Json::Null => Kind::Null,
        Json::Bool(_) => Kind::Boolean,
        Json::Integer(_) | Json::Double(_) => Kind::Number,
        Json::String(_) => Kind::String,
        Json::Array(_) => Kind::Array,
        Json::Object(_) => Kind::Object,
    }
}

/// The path as a JSON Pointer (RFC 6901). Only the document determines the meaning of digits.
fn pointer(place: &Place) -> Path {
    Path::pointer(&place.to_string()).expect("a valid pointer")
}

/// Paths close to a given one, where nothing is stored unless the model has a value.
fn beside(place: &Place) -> Vec<Place> {
    let segments = [
        Segment::Index(0),
        Segment::Index(u64::MAX),
        Segment::Key(String::new()),
        Segment::Key("0".to_owned()),
        Segment::Key("a".to_owned()),
        Segment::Key("a\0".to_owned()),
    ];
    segments.map(|segment| place.child(segment)).to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    fn documents_and_all_their_paths_are_returned_as_stored(json in json()) {
        let model = Json::parse(&json);
        let world = World::new();
        let document = world.insert(Some(DocumentId::Integer(1)), &json).expect("valid JSON");
        let whole = world.load(&document, &Path::default()).expect("readable").expect("there");
        prop_assert_eq!(text(&whole), model.text());

        let places = places(&model);
        for (place, value) in places.iter().take(60) {
            for path in [Path::from(place), pointer(place)] {
                let loaded = world.load(&document, &path).expect("readable").expect("there");
                prop_assert_eq!(&loaded.place, place);
                prop_assert_eq!(text(&loaded), value.text());
                let first = world.first(&document, &path).expect("readable").expect("there");
                for part in [&loaded, &first, &whole.at(&path).expect("there")] {
                    prop_assert_eq!(part.kind().expect("well-formed"), kind(value));
                }
                let inside = whole.at(&path).expect("there");
                prop_assert_eq!(text(&inside), value.text());
                prop_assert!(inside.pairs().eq(loaded.pairs()));
            }
        }
        let known: BTreeMap<String, &Json> =
            places.iter().map(|(place, value)| (format!("{place:?}"), *value)).collect();
        for place in places.iter().take(20).flat_map(|(place, _)| beside(place)) {
            let path = Path::from(&place);
            let expected = known.get(&format!("{place:?}")).map(|value| value.text());
            let loaded = world.load(&document, &path).expect("readable");
            prop_assert_eq!(loaded.as_ref().map(text), expected.clone());
            prop_assert_eq!(whole.at(&path).as_ref().map(text), expected);
        }
    }

    fn paths_read_together_return_the_same_as_alone(json in json()) {
        let model = Json::parse(&json);
        let world = World::new();
        let document = Arc::new(world.insert(Some(DocumentId::Integer(1)), &json).expect("valid"));
        let places = places(&model);
        let asked: Vec<(ReadRequest, String)> = places
            .iter()
            .enumerate()
            .take(100)
            .skip(usize::from(json.len() % 3 == 0))
            .map(|(at, (place, value))| {
                let path = if at % 2 == 0 { Path::from(place) } else { pointer(place) };
                let extent = if at % 5 == 4 { Extent::First } else { Extent::Whole };
                (ReadRequest::Value(document.clone(), path, extent), value.text())
            })
            .collect();
        let wants: Vec<ReadRequest> = asked.iter().map(|(want, _)| want.clone()).collect();
        for ((want, expected), part) in asked.iter().zip(world.load_all(&wants)) {
            let part = part.expect("there");
            if part.is_whole() {
                prop_assert_eq!(&text(&part), expected);
            } else {
                prop_assert!(matches!(want, ReadRequest::Value(_, _, Extent::First)));
            }
        }
    }

    fn children_are_paged_in_order_for_any_page_size(
        json in json(),
        page_size in 1_usize..12,
    ) {
        let model = Json::parse(&json);
        let world = World::new();
        let document = world.insert(Some(DocumentId::Integer(1)), &json).expect("valid JSON");
        for (place, value) in places(&model).into_iter().take(30) {
            for backward in [false, true] {
                // In the order of the pages.
                let mut expected = children_of(value);
                if backward {
                    expected.reverse();
                }
                let mut found: Vec<(Segment, Kind)> = Vec::new();
                loop {
                    let from = found.last().map(|(segment, _)| segment.clone());
                    let page = ChildrenPage { size: page_size, backward, from, within: ChildBounds::default() };
                    let mut page = world.children(&document, &place, &page).expect("readable");
                    prop_assert!(page.page.len() <= page_size);
                    if backward {
                        page.page.reverse();
                    }
                    for child in &page.page {
                        if child.part.is_whole() {
                            let child_value = expected.get(found.len());
                            let child_value = child_value.map(|(_, value)| value.text());
                            prop_assert_eq!(Some(text(&child.part)), child_value);
                        }
                        found.push((child.segment.clone(), child.kind));
                    }
                    prop_assert_eq!(page.more, found.len() < expected.len());
                    if !page.more {
                        break;
                    }
                    prop_assert_eq!(page.page.len(), page_size);
                }
                let expected: Vec<(Segment, Kind)> = expected
                    .into_iter()
                    .map(|(segment, value)| (segment, kind(value)))
                    .collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    fn replaced_documents_leave_no_keys(before in json(), after in json()) {
        let world = World::new();
        let document = world.insert(Some(DocumentId::Integer(1)), &before).expect("valid JSON");
        let neighbours = [numbered(0), numbered(2)];
        for neighbour in &neighbours {
            world.put(neighbour, &before, Existing::Fail).expect("valid JSON");
        }
        let put = world.put(&document, &after, Existing::Replace).expect("valid JSON");
        prop_assert_eq!(put, Put::Replaced);
        let prefix = document_key(&document);
        let leaves = Leaves::from_json(&after).expect("valid JSON");
        let expected: Vec<_> = leaves
            .iter()
            .map(|(key, value)| ([&prefix, key].concat(), value.to_vec()))
            .collect();
        prop_assert_eq!(world.stored(&document), expected);
        for neighbour in &neighbours {
            let whole = world.load(neighbour, &Path::default()).expect("readable").expect("there");
            prop_assert_eq!(text(&whole), Json::parse(&before).text());
        }
    }

    fn scans_return_every_document_in_id_order(
        documents in vec((id(), json()), 0..8),
    ) {
        let world = World::new();
        let mut model = BTreeMap::new();
        for (id, json) in documents {
            let document = phyllo::database::DocumentKey::new("D", id.clone()).expect("short");
            world.put(&document, &json, Existing::Replace).expect("valid JSON");
            model.insert(id, Json::parse(&json).text());
        }
        let scanned: Vec<(DocumentId, String)> = world
            .scan()
            .into_iter()
            .map(|scanned| scanned.expect("well-formed").expect("ours"))
            .map(|scanned| (scanned.id, String::from_utf8(scanned.json).expect("UTF-8")))
            .collect();
        prop_assert_eq!(scanned, model.into_iter().collect::<Vec<_>>());
    }
}

fn id() -> impl Strategy<Value = DocumentId> {
    prop_oneof![
        any::<i64>().prop_map(DocumentId::Integer),
        (-3_i64..3).prop_map(DocumentId::Integer),
        any::<String>().prop_map(DocumentId::Text),
        select(&["", "a", "a\0", "a\0b", "1", "\"", "🌳"][..])
            .prop_map(|text| DocumentId::Text(text.to_owned())),
    ]
}

fn pointers_with_many_digit_tokens_resolve_keys_and_indexes() {
    let json = r#"{"0":[[{"1":{"2":[10,[{"3":[["deep"]]}]]}}]],"1":{"1":{"1":{"1":{"1":1}}}},
        "2":[[[[[["six"]]]]]],"a":{"0":{"b":["x",{"5":{"c":[7]}}]}}}"#;
    let world = World::new();
    let document = world
        .insert(Some(DocumentId::Integer(1)), json)
        .expect("valid JSON");
    let whole = world
        .load(&document, &Path::default())
        .expect("readable")
        .expect("there");
    for (text_form, expected) in [
        ("/0/0/0/1/2/0", Some("10")),
        ("/0/0/0/1/2/1/0/3/0/0", Some(r#""deep""#)),
        ("/0/0/0/1/2/1/0/3/0/1", None),
        ("/0/0/1/1/2/1/0/3/0/0", None),
        ("/1/1/1/1/1", Some("1")),
        ("/1/1/1/1", Some(r#"{"1":1}"#)),
        ("/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1", None),
        ("/2/0/0/0/0/0/0", Some(r#""six""#)),
        ("/2/0/0/0/0/0", Some(r#"["six"]"#)),
        ("/a/0/b/1/5/c/0", Some("7")),
        ("/a/0/b/1/5/c/0/0/0/0", None),
    ] {
        let path = Path::pointer(text_form).expect("a valid pointer");
        let loaded = world.load(&document, &path).expect("readable");
        assert_eq!(
            loaded.as_ref().map(text).as_deref(),
            expected,
            "{text_form}"
        );
        assert_eq!(
            whole.at(&path).as_ref().map(text).as_deref(),
            expected,
            "{text_form}"
        );
    }
}

fn list_paths_take_digits_literally() {
    let world = World::new();
    let json = r#"{"object":{"0":"key"},"array":["index"]}"#;
    let document = world
        .insert(Some(DocumentId::Integer(1)), json)
        .expect("valid JSON");
    let key = |text: &str| Token::Segment(Segment::Key(text.to_owned()));
    let index = Token::Segment(Segment::Index(0));
    for (tokens, expected) in [
        (vec![key("object"), key("0")], Some("\"key\"")),
        (vec![key("object"), index.clone()], None),
        (vec![key("array"), index], Some("\"index\"")),
        (vec![key("array"), key("0")], None),
    ] {
        let loaded = world.load(&document, &Path::new(tokens)).expect("readable");
        assert_eq!(loaded.as_ref().map(text).as_deref(), expected);
    }
}

fn pages_after_a_large_child_do_not_read_through_it() {
    let large = format!("[{}]", vec!["0"; 40_000].join(","));
    let json = format!(r#"{{"a":{large},"b":{large},"c":1}}"#);
    let world = World::new();
    let document = world
        .insert(Some(DocumentId::Integer(1)), &json)
        .expect("valid JSON");
    let page = world
        .children(
            &document,
            &Place::default(),
            &ChildrenPage {
                size: 2,
                backward: false,
                from: None,
                within: ChildBounds::default(),
            },
        )
        .expect("readable");
    let names: Vec<_> = page
        .page
        .iter()
        .map(|child| child.segment.clone())
        .collect();
    assert_eq!(names, ["a", "b"].map(|name| Segment::Key(name.to_owned())));
    assert!(page.more && page.page.iter().all(|child| !child.part.is_whole()));
    assert!(page.page[0].part.pairs().count() < 1_000);
    let last = ChildrenPage {
        size: 2,
        backward: true,
        from: None,
        within: ChildBounds::default(),
    };
    let page = world
        .children(&document, &Place::default(), &last)
        .expect("readable");
    let names: Vec<_> = page.page.iter().map(|child| &child.segment).collect();
    assert_eq!(
        names,
        [&Segment::Key("b".to_owned()), &Segment::Key("c".to_owned())]
    );
    assert!(page.more && page.page[1].part.is_whole());
    assert!(page.page[0].part.pairs().count() < 1_000);
}
