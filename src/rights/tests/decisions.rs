//! Who is allowed what, by rules without `where`.

use super::*;

/// Whether a rule for `actions = ["read"]` with these other members allows a read.
fn allows(members: &str, principal: &Principal, id: &str, path: &str) -> bool {
    let rules = rules(&format!(
        "[[allow]]\nactions = [\"read\"]\ncollection = \"c\"\n{members}"
    ));
    match rules.decide(principal, false, &[used(Action::Read, "c", id, path)]) {
        Decision::Allowed => true,
        Decision::Refused(place) => {
            assert_eq!(*place, used(Action::Read, "c", id, path));
            false
        }
        Decision::Depends(conditions) => panic!("{conditions:?}"),
    }
}

#[test]
fn a_rule_covers_its_place_and_all_below_it() {
    const ANYONE: &str = "who = \"anyone\"\n";
    for (members, id, path, expected) in [
        ("", "x", "", true),
        ("", "", "", true),
        ("id = \"x\"", "x", "", true),
        ("id = \"x\"", "y", "", false),
        ("id = \"x\"", "", "", false),
        ("id = \"42\"", "42", "", true),
        ("id = \"42\"", "\"42\"", "", false),
        ("id = '\"42\"'", "\"42\"", "", true),
        ("path = \"/a\"", "x", "/a", true),
        ("path = \"/a\"", "x", "/a/b/0", true),
        ("path = \"/a\"", "", "/a/b", true),
        ("path = \"/a\"", "x", "", false),
        ("path = \"/a\"", "x", "/ab", false),
        ("path = \"/a/b\"", "x", "/a", false),
        ("path = \"/a~1b\"", "x", "[\"a/b\"]", true),
        ("path = [\"a/b\"]", "x", "/a~1b", true),
        ("path = \"/a{{b\"", "x", "/a{b", true),
    ] {
        let found = allows(
            &format!("{ANYONE}{members}"),
            &Principal::Anonymous,
            id,
            path,
        );
        assert_eq!(found, expected, "{members} {id} {path}");
    }
}

#[test]
fn an_ambiguous_path_must_be_covered_in_all_its_meanings() {
    for (rule, path, expected) in [
        ("\"/a/0\"", "/a/0", true),
        ("\"/a/0\"", "[\"a\",0]", true),
        ("\"/a/0\"", "[\"a\",\"0\"]", true),
        ("\"/a/0\"", "[\"a\",\"00\"]", false),
        ("\"/a/0\"", "[\"a\",1]", false),
        ("\"/a/0\"", "[\"a\",-1]", false),
        ("[\"a\",0]", "/a/0", false),
        ("[\"a\",\"0\"]", "/a/0", false),
        ("[\"a\",0]", "[\"a\",0,\"b\"]", true),
        ("[\"a\",\"0\"]", "[\"a\",0]", false),
        ("\"/a\"", "[\"a\",-1]", true),
        ("\"/a/-\"", "/a/-", true),
        ("\"/a/-\"", "[\"a\",\"-\"]", true),
        ("[\"a\",\"-\"]", "/a/-", false),
        ("\"/a/-\"", "/a/0", false),
        ("\"/a/-\"", "[\"a\",-1]", false),
    ] {
        let members = format!("who = \"anyone\"\npath = {rule}");
        let found = allows(&members, &Principal::Anonymous, "x", path);
        assert_eq!(found, expected, "rule {rule}, path {path}");
    }
}

#[test]
fn a_rule_is_for_those_it_names() {
    let claims = json!({
        "sub": "alice", "scope": "openid profile", "roles": ["editor", 7], "level": 3.0,
        "admin": true, "empty": "", "null": null,
        "realm": {"roles": ["m/n"], "a/b": "x"}, "https://example.com/team": "red",
    });
    let alice = user(claims);
    for (who, principal, expected) in [
        ("\"anyone\"", Principal::Anonymous, true),
        ("\"anyone\"", token("t"), true),
        ("\"anyone\"", alice.clone(), true),
        ("\"user\"", alice.clone(), true),
        ("\"user\"", Principal::Anonymous, false),
        ("\"user\"", token("t"), false),
        ("{ token = \"t\" }", token("t"), true),
        ("{ token = \"t\" }", token("tt"), false),
        ("{ token = \"alice\" }", alice.clone(), false),
        ("{ claim = \"sub\", eq = \"alice\" }", alice.clone(), true),
        ("{ claim = \"sub\", eq = \"alice\" }", token("alice"), false),
        ("{ claim = \"sub\", eq = \"Alice\" }", alice.clone(), false),
        ("{ claim = \"level\", eq = 3 }", alice.clone(), true),
        ("{ claim = \"level\", eq = \"3\" }", alice.clone(), false),
        ("{ claim = \"admin\", eq = true }", alice.clone(), true),
        ("{ claim = \"admin\", eq = \"true\" }", alice.clone(), false),
        (
            "{ claim = \"roles\", eq = [\"editor\", 7] }",
            alice.clone(),
            true,
        ),
        (
            "{ claim = \"roles\", eq = \"editor\" }",
            alice.clone(),
            false,
        ),
        (
            "{ claim = \"roles\", contains = \"editor\" }",
            alice.clone(),
            true,
        ),
        ("{ claim = \"roles\", contains = 7 }", alice.clone(), true),
        (
            "{ claim = \"roles\", contains = \"7\" }",
            alice.clone(),
            false,
        ),
        (
            "{ claim = \"roles\", contains = \"edit\" }",
            alice.clone(),
            false,
        ),
        (
            "{ claim = \"scope\", contains = \"profile\" }",
            alice.clone(),
            true,
        ),
        (
            "{ claim = \"scope\", contains = \"prof\" }",
            alice.clone(),
            false,
        ),
        (
            "{ claim = \"scope\", contains = \"openid profile\" }",
            alice.clone(),
            false,
        ),
        ("{ claim = \"level\", contains = 3 }", alice.clone(), false),
        ("{ claim = \"missing\", eq = \"\" }", alice.clone(), false),
        ("{ claim = \"empty\", eq = \"\" }", alice.clone(), false),
        (
            "{ claim = \"/realm/roles\", contains = \"m/n\" }",
            alice.clone(),
            true,
        ),
        (
            "{ claim = \"/realm/roles/0\", eq = \"m/n\" }",
            alice.clone(),
            true,
        ),
        (
            "{ claim = \"/realm/roles/00\", eq = \"m/n\" }",
            alice.clone(),
            false,
        ),
        (
            "{ claim = \"/realm/a~1b\", eq = \"x\" }",
            alice.clone(),
            true,
        ),
        (
            "{ claim = \"https://example.com/team\", eq = \"red\" }",
            alice.clone(),
            true,
        ),
    ] {
        let found = allows(&format!("who = {who}"), &principal, "x", "");
        assert_eq!(found, expected, "{who} {principal:?}");
    }
}

#[test]
fn a_claim_fills_one_segment_and_keeps_its_type() {
    let claims = json!({
        "sub": "alice", "quoted": "\"alice\"", "path": "a/b", "number": 42, "text": "42",
        "negative": -1, "fraction": 1.5, "list": ["alice"], "flag": true, "stamp": "@000000000000000000000000",
        "upper": "@00000000000000000000000A", "dash": "-", "empty": "",
    });
    let alice = user(claims);
    for (members, id, path, expected) in [
        ("id = \"{sub}\"", "alice", "", true),
        ("id = \"{sub}\"", "alic", "", false),
        ("id = \"{sub}\"", "alicee", "", false),
        ("id = \"{sub}\"", "\"alice\"", "", true), // The same key, written with quotation marks.
        ("id = \"{quoted}\"", "alice", "", false),
        ("id = \"{quoted}\"", r#""\"alice\"""#, "", false),
        ("id = \"{number}\"", "42", "", true),
        ("id = \"{text}\"", "42", "", true),
        ("id = \"{text}\"", "\"42\"", "", false),
        ("id = \"{stamp}\"", "@000000000000000000000000", "", true),
        ("id = \"{upper}\"", "@00000000000000000000000A", "", true),
        ("id = \"{fraction}\"", "1.5", "", false),
        ("id = \"{flag}\"", "true", "", false),
        ("id = \"{list}\"", "alice", "", false),
        ("id = \"{missing}\"", "x", "", false),
        ("id = \"{sub}\"", "", "", false),
        ("id = \"user-{sub}\"", "user-alice", "", true),
        ("id = \"user-{sub}\"", "user-bob", "", false),
        ("id = \"{sub}-1\"", "alice-1", "", true),
        ("id = \"4{number}\"", "442", "", true),
        ("path = \"/r/{sub}\"", "x", "/r/alice", true),
        ("path = \"/r/{sub}\"", "x", "/r/alice/stars", true),
        ("path = \"/r/{sub}\"", "x", "/r/bob", false),
        ("path = \"/r/{sub}\"", "x", "/r", false),
        ("path = \"/r/{path}\"", "x", "/r/a/b", false),
        ("path = \"/r/{path}\"", "x", "/r/a~1b", true),
        ("path = \"/r/{text}\"", "x", "[\"r\",\"42\"]", true),
        ("path = \"/r/{text}\"", "x", "[\"r\",42]", false),
        ("path = \"/r/{text}\"", "x", "/r/42", false),
        ("path = \"/r/{number}\"", "x", "[\"r\",42]", true),
        ("path = \"/r/{number}\"", "x", "[\"r\",\"42\"]", false),
        ("path = \"/r/{negative}\"", "x", "[\"r\",-1]", false),
        ("path = \"/r/{dash}\"", "x", "/r/-", false),
        ("path = \"/r/{empty}\"", "x", "/r/", false),
        ("path = \"/r/{list}\"", "x", "/r/alice", false),
        ("path = \"/r/u-{sub}\"", "x", "/r/u-alice", true),
        ("path = [\"r\", \"{sub}\"]", "x", "/r/alice", true),
    ] {
        let found = allows(&format!("who = \"anyone\"\n{members}"), &alice, id, path);
        assert_eq!(found, expected, "{members} {id} {path}");
        if members.contains('{') {
            let members = format!("who = \"anyone\"\n{members}");
            assert!(
                !allows(&members, &Principal::Anonymous, id, path),
                "{members}"
            );
        }
    }
}

#[test]
fn actions_collections_and_lists_of_operations_are_separate() {
    let rules = rules(
        "[[allow]]\nwho = \"anyone\"\nactions = [\"read\", \"list\"]\ncollection = \"a\"\npath = \"/p\"\n\
         [[allow]]\nwho = \"user\"\nactions = [\"write\"]\ncollection = \"notes-{org}\"\n\
         [[allow]]\nwho = { token = \"t\" }\nactions = [\"delete\"]\ncollection = \"*\"\noperations = \"listed\"\n",
    );
    let user = user(json!({"org": "x"}));
    let decide = |principal: &Principal, is_listed, action, collection| {
        let path = if action == Action::Read { "/p/q" } else { "" };
        let decision = rules.decide(principal, is_listed, &[used(action, collection, "", path)]);
        decision == Decision::Allowed
    };
    let anonymous = Principal::Anonymous;
    assert!(decide(&anonymous, false, Action::Read, "a"));
    // The path of a rule does not limit which documents can be found.
    assert!(decide(&anonymous, false, Action::List, "a"));
    assert!(!decide(&anonymous, false, Action::Write, "a"));
    assert!(!decide(&anonymous, false, Action::Read, "b"));
    assert!(decide(&user, false, Action::Write, "notes-x"));
    assert!(!decide(&user, false, Action::Write, "notes-y"));
    assert!(!decide(&user, false, Action::Write, "notes-{org}"));
    assert!(!decide(&anonymous, false, Action::Write, "notes-x"));
    assert!(decide(&token("t"), true, Action::Delete, "any"));
    assert!(!decide(&token("t"), false, Action::Delete, "any"));
    assert!(decide(&Principal::Operator, false, Action::Index, "any"));
}

#[test]
fn all_places_must_be_covered_and_the_first_that_is_not_is_named() {
    let rules = rules(
        "[[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"c\"\npath = \"/a\"\n",
    );
    let a = used(Action::Read, "c", "x", "/a");
    let b = used(Action::Read, "c", "x", "/b/c");
    let places = [a.clone(), b.clone(), used(Action::Write, "c", "x", "")];
    let decision = rules.decide(&Principal::Anonymous, false, &places);
    assert_eq!(decision, Decision::Refused(Box::new(b.clone())));
    assert_eq!(
        b.to_string(),
        "read \"/b/c\" of document x of collection \"c\""
    );
    assert_eq!(
        rules.decide(&Principal::Anonymous, false, &[a]),
        Decision::Allowed
    );
    assert_eq!(
        rules.decide(&Principal::Anonymous, false, &[]),
        Decision::Allowed
    );
}
