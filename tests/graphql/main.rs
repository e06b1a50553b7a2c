//! The GraphQL interface as a client meets it, without HTTP: what is read and written, what it
//! costs in the store, what is refused and how.
#![expect(
    clippy::needless_raw_string_hashes,
    clippy::format_collect,
    reason = "texts in a table are written alike, and the long ones are few"
)]

/// Makes a test of each case, on the embedded engine. tests/foundationdb runs the same cases on a
/// cluster.
macro_rules! cases {
    ($($kind:ident [$($case:ident),* $(,)?])*) => {
        mod embedded {
            $(cases!(@$kind $($case)*);)*
        }
    };
    (@sync $($case:ident)*) => {
        $(#[test]
        fn $case() {
            super::$case();
        })*
    };
    (@async $($case:ident)*) => {
        $(#[tokio::test]
        async fn $case() {
            super::$case().await;
        })*
    };
    (@threads $($case:ident)*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            super::$case().await;
        })*
    };
}

mod bounds;
mod bulk;
mod changing;
mod children;
mod concurrency;
mod counting;
mod entities;
mod errors;
mod exactness;
mod finding;
mod found_model;
mod indexing;
mod model;
mod multiplied;
mod operations;
mod patching;
mod plans;
mod reading;
mod schema;
mod selecting;
mod snapshot;
mod suites;
mod support;
mod timeouts;
mod variables;
mod versions;
mod writing;

/// Random sequences of changes.
const SEQUENCES: u32 = 200;

/// An engine of this process, with nothing in it.
#[expect(clippy::unused_async, reason = "an engine elsewhere takes time")]
async fn empty_store() -> phyllo::store::Embedded {
    let backend = redb::backends::InMemoryBackend::new();
    phyllo::store::Embedded::on_backend(backend).expect("an empty store opens")
}
