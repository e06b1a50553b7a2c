//! The rule files of docs/rules do what docs/access.md says.

use super::*;

/// What rules decide about one place: `yes`, `no`, or the filter that a document must pass.
fn decided(rules: &Rules, principal: &Principal, place: PlaceUsed<'_>) -> String {
    match rules.decide(principal, false, &[place]) {
        Decision::Allowed => "yes".to_owned(),
        Decision::Refused(_) => "no".to_owned(),
        Decision::Depends(conditions) => conditions.filter(|_| true).to_json(),
    }
}

/// The decisions about uses, written as `action collection id path`. `*` is every document.
fn check(text: &str, cases: &[(&Principal, &str, &str)]) {
    let rules = rules(text);
    for (principal, given, expected) in cases {
        let words: Vec<_> = given.split(' ').collect();
        let [action, collection, id, path] = words[..] else {
            panic!("{given}")
        };
        let action = Action::named(action).expect(given);
        let id = if id == "*" { "" } else { id };
        let path = if path == "-" { "" } else { path };
        let place = used(action, collection, id, path);
        let found = decided(&rules, principal, place);
        assert_eq!(found, *expected, "{given} by {principal:?}");
    }
}

#[test]
fn users_have_their_own_profiles() {
    let (nobody, alice) = (Principal::Anonymous, user(json!({"sub": "alice"})));
    check(
        include_str!("../../../docs/rules/profiles.toml"),
        &[
            (&nobody, "list users * -", "yes"),
            (&nobody, "read users alice /public/name", "yes"),
            (&nobody, "read users alice -", "no"),
            (&nobody, "read users alice /settings", "no"),
            (&alice, "read users alice -", "yes"),
            (&alice, "read users bob /settings", "no"),
            (&alice, "read users bob /public", "yes"),
            (&alice, "write users alice /settings/theme", "yes"),
            (&alice, "write users alice /public", "yes"),
            (&alice, "write users alice /plan", "no"),
            (&alice, "write users alice -", "no"),
            (&alice, "write users bob /public", "no"),
            (&alice, "create users alice -", "no"),
            (&token("backend"), "create users carol -", "yes"),
            (&token("another"), "create users carol -", "no"),
        ],
    );
}

#[test]
fn articles_are_public_and_drafts_are_their_authors() {
    let published = r#"{"at":"$.status","eq":"published"}"#;
    let own = r#"{"at":"$.author","eq":"alice"}"#;
    let either = format!("{{\"any\":[{published},{own}]}}");
    let (nobody, reader) = (Principal::Anonymous, user(json!({"sub": "bob"})));
    let alice = user(json!({"sub": "alice", "roles": ["author"]}));
    check(
        include_str!("../../../docs/rules/articles.toml"),
        &[
            (&nobody, "read articles 1 /title", published),
            (&nobody, "list articles * -", published),
            (&reader, "write articles 1 /title", "no"),
            (&reader, "read articles 1 -", published),
            (&alice, "read articles 1 -", &either),
            (&alice, "write articles 1 /status", own),
            (&alice, "create articles 2 -", own),
            (&alice, "delete articles 2 -", own),
            (&alice, "index articles * -", "no"),
        ],
    );
}

#[test]
fn teams_are_a_claim_with_a_list() {
    let of_teams = r#"{"at":"$.team","in":["blue","red"]}"#;
    let guest = r#"{"at":"$.guests[*]","eq":"alice"}"#;
    let either = format!("{{\"any\":[{of_teams},{guest}]}}");
    let alice = user(json!({"sub": "alice", "teams": ["red", "blue"]}));
    check(
        include_str!("../../../docs/rules/teams.toml"),
        &[
            (&alice, "read boards 1 -", &either),
            (&alice, "write boards 1 /title", of_teams),
            (&user(json!({"sub": "alice"})), "read boards 1 -", guest),
            (
                &user(json!({"sub": "alice"})),
                "write boards 1 /title",
                "no",
            ),
            (&Principal::Anonymous, "read boards 1 -", "no"),
        ],
    );
}

#[test]
fn users_edit_only_their_own_review() {
    let (nobody, alice) = (Principal::Anonymous, user(json!({"sub": "alice"})));
    check(
        include_str!("../../../docs/rules/reviews.toml"),
        &[
            (&nobody, "read products tea -", "yes"),
            (&nobody, "write products tea /reviews/alice", "no"),
            (&alice, "write products tea /reviews/alice", "yes"),
            (&alice, "write products tea /reviews/alice/stars", "yes"),
            (&alice, "write products tea /reviews/bob", "no"),
            (&alice, "write products tea /reviews", "no"),
            (&alice, "write products tea -", "no"),
            (&alice, "delete products tea -", "no"),
        ],
    );
}

#[test]
fn a_dashboard_reads_only_by_listed_operations() {
    let text = include_str!("../../../docs/rules/dashboard.toml");
    let dashboard = token("dashboard");
    let totals = used(Action::Read, "orders", "", "/totals/sum");
    let rules = rules(text);
    for (is_listed, place, expected) in [
        (true, &totals, Decision::Allowed),
        (false, &totals, Decision::Refused(Box::new(totals.clone()))),
    ] {
        let found = rules.decide(&dashboard, is_listed, std::slice::from_ref(place));
        assert_eq!(found, expected);
    }
    let address = used(Action::Read, "orders", "1", "/address");
    let decision = rules.decide(&dashboard, true, std::slice::from_ref(&address));
    assert_eq!(decision, Decision::Refused(Box::new(address)));
}

#[test]
fn moderators_hide_comments() {
    let shown = r#"{"not":{"at":"$.hidden","eq":true}}"#;
    let moderator = user(json!({"sub": "m", "realm_access": {"roles": ["moderator"]}}));
    let other = user(json!({"sub": "alice", "realm_access": {"roles": ["author"]}}));
    check(
        include_str!("../../../docs/rules/moderators.toml"),
        &[
            (&other, "read comments 1 /text", shown),
            (&other, "write comments 1 /hidden", "no"),
            (&moderator, "read comments 1 /text", "yes"),
            (&moderator, "write comments 1 /hidden", "yes"),
            (&moderator, "write comments 1 /text", "no"),
        ],
    );
}

#[test]
fn tenants_have_collections_of_their_own() {
    let member = user(json!({"sub": "a", "tenant": "acme"}));
    let admin = user(json!({"sub": "b", "tenant": "acme", "role": "admin"}));
    check(
        include_str!("../../../docs/rules/tenants.toml"),
        &[
            (&member, "write orders-acme 1 /status", "yes"),
            (&member, "read orders-other 1 -", "no"),
            (&member, "read orders- 1 -", "no"),
            (&member, "delete orders-acme 1 -", "no"),
            (&admin, "delete orders-acme 1 -", "yes"),
            (&admin, "index orders-acme * -", "yes"),
            (&admin, "index orders-other * -", "no"),
            (&user(json!({"sub": "c"})), "read orders-acme 1 -", "no"),
            (&user(json!({"tenant": ""})), "read orders- 1 -", "no"),
        ],
    );
}
