//! Test cases and how they run.

use std::time::Duration;

use futures::future::LocalBoxFuture;
use libtest_mimic::Trial;
use tokio::runtime::Builder;

use crate::shared;

/// Time for the remaining tasks of a case to end.
const TASKS_END: Duration = Duration::from_secs(10);

/// A named case.
pub(crate) struct Case {
    name: String,
    run: Box<dyn FnOnce() + Send>,
}

impl Case {
    /// A case that runs no tasks. What it stores is not checked here.
    pub(crate) fn sync(name: &str, run: fn()) -> Self {
        let unchecked = move || {
            shared::begin_case(false);
            run();
        };
        Self::new(name, Box::new(unchecked))
    }

    /// A case whose stores in the shared cluster must be sound.
    pub(crate) fn asynchronous(
        name: &str,
        run: impl FnOnce() -> LocalBoxFuture<'static, ()> + Send + 'static,
    ) -> Self {
        let checked = move || -> LocalBoxFuture<'static, ()> {
            shared::begin_case(true);
            let run = run();
            Box::pin(async move {
                run.await;
                shared::assert_sound().await;
            })
        };
        Self::in_runtime(name, checked)
    }

    /// A case whose stores need not be sound.
    pub(crate) fn unchecked(
        name: &str,
        run: impl FnOnce() -> LocalBoxFuture<'static, ()> + Send + 'static,
    ) -> Self {
        let unchecked = move || {
            shared::begin_case(false);
            run()
        };
        Self::in_runtime(name, unchecked)
    }

    fn in_runtime(
        name: &str,
        run: impl FnOnce() -> LocalBoxFuture<'static, ()> + Send + 'static,
    ) -> Self {
        let in_runtime = move || {
            let runtime = Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(run());
            runtime.shutdown_timeout(TASKS_END);
        };
        Self::new(name, Box::new(in_runtime))
    }

    fn new(name: &str, run: Box<dyn FnOnce() + Send>) -> Self {
        let name = name.strip_prefix("foundationdb::").unwrap_or(name);
        Self {
            name: name.to_owned(),
            run,
        }
    }

    pub(crate) fn trial(self) -> Trial {
        Trial::test(self.name, || {
            (self.run)();
            Ok(())
        })
    }
}

/// Makes the function `suite`, which lists the cases of a module, or of the modules below it.
macro_rules! cases {
    (modules [$($module:ident),* $(,)?]) => {
        pub(crate) fn suite() -> Vec<crate::case::Case> {
            [$($module::suite()),*].into_iter().flatten().collect()
        }
    };
    ($($kind:ident $(($why:literal))? [$($case:ident),* $(,)?])*) => {
        pub(crate) fn suite() -> Vec<crate::case::Case> {
            vec![$($(cases!(@$kind $case)),*),*]
        }
    };
    (@sync $case:ident) => {
        crate::case::Case::sync(concat!(module_path!(), "::", stringify!($case)), $case)
    };
    (@damaged $case:ident) => {
        crate::case::Case::unchecked(
            concat!(module_path!(), "::", stringify!($case)),
            || Box::pin($case()),
        )
    };
    (@threads $case:ident) => {
        cases!(@async $case)
    };
    (@async $case:ident) => {
        crate::case::Case::asynchronous(
            concat!(module_path!(), "::", stringify!($case)),
            || Box::pin($case()),
        )
    };
}
