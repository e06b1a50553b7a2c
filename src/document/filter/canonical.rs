//! Filters as JSON, in the notation of the schema's `DocumentFilter`.
//!
//! In the canonical text, filters with the same members have the same text, in every version of the
//! program. Cursors are bound to a query by a digest of it. It omits `exists`, so
//! [`Filter::to_json`], which can be read again, is another text.

use super::{Condition, Filter, FilterMembers, Test};
use crate::document::json::write_string;
use crate::document::jsonpath::Query;
use crate::document::leaf::Leaf;
use crate::document::tree::Tree;
use crate::error::{Error, Result};

impl Filter {
    /// Appends the canonical text.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        self.write(out, false);
    }

    /// The filter as JSON. Equal filters have the same JSON.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out, true);
        String::from_utf8(out).expect("JSON that is written from strings is UTF-8")
    }

    /// Parses the JSON of a filter.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON, or not a filter.
    pub fn from_json(text: &str) -> Result<Self> {
        from_tree(Tree::from_json(text)?)
    }

    fn write(&self, out: &mut Vec<u8>, exists: bool) {
        match self {
            Self::All(filters) => write_list(out, "all", filters, exists),
            Self::Any(filters) => write_list(out, "any", filters, exists),
            Self::Not(filter) => {
                out.extend_from_slice(b"{\"not\":");
                filter.write(out, exists);
                out.push(b'}');
            }
            Self::Where(condition) => condition.write(out, exists),
        }
    }
}

/// The recursion is bounded by the levels of a [`Tree`].
fn from_tree(tree: Tree) -> Result<Filter> {
    let mut given = FilterMembers::default();
    for (name, value) in members(tree)? {
        match &name[..] {
            "at" => given.at = Some(Query::parse(&text(&name, value)?)?),
            "eq" => given.eq = Some(value),
            "ne" => given.ne = Some(value),
            "lt" => given.lt = Some(value),
            "lte" => given.lte = Some(value),
            "gt" => given.gt = Some(value),
            "gte" => given.gte = Some(value),
            "in" => given.one_of = Some(elements(&name, value)?),
            "startsWith" => given.starts_with = Some(text(&name, value)?),
            "contains" => given.contains = Some(text(&name, value)?),
            "exists" => given.exists = Some(flag(&name, &value)?),
            "all" => given.all = Some(filters(&name, value)?),
            "any" => given.any = Some(filters(&name, value)?),
            "not" => given.not = Some(from_tree(value)?),
            _ => {
                return Err(Error::bad_input(format!("a filter has no member {name:?}")));
            }
        }
    }
    Filter::try_from(given)
}

fn members(tree: Tree) -> Result<Vec<(String, Tree)>> {
    match tree {
        Tree::Object(members) => Ok(members),
        Tree::Array(_) | Tree::Leaf(_) => Err(Error::bad_input("a filter is an object")),
    }
}

fn filters(name: &str, value: Tree) -> Result<Vec<Filter>> {
    elements(name, value)?.into_iter().map(from_tree).collect()
}

fn elements(name: &str, value: Tree) -> Result<Vec<Tree>> {
    match value {
        Tree::Array(elements) => Ok(elements),
        Tree::Object(_) | Tree::Leaf(_) => Err(not_a(name, "list")),
    }
}

fn text(name: &str, value: Tree) -> Result<String> {
    match value {
        Tree::Leaf(Leaf::String(text)) => Ok(text.into_owned()),
        _ => Err(not_a(name, "string")),
    }
}

fn flag(name: &str, value: &Tree) -> Result<bool> {
    match value {
        Tree::Leaf(Leaf::Bool(flag)) => Ok(*flag),
        _ => Err(not_a(name, "Boolean")),
    }
}

fn not_a(name: &str, kind: &str) -> Error {
    Error::bad_input(format!("the member {name:?} of a filter is not a {kind}"))
}

impl Condition {
    /// Writes the condition. `exists` writes that member if there is no test.
    fn write(&self, out: &mut Vec<u8>, exists: bool) {
        out.extend_from_slice(b"{\"at\":");
        write_string(out, self.at.text());
        if exists && self.tests.is_empty() {
            out.extend_from_slice(b",\"exists\":true");
        }
        for test in &self.tests {
            match test {
                Test::Equal(value) => write_value(out, "eq", value),
                Test::NotEqual(value) => write_value(out, "ne", value),
                Test::Less(value) => write_value(out, "lt", value),
                Test::AtMost(value) => write_value(out, "lte", value),
                Test::Greater(value) => write_value(out, "gt", value),
                Test::AtLeast(value) => write_value(out, "gte", value),
                Test::In(values) => {
                    out.extend_from_slice(b",\"in\":[");
                    for (number, value) in values.iter().enumerate() {
                        if number > 0 {
                            out.push(b',');
                        }
                        out.extend_from_slice(value.to_json().as_bytes());
                    }
                    out.push(b']');
                }
                Test::StartsWith(text) => write_text(out, "startsWith", text),
                Test::Contains(text) => write_text(out, "contains", text),
            }
        }
        out.push(b'}');
    }
}

fn write_list(out: &mut Vec<u8>, name: &str, filters: &[Filter], exists: bool) {
    out.push(b'{');
    write_string(out, name);
    out.extend_from_slice(b":[");
    for (number, filter) in filters.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        filter.write(out, exists);
    }
    out.extend_from_slice(b"]}");
}

fn write_value(out: &mut Vec<u8>, name: &str, value: &Tree) {
    write_name(out, name);
    out.extend_from_slice(value.to_json().as_bytes());
}

fn write_text(out: &mut Vec<u8>, name: &str, text: &str) {
    write_name(out, name);
    write_string(out, text);
}

fn write_name(out: &mut Vec<u8>, name: &str) {
    out.push(b',');
    write_string(out, name);
    out.push(b':');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_has_the_notation_of_the_schema() {
        let tree = |text: &str| Tree::from_json(text).expect(text);
        let filter = Filter::try_from(FilterMembers {
            at: Some(Query::parse("$.a").expect("a path")),
            gte: Some(tree("1.0")),
            one_of: Some(vec![tree("[1]"), tree("\"x\"")]),
            starts_with: Some("b\n".to_owned()),
            not: Some(Filter::Any(Vec::new())),
            ..FilterMembers::default()
        });
        let mut text = Vec::new();
        filter.expect("a filter").write_canonical(&mut text);
        assert_eq!(
            String::from_utf8(text).expect("UTF-8"),
            r#"{"all":[{"at":"$.a","gte":1.0,"in":["x",[1]],"startsWith":"b\n"},{"not":{"any":[]}}]}"#
        );
    }
    #[test]
    fn the_json_of_a_filter_is_the_filter() {
        for text in [
            "{\"all\":[]}",
            r#"{"at":"$","eq":1.0}"#,
            r#"{"at":"$.a","exists":true}"#,
            r#"{"not":{"at":"$['b c']","exists":true}}"#,
            r#"{"at":"$.a","ne":null,"lt":-0.0,"lte":1,"gt":"x\n","gte":[],"in":[true,{"a":1}],"startsWith":"","contains":"é"}"#,
            r#"{"all":[{"at":"$.a","eq":1},{"any":[{"at":"$.b[0]","exists":true},{"not":{"any":[]}}]}]}"#,
        ] {
            let filter = Filter::from_json(text).expect(text);
            assert_eq!(filter.to_json(), text);
        }
        for (text, message) in [
            ("[]", "is an object"),
            (r#"{"at":"$.a"}"#, "has no test"),
            (r#"{"at":1,"eq":1}"#, "not a string"),
            (r#"{"at":"$.a","like":1}"#, "no member"),
            (r#"{"all":{}}"#, "not a list"),
            (r#"{"at":"$.a","exists":1}"#, "not a Boolean"),
        ] {
            let error = Filter::from_json(text).expect_err(text);
            assert!(error.message().contains(message), "{}", error.message());
        }
    }
}
