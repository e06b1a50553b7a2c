//! Compares this parser with that of `async_graphql` where that follows the specification, and
//! checks where it does not.

use async_graphql::ServerError;
use async_graphql::parser::parse_query;

use crate::graphql::prepare::parse::*;

/// The definitions of a document, sorted, because its maps are unordered.
fn shown(document: &ExecutableDocument) -> Vec<String> {
    let operations = document
        .operations
        .iter()
        .map(|(name, operation)| format!("{name:?} {operation:?}"));
    let fragments = document
        .fragments
        .iter()
        .map(|(name, fragment)| format!("{name} {fragment:?}"));
    let mut shown: Vec<String> = operations.chain(fragments).collect();
    shown.sort();
    shown
}

/// Asserts that both parsers return the same document, if both return one. Texts in which the other
/// parser deviates from the specification are left out. Returns whether there were two documents.
fn check(text: &str) -> bool {
    let deviates = |word: &str| {
        let mut behind = text.match_indices(word).map(|(at, _)| at + word.len());
        behind.any(|end| {
            let next = text.as_bytes().get(end).copied().unwrap_or_default();
            next == b'_' || next.is_ascii_alphanumeric()
        })
    };
    let is_blank = |line: &str| !line.is_empty() && line.trim_matches([' ', '\t']).is_empty();
    if ["true", "false", "null"].into_iter().any(deviates)
        || (text.contains("\"\"\"") && text.lines().any(is_blank))
        || text.contains("\\\"\"\"")
        || text.replace("\r\n", "").contains('\r')
    {
        return false;
    }
    let (Ok(document), Ok(expected)) = (parse(text), parse_query(text)) else {
        return false;
    };
    assert_eq!(shown(&document), shown(&expected), "{text:?}");
    true
}

const DOCUMENTS: &[&str] = &[
    "{a}",
    "query { a }",
    "query Q($a: Int = 1, $b: [[Int!]!]! = [[1]] $c:A) @e(f: $a) { a(b: $b c: $c) }",
    "mutation M { x: a(b: {c: [1, -2.5e+3, 0.0E1], d: \"t\", e: {}}) @f @g(h: []) { i } }",
    "subscription { a ...F ... { b } ... on C @d { e } ...G @h }",
    "fragment F on A @b { c }\r\nquery A { a }\nquery B { ...F }\nfragment G on B{d}",
    "{ a(b: true c: false d: null e: F g: $h i: -0 j: 123456789012345678901234567890) }",
    "{ é: # 語\n a(b: \"é\\u00e9\\n\\\"\\/\\\\\", c: \"\") # end",
    "{ a(b: \"é\\u00e9\\n\\\"\\/\\\\\", c: \"\") # 語\n b }",
    "\u{FEFF}{ a(b: \"\"\"\n    c\n      d\r\n\n    é e\n   \"\"\", f: \"\"\"\"\"\") }",
    "{ query mutation on fragment true null a: on(on: on) type: fragment }",
    "{ a(b: \"\u{1}\u{7f}\t\" , c: \" # } \") }",
];

#[test]
fn documents_are_parsed_like_async_graphql_parses_them() {
    let unusual = DOCUMENTS.iter().filter(|text| !check(text));
    assert_eq!(unusual.count(), 1, "one is none");
    for text in DOCUMENTS {
        let ends = || text.char_indices().chain([(text.len(), ' ')]);
        for (at, character) in ends() {
            let (before, after) = text.split_at(at);
            check(before);
            let rest = after.get(character.len_utf8()..).unwrap_or_default();
            check(&format!("{before}{rest}"));
            for other in "{}()[]:!$@=.,|&\"\\#- \n09eEaontrue_é\u{FEFF}\0".chars() {
                check(&format!("{before}{other}{after}"));
            }
        }
    }
}

/// The value of the only argument of the only field.
fn value(literal: &str) -> ParseResult<Value> {
    let document = parse(&format!("{{ a(b: {literal}) }}"))?;
    let (_, operation) = document.operations.iter().next().expect("an operation");
    let Selection::Field(field) = &operation.node.selection_set.node.items[0].node else {
        panic!("{literal} is in a field");
    };
    Ok(field.node.arguments[0].1.node.clone())
}

/// The message and the first position of the error.
fn error(text: &str) -> (String, Option<(usize, usize)>) {
    let error: ServerError = parse(text).expect_err(text).into();
    let first = error.locations.first();
    (error.message, first.map(|pos| (pos.line, pos.column)))
}

#[test]
fn surrogate_pairs_and_code_points_in_braces_are_characters() {
    for (escapes, expected) in [
        (r"\uD83D\uDE00", "😀"),
        (r"\ud83d\ude00", "😀"),
        (r"\uD800\uDC00", "\u{10000}"),
        (r"\uDBFF\uDFFF", "\u{10FFFF}"),
        (r"a\uD83D\uDE00\uD83D\uDE01b", "a😀😁b"),
        (r"\uD7FF\uE000", "\u{D7FF}\u{E000}"),
        (r"\u{1F600}", "😀"),
        (r"\u{0000000000000001f600}x", "😀x"),
        (r"\u{0}\u{10FFFF}", "\0\u{10FFFF}"),
        (
            r"\u{22}\u{5C}\u{A}\u{D}\uD83D\uDE00\n\u00e9",
            "\"\\\n\r😀\né",
        ),
        (r"\\uD83D\\u{1F600}", r"\uD83D\u{1F600}"),
    ] {
        let expected = Value::String(expected.to_owned());
        assert_eq!(value(&format!("\"{escapes}\"")), Ok(expected), "{escapes}");
    }
    for escapes in [
        r"\uD83D",
        r"\uDE00",
        r"\uDE00\uD83D",
        r"\uD83D\uD83D\uDE00",
        r"\uD83D \uDE00",
        r"\uD83DuDE00",
        r"\uD83D\uDBFF",
        r"\uD83D\uE000",
        r"\uD83D\n",
        r"\uD83D\uDE0",
        r"\uD83D\u{DE00}",
        r"\u{D83D}\u{DE00}",
        r"\u{D83D}\uDE00",
        r"\u{}",
        r"\u{",
        r"\u{1F600",
        r"\u{110000}",
        r"\u{100000000}",
        r"\u{+1}",
        r"\u{ 1}",
        r"\u{1g}",
        r"\q",
        r"\'",
    ] {
        let text = format!("{{\n a(b: \"é{escapes}\") }}");
        let (message, pos) = error(&text);
        let begin = "syntax error: invalid escape in a string: \\";
        assert!(message.starts_with(begin), "{escapes}: {message}");
        assert_eq!(pos, Some((2, 9)), "{escapes}");
    }
}

#[test]
fn literals_have_the_value_of_the_specification() {
    let text = |text: &str| Value::String(text.to_owned());
    let name = |name: &str| Value::Enum(Name::new(name));
    for (literal, expected) in [
        (r#""""a \""" b""""#, text(r#"a """ b"#)),
        ("\"\"\"\n  a\n \n  b\"\"\"", text("a\n\nb")),
        ("trueX", name("trueX")),
        ("[true1]", Value::List(vec![name("true1")])),
        (
            "[nullable false_]",
            Value::List(vec![name("nullable"), name("false_")]),
        ),
        (
            "[0,1]",
            Value::List(vec![Value::Number(0.into()), Value::Number(1.into())]),
        ),
    ] {
        assert_eq!(value(literal), Ok(expected), "{literal}");
    }
}

#[test]
fn types_are_tokens_with_any_space_between_them() {
    let expected = parse("query($a: [[Int!]]!) { b }").expect("a document");
    let spaced = parse("query($a: [ # type\n[\tInt ! ]\r\n,]\n!) { b }").expect("a document");
    let ty = |document: &ExecutableDocument| {
        let (_, operation) = document.operations.iter().next().expect("an operation");
        operation.node.variable_definitions[0]
            .node
            .var_type
            .node
            .clone()
    };
    assert_eq!(ty(&spaced), ty(&expected));
}

#[test]
fn forms_of_the_specification_are_parsed() {
    for text in [
        "query($a: Int = 1 @d(e: 2)) { b }",
        "\"d\" query Q(\"\"\"d\"\"\" $a: Int) { b } \"d\" fragment F on A { b }",
        "fragment F on#c\nA { b } { ...on#c\nA { b } }",
        "{ on: fragment query(on: on) ...onA }",
        "{ queryQ: fragmentF { a } }",
    ] {
        assert_eq!(parse(text).err(), None, "{text:?}");
    }
}

/// Texts, the messages of their errors, and the first positions.
const SYNTAX_ERRORS: &[(&str, &str, (usize, usize))] = &[
    (
        "queryQ { a }",
        "syntax error: expected an operation or a fragment, found \"queryQ\"",
        (1, 1),
    ),
    (
        "fragment on on A { b } { a }",
        "syntax error: expected the name of a fragment, found \"on\"",
        (1, 10),
    ),
    (
        "fragment F { b } { a }",
        "syntax error: expected \"on\", found \"{\"",
        (1, 12),
    ),
    (
        "{ a(b: [01]) }",
        "syntax error: the number 0 is followed by \"1\"",
        (1, 9),
    ),
    (
        "{ a(b: [007]) }",
        "syntax error: the number 0 is followed by \"0\"",
        (1, 9),
    ),
    (
        "{ a(b: 1x) }",
        "syntax error: the number 1 is followed by \"x\"",
        (1, 8),
    ),
    (
        "{ a(b: -) }",
        "syntax error: expected a digit after \"-\" in a number",
        (1, 8),
    ),
    (
        "{ a(b: 1.) }",
        "syntax error: expected a digit after \"1.\" in a number",
        (1, 8),
    ),
    (
        "{ a(b: {a: trueb: 2}) }",
        "syntax error: expected a name, found \":\"",
        (1, 17),
    ),
    (
        "{ a(b: {c: 1, c: 2}) }",
        "There can only be one input field named \"c\"",
        (1, 15),
    ),
    (
        "{ a(b: {c: {d: 1, d: 1}}) }",
        "There can only be one input field named \"d\"",
        (1, 19),
    ),
    (
        "query($a: A = {b: 1 b: 1}) { c }",
        "There can only be one input field named \"b\"",
        (1, 21),
    ),
    (
        "{ a(b: \"\"\" ) }",
        "syntax error: the block string is not closed",
        (1, 8),
    ),
    (
        "{\r a(b: \"c\rd\") }",
        "syntax error: the string is not closed on its line",
        (2, 7),
    ),
    (
        "{ a(b: \"c\\\n\") }",
        "syntax error: the string is not closed on its line",
        (1, 8),
    ),
    (
        "query($a: Int = $b) { c }",
        "syntax error: expected a value without variables, found \"$\"",
        (1, 17),
    ),
    (
        "query($a: Int @d(e: $b)) { c }",
        "syntax error: expected a value without variables, found \"$\"",
        (1, 21),
    ),
    (
        "query($a: Int @d = 1) { c }",
        "syntax error: expected \"$\", found \"=\"",
        (1, 18),
    ),
    (
        "query($a: [Int) { b }",
        "syntax error: expected \"]\", found \")\"",
        (1, 15),
    ),
    (
        "query() { b }",
        "syntax error: expected \"$\", found \")\"",
        (1, 7),
    ),
    (
        "\"d\" { a }",
        "syntax error: expected an operation after the description, found \"{\"",
        (1, 5),
    ),
    ("{ a? }", "syntax error: no token begins with '?'", (1, 4)),
    (
        "{ a() }",
        "syntax error: expected a name, found \")\"",
        (1, 5),
    ),
    ("{ }", "syntax error: expected a name, found \"}\"", (1, 3)),
    (
        "{ a",
        "syntax error: expected a name, found the end of the text",
        (1, 4),
    ),
    (
        "{ a } { b }",
        "document contains multiple operations",
        (1, 7),
    ),
    (
        "{ a } query Q { b }",
        "document contains multiple operations",
        (1, 1),
    ),
    (
        "query Q { a } query Q { b }",
        "operation Q is defined twice",
        (1, 15),
    ),
    (
        "fragment F on A { b } fragment F on A { b } { ...F }",
        "fragment F is defined twice",
        (1, 23),
    ),
];

#[test]
fn other_forms_are_errors_with_their_cause_and_position() {
    for (text, message, pos) in SYNTAX_ERRORS {
        assert_eq!(error(text), ((*message).to_owned(), Some(*pos)), "{text:?}");
    }
    for text in ["", " # c", "fragment F on A { b }"] {
        let message = "document does not contain an operation".to_owned();
        assert_eq!(error(text), (message, None), "{text:?}");
    }
}

/// Texts with several pseudorandom changes, the same in each run.
#[test]
fn mutated_documents_are_parsed_like_async_graphql_parses_them() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or_default() % limit
    };
    let mut parsed = 0;
    for _ in 0..TEXTS {
        let mut text: Vec<char> = DOCUMENTS[below(DOCUMENTS.len())].chars().collect();
        for _ in 0..=below(4) {
            let other: Vec<char> = DOCUMENTS[below(DOCUMENTS.len())].chars().collect();
            let (from, length) = (below(other.len()), below(12));
            let part = other.iter().skip(from).take(length).copied();
            let begin = below(text.len() + 1);
            let end = (begin + below(3) * below(12)).min(text.len());
            text.splice(begin..end, part);
        }
        parsed += usize::from(check(&String::from_iter(text)));
    }
    assert!(parsed > TEXTS / 50, "{parsed} of {TEXTS} are documents");
}

const TEXTS: usize = 20_000;
