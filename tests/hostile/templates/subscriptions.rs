//! Subscriptions at their maxima.

use serde_json::json;

use super::super::requests::repeated;
use super::queries::{filter, keys};
use super::{Known, Template};

pub(super) fn templates(known: &Known) -> Vec<Template> {
    let change = format!(
        "cursor version time collection key kind paths patch resync document {{ {} }}",
        repeated(20, "a#: value b#: select(query: \"$..*\") { path } ")
    );
    let page = "nodes { key value } totalCount plan { index }";
    let declared = "$w: DocumentFilter, $k: DocumentKeyFilter, $c: String";
    vec![
        Template::new(
            "changes of a collection",
            format!(
                "subscription($c: String) {{ changes(collection: \"small\", after: $c) {{ {change} }} }}"
            ),
            json!({"c": known.changes_cursor}),
        ),
        Template::new(
            "changes of a place",
            "subscription($c: String) { changes(collection: \"arrays\", id: \"numbers\", path: \"/7\", \
             after: $c) { cursor patch paths } }"
                .to_owned(),
            json!({"c": known.changes_cursor}),
        ),
        Template::new(
            "all changes that are kept",
            format!(
                "subscription {{ changes(collection: \"small\", fromStart: true, follow: false) {{ {change} }} }}"
            ),
            json!({}),
        ),
        Template::new(
            "a live document",
            format!(
                "subscription {{ document(collection: \"arrays\", id: \"numbers\", path: \"\") {{ {} }} }}",
                repeated(10, "a#: value b#: select(query: \"$[::2]\") { value } ")
            ),
            json!({}),
        ),
        Template::new(
            "a live page",
            format!(
                "subscription({declared}) {{ documents(collection: \"small\", where: $w, keys: $k, \
                 orderBy: [{{by: \"$.n\", descending: true}}], first: 300, after: $c, scanLimit: 100000) {{ {page} }} }}"
            ),
            json!({"w": filter(), "k": keys(), "c": null}),
        ),
        Template::new(
            "a live page before a cursor",
            format!(
                "subscription({declared}) {{ documents(collection: \"small\", where: $w, keys: $k, \
                 last: 300, before: $c) {{ {page} }} }}"
            ),
            json!({"w": {}, "k": {"prefix": "1", "gt": "0", "lt": "99"}, "c": known.page_cursor}),
        ),
    ]
}
