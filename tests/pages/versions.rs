//! Versions differ between stores, so each version on a page is mapped to one of the server.

use std::collections::BTreeMap;

use serde_json::Value;

/// Digits of a version.
const DIGITS: usize = 20;

/// The versions of a page, each with that of the server.
#[derive(Default)]
pub(crate) struct Versions(BTreeMap<String, String>);

impl Versions {
    /// Translates a value of the page to versions of the server. Unknown versions are unchanged.
    pub(crate) fn as_served(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text_as_served(text)),
            Value::Array(elements) => elements
                .iter()
                .map(|element| self.as_served(element))
                .collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (name.clone(), self.as_served(member)))
                .collect(),
            other => other.clone(),
        }
    }

    fn text_as_served(&self, text: &str) -> String {
        let mut served = String::new();
        let mut rest = text;
        for version in versions_in(text) {
            let (before, behind) = rest.split_once(version).expect("it was found there");
            served.push_str(before);
            served.push_str(self.0.get(version).map_or(version, String::as_str));
            rest = behind;
        }
        served + rest
    }

    /// Compares a response with the documented one, and learns its versions.
    ///
    /// # Errors
    /// The response is different.
    pub(crate) fn compare(&mut self, said: &Value, told: &Value) -> Result<(), String> {
        self.learn(said, told);
        let said = self.as_served(said);
        if said == *told {
            return Ok(());
        }
        Err(format!(
            "the page says\n{said:#}\nand the server answers\n{told:#}"
        ))
    }

    /// Maps the versions at the same positions.
    fn learn(&mut self, said: &Value, told: &Value) {
        match (said, told) {
            (Value::String(said), Value::String(told)) => {
                for (said, told) in versions_in(said).zip(versions_in(told)) {
                    let known = self.0.entry(said.to_owned());
                    known.or_insert_with(|| told.to_owned());
                }
            }
            (Value::Array(said), Value::Array(told)) => {
                for (said, told) in said.iter().zip(told) {
                    self.learn(said, told);
                }
            }
            (Value::Object(said), Value::Object(told)) => {
                for (name, said) in said {
                    if let Some(told) = told.get(name) {
                        self.learn(said, told);
                    }
                }
            }
            _ => {}
        }
    }

    /// Asserts that the mapping is unique and keeps the order of versions.
    pub(crate) fn assert_order(&self) {
        let told: Vec<&String> = self.0.values().collect();
        assert!(
            told.is_sorted_by(|one, next| one < next),
            "versions out of order: {:#?}",
            self.0
        );
    }
}

/// The runs of exactly as many hexadecimal digits as a version has, in order.
fn versions_in(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|letter: char| !matches!(letter, '0'..='9' | 'a'..='f'));
    runs.filter(|run| run.len() == DIGITS)
}
