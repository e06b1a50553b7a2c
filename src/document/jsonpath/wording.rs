//! What the crate's parser expected, in words.

use jsonpath_rust::parser::Rule;

/// What could have stood where a query goes wrong.
pub(super) fn expected(rules: &[Rule]) -> String {
    let mut words: Vec<&str> = rules.iter().filter_map(|rule| word(*rule)).collect();
    words.sort_unstable();
    words.dedup();
    match &words[..] {
        [] => "this cannot stand here".to_owned(),
        [one] => format!("expected {one}"),
        [first @ .., last] => format!("expected {} or {last}", first.join(", ")),
    }
}

fn word(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::segment | Rule::child_segment | Rule::descendant_segment => {
            "`.name`, `..name` or `[…]`"
        }
        Rule::name_segment | Rule::index_segment => "`.name`, `['name']` or `[index]`",
        Rule::selector => "a selector (a name in quotes, an index, `*`, a slice or `?` and a test)",
        Rule::name_selector => "a name in quotes",
        Rule::index_selector | Rule::int | Rule::start | Rule::end => "an index",
        Rule::step => "`:`",
        Rule::logical_expr | Rule::logical_expr_and | Rule::atom_expr | Rule::test => {
            "a test (a query, a comparison or a function)"
        }
        Rule::comp_op => "a comparison",
        Rule::comparable | Rule::singular_query => {
            "a value to compare with (a literal, a query of names and indexes, or a function)"
        }
        Rule::function_argument => "an argument",
        Rule::jp_query | Rule::main => "`$`",
        Rule::EOI => "the end of the query",
        _ => return None,
    })
}
