//! Executes the page.

use super::tree::{PAGE, Tree};
use crate::pages::{Exchange, Served, walk};

cases!(
    threads [
        operations_of_the_page_return_the_documented_responses,
    ]
);

async fn operations_of_the_page_return_the_documented_responses() {
    let served = Served::on(super::empty_store().await).await;
    let walked = walk(&served, &Exchange::of_page(PAGE, None)).await;
    walked.unwrap_or_else(|wrong| panic!("{wrong}"));
    let tree = Tree::read(&served).await;
    assert_eq!(tree.contradiction(), None);
    assert_eq!(tree.ids(), ["ragtime", "swing"]);
    served.assert_sound().await;
}
