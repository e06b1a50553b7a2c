//! Queries as a whole: what they are refused for, what they select, and what they cost.

use super::*;
use crate::budget::{Budget, Pool};
use crate::document::path::Place;
use crate::error::ErrorKind;
use crate::error::Resource::Memory;
use crate::limits::{
    Bounds, JSONPATH_BRACKETS_MAX, JSONPATH_BYTES_MAX, JSONPATH_FUNCTIONS_MAX, JSONPATH_NODES_MAX,
    REGEXP_BYTES_MAX, REGEXP_COMPILED_BYTES_MAX, REGEXP_LEVELS_MAX, REGEXPS_MAX,
};

/// How many nodes a query selects.
fn count(query: &Query, document: &Tree) -> Result<usize> {
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let selected = query.select(document, &Steps::of(&budget))?;
    Ok(selected.len())
}

fn query(text: &str) -> Query {
    Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn tree(text: &str) -> Tree {
    Tree::from_json(text).expect(text)
}

/// The places that a query selects in a document, as JSON Pointers.
fn selected(text: &str, document: &str) -> Vec<String> {
    let (query, document) = (query(text), tree(document));
    let Some(below) = document.at(query.prefix()) else {
        return vec![];
    };
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let nodes = query.select(below, &Steps::of(&budget)).expect(text);
    let prefix = Place(query.prefix().to_vec());
    let places = nodes.iter().map(|(place, value)| {
        assert_eq!(below.at(place), Some(*value), "{text}");
        prefix.join(place).to_string()
    });
    places.collect()
}

fn refused(text: &str) -> (ErrorKind, String) {
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let compiled = |query: Query| query.compile(&Steps::of(&budget));
    let error = Query::parse(text).and_then(compiled).expect_err(text);
    (error.kind(), error.message().to_owned())
}

#[test]
fn the_places_read_are_those_of_the_query_and_of_its_nested_queries() {
    for (text, places) in [
        ("$", &[""][..]),
        ("$.a['b'][0].c", &["/a/b/0/c"]),
        ("$.a[*].b", &["/a"]),
        ("$.a[-1].b", &["/a"]),
        ("$..a", &[""]),
        ("$.a[?@.b == $.c.d]", &["/a", "/c/d"]),
        ("$.a[?@[?$.b[*].c]]", &["/a", "/b"]),
        ("$.a[?count($..b) > 1]", &["/a", ""]),
        ("$.a[?match(@.b, $.c)]", &["/a", "/c"]),
    ] {
        let found: Vec<String> = query(text)
            .places_read()
            .into_iter()
            .map(|place| Place(place).to_string())
            .collect();
        assert_eq!(found, places, "{text}");
    }
}

#[test]
fn the_prefix_is_common_to_all_nested_queries() {
    for (text, prefix) in [
        ("$", ""),
        ("$.a['b'][0].c", "/a/b/0/c"),
        ("$.a[*].b", "/a"),
        ("$.a[-1]", "/a"),
        ("$.a['b','c']", "/a"),
        ("$.a..b", "/a"),
        ("$.a.b[?@.c == $.a.d]", "/a"),
        ("$.a.b[?@.c == $.a.b]", "/a/b"),
        ("$.a.b[?@[?$.a.b.c]]", "/a/b"),
        ("$.a.b[?count($..x) > 1]", ""),
        ("$.a.b[?match(@, $.a.p)]", "/a"),
        ("$.a.b[?length(value($.b)) == 1]", ""),
        ("$.a.b[?!($.a.b || @.x && $.a[*])]", "/a"),
    ] {
        let query = query(text);
        assert_eq!(Place(query.prefix().to_vec()).to_string(), prefix, "{text}");
    }
}

#[test]
fn queries_of_names_indexes_and_wildcards_are_simple() {
    use SimpleStep::{Each, Index, Name};
    let name = |name: &str| Name(name.to_owned());
    for (text, steps) in [
        ("$", Some(vec![])),
        (
            "$.a['b c'][0][*].*",
            Some(vec![name("a"), name("b c"), Index(0), Each, Each]),
        ),
        ("$[-1]", None),
        ("$[0,1]", None),
        ("$[0:1]", None),
        ("$..a", None),
        ("$[?@.a]", None),
    ] {
        assert_eq!(query(text).simple().map(<[_]>::to_vec), steps, "{text}");
    }
}

#[test]
fn queries_are_equal_by_their_steps_and_keep_their_text() {
    let (dotted, bracketed) = (query("$.a[?@.b == 1]"), query("$ ['a'] [? @['b']==1 ]"));
    assert_eq!(dotted, bracketed);
    assert_eq!(bracketed.text(), "$ ['a'] [? @['b']==1 ]");
    for other in [
        "$.b[?@.b==1]",
        "$.a[?@.b==2]",
        "$.a[?@.b!=1]",
        "$.a",
        "$..a[?@.b==1]",
    ] {
        assert_ne!(dotted, query(other), "{other}");
    }
    assert_eq!(query("$[?match(@,'a')]"), query("$[?match(@,\"a\")]"));
    assert_ne!(query("$[?match(@,'a')]"), query("$[?search(@,'a')]"));
}

#[test]
fn names_and_numbers_are_exact() {
    let document = r#"{
        "n": [9007199254740992, 9007199254740993, 9007199254740993.0, 1, 1.0, "1"],
        " a ": 1, "a b": 2, "\u3000": 3, "n0": 4, "0": 5, "é\u00a0": 6
    }"#;
    for (text, places) in [
        ("$.n[?@ == 9007199254740993]", vec!["/n/1"]),
        ("$.n[?@ > 9007199254740992]", vec!["/n/1"]),
        ("$.n[?@ == 9007199254740992.0]", vec!["/n/0", "/n/2"]),
        (
            "$.n[?@ < 123456789012345678901234567890]",
            vec!["/n/0", "/n/1", "/n/2", "/n/3", "/n/4"],
        ),
        ("$.n[?@ == 1]", vec!["/n/3", "/n/4"]),
        ("$.n[?@ == 10E-1]", vec!["/n/3", "/n/4"]),
        ("$.n[?@ == -0]", vec![]),
        ("$[' a ']", vec!["/ a "]),
        ("$['a b']", vec!["/a b"]),
        ("$.\u{3000}", vec!["/\u{3000}"]),
        ("$.n0", vec!["/n0"]),
        ("$['0']", vec!["/0"]),
        ("$.é\u{a0}", vec!["/é\u{a0}"]),
        ("$[0]", vec![]),
        ("$.n['0']", vec![]),
        ("$.n[-6,5,6,-7]", vec!["/n/0", "/n/5"]),
    ] {
        assert_eq!(selected(text, document), places, "{text}");
    }
}

#[test]
fn descendants_follow_their_ancestors() {
    let document = r#"{"b":[{"a":1},[2,{"a":3}]],"a":{"a":{}}}"#;
    assert_eq!(
        selected("$..a", document),
        ["/a", "/a/a", "/b/0/a", "/b/1/1/a"]
    );
    assert_eq!(selected("$..[0]", document), ["/b/0", "/b/1/0"]);
    assert_eq!(selected("$.b..a", document), ["/b/0/a", "/b/1/1/a"]);
    assert_eq!(selected("$..[?@.a]", document), ["/a", "/b/0", "/b/1/1"]);
    assert_eq!(
        selected("$.b[?@.a == 0 || @..a]", r#"{"b":[1,{"x":{"a":1}}]}"#),
        ["/b/1"]
    );
}

#[test]
fn invalid_queries_are_rejected_with_the_position_and_reason() {
    for (text, column, expected) in [
        ("", 1, "expected `$`"),
        ("a", 1, "expected `$`, not 'a'"),
        (" $", 1, "neither begins nor ends with space"),
        ("$.a ", 4, "neither begins nor ends with space"),
        ("$. a", 3, "expected a name or `*` directly behind `.`"),
        ("$.a.", 5, "expected a name or `*` directly behind `.`"),
        ("$..", 4, "expected a name, `*` or `[`"),
        ("$.a b", 5, "or the end of the query, not 'b'"),
        ("$.a 1", 5, "or the end of the query, not '1'"),
        ("$[?@.a == 1 1]", 13, "an operator is missing"),
        ("$[?@.a @.b]", 8, "an operator is missing"),
        ("$ a", 3, "or the end of the query, not 'a'"),
        ("$.1a", 3, "expected a name"),
        ("$[1,", 5, "a selector"),
        ("$['a", 3, "a string has no end"),
        ("$['\\x']", 4, "an unknown escape"),
        ("$[01]", 3, "a needless zero"),
        ("$[1.0]", 3, "an index is an integer"),
        ("$[-0]", 3, "an index is an integer"),
        ("$[9007199254740992]", 3, "an index is an integer"),
        ("$[1:9007199254740992]", 5, "an index is an integer"),
        ("$[?@.a = 1]", 8, "expected `==`"),
        ("$[?@.a & 1]", 8, "expected `&&`"),
        (
            "$[?@.a == b]",
            11,
            "`b` is not valid here: strings need quotes",
        ),
        ("$[?@.* == 1]", 8, "expected"),
        ("$[?1]", 4, "a literal is not a test: compare it"),
        ("$[?@.a == 1 && ]", 16, "a test"),
        ("$[?foo(@)]", 4, "there is no function `foo`"),
        ("$[?in(@.a,@.b)]", 4, "there is no function `in`"),
        (
            "$[?length (@)==1]",
            4,
            "expected `(` directly behind `length`",
        ),
        ("$[?length(@.a)]", 4, "has to be compared"),
        (
            "$[?length(@.*)==1]",
            4,
            "an argument of `length` is not a value",
        ),
        (
            "$[?length(match(@,'a'))==1]",
            4,
            "an argument of `length` is not a value",
        ),
        (
            "$[?count(1)==1]",
            4,
            "an argument of `count` is not a query",
        ),
        (
            "$[?count(length(@))==1]",
            4,
            "an argument of `count` is not a query",
        ),
        ("$[?match(@,'a')==true]", 4, "cannot be compared"),
        ("$[?true == match(@,'a')]", 12, "cannot be compared"),
        ("$[?match(@.a)]", 13, "expected"),
        ("$[?@.a == 1e999]", 11, "past the range"),
        ("$[?(@.a]", 8, "expected"),
        ("$[?!!@.a]", 5, "expected"),
        ("$\u{b}.a", 2, "or the end of the query, not '\\u{b}'"),
    ] {
        let (kind, message) = refused(text);
        assert_eq!(kind, ErrorKind::BadUserInput, "{text}: {message}");
        assert!(message.contains(expected), "{text}: {message}");
        let place = format!("line 1, column {column} of");
        assert!(message.contains(&place), "{text}: {message}");
    }
    let (_, message) = refused("$.a\n  .b\n  .[0]");
    assert!(message.contains("line 3, column 4 of"), "{message}");
    let (_, message) = refused(&format!("$.{}!", "a".repeat(5000)));
    assert!(message.len() < 300, "it is not repeated whole: {message}");
}

#[test]
fn exceeded_limits_are_named() {
    let long = format!("${}", ".a".repeat(JSONPATH_BYTES_MAX));
    let nested = |brackets: usize| format!("$[?{}@{}]", "(".repeat(brackets), ")".repeat(brackets));
    let functions =
        |count: usize| format!("$[?{}@{}==1]", "length(".repeat(count), ")".repeat(count));
    query(&nested(JSONPATH_BRACKETS_MAX - 1));
    query(&functions(JSONPATH_FUNCTIONS_MAX));
    for (text, kind, expected) in [
        (long, ErrorKind::TooLarge, JSONPATH_BYTES_MAX),
        ("$".repeat(1 << 20), ErrorKind::TooLarge, JSONPATH_BYTES_MAX),
        (
            nested(JSONPATH_BRACKETS_MAX),
            ErrorKind::TooComplex,
            JSONPATH_BRACKETS_MAX,
        ),
        (
            "$[".repeat(8_000),
            ErrorKind::TooComplex,
            JSONPATH_BRACKETS_MAX,
        ),
        (
            "$[?!".repeat(4_000),
            ErrorKind::TooComplex,
            JSONPATH_BRACKETS_MAX,
        ),
        (
            "(".repeat(16_000),
            ErrorKind::TooComplex,
            JSONPATH_BRACKETS_MAX,
        ),
        (
            functions(JSONPATH_FUNCTIONS_MAX + 1),
            ErrorKind::TooComplex,
            JSONPATH_FUNCTIONS_MAX,
        ),
        (
            format!("$[?match(@,'{}')]", "a".repeat(REGEXP_BYTES_MAX + 1)),
            ErrorKind::TooComplex,
            REGEXP_BYTES_MAX,
        ),
        (
            format!("$[?{}]", vec!["match(@,'a')"; REGEXPS_MAX + 1].join("&&")),
            ErrorKind::TooComplex,
            REGEXPS_MAX,
        ),
        (
            "$[?match(@,'(a{1,99}){1,99}')]".to_owned(),
            ErrorKind::TooComplex,
            REGEXP_COMPILED_BYTES_MAX,
        ),
        (
            format!("$[?match(@,'{}')]", "(".repeat(REGEXP_LEVELS_MAX + 1)),
            ErrorKind::TooComplex,
            REGEXP_LEVELS_MAX,
        ),
    ] {
        let (found, message) = refused(&text);
        assert_eq!(found, kind, "{message}");
        assert!(message.contains(&expected.to_string()), "{message}");
        assert!(message.len() < 300, "{message}");
    }
    // No bracket, so nothing to nest.
    let (kind, _) = refused(&format!("$[?{}@]", "!".repeat(16_000)));
    assert_eq!(kind, ErrorKind::BadUserInput);
}

#[test]
fn the_deepest_query_needs_little_stack() {
    let brackets = JSONPATH_BRACKETS_MAX / 2 - 1;
    let text = format!(
        "$[?{}@.a{}]",
        "(@..[?".repeat(brackets),
        "])".repeat(brackets)
    );
    let levels = crate::limits::DOCUMENT_LEVELS_MAX;
    let document = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let run = move || {
        let (query, document) = (query(&text), tree(&document));
        count(&query, &document)
    };
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let done = small.spawn(run).expect("a thread");
    done.join().expect("its stack was enough").ok();
}

#[test]
fn work_is_bounded_for_every_query() {
    let leaves = vec!["[1,[2,[3,[4]]]]"; 20_000].join(",");
    let wide = tree(&format!("[{leaves}]"));
    let text = format!("\"{}\"", "a".repeat(100_000));
    let texts = tree(&format!("[{}]", vec![text.as_str(); 101].join(",")));
    let levels = crate::limits::DOCUMENT_LEVELS_MAX;
    let deep = tree(&format!("{}1{}", "[0,".repeat(levels), "]".repeat(levels)));
    for (text, document) in [
        ("$..*..*..*..*..*", &deep),
        ("$..[?count($..*) > 1]", &wide),
        ("$[?count($[?@ == 1 || $..x]) == 1]", &wide),
        ("$[?$[?$..x]]", &wide),
        ("$[?search(@, '(a|b)*a(a|b){99}c')]", &texts),
    ] {
        let error = count(&query(text), document)
            .err()
            .unwrap_or_else(|| panic!("{text} was answered"));
        assert_eq!(error.kind().code(), "TOO_COMPLEX", "{text}: {error}");
        assert!(error.message().contains("the limit"), "{text}: {error}");
    }
    let many = format!("$[{}]", vec!["*"; 60].join(","));
    let error = count(&query(&many), &wide).expect_err("too many");
    let expected = JSONPATH_NODES_MAX.to_string();
    assert!(error.message().contains(&expected), "{error}");
    // What is asked for once is answered.
    let nodes = |text: &str| count(&query(text), &wide).ok();
    assert_eq!(nodes("$..[0]"), Some(80_001));
    assert_eq!(nodes("$[?@..x]"), Some(0));
}

#[test]
fn regular_expressions_are_those_of_rfc_9485() {
    let document = r#"["ab", "b", "abc", "a\nb", "Ä", 1, null, ["ab"]]"#;
    for (text, places) in [
        ("$[?match(@, 'ab?')]", vec!["/0"]),
        ("$[?search(@, 'b')]", vec!["/0", "/1", "/2", "/3"]),
        ("$[?match(@, 'a.b')]", vec![]),
        ("$[?match(@, 'a[^x]b')]", vec!["/3"]),
        ("$[?match(@, '\\\\p{Lu}')]", vec!["/4"]),
        ("$[?search(@, '^b')]", vec!["/1"]),
        ("$[?match(@, 'a|b')]", vec!["/1"]),
        // No I-Regexp, so nothing matches; its negation holds.
        ("$[?search(@, '\\\\d')]", vec![]),
        ("$[?search(@, '(')]", vec![]),
        ("$[?search(@, 'a{2,1}')]", vec![]),
        ("$[?!search(@, '(') && @ == 1]", vec!["/5"]),
        ("$[?search(@, 1)]", vec![]),
        ("$[?match(@, $[0])]", vec!["/0"]),
        ("$[?match(@, $[5])]", vec![]),
    ] {
        assert_eq!(selected(text, document), places, "{text}");
    }
}

#[test]
fn an_expression_that_defeats_the_lazy_automaton_is_still_answered() {
    // Random enough that every state is a new one.
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 0 { 'a' } else { 'b' }
    };
    let text: String = (0..100_000).map(|_| next()).collect();
    let document = format!("[\"{text}c\", \"{text}\"]");
    let found = selected("$[?search(@, 'a(a|b){60}[cd]')]", &document);
    let expected = text.as_bytes()[100_000 - 61] == b'a';
    assert_eq!(found.first().map(String::as_str), expected.then_some("/0"));
    assert_eq!(found.len(), usize::from(expected));
}

#[test]
fn node_lists_take_memory_before_they_grow() {
    let leaves = vec!["[1,[2,[3,[4]]]]"; 2_000].join(",");
    let document = tree(&format!("{{\"a\":[{leaves}]}}"));
    let levels = crate::limits::DOCUMENT_LEVELS_MAX - 20;
    let deep = tree(&format!("{}1{}", "[0,".repeat(levels), "]".repeat(levels)));
    for (text, document) in [
        ("$..*", &document),
        ("$.a[*]", &document),
        ("$..[?count(@..*) > 1]", &document),
        ("$[?count($..*) == 1]", &document),
        ("$[?value($..*) == 1]", &document),
        ("$..*..*", &deep),
    ] {
        let below = document.at(query(text).prefix()).expect(text);
        let run = |bytes_max: usize| {
            let pool = Pool::new(bytes_max);
            let budget = Budget::of_test_in(&pool, &Bounds::DEFAULT);
            let selected = query(text).select(below, &Steps::of(&budget));
            let held = selected.map(|_nodes| pool.held());
            assert_eq!(pool.held(), 0, "{text}: all is returned");
            held.map_err(|error| error.kind())
        };
        let nodes = query(text);
        let budget = Budget::of_test(&Bounds::DEFAULT);
        let nodes = nodes.select(below, &Steps::of(&budget)).expect(text);
        let (count, bytes) = (nodes.len(), nodes.held_bytes());
        let places = nodes.iter().map(|(place, _)| place.len()).sum::<usize>();
        assert!(bytes >= count * size_of::<Selected<'_>>() + places * size_of::<Segment>());
        let held = run(64 << 20).expect(text);
        assert!(held <= bytes && bytes - held < 8 << 10, "{text}: {held}");
        assert_eq!(run(16 << 10), Err(ErrorKind::Exhausted(Memory)), "{text}");
    }
}

#[test]
fn values_are_visited_until_the_visitor_breaks() {
    let document = tree("{\"a\":[1,2,3]}");
    let below = document.at(query("$.a[*]").prefix()).expect("it exists");
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let mut visited = Vec::new();
    let visit = |value: &Tree| {
        visited.push(value.clone());
        Ok(if visited.len() == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    };
    let done = query("$.a[*]").visit(below, &Steps::of(&budget), visit);
    done.expect("it is small");
    assert_eq!(visited, [tree("1"), tree("2")]);
}
