//! Executes the page of the hierarchy with references.

use crate::pages::{Exchange, Served, walk};

cases!(
    threads [
        operations_of_the_references_page_return_the_documented_responses,
    ]
);

async fn operations_of_the_references_page_return_the_documented_responses() {
    let served = Served::on(super::empty_store().await).await;
    let exchanges = Exchange::of_page("docs/category-references.md", None);
    let walked = walk(&served, &exchanges).await;
    walked.unwrap_or_else(|wrong| panic!("{wrong}"));
    served.assert_sound().await;
}
