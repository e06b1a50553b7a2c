//! Paths and ids as users write them.

use phyllo::document::id::DocumentId;
use phyllo::document::path::{Path, Segment};
use phyllo::key::{KeyStep, append_place, append_segment, step};

pub(super) const SEEDS: &[&[u8]] = &[
    b"",
    b"/",
    b"/a~1b/~0/0/01/-1/18446744073709551616",
    b"[\"a\", 0, \"0\", \"\\u00e9\\ud83c\\udf33\"]",
    b"[0,9223372036854775808]",
    b"[\"a\",-1,\"b\",-2]",
    b"/0/1/2/3/4",
    b"-5",
    b"\"42\"",
];

pub(super) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(id) = DocumentId::parse(text) {
        let again = DocumentId::parse(&id.to_string());
        assert_eq!(again.expect("an id reads back from its text"), id);
    }
    let Ok(path) = Path::parse(text) else { return };
    if let Some((array, count, rest)) = path.split_at_from_end() {
        assert!(count > 0 && !array.has_from_end());
        assert!(path.places().is_empty() && path.place().is_none());
        assert_eq!(
            array.tokens().len() + 1 + rest.tokens().len(),
            path.tokens().len()
        );
        return;
    }
    if path.ambiguous() > 8 {
        let (head, rest) = path.split_after_ambiguous(3);
        assert_eq!(head.ambiguous(), 3);
        assert_eq!(head.join(&rest), path);
        assert_eq!(path.as_indexes().ambiguous(), 0);
        return;
    }
    let places = path.places();
    assert_eq!(places.len(), 1 << path.ambiguous());
    for place in places {
        let pointer = Path::pointer(&place.to_string()).expect("a place prints as a pointer");
        assert_eq!(pointer.tokens().len(), place.0.len());
        if pointer.ambiguous() <= 8 {
            assert!(pointer.places().contains(&place));
        }
        let mut key = Vec::new();
        append_place(&mut key, &place);
        let mut rest = &key[..];
        for segment in &place.0 {
            let mut expected = Vec::new();
            append_segment(&mut expected, segment.as_ref());
            assert!(rest.starts_with(&expected));
            match (step(rest), segment) {
                (Some((KeyStep::Key(found), bytes)), Segment::Key(key)) => {
                    assert_eq!((&*found, bytes), (&**key, expected.len()));
                }
                (Some((KeyStep::Index(found), bytes)), Segment::Index(index)) => {
                    assert_eq!((found, bytes), (*index, expected.len()));
                }
                // No array has this many elements, so nothing is found.
                (None, Segment::Index(index)) => assert!(i64::try_from(*index).is_err()),
                other => panic!("{other:?}"),
            }
            rest = &rest[expected.len()..];
        }
        assert!(rest.is_empty());
    }
}
