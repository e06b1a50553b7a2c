//! `golden.txt`: documents and their keys as tuples, for a person to read.
//!
//! `> COLLECTION ID JSON` is stored, and below it stand its pairs, or the error that refuses it.
//! In the JSON `«x×3»` stands for `xxx`, and `«2^2040-1»` for that number. Run with
//! `UPDATE_GOLDEN=1` to rewrite the file, and read the difference.

use num_bigint::BigInt;
use phyllo::document::id::DocumentId;
use phyllo::key::tuple_text;

use super::model::json::Json;
use super::{assembled, document_key, stored};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/layout/golden.txt");

#[test]
fn documents_are_stored_as_in_the_golden_file() {
    let golden = std::fs::read_to_string(PATH).expect("the golden file");
    let mut actual = String::new();
    for line in golden.lines() {
        if let Some(document) = line.strip_prefix("> ") {
            actual += &[line, "\n", &shown(document)].concat();
        } else if line.starts_with('#') || line.is_empty() {
            actual.push_str(line);
            actual.push('\n');
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(PATH, &actual).expect("the golden file can be written");
    }
    for (golden, actual) in golden.lines().zip(actual.lines()) {
        assert_eq!(golden, actual);
    }
    assert_eq!(golden.lines().count(), actual.lines().count());
}

fn shown(document: &str) -> String {
    let mut words = document.splitn(3, ' ');
    let mut word = || words.next().expect("COLLECTION ID JSON");
    let (collection, id, json) = (word(), word(), expanded(word()));
    let id = DocumentId::parse(id).expect("an id");
    let pairs = match stored(collection, &id, &json) {
        Ok(pairs) => pairs,
        Err(error) => return format!("{} {error}\n", error.kind().code()),
    };
    let text = assembled(&document_key(collection, &id), &pairs);
    assert_eq!(Json::parse(&text), Json::parse(&json), "{document}");
    let line = |(key, value): &(Vec<u8>, Vec<u8>)| {
        let (key, value) = (tuple_text(key), tuple_text(value));
        format!("{} → {}\n", abridged(&key), abridged(&value))
    };
    let mut lines: Vec<String> = pairs.iter().map(line).collect();
    if lines.len() > 12 {
        let between = format!("… {} more\n", lines.len() - 6);
        lines.splice(3..lines.len() - 3, [between]);
    }
    lines.concat()
}

fn abridged(text: &str) -> String {
    let count = text.chars().count();
    if count <= 80 {
        return text.to_owned();
    }
    let begin: String = text.chars().take(24).collect();
    let end: String = text.chars().skip(count - 24).collect();
    format!("{begin} … {end} [{count} characters]")
}

pub(crate) fn expanded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('«') {
        let (template, behind) = behind.split_once('»').expect("a closing »");
        out.push_str(before);
        out.push_str(&expansion(template));
        rest = behind;
    }
    out + rest
}

fn expansion(template: &str) -> String {
    if let Some((text, times)) = template.rsplit_once('×') {
        return text.repeat(times.parse().expect("how many times"));
    }
    let power = |text: &str| -> BigInt {
        let (base, exponent) = text.split_once('^').expect("a power");
        let base: BigInt = base.parse().expect("a base");
        base.pow(exponent.parse().expect("an exponent"))
    };
    match template.split_once('-') {
        Some((text, less)) => (power(text) - less.parse::<BigInt>().expect("a number")).to_string(),
        None => power(template).to_string(),
    }
}
