//! JSONPath queries as users write them.

use std::sync::LazyLock;

use phyllo::budget::{Budget, Steps};
use phyllo::document::jsonpath::{Query, SimpleStep};
use phyllo::document::path::Segment;
use phyllo::document::tree::Tree;
use phyllo::error::ErrorKind;

pub(super) const SEEDS: &[&[u8]] = &[
    b"$",
    b"$.a['b c'][0][*].*",
    b"$..[?@.a == 1 && @['b'] != 'x' || !(@.c < 1.5e3)]",
    b"$.books[-1:0:-2]['title', \"tags\", 0, *, ?@]",
    b"$[?length(@.a) > 1][?count(@..*) <= 9007199254740993]",
    b"$[?match(@.a, '[a-z]+\\\\p{Lu}{1,3}|(x.)?') || search(@, $.p)]",
    b"$ [ ? value ( @ .. a ) == null ] .. b",
    b"$[?length(value($.a[1])) == -0 || true == @.\xc3\xa9\\u00e9]",
    b"$['\\uD83D\\uDE00\\'\\n']",
    b"$[9007199254740991:-9007199254740991:9007199254740992]",
];

static DOCUMENTS: LazyLock<Vec<Tree>> = LazyLock::new(|| {
    let texts = [
        "null",
        "\"aB\"",
        "[]",
        r#"{"a":[1,1.0,9007199254740993,{"b c":{"a":"xy"}}],"b":{"a":[[],{},[null,true]]},"p":"[a-z]+"}"#,
        r#"[{"a":"aB","b":"x"},{"a":1,"c":1e300},[0,[1,[2,[3]]]],"ab",-0.0,123456789012345678901234567890]"#,
        r#"{"books":[{"title":"A","tags":["a"]},{"title":"B"}],"é":1,"😀'\n":{"":{"":0}}}"#,
    ];
    let tree = |text: &str| Tree::from_json(text).expect("JSON");
    texts.into_iter().map(tree).collect()
});

pub(super) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let query = match Query::parse(text) {
        Ok(query) => query,
        Err(error) => {
            assert_ne!(error.kind(), ErrorKind::Internal, "{error}");
            return;
        }
    };
    let again = Query::parse(query.text()).expect("a query's text parses again");
    assert_eq!(again, query);
    for document in &*DOCUMENTS {
        check_on(document, &query);
    }
}

fn check_on(document: &Tree, query: &Query) {
    let Some(below) = document.at(query.prefix()) else {
        return;
    };
    let budget = Budget::of_background();
    let selected = match query.select(below, &Steps::of(&budget)) {
        Ok(selected) => selected,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::TooComplex, "{error}");
            return;
        }
    };
    for (place, value) in &selected {
        let found = below.at(place).expect("something is stored there");
        assert!(std::ptr::eq(found, *value));
    }
    if let Some(steps) = query.simple() {
        assert!(selected.iter().all(|(below, _)| {
            let place = [query.prefix(), below].concat();
            place.len() == steps.len() && steps.iter().zip(&place).all(goes)
        }));
    }
}

fn goes((step, segment): (&SimpleStep, &Segment)) -> bool {
    match (step, segment) {
        (SimpleStep::Name(name), Segment::Key(key)) => name == key,
        (SimpleStep::Index(index), Segment::Index(at)) => index == at,
        (step, _) => *step == SimpleStep::Each,
    }
}
