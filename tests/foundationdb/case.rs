//! Test cases and how they run.

use std::time::Duration;

use futures::future::LocalBoxFuture;
use libtest_mimic::Trial;
use tokio::runtime::Builder;

/// Time for the remaining tasks of a case to end.
const TASKS_END: Duration = Duration::from_secs(10);

/// A named case.
pub(crate) struct Case {
    name: String,
    run: Box<dyn FnOnce() + Send>,
}

impl Case {
    pub(crate) fn sync(name: &str, run: fn()) -> Self {
        Self::new(name, Box::new(run))
    }

    pub(crate) fn asynchronous(
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

/// Makes the function `suite`, which lists the cases of a module.
macro_rules! cases {
    ($($kind:ident $(($why:literal))? [$($case:ident),* $(,)?])*) => {
        pub(crate) fn suite() -> Vec<crate::case::Case> {
            vec![$($(cases!(@$kind $case)),*),*]
        }
    };
    (@sync $case:ident) => {
        crate::case::Case::sync(concat!(module_path!(), "::", stringify!($case)), $case)
    };
    (@damaged $case:ident) => {
        cases!(@async $case)
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
