use super::*;
use crate::error::ErrorKind;

/// Records the leaves with their paths, and clears those that are dropped.
#[derive(Default)]
struct Noted {
    path: Vec<String>,
    notes: Vec<Option<String>>,
    forgets: usize,
}

impl Noted {
    fn note(&mut self, what: &str) {
        self.notes
            .push(Some(format!("{}={what}", self.path.join("/"))));
    }
}

impl LeafSink for Noted {
    fn enter(&mut self, segment: SegmentRef<'_>) -> Result<()> {
        self.path.push(match segment {
            SegmentRef::Key(key) => key.to_owned(),
            SegmentRef::Index(index) => format!("#{index}"),
        });
        Ok(())
    }

    fn leave(&mut self) {
        self.path.pop().expect("as many as were entered");
    }

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<()> {
        let mut out = Vec::new();
        leaf.write_json(&mut out);
        self.note(&String::from_utf8(out).expect("UTF-8"));
        Ok(())
    }

    fn empty(&mut self, kind: Kind) -> Result<()> {
        self.note(&format!("{kind:?}"));
        Ok(())
    }

    fn taken(&self) -> usize {
        self.notes.len()
    }

    fn forget(&mut self, taken: Range<usize>) {
        self.forgets += 1;
        self.notes[taken].fill(None);
    }
}

fn leaves(text: &str) -> Vec<String> {
    let mut noted = Noted::default();
    flatten(text, &mut noted).expect(text);
    assert!(noted.path.is_empty());
    noted.notes.into_iter().flatten().collect()
}

fn refused(text: &str) -> (ErrorKind, String) {
    let error = flatten(text, &mut Noted::default()).expect_err(text);
    (error.kind(), error.message().to_owned())
}

#[test]
fn leaves_have_their_paths_in_the_order_of_the_text() {
    assert_eq!(leaves("1"), ["=1"]);
    assert_eq!(leaves("{}"), ["=Object"]);
    assert_eq!(leaves("[]"), ["=Array"]);
    let text = r#"{"b":[1,[],{"x":null},[[2]]],"a":{"":{}},"c":"s"}"#;
    let expected = [
        "b/#0=1",
        "b/#1=Array",
        "b/#2/x=null",
        "b/#3/#0/#0=2",
        "a/=Object",
        "c=\"s\"",
    ];
    assert_eq!(leaves(text), expected);
}

#[test]
fn the_last_member_of_a_name_wins() {
    for (text, expected) in [
        (r#"{"a":1,"a":2}"#, &["a=2"][..]),
        (r#"{"a":1,"a":2,"a":3}"#, &["a=3"]),
        (r#"{"a":1,"b":2,"a":3,"b":4,"a":5}"#, &["b=4", "a=5"]),
        (r#"{"a":1,"\u0061":2}"#, &["a=2"]),
        (r#"{"\u0061":1 , "a" : 2}"#, &["a=2"]),
        (r#"{"":1,"":{}}"#, &["=Object"]),
        (r#"{"a":{"b":1,"c":[2,3]},"a":4}"#, &["a=4"]),
        (
            r#"{"a":4,"a":{"b":1,"b":2,"c":[2,3]}}"#,
            &["a/b=2", "a/c/#0=2", "a/c/#1=3"],
        ),
        (r#"{"a":{"b":1,"b":2},"a":{"c":1},"a":{}}"#, &["a=Object"]),
        (r#"{"a":[],"a":[[]],"x":0}"#, &["a/#0=Array", "x=0"]),
        (
            r#"[{"a":1,"a":2},{"a":3},{"a":4,"a":5}]"#,
            &["#0/a=2", "#1/a=3", "#2/a=5"],
        ),
        (r#"{"a":{"a":1},"b":{"a":2}}"#, &["a/a=1", "b/a=2"]),
        (
            r#"{"a":[{"a":1,"a":2}],"b":3,"a":[{"a":4,"a":5}]}"#,
            &["b=3", "a/#0/a=5"],
        ),
    ] {
        assert_eq!(leaves(text), expected, "{text}");
    }
}

#[test]
fn names_with_equal_hashes_are_distinguished() {
    let text = r#"{"a":1,"b":2,"a":3,"c":4,"b":5,"a":6}"#;
    let mut noted = Noted::default();
    let member = |at: usize, taken: usize| Member {
        hash: 7,
        at,
        begin: taken,
        end: taken + 1,
    };
    noted.notes = vec![Some(String::new()); 6];
    let mut members = Members {
        text,
        seen: (0..6)
            .map(|number| member(1 + 6 * number, number))
            .collect(),
        hasher: RandomState::new(),
    };
    members.end(0, &mut noted);
    assert!(members.seen.is_empty());
    let kept: Vec<bool> = noted.notes.iter().map(Option::is_some).collect();
    assert_eq!(kept, [false, false, false, true, true, true]);
}

#[test]
fn repeated_member_names_cost_one_comparison_each() {
    let text = format!("{{{}\"a\":0}}", "\"a\":1,".repeat(200_000));
    let mut noted = Noted::default();
    flatten(&text, &mut noted).expect("valid JSON");
    assert_eq!(noted.forgets, 200_000);
    let kept: Vec<String> = noted.notes.into_iter().flatten().collect();
    assert_eq!(kept, ["a=0"]);
}

#[test]
fn errors_have_line_and_column() {
    for (text, kind, message) in [
        (
            "[1,\n 1e400]",
            ErrorKind::BadUserInput,
            "at line 2, column 2 of the JSON: the number 1e400",
        ),
        (
            "{\"a\":\n\t-1e400}",
            ErrorKind::BadUserInput,
            "at line 2, column 2 of the JSON: the num",
        ),
        (
            "[\n]]",
            ErrorKind::BadUserInput,
            "not valid JSON: expected the end of the text at line 2",
        ),
        (
            "NaN",
            ErrorKind::BadUserInput,
            "not valid JSON: expected a JSON value at line 1, column 1",
        ),
        (
            "\"\\ud800\"",
            ErrorKind::BadUserInput,
            "not valid JSON: a lone surrogate",
        ),
    ] {
        let (found, refusal) = refused(text);
        assert_eq!(found, kind, "{text}");
        assert!(refusal.starts_with(message), "{text}: {refusal}");
    }
    let (kind, refusal) = refused(&format!("[0,\n{}]", "7".repeat(700)));
    assert_eq!(kind, ErrorKind::TooLarge);
    assert!(
        refusal.starts_with("at line 2, column 1 of the JSON: the integer 777"),
        "{refusal}"
    );
    assert!(
        refusal.contains("700 digits") && refusal.contains("255 bytes"),
        "{refusal}"
    );
    let (kind, refusal) = refused(&"[".repeat(129));
    assert_eq!(kind, ErrorKind::TooLarge);
    assert_eq!(
        refusal,
        "more than 128 levels of objects and arrays at line 1, column 129"
    );
}
