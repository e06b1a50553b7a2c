//! The canonical text of a filter: filters with the same members have the same text, in every
//! version of the program. Cursors are bound to a query by a digest of it.

use super::{Condition, Filter, Test};
use crate::document::json::write_string;
use crate::document::tree::Tree;

impl Filter {
    /// Appends the canonical text, which is JSON, in the notation of the schema's `DocumentFilter`.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        match self {
            Self::All(filters) => write_list(out, "all", filters),
            Self::Any(filters) => write_list(out, "any", filters),
            Self::Not(filter) => {
                out.extend_from_slice(b"{\"not\":");
                filter.write_canonical(out);
                out.push(b'}');
            }
            Self::Where(condition) => condition.write_canonical(out),
        }
    }
}

impl Condition {
    fn write_canonical(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"at\":");
        write_string(out, self.at.text());
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

fn write_list(out: &mut Vec<u8>, name: &str, filters: &[Filter]) {
    out.push(b'{');
    write_string(out, name);
    out.extend_from_slice(b":[");
    for (number, filter) in filters.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        filter.write_canonical(out);
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
    use super::super::FilterMembers;
    use super::*;
    use crate::document::jsonpath::Query;

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
}
