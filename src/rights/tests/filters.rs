//! Rules with `where`: the conditions on documents.

use super::*;
use crate::document::filter::Filter;

const PUBLISHED: &str = r#"{"at":"$.status","eq":"published"}"#;

fn json(filter: &Filter) -> String {
    filter.to_json()
}

/// The filter of all places.
fn condition(rules: &Rules, principal: &Principal, used: &[PlaceUsed<'_>]) -> String {
    match rules.decide(principal, false, used) {
        Decision::Depends(conditions) => json(&conditions.filter(|_| true)),
        decision => format!("{decision:?}"),
    }
}

/// The filter that a `where` becomes for a principal. None if the rule covers nothing.
fn filled(given: &str, principal: &Principal) -> Option<String> {
    let rules = rules(&format!(
        "[[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"c\"\nwhere = {given}"
    ));
    match rules.decide(principal, false, &[used(Action::Read, "c", "x", "")]) {
        Decision::Depends(conditions) => Some(json(&conditions.filter(|_| true))),
        Decision::Refused(_) => None,
        Decision::Allowed => panic!("{given} is no condition"),
    }
}

#[test]
fn every_operator_of_filters_can_stand_in_where() {
    for (given, expected) in [
        ("{ at = \"$.a\", eq = 1 }", r#"{"at":"$.a","eq":1}"#),
        ("{ at = \"$.a\", ne = true }", r#"{"at":"$.a","ne":true}"#),
        (
            "{ at = \"$.a\", lt = 1.5, gte = -2 }",
            r#"{"at":"$.a","lt":1.5,"gte":-2}"#,
        ),
        (
            "{ at = \"$.a\", lte = \"b\", gt = \"a\" }",
            r#"{"at":"$.a","lte":"b","gt":"a"}"#,
        ),
        (
            "{ at = \"$.a[*]\", in = [2, \"x\", 1] }",
            r#"{"at":"$.a[*]","in":[1,2,"x"]}"#,
        ),
        (
            "{ at = \"$.a\", startsWith = \"b\", contains = \"c\" }",
            r#"{"at":"$.a","startsWith":"b","contains":"c"}"#,
        ),
        (
            "{ at = \"$.a\", eq = { b = [1], a = 0x10 } }",
            r#"{"at":"$.a","eq":{"a":16,"b":[1]}}"#,
        ),
        (
            "{ at = \"$.a\", exists = true }",
            r#"{"at":"$.a","exists":true}"#,
        ),
        (
            "{ at = \"$.a\", exists = false }",
            r#"{"not":{"at":"$.a","exists":true}}"#,
        ),
        (
            "{ any = [{ at = \"$.a\", eq = 1 }, { at = \"$.b\", eq = 2 }] }",
            r#"{"any":[{"at":"$.a","eq":1},{"at":"$.b","eq":2}]}"#,
        ),
        (
            "{ at = \"$.a\", eq = \"{{x}}\" }",
            r#"{"at":"$.a","eq":"{x}"}"#,
        ),
    ] {
        assert_eq!(
            filled(given, &Principal::Anonymous).as_deref(),
            Some(expected),
            "{given}"
        );
    }
}

#[test]
fn claims_in_values_keep_their_type() {
    let alice = user(json!({
        "sub": "alice", "level": 3, "teams": ["red", "blue"], "none": [], "null": null,
        "empty": "", "realm": {"team": "red"}, "brace": "{sub}",
    }));
    for (given, expected) in [
        (
            "{ at = \"$.o\", eq = \"{sub}\" }",
            Some(r#"{"at":"$.o","eq":"alice"}"#),
        ),
        (
            "{ at = \"$.o\", eq = \"user:{sub}\" }",
            Some(r#"{"at":"$.o","eq":"user:alice"}"#),
        ),
        (
            "{ at = \"$.o\", lte = \"{level}\" }",
            Some(r#"{"at":"$.o","lte":3}"#),
        ),
        (
            "{ at = \"$.o\", eq = \"{/realm/team}\" }",
            Some(r#"{"at":"$.o","eq":"red"}"#),
        ),
        (
            "{ at = \"$.o\", eq = { by = \"{sub}\" } }",
            Some(r#"{"at":"$.o","eq":{"by":"alice"}}"#),
        ),
        (
            "{ at = \"$.o\", in = \"{teams}\" }",
            Some(r#"{"at":"$.o","in":["blue","red"]}"#),
        ),
        (
            "{ at = \"$.o\", in = [\"{teams}\", \"all\"] }",
            Some(r#"{"at":"$.o","in":["all","blue","red"]}"#),
        ),
        (
            "{ at = \"$.o\", in = \"{none}\" }",
            Some(r#"{"at":"$.o","in":[]}"#),
        ),
        (
            "{ at = \"$.o\", in = \"{sub}\" }",
            Some(r#"{"at":"$.o","in":["alice"]}"#),
        ),
        (
            "{ at = \"$.o\", eq = \"{teams}\" }",
            Some(r#"{"at":"$.o","eq":["red","blue"]}"#),
        ),
        // A claim is a value. It is not read as a template.
        (
            "{ at = \"$.o\", eq = \"{brace}\" }",
            Some(r#"{"at":"$.o","eq":"{sub}"}"#),
        ),
        (
            "{ at = \"$.o\", startsWith = \"{sub}\" }",
            Some(r#"{"at":"$.o","startsWith":"alice"}"#),
        ),
        ("{ at = \"$.o\", startsWith = \"{level}\" }", None),
        ("{ at = \"$.o\", eq = \"{missing}\" }", None),
        ("{ at = \"$.o\", eq = \"{null}\" }", None),
        ("{ at = \"$.o\", eq = \"{empty}\" }", None),
        ("{ at = \"$.o\", eq = \"x{teams}\" }", None),
        // Also a negated test of a missing claim allows nothing.
        ("{ at = \"$.o\", ne = \"{missing}\" }", None),
        ("{ not = { at = \"$.o\", eq = \"{missing}\" } }", None),
    ] {
        assert_eq!(filled(given, &alice).as_deref(), expected, "{given}");
        if given.contains('{') && given.contains("\"{") {
            assert_eq!(filled(given, &Principal::Anonymous), None, "{given}");
        }
    }
}

#[test]
fn each_place_needs_one_of_its_own_conditions() {
    let rules = rules(
        "[[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"c\"\npath = \"/a\"\n\
         where = { at = \"$.w\", eq = 1 }\n\
         [[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"c\"\npath = \"/b\"\n\
         where = { at = \"$.w\", eq = 2 }\n\
         [[allow]]\nwho = \"user\"\nactions = [\"read\"]\ncollection = \"c\"\npath = \"/b\"\n\
         where = { at = \"$.w\", eq = 3 }\n\
         [[allow]]\nwho = { token = \"t\" }\nactions = [\"read\"]\ncollection = \"c\"\npath = \"/b\"\n",
    );
    let a = used(Action::Read, "c", "x", "/a/0");
    let b = used(Action::Read, "c", "x", "/b");
    let (anonymous, alice) = (Principal::Anonymous, user(json!({"sub": "alice"})));
    let of = |principal: &Principal, places: &[&PlaceUsed<'static>]| {
        let places: Vec<_> = places.iter().map(|place| (*place).clone()).collect();
        condition(&rules, principal, &places)
    };
    let (w1, w2) = (r#"{"at":"$.w","eq":1}"#, r#"{"at":"$.w","eq":2}"#);
    assert_eq!(of(&anonymous, &[&a]), w1);
    assert_eq!(of(&anonymous, &[&a, &a]), w1);
    assert_eq!(
        of(&anonymous, &[&a, &b, &a]),
        format!("{{\"all\":[{w1},{w2}]}}")
    );
    let either = format!("{{\"any\":[{w2},{{\"at\":\"$.w\",\"eq\":3}}]}}");
    assert_eq!(of(&alice, &[&b]), either);
    assert_eq!(
        of(&alice, &[&b, &a]),
        format!("{{\"all\":[{either},{w1}]}}")
    );
    // A rule without a condition removes the condition of its place only.
    assert_eq!(of(&token("t"), &[&b, &a]), w1);
    assert_eq!(of(&token("t"), &[&b]), "Allowed");
}

#[test]
fn conditions_are_told_apart_by_place() {
    let rules = rules(&format!(
        "[[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"c\"\n\
         where = {{ at = \"$.status\", eq = \"published\" }}\n\
         [[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"{}\"\n",
        "open"
    ));
    let places = [
        used(Action::Read, "open", "x", ""),
        used(Action::Read, "c", "x", ""),
        used(Action::Read, "c", "y", "/a"),
    ];
    let Decision::Depends(conditions) = rules.decide(&Principal::Anonymous, false, &places) else {
        panic!("two places have conditions");
    };
    assert_eq!(conditions.places().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(json(&conditions.filter(|number| number == 1)), PUBLISHED);
    assert!(conditions.filter(|number| number == 0).is_empty());
}
