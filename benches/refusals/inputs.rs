//! Hostile requests, each with the expected error.

mod expensive;
mod variables;

use std::fmt::Write as _;
use std::io::Write as _;

pub(crate) use expensive::{Expensive, expensive, stored};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A hostile request.
pub(crate) struct Input {
    pub(crate) name: &'static str,
    /// As bytes on the wire.
    pub(crate) request: Vec<u8>,
    /// The decompressed size of a compressed body, up to its rejection.
    pub(crate) decoded: u64,
    pub(crate) told: &'static str,
}

/// A POST of JSON that asks the server to close the connection.
pub(crate) fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// All inputs.
pub(crate) fn inputs() -> Vec<Input> {
    let mut inputs = queries();
    inputs.extend(variables::variables());
    inputs.extend(variables::documents());
    inputs.extend(bodies());
    inputs
}

/// Repeats a text and replaces `#` with the number of the repetition.
fn repeated(count: usize, text: &str) -> String {
    let mut all = String::new();
    for at in 0..count {
        all += &text.replace('#', &at.to_string());
    }
    all
}

fn query(name: &'static str, query: &str, told: &'static str) -> Input {
    Input {
        name,
        request: post("", text_body(query, "{}").as_bytes()),
        decoded: 0,
        told,
    }
}

fn queries() -> Vec<Input> {
    let doubling = |levels: usize| {
        let mut query = "{ ...F0 } ".to_owned();
        for at in 0..levels {
            let next = at + 1;
            write!(
                query,
                "fragment F{at} on Query {{ ...F{next} ...F{next} }} "
            )
            .expect("a string takes all");
        }
        query + &format!("fragment F{levels} on Query {{ __typename }}")
    };
    let mut fanning = "{ document(id: 1) { ...F0 } } ".to_owned();
    for at in 0..12 {
        let next = at + 1;
        write!(
            fanning,
            "fragment F{at} on Subdocument {{ a: subdocument(path: \"/a\") {{ ...F{next} }} \
             b: subdocument(path: \"/b\") {{ ...F{next} }} }} "
        )
        .expect("a string takes all");
    }
    fanning += "fragment F12 on Subdocument { kind }";
    let introspection = format!(
        "{{ __schema {{ types {{ {} name {} }} }} }}",
        "fields { type { ".repeat(14),
        "} }".repeat(14)
    );
    let one_name = "fragment F on Query { a: __typename @include(if: true) ".to_owned()
        + &"x ".repeat(9_000)
        + "} query Q { ...F }";
    let mut inputs = vec![
        query("40 doubling fragments", &doubling(40), "TOO_COMPLEX"),
        query("700 doubling fragments", &doubling(700), "TOO_COMPLEX"),
        query("fields that fan out", &fanning, "TOO_COMPLEX"),
        query(
            "10,000 aliases",
            &format!("{{ {} }}", repeated(10_000, "a#:x ")),
            "TOO_COMPLEX",
        ),
        query(
            "1 MB of commas",
            &("{ __typename }".to_owned() + &",".repeat(1 << 20)),
            "131072 bytes",
        ),
        query(
            "5,000 directives",
            &format!("{{ __typename {} }}", "@skip(if: false) ".repeat(5_000)),
            "TOO_COMPLEX",
        ),
        query(
            "1,900 operations of one name",
            &"query A { __typename } ".repeat(1_900),
            "100 operations",
        ),
        query(
            "3,000 unknown fields",
            &format!("{{ {} }}", repeated(3_000, "x# ")),
            "BAD_USER_INPUT",
        ),
        query(
            "9,000 unknown fields of one name",
            &one_name,
            "BAD_USER_INPUT",
        ),
        query("introspection of itself", &introspection, "TOO_COMPLEX"),
        query(
            "9,900 tokens that end in an error of syntax",
            &format!("{{ {} ", "document(id: 1) { kind } ".repeat(1_100)),
            "BAD_USER_INPUT",
        ),
    ];
    inputs.extend(nested());
    inputs.extend(within_bounds());
    inputs
}

/// Queries at their maximum size, or with parts of maximum size.
fn within_bounds() -> Vec<Input> {
    let operations = repeated(1_900, "query A# { __typename } ");
    // Separators are scanned again wherever an optional part of the grammar may be absent.
    let comments = format!("{{ x {} }}", "#\\n".repeat(43_000));
    let long = format!("{{ {} }}", "x".repeat(130_000));
    vec![
        query("1,900 operations", &operations, "100 operations"),
        Input {
            name: "43,000 comments",
            request: post("", format!("{{\"query\":\"{comments}\"}}").as_bytes()),
            decoded: 0,
            told: "10000 lines",
        },
        query(
            "an unknown field of 130,000 letters",
            &long,
            "Unknown field",
        ),
        query(
            "a string of 130,000 letters on an unknown field",
            &format!("{{ x(a: \"{}\") }}", "x".repeat(130_000)),
            "Unknown field",
        ),
        query(
            "9,900 values on an unknown field",
            &format!("{{ x(a: [{}]) }}", "e ".repeat(9_900)),
            "Unknown field",
        ),
        query(
            "100 times 30 levels of unknown fields",
            &format!(
                "{{ {} }}",
                ("x{".repeat(30) + "x" + &"}".repeat(30)).repeat(100)
            ),
            "Unknown field",
        ),
    ]
}

fn nested() -> Vec<Input> {
    let nested = |open: &str, levels: usize, close: &str| {
        let (open, close) = (open.repeat(levels), close.repeat(levels));
        format!("{{ document(id: {open}1{close}) {{ kind }} }}")
    };
    let ty = format!(
        "query($v: {}Int{}) {{ x }}",
        "[".repeat(2_000),
        "]".repeat(2_000)
    );
    [
        ("lists nested 2,000 deep", nested("[", 2_000, "]")),
        ("lists nested 5,000 deep", nested("[", 5_000, "]")),
        ("lists nested 20,000 deep", nested("[", 20_000, "]")),
        ("objects nested 2,000 deep", nested("{a:", 2_000, "}")),
        ("objects nested 5,000 deep", nested("{a:", 5_000, "}")),
        ("objects nested 20,000 deep", nested("{a:", 20_000, "}")),
        ("a type nested 2,000 deep", ty),
    ]
    .map(|(name, text)| query(name, &text, "TOO_COMPLEX"))
    .into()
}

fn bodies() -> Vec<Input> {
    let compressed = |bytes: usize| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let spaces = vec![b' '; 1 << 20];
        for _ in 0..bytes >> 20 {
            encoder.write_all(&spaces).expect("a vector takes all");
        }
        encoder.finish().expect("a vector takes all")
    };
    let brackets = "[".repeat(31 << 20);
    let member = {
        let encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.finish().expect("a vector takes all")
    };
    let members = member.repeat((31 << 20) / member.len());
    vec![
        Input {
            name: "31 MiB of empty gzip members",
            request: post("content-encoding: gzip\r\n", &members),
            decoded: 0,
            told: "\"code\"",
        },
        Input {
            name: "a body of 33 MiB, by its length",
            request: post("", &vec![b' '; 33 << 20]),
            decoded: 0,
            told: "TOO_LARGE",
        },
        Input {
            name: "31 MiB of brackets",
            request: post("", brackets.as_bytes()),
            decoded: 0,
            told: "BAD_USER_INPUT",
        },
        Input {
            name: "31 MiB of spaces",
            request: post("", &vec![b' '; 31 << 20]),
            decoded: 0,
            told: "BAD_USER_INPUT",
        },
        Input {
            name: "a gzip bomb of 1 GiB",
            request: post("content-encoding: gzip\r\n", &compressed(1 << 30)),
            decoded: 32 << 20,
            told: "TOO_LARGE",
        },
    ]
}

fn text_body(query: &str, variables: &str) -> String {
    let query = query.replace('\\', "\\\\").replace('"', "\\\"");
    format!("{{\"query\":\"{query}\",\"variables\":{variables}}}")
}
