//! Assembles sorted pairs of any kind into JSON text.

use std::collections::BTreeMap;

use foundationdb_tuple::{Bytes, pack};
use phyllo::document::tree::Tree;
use phyllo::error::ErrorKind;
use phyllo::key::{JsonText, Leaves, NoTree, Verified, Verify, tree};

/// Each seed is a program that writes pairs: see [`pairs`].
pub(super) const SEEDS: &[&[u8]] = &[
    b"\x00\x07\x10",
    b"\x01\x00\x07\x20\x01\x01\x07\x30",
    b"\x11\x00\x07\x40\x11\x01\x07\x50\x11\x02\x05\x07\x00",
    b"\x01\x00\x06\x07\x60\x01\x00\x06\x01\x07\x61\x02\x04\x07\x00",
    b"\x02\x03\x07\x00\x01\x02\x11\x00\x11\x00\x07\x70\x12\x01\x07\x10",
    b"\x08\x03\x02a\0\x07\x09\x02\x15\x01",
    b"\x06\x00\x07\x60\x06\x01\x07\x61\x06\x02\x07\x62",
];

pub(super) fn check(bytes: &[u8]) {
    let pairs = pairs(bytes);
    let mut json = Vec::new();
    let mut text = JsonText::new(&mut json);
    let pushed = pairs
        .iter()
        .try_for_each(|(key, value)| text.push(key, value));
    let assembled = match pushed {
        Ok(()) => text.finish(),
        Err(error) => Err(error),
    };
    let mut verify = Verify::default();
    let mut sound = true;
    for (key, value) in &pairs {
        sound &= verify.push(key, value) == Verified::default();
    }
    sound &= verify.finish().is_none();
    assert_eq!(sound, assembled.is_ok(), "{assembled:?} of {pairs:?}");
    if pairs.is_empty() {
        return;
    }
    let told = pairs.iter().map(|(key, value)| (&key[..], &value[..]));
    let grown = match tree(told) {
        Err(NoTree::TooDeep) => return,
        Err(NoTree::Malformed(error)) => {
            assert_eq!(assembled, Err(error), "{pairs:?}");
            return;
        }
        Ok(grown) => grown,
    };
    assert_eq!(assembled, Ok(()), "{pairs:?}");
    let text = std::str::from_utf8(&json).expect("JSON text is UTF-8");
    match Leaves::from_json(text) {
        Ok(leaves) => {
            assert_eq!(leaves.to_json(), json);
            assert_eq!(leaves.len() as u64, verify.leaves(), "{text}");
            assert_eq!(Tree::from_json(text).ok(), Some(grown), "{text}");
        }
        // Other programs may nest deeper.
        Err(error) => assert_eq!(error.kind(), ErrorKind::TooLarge, "{text}"),
    }
}

/// Interprets bytes as a program that writes pairs. Each step appends an element to a key, ends the
/// key with a value, or removes an element.
fn pairs(program: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut pairs = BTreeMap::new();
    let mut elements: Vec<Vec<u8>> = Vec::new();
    let mut rest = program;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        let argument = byte >> 4;
        match byte & 15 {
            0 => elements.clear(),
            1 => {
                const NAMES: [&str; 6] = ["", "a", "b", "a\0", "a\0b", "é"];
                let name = NAMES[usize::from(argument) % NAMES.len()];
                elements.push(pack(&(name,)));
            }
            2 => elements.push(pack(&(i64::from(argument),))),
            3 => elements.push(pack(&(-1,))),
            4 => elements.push(pack(&(-2,))),
            5 => drop(elements.pop()),
            6 => elements.extend([pack(&(-3,)), pack(&(i64::from(argument),))]),
            8 => elements.push(raw(&mut rest)),
            code => {
                let value = if code == 7 {
                    value(argument)
                } else {
                    raw(&mut rest)
                };
                pairs.insert(elements.concat(), value);
                elements.pop();
            }
        }
    }
    pairs
}

/// As many bytes as the next one says.
fn raw(rest: &mut &[u8]) -> Vec<u8> {
    let Some((length, behind)) = rest.split_first() else {
        return Vec::new();
    };
    let (taken, behind) = behind.split_at(usize::from(length % 16).min(behind.len()));
    *rest = behind;
    taken.to_vec()
}

fn value(number: u8) -> Vec<u8> {
    let bytes = |bytes: &'static [u8]| pack(&(Bytes::from(bytes),));
    match number {
        0 => vec![0],
        1 => pack(&(7,)),
        2 => pack(&(true,)),
        3 => pack(&("text\0\u{1}",)),
        4 => pack(&(-0.0,)),
        5 => pack(&(f64::NAN,)),
        6 => bytes(b"piece"),
        7 => bytes("é".as_bytes().get(..1).unwrap_or_default()),
        8 => bytes("é".as_bytes().get(1..).unwrap_or_default()),
        9 => bytes(b""),
        10 => vec![],
        11 => pack(&(1, 2)),
        12 => vec![0x02, 0xFF, 0],
        13 => vec![0x1D, 1, 5],
        14 => pack(&(i64::MIN,)),
        _ => pack(&(1e300,)),
    }
}
