//! `phyllo check`

use foundationdb_tuple::{Bytes, pack};
use phyllo::key::hex;
use phyllo::store::FILE_NAME;

use super::harness::{Store, both, open};

const DOCUMENT: &str = r#"{"a":[1,[],{"b":null}],"e":{},"s":"x"}"#;

/// Writes and removes pairs as another program would.
fn write(store: &Store, set: &[(Vec<u8>, Vec<u8>)], cleared: &[Vec<u8>]) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let database = open(store.path()).await;
        let transaction = database.store().begin().await.expect("a transaction");
        for (key, value) in set {
            transaction.set(key, value);
        }
        for key in cleared {
            transaction.clear(key);
        }
        transaction.commit().await.expect("a commit");
    });
}

#[test]
fn stores_are_sound_after_imports() {
    both(|store| {
        store.import(format!("{DOCUMENT}\n").repeat(3_000), &["--name", "d"]);
        store.import("[1,2]", &["--collection", "c"]);
        store.import(DOCUMENT, &["--name", "d-7", "--format", "document"]);
        let all = store.out(&["check"]);
        assert!(all.starts_with("3002 documents, 15002 leaves, "), "{all}");
        assert!(all.ends_with("; sound\n"), "{all}");
        let of_c = store.out(&["check", "--collection", "c"]);
        assert!(of_c.starts_with("2 documents, 2 leaves, "), "{of_c}");
    });
}

#[test]
fn each_fault_is_printed_with_its_key_and_the_exit_code_is_1() {
    let mut store = Store::alone();
    store.damaged("the test damages it");
    store.import(DOCUMENT, &["--name", "d"]);
    let hole = pack(&("D", "d", "a", 7));
    let foreign = pack(&("D", Bytes::from(&b"id"[..])));
    let unknown = [vec![0], pack(&(99,))].concat();
    let leaf = pack(&(1,));
    let set = [
        (hole.clone(), leaf.clone()),
        (foreign.clone(), leaf.clone()),
        (pack(&("D", "theirs")), leaf),
        (unknown, vec![]),
    ];
    write(&store, &set, &[pack(&("D", "d", "e", -2))]);
    for served in [false, true] {
        if served {
            store.serve();
        }
        let ran = store.run(&["check"]).expect(1);
        assert_eq!(ran.err, "");
        let expected = format!(
            "fault: a system key belongs to no key family: (null, 99) [001563]\n\
             information: another program stored this under a key that no GraphQL ID names: \
             (\"D\", b\"id\") [{}]\n\
             fault: an array lacks an element: (\"D\", \"d\", \"a\", 7) [{}]\n\
             information: another program stored this document, and it is not adopted: \
             (\"D\", \"theirs\") [{}]\n",
            hex(&foreign),
            hex(&hole),
            hex(&pack(&("D", "theirs"))),
        );
        let (lines, summary) = ran.out.rsplit_once("1 documents, ").expect("a summary");
        assert_eq!(lines, expected);
        assert!(
            summary
                .ends_with("of other programs: 1 documents not adopted, and 1 others; 2 faults\n")
        );
        let ran = store.run(&["check", "--collection", "D"]).expect(1);
        assert!(ran.out.ends_with("; 1 fault\n"), "{}", ran.out);
    }
}

#[test]
fn json_output_has_an_object_per_finding_and_a_summary() {
    let mut store = Store::alone();
    store.damaged("the test damages it");
    store.import(DOCUMENT, &["--name", "d"]);
    let odd = pack(&("D", "d", "\u{1}\"", 1));
    write(&store, &[(odd.clone(), pack(&(1,)))], &[]);
    for served in [false, true] {
        if served {
            store.serve();
        }
        let ran = store.run(&["check", "--json"]).expect(1);
        let lines: Vec<serde_json::Value> = ran
            .out
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let [fault, summary] = &lines[..] else {
            panic!("{lines:?}");
        };
        assert_eq!(fault["severity"], "FAULT");
        assert_eq!(fault["code"], "HOLE");
        assert_eq!(fault["message"], "an array lacks an element");
        assert_eq!(fault["key"], hex(&odd));
        assert_eq!(fault["tuple"], "(\"D\", \"d\", \"\\u{1}\\\"\", 1)");
        let summary = &summary["summary"];
        for (name, number) in [
            ("documents", 1),
            ("notAdopted", 0),
            ("foreign", 0),
            ("leaves", 6),
            // Four are those of the change log.
            ("pairs", 14),
            ("faults", 1),
        ] {
            assert_eq!(summary[name], number, "{name}");
        }
        assert!(summary["bytes"].as_u64().is_some_and(|bytes| bytes > 100));
    }
}

#[test]
fn a_damaged_page_is_a_fault() {
    let store = Store::alone();
    store.damaged("the test damages its file");
    let text = "VALUE".repeat(100);
    store.import(format!("\"{text}\"\n").repeat(200), &["--name", "d"]);
    let path = store.path().join(FILE_NAME);
    let mut file = std::fs::read(&path).expect("read");
    let mut changed = 0;
    for at in 0..file.len() - 5 {
        if file[at..].starts_with(b"VALUE") && changed < 500 {
            file[at + 4] = b'F';
            changed += 1;
        }
    }
    std::fs::write(&path, file).expect("written");
    let message = "the checksum of a page is wrong";
    let ran = store.run(&["check"]).expect(1);
    let line = format!("fault: {message}: {}\n", path.display());
    assert!(ran.out.starts_with(&line), "{}", ran.out);
    assert!(ran.out.ends_with("; 1 fault\n"), "{}", ran.out);
    let ran = store.run(&["check", "--json"]).expect(1);
    let fault = ran.out.lines().next().expect("a line");
    let fault: serde_json::Value = serde_json::from_str(fault).expect("JSON");
    assert_eq!(fault["code"], "DAMAGED_PAGE");
    assert_eq!(fault["file"], path.display().to_string());
    // One collection is checked without the other pages.
    let ran = store.run(&["check", "--collection", "D"]).expect(0);
    assert!(ran.out.ends_with("; sound\n"), "{}", ran.out);
}

/// Concurrent writes are not visible to a check, because it reads one snapshot.
#[test]
fn check_during_writes_finds_no_faults() {
    let store = Store::served();
    let first = format!("{DOCUMENT}\n").repeat(2_000);
    store.import(&first, &["--name", "d"]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..6 {
                // Replaces documents and adds new ones between them.
                let more = format!("[{round},{{\"a\":{round}}}]\n").repeat(2_000);
                store.import(&more, &["--name", "d", "--existing", "replace"]);
                store.import(&more, &["--name", &format!("d-{round}")]);
            }
        });
        let mut checks = 0;
        while !writer.is_finished() {
            let told = store.out(&["check"]);
            assert!(told.ends_with("; sound\n"), "{told}");
            checks += 1;
        }
        assert!(checks > 1, "none ran beside a write");
    });
    let told = store.out(&["check"]);
    assert!(told.starts_with("14000 documents, "), "{told}");
}
