//! `phyllo index`

use phyllo::database::{BuildStep, Builder};

use super::harness::{Store, open};

/// More than one batch of a build.
const DOCUMENTS: usize = 1_200;

/// Builds until some documents are processed, and stops. Returns how many.
fn build_in_part(store: &Store) -> usize {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let mut builder = Builder::new(open(store.path()).await);
        match builder.step().await.expect("a batch") {
            BuildStep::Documents(_, _, documents) => documents,
            step => panic!("{step:?}"),
        }
    })
}

#[test]
fn a_build_that_was_stopped_shows_its_documents_and_is_continued() {
    let mut store = Store::alone();
    let numbered = |n: usize| format!("{{\"n\":{n}}}\n");
    let lines: String = (0..DOCUMENTS).map(numbered).collect();
    store.import(lines, &["--format", "lines"]);
    let create = ["index", "create", "D", "n", "$.n"];
    let unwaited = store.run(&[&create[..], &["--no-wait"]].concat());
    unwaited.expect(0).says("is being built");
    let line = |state: &str| format!("D\tn\t[\"$.n\"]\t\t{state}\n");
    let expected = line("BUILDING\t0 of 1200 documents");
    assert_eq!(store.out(&["index", "list"]), expected);

    let built = build_in_part(&store);
    assert!(built > 0 && built < DOCUMENTS, "{built}");
    let expected = line(&format!("BUILDING\t{built} of 1200 documents"));
    assert_eq!(store.out(&["index", "list"]), expected);
    let json = store.out(&["index", "list", "--json"]);
    assert!(json.contains(&format!("\"indexed\":{built}")), "{json}");

    store.run(&create).expect(0).says("is ready");
    assert_eq!(store.out(&["index", "list"]), line("READY"));
    store.serve();
    assert_eq!(store.out(&["index", "list"]), line("READY"));
    store.run(&["check"]).expect(0);
}
