//! Hostile queries are rejected early: by limits on the text before it is parsed, or on its
//! expanded size before it is traversed.

use std::fmt::Write;

use serde_json::json;

use super::support::{NONE, client};

cases!(
    async [
        doubling_fragments_are_rejected,
        doubling_fragments_with_an_unknown_field_are_rejected,
        unused_doubling_fragments_are_rejected,
        cyclic_doubling_fragments_are_rejected,
        long_fragment_chains_are_rejected_even_if_unused,
        many_operations_with_a_shared_large_fragment_are_rejected,
        fanning_fields_are_rejected,
        too_many_aliases_fields_tokens_directives_and_bytes_are_rejected,
        too_many_brackets_are_rejected_before_parsing,
        unterminated_block_strings_do_not_bypass_the_limits,
        too_many_levels_of_fields_are_rejected,
        paths_are_counted_for_each_fragment_spread,
        values_and_directives_are_counted_for_each_fragment_spread,
        introspection_is_counted_with_its_list_sizes,
        number_and_size_of_errors_are_limited,
        duplicate_operation_names_are_one_error,
        too_many_operations_and_lines_are_rejected_before_parsing,
        long_unknown_names_get_no_suggestions,
        queries_just_within_the_limits_are_executed,
        introspection_queries_of_common_tools_are_executed,
        variables_nest_up_to_the_limit,
    ]
);

/// Asserts that a query is rejected before execution as too complex, with the name of the limit.
async fn assert_too_complex(query: &str, limit: &str) {
    let client = client().await;
    let before = client.counts();
    for _ in 0..2 {
        let (executed, text) = client.named(query, None, NONE).await;
        assert!(!executed, "{query:.100}");
        assert!(
            text.contains("TOO_COMPLEX") && text.contains(limit),
            "{query:.100}: {text:.300}"
        );
        assert!(text.len() < 500, "one error, not one for each");
    }
    assert_eq!(client.counts(), before);
    client.assert_serves().await;
}

/// Asserts that a query is rejected as invalid.
async fn assert_invalid(query: &str) {
    assert_invalid_as(query, "").await;
}

/// Asserts that a query is rejected as invalid with this message.
async fn assert_invalid_as(query: &str, told: &str) {
    let client = client().await;
    let (executed, text) = client.named(query, None, NONE).await;
    assert!(
        !executed && text.contains("\"errors\"") && text.contains(told),
        "{text:.300}"
    );
    client.assert_serves().await;
}

/// Fragments that each spread the next one twice, and the last of them.
fn doubling(levels: usize, last: &str) -> String {
    let mut fragments = String::new();
    for at in 0..levels {
        write!(
            fragments,
            "fragment F{at} on Query {{ ...F{} ...F{} }} ",
            at + 1,
            at + 1
        )
        .expect("a string takes all");
    }
    write!(fragments, "fragment F{levels} on Query {{ {last} }}").expect("a string takes all");
    fragments
}

/// A chain of fragments, each of which spreads the next.
fn chain(length: usize) -> String {
    (0..length)
        .map(|at| format!("fragment F{at} on Query{{...F{}}}", at + 1))
        .collect::<String>()
        + &format!("fragment F{length} on Query{{__typename}}")
}

async fn doubling_fragments_are_rejected() {
    assert_too_complex(
        &format!("{{ ...F0 }} {}", doubling(40, "__typename")),
        "10000",
    )
    .await;
    assert_too_complex(
        &format!("{{ ...F0 }} {}", doubling(60, "__typename")),
        "10000",
    )
    .await;
}

async fn doubling_fragments_with_an_unknown_field_are_rejected() {
    assert_too_complex(
        &format!("{{ ...F0 }} {}", doubling(40, "...Unknown")),
        "10000",
    )
    .await;
}

async fn unused_doubling_fragments_are_rejected() {
    assert_too_complex(
        &format!("{{ __typename }} {}", doubling(40, "__typename")),
        "10000",
    )
    .await;
}

async fn cyclic_doubling_fragments_are_rejected() {
    assert_invalid(&format!("{{ ...F0 }} {}", doubling(12, "...F0"))).await;
    assert_invalid("{ ...A } fragment A on Query { ...A }").await;
    assert_invalid("{ ...A } fragment A on Query { ...B ...B } fragment B on Query { ...A ...A }")
        .await;
    assert_invalid("{ __typename } fragment A on Query { ...B } fragment B on Query { ...A }")
        .await;
    let fields = "{ document(id: 1) { ...A } } fragment A on Subdocument { subdocument(path: \"/a\") { ...A } }";
    assert_invalid(fields).await;
}

async fn long_fragment_chains_are_rejected_even_if_unused() {
    for query in ["{ ...F0 }", "{ __typename }"] {
        assert_too_complex(&format!("{query} {}", chain(950)), "levels").await;
    }
}

async fn many_operations_with_a_shared_large_fragment_are_rejected() {
    let mut query = doubling(12, "__typename");
    for at in 0..100 {
        write!(query, " query Q{at} {{ ...F0 }}").expect("a string takes all");
    }
    assert_too_complex(&query, "10000").await;
}

async fn fanning_fields_are_rejected() {
    let mut query = String::from("query($p: Path!) { document(id: 1) { ...F0 } } ");
    for at in 0..12 {
        write!(query, "fragment F{at} on Subdocument {{ a: subdocument(path: $p) {{ ...F{0} }} b: subdocument(path: $p) {{ ...F{0} }} c: subdocument(path: $p) {{ ...F{0} }} }} ", at + 1).expect("a string takes all");
    }
    query.push_str("fragment F12 on Subdocument { kind }");
    assert_too_complex(&query, "1000 aliases").await;
}

async fn too_many_aliases_fields_tokens_directives_and_bytes_are_rejected() {
    let repeated = |count: usize, text: &str| {
        (0..count)
            .map(|at| text.replace('#', &at.to_string()))
            .collect::<String>()
    };
    assert_too_complex(
        &format!("{{ {} }}", repeated(1_001, "a#: __typename ")),
        "1000 aliases",
    )
    .await;
    assert_too_complex(
        &format!("{{ {} }}", repeated(10_000, "a:x ")),
        "10000 tokens",
    )
    .await;
    let twice = "{ ...F ...F } fragment F on Query";
    assert_too_complex(
        &format!("{twice} {{ {} }}", repeated(5_000, "a ")),
        "10000 fields",
    )
    .await;
    assert_too_complex(&format!("{{ {} }}", repeated(30_000, "a,")), "10000 tokens").await;
    assert_too_complex(&format!("{{ x {} }}", repeated(20_000, "...F ")), "tokens").await;
    assert_too_complex(&format!("{{ x{} }}", repeated(20_000, "...F")), "tokens").await;
    assert_too_complex(
        &format!("{{ __typename {} }}", repeated(5_000, "@skip(if:false)")),
        "256 directives",
    )
    .await;
    assert_too_complex(
        &format!("{{ __typename }} {}", ",".repeat(1 << 20)),
        "131072 bytes",
    )
    .await;
    assert_too_complex(
        &format!("{{ __typename }} #{}", "x".repeat(128 << 10)),
        "131072 bytes",
    )
    .await;
    assert_too_complex(
        &format!(
            "{{ document(id: \"{}\") {{ kind }} }}",
            "x".repeat(128 << 10)
        ),
        "131072 bytes",
    )
    .await;
}

async fn too_many_brackets_are_rejected_before_parsing() {
    for (open, close) in [("[", "]"), ("{a:", "}"), ("[{a:", "}]")] {
        for levels in [65, 2_000, 5_000, 20_000] {
            let (open, close) = (open.repeat(levels), close.repeat(levels));
            assert_too_complex(
                &format!("{{ document(id: {open}1{close}) {{ kind }} }}"),
                "64 nested brackets",
            )
            .await;
            // Brackets that are never closed, and brackets after text that looks like a string or
            // comment.
            assert_too_complex(
                &format!(
                    "{{ document(id: [\"a\\\"\" \"\"\"b\\\"\"\" \"\"\" # no comment\n \"#\" {open}"
                ),
                "64 nested brackets",
            )
            .await;
        }
    }
    let types = format!(
        "query($v: {}Int{}) {{ __typename }}",
        "[".repeat(2_000),
        "]".repeat(2_000)
    );
    assert_too_complex(&types, "64 nested brackets").await;
    let selections = format!("{}x{}", "{a".repeat(2_000), "}".repeat(2_000));
    assert_too_complex(&selections, "64 nested brackets").await;
}

async fn unterminated_block_strings_do_not_bypass_the_limits() {
    // A parser that gives up on the block string reads an empty string and another one.
    let query = format!("{{ document(id: [\"\"\" x\" {}", "[".repeat(60_000));
    assert_invalid_as(&query, "not closed").await;
    assert_invalid_as(&format!("{query}{}", "]".repeat(60_000)), "not closed").await;
    assert_invalid_as("{ document(id: \"\"\"", "not closed").await;
    assert_invalid_as("{ document(id: \"\"\"\\\"\"\"", "not closed").await;
}

async fn too_many_levels_of_fields_are_rejected() {
    let nested = |levels: usize| {
        format!(
            "{{ document(id: 1) {}kind{} }}",
            "{ subdocument(path: []) "
                .repeat(levels - 2)
                .as_str()
                .to_owned()
                + "{ ",
            " }".repeat(levels - 1)
        )
    };
    let client = client().await;
    client.insert("1", "1").await;
    client.data(&nested(32), NONE).await;
    assert_too_complex(&nested(33), "32 levels").await;
    let introspection = format!(
        "{{ __schema {{ types {} name {} }} }}",
        "{ fields { type ".repeat(20) + "{",
        "}".repeat(41)
    );
    assert_too_complex(&introspection, "32 levels").await;
}

async fn paths_are_counted_for_each_fragment_spread() {
    let query = "{ document(id: 1) { ...F0 } } fragment F10 on Subdocument { value(path: \"/a\") }";
    let doubling: String = (0..10)
        .map(|at| {
            format!(
                " fragment F{at} on Subdocument {{ ...F{0} ...F{0} }}",
                at + 1
            )
        })
        .collect();
    // 1,024 uses of one in the text.
    assert_too_complex(&format!("{query}{doubling}"), "1000 paths").await;
    let paths = "value(path: \"/a\") ".repeat(1_001);
    assert_too_complex(
        &format!("{{ document(id: 1) {{ {paths} }} }}"),
        "1000 paths",
    )
    .await;
}

async fn values_and_directives_are_counted_for_each_fragment_spread() {
    let operations: String = (0..100)
        .map(|at| format!("query Q{at} {{ ...F }} "))
        .collect();
    // Each operation would report each undeclared variable.
    let variables = "$a ".repeat(2_500);
    let arguments = format!("fragment F on Query {{ document(id: [{variables}]) {{ kind }} }}");
    assert_too_complex(&format!("{operations}{arguments}"), "20000 values").await;
    let directives = "@include(if: true) ".repeat(250);
    let fragment = format!("fragment F on Query {{ __typename {directives} }}");
    assert_too_complex(&format!("{operations}{fragment}"), "20000 values").await;
}

async fn introspection_is_counted_with_its_list_sizes() {
    let nested = |levels: usize| {
        format!(
            "{{ __schema {{ types {{ {} name {} }} }} }}",
            "fields { type { ".repeat(levels),
            "} }".repeat(levels)
        )
    };
    assert_too_complex(&nested(5), "250000 fields in the response").await;
    assert_too_complex(&nested(14), "250000 fields in the response").await;
    let fanned: String = (0..980)
        .map(|at| format!("a{at}: fields {{ args {{ name }} }} "))
        .collect();
    let query = format!("{{ __schema {{ types {{ {fanned} }} }} }}");
    assert_too_complex(&query, "250000 fields in the response").await;
    let client = client().await;
    let data = client.data(&nested(1), NONE).await;
    assert!(data["__schema"]["types"].is_array(), "{data}");
}

async fn number_and_size_of_errors_are_limited() {
    let client = client().await;
    let unknown: String = (0..4_000).map(|at| format!("unknown{at} ")).collect();
    let (executed, text) = client.named(&format!("{{ {unknown} }}"), None, NONE).await;
    let response = super::support::parse(&text);
    let errors = response["errors"].as_array().expect("errors");
    assert!(!executed && errors.len() == 101, "{} errors", errors.len());
    let last = errors[100]["message"].as_str().expect("a message");
    assert!(last.starts_with("3900 more errors; at most 100"), "{last}");

    let long = "x".repeat(100_000);
    for query in [
        format!("{{ {long} }}"),
        format!("{{ __typename }} {long}"),
        format!("{{ document(id: \"{long}\" }}"),
        format!("query Q {{ document(id: ${long}) {{ kind }} }}"),
        format!("query Q(${long}: Int!) {{ document(id: ${long}) {{ kind }} }}"),
        format!("query Q($a: {long}) {{ document(id: $a) {{ kind }} }}"),
        format!("query {long} {{ a }} query {long} {{ a }}"),
        format!("{{ ...{long} }} # {long}"),
    ] {
        // One text that is too long by itself.
        let query = query.get(..130_000).unwrap_or(&query);
        let (executed, text) = client.named(query, None, NONE).await;
        assert!(
            !executed && text.len() < 5_000,
            "{query:.50}: {}",
            text.len()
        );
        let error = &super::support::parse(&text)["errors"][0];
        assert_eq!(error["extensions"]["code"], json!("BAD_USER_INPUT"));
    }
    let (_, text) = client.named("{ __typename }", Some(&long), NONE).await;
    assert!(text.len() < 500, "{text:.300}");
    let (_, text) = client.named("{ a: }", None, NONE).await;
    assert!(
        text.contains("\"message\":\"syntax error: expected"),
        "{text}"
    );
    assert!(text.contains("{\"line\":1,\"column\":6}"), "{text}");
    // The message of a long text is the same.
    let long = format!("{{ {}\n a: }}", "__typename ".repeat(2_000));
    let (executed, text) = client.named(&long, None, NONE).await;
    assert!(
        !executed && text.contains(r#""message":"syntax error: expected a name, found \"}\"""#),
        "{text}"
    );
    assert!(text.contains("{\"line\":2,\"column\":5}"), "{text}");
}

async fn duplicate_operation_names_are_one_error() {
    let client = client().await;
    let (executed, text) = client
        .named(&"query A { __typename } ".repeat(100), None, NONE)
        .await;
    assert!(
        !executed && text.contains("operation A is defined twice"),
        "{text:.300}"
    );
    assert!(text.len() < 500, "{text:.600}");
}

async fn too_many_operations_and_lines_are_rejected_before_parsing() {
    let named: String = (0..1_900)
        .map(|at| format!("query A{at} {{ __typename }} "))
        .collect();
    assert_too_complex(&named, "100 operations").await;
    for operation in ["query A { __typename } ", "{ __typename } "] {
        assert_too_complex(&operation.repeat(1_900), "100 operations").await;
        // An unclosed brace starts no further operation.
        assert_too_complex(&format!("{} {{", operation.repeat(100)), "100 operations").await;
    }
    for line in ["\n", "\r", "#\n", "# }\r\n"] {
        let lines = line.repeat(10_001);
        assert_too_complex(&format!("{{ __typename {lines} }}"), "10000 lines").await;
    }
    let block = format!(
        "{{ document(id: \"\"\"{}\"\"\") {{ kind }} }}",
        "\n".repeat(10_001)
    );
    assert_too_complex(&block, "10000 lines").await;
}

async fn long_unknown_names_get_no_suggestions() {
    let client = client().await;
    let (_, text) = client
        .named("{ documentt(id: 1) { kind } }", None, NONE)
        .await;
    assert!(text.contains("Did you mean"), "{text}");
    let long = format!("document{}", "t".repeat(100_000));
    for query in [
        format!("{{ {long}(id: 1) {{ kind }} }}"),
        format!("{{ ...F }} fragment F on Query {{ {long} }}"),
        format!(
            "{{ {} }}",
            "documenttttttttttttttttttttttttttttttttttttttttttttt ".repeat(99)
        ),
    ] {
        let (executed, text) = client.named(&query, None, NONE).await;
        assert!(!executed && text.contains("Unknown field"), "{text:.300}");
        assert!(!text.contains("Did you mean"), "{text:.300}");
    }
}

async fn queries_just_within_the_limits_are_executed() {
    let client = client().await;
    client.insert("1", r#"{"a": 1}"#).await;
    let aliases: String = (0..1_000).map(|at| format!("a{at}: __typename ")).collect();
    let data = client.data(&format!("{{ {aliases} }}"), NONE).await;
    assert_eq!(data.as_object().map(serde_json::Map::len), Some(1_000));
    let fields = "__typename ".repeat(4_998);
    let twice = format!(
        "{{ ...F ...F ...E }} fragment F on Query {{ {fields} }} fragment E on Query {{ __typename }}"
    );
    assert_eq!(
        client.data(&twice, NONE).await,
        json!({"__typename": "Query"})
    );
    let literal = format!("{}{}", "[".repeat(61), "]".repeat(61));
    let data = client
        .data(
            &format!("mutation {{ insertDocument(document: {literal}) {{ kind }} }}"),
            NONE,
        )
        .await;
    assert_eq!(data["insertDocument"]["kind"], json!("ARRAY"));
    let operations: String = (0..100)
        .map(|at| format!("query A{at} {{ __typename }} fragment F{at} on Query {{ ...F{at} }}"))
        .collect();
    let (_, text) = client.named(&operations, None, NONE).await;
    assert!(text.contains("is never used"), "{text:.300}");
    let lines = format!("{{ __typename {}}}", "# x\r\n".repeat(10_000));
    client.data(&lines, NONE).await;
    let padded = format!("{{ __typename }}{}", ",".repeat((128 << 10) - 14));
    client.data(&padded, NONE).await;
    client
        .data(&format!("{{ ...F0 }} {}", chain(20)), NONE)
        .await;
}

async fn introspection_queries_of_common_tools_are_executed() {
    let client = client().await;
    let of_type = (0..9).fold("kind name".to_owned(), |inner, _| {
        format!("kind name ofType {{ {inner} }}")
    });
    let query = format!("query IntrospectionQuery {{
        __schema {{
            queryType {{ name }} mutationType {{ name }} subscriptionType {{ name }}
            types {{ ...FullType }} directives {{ name description locations args {{ ...InputValue }} }}
        }}
    }}
    fragment FullType on __Type {{
        kind name description specifiedByURL
        fields(includeDeprecated: true) {{ name description args {{ ...InputValue }} type {{ ...TypeRef }} isDeprecated deprecationReason }}
        inputFields {{ ...InputValue }} interfaces {{ ...TypeRef }}
        enumValues(includeDeprecated: true) {{ name description isDeprecated deprecationReason }} possibleTypes {{ ...TypeRef }}
    }}
    fragment InputValue on __InputValue {{ name description type {{ ...TypeRef }} defaultValue }}
    fragment TypeRef on __Type {{ {of_type} }}");
    let data = client.data(&query, NONE).await;
    let types = data["__schema"]["types"].as_array().expect("types");
    assert!(types.iter().any(|ty| ty["name"] == json!("Subdocument")));
}

async fn variables_nest_up_to_the_limit() {
    let client = client().await;
    let query = "query($p: Path) { document(id: 1, path: $p) { kind } }";
    for levels in [137, 50_000] {
        let variables = format!(r#"{{"p": {}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        let (code, message) = client.error(query, variables).await;
        assert_eq!(code, "TOO_COMPLEX");
        assert!(
            message.contains("$p") && message.contains("136 levels"),
            "{message}"
        );
    }
    let ignored = format!(r#"{{"q": {}{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    client.data(query, ignored).await;
}
