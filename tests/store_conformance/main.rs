//! The contract of `phyllo::store`, tested with every engine.
//!
//! A case is an `async fn(Fresh)`. `on_every_engine!` makes a test of it for each engine that runs
//! in this process. To add an engine, add a function to `engines.rs` and a module to the macro.
//! tests/foundationdb runs the same cases on a cluster. A case must use only keys with its own
//! prefix, must not begin a transaction while it has another one open (an engine may block it), and
//! must stay far below ten megabytes and five seconds per transaction.

/// Makes a test of each case for each engine.
macro_rules! on_every_engine {
    ($($case:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case($crate::engines::embedded()).await;
            })*
        }

        mod logged {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case($crate::engines::logged()).await;
            })*
        }

        mod observed {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case($crate::engines::observed()).await;
            })*
        }
    };
}

mod clearing;
mod concurrency;
mod counted;
mod doubt;
mod engines;
mod injected;
#[path = "../model/mod.rs"]
mod model;
mod random_steps;
mod reading;
mod retry;
#[path = "../seed/mod.rs"]
mod seed;
#[path = "../skip/mod.rs"]
mod skip;
mod stamps;
mod writing;
