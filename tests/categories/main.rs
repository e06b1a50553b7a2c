//! The category hierarchy of docs/category-hierarchy.md, over HTTP: the page, and readers who look on
//! while many change it.

/// Makes a test of each case, on the embedded engine. tests/foundationdb runs the same cases on a
/// cluster.
macro_rules! cases {
    (threads [$($case:ident),* $(,)?]) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case().await;
            })*
        }
    };
}

mod halfway;
mod meanwhile;
mod page;
#[path = "../pages/mod.rs"]
mod pages;
mod tree;

/// An engine of this process, with nothing in it.
#[expect(clippy::unused_async, reason = "an engine elsewhere takes time")]
async fn empty_store() -> phyllo::store::Embedded {
    let backend = redb::backends::InMemoryBackend::new();
    phyllo::store::Embedded::on_backend(backend).expect("an empty store opens")
}
