//! Compares this parser with that of `async_graphql`.

use crate::graphql::prepare::parse::*;

/// The definitions of a document, sorted, because its maps are unordered.
fn shown(document: &ExecutableDocument) -> Vec<String> {
    let operations = document.operations.iter();
    let operations = operations.map(|(name, operation)| format!("{name:?} {operation:?}"));
    let fragments = document.fragments.iter();
    let fragments = fragments.map(|(name, fragment)| format!("{name} {fragment:?}"));
    let mut shown: Vec<String> = operations.chain(fragments).collect();
    shown.sort();
    shown
}

/// Asserts that this parser rejects a text or returns the document of `async_graphql`'s parser.
/// Returns whether it was parsed.
fn check(text: &str) -> bool {
    let Ok(document) = parse(text) else {
        return false;
    };
    let expected = parse_otherwise(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    assert_eq!(shown(&document), shown(&expected), "{text:?}");
    true
}

const DOCUMENTS: &[&str] = &[
    "{a}",
    "query { a }",
    "query Q($a: Int = 1, $b: [[Int!]!]! @d = [[1]] $c:A) @e(f: $a) { a(b: $b c: $c) }",
    "mutation M { x: a(b: {c: [1, -2.5e+3, 0.0E1], d: \"t\", e: {}}) @f @g(h: []) { i } }",
    "subscription { a ...F ... { b } ... on C @d { e } ...G @h }",
    "fragment F on A @b { c }\r\nquery A { a }\rquery B { ...F }\nfragment G on\n,B{d}",
    "{ a(b: true c: false d: null e: F g: $h i: -0 j: 123456789012345678901234567890) }",
    "{ é: # 語\n a(b: \"é\\u00e9\\n\\\"\\/\\\\\", c: \"\") # end",
    "{ a(b: \"é\\u00e9\\n\\\"\\/\\\\\", c: \"\") # 語\n b }",
    "\u{FEFF}{ a(b: \"\"\"\n    c\n      d\r\n\n    é \\\"\"\" e\n   \"\"\", f: \"\"\"\"\"\") }",
    "{ query mutation on fragment true null a: on(on: on) type: fragment }",
    "{ a(b: \"\\uD83D\\uDE00 \\u{1f600}\\n\" c: \"\\u{22}\\u{05C}\\u{A}\\u{d}\\u{0}\") d }",
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
            for other in "{}()[]:!$@=.,|&\"\\#- \n\r09eEaontrue_é\u{FEFF}\0".chars() {
                check(&format!("{before}{other}{after}"));
                check(&format!("{before}{other}{rest}"));
            }
            for others in [
                "...", "on ", "\"\"\"", "true", "\\u", "\r\n", "$a", "00", "1.", "!]",
            ] {
                check(&format!("{before}{others}{after}"));
            }
        }
    }
}

/// The string argument of the only field, if the text is parsed. Asserts that both parsers agree.
fn string(escapes: &str) -> Option<String> {
    let text = format!("{{ a(b: \"{escapes}\") }}");
    let ours = parse(&text).ok();
    let unusual = parse_otherwise(&format!("fragment on on A {{ b }} {text}"));
    assert_eq!(ours.is_some(), unusual.is_ok(), "{text}");
    let document = ours?;
    assert_eq!(shown(&document), shown(&parse_otherwise(&text).ok()?));
    let (_, operation) = document.operations.iter().next()?;
    let Selection::Field(field) = &operation.node.selection_set.node.items.first()?.node else {
        return None;
    };
    match &field.node.arguments.first()?.1.node {
        Value::String(value) => Some(value.clone()),
        _ => None,
    }
}

#[test]
fn surrogate_pairs_and_code_points_in_braces_are_characters() {
    for (escapes, value) in [
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
        assert_eq!(string(escapes).as_deref(), Some(value), "{escapes}");
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
    ] {
        assert_eq!(string(escapes), None, "{escapes}");
    }
}

#[test]
fn positions_after_escapes_are_correct() {
    let text = r#"{ a(b: "\uD83D\uDE00\u{1F600}") ? }"#;
    let error = parse_otherwise(text).expect_err("it is no document");
    let pos = error.positions().next().expect("a place");
    assert_eq!(Some(pos.column - 1), text.find('?'));
    assert_eq!(parse(text).err(), Some(pos));
}

#[test]
fn forms_outside_the_specification_are_left_to_async_graphql() {
    for text in [
        "queryQ { a }",
        "fragment on on A { b } { ...on }",
        "{ a(b: [trueX]) }",
        "{ a(b: [01]) }",
        "query($a: [ Int ]) { b }",
        "{ a(b: \"\"\" ) }",
        "{ a(b: 1x) }",
        "{ a } { b }",
        "{ a } query Q { b }",
        "query Q { a } query Q { b }",
        "fragment F on A { b } fragment F on A { b } { ...F }",
        "fragment F on A { b }",
        "{ a() }",
        "{ }",
        "",
    ] {
        assert!(parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn selections_nest_as_deep_as_in_async_graphql() {
    for levels in [1, 64, 65, 66, 67] {
        for open in ["{ a ", "{ ... "] {
            let text = format!("{}{{ a {}", open.repeat(levels - 1), "}".repeat(levels));
            assert_eq!(
                check(&text),
                parse_otherwise(&text).is_ok(),
                "{levels}: {open}"
            );
        }
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
