//! Interrupted imports and exports

use std::fs;
use std::io::Write;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use phyllo::limits::IMPORT_BATCH_DOCUMENTS_MAX;

use super::harness::{Ran, Store};

const DOCUMENTS: usize = 5 * IMPORT_BATCH_DOCUMENTS_MAX / 2;

/// An import that has read two and a half batches and waits for more input.
fn waiting_import(store: &Store) -> Child {
    let mut child = store.spawn(&["import", "-", "--name", "x", "--format", "lines"]);
    let lines = "{\"more\":[1,2,3,4,5,6,7,8,9,10]}\n".repeat(DOCUMENTS);
    let pipe = child.stdin.as_mut().expect("a pipe");
    pipe.write_all(lines.as_bytes()).expect("it reads");
    pipe.flush().expect("it reads");
    // The input is stored once the process has been idle for a while.
    let mut idle = 0;
    while idle < 20 {
        idle = if is_idle(&child) { idle + 1 } else { 0 };
        sleep(Duration::from_millis(25));
    }
    child
}

/// Whether every thread of a process is waiting, but not for a disk.
fn is_idle(child: &Child) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", child.id())).expect("Linux tells");
    let mut states = threads.filter_map(|thread| {
        // A thread may have ended.
        let status = fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        let state = status.lines().find_map(|line| line.strip_prefix("State:"));
        state.map(|state| state.trim_start().starts_with('S'))
    });
    states.all(|waits| waits)
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status();
    assert!(sent.expect("kill").success());
}

#[test]
fn interrupted_imports_leave_whole_batches_and_report_it() {
    for (name, code, store) in [
        ("-INT", 130, Store::alone()),
        ("-TERM", 143, Store::served()),
    ] {
        let mut child = waiting_import(&store);
        signal(&child, name);
        // Dropping it would end the stream.
        let stdin = child.stdin.take();
        let ran = Ran::from(child.wait_with_output().expect("the binary runs"));
        drop(stdin);
        ran.expect(code)
            .says("2000 documents imported")
            .says("interrupted; the batches before are stored")
            .says("the last stored document is document 2000 of -; to resume, run the same command")
            .says("with --existing skip");
        assert_eq!(store.count(), 2 * IMPORT_BATCH_DOCUMENTS_MAX);
        assert_eq!(store.ids("D").len(), 2 * IMPORT_BATCH_DOCUMENTS_MAX);
    }
}

#[test]
fn killed_imports_leave_whole_batches_and_the_store_recovers() {
    let store = Store::alone();
    let child = waiting_import(&store);
    signal(&child, "-KILL");
    let ran = Ran::from(child.wait_with_output().expect("the binary runs"));
    assert_eq!(ran.code, None);
    // The log is applied so fast that no progress is shown.
    let export = store.run(&["export"]).expect(0);
    assert_eq!(export.out.lines().count(), 2 * IMPORT_BATCH_DOCUMENTS_MAX);
    assert_eq!(store.run(&["export"]).expect(0).err, "");
}

#[test]
fn imports_through_a_server_that_stops_leave_whole_batches() {
    let mut store = Store::served();
    let mut child = waiting_import(&store);
    store.stop();
    let stdin = child.stdin.as_mut().expect("a pipe");
    // The command may have ended already.
    let _written = stdin.write_all("{}\n".repeat(DOCUMENTS).as_bytes());
    let ran = Ran::from(child.wait_with_output().expect("the binary runs"));
    ran.expect(1).says("the connection to the server");
    assert_eq!(store.count() % IMPORT_BATCH_DOCUMENTS_MAX, 0);
}

#[test]
fn blocked_exports_end_at_the_second_signal() {
    let store = Store::alone();
    store.import("{\"a\":[1,2,3]}\n".repeat(20_000), &[]);
    let mut child = store.spawn(&["export"]);
    let out = child.stdout.take();
    for _ in 0..2 {
        sleep(Duration::from_millis(500));
        signal(&child, "-INT");
    }
    let ran = Ran::from(child.wait_with_output().expect("the binary runs"));
    drop(out);
    ran.expect(130);
    assert_eq!(store.count(), 20_000);
}
