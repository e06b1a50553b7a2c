//! The columns of a table, by the members that their names are.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::cell::Conversion;
use crate::document::json::write_string;
use crate::document::path::{Path, Segment};
use crate::limits::DOCUMENT_LEVELS_MAX;
use crate::types::{CollectionType, Kinds};

/// How the fields of a table become values.
#[derive(Clone, Default)]
pub(crate) struct FieldOptions {
    /// Whether numbers, `true`, `false` and `null` are recognized.
    pub(crate) infer: bool,
    /// The type of the collection, which decides about its places.
    pub(crate) collection_type: Option<CollectionType>,
}

/// Where the fields of a record are in a document.
#[derive(Default)]
pub(crate) struct Columns {
    count: usize,
    members: Vec<Member>,
}

struct Member {
    /// The name as JSON, with the colon.
    name: Vec<u8>,
    node: Node,
}

enum Node {
    Field {
        column: usize,
        conversion: Conversion,
    },
    Object(Vec<Member>),
    Array(Vec<Node>),
}

/// The names of columns, split at their levels.
enum Tree {
    Column(usize),
    Members(BTreeMap<String, Tree>),
}

impl Columns {
    /// Parses the header.
    ///
    /// # Errors
    /// Two columns have the same place, or one is inside another.
    pub(crate) fn parse(names: &[&str], options: &FieldOptions) -> Result<Self, String> {
        let mut root = BTreeMap::new();
        for (column, name) in names.iter().enumerate() {
            let path = split(name)?;
            if path.len() > DOCUMENT_LEVELS_MAX {
                return Err(format!(
                    "the name of column {} has more than {DOCUMENT_LEVELS_MAX} levels",
                    column + 1
                ));
            }
            insert(&mut root, &path, column).ok_or_else(|| {
                format!(
                    "column {}, {name:?}, has the place of another column, or is inside or around it",
                    column + 1
                )
            })?;
        }
        let mut place = Vec::new();
        Ok(Self {
            count: names.len(),
            members: members(root, &mut place, options),
        })
    }

    /// The number of columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The document of a record with these fields.
    pub(crate) fn document(&self, fields: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        if !write_object(&mut out, &self.members, fields) {
            out.extend_from_slice(b"{}");
        }
        out
    }
}

/// Splits the name of a column: a JSON Pointer if it begins with `/`, and otherwise names between dots. A
/// name with an empty part, or a part that begins or ends with a space, is the name of one member.
fn split(name: &str) -> Result<Vec<String>, String> {
    if name.starts_with('/') {
        let path = Path::pointer(name).map_err(|error| error.to_string())?;
        let tokens = path.tokens().iter();
        return Ok(tokens.map(unescaped).collect());
    }
    let parts: Vec<String> = name.split('.').map(str::to_owned).collect();
    let is_name = |part: &String| !part.is_empty() && part.trim() == part;
    if parts.iter().all(is_name) {
        Ok(parts)
    } else {
        Ok(vec![name.to_owned()])
    }
}

fn unescaped(token: &crate::document::path::Token) -> String {
    token.as_key().unwrap_or_default().into_owned()
}

/// Inserts a column. `None` if its place is taken.
fn insert(members: &mut BTreeMap<String, Tree>, path: &[String], column: usize) -> Option<()> {
    let (name, below) = path.split_first()?;
    match (members.entry(name.clone()), below) {
        (Entry::Vacant(entry), []) => {
            entry.insert(Tree::Column(column));
            Some(())
        }
        (Entry::Vacant(entry), below) => {
            let mut inner = BTreeMap::new();
            insert(&mut inner, below, column)?;
            entry.insert(Tree::Members(inner));
            Some(())
        }
        (Entry::Occupied(_), []) => None,
        (Entry::Occupied(entry), below) => match entry.into_mut() {
            Tree::Column(_) => None,
            Tree::Members(inner) => insert(inner, below, column),
        },
    }
}

fn members(
    tree: BTreeMap<String, Tree>,
    place: &mut Vec<Segment>,
    options: &FieldOptions,
) -> Vec<Member> {
    let members = tree.into_iter().map(|(name, tree)| {
        let mut json = Vec::new();
        write_string(&mut json, &name);
        json.push(b':');
        place.push(Segment::Key(name));
        let node = node(tree, place, options);
        place.pop();
        Member { name: json, node }
    });
    members.collect()
}

fn node(tree: Tree, place: &mut Vec<Segment>, options: &FieldOptions) -> Node {
    let mut inner = match tree {
        Tree::Column(column) => {
            return Node::Field {
                column,
                conversion: conversion(place, options),
            };
        }
        Tree::Members(inner) => inner,
    };
    let indexes = (0..inner.len()).map(|index| index.to_string());
    if !indexes.clone().all(|index| inner.contains_key(&index)) {
        return Node::Object(members(inner, place, options));
    }
    let elements = indexes.zip(0..).filter_map(|(name, index)| {
        place.push(Segment::Index(index));
        let element = inner.remove(&name).map(|tree| node(tree, place, options));
        place.pop();
        element
    });
    Node::Array(elements.collect())
}

fn conversion(place: &[Segment], options: &FieldOptions) -> Conversion {
    let shape = options.collection_type.as_ref();
    let kinds = shape.and_then(|shape| Some(shape.shape_at(place)?.constraints.kinds));
    match kinds {
        Some(kinds) if kinds != Kinds::ALL => Conversion::Typed(kinds),
        _ if options.infer => Conversion::Inferred,
        _ => Conversion::Text,
    }
}

/// Writes an object. Writes nothing and returns false if it has no members.
fn write_object(out: &mut Vec<u8>, members: &[Member], fields: &[&str]) -> bool {
    let begin = out.len();
    out.push(b'{');
    let empty = out.len();
    for member in members {
        let before = out.len();
        if before > empty {
            out.push(b',');
        }
        out.extend_from_slice(&member.name);
        if !write_node(out, &member.node, fields) {
            out.truncate(before);
        }
    }
    let any = out.len() > empty;
    if any {
        out.push(b'}');
    } else {
        out.truncate(begin);
    }
    any
}

fn write_node(out: &mut Vec<u8>, node: &Node, fields: &[&str]) -> bool {
    match node {
        Node::Field { column, conversion } => conversion.write(out, fields[*column]),
        Node::Object(members) => write_object(out, members, fields),
        Node::Array(elements) => {
            let begin = out.len();
            out.push(b'[');
            let mut ends = Vec::with_capacity(elements.len());
            for element in elements {
                let before = out.len();
                if !ends.is_empty() {
                    out.push(b',');
                }
                let present = write_node(out, element, fields);
                if !present {
                    out.extend_from_slice(b"null");
                }
                ends.push((before, present));
            }
            // Missing elements at the end are left out, those before others are null.
            let last = ends.iter().rposition(|(_, present)| *present);
            let end = match last {
                Some(last) => ends.get(last + 1).map_or(out.len(), |(before, _)| *before),
                None => begin,
            };
            out.truncate(end);
            if last.is_some() {
                out.push(b']');
            }
            last.is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::types::CollectionType;

    fn document(names: &[&str], fields: &[&str], options: &FieldOptions) -> String {
        let columns = Columns::parse(names, options).expect("columns");
        String::from_utf8(columns.document(fields)).expect("UTF-8")
    }

    #[test]
    fn names_are_places() {
        let text = FieldOptions::default();
        for (names, fields, expected) in [
            (&["a"][..], &["1"][..], r#"{"a":"1"}"#),
            (&["b.c", "b.a"], &["x", ""], r#"{"b":{"a":"","c":"x"}}"#),
            (
                &["/b/c", "/a~1b", "/d.e"],
                &["1", "2", "3"],
                r#"{"a/b":"2","b":{"c":"1"},"d.e":"3"}"#,
            ),
            (
                &["No.", "St. Louis", ""],
                &["1", "2", "3"],
                r#"{"":"3","No.":"1","St. Louis":"2"}"#,
            ),
            (&["a.1", "a.0"], &["y", "x"], r#"{"a":["x","y"]}"#),
            (&["a.1", "a.2"], &["y", "x"], r#"{"a":{"1":"y","2":"x"}}"#),
            (&["0", "1"], &["y", "x"], r#"{"0":"y","1":"x"}"#),
            (&["a\"b"], &["\n\"é"], r#"{"a\"b":"\n\"é"}"#),
        ] {
            assert_eq!(document(names, fields, &text), expected, "{names:?}");
        }
        let many: Vec<String> = (0..12).map(|index| format!("a.{index}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let fields: Vec<String> = (0..12).map(|index| index.to_string()).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let expected = r#"{"a":["0","1","2","3","4","5","6","7","8","9","10","11"]}"#;
        assert_eq!(document(&many, &fields, &text), expected);
    }

    #[test]
    fn columns_with_one_place_are_rejected() {
        let deep = "/a".repeat(DOCUMENT_LEVELS_MAX + 1);
        for names in [
            &["a", "a"][..],
            &["a", "a.b"],
            &["a.b", "a"],
            &["a.b", "/a/b"],
            &["/~2"],
            &[&deep],
        ] {
            assert!(
                Columns::parse(names, &FieldOptions::default()).is_err(),
                "{names:?}"
            );
        }
    }

    #[test]
    fn empty_inferred_fields_are_missing() {
        let options = FieldOptions {
            infer: true,
            collection_type: None,
        };
        let names = ["a", "b.c", "l.0", "l.1", "l.2"];
        for (fields, expected) in [
            (["", "", "", "", ""], "{}"),
            (
                ["1", "true", "null", "", "x"],
                r#"{"a":1,"b":{"c":true},"l":[null,null,"x"]}"#,
            ),
            (
                ["007", "1.50", "1", "2", ""],
                r#"{"a":"007","b":{"c":1.50},"l":[1,2]}"#,
            ),
            (
                [" 1", "1e999", "[1]", "", ""],
                r#"{"a":" 1","b":{"c":"1e999"},"l":["[1]"]}"#,
            ),
        ] {
            assert_eq!(document(&names, &fields, &options), expected, "{fields:?}");
        }
    }

    #[tokio::test]
    async fn the_type_decides() {
        let schema = r#"{"type":"object","properties":{
            "i":{"type":"integer"},"n":{"type":["number","null"]},"b":{"type":"boolean"},
            "s":{"type":"string"},"u":{"type":["string","integer"]},
            "l":{"type":"array","items":{"type":"integer"}}}}"#;
        let parse = |steps: &crate::budget::Steps<'_>| CollectionType::parse("c", schema, steps);
        let parsed = Budget::of_background().compute(parse).await;
        let options = FieldOptions {
            infer: false,
            collection_type: Some(parsed.expect("a type")),
        };
        let names = ["i", "n", "b", "s", "u", "l", "open"];
        for (fields, expected) in [
            (
                ["1", "1.5", "true", "2", "3", "[4]", "5"],
                r#"{"b":true,"i":1,"l":[4],"n":1.5,"open":"5","s":"2","u":"3"}"#,
            ),
            (
                ["", "", "", "", "", "", ""],
                r#"{"n":null,"open":"","s":"","u":""}"#,
            ),
            (
                ["1.5", "x", "1", "true", "", "[4", ""],
                r#"{"b":"1","i":"1.5","l":"[4","n":"x","open":"","s":"true","u":""}"#,
            ),
        ] {
            assert_eq!(document(&names, &fields, &options), expected, "{fields:?}");
        }
        let elements = document(&["l.0", "l.1"], &["1", "2"], &options);
        assert_eq!(elements, r#"{"l":[1,2]}"#);
    }
}
