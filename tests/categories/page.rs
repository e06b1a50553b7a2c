//! The page itself.

use crate::pages::{Exchange, Served, walk};

use super::tree::Tree;

cases!(
    threads [
        every_operation_of_the_page_answers_what_it_says,
    ]
);

const PAGE: &str = "docs/category-hierarchy.md";

async fn every_operation_of_the_page_answers_what_it_says() {
    let served = Served::on(super::empty_store().await).await;
    let walked = walk(&served, &Exchange::of_page(PAGE)).await;
    walked.unwrap_or_else(|wrong| panic!("{wrong}"));
    let tree = Tree::read(&served).await;
    assert_eq!(tree.contradiction(), None);
    assert_eq!(
        tree.ids(),
        [
            "bop",
            "free-jazz",
            "modal-jazz",
            "post-bop",
            "ragtime",
            "swing"
        ]
    );
    served.assert_sound().await;
}
