//! Test cases that run on the embedded engine here, and on a cluster in tests/foundationdb.

/// Creates a test on the embedded engine for each case. tests/foundationdb runs the same cases on a
/// cluster. At the end of an asynchronous case its stores must be sound, except in a case that is
/// `damaged`, with the reason. `modules` are those below a module that have the cases.
macro_rules! cases {
    (modules [$($module:ident),* $(,)?]) => {};
    ($($kind:ident $(($why:literal))? [$($case:ident),* $(,)?])*) => {
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
    (@damaged $($case:ident)*) => {
        $(#[tokio::test]
        async fn $case() {
            super::$case().await;
        })*
    };
    (@async $($case:ident)*) => {
        $(#[tokio::test]
        async fn $case() {
            crate::checked::begin();
            super::$case().await;
            crate::checked::assert_sound().await;
        })*
    };
    (@threads $($case:ident)*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            crate::checked::begin();
            super::$case().await;
            crate::checked::assert_sound().await;
        })*
    };
}

/// An empty in-memory store. It is ready at once; a store on a cluster is not.
pub(crate) fn new_store() -> std::future::Ready<phyllo::store::Embedded> {
    let backend = redb::backends::InMemoryBackend::new();
    std::future::ready(phyllo::store::Embedded::on_backend(backend).expect("an empty store opens"))
}
