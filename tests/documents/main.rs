//! Documents through the database: whatever goes in comes out, whole and in parts.

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
}

mod adopted;
mod catalogued;
mod checked;
mod damages;
mod malformed;
#[path = "../model/mod.rs"]
mod model;
mod round_trip;
mod world;

/// An engine of this process, with nothing in it.
#[expect(clippy::unused_async, reason = "an engine elsewhere takes time")]
async fn empty_store() -> phyllo::store::Embedded {
    let backend = redb::backends::InMemoryBackend::new();
    phyllo::store::Embedded::on_backend(backend).expect("an empty store opens")
}
