//! Executes the section of docs/reference.md on changes in one step.

use crate::pages::{Exchange, Served, walk};

const PAGE: &str = "docs/reference.md";
const SECTION: &str = "Changes in one step";

cases!(
    threads [
        the_examples_of_changes_in_one_step_have_their_responses,
    ]
);

async fn the_examples_of_changes_in_one_step_have_their_responses() {
    let exchanges = Exchange::of_page(PAGE, Some(SECTION));
    assert!(!exchanges.is_empty(), "no examples");
    let served = Served::on(super::empty_store().await).await;
    let walked = walk(&served, &exchanges).await;
    walked.unwrap_or_else(|wrong| panic!("{wrong}"));
    served.assert_sound().await;
}
