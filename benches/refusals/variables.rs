//! Requests with hostile variables.

use super::{Input, post, text_body};

fn body(name: &'static str, body: &str, told: &'static str) -> Input {
    Input {
        name,
        request: post("", body.as_bytes()),
        decoded: 0,
        told,
    }
}

/// Variables that are not JSON, and other members of the request.
pub(super) fn variables() -> Vec<Input> {
    let path = |name, path: &str, told| {
        let query = "query($p: Path) { document(id: 1, path: $p) { kind } }";
        body(name, &text_body(query, &format!("{{\"p\":{path}}}")), told)
    };
    let brackets = "[".repeat(50_000) + &"]".repeat(50_000);
    let (open, close) = ("[".repeat(60), "]".repeat(60));
    let lists =
        format!("mutation($x: {open}Int{close}) {{ insertDocument(document: [$x]) {{ key }} }}");
    // Characters of one to four bytes, in random order.
    let mut seed = 1_u64;
    let characters: String = (0..6_400_000)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ['a', 'é', '語', '😀'][(seed >> 62) as usize]
        })
        .collect();
    vec![
        body(
            "a list of 60 levels with a string of 8 MiB",
            &text_body(
                &lists,
                &format!("{{\"x\":{open}\"{}\"{close}}}", "x".repeat(8 << 20)),
            ),
            "65536 bytes",
        ),
        path(
            "a string of characters of all lengths, of 15 MiB, as a path",
            &format!("\"{characters}\""),
            "65536 bytes",
        ),
        body(
            "6,000,000 nulls in a list",
            &text_body(
                "mutation($x: [Int]) { insertDocument(document: [$x]) { key } }",
                &format!("{{\"x\":[{}null]}}", "null,".repeat(6_000_000)),
            ),
            "100000 values",
        ),
        body(
            "6,000,000 variables",
            &format!(
                "{{\"query\":\"{{a}}\",\"variables\":{{{}\"\":1}}}}",
                "\"\":1,".repeat(6_000_000)
            ),
            "100000 variables",
        ),
        body(
            "6,000,000 members of a persisted query",
            &format!(
                "{{\"query\":\"{{a}}\",\"extensions\":{{\"persistedQuery\":{{{}\"\":1}}}}}}",
                "\"\":1,".repeat(6_000_000)
            ),
            "16384 bytes",
        ),
        path("50,000 brackets in variables", &brackets, "TOO_COMPLEX"),
        path(
            "10,000,000 elements of a path in variables",
            &format!("[{}1]", "1,".repeat(10_000_000)),
            "TOO_COMPLEX",
        ),
        path(
            "a string of 16 MiB as a path",
            &format!("\"{}\"", "x".repeat(16 << 20)),
            "TOO_LARGE",
        ),
        path(
            "a raw-value marker in variables",
            r#"{"$serde_json::private::RawValue":"[["}"#,
            "INVALID_PATH",
        ),
    ]
}

/// Documents.
pub(super) fn documents() -> Vec<Input> {
    vec![
        body(
            "31 MiB of JSON for a document under a long name",
            &text_body(
                "mutation($d: JSON) { insertDocument(document: $d) { key } }",
                &format!(
                    "{{\"d\":{{\"{}\":[{}1]}}}}",
                    "k".repeat(9_900),
                    "1,".repeat(31 << 19)
                ),
            ),
            "134217728 bytes",
        ),
        body(
            "31 MiB of JSON that ends too early",
            &format!("{{\"variables\":[{}", "{\"a\":[1]},".repeat(3_200_000)),
            "at the end",
        ),
        body(
            "31 MiB of JSON that goes wrong at its end",
            &format!("{{\"variables\":[{}]}}", "{\"a\":[1]},".repeat(3_200_000)),
            "expected a JSON value",
        ),
    ]
}
