//! The stored bytes, compared with those of the recipe, with a readable golden file, and with the
//! examples in docs/format.md.

mod format_document;
mod golden;
#[path = "../model/mod.rs"]
mod model;
mod recipe;

use phyllo::document::id::DocumentId;
use phyllo::document::path::Place;
use phyllo::error::Result;
use phyllo::key::{Family, JsonText, Leaves};

/// The pairs of a document, as they are stored.
fn stored(collection: &str, id: &DocumentId, json: &str) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let prefix = document_key(collection, id);
    let leaves = Leaves::from_json(json)?;
    leaves.check_fits(prefix.len(), 0)?;
    let pair = |(key, value): (&[u8], &[u8])| ([&prefix, key].concat(), value.to_vec());
    Ok(leaves.iter().map(pair).collect())
}

/// The JSON text of a document's pairs.
fn assembled(prefix: &[u8], pairs: &[(Vec<u8>, Vec<u8>)]) -> String {
    let mut out = Vec::new();
    let mut text = JsonText::new(&mut out);
    for (key, value) in pairs {
        let relative = key.strip_prefix(prefix).expect("a key of the document");
        text.push(relative, value).expect("a well-formed document");
    }
    text.finish().expect("a well-formed document");
    String::from_utf8(out).expect("JSON text is UTF-8")
}

fn document_key(collection: &str, id: &DocumentId) -> Vec<u8> {
    Family::Document(collection, id, &Place::default())
        .key()
        .expect("a short key")
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|character| !character.is_whitespace())
        .map(|digit| digit.to_digit(16).expect("a hexadecimal digit"))
        .collect();
    let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).expect("two digits");
    assert_eq!(digits.len() % 2, 0, "{text}");
    digits.chunks(2).map(byte).collect()
}
