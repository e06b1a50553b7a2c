//! Packed tuples, as other programs may have written them.

use phyllo::document::path::SegmentRef;
use phyllo::key::{
    KeyStep, Leaves, SystemKey, Version, append_segment, collection_of, decode_leaf, kind_at,
    pack_leaf, split_document, step, tuple_text,
};

pub(super) const SEEDS: &[&[u8]] = &[
    b"\x02D\0\x15\x01\x02user\0\x14",
    b"\0\x15\x02\x02D\0\x14\x15\x0B",
    b"\0\x15\x03\x02D\0\x15\x01",
    b"\x02a\0\xFFb\0",
    b"\x02\xF0\x9F\x8C\xB3\0",
    b"\x21\xBF\xF8\0\0\0\0\0\0",
    b"\x1D\x09\x01\0\0\0\0\0\0\0\0",
    b"\x0B\xF7\0\0\0\0\0\0\0\0",
    b"\x05\x05\x02a\0\0\xFF\0\0",
    b"\x33\0\0\0\0\0\0\0\x02\0\0\0\0",
    b"\x26\x27\x30\x20\x80\0\0\0",
    b"\x13\xFC\x15\x01",
];

pub(super) fn check(bytes: &[u8]) {
    assert!(!tuple_text(bytes).is_empty());
    let _version = Version::decode(bytes);
    keys(bytes);
    if let Some((found, taken)) = step(bytes) {
        assert!(taken <= bytes.len());
        let segment = match &found {
            KeyStep::Key(name) => Some(SegmentRef::Key(name)),
            KeyStep::Index(index) => Some(SegmentRef::Index(*index)),
            KeyStep::Marker(_) => None,
        };
        // A segment has only one packed form.
        if let Some(segment) = segment {
            let mut packed = Vec::new();
            append_segment(&mut packed, segment);
            assert_eq!(packed, &bytes[..taken]);
        }
        let _kind = kind_at(&bytes[..taken], &bytes[taken..]);
    }
    let Some(leaf) = decode_leaf(bytes) else {
        return;
    };
    let mut json = Vec::new();
    leaf.write_json(&mut json);
    let again = pack_leaf(&leaf);
    let again = decode_leaf(&again).expect("a leaf that was packed");
    assert_eq!(again.kind(), leaf.kind());
    let mut json_again = Vec::new();
    again.write_json(&mut json_again);
    assert_eq!(json_again, json);
    let text = std::str::from_utf8(&json).expect("JSON text is UTF-8");
    let leaves = Leaves::from_json(text).expect("a leaf is a document");
    assert_eq!(leaves.to_json(), json);
}

fn keys(bytes: &[u8]) {
    if let Some(system) = SystemKey::parse(bytes) {
        if let Some(document) = system.document() {
            assert_eq!(split_document(document), Ok(document.len()));
            assert!(!collection_of(document).is_empty());
        }
        if let Some(collection) = system.collection() {
            assert_eq!(collection_of(collection), collection);
        }
    }
    match split_document(bytes) {
        Ok(document) => {
            assert!(document > collection_of(bytes).len());
            assert_eq!(split_document(&bytes[..document]), Ok(document));
        }
        Err(beginning) => assert!(beginning <= bytes.len()),
    }
}
