//! Random documents for the schema, as tokens.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::Value;

/// A type as introspection returns it: its names from outside to inside.
struct Schema(Value);

impl Schema {
    fn of(&self, name: &str) -> &Value {
        let types = self.0["types"].as_array().expect("types");
        let found = types.iter().find(|ty| ty["name"] == name);
        found.expect("the schema has the type")
    }
}

/// The name of a type without lists.
fn base(ty: &Value) -> &str {
    match ty["name"].as_str() {
        Some(name) => name,
        None => base(&ty["ofType"]),
    }
}

/// The text of a type.
fn written(ty: &Value) -> String {
    match ty["kind"].as_str() {
        Some("NON_NULL") => format!("{}!", written(&ty["ofType"])),
        Some("LIST") => format!("[{}]", written(&ty["ofType"])),
        _ => base(ty).to_owned(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The query whose response is the schema for [`Generator::new`].
pub(crate) const INTROSPECTION: &str = "{ __schema { types { name kind
    fields { name args { ...I } type { ...T } } inputFields { ...I } enumValues { name }
    possibleTypes { name } } } }
    fragment I on __InputValue { name defaultValue type { ...T } }
    fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name
    ofType { kind name } } } } }";

/// Generates documents and changes them.
pub(crate) struct Generator {
    schema: Schema,
    random: StdRng,
    /// The variable definitions of the current operation, if it may have variables.
    variables: Vec<String>,
    /// The fragments: name, type and definition.
    fragments: Vec<(String, String, Vec<String>)>,
}

type Tokens = Vec<String>;

fn push(tokens: &mut Tokens, more: &[&str]) {
    tokens.extend(more.iter().map(|token| (*token).to_owned()));
}

impl Generator {
    /// A generator for the schema in the response to [`INTROSPECTION`].
    pub(crate) fn new(introspected: Value, seed: u64) -> Self {
        Self {
            schema: Schema(introspected),
            random: StdRng::seed_from_u64(seed),
            variables: Vec::new(),
            fragments: Vec::new(),
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.random_range(0..limit)
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.below(from.len())]
    }

    /// A document, a third of them unchanged.
    pub(crate) fn text(&mut self) -> String {
        let mut tokens = self.document();
        match self.below(3) {
            0 => self.joined(&tokens),
            1 => {
                for _ in 0..=self.below(2) {
                    self.change_token(&mut tokens);
                }
                self.joined(&tokens)
            }
            _ => {
                let mut text: Vec<char> = self.joined(&tokens).chars().collect();
                for _ in 0..=self.below(3) {
                    self.change_character(&mut text);
                }
                text.into_iter().collect()
            }
        }
    }

    fn document(&mut self) -> Tokens {
        self.fragments.clear();
        let mut tokens = Tokens::new();
        let operations = if self.one_in(6) { 2 } else { 1 };
        for at in 0..operations {
            self.variables.clear();
            let (keyword, root) = match self.below(12) {
                0..3 => ("mutation", "Mutation"),
                3 => ("subscription", "Subscription"),
                _ => ("query", "Query"),
            };
            let directives = match operations {
                1 => self.directives(),
                _ => Tokens::new(),
            };
            let selections = match keyword {
                "subscription" => self.root_field(root),
                _ => self.selections(root, 4),
            };
            let anonymous = operations == 1 && keyword == "query" && self.variables.is_empty();
            if !(anonymous && self.one_in(2)) {
                if self.one_in(20) {
                    tokens.push(self.string());
                }
                tokens.push(keyword.to_owned());
                if operations > 1 || self.one_in(2) {
                    tokens.push(format!("Q{at}"));
                }
                if !self.variables.is_empty() {
                    tokens.push("(".to_owned());
                    for definition in std::mem::take(&mut self.variables) {
                        tokens.extend(definition.split(' ').map(str::to_owned));
                    }
                    tokens.push(")".to_owned());
                }
                // Directives on operations are rejected; some texts have them.
                if self.one_in(60) {
                    tokens.extend(directives);
                }
            }
            tokens.extend(selections);
        }
        for (_, _, definition) in std::mem::take(&mut self.fragments) {
            tokens.extend(definition);
        }
        tokens
    }

    fn root_field(&mut self, root: &str) -> Tokens {
        let mut tokens = vec!["{".to_owned()];
        let field = self.field(root, 3);
        tokens.extend(field.iter().cloned());
        if self.one_in(6) {
            tokens.extend(field);
        }
        tokens.push("}".to_owned());
        tokens
    }

    fn selections(&mut self, on: &str, levels: usize) -> Tokens {
        let mut tokens = vec!["{".to_owned()];
        for _ in 0..=self.below(3) {
            let more = match self.below(10) {
                0 => {
                    let mut more = self.alias();
                    more.push("__typename".to_owned());
                    more.extend(self.directives());
                    more
                }
                1 => self.inline(on, levels),
                2 => self.spread(on, levels),
                _ => self.field(on, levels),
            };
            tokens.extend(more);
        }
        tokens.push("}".to_owned());
        tokens
    }

    fn alias(&mut self) -> Tokens {
        let mut tokens = Tokens::new();
        if self.one_in(6) {
            let alias = self.pick(&["a", "b", "c", "d", "on", "true", "query", "fragment"]);
            push(&mut tokens, &[alias, ":"]);
        }
        tokens
    }

    /// A type that overlaps with `on`.
    fn other_type(&mut self, on: &str) -> String {
        let possible = list(&self.schema.of(on)["possibleTypes"]);
        let mut names: Vec<String> = possible
            .iter()
            .filter_map(|ty| ty["name"].as_str().map(str::to_owned))
            .collect();
        if matches!(on, "Document" | "Subdocument") {
            names.push("Node".to_owned());
        }
        names.push(on.to_owned());
        names.swap_remove(self.below(names.len()))
    }

    fn inline(&mut self, on: &str, levels: usize) -> Tokens {
        let mut tokens = vec!["...".to_owned()];
        let mut of = on.to_owned();
        if !self.one_in(3) {
            of = self.other_type(on);
            push(&mut tokens, &["on", &of]);
        }
        tokens.extend(self.directives());
        tokens.extend(self.selections(&of, levels.saturating_sub(1)));
        tokens
    }

    fn spread(&mut self, on: &str, levels: usize) -> Tokens {
        let known = self.fragments.iter().find(|(_, of, _)| of == on);
        let name = if let Some((name, _, _)) = known {
            name.clone()
        } else {
            let of = self.other_type(on);
            // Fragments have no variables, because several operations can use them.
            let variables = std::mem::take(&mut self.variables);
            let selections = self.selections(&of, levels.saturating_sub(2));
            let unused = std::mem::replace(&mut self.variables, variables);
            self.variables.extend(unused);
            let name = format!("F{}", self.fragments.len());
            let mut definition = Tokens::new();
            push(&mut definition, &["fragment", &name, "on", &of]);
            definition.extend(selections);
            self.fragments.push((name.clone(), of, definition));
            name
        };
        let mut tokens = vec!["...".to_owned(), name];
        tokens.extend(self.directives());
        tokens
    }

    fn field(&mut self, on: &str, levels: usize) -> Tokens {
        let mut tokens = self.alias();
        let fields = list(&self.schema.of(on)["fields"]).to_vec();
        let fields: Vec<&Value> = fields
            .iter()
            .filter(|field| levels > 0 || !self.is_composite(base(&field["type"])))
            .collect();
        if fields.is_empty() {
            tokens.push("__typename".to_owned());
            return tokens;
        }
        let field = fields[self.below(fields.len())];
        tokens.push(field["name"].as_str().expect("a name").to_owned());
        let mut arguments = Tokens::new();
        for argument in list(&field["args"]) {
            let required =
                argument["type"]["kind"] == "NON_NULL" && argument["defaultValue"].is_null();
            if required || self.one_in(3) {
                push(
                    &mut arguments,
                    &[argument["name"].as_str().expect("a name"), ":"],
                );
                let has_default = !argument["defaultValue"].is_null();
                self.argument(&mut arguments, &argument["type"], has_default, 3);
            }
        }
        if !arguments.is_empty() {
            tokens.push("(".to_owned());
            tokens.extend(arguments);
            tokens.push(")".to_owned());
        }
        tokens.extend(self.directives());
        let of = base(&field["type"]).to_owned();
        if self.is_composite(&of) {
            tokens.extend(self.selections(&of, levels.saturating_sub(1)));
        }
        tokens
    }

    fn is_composite(&self, name: &str) -> bool {
        let kind = &self.schema.of(name)["kind"];
        kind == "OBJECT" || kind == "INTERFACE" || kind == "UNION"
    }

    fn directives(&mut self) -> Tokens {
        let mut tokens = Tokens::new();
        if self.one_in(8) {
            let name = self.pick(&["skip", "include"]);
            push(&mut tokens, &["@", name, "(", "if", ":"]);
            let ty = serde_json::json!({"kind": "NON_NULL", "name": null,
                "ofType": {"kind": "SCALAR", "name": "Boolean"}});
            self.argument(&mut tokens, &ty, false, 1);
            tokens.push(")".to_owned());
        }
        tokens
    }

    /// A value, or a variable of the type.
    fn argument(&mut self, tokens: &mut Tokens, ty: &Value, has_default: bool, levels: usize) {
        if !self.one_in(6) {
            return self.value(tokens, ty, levels);
        }
        let name = format!("v{}", self.variables.len());
        push(tokens, &["$", &name]);
        let mut declared = written(ty);
        if has_default && self.one_in(2) {
            declared = declared.trim_end_matches('!').to_owned();
        } else if !declared.ends_with('!') && self.one_in(4) {
            declared.push('!');
        }
        let spaced = declared
            .replace('[', "[ ")
            .replace(']', " ]")
            .replace('!', " !");
        let mut definition = format!("$ {name} : {spaced}");
        if self.one_in(4) {
            let mut default = Tokens::new();
            let variables = std::mem::take(&mut self.variables);
            self.constant(&mut default, ty, 2);
            self.variables = variables;
            if default.iter().all(|token| !token.contains(' ')) {
                definition = format!("{definition} = {}", default.join(" "));
            }
        }
        self.variables.push(definition);
    }

    fn constant(&mut self, tokens: &mut Tokens, ty: &Value, levels: usize) {
        let before = self.variables.len();
        let begin = tokens.len();
        self.value(tokens, ty, levels);
        if self.variables.len() > before {
            self.variables.truncate(before);
            tokens.truncate(begin);
            tokens.push("null".to_owned());
        }
    }

    fn value(&mut self, tokens: &mut Tokens, ty: &Value, levels: usize) {
        if self.one_in(60) {
            return self.any(tokens, levels);
        }
        match ty["kind"].as_str() {
            Some("LIST") if !self.one_in(5) => {
                tokens.push("[".to_owned());
                for _ in 0..self.below(3) {
                    self.argument(tokens, &ty["ofType"], false, levels.saturating_sub(1));
                }
                tokens.push("]".to_owned());
                return;
            }
            Some("NON_NULL" | "LIST") => return self.value(tokens, &ty["ofType"], levels),
            _ if self.one_in(12) => {
                // Where the type is not null, this is invalid.
                return tokens.push("null".to_owned());
            }
            _ => {}
        }
        match base(ty) {
            "Int" => {
                let number = self.pick(&["0", "1", "-1", "100", "2147483647", "2147483648", "-0"]);
                tokens.push(number.to_owned());
            }
            "Boolean" => {
                let word = self.pick(&["true", "false"]);
                tokens.push(word.to_owned());
            }
            "ID" if self.one_in(3) => {
                let number = self.pick(&[
                    "0",
                    "-7",
                    "42",
                    "9223372036854775807",
                    "9223372036854775808",
                ]);
                tokens.push(number.to_owned());
            }
            "ID" | "String" | "JSONPath" | "DocumentVersion" => tokens.push(self.string()),
            "JSON" | "Path" | "PathSegment" | "_Any" => self.any(tokens, levels),
            name => {
                let name = name.to_owned();
                let ty = self.schema.of(&name).clone();
                if ty["kind"] == "ENUM" {
                    let values = list(&ty["enumValues"]);
                    let value = &values[self.below(values.len())]["name"];
                    return tokens.push(value.as_str().expect("a name").to_owned());
                }
                tokens.push("{".to_owned());
                for member in list(&ty["inputFields"]) {
                    let has_default = !member["defaultValue"].is_null();
                    let required = member["type"]["kind"] == "NON_NULL" && !has_default;
                    if required || (levels > 0 && self.one_in(4)) {
                        push(tokens, &[member["name"].as_str().expect("a name"), ":"]);
                        let levels = levels.saturating_sub(1);
                        self.argument(tokens, &member["type"], has_default, levels);
                    }
                }
                tokens.push("}".to_owned());
            }
        }
    }

    /// A literal of any kind.
    fn any(&mut self, tokens: &mut Tokens, levels: usize) {
        match self.below(if levels == 0 { 8 } else { 11 }) {
            0 => {
                let number = self.number();
                tokens.push(number);
            }
            1..5 => tokens.push(self.string()),
            5 => {
                let word = self.pick(&["true", "false", "null"]);
                tokens.push(word.to_owned());
            }
            6 => {
                let number = self.pick(&["0", "7", "-12"]);
                tokens.push(number.to_owned());
            }
            7 => {
                let word = self.pick(&["\"x\"", "\"\"", "trueX", "READY", "KEY", "on"]);
                tokens.push(word.to_owned());
            }
            8 => {
                tokens.push("[".to_owned());
                for _ in 0..self.below(4) {
                    self.any(tokens, levels - 1);
                }
                tokens.push("]".to_owned());
            }
            _ => {
                tokens.push("{".to_owned());
                let names = ["a", "b", "é", "true", "on", "_", "A1"];
                let mut names: Vec<&str> =
                    names.into_iter().filter(|name| name.is_ascii()).collect();
                for _ in 0..self.below(4) {
                    let at = self.below(names.len());
                    // Few objects have the same name twice.
                    let name = if self.one_in(30) {
                        names[at]
                    } else {
                        names.swap_remove(at)
                    };
                    push(tokens, &[name, ":"]);
                    self.any(tokens, levels - 1);
                }
                tokens.push("}".to_owned());
            }
        }
    }

    fn number(&mut self) -> String {
        let mut number = self.pick(&["", "-"]).to_owned();
        match self.below(4) {
            0 => number.push('0'),
            1 => number.push_str("123456789012345678901234567890"),
            _ => number.push_str(&(1 + self.below(1000)).to_string()),
        }
        if self.one_in(3) {
            number.push('.');
            number.push_str(&self.below(1000).to_string());
        }
        if self.one_in(3) {
            number.push_str(self.pick(&["e", "E", "e-", "E+"]));
            number.push_str(&self.below(400).to_string());
        }
        number
    }

    /// A string or a block string with its quotes.
    fn string(&mut self) -> String {
        const PARTS: &[&str] = &[
            "a",
            "é",
            "😀",
            " ",
            "  ",
            "\t",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\\u00e9",
            "\\uD83D\\uDE00",
            "\\u{1F600}",
            "\\b\\f\\r\\t",
            "$.a",
            "#",
            "{",
            "}",
            "\u{7f}",
            "\u{1}",
            "/a/0",
            ",",
        ];
        const LINES: &[&str] = &[
            "a", "é", "😀", " ", "  ", "\t", "\n", "\n ", "\n  ", "\r\n", "\r", "\n    a", "\n  b",
            "\\\"\"\"", "\\", "\"", "\\n", "\\u00e9", "#", "\u{1}",
        ];
        let mut text = String::new();
        let block = self.one_in(3);
        for _ in 0..self.below(if block { 9 } else { 5 }) {
            text.push_str(self.pick(if block { LINES } else { PARTS }));
        }
        if !block {
            return format!("\"{text}\"");
        }
        while text.ends_with(['"', '\\']) {
            text.pop();
        }
        format!(
            "\"\"\"{}\"\"\"",
            text.replace("\"\"", "\" \"")
                .replace("\\\" \"\"", "\\\"\"\"")
        )
    }

    /// The tokens with random white space, commas and comments between them.
    fn joined(&mut self, tokens: &[String]) -> String {
        const BETWEEN: &[&str] = &[
            " ",
            " ",
            " ",
            " ",
            "\n",
            "  ",
            ",",
            "\t",
            "\r\n",
            "\r",
            "#c\n",
            " # \"\"\" }\n",
            "\u{FEFF}",
            "# é\r",
            ", ",
        ];
        let mut text = String::new();
        let spaced = self.one_in(2);
        for token in tokens {
            let open = |text: &str| text.ends_with(|last: char| "{}()[]:!$@=".contains(last));
            let punctuator = token.len() == 1 && "{}()[]:!$@=".contains(token.as_str());
            let optional = open(&text) || punctuator || text.is_empty();
            if !optional || (spaced && self.one_in(4)) {
                text.push_str(self.pick(BETWEEN));
            }
            text.push_str(token);
        }
        text
    }

    fn change_token(&mut self, tokens: &mut Tokens) {
        const OTHERS: &[&str] = &[
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            ":",
            "!",
            "$",
            "@",
            "=",
            "...",
            "|",
            "&",
            "on",
            "a",
            "query",
            "true",
            "null",
            "1",
            "01",
            "1.5",
            "\"\"",
            "\"a\"",
            "\"\"\"a\"\"\"",
            "__typename",
            "id",
            "Document",
            "Node",
            "skip",
            "include",
            "deprecated",
            "if",
            "$v0",
            "F0",
            "fragment",
            "mutation",
            "subscription",
            "type",
            "value",
            "key",
            "JSON",
            "String",
            "_Entity",
            "JSONKind",
        ];
        let at = self.below(tokens.len());
        let other = match self.below(3) {
            0 => tokens[self.below(tokens.len())].clone(),
            _ => self.pick(OTHERS).to_owned(),
        };
        match self.below(4) {
            0 => _ = tokens.remove(at),
            1 => tokens.insert(at, other),
            2 => tokens[at] = other,
            _ => {
                let with = self.below(tokens.len());
                tokens.swap(at, with);
            }
        }
        if tokens.is_empty() {
            tokens.push("{".to_owned());
        }
    }

    fn change_character(&mut self, text: &mut Vec<char>) {
        const OTHERS: &str = "{}()[]:!$@=.,|&\"\\#- \n\r\t09eEaontruez_é\u{FEFF}\0😀'?+/*";
        let others: Vec<char> = OTHERS.chars().collect();
        let other = others[self.below(others.len())];
        let at = self.below(text.len() + 1);
        let there = at < text.len();
        match self.below(5) {
            0 if there => _ = text.remove(at),
            1 if there => text[at] = other,
            2 => {
                let more = self.pick(&[
                    "\"\"\"",
                    "\\u",
                    "\\u{",
                    "...",
                    "00",
                    "1.",
                    "true",
                    "!]",
                    "\\\"\"\"",
                    "on ",
                    "$v0",
                    "__typename{a}",
                    "(a:1)",
                    "@skip(if:true)",
                    "\r\n",
                ]);
                text.splice(at..at, more.chars());
            }
            3 if there => {
                let end = (at + self.below(8)).min(text.len());
                text.drain(at..end);
            }
            _ => text.insert(at, other),
        }
    }
}
