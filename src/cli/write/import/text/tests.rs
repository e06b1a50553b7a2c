//! Compares the splitter with a parser of the whole text, for every chunk size.

use std::io::{self, Read};

use proptest::prelude::*;

use super::chunks::{Chunks, TextPosition};
use super::split::{Broken, Piece, Splitter};
use crate::cli::arguments::ExportFormat;

/// A reader that returns a few bytes at a time.
struct Trickle<'t> {
    text: &'t [u8],
    bytes_max: usize,
}

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes_max.min(self.text.len()).min(out.len());
        out[..bytes].copy_from_slice(&self.text[..bytes]);
        self.text = &self.text[bytes..];
        Ok(bytes)
    }
}

fn split(
    text: &[u8],
    format: Option<ExportFormat>,
    bytes_max: usize,
) -> (ExportFormat, Vec<Piece>, Option<String>) {
    let mut splitter =
        Splitter::new(Chunks::new(Trickle { text, bytes_max }), format).expect("no I/O");
    let mut pieces = Vec::new();
    loop {
        match splitter.next() {
            Ok(Some(piece)) => pieces.push(piece),
            Ok(None) => return (splitter.format(), pieces, None),
            Err(Broken::Shape(why)) => return (splitter.format(), pieces, Some(why)),
            Err(Broken::Io(error)) => panic!("{error}"),
        }
    }
}

fn check(
    text: &str,
    format: Option<ExportFormat>,
    expected: &[(usize, usize, &str)],
    broken: bool,
) {
    for bytes_max in 1..=text.len() + 1 {
        let (_, pieces, why) = split(text.as_bytes(), format, bytes_max);
        let expected: Vec<Piece> = (1_u64..)
            .zip(expected)
            .map(|(number, (line, column, text))| Piece {
                number,
                place: TextPosition {
                    line: *line,
                    column: *column,
                },
                text: text.as_bytes().to_vec(),
            })
            .collect();
        assert_eq!(pieces, expected, "{text:?} by {bytes_max}");
        assert_eq!(why.is_some(), broken, "{text:?} by {bytes_max}: {why:?}");
    }
}

#[test]
fn elements_end_at_their_commas() {
    let array = Some(ExportFormat::Array);
    check("[]", array, &[], false);
    check(" [ \n ] ", array, &[], false);
    check("\u{FEFF}[1]", array, &[(1, 2, "1")], false);
    check(
        "[1, \"a,]\\\"\\\\\" ,\n {\"b\":[{},[]],\"c\":\"[\"}\n,[1,2]]\n",
        array,
        &[
            (1, 2, "1"),
            (1, 5, "\"a,]\\\"\\\\\""),
            (2, 2, "{\"b\":[{},[]],\"c\":\"[\"}"),
            (3, 2, "[1,2]"),
        ],
        false,
    );
}

#[test]
fn an_invalid_element_does_not_affect_others() {
    let array = Some(ExportFormat::Array);
    check(
        "[1,,2]",
        array,
        &[(1, 2, "1"), (1, 4, ""), (1, 5, "2")],
        false,
    );
    check("[1,]", array, &[(1, 2, "1"), (1, 4, "")], false);
    check("[1 2,3]", array, &[(1, 2, "1 2"), (1, 6, "3")], false);
    check("[{]},3]", array, &[(1, 2, "{]}"), (1, 6, "3")], false);
    check("[\"a\\\n,3]", array, &[(1, 2, "\"a\\"), (2, 2, "3")], false);
    check("[1,2", array, &[(1, 2, "1")], true);
    check("[1] x", array, &[(1, 2, "1")], true);
    check("[] x", array, &[], true);
    check("{}", array, &[], true);
    check("", array, &[], true);
}

#[test]
fn blank_lines_and_carriage_returns_do_not_count() {
    check(
        "{}\r\n\r\n \t\n  [1]  \n\"a\"",
        Some(ExportFormat::Lines),
        &[(1, 1, "{}"), (4, 3, "[1]"), (5, 1, "\"a\"")],
        false,
    );
    check("\n\n", Some(ExportFormat::Lines), &[], false);
}

#[test]
fn several_arrays_are_one_stream() {
    let array = Some(ExportFormat::Array);
    check(
        "[1]\n[] [2,\n3][]",
        array,
        &[(1, 2, "1"), (2, 5, "2"), (3, 1, "3")],
        false,
    );
    let empty = "[]".repeat(10_000);
    let (_, pieces, why) = split(empty.as_bytes(), array, empty.len());
    assert_eq!((pieces, why), (Vec::new(), None));
}

#[test]
fn values_end_at_their_brackets() {
    check(
        "{\n\"a\": \"}\"\n}{}\n [\n[1]] 2\n} {\"b\":",
        Some(ExportFormat::Concatenated),
        &[
            (1, 1, "{\n\"a\": \"}\"\n}"),
            (3, 2, "{}"),
            (4, 2, "[\n[1]]"),
            (5, 6, "2"),
            (6, 1, "}"),
            (6, 3, "{\"b\":"),
        ],
        false,
    );
}

#[test]
fn one_document_is_the_whole_stream() {
    let document = Some(ExportFormat::Document);
    check(" {\n}\n", document, &[(1, 2, "{\n}")], false);
    check("", document, &[(1, 1, "")], false);
    check("[1]\n[2]", document, &[(1, 1, "[1]\n[2]")], false);
}

fn json() -> impl Strategy<Value = String> {
    let string = proptest::collection::vec(
        prop_oneof![
            Just("\\\""),
            Just("\\\\"),
            Just("\\n"),
            Just("\\u00e9"),
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just("é"),
            Just("🎷"),
            Just(" "),
            Just("a"),
        ],
        0..6,
    )
    .prop_map(|parts| format!("\"{}\"", parts.concat()));
    let space = || prop_oneof![Just(""), Just(" "), Just("\n"), Just("\r\n\t")];
    let leaf = prop_oneof![
        string.clone(),
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let elements = proptest::collection::vec((space(), inner.clone()), 0..4);
        let members = proptest::collection::vec((string.clone(), space(), inner), 0..4);
        prop_oneof![
            elements.prop_map(|elements| {
                let elements: Vec<String> =
                    elements.iter().map(|(a, b)| format!("{a}{b}")).collect();
                format!("[{}]", elements.join(","))
            }),
            members.prop_map(|members| {
                let members: Vec<String> = members
                    .iter()
                    .map(|(a, s, b)| format!("{a}{s}:{b}{s}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn arrays_are_split_at_any_chunk_size(
        elements in proptest::collection::vec(json(), 0..6),
        bytes_max in 1_usize..40,
    ) {
        let text = format!(" [{}]\n", elements.join(" ,\n"));
        let (format, pieces, why) = split(text.as_bytes(), Some(ExportFormat::Array), bytes_max);
        prop_assert_eq!(format, ExportFormat::Array);
        prop_assert_eq!(why, None);
        let texts: Vec<String> =
            pieces.into_iter().map(|piece| String::from_utf8(piece.text).expect("UTF-8")).collect();
        prop_assert_eq!(texts, elements);
    }

    #[test]
    fn lines_are_detected_at_any_chunk_size(
        documents in proptest::collection::vec(json(), 1..5),
        bytes_max in 1_usize..40,
    ) {
        let lines: Vec<String> =
            documents.iter().map(|text| text.replace(['\n', '\r'], "")).collect();
        let text = lines.join("\n");
        let (format, pieces, why) = split(text.as_bytes(), None, bytes_max);
        prop_assert_eq!(why, None);
        if lines.len() > 1 {
            prop_assert_eq!(format, ExportFormat::Lines);
            prop_assert_eq!(pieces.len(), lines.len());
        } else if text.starts_with('[') {
            prop_assert_eq!(format, ExportFormat::Array);
        } else {
            prop_assert_eq!(format, ExportFormat::Document);
        }
    }

    #[test]
    fn no_input_panics(
        bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), proptest::sample::select(&b"{}[],\"\\\n:1"[..])], 0..60),
        bytes_max in 1_usize..20,
    ) {
        split(&bytes, None, bytes_max);
        split(&bytes, Some(ExportFormat::Array), bytes_max);
        split(&bytes, Some(ExportFormat::Lines), bytes_max);
        split(&bytes, Some(ExportFormat::Concatenated), bytes_max);
    }
}
