//! Writes a schema as JSON that people read: indented, with short values on one line.

use crate::document::json::write_string;
use crate::types::schema_json::SchemaJson;

/// Characters of a line.
const LINE_BYTES: usize = 80;

/// The text of a schema.
pub(super) fn write(schema: &SchemaJson) -> String {
    let mut out = Vec::new();
    write_value(&mut out, schema, 0);
    out.push(b'\n');
    String::from_utf8(out).expect("JSON that is written from strings is UTF-8")
}

fn write_value(out: &mut Vec<u8>, value: &SchemaJson, indent: usize) {
    if is_short(value) {
        let begin = out.len();
        write_on_one_line(out, value);
        let line = out.len() - begin + indent;
        if line <= LINE_BYTES || matches!(value, SchemaJson::Leaf(_)) {
            return;
        }
        out.truncate(begin);
    }
    match value {
        SchemaJson::Leaf(leaf) => leaf.write_json(out),
        SchemaJson::Array(elements) => {
            write_lines(out, *b"[]", elements, indent, |out, element, indent| {
                write_value(out, element, indent);
            });
        }
        SchemaJson::Object(members) => {
            write_lines(
                out,
                *b"{}",
                members,
                indent,
                |out, (name, value), indent| {
                    write_string(out, name);
                    out.extend_from_slice(b": ");
                    write_value(out, value, indent);
                },
            );
        }
    }
}

fn write_lines<T>(
    out: &mut Vec<u8>,
    brackets: [u8; 2],
    parts: &[T],
    indent: usize,
    mut write: impl FnMut(&mut Vec<u8>, &T, usize),
) {
    const INDENT: usize = 2;
    out.push(brackets[0]);
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        new_line(out, indent + INDENT);
        write(out, part, indent + INDENT);
    }
    new_line(out, indent);
    out.push(brackets[1]);
}

fn new_line(out: &mut Vec<u8>, indent: usize) {
    out.push(b'\n');
    out.resize(out.len() + indent, b' ');
}

/// Whether a value has no object or array with members inside its own members.
fn is_short(value: &SchemaJson) -> bool {
    let is_leaf = |value: &SchemaJson| matches!(value, SchemaJson::Leaf(_));
    let is_flat = |value: &SchemaJson| match value {
        SchemaJson::Leaf(_) => true,
        SchemaJson::Array(elements) => elements.iter().all(is_leaf),
        SchemaJson::Object(members) => members.iter().all(|(_, it)| is_leaf(it)),
    };
    match value {
        SchemaJson::Leaf(_) => true,
        SchemaJson::Array(elements) => elements.iter().all(is_leaf),
        SchemaJson::Object(members) => members.iter().all(|(_, it)| is_flat(it)),
    }
}

fn write_on_one_line(out: &mut Vec<u8>, value: &SchemaJson) {
    match value {
        SchemaJson::Leaf(leaf) => leaf.write_json(out),
        SchemaJson::Array(elements) => {
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.extend_from_slice(b", ");
                }
                write_on_one_line(out, element);
            }
            out.push(b']');
        }
        SchemaJson::Object(members) => {
            out.extend_from_slice(if members.is_empty() { b"{" } else { b"{ " });
            for (at, (name, member)) in members.iter().enumerate() {
                if at > 0 {
                    out.extend_from_slice(b", ");
                }
                write_string(out, name);
                out.extend_from_slice(b": ");
                write_on_one_line(out, member);
            }
            out.extend_from_slice(if members.is_empty() { b"}" } else { b" }" });
        }
    }
}
