//! `phyllo import --extended-json`

use super::harness::both;

/// A document as `mongoexport` writes it, in each version and form.
const FORMS: [&str; 3] = [
    r#"{"_id":{"$oid":"507f1f77bcf86cd799439011"},"at":{"$date":{"$numberLong":"1577836800000"}},"n":{"$numberInt":"5"},"l":{"$numberLong":"9007199254740993"},"d":{"$numberDouble":"1.5"},"m":{"$numberDecimal":"1.10"}}"#,
    r#"{"_id":{"$oid":"507f1f77bcf86cd799439011"},"at":{"$date":"2020-01-01T00:00:00Z"},"n":5,"l":{"$numberLong":"9007199254740993"},"d":1.5,"m":{"$numberDecimal":"1.10"}}"#,
    r#"{"_id":{"$oid":"507f1f77bcf86cd799439011"},"at":{"$date":1577836800000},"n":5,"l":{"$numberLong":"9007199254740993"},"d":1.5,"m":{"$numberDecimal":"1.10"}}"#,
];

#[test]
fn all_versions_and_forms_become_the_same_document() {
    both(|store| {
        for form in FORMS {
            for text in [form.to_owned(), format!("[{form}]")] {
                store.import(&text, &["--extended-json", "--id", "/_id"]);
                assert_eq!(
                    store.out(&["get", "507f1f77bcf86cd799439011"]),
                    "{\"_id\":\"507f1f77bcf86cd799439011\",\"at\":\"2020-01-01T00:00:00.000Z\",\"d\":1.5,\
                     \"l\":9007199254740993,\"m\":\"1.10\",\"n\":5}\n"
                );
                store.run(&["delete", "D", "--everything"]).expect(0);
            }
        }
        store.import(FORMS[0], &["--name", "plain"]);
        assert_eq!(
            store.out(&["get", "plain", "/n"]),
            "{\"$numberInt\":\"5\"}\n"
        );
    });
}

#[test]
fn invalid_values_are_reported_with_their_position() {
    both(|store| {
        let lines = "{\"_id\":1}\n{\"_id\":2,\"a\":[{\"$oid\":\"x\"}]}\n{\"_id\":3,\n{\"_id\":{\"$numberLong\":\"4\"}}\n";
        let arguments = [
            "import",
            "-",
            "--extended-json",
            "--id",
            "/_id",
            "--on-error",
            "continue",
        ];
        let run = store.run_on(lines, &arguments).expect(1);
        run.says(
            "-: line 2, column 15 (document 2): `$oid` requires a string of 24 hexadecimal digits",
        )
        .says("-: line 3, column 10 (document 3): ")
        .says("2 created, 0 replaced; 0 skipped, 2 failed");
        assert_eq!(store.ids("D"), ["1", "4"]);
    });
}
