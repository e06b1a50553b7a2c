//! Phyllo on FoundationDB: real clusters, which these tests start and stop.
//!
//! One cluster of one process runs the cases of the other suites sequentially, each on an empty
//! store. Cases that break a cluster have their own. The client can be started once per process, so
//! this program has its own `main`.
//!
//! Without FoundationDB's programs, one line reports that and nothing runs.

#[macro_use]
mod case;
mod adoption;
mod categories;
mod checks;
mod cluster;
mod conflicts;
mod conformance;
mod copying;
mod documents;
mod failures;
mod graphql;
#[path = "../store_conformance/injected.rs"]
mod injected;
mod limits;
#[path = "../model/mod.rs"]
mod model;
mod modeling;
mod outage;
#[path = "../pages/mod.rs"]
mod pages;
mod recipe;
#[path = "../replay/mod.rs"]
mod replay;
#[path = "../seed/mod.rs"]
mod seed;
mod servers;
mod shared;
#[path = "../skip/mod.rs"]
mod skip;
#[path = "../sound/mod.rs"]
mod sound;
mod tls;

use std::process::ExitCode;

use case::Case;
use cluster::Programs;
use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(cluster_file) = std::env::var_os(failures::CLUSTER) {
        return failures::child(cluster_file.as_ref());
    }
    let mut arguments = Arguments::from_args();
    // Each case has exclusive use of the cluster.
    arguments.test_threads = Some(1);
    if let Err(missing) = Programs::find() {
        skip::skipped("FoundationDB tests", &format!("{missing} was not found"));
        return ExitCode::SUCCESS;
    }
    let cases: Vec<Case> = [
        adoption::suite(),
        conformance::suite(),
        documents::all(),
        graphql::suite(),
        conflicts::suite(),
        limits::suite(),
        outage::suite(),
        failures::suite(),
        servers::suite(),
        recipe::suite(),
        copying::suite(),
        checks::suite(),
        categories::suite(),
        modeling::suite(),
        tls::suite(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let trials = cases.into_iter().map(Case::trial).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    shared::stop();
    conclusion.exit_code()
}
