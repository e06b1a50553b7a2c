//! Checks the TLS settings of the FoundationDB client before it is used. The client reads them from
//! the environment and terminates the process if a connection needs a file that it could not read.
//!
//! The names and rules are documented in FoundationDB's [TLS
//! documentation](https://apple.github.io/foundationdb/tls.html).

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::error::{Error, Result};

/// Each file: the variables that name it, in order of precedence, its default path, and the suffix
/// of its PEM label.
const FILES: [([&str; 2], Option<&str>, &str); 3] = [
    (
        [
            "FDB_NETWORK_OPTION_TLS_CERT_PATH",
            "FDB_TLS_CERTIFICATE_FILE",
        ],
        Some("/etc/foundationdb/cert.pem"),
        "CERTIFICATE",
    ),
    (
        ["FDB_NETWORK_OPTION_TLS_KEY_PATH", "FDB_TLS_KEY_FILE"],
        Some("/etc/foundationdb/key.pem"),
        "PRIVATE KEY",
    ),
    (
        ["FDB_NETWORK_OPTION_TLS_CA_PATH", "FDB_TLS_CA_FILE"],
        None,
        "CERTIFICATE",
    ),
];
const VERIFY_PEERS: [&str; 2] = [
    "FDB_NETWORK_OPTION_TLS_VERIFY_PEERS",
    "FDB_TLS_VERIFY_PEERS",
];
const SCOPES: [&str; 6] = ["S", "Subject", "I", "Issuer", "R", "Root"];
const ATTRIBUTES: [&str; 9] = [
    "C",
    "CN",
    "L",
    "ST",
    "O",
    "OU",
    "UID",
    "DC",
    "subjectAltName",
];

/// Checks the TLS settings if the cluster file, or the default one, requires TLS.
///
/// # Errors
/// `UNAVAILABLE`: a setting is invalid. The message names the variable and the problem.
pub(super) fn check(cluster_file: Option<&Path>) -> Result<()> {
    let cluster_file = cluster_file.map_or_else(default_cluster_file, Path::to_path_buf);
    // Opening the cluster reports a file that cannot be read.
    let text = fs::read_to_string(cluster_file).unwrap_or_default();
    if text.contains(":tls") {
        check_settings(|name| env::var(name).ok())?;
    }
    Ok(())
}

/// The cluster file that FoundationDB's tools use by default.
fn default_cluster_file() -> PathBuf {
    match env::var_os("FDB_CLUSTER_FILE") {
        Some(path) => path.into(),
        None if Path::new("fdb.cluster").exists() => "fdb.cluster".into(),
        None => "/etc/foundationdb/fdb.cluster".into(),
    }
}

fn check_settings(variable: impl Fn(&str) -> Option<String>) -> Result<()> {
    let set = |names: [&'static str; 2]| {
        let values = names.map(|name| (name, variable(name).unwrap_or_default()));
        values.into_iter().find(|(_, value)| !value.is_empty())
    };
    for (names, default, label) in FILES {
        if let Some((name, path)) = set(names) {
            check_file(&format!("of {name}"), Path::new(&path), label)?;
        } else if let Some(path) = default.map(Path::new)
            && variable(names[1]).is_none()
            && path.exists()
        {
            check_file("that FoundationDB uses for TLS by default", path, label)?;
        }
    }
    if let Some((name, rules)) = set(VERIFY_PEERS)
        && !alternatives(&rules).into_iter().all(is_rule)
    {
        return Err(Error::unavailable(
            format!(
                "{name} is {rules:?}, which is not a valid rule: a rule is a comma-separated list \
                 of criteria such as Check.Valid=1 or S.CN=name, and | separates alternative rules"
            ),
            "",
        ));
    }
    Ok(())
}

fn check_file(which: &str, path: &Path, label: &str) -> Result<()> {
    let cannot = |why: &dyn std::fmt::Display| {
        let path = path.display();
        Error::unavailable(format!("the file {path} {which} cannot be used: {why}"), "")
    };
    let text = fs::read(path).map_err(|error| cannot(&error))?;
    let text = String::from_utf8_lossy(&text);
    let is_block = |line: &str| {
        let label_of = line.trim_end().strip_prefix("-----BEGIN ");
        label_of.is_some_and(|line| line.ends_with(&format!("{label}-----")))
    };
    if !text.lines().any(is_block) {
        return Err(cannot(&format!("it contains no {label} in PEM")));
    }
    Ok(())
}

/// Splits rules at each `|` that is not escaped.
fn alternatives(rules: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begin = 0;
    for (at, _) in rules.match_indices('|') {
        if !rules[..at].ends_with('\\') {
            found.push(&rules[begin..at]);
            begin = at + 1;
        }
    }
    found.push(&rules[begin..]);
    found
}

fn is_rule(rule: &str) -> bool {
    let mut rest = rule;
    while !rest.is_empty() {
        match behind_criterion(rest) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    true
}

/// The rest of a rule after its first criterion and comma. `None` if the criterion is invalid.
fn behind_criterion(rule: &str) -> Option<&str> {
    let (term, value) = rule.split_once('=')?;
    let value_bytes = match term.strip_prefix("Check.") {
        Some("Valid" | "Unexpired") => usize::from(value.starts_with(['0', '1'])),
        Some(_) => return None,
        None => {
            let term = term.strip_suffix(['<', '>']).unwrap_or(term);
            let attribute = match term.split_once('.') {
                Some((scope, attribute)) => SCOPES.contains(&scope).then_some(attribute)?,
                None => term,
            };
            ATTRIBUTES.contains(&attribute).then_some(())?;
            value_bytes(value)
        }
    };
    let (value, behind) = value.split_at(value_bytes);
    if value.is_empty() {
        return None;
    }
    match behind {
        "" => Some(""),
        behind => behind.strip_prefix(','),
    }
}

/// The length of a value, which ends before a character that must be escaped and is not.
fn value_bytes(value: &str) -> usize {
    let bytes = value.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let taken = match &bytes[at..] {
            [b'\\', next, ..] if br##" "#+,;<=>|\"##.contains(next) => 2,
            [b'\\', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => 3,
            [b'\\' | b'"' | b'+' | b',' | b';' | b'<' | b'>' | 0, ..] => break,
            _ => 1,
        };
        at += taken;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(settings: &[(&str, &str)]) -> String {
        let of = |name: &str| {
            let found = settings.iter().find(|(set, _)| *set == name);
            Some(found.map_or_else(String::new, |(_, value)| (*value).to_owned()))
        };
        match check_settings(of) {
            Ok(()) => String::new(),
            Err(error) => error.message().to_owned(),
        }
    }

    #[test]
    fn peer_rules_are_parsed_like_the_client_parses_them() {
        for rule in [
            "Check.Valid=1",
            "Check.Valid=0",
            "Check.Valid=1,Check.Unexpired=0,I.C=US",
            "S.CN=server.example,Root.O>=Some\\, Inc",
            "O=One|Issuer.OU<=Two\\|Three|",
            "R.subjectAltName=DNS:a.b",
            "CN=\\41 name",
            "",
        ] {
            assert_eq!(said(&[("FDB_TLS_VERIFY_PEERS", rule)]), "", "{rule}");
        }
        for rule in [
            "rubbish",
            "Check.Valid",
            "Check.Valid=",
            "Check.Valid=2",
            "Check.Valid=11",
            "Check.Valid>=1",
            "Check.Else=1",
            "X.CN=a",
            "S.XX=a",
            "S.CN=",
            "S.CN=a+b",
            "S.CN=a\\",
            "S.CN=a|rubbish",
        ] {
            let said = said(&[("FDB_TLS_VERIFY_PEERS", rule)]);
            assert!(
                said.starts_with("FDB_TLS_VERIFY_PEERS is"),
                "{rule}: {said}"
            );
        }
    }

    #[test]
    fn unusable_files_are_named_with_their_variable() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::write(&path, text).expect("written");
            path.to_str().expect("plain").to_owned()
        };
        let block = |label: &str| format!("text\n-----BEGIN {label}-----\nAAAA\n");
        let certificate = file("certificate", &block("CERTIFICATE"));
        let key = file("key", &block("ENCRYPTED PRIVATE KEY"));
        let junk = file("junk", "junk");
        let none = directory.path().join("none");
        let none = none.to_str().expect("plain");
        assert_eq!(
            said(&[
                ("FDB_TLS_CERTIFICATE_FILE", &certificate),
                ("FDB_TLS_KEY_FILE", &key),
                ("FDB_NETWORK_OPTION_TLS_CA_PATH", &certificate),
            ]),
            ""
        );
        for (name, path, why) in [
            ("FDB_TLS_CA_FILE", none, "No such file"),
            ("FDB_TLS_CERTIFICATE_FILE", &junk, "no CERTIFICATE in PEM"),
            ("FDB_TLS_KEY_FILE", &certificate, "no PRIVATE KEY in PEM"),
            ("FDB_TLS_CA_FILE", &key, "no CERTIFICATE in PEM"),
            (
                "FDB_TLS_KEY_FILE",
                directory.path().to_str().expect("plain"),
                "directory",
            ),
        ] {
            let said = said(&[(name, path)]);
            assert!(said.contains(why), "{said}");
            assert!(said.contains(name) && said.contains(path), "{said}");
        }
    }
}
