//! What the grammar and its rules on types accept, where errors are, and hostile nesting.

use super::super::ast::{QuerySegment, Selector};
use super::parse;
use crate::error::{ErrorKind, Result};
use crate::limits::{JSONPATH_BRACKETS_MAX, JSONPATH_BYTES_MAX, JSONPATH_INTEGER_MAX};

fn check(text: &str, accepted: bool) {
    match parse(text) {
        Ok(_) => assert!(accepted, "{text} is accepted"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::BadUserInput, "{text}: {error}");
            assert!(!accepted, "{text}: {error}");
        }
    }
}

#[test]
fn blanks_are_accepted_only_where_the_grammar_has_them() {
    for text in [
        "$ \t\r\n.a ['b'] ..c",
        "$[ 'a' , 0 , * ]",
        "$[ 1 : 2 : 3 ]",
        "$[ : ]",
        "$[: :]",
        "$[ ? @.a ]",
        "$[?! @.a]",
        "$[?! ( @.a ) ]",
        "$[?( @.a && @.b ) || @ .c]",
        "$[?@.a\n==\n1]",
        "$[?length( @ ) == 1]",
        "$[?match( @ , 'a' )]",
        "$..[ 'a' ]",
    ] {
        check(text, true);
    }
    for text in [
        "$. a",
        "$.. a",
        "$. .a",
        "$.. ['a']",
        "$[- 1]",
        "$[1 2]",
        "$[?@.a = = 1]",
        "$[?@.a & & @.b]",
        "$[?@.a == - 1]",
        "$[?@.a == 1 .5]",
        "$[?length (@) == 1]",
        "$\u{a0}.a",
        "$\u{c}.a",
        "$[\u{3000}0]",
    ] {
        check(text, false);
    }
}

#[test]
fn arguments_and_comparisons_are_well_typed() {
    for text in [
        "$[?length(@.a) == 1]",
        "$[?length('a') == length(value(@..a))]",
        "$[?length(1) < count($[?@.a])]",
        "$[?value(@..a) == @['a'][-1].b]",
        "$[?match(@.a, value($..p))]",
        "$[?!search('a', @.b)]",
        "$[?null != true]",
    ] {
        check(text, true);
    }
    for text in [
        "$[?length(@.*) == 1]",
        "$[?length(@..a) == 1]",
        "$[?length(@['a','b']) == 1]",
        "$[?length(@[0:1]) == 1]",
        "$[?length(@.a == 1) == 1]",
        "$[?length((@.a)) == 1]",
        "$[?length(!@.a) == 1]",
        "$[?length(match(@, 'a')) == 1]",
        "$[?length() == 1]",
        "$[?length(@, @) == 1]",
        "$[?length(@.a)]",
        "$[?!length(@.a)]",
        "$[?count(@.*)]",
        "$[?count('a') == 1]",
        "$[?count(value(@.*)) == 1]",
        "$[?count((@.*)) == 1]",
        "$[?count(@.* || @.a) == 1]",
        "$[?value(@.*) || @.a]",
        "$[?match(@.*, 'a')]",
        "$[?match(@)]",
        "$[?match(@, 'a', 'b')]",
        "$[?match(@, 'a') == true]",
        "$[?true == search(@, 'a')]",
        "$[?@.* == 1]",
        "$[?1 == $..a]",
        "$[?@[?@.a] == 1]",
        "$[?true]",
        "$[?!true]",
        "$[?!@.a == 1]",
        "$[?(@.a) == 1]",
        "$[?1 == 1 == 1]",
        "$[?@.a == (1)]",
    ] {
        check(text, false);
    }
}

#[test]
fn an_integer_has_a_magnitude_below_2_to_the_53() {
    let max = i64::try_from(JSONPATH_INTEGER_MAX).expect("it is 2^53 - 1");
    for integer in [0, 1, -1, max, -max] {
        let (segments, _) = parse(&format!("$[{integer}, {integer}::{integer}]")).expect("a query");
        let slice = Selector::Slice {
            start: Some(integer),
            end: None,
            step: integer,
        };
        let selectors = vec![Selector::Index(integer), slice];
        assert_eq!(segments, [QuerySegment::Child(selectors)]);
    }
    for integer in ["-0", "00", "-01", "+1", "1.0", "1e0", "9007199254740992"] {
        for text in ["[_]", "[_:]", "[:_]", "[::_]", "[?@[_] == 1]"] {
            check(&format!("${}", text.replace('_', integer)), false);
        }
    }
}

#[test]
fn an_error_names_the_line_and_the_column_in_bytes() {
    for (text, place, expected) in [
        (
            "$['é', 'ü' 'x']",
            "line 1, column 14",
            "expected `,` or `]`, not '\\''",
        ),
        (
            "$['😀'].é.",
            "line 1, column 14",
            "not the end of the query",
        ),
        (
            "$\n['a']\n[?@.b =>\n1]",
            "line 3, column 7",
            "expected `==`",
        ),
        ("$['a\\uD83D']", "line 1, column 5", "surrogate"),
        (
            "$[?@['é'] == 'a\tb']",
            "line 1, column 17",
            "control character",
        ),
        (
            "$[1:2:3:4]",
            "line 1, column 8",
            "expected `,` or `]`, not ':'",
        ),
        (
            "$[?@.a == 1",
            "line 1, column 12",
            "`]`, not the end of the query",
        ),
        (
            "$[?@.a ==",
            "line 1, column 10",
            "expected a value to compare with",
        ),
        (
            "$[?1 == @.*]",
            "line 1, column 9",
            "can select several nodes",
        ),
        ("$[?!@.a == 1]", "line 1, column 5", "needs parentheses"),
        ("$[?'a']", "line 1, column 4", "a literal is not a test"),
        (
            "$[?@.a || count() == 1]",
            "line 1, column 17",
            "expected a query, not ')'",
        ),
        (
            "$[?match(@.a, @.*)]",
            "line 1, column 4",
            "an argument of `match`",
        ),
        (
            "$.a[?@.b]]",
            "line 1, column 10",
            "or the end of the query, not ']'",
        ),
    ] {
        let error = parse(text).expect_err(text);
        let message = error.message();
        assert!(message.contains(expected), "{text}: {message}");
        assert!(
            message.contains(&format!(", at {place} of ")),
            "{text}: {message}"
        );
    }
}

/// Parses on a stack that a recursion over the whole of a text would exhaust.
fn parse_on_a_small_stack(texts: Vec<String>) -> Vec<Result<()>> {
    let run = move || texts.iter().map(|text| parse(text).map(|_| ())).collect();
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let done = small.spawn(run).expect("a thread");
    done.join().expect("its stack was enough")
}

#[test]
fn no_text_exhausts_the_stack() {
    let units = [
        "[",
        "(",
        "!",
        "!(",
        "?",
        "[?",
        "[?(",
        "[?!(",
        "[?@",
        "$[?",
        "@[?@",
        "[?length(",
        "[?match(@,",
        "[?value(@",
        "length(",
        "'[",
        "'\\'[(",
        "\"'(",
        "-",
        ":",
        ",",
        "..",
        "..[",
        "..[?@",
        "@",
        "{",
        "[?1==",
        "[?1==1&&(",
        "[?@||!(",
    ];
    let starts = ["", "$", "$[?", "$[?!", "$[?length(", "$['", "$[\"\\'"];
    let fill = |start: &str, unit: &str| {
        let units = (JSONPATH_BYTES_MAX - start.len()) / unit.len();
        format!("{start}{}", unit.repeat(units))
    };
    let texts: Vec<_> = starts
        .iter()
        .flat_map(|start| units.iter().map(|unit| fill(start, unit)))
        .collect();
    let parsed = parse_on_a_small_stack(texts.clone());
    for (text, parsed) in texts.iter().zip(parsed) {
        let error = parsed.expect_err(text);
        let kinds = [ErrorKind::BadUserInput, ErrorKind::TooComplex];
        assert!(kinds.contains(&error.kind()), "{error}");
    }
}

#[test]
fn every_kind_of_nesting_is_accepted_up_to_the_limit() {
    let nested = |start: &str, open: &str, middle: &str, close: &str, brackets: usize| {
        let per_level = open.matches(['[', '(']).count();
        let times = (brackets - start.matches('[').count()) / per_level;
        format!(
            "{start}{}{middle}{}]",
            open.repeat(times),
            close.repeat(times)
        )
    };
    let kinds = [
        ("$[?", "(", "@", ")"),
        ("$[?", "!(", "1==1", ")"),
        ("$[?", "@[?", "@", "]"),
        ("$[?", "(@.a||@..[?", "@", "])"),
        ("$[?", "(@.a&&!(", "@", "))"),
    ];
    let texts = |brackets: usize| {
        let text = |(start, open, middle, close): (&str, &str, &str, &str)| {
            nested(start, open, middle, close, brackets)
        };
        kinds.into_iter().map(text).collect::<Vec<_>>()
    };
    for parsed in parse_on_a_small_stack(texts(JSONPATH_BRACKETS_MAX)) {
        parsed.expect("nesting within the limit");
    }
    for parsed in parse_on_a_small_stack(texts(JSONPATH_BRACKETS_MAX + 2)) {
        let error = parsed.expect_err("nesting past the limit");
        assert_eq!(error.kind(), ErrorKind::TooComplex, "{error}");
    }
}

#[test]
fn brackets_in_strings_do_not_nest() {
    let brackets = "[(".repeat(JSONPATH_BRACKETS_MAX);
    for text in [
        format!("$['{brackets}']"),
        format!("$[\"'{brackets}\"]"),
        format!("$['\\'{brackets}\\\\', '{brackets}']"),
        format!("$[?@ == '{brackets}' || match(@, \"\\\"{brackets}\")]"),
    ] {
        check(&text, true);
    }
    check(
        &"$[0]".replace("[0]", &"[0]".repeat(JSONPATH_BRACKETS_MAX + 1)),
        true,
    );
}
