//! Random requests, which try to learn and to change what they can.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, IteratorRandom as _};
use serde_json::{Value, json};

use super::oracle::{Documents, leaves};

const PATHS: [&str; 19] = [
    "", "", "", "", "", "", "/a", "/a", "/b", "/b", "/a/a", "/a/b", "/b/0", "/a/0", "/c", "/s",
    "/a/7", "/hidden", "/b/-",
];

const QUERIES: [&str; 15] = [
    "$",
    "$.a",
    "$.b[*]",
    "$..a",
    "$..*",
    "$.a[?@ == $.b]",
    "$.b[?$.hidden]",
    "$.a.a",
    "$.a[*]",
    "$.s",
    "$.b[-1]",
    "$.b[0]",
    "$.a['0','a']",
    "$.*",
    "$.hidden",
];

/// The place of a rule. Most requests use places at or below it, so that rules allow some of them.
pub(super) struct Focus {
    pub(super) collection: Option<String>,
    pub(super) id: Option<String>,
    /// A JSON Pointer.
    pub(super) path: String,
}

impl Focus {
    /// No place.
    pub(super) fn none() -> Self {
        Self {
            collection: None,
            id: None,
            path: String::new(),
        }
    }
}

struct Texts<'r> {
    random: &'r mut StdRng,
    documents: &'r Documents,
    focus: Focus,
    /// Whether paths begin at the root of a document, and not at a place in it.
    at_root: bool,
}

/// A change by one field of a mutation.
struct ChangeText {
    function: &'static str,
    arguments: String,
    selection: String,
}

/// A random query.
pub(super) fn query(random: &mut StdRng, documents: &Documents, focus: Focus) -> String {
    let mut texts = Texts::new(random, documents, focus);
    let fields = texts.random.random_range(1..3);
    let fields: Vec<String> = (0..fields).map(|number| texts.field(number)).collect();
    format!("{{ {} }}", fields.join(" "))
}

/// A random field of queries that subscriptions have, too.
pub(super) fn live_field(random: &mut StdRng, documents: &Documents, focus: Focus) -> String {
    let mut texts = Texts::new(random, documents, focus);
    if texts.random.random_bool(0.5) {
        texts.page()
    } else {
        texts.document()
    }
}

/// A random mutation.
pub(super) fn mutation(random: &mut StdRng, documents: &Documents, focus: Focus) -> String {
    let mut texts = Texts::new(random, documents, focus);
    let fields = if texts.random.random_bool(0.2) { 2 } else { 1 };
    let fields: Vec<String> = (0..fields).map(|number| texts.change(number)).collect();
    format!("mutation {{ {} }}", fields.join(" "))
}

impl<'r> Texts<'r> {
    fn new(random: &'r mut StdRng, documents: &'r Documents, focus: Focus) -> Self {
        Self {
            random,
            documents,
            focus,
            at_root: true,
        }
    }

    fn one<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices.choose(self.random).expect("some")
    }

    fn collection(&mut self) -> String {
        format!(r#"collection: "{}""#, self.collection_name())
    }

    fn collection_name(&mut self) -> String {
        match &self.focus.collection {
            Some(name) if self.random.random_bool(0.9) => name.clone(),
            _ => self.one(&["c", "c", "d"]).to_owned(),
        }
    }

    fn id(&mut self) -> String {
        match &self.focus.id {
            Some(id) if self.random.random_bool(0.8) => id.clone(),
            _ => self.one(&["a", "b", "7", "e", "x"]).to_owned(),
        }
    }

    /// Whether the next place is at or below that of the rule.
    fn is_focused(&mut self) -> bool {
        self.at_root && self.random.random_bool(0.85)
    }

    fn path(&mut self) -> String {
        if self.is_focused() {
            return self.focus.path.clone() + self.one(&["", "", "", "", "/a", "/b", "/0", "/-"]);
        }
        self.one(&PATHS).to_owned()
    }

    fn jsonpath(&mut self) -> String {
        if self.is_focused() {
            let names = self.focus.path.split('/').skip(1);
            let above: String = names.map(|name| format!("['{name}']")).collect();
            let below = [
                "", "", ".a", ".b", "[*]", "..*", "[0]", "[?@.a]", "[?@ > 1]", ".hidden",
            ];
            return format!("${above}{}", self.one(&below));
        }
        self.one(&QUERIES).to_owned()
    }

    /// A selection of a value that is at a place in a document.
    fn part_at_place(&mut self, levels: usize) -> String {
        let around = std::mem::replace(&mut self.at_root, false);
        let part = self.part(levels);
        self.at_root = around;
        part
    }

    /// A selection of a document.
    fn part_of_document(&mut self, levels: usize) -> String {
        let around = std::mem::replace(&mut self.at_root, true);
        let part = self.part(levels);
        self.at_root = around;
        part
    }

    /// A value of the store, or another one.
    fn value(&mut self) -> Value {
        let document = self.documents.values().choose(self.random);
        let leaves = document.map(leaves).unwrap_or_default();
        match leaves.choose(self.random) {
            Some(leaf) if self.random.random_bool(0.7) => leaf.value.clone(),
            _ => json!(self.random.random_range(0..1_000_000_000)),
        }
    }

    fn filter(&mut self, levels: usize) -> String {
        if levels > 0 && self.random.random_bool(0.3) {
            let (a, b) = (self.filter(levels - 1), self.filter(levels - 1));
            return match self.random.random_range(0..3) {
                0 => format!("{{all: [{a}, {b}]}}"),
                1 => format!("{{any: [{a}, {b}]}}"),
                _ => format!("{{not: {a}}}"),
            };
        }
        let (at, value) = (self.jsonpath(), literal(&self.value()));
        let test = match self.random.random_range(0..10) {
            0 => format!("eq: {value}"),
            1 => format!("ne: {value}"),
            2 => format!("gt: {value}"),
            3 => format!("lte: {value}"),
            4 => "exists: false".to_owned(),
            _ => "exists: true".to_owned(),
        };
        format!(r#"{{at: "{at}", {test}}}"#)
    }

    fn field(&mut self, number: usize) -> String {
        let field = match self.random.random_range(0..12) {
            0..4 => self.document(),
            4..7 => self.page(),
            7 | 8 => self.groups(),
            9 => {
                let ids: Vec<String> = (0..3).map(|_| self.node()).collect();
                let (part, whole) = (self.part_at_place(1), self.part(1));
                format!(
                    "nodes(ids: [{}]) {{ id ... on Subdocument {{ part: __typename {} }} ... on Document {{ whole: __typename {} }} }}",
                    ids.join(", "),
                    aliased(&part, "p"),
                    aliased(&whole, "w"),
                )
            }
            10 => {
                let (one, other) = (self.id(), self.id());
                let collection = self.collection_name();
                format!(
                    r#"_entities(representations: [{{__typename: "Document", id: "{collection}/{one}"}}, {{__typename: "Document", id: "{collection}/{other}"}}]) {{ ... on Document {{ {} }} }}"#,
                    self.part(1)
                )
            }
            _ => "collections { name count indexes { name } }".to_owned(),
        };
        format!("f{number}: {field}")
    }

    fn node(&mut self) -> String {
        let (collection, id, path) = (self.collection_name(), self.id(), self.path());
        if path.is_empty() {
            format!(r#""{collection}/{id}""#)
        } else {
            format!(r#""{collection}/{id}#{path}""#)
        }
    }

    fn document(&mut self) -> String {
        format!(
            r#"document({}, id: "{}", path: "{}") {{ {} }}"#,
            self.collection(),
            self.id(),
            self.path(),
            self.part_at_place(2)
        )
    }

    fn page(&mut self) -> String {
        let mut arguments = self.collection();
        if self.random.random_bool(0.4) {
            arguments.extend([format!(", where: {}", self.filter(2))]);
        }
        if self.random.random_bool(0.4) {
            let descending = self.random.random_bool(0.5);
            arguments.extend([format!(
                r#", orderBy: {{by: "{}", descending: {descending}}}"#,
                self.jsonpath()
            )]);
        }
        match self.random.random_range(0..5) {
            0 => arguments += ", first: 1",
            1 => arguments += ", last: 2",
            2 => arguments += r#", keys: {in: ["a", "e"]}"#,
            3 => arguments += r#", keys: {gt: "a"}"#,
            _ => {}
        }
        let about = match self.random.random_range(0..8) {
            0 => " totalCount",
            1 => " plan { index scanned examined covered }",
            2 => {
                " plan { returned } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
            }
            _ => "",
        };
        let part = if self.random.random_bool(0.3) {
            "key".to_owned()
        } else {
            self.part(2)
        };
        format!("documents({arguments}) {{ nodes {{ {part} }}{about} }}")
    }

    fn groups(&mut self) -> String {
        let mut arguments = self.collection();
        if self.random.random_bool(0.5) {
            arguments.extend([format!(", where: {}", self.filter(1))]);
        }
        if self.random.random_bool(0.7) {
            arguments.extend([format!(r#", groupBy: ["{}"]"#, self.jsonpath())]);
        }
        let of = self.jsonpath();
        let fields = match self.random.random_range(0..3) {
            0 => "groups { key count }".to_owned(),
            1 => format!(r#"groups {{ key min(of: "{of}") max(of: "{of}") sum(of: "{of}") }}"#),
            _ => "groupCount plan { examined }".to_owned(),
        };
        format!("aggregate({arguments}) {{ {fields} }}")
    }

    /// A selection of a document or of a part of one.
    fn part(&mut self, levels: usize) -> String {
        let path = self.path();
        match self.random.random_range(-3..13) {
            ..3 => format!(r#"value(path: "{path}")"#),
            3 => "kind length".to_owned(),
            4 => format!(r#"values(paths: ["{path}", "{}"])"#, self.path()),
            5 => format!(r#"pick(paths: ["{path}", "{}"])"#, self.path()),
            6 => format!(r#"omit(paths: ["{path}"])"#),
            12 => format!(r#"range(from: "{path}", to: "{}")"#, self.path()),
            7 if levels > 0 => {
                let part = self.part_at_place(levels - 1);
                format!(r#"subdocument(path: "{path}") {{ id {part} }}"#)
            }
            8 if levels > 0 => {
                let (query, part) = (self.jsonpath(), self.part_at_place(levels - 1));
                format!(r#"select(query: "{query}") {{ path {part} }}"#)
            }
            9 if levels > 0 => {
                format!(
                    "children {{ nodes {{ path {} }} }}",
                    self.part_at_place(levels - 1)
                )
            }
            10 if levels > 0 => format!(
                r#"subdocument(path: "{path}") {{ document {{ key {} }} }}"#,
                self.part_of_document(levels - 1)
            ),
            _ => "id".to_owned(),
        }
    }

    /// A field of a mutation.
    fn change(&mut self, number: usize) -> String {
        if self.random.random_bool(0.15) {
            return format!("f{number}: {}", self.list_of_writes());
        }
        let ChangeText {
            function,
            arguments,
            selection,
        } = self.one_change();
        format!("f{number}: {function}({arguments}) {{ {selection} }}")
    }

    /// Several changes in one field.
    fn list_of_writes(&mut self) -> String {
        let count = self.random.random_range(1..4);
        let mut writes = Vec::new();
        while writes.len() < count {
            let ChangeText {
                function,
                arguments,
                ..
            } = self.one_change();
            // The others select documents by a filter.
            if let Some(name) = function.strip_suffix("Document") {
                writes.push(format!("{{{name}: {{{arguments}}}}}"));
            }
        }
        let selection = if self.random.random_bool(0.6) {
            "key created deleted".to_owned()
        } else {
            format!("key document {{ {} }}", self.part_of_document(1))
        };
        let writes = writes.join(", ");
        format!("writeDocuments(operations: [{writes}]) {{ {selection} }}")
    }

    fn one_change(&mut self) -> ChangeText {
        let (collection, id, path) = (self.collection(), self.id(), self.path());
        let value = self.new_value();
        let result = if self.random.random_bool(0.6) {
            "key".to_owned()
        } else {
            self.part(2)
        };
        let name = if self.random.random_bool(0.9) {
            format!("id: \"{id}\"")
        } else {
            format!("idFrom: {}", self.place())
        };
        let without_parents = format!(r#"{collection}, {name}, path: "{path}""#);
        let place = match self.random.random_range(0..10) {
            0 => format!("{without_parents}, createParents: true"),
            _ => without_parents.clone(),
        };
        let if_absent = self.one(&["", "", ", ifAbsent: true"]);
        let removed = if self.random.random_bool(0.5) {
            " value"
        } else {
            ""
        };
        let (function, arguments, selection) = match self.random.random_range(0..15) {
            0 | 1 => {
                let arguments = format!("{place}, document: {value}{if_absent}");
                ("replaceDocument", arguments, result)
            }
            2 => {
                let arguments = format!("{without_parents}, patch: {{m: {value}, a: null}}");
                ("mergeDocument", arguments, result)
            }
            3 => {
                let operation = self.operation();
                let arguments = format!("{place}, patch: [{operation}]");
                ("patchDocument", arguments, result)
            }
            4 => {
                let from = self.place();
                ("copyDocument", format!("{place}, from: {from}"), result)
            }
            5 => ("incrementDocument", place, result),
            6 => {
                let selection = format!("deleted{removed}");
                ("deleteDocument", without_parents, selection)
            }
            7 => {
                let id = self.one(&["x", "y", "e", "a"]);
                let arguments =
                    format!(r#"{collection}, id: "{id}", document: {value}{if_absent}"#);
                ("insertDocument", arguments, result)
            }
            8 => {
                let (id, status) = (self.one(&["x", "y", "e", "7"]), self.one(&["p", "q"]));
                let owner = self.one(&["a", "b"]);
                let arguments = format!(
                    r#"{collection}, id: "{id}", document: {{s: "{status}", o: "{owner}", a: {value}}}"#
                );
                ("insertDocument", arguments, result)
            }
            9 => {
                let filter = self.filter(1);
                let arguments = format!("{collection}, {name}, matches: {filter}");
                ("testDocument", arguments, result)
            }
            10 => {
                let (filter, update) = (self.filter(1), self.update());
                let arguments = format!("{collection}, where: {filter}, {update}");
                ("updateDocuments", arguments, "matched changed".to_owned())
            }
            11 => {
                let update = self.update();
                let arguments = format!("{collection}, {name}, {update}");
                ("updateDocument", arguments, result)
            }
            12 => {
                let arguments = format!("{collection}, document: {value}");
                ("appendDocument", arguments, "key".to_owned())
            }
            13 => {
                let filter = self.filter(1);
                let arguments = format!("{collection}, where: {filter}");
                ("deleteDocuments", arguments, "matched changed".to_owned())
            }
            _ => {
                let arguments = format!("{collection}, first: 2");
                ("takeDocuments", arguments, format!("key{removed}"))
            }
        };
        ChangeText {
            function,
            arguments,
            selection,
        }
    }

    fn place(&mut self) -> String {
        let (collection, id, path) = (self.collection(), self.id(), self.path());
        match self.random.random_range(0..20) {
            0 => format!(r#"{{path: "{path}"}}"#),
            1 => format!(
                r#"{{{collection}, idFrom: {}, path: "{path}"}}"#,
                self.place()
            ),
            _ => format!(r#"{{{collection}, id: "{id}", path: "{path}"}}"#),
        }
    }

    /// A value that is no canary.
    fn new_value(&mut self) -> String {
        match self.random.random_range(0..4) {
            0 => format!(r#"{{a: {}}}"#, self.random.random_range(0..1000)),
            1 => r#"["new"]"#.to_owned(),
            2 => format!(r#"{{s: "p", o: "{}", b: [1]}}"#, self.one(&["a", "b"])),
            _ => self.random.random_range(0..1000).to_string(),
        }
    }

    fn operation(&mut self) -> String {
        let (path, from) = (self.path(), self.path());
        let (new, known) = (self.new_value(), literal(&self.value()));
        match self.random.random_range(0..6) {
            0 => format!(r#"{{op: "add", path: "{path}", value: {new}}}"#),
            1 => format!(r#"{{op: "remove", path: "{path}"}}"#),
            2 => format!(r#"{{op: "replace", path: "{path}", value: {new}}}"#),
            3 => format!(r#"{{op: "copy", from: "{from}", path: "{path}"}}"#),
            4 => format!(r#"{{op: "move", from: "{from}", path: "{path}"}}"#),
            _ => format!(r#"{{op: "test", path: "{path}", value: {known}}}"#),
        }
    }

    fn update(&mut self) -> String {
        let (at, new) = (self.jsonpath(), self.new_value());
        match self.random.random_range(0..12) {
            0 => format!(r#"set: [{{at: "{at}", value: {new}}}]"#),
            1 => format!(r#"set: [{{at: "{at}", from: {}}}]"#, self.place()),
            5 => format!(
                r#"rename: [{{at: "{at}", member: "{}", to: "{}"}}]"#,
                self.one(&["a", "b", "hidden"]),
                self.one(&["a", "b", "c"])
            ),
            6 => format!(
                r#"add: [{{at: "{at}", value: {}}}]"#,
                literal(&self.value())
            ),
            7 => format!(
                r#"max: [{{at: "{at}", value: {}}}]"#,
                self.random.random_range(0..1_000_000_000)
            ),
            8 => format!(
                r#"min: [{{at: "{at}", value: {}}}]"#,
                self.random.random_range(0..1_000_000_000)
            ),
            9 => format!(r#"now: ["{at}"]"#),
            10 => format!(
                r#"remove: [{{at: "{at}", value: {}}}]"#,
                literal(&self.value())
            ),
            2 => format!(r#"unset: ["{at}"]"#),
            3 => format!(r#"increment: [{{at: "{at}"}}]"#),
            4 => format!(r#"append: [{{at: "{at}", value: {new}}}]"#),
            _ => format!(r#"merge: [{{at: "{at}", patch: {{m: {new}}}}}]"#),
        }
    }
}

/// The first field of a selection under another response name, so that it can stand beside another one.
fn aliased(selection: &str, name: &str) -> String {
    match selection.split_once(' ') {
        Some((first @ ("kind" | "id"), _)) => format!("{name}: {first}"),
        _ => format!("{name}: {selection}"),
    }
}

/// A value as a literal of GraphQL.
fn literal(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| {
                let name = if name.starts_with(|first: char| first.is_ascii_digit()) {
                    "n"
                } else {
                    name
                };
                format!("{name}: {}", literal(member))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(literal).collect();
            format!("[{}]", elements.join(", "))
        }
        leaf => leaf.to_string(),
    }
}
