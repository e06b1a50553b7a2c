//! Detects the format of a stream from its beginning.

use std::io::{self, Read};

use super::chunks::{Chunks, is_space};
use super::scan::Scanner;
use crate::cli::arguments::ExportFormat;
use crate::limits::IMPORT_DETECT_BYTES;
use crate::operations::is_line;

/// Detects the format of the stream. Reads at most the first document and the rest of its line.
///
/// - A `[` begins an array of documents, unless the array is on one line and more text
///   follows on a line of its own. Then the format is lines.
/// - Any other value that is followed by more text is the first of several lines, unless it
///   continues across a line feed, which only a single document can do.
/// - An object that is followed by an object or an array on its last line, or that spans several lines, is
///   the first of several values.
/// - Lines of which the first is exactly `{"id": …, "document": …}` are an export.
pub(crate) fn detect<R: Read>(chunks: &mut Chunks<R>) -> io::Result<ExportFormat> {
    if !chunks.skip_space()? {
        // There is no document, as in an export of an empty collection.
        return Ok(ExportFormat::Lines);
    }
    match chunks.ahead()[0] {
        b'[' => detect_array(chunks),
        b'{' => detect_object(chunks),
        _ => detect_scalar(chunks),
    }
}

fn detect_array<R: Read>(chunks: &mut Chunks<R>) -> io::Result<ExportFormat> {
    while chunks.ahead().len() < IMPORT_DETECT_BYTES && chunks.fill()? {}
    let Some(end) = value_end(chunks.ahead()) else {
        return Ok(ExportFormat::Array);
    };
    let behind = chunks.ahead()[end..].trim_ascii_start();
    let between = &chunks.ahead()[end..chunks.ahead().len() - behind.len()];
    let one_line = !chunks.ahead()[..end].contains(&b'\n');
    let lines = one_line && !behind.is_empty() && between.contains(&b'\n');
    Ok(if lines {
        ExportFormat::Lines
    } else {
        ExportFormat::Array
    })
}

fn detect_scalar<R: Read>(chunks: &mut Chunks<R>) -> io::Result<ExportFormat> {
    let mut scanned = 0;
    loop {
        let ahead = &chunks.ahead()[scanned..];
        if let Some(end) = memchr::memchr(b'\n', ahead) {
            let end = scanned + end;
            return Ok(if something_behind(chunks, end)? {
                ExportFormat::Lines
            } else {
                ExportFormat::Document
            });
        }
        scanned = chunks.ahead().len();
        if !chunks.fill()? {
            return Ok(ExportFormat::Document);
        }
    }
}

fn detect_object<R: Read>(chunks: &mut Chunks<R>) -> io::Result<ExportFormat> {
    let mut scanner = Scanner::default();
    let (mut at, mut depth, mut several_lines) = (0, 0_usize, false);
    loop {
        while let Some((found, byte)) = scanner.next(chunks.ahead(), &mut at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'\n' if several_lines => {}
                b'\n' if goes_on(chunks, found)? && !is_cut(chunks, found)? => {
                    several_lines = true;
                }
                b'\n' => return Ok(ExportFormat::Lines),
                _ => {}
            }
            if depth == 0 {
                return after_object(chunks, at, several_lines);
            }
        }
        if !chunks.fill()? {
            return Ok(ExportFormat::Document);
        }
    }
}

/// Detects the format when the first value is an object that ends at `end`.
fn after_object<R: Read>(
    chunks: &mut Chunks<R>,
    end: usize,
    several_lines: bool,
) -> io::Result<ExportFormat> {
    if !several_lines && std::str::from_utf8(&chunks.ahead()[..end]).is_ok_and(is_line) {
        return Ok(ExportFormat::Export);
    }
    let Some(byte) = first_behind(chunks, end)? else {
        return Ok(ExportFormat::Document);
    };
    let behind = chunks.ahead()[end..].iter();
    let on_its_line = behind
        .take_while(|byte| is_space(**byte))
        .all(|byte| *byte != b'\n');
    Ok(match byte {
        b'{' | b'[' if several_lines || on_its_line => ExportFormat::Concatenated,
        _ if several_lines => ExportFormat::Document,
        _ => ExportFormat::Lines,
    })
}

/// Whether the JSON value with a line feed at `at` can continue on the next line. If not, the line
/// is malformed.
fn goes_on<R: Read>(chunks: &mut Chunks<R>, at: usize) -> io::Result<bool> {
    let before = chunks.ahead()[..at].trim_ascii_end().last().copied();
    if matches!(before, Some(b'{' | b'[' | b',' | b':')) {
        return Ok(true);
    }
    let behind = first_behind(chunks, at)?;
    Ok(matches!(behind, None | Some(b'}' | b']' | b',' | b':')))
}

/// Whether the lines behind the line feed at `at` show that the line before it was cut: an object fills a
/// line, and neither a comma nor a bracket follows, as it would inside the same value.
fn is_cut<R: Read>(chunks: &mut Chunks<R>, at: usize) -> io::Result<bool> {
    let mut ended = false;
    while chunks.ahead().len() < at + IMPORT_DETECT_BYTES && !ended {
        ended = !chunks.fill()?;
    }
    let mut rest = chunks.ahead()[at..].trim_ascii_start();
    while rest.first() == Some(&b'{') {
        let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let end = value_end(&rest[..line]);
        let behind = rest[line..].trim_ascii_start();
        match end {
            Some(end) if rest[end..line].trim_ascii().is_empty() => {
                return Ok(match behind.first() {
                    Some(byte) => !matches!(byte, b',' | b']' | b'}'),
                    None => ended,
                });
            }
            Some(_) => return Ok(false),
            // This line can be cut, too.
            None => rest = behind,
        }
    }
    Ok(false)
}

fn something_behind<R: Read>(chunks: &mut Chunks<R>, end: usize) -> io::Result<bool> {
    Ok(first_behind(chunks, end)?.is_some())
}

/// The first byte from `at` on that is not white space.
fn first_behind<R: Read>(chunks: &mut Chunks<R>, mut at: usize) -> io::Result<Option<u8>> {
    loop {
        let behind = &chunks.ahead()[at..];
        if let Some(byte) = behind.iter().find(|byte| !is_space(**byte)) {
            return Ok(Some(*byte));
        }
        at += behind.len();
        if !chunks.fill()? {
            return Ok(None);
        }
    }
}

/// The end of the array or object at the start of `bytes`, if it is complete.
fn value_end(bytes: &[u8]) -> Option<usize> {
    let mut scanner = Scanner::default();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some((_, byte)) = scanner.next(bytes, &mut at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_detected_by_their_beginning() {
        use ExportFormat::{Array, Concatenated, Document, Export, Lines};
        for (text, format) in [
            ("", Lines),
            (" \n\n ", Lines),
            ("{}", Document),
            ("{\"a\":[1,{}]}\n", Document),
            ("{\n  \"a\": 1\n}\n", Document),
            ("{ \"a\" : 1\n}", Document),
            ("{\"a\"\n:1}", Document),
            ("{\"a\": \"}{\\\"\"", Document),
            ("{}\n{}", Lines),
            ("{\"a\":\"}\\\\\"}\r\n\r\n{}\r\n", Lines),
            ("{} {}", Concatenated),
            ("{}{}\n{}", Concatenated),
            ("{} 1", Lines),
            ("{\n}\n{\n}\n", Concatenated),
            ("{\"a\": [\n1]} [\n]", Concatenated),
            ("{\n\"a\": 1\n} x", Document),
            ("[\n1\n]\n[\n2\n]", Array),
            ("{\"a\":1\n{\"a\":2}\n", Lines),
            ("{\"a\":\"x\n{\"a\":2}\n", Lines),
            ("{\"a\":[1,\n{\"a\":2}\n{\"a\":3}\n", Lines),
            ("{\"a\":\n{\"a\":2}\n", Lines),
            ("{\"a\":[\n{\"a\":[\n{\"a\":3}\n{\"a\":4}", Lines),
            ("{\"a\":[\n{\"a\":2}\n]}\n", Document),
            ("{\"a\":[\n{\"a\":2},\n{\"a\":3}\n]}\n", Document),
            ("{\"a\":[\n{\"b\":[\n{\"c\":3}\n]}\n]}", Document),
            ("{\"a\":\n{\"a\":2}\n}\n", Document),
            ("[]", Array),
            ("\n[{},\n{}]\n", Array),
            ("[1,2", Array),
            ("[1]\n[2]\n", Lines),
            ("[1] [2]\n", Array),
            ("1", Document),
            ("\"a\"\n\n", Document),
            ("1\n2", Lines),
            ("nonsense", Document),
            ("{\"id\":\"1\",\"document\":null}", Export),
            ("{ \"document\" : {} , \"id\" : \"1\" }\n{}", Export),
            ("{\"id\":1,\"document\":null}\n", Document),
            ("{\"id\":\"1\",\"document\":null,\"more\":1}\n1", Lines),
            ("{\"id\":\"1\",\"id\":\"1\"}", Document),
        ] {
            let found = detect(&mut Chunks::new(text.as_bytes())).expect("no I/O");
            assert_eq!(found, format, "{text:?}");
        }
    }
}
