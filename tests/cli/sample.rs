//! `phyllo sample`

use super::harness::both;

const STORED: &str = "countries\t40\nguides\t1\n";

#[test]
fn sample_data_are_stored_once_and_changes_to_them_are_kept() {
    both(|store| {
        assert_eq!(store.out(&["sample"]), STORED);
        let capital = ["get", "FRA", "/capital", "--collection", "countries"];
        assert_eq!(store.out(&capital), "[\"Paris\"]\n");
        let changed = r#"{"id":"FRA","document":{"capital":["Lyon"]}}"#;
        let flags = ["--collection", "countries", "--format", "export"];
        store.import(changed, &flags);
        assert_eq!(store.out(&["sample"]), STORED);
        assert_eq!(store.out(&capital), "[\"Lyon\"]\n");
        assert_eq!(store.out(&["collections"]), STORED);
        store.run(&["check"]).expect(0);
    });
}
