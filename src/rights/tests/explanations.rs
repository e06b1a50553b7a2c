//! What `phyllo rules explain` prints of a place.

use super::*;

#[test]
fn an_explanation_names_the_rules_that_cover_a_place_or_what_they_lack() {
    let rules = rules(
        "[[allow]]\nwho = \"user\"\nactions = [\"read\", \"write\"]\ncollection = \"users\"\nid = \"{sub}\"\npath = \"/profile\"\n\n\
         [[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"users\"\npath = \"/posts\"\n\
         where = { at = \"$.team\", eq = \"{team}\" }\n",
    );
    let alice = user(json!({"sub": "alice", "team": "red"}));
    let explain = |principal: &Principal, action, id, path| {
        let place = used(action, "users", id, path);
        rules.explain(principal, false, &[place])[0].to_string()
    };
    assert_eq!(
        explain(&alice, Action::Write, "alice", "/profile/name"),
        "allowed: write \"/profile/name\" of document alice of collection \"users\"\n  by the rule on line 1"
    );
    assert_eq!(
        explain(&alice, Action::Read, "bob", "/posts/0"),
        "depends: read \"/posts/0\" of document bob of collection \"users\"\n  \
         by the rule on line 8, in documents with {\"at\":\"$.team\",\"eq\":\"red\"}"
    );
    assert_eq!(
        explain(&alice, Action::Write, "bob", "/profile"),
        "refused: write \"/profile\" of document bob of collection \"users\"\n  \
         not by the rule on line 1: `id` is another document"
    );
    assert_eq!(
        explain(&Principal::Anonymous, Action::Read, "alice", "/posts"),
        "refused: read \"/posts\" of document alice of collection \"users\"\n  \
         not by the rule on line 8: `where` needs a claim that is missing or of another type"
    );
    let ambiguous = explain(&alice, Action::Write, "alice", "/1");
    assert!(
        ambiguous.ends_with("write the path as a list"),
        "{ambiguous}"
    );
}
