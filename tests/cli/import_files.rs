//! `phyllo import` of several files, directories and compressed files

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::harness::{Store, both};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn several_files_and_directories_are_imported_in_order() {
    both(|store| {
        let first = store.file("first.json", "[{\"a\":1},{\"a\":2}]");
        let b = store.file("data/b.ndjson", "{\"b\":1}\n{\"b\":2}\n");
        store.file("data/a.json", "{\n\"one\": true}");
        store.file("data/inner/c.JSONL.gz", gzip(b"{\"c\":1}\n"));
        store.file("data/.hidden.json", "nonsense");
        store.file("data/.git/x.json", "nonsense");
        store.file("data/readme.txt", "nonsense");
        let data = std::path::Path::new(&b).parent().expect("a directory");
        std::os::unix::fs::symlink(data, data.join("loop")).expect("a link");
        let data = data.to_str().expect("a plain path");
        store
            .run(&["import", &first, data])
            .expect(0)
            .says("4 files: 6 documents imported into the collection \"D\"");
        assert_eq!(
            store.ids("D"),
            ["a", "b-1", "b-2", "first-1", "first-2", "inner/c"]
        );
        store
            .run(&["import", &first, data, "--name", "n", "--collection", "n"])
            .expect(0);
        assert_eq!(
            store.ids("n"),
            [
                "n-a",
                "n-b-1",
                "n-b-2",
                "n-first-1",
                "n-first-2",
                "n-inner/c"
            ]
        );
    });
}

#[test]
fn files_that_cannot_be_read_are_found_before_anything_is_stored() {
    let store = Store::alone();
    let good = store.file("good.json", "{}");
    let text = store.file("empty/readme.txt", "x");
    let empty = std::path::Path::new(&text).parent().expect("a directory");
    let empty = empty.to_str().expect("a plain path");
    let run = store.run(&["import", &good, "nowhere.json"]).expect(1);
    run.says("nowhere.json cannot be read");
    let run = store.run(&["import", &good, empty]).expect(1);
    run.says("has no file whose name ends with .json, .jsonl, .ndjson, .csv, .tsv");
    let run = store.run(&["import", "-", "-"]).expect(2);
    run.says("standard input (-) can be given only once");
    assert!(!store.path().exists(), "nothing was made");
}

#[test]
fn an_error_names_its_file() {
    both(|store| {
        let a = store.file("a.ndjson", "{\"a\":1}\n{\"a\":\n");
        let b = store.file("b.json", "[{\"b\":1},");
        let c = store.file("c.json", "{\"c\":1}");
        let run = store.run(&["import", &a, &b, &c]).expect(1);
        run.says(&format!("{a}: line 2, column 6 (document 2): "))
            .says("3 files: 1 document imported")
            .says("1 failed; stopped there");
        assert_eq!(store.ids("D"), ["a-1"]);
        let go_on = ["import", &a, &b, &c, "--on-error", "continue"];
        let run = store.run(&go_on).expect(1);
        run.says(&format!("{a}: line 2, column 6 (document 2): "))
            .says(&format!("{b}: line 1, column 10: the array is not closed"))
            .says("2 created, 0 replaced; 1 skipped, 2 failed");
        assert_eq!(store.ids("D"), ["a-1", "b-1", "c"]);
    });
}

#[test]
fn the_ids_of_all_files_differ() {
    let store = Store::alone();
    let a = store.file("x/a.json", "[{\"doc_id\":\"k\"},{\"doc_id\":\"l\"}]");
    let b = store.file("y/b.json", "[{\"doc_id\":\"m\"},{\"doc_id\":\"l\"}]");
    let run = store.run(&["import", &a, &b]).expect(1);
    run.says(&format!(
        "{b}: line 1, column 17 (document 2): its id l is that of document 2 of {a}, too"
    ));
    assert_eq!(store.ids("D"), ["k", "l", "m"]);
    let a = store.file("x/same.json", "{\"a\":1}");
    let b = store.file("y/same.json", "{\"a\":2}");
    let run = store
        .run(&["import", &a, &b, "--collection", "c"])
        .expect(1);
    run.says(&format!("its id same is that of document 1 of {a}, too"))
        .says("the id is generated: give --id, or import the files separately with --name");
    assert_eq!(
        store.out(&["get", "same", "--collection", "c"]),
        "{\"a\":1}\n"
    );
}

#[test]
fn compressed_streams_are_decompressed() {
    both(|store| {
        let lines = |from: usize| -> Vec<u8> {
            let lines = (from..from + 5_000).map(|number| format!("{{\"n\":{number}}}\n"));
            lines.collect::<String>().into_bytes()
        };
        // Several members, or frames, are one stream.
        let members = [gzip(&lines(0)), gzip(b""), gzip(&lines(5_000))].concat();
        let frames = [zstd(&lines(0)), zstd(b""), zstd(&lines(5_000))].concat();
        for (name, bytes) in [("g.ndjson.gz", &members), ("z.ndjson.zst", &frames)] {
            let file = store.file(name, bytes);
            let collection = &name[..1];
            store
                .run(&["import", &file, "--collection", collection])
                .expect(0)
                .says("10000 documents imported");
            let id = format!("{collection}-10000");
            let last = store.out(&["get", &id, "/n", "--collection", collection]);
            assert_eq!(last, "9999\n");
            store
                .run_on(
                    bytes,
                    &["import", "-", "--name", "s", "--collection", collection],
                )
                .expect(0)
                .says("10000 documents imported");
        }
    });
}

#[test]
fn damaged_compressed_streams_are_errors() {
    let store = Store::alone();
    let lines = "{\"n\":1}\n".repeat(100_000).into_bytes();
    for (name, bytes) in [("a.gz", gzip(&lines)), ("a.zst", zstd(&lines))] {
        let cut = store.file(name, &bytes[..bytes.len() - 5]);
        let run = store.run(&["import", &cut, "--existing", "skip"]).expect(1);
        run.says(&format!("{cut}: it cannot be read: "));
        let mut damaged = bytes.clone();
        let end = damaged.len() - 2;
        damaged[end] ^= 0xFF;
        let damaged = store.file(name, damaged);
        let run = store.run(&["import", &damaged, "--existing", "skip"]);
        run.expect(1).says("it cannot be read: ");
    }
    // An empty frame, whose header demands a window of 1 KiB or 128 MiB.
    for (window, code) in [(0, 0), (17 << 3, 1)] {
        let frame = [0x28, 0xB5, 0x2F, 0xFD, 0, window, 1, 0, 0];
        let frame = store.file("window.zst", frame);
        store.run(&["import", &frame]).expect(code);
    }
}

#[test]
fn a_dry_run_validates_and_stores_nothing() {
    let store = Store::alone();
    let long = format!("{{\"{}\":1}}", "k".repeat(9_996));
    let file = store.file(
        "x.ndjson",
        format!("{{\"n\":1}}\n{{\"n\":\"2\"}}\n{long}\n{{\n{{\"n\":5}}\n"),
    );
    let go_on = ["import", &file, "--dry-run", "--on-error", "continue"];
    let run = store.run(&["import", &file, "--dry-run"]).expect(1);
    let run = run.says(&format!("{file}: line 3, column 1 (document 3): "));
    assert!(!run.err.contains("line 4"), "{}", run.err);
    run.says("2 documents can be imported into the collection \"D\", 1 failed; this was a dry run");
    store
        .run(&go_on)
        .expect(1)
        .says("3 documents can be imported")
        .says(", 2 failed; ");
    assert!(!store.path().exists(), "nothing was made");
    both(|store| {
        store.import("{}", &["--name", "only"]);
        let schema = store.file("schema.json", r#"{"properties":{"n":{"type":"integer"}}}"#);
        store.run(&["types", "set", "D", &schema]).expect(0);
        let file = store.file("x.json", "[{\"n\":1},{\"n\":\"2\"},{\"n\":3}]");
        let go_on = ["import", &file, "--dry-run", "--on-error", "continue"];
        store
            .run(&go_on)
            .expect(1)
            .says("line 1, column 10 (document 2): the document x-2 does not fit the type")
            .says("2 documents can be imported");
        assert_eq!(store.ids("D"), ["only"]);
    });
}
