//! `phyllo sample`

use super::harness::both;

const STORED: &str = "countries\t40\nguides\t1\n";

#[test]
fn sample_data_are_stored_once_and_changes_to_them_are_kept() {
    both(|store| {
        assert_eq!(store.out(&["sample"]), STORED);
        let capital = ["get", "FRA", "/capital", "--collection", "countries"];
        assert_eq!(store.out(&capital), "[\"Paris\"]\n");
        let changed = r#"{"id":"FRA","document":{"name":{"common":"France"},"region":"Europe","capital":["Lyon"]}}"#;
        let flags = ["--collection", "countries", "--format", "export"];
        store.import(changed, &flags);
        assert_eq!(store.out(&["sample"]), STORED);
        assert_eq!(store.out(&capital), "[\"Lyon\"]\n");
        assert_eq!(store.out(&["collections"]), STORED);
        store.run(&["check"]).expect(0);
    });
}

#[test]
fn sample_data_have_types() {
    both(|store| {
        store.out(&["sample"]);
        let types = store.out(&["types", "list"]);
        assert_eq!(types, "countries\tENFORCED\t0\nguides\tENFORCED\t0\n");
        let text = store.out(&["schema", "--types"]);
        for part in [
            "type Country {",
            "input CountryInput {",
            "  country(",
            "  guides(",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = store.out(&["schema", "--types", "--subgraph", "--read-only"]);
        assert!(
            text.contains("type Guide @key(fields: \"key\") {"),
            "{text}"
        );
        assert!(!text.contains("CountryInput"), "{text}");
        assert!(!store.out(&["schema"]).contains("Country"));
    });
}

#[test]
fn a_collection_with_other_documents_gets_no_type() {
    both(|store| {
        let other = r#"{"id":"1","document":[1]}"#;
        store.import(other, &["--collection", "countries", "--format", "export"]);
        assert_eq!(store.out(&["sample"]), STORED);
        assert_eq!(store.out(&["types", "list"]), "guides\tENFORCED\t0\n");
    });
}
