//! Reads CSV and TSV.

use std::io::{self, Read};

use phyllo::cli::table_documents;
use phyllo::error::ErrorKind;
use phyllo::key::Leaves;
use serde_json::Value;

/// The first byte chooses the separator and whether values are inferred.
pub(super) const SEEDS: &[&[u8]] = &[
    b"\0code,name.common,/name/official,capitals.0,capitals.1\r\nZAF,South Africa,\"Republic of\r\nSouth \"\"Africa\"\"\",Pretoria,Cape Town\r\n\r\nFRA,France,,Paris,\r\n",
    b"\x01a\tb.c\n1\tx,y\n2.50\t\n\"3\t\"\ttrue",
    b"\x02a.0,a.1,a.2,b\n1,,3,null\n,,,1e999\n-0,007,[1],\"\"\n",
    b"\x03\xEF\xBB\xBFa\n\"unfinished\n",
    b"\0a,a\n1,2\n",
    b"\0/~1/0,/~2\n1,2\n",
    b"\0\n\n\r\r\na\n1\n1,2\n\xFF\n",
    b"\0",
];

/// The most pieces in which a text arrives. The reader allocates a chunk for each.
const PIECES: usize = 32;

/// A source that returns some bytes at a time.
struct InPieces<'b> {
    text: &'b [u8],
    bytes: usize,
}

impl Read for InPieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = out.len().min(self.bytes);
        self.text.read(&mut out[..bytes])
    }
}

pub(super) fn check(bytes: &[u8]) {
    let Some((options, text)) = bytes.split_first() else {
        return;
    };
    let (has_tabs, infer) = (options & 1 != 0, options & 2 != 0);
    let (documents, end) = table_documents(text, has_tabs, infer);
    let pieces = InPieces {
        text,
        bytes: 1 + text.len() / PIECES,
    };
    let in_pieces = table_documents(pieces, has_tabs, infer);
    assert_eq!(
        (&documents, &end),
        (&in_pieces.0, &in_pieces.1),
        "it depends on how the bytes arrive"
    );
    for document in documents.iter().flatten() {
        let json = std::str::from_utf8(document).expect("JSON text is UTF-8");
        let value: Value = serde_json::from_str(json).unwrap_or_else(|error| {
            let is_deep = error.to_string().contains("recursion");
            assert!(is_deep || json.contains("$serde_json"), "{error}: {json}");
            Value::Null
        });
        if !infer {
            assert!(has_texts_only(&value), "{json}");
        }
        match Leaves::from_json(json) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}: {json}"),
        }
    }
}

/// Whether all leaves are strings, or stand for missing elements of a list.
fn has_texts_only(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.values().all(has_texts_only),
        Value::Array(elements) => elements.iter().all(has_texts_only),
        Value::String(_) | Value::Null => true,
        _ => false,
    }
}
