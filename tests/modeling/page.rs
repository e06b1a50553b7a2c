//! Executes the page, section by section.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::pages::{Exchange, Served, walk};

const PAGE: &str = "docs/data-modeling.md";

/// A case for each model, which executes the examples in its section of the page.
macro_rules! models {
    ($($case:ident: $section:literal,)*) => {
        cases!(
            threads [
                $($case,)*
                every_section_with_examples_has_a_case,
                wrong_responses_are_detected_at_any_position,
            ]
        );

        $(async fn $case() {
            follow($section).await;
        })*

        const SECTIONS: &[&str] = &[$($section),*];
    };
}

models! {
    an_array_has_an_element_to_a_key_and_a_sparse_one_is_an_object: "Arrays",
    a_multimap_holds_its_values_as_names: "Multimaps",
    a_table_is_read_by_row_and_by_column: "Tables",
    a_relationship_is_followed_from_either_end: "Entities and relationships",
    a_node_of_a_linked_list_is_removed_if_nobody_changed_it: "Indirection: a linked list",
    a_composite_model_is_written_in_one_operation: "Composite models",
    a_nested_keyspace_is_merged_from_a_stream: "A nested keyspace from a stream",
    dates_are_read_between_two_days: "Dates as nested paths",
    an_index_changes_with_the_documents: "Indexes",
    a_partial_index_has_some_documents: "Indexes of some documents",
    a_log_is_read_in_the_order_of_commits: "A log",
    a_range_of_keys_is_read_without_an_index: "Ranges of keys",
    an_index_provides_an_order_by_several_paths: "Compound orders",
    an_index_answers_an_aggregate: "Aggregates",
    a_counter_is_split_over_documents: "A hot counter",
    a_queue_is_taken_from_its_front: "A queue",
}

fn section(name: &str) -> Vec<Exchange> {
    Exchange::of_page(PAGE, Some(name))
}

async fn follow(name: &str) {
    let served = Served::on(super::empty_store().await).await;
    let walked = walk(&served, &section(name)).await;
    walked.unwrap_or_else(|wrong| panic!("{wrong}"));
    served.assert_sound().await;
}

async fn every_section_with_examples_has_a_case() {
    let exchanges = Exchange::of_page(PAGE, None).into_iter();
    let sections: BTreeSet<String> = exchanges.map(|exchange| exchange.place.section).collect();
    assert!(
        sections
            .iter()
            .eq(SECTIONS.iter().copied().collect::<BTreeSet<_>>())
    );
}

async fn wrong_responses_are_detected_at_any_position() {
    let name = "Indirection: a linked list";
    for wrong in 0..section(name).len() {
        let served = Served::on(super::empty_store().await).await;
        let mut exchanges = section(name);
        spoil(&mut exchanges[wrong].response);
        let place = exchanges[wrong].place.to_string();
        let found = walk(&served, &exchanges).await;
        let found = found.expect_err("an answer that is not the page's");
        assert!(found.starts_with(&place), "{found}");
    }
}

/// Changes the last scalar of a value.
fn spoil(value: &mut Value) {
    match value {
        Value::Array(elements) => spoil(elements.last_mut().expect("an element")),
        Value::Object(members) => spoil(members.values_mut().last().expect("a member")),
        Value::String(text) => text.push('!'),
        other => *other = Value::from("!"),
    }
}
