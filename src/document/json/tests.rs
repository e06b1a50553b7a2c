use super::*;

/// The events of a text up to its end, or the error.
fn events(text: &str) -> Result<Vec<Event<'_>>, JsonError> {
    let mut reader = Reader::new(text, 128);
    let mut events = Vec::new();
    loop {
        match reader.next()? {
            Event::End => return Ok(events),
            event => events.push(event),
        }
    }
}

fn check_refused(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let error = events(text).expect_err(text);
        assert_eq!(error.describe(text), *expected, "{text:?}");
    }
}

#[test]
fn texts_are_read_as_events() {
    let text = " {\"a\" : [ 1 , -2.5e+3,{ } ,[] ], \"\\u00e9\":\"\\n\",\"\":true }\r\n\t";
    let name = |name: &'static str| Event::Name(name.into());
    let expected = vec![
        Event::BeginObject,
        name("a"),
        Event::BeginArray,
        Event::Number("1"),
        Event::Number("-2.5e+3"),
        Event::BeginObject,
        Event::EndObject,
        Event::BeginArray,
        Event::EndArray,
        Event::EndArray,
        name("é"),
        Event::String("\n".into()),
        name(""),
        Event::Bool(true),
        Event::EndObject,
    ];
    assert_eq!(events(text), Ok(expected));
}

#[test]
fn a_string_without_escapes_is_borrowed() {
    let borrowed = |text| match &events(text).expect("a string")[0] {
        Event::String(string) => matches!(string, Cow::Borrowed(_)),
        other => panic!("{other:?}"),
    };
    assert!(borrowed("\"é\u{7f}🌳\""));
    assert!(!borrowed("\"\\n\""));
}

#[test]
fn numbers_keep_their_text_and_follow_the_grammar() {
    for text in [
        "0",
        "-0",
        "10",
        "-0.0",
        "0.10",
        "1e5",
        "1E+05",
        "1e-400",
        "0e0",
        "12345678901234567890",
    ] {
        assert_eq!(events(text), Ok(vec![Event::Number(text)]));
    }
    check_refused(&[
        ("01", "expected the end of the text at line 1, column 2"),
        ("-01", "expected the end of the text at line 1, column 3"),
        ("[00]", "expected ',' or ']' at line 1, column 3"),
        ("1.", "expected a digit at line 1, column 3"),
        ("1.e5", "expected a digit at line 1, column 3"),
        (".5", "expected a JSON value at line 1, column 1"),
        ("-.5", "expected a digit at line 1, column 2"),
        ("+1", "expected a JSON value at line 1, column 1"),
        ("-", "expected a digit at line 1, column 2"),
        ("--1", "expected a digit at line 1, column 2"),
        ("1e", "expected a digit at line 1, column 3"),
        ("1e+", "expected a digit at line 1, column 4"),
        ("1e+-1", "expected a digit at line 1, column 4"),
        ("1e1.5", "expected the end of the text at line 1, column 4"),
        ("0x1", "expected the end of the text at line 1, column 2"),
        ("1_0", "expected the end of the text at line 1, column 2"),
        ("NaN", "expected a JSON value at line 1, column 1"),
        ("Infinity", "expected a JSON value at line 1, column 1"),
        ("-Infinity", "expected a digit at line 1, column 2"),
        ("１", "expected a JSON value at line 1, column 1"),
    ]);
}

#[test]
fn invalid_json_is_rejected_with_its_line_and_column() {
    check_refused(&[
        ("", "expected a JSON value at line 1, column 1"),
        (" \n ", "expected a JSON value at line 2, column 2"),
        ("{\"a\":1,\n\"b\" 2}", "expected ':' at line 2, column 5"),
        ("[1,\n\n  }", "expected a JSON value at line 3, column 3"),
        ("[1,]", "expected a JSON value at line 1, column 4"),
        ("[,1]", "expected a JSON value at line 1, column 2"),
        ("[1 2]", "expected ',' or ']' at line 1, column 4"),
        ("[1", "expected ',' or ']' at line 1, column 3"),
        ("[", "expected a JSON value at line 1, column 2"),
        ("{", "expected a member's name or '}' at line 1, column 2"),
        ("{,}", "expected a member's name or '}' at line 1, column 2"),
        (
            "{a:1}",
            "expected a member's name or '}' at line 1, column 2",
        ),
        ("{\"a\"}", "expected ':' at line 1, column 5"),
        ("{\"a\":}", "expected a JSON value at line 1, column 6"),
        ("{\"a\":1,}", "expected a member's name at line 1, column 8"),
        ("{\"a\":1]", "expected ',' or '}' at line 1, column 7"),
        ("]", "expected a JSON value at line 1, column 1"),
        ("truE", "expected a JSON value at line 1, column 1"),
        ("nul", "expected a JSON value at line 1, column 1"),
        ("nulll", "expected the end of the text at line 1, column 5"),
        ("'a'", "expected a JSON value at line 1, column 1"),
        ("\u{feff}1", "expected a JSON value at line 1, column 1"),
        (
            "1\u{a0}",
            "expected the end of the text at line 1, column 2",
        ),
        (
            "1 // no",
            "expected the end of the text at line 1, column 3",
        ),
        ("1 2", "expected the end of the text at line 1, column 3"),
        ("{}\n{}", "expected the end of the text at line 2, column 1"),
        (
            "\"é🌳\"x",
            "expected the end of the text at line 1, column 9",
        ),
    ]);
}

#[test]
fn control_characters_and_unknown_escapes_are_rejected() {
    let control = "an unescaped control character in a string at line 1, column 3";
    for byte in 0_u8..0x20 {
        let text = format!("\"a{}\"", char::from(byte));
        assert_eq!(events(&text).expect_err("control").describe(&text), control);
    }
    check_refused(&[
        (
            "\"\\x\"",
            "\\x in a string, which is no escape at line 1, column 2",
        ),
        (
            "\"\\U0041\"",
            "\\U in a string, which is no escape at line 1, column 2",
        ),
        (
            "\"\\é\"",
            "\\é in a string, which is no escape at line 1, column 2",
        ),
        (
            "\"\\🌳\"",
            "\\🌳 in a string, which is no escape at line 1, column 2",
        ),
        (
            "\"\\'\"",
            "\\' in a string, which is no escape at line 1, column 2",
        ),
        (
            "\"\\0\"",
            "\\0 in a string, which is no escape at line 1, column 2",
        ),
        (
            "{\"a\\.b\":1}",
            "\\. in a string, which is no escape at line 1, column 4",
        ),
        (
            "\"\\\n\"",
            "\\ before '\\n' in a string, which is no escape at line 1, column 2",
        ),
        (
            "\"\\",
            "expected the string's closing '\"' at line 1, column 3",
        ),
    ]);
    let digits = "\\u in a string without its four hexadecimal digits at line 1, column";
    for (text, column) in [
        ("\"\\u", 2),
        ("\"\\u12", 2),
        ("\"\\u12\"", 2),
        ("\"\\u12G4\"", 2),
        ("\"\\u+123\"", 2),
        ("\"\\u00é\"", 2),
        ("\"\\ud83c\\u12\"", 8),
    ] {
        let error = events(text).expect_err(text).describe(text);
        assert_eq!(error, format!("{digits} {column}"), "{text:?}");
    }
    let open = "expected the string's closing '\"' at line 1, column 3";
    assert_eq!(events("\"a").expect_err("open").describe("\"a"), open);
    assert_eq!(events("\"a\\\"").expect_err("open").offset, 4);
}

#[test]
fn lone_surrogates_are_rejected_and_pairs_are_characters() {
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\udfff""#,
        r#""\ud83c""#,
        r#""\ud83cx""#,
        r#""\ud83c\n""#,
        r#""\ud83c\ud83c""#,
        r#""\ud83c\u0041""#,
        r#""\udf33\ud83c""#,
    ] {
        let error = events(text).expect_err(text);
        assert_eq!(error.problem, Problem::LoneSurrogate, "{text}");
    }
    assert_eq!(
        events(r#"{"\ud800":1}"#).expect_err("a name").problem,
        Problem::LoneSurrogate
    );
    let string = |text: &'static str| Ok(vec![Event::String(text.into())]);
    assert_eq!(events(r#""\ud83C\uDF33""#), string("🌳"));
    assert_eq!(events(r#""\udbff\udfff""#), string("\u{10ffff}"));
    assert_eq!(
        events(r#""\ud7ff\ue000\uffff""#),
        string("\u{d7ff}\u{e000}\u{ffff}")
    );
}

#[test]
fn nesting_is_limited_to_128_levels() {
    let arrays = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let objects = |levels: usize| "{\"\":".repeat(levels) + "1" + &"}".repeat(levels);
    assert!(events(&arrays(128)).is_ok());
    assert!(events(&objects(128)).is_ok());
    for (text, column) in [(arrays(129), 129), (objects(129), 4 * 128 + 1)] {
        let error = events(&text).expect_err("too deep");
        let expected =
            format!("more than 128 levels of objects and arrays at line 1, column {column}");
        assert_eq!(error.describe(&text), expected);
    }
    let side_by_side = format!("[{}]", vec![arrays(127); 3].join(","));
    assert!(events(&side_by_side).is_ok());
    assert!(events(&"[".repeat(1_000_000)).is_err());
}

#[test]
fn skipped_values_return_their_text() {
    let mut reader = Reader::new("{\"a\" : [1, {\"b\":[]}] ,\"c\":-1.5 } ", 128);
    assert_eq!(reader.next(), Ok(Event::BeginObject));
    assert_eq!(reader.next(), Ok(Event::Name("a".into())));
    assert_eq!(reader.skip_value(), Ok("[1, {\"b\":[]}]"));
    assert_eq!(reader.next(), Ok(Event::Name("c".into())));
    assert_eq!(reader.skip_value(), Ok("-1.5"));
    assert_eq!(reader.next(), Ok(Event::EndObject));
    assert_eq!(reader.next(), Ok(Event::End));
    assert_eq!(reader.next(), Ok(Event::End));

    let mut reader = Reader::new("[ \"x\" ,\n {} , 3]", 128);
    assert_eq!(reader.next(), Ok(Event::BeginArray));
    let elements = [(); 3].map(|()| reader.skip_value());
    assert_eq!(elements, [Ok("\"x\""), Ok("{}"), Ok("3")]);
    assert_eq!(reader.next(), Ok(Event::EndArray));
}

#[test]
fn strings_are_escaped_only_where_json_requires_it() {
    for (text, expected) in [
        ("", r#""""#),
        ("plain é 🌳 /", r#""plain é 🌳 /""#),
        ("\"\\", r#""\"\\""#),
        ("\u{8}\t\n\u{c}\r", r#""\b\t\n\f\r""#),
        ("\0\u{1}\u{b}\u{1f}", r#""\u0000\u0001\u000b\u001f""#),
        (
            "\u{7f}\u{80}\u{2028}\u{2029}",
            "\"\u{7f}\u{80}\u{2028}\u{2029}\"",
        ),
        ("a\"b", r#""a\"b""#),
    ] {
        let mut out = Vec::new();
        write_string(&mut out, text);
        assert_eq!(out, expected.as_bytes(), "{text:?}");
    }
}

#[test]
fn long_strings_and_spaces_end_correctly() {
    for length in 0..300 {
        let plain = "é".repeat(length / 2) + &"x".repeat(length % 2);
        for (end, expected) in [("", plain.clone()), (r"\n", format!("{plain}\n"))] {
            let text = format!("\"{plain}{end}\"{}", " \n\t\r".repeat(length));
            let mut reader = Reader::new(&text, 0);
            assert_eq!(reader.next(), Ok(Event::String(expected.into())));
            assert_eq!(reader.next(), Ok(Event::End), "{length}");
        }
        let text = format!("{}\"{plain}\u{1f}\"", " ".repeat(length));
        let error = Reader::new(&text, 0)
            .next()
            .expect_err("a control character");
        assert_eq!(error.problem, Problem::ControlCharacter);
        assert_eq!(error.offset, length + 1 + plain.len());
        let error = Reader::new(&text[..length], 0)
            .next()
            .expect_err("no value");
        assert_eq!(error.offset, length);
    }
}

/// The end of the value at the start of a text, from its events.
fn end_by_events(text: &str, levels_max: usize) -> Result<usize, JsonError> {
    let mut reader = Reader::new(text, levels_max);
    let mut levels = 0;
    loop {
        match reader.next()? {
            Event::BeginObject | Event::BeginArray => levels += 1,
            Event::EndObject | Event::EndArray => levels -= 1,
            _ => {}
        }
        if levels == 0 {
            return Ok(reader.offset());
        }
    }
}

/// Asserts that skipping a value has the same result as reading its events.
fn check_skipped(text: &str) {
    for levels_max in [2, 100] {
        let skipped = Reader::new(text, levels_max).skip_value().map(str::len);
        let space = text.len() - text.trim_start_matches([' ', '\n', '\r', '\t']).len();
        let expected = end_by_events(text, levels_max);
        assert_eq!(skipped.map(|length| space + length), expected, "{text:?}");
    }
}

#[test]
fn skipped_values_are_validated_like_read_values() {
    let row: Vec<String> = (0..40).map(|at| format!(",{}", at * at)).collect();
    let row = row.concat();
    let spaced: Vec<String> = (0..30).map(|at| format!(", -{at}")).collect();
    let spaced = spaced.concat();
    let texts = [
        " {\"a\" : [ 1 , -2.5e+3,{ } ,[] ], \"\\u00e9\":\"\\n\",\"\":true }".to_owned(),
        "[[],{},[[{\"b\":null}]],false,\"\\ud83c\\udf33\",-0,0.1E-7]".to_owned(),
        format!("[0{row},{{\"c\":1}}]"),
        format!("[7{spaced}, 2.5, 3]"),
        format!("{}1{}", "[".repeat(70), "]".repeat(70)),
        format!("{}1{}", "[{\"a\":".repeat(35), "}]".repeat(35)),
        format!("[\"{}\",\"{}\\\"\"]", "x".repeat(15), "y".repeat(90)),
    ];
    for text in texts {
        check_skipped(&text);
        for at in 0..text.len() {
            check_skipped(&text[..at]);
            for other in "01-+.eE,:[]{}\"\\ \nu\u{1f}".chars() {
                let (before, after) = (&text[..at], &text[at..]);
                check_skipped(&format!("{before}{other}{after}"));
                check_skipped(&format!("{before}{other}{}", &after[1..]));
            }
            check_skipped(&format!("{}{}", &text[..at], &text[at + 1..]));
        }
    }
}

#[test]
fn runs_of_equal_bytes_are_validated_like_read_values() {
    for element in [
        "null",
        "\"x\"",
        "{\"a\":[1]}",
        "[[],{}, 2]",
        "{\"a\" : 1.5 , \"a\":null,\"b\":[true,true]}",
    ] {
        for comma in [",", " ,\n\t "] {
            let row = [element; 100].join(comma);
            let member = format!("\"k\": {element}");
            let members = [&member[..]; 60].join(comma);
            let other = format!("{row}{comma}1{comma}{row}");
            for text in [
                format!("[{other}{comma}{other}{comma}{other}]"),
                format!("{{\"\":[{row}]{comma}{members}{comma}\"l\":{{{members}}}}}"),
                format!("[[{row}]{comma}[{row}]{comma}[{row}]{comma}[{row}],0]"),
            ] {
                // Only long texts are searched for rows.
                let text = format!("{text}{}", " ".repeat(4_096));
                check_skipped(&text);
                for at in (0..text.len() - 4_096).step_by(89) {
                    check_skipped(&format!("{}{}", &text[..at], " ".repeat(4_096)));
                    check_skipped(&format!("{}{}", &text[..at], &text[at + 1..]));
                    for other in [",", "1", "]", "\"", "{"] {
                        check_skipped(&format!("{}{other}{}", &text[..at], &text[at..]));
                    }
                }
            }
        }
    }
}

#[test]
fn utf8_validation_equals_the_standard_library() {
    for bytes in [
        &b"plain"[..],
        "é🌳".as_bytes(),
        b"\xC0\x80",
        b"\xED\xA0\x80",
        b"a\xF0\x9F\x8C",
        &[b"x".repeat(100), b"\xFF".to_vec()].concat(),
    ] {
        assert_eq!(utf8(bytes), std::str::from_utf8(bytes));
    }
}

#[test]
fn plain_texts_before_a_nul_are_written_like_strings() {
    for length in 0..40 {
        for at in 0..length {
            for byte in [b'x', 0, 1, 0x1F, b' ', b'"', b'\\', 0x7F, 0x80, 0xFF] {
                let mut bytes = vec![b'a'; length];
                bytes[at] = byte;
                for behind in [&b""[..], b"\0", b"\0\0", b"\0b\"\x80345678"] {
                    check_plain(&[&bytes[..], behind].concat());
                }
            }
        }
    }
}

fn check_plain(bytes: &[u8]) {
    let mut out = b"before".to_vec();
    let mut expected = out.clone();
    let end = bytes.iter().position(|byte| *byte == 0);
    let text = end.and_then(|end| std::str::from_utf8(&bytes[..end]).ok());
    let plain = |byte: u8| byte.is_ascii() && byte >= 0x20 && byte != b'"' && byte != b'\\';
    let text = text.filter(|text| text.bytes().all(plain));
    if let Some(text) = text {
        write_string(&mut expected, text);
    }
    let written = write_plain_before_nul(&mut out, bytes);
    assert_eq!(written, text.map(str::len), "{bytes:?}");
    assert_eq!(out, expected, "{bytes:?}");
}
