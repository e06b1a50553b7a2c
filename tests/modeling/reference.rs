//! Executes the sections of docs/reference.md whose examples have their own documents.

use crate::pages::{Exchange, Served, walk};

const PAGE: &str = "docs/reference.md";

cases!(
    threads [
        the_examples_of_changes_in_one_step_have_their_responses,
        the_examples_of_ranges_between_paths_have_their_responses,
    ]
);

async fn the_examples_of_changes_in_one_step_have_their_responses() {
    follow("Changes in one step").await;
}

async fn the_examples_of_ranges_between_paths_have_their_responses() {
    follow("Ranges between paths").await;
}

async fn follow(section: &str) {
    let exchanges = Exchange::of_page(PAGE, Some(section));
    assert!(!exchanges.is_empty(), "no examples");
    let served = Served::on(super::empty_store().await).await;
    let walked = walk(&served, &exchanges).await;
    walked.unwrap_or_else(|wrong| panic!("{wrong}"));
    served.assert_sound().await;
}
