//! `phyllo import` of CSV and TSV

use super::harness::both;

#[test]
fn records_become_documents_at_the_places_of_the_header() {
    both(|store| {
        let csv = "\u{FEFF}code,name.common,/name/official,capitals.0,capitals.1\r\n\
                   ZAF,South Africa,\"Republic of\r\nSouth \"\"Africa\"\"\",Pretoria,Cape Town\r\n\
                   \r\n\
                   FRA,France,,Paris,\r\n";
        let file = store.file("c.csv", csv);
        let run = store.run(&["import", &file, "--id", "/code"]).expect(0);
        run.says("2 documents imported");
        assert_eq!(
            store.out(&["get", "ZAF"]),
            "{\"capitals\":[\"Pretoria\",\"Cape Town\"],\"code\":\"ZAF\",\"name\":{\"common\":\"South Africa\",\
             \"official\":\"Republic of\\r\\nSouth \\\"Africa\\\"\"}}\n"
        );
        assert_eq!(
            store.out(&["get", "FRA"]),
            "{\"capitals\":[\"Paris\",\"\"],\"code\":\"FRA\",\"name\":{\"common\":\"France\",\"official\":\"\"}}\n"
        );
        let tsv = "a\tb.c\n1\tx,y\n2.50\t\n\"3\t\"\ttrue";
        store.import(tsv, &["--format", "tsv", "--infer", "--name", "t"]);
        assert_eq!(
            store.out(&["get", "t-1"]),
            "{\"a\":1,\"b\":{\"c\":\"x,y\"}}\n"
        );
        assert_eq!(store.out(&["get", "t-2"]), "{\"a\":2.5}\n");
        assert_eq!(
            store.out(&["get", "t-3"]),
            "{\"a\":\"3\\t\",\"b\":{\"c\":true}}\n"
        );
        assert_eq!(store.count(), 5);
    });
}

#[test]
fn the_type_of_the_collection_says_what_fields_are() {
    both(|store| {
        store.import("{}", &[]);
        store.run(&["delete", "D", "--everything"]).expect(0);
        let schema =
            r#"{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}"#;
        let schema = store.file("schema.json", schema);
        store.run(&["types", "set", "D", &schema]).expect(0);
        let file = store.file("x.csv", "n,s,other\n1,2,3\n,,\nx,4,5\n6,7,8\n");
        let run = store
            .run(&["import", &file, "--on-error", "continue"])
            .expect(1);
        run.says(&format!("{file}: line 4, column 1 (document 3): "))
            .says("the value at \"/n\" of the document x-3 does not fit the type")
            .says("3 created, 0 replaced; 0 skipped, 1 failed");
        assert_eq!(
            store.out(&["get", "x-1"]),
            "{\"n\":1,\"other\":\"3\",\"s\":\"2\"}\n"
        );
        assert_eq!(store.out(&["get", "x-2"]), "{\"other\":\"\",\"s\":\"\"}\n");
        let run = store.run(&["import", &file, "--infer", "--existing", "skip"]);
        run.expect(1).says("2 skipped, 1 failed");
    });
}

#[test]
fn malformed_records_are_reported_with_their_position() {
    both(|store| {
        let csv = b"a,b\n1,2\n\"x\ny\",\n1\n1,2,3\n1,\xFF\n3,4\n";
        let arguments = [
            "import",
            "-",
            "--format",
            "csv",
            "--name",
            "x",
            "--on-error",
            "continue",
        ];
        let run = store.run_on(csv, &arguments).expect(1);
        run.says(
            "-: line 5, column 1 (document 3): the number of fields is 1, but the header has 2",
        )
        .says("-: line 6, column 1 (document 4): the number of fields is 3, but the header has 2")
        .says("-: line 7, column 1 (document 5): field 2 is not valid UTF-8")
        .says("3 created, 0 replaced; 0 skipped, 3 failed");
        assert_eq!(store.ids("D"), ["x-1", "x-2", "x-6"]);

        let run = store.run_on(
            "a,b\n1,2\n3,\"4\n5,6\n",
            &["import", "-", "--format", "csv", "--name", "y"],
        );
        run.expect(1)
            .says("-: line 3, column 1: a quotation mark in this record is not closed")
            .says("1 document imported");
        for header in ["a,a\n", "a,a.b\n", "/~2\n", "\"a\n"] {
            let run = store.run_on(
                format!("{header}1,2\n"),
                &["import", "-", "--format", "csv"],
            );
            run.expect(1).says("-: line 1, column 1: ");
        }
        store
            .import("", &["--format", "csv"])
            .says("0 documents imported");
        store
            .import("a,b\n", &["--format", "csv"])
            .says("0 documents imported");
    });
}
