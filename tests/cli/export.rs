//! `phyllo export`, and import of its output

use std::io::Read;
use std::process::Command;

use foundationdb_tuple::{Bytes, pack};

use super::harness::{Store, both, open};

const ODD: &str = r#"{"id":"","document":0}"#;

/// As an export writes them, with ids in tuple order.
const DOCUMENTS: &str = concat!(
    "{\"id\":\"\\\"\\\"\",\"document\":null}\n",
    "{\"id\":\"\\\"\\\\\\\"quoted\\\\\\\"\\\"\",\"document\":{}}\n",
    "{\"id\":\"007\",\"document\":\"\\u0000\"}\n",
    "{\"id\":\"\\\"42\\\"\",\"document\":[]}\n",
    "{\"id\":\"\\\"@00000000000002f100000003\\\"\",\"document\":\"text\"}\n",
    "{\"id\":\"a b/c~d\",\"document\":[1,[],{}]}\n",
    "{\"id\":\"line\\nfeed\",\"document\":-0.0}\n",
    "{\"id\":\"🎷\",\"document\":{\"\":{\"\":1e300},\"🎷\":123456789012345678901234567890}}\n",
    "{\"id\":\"-5\",\"document\":true}\n",
    "{\"id\":\"42\",\"document\":{\"id\":\"x\",\"document\":1}}\n",
    "{\"id\":\"9223372036854775807\",\"document\":false}\n",
    "{\"id\":\"@00000000000002f100000003\",\"document\":\"appended\"}\n",
);

#[test]
fn exports_can_be_imported_under_the_same_ids() {
    // Members that were written out of order are exported in order.
    let documents = DOCUMENTS.replace(r#"{"id":"x","document":1}"#, r#"{"document":1,"id":"x"}"#);
    both(|store| {
        store.import(DOCUMENTS, &[]).says("12 documents imported");
        assert_eq!(store.out(&["export"]), documents);
        both(|other| {
            other.import(store.out(&["export"]), &["--format", "export"]);
            assert_eq!(other.out(&["export"]), documents);
            assert_eq!(other.count(), 12);
        });
        store
            .run_on(ODD, &["import", "-"])
            .expect(1)
            .says("the id is empty");
    });
}

#[test]
fn export_files_appear_when_they_are_complete() {
    both(|store| {
        store.import(DOCUMENTS, &["--collection", "c"]);
        let file = store.file("out.ndjson", "old");
        store
            .run(&["export", "--collection", "c", "--output", &file])
            .expect(0);
        let exported = std::fs::read_to_string(&file).expect("the file");
        assert_eq!(exported, store.out(&["export", "--collection", "c"]));
        let directory = std::path::Path::new(&file).parent().expect("a directory");
        let names = std::fs::read_dir(directory).expect("a directory");
        let partial = |name: &str| name.contains("partial");
        assert!(
            !names
                .flatten()
                .any(|entry| partial(&entry.file_name().to_string_lossy()))
        );
        let to_device = ["export", "--collection", "c", "-o", "/dev/null"];
        store.run(&to_device).expect(0);
        assert!(
            !std::fs::metadata("/dev/null")
                .expect("the device")
                .is_file()
        );
        let link = format!("{file}.link");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        std::fs::write(&file, "").expect("emptied");
        let through_link = ["export", "--collection", "c", "-o", &link];
        store.run(&through_link).expect(0);
        assert!(
            std::fs::symlink_metadata(&link)
                .expect("the link")
                .is_symlink()
        );
        assert_eq!(std::fs::read_to_string(&file).expect("the file"), exported);
        let nowhere = format!("{}/nowhere/out", directory.display());
        store
            .run(&["export", "--collection", "c", "-o", &nowhere])
            .expect(1)
            .says("cannot be written");
    });
}

#[test]
fn export_ends_when_its_reader_closes_the_pipe() {
    both(|store| {
        store.import("{\"a\":[1,2,3]}\n".repeat(20_000), &[]);
        let mut child = store.spawn(&["export"]);
        let mut out = child.stdout.take().expect("a pipe");
        let mut first = [0; 100];
        out.read_exact(&mut first).expect("output");
        drop(out);
        let output = child.wait_with_output().expect("the binary runs");
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    });
}

#[test]
fn closed_standard_output_or_error_causes_no_panic() {
    let store = Store::alone();
    store.import("[1,2]", &[]);
    let shell = |script: &str| {
        let output = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(env!("CARGO_BIN_EXE_phyllo"))
            .env("PHYLLO_STORE", store.path())
            .output()
            .expect("a shell");
        assert_ne!(output.status.code(), Some(101), "{script}: {output:?}");
    };
    shell("$0 export >&-");
    shell("$0 schema >&-");
    shell("$0 get nothing 2>&-");
    shell("echo 1 | $0 import - 2>&-");
}

/// A store with a damaged document of another program, and one with an id that has no text form.
fn store_with_others() -> Store {
    let store = Store::alone();
    store.damaged("one of its documents is");
    store.import("[1,2]", &["--name", "x"]);
    let foreign = pack(&("D", Bytes::from(&b"\x00\xFF"[..]), "a"));
    let hole = pack(&("D", "x-1-hole", 1));
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let database = open(store.path()).await;
        let transaction = database.store().begin().await.expect("a transaction");
        transaction.set(&foreign, &pack(&(1,)));
        transaction.set(&hole, &pack(&(1,)));
        transaction.commit().await.expect("a commit");
    });
    store
}

#[test]
fn documents_that_cannot_be_exported_are_reported_and_skipped() {
    let mut store = store_with_others();
    for served in [false, true] {
        if served {
            store.serve();
        }
        let run = store.run(&["export"]).expect(1);
        assert_eq!(
            run.out,
            "{\"id\":\"x-1\",\"document\":1}\n{\"id\":\"x-2\",\"document\":2}\n"
        );
        let run = run.says("not exported: (\"D\", b\"\\x00\\xff\")");
        let run = run.says("not exported: an internal error");
        let run = run.says("not exported: 1 documents that another program stored");
        run.says("1 documents are damaged and were not exported");
        store.run(&["pairs", "x-1-hole"]).expect(0);
        store
            .run(&["get", "x-1-hole"])
            .expect(1)
            .says("an internal error");
    }
}
