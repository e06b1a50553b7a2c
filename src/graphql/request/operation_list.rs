//! The list of operations that clients send by id, from the manifests that build tools write:
//!
//! ```json
//! { "format": "apollo-persisted-query-manifest", "version": 1,
//!   "operations": [{ "id": "3ae1…", "name": "Title", "type": "query", "body": "query Title { … }" }] }
//! ```
//!
//! as Apollo's `generate-persisted-query-manifest` writes it, or `{ "3ae1…": "query Title { … }" }` as
//! Relay's compiler and GraphQL Code Generator do.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::query_id::QueryId;
use crate::document::flatten::{json_error, json_text};
use crate::document::json::{Event, JsonError, Reader, position};
use crate::document::leaf::abridged;
use crate::error::{Error, Limit, Result};
use crate::limits::{LISTED_OPERATIONS_BYTES_MAX, LISTED_OPERATIONS_MAX};

const APOLLO: &str = "apollo-persisted-query-manifest";

/// A list of operations.
#[derive(Debug, Default)]
pub struct OperationList {
    operations: Vec<ListedOperation>,
    /// The texts by their ids and by the hashes of the texts.
    texts: HashMap<QueryId, Arc<str>>,
    /// The bytes of the texts in `operations`.
    bytes: usize,
}

/// An operation of a list.
#[derive(Debug)]
pub(crate) struct ListedOperation {
    /// The id, as in the manifest.
    pub(crate) id: Box<str>,
    pub(crate) text: Arc<str>,
}

impl OperationList {
    /// Reads the manifests of a list.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a manifest is not JSON or has no known form, or two operations have the same
    /// id. `TOO_COMPLEX`, `TOO_LARGE`: the list exceeds a limit. The message names the place.
    pub fn read(manifests: &[impl AsRef<[u8]>]) -> Result<Self> {
        let mut list = Self::default();
        for (number, manifest) in (1..).zip(manifests) {
            let added = list.add(manifest.as_ref());
            added.map_err(|error| match manifests.len() {
                1 => error,
                count => error.at(format_args!("manifest {number} of {count}")),
            })?;
        }
        // A client can send the hash of a text whose id in the manifest is another.
        for ListedOperation { text, .. } in &list.operations {
            let hash = QueryId::Hash(Sha256::digest(text.as_bytes()).into());
            list.texts.entry(hash).or_insert_with(|| text.clone());
        }
        Ok(list)
    }

    /// The number of operations.
    pub fn count(&self) -> usize {
        self.operations.len()
    }

    /// The operations, in the order of the manifests.
    pub(crate) fn operations(&self) -> &[ListedOperation] {
        &self.operations
    }

    /// The text of the operation with this id.
    pub(crate) fn text(&self, id: &QueryId) -> Option<Arc<str>> {
        self.texts.get(id).cloned()
    }

    /// Adds the operations of a manifest.
    fn add(&mut self, manifest: &[u8]) -> Result<()> {
        let manifest = Manifest(json_text(manifest)?);
        let all = manifest.members(manifest.0)?;
        let format = member(&all, "format").and_then(string);
        let operations = member(&all, "operations").filter(|value| value.starts_with('['));
        if format.as_deref() != Some(APOLLO) && operations.is_none() {
            for (id, text) in &all {
                self.insert(&manifest, id, text)?;
            }
            return Ok(());
        }
        let is_known = format.as_deref() == Some(APOLLO) && member(&all, "version") == Some("1");
        let (Some(operations), true) = (operations, is_known) else {
            let message = format!(
                "a manifest with `operations` must have `format` {APOLLO:?} and `version` 1, and \
                 `operations` must be an array"
            );
            return Err(manifest.error(manifest.0, message));
        };
        for operation in manifest.elements(operations)? {
            let members = manifest.members(operation)?;
            let id = member(&members, "id").and_then(string);
            let (Some(id), Some(body)) = (id, member(&members, "body")) else {
                let message = "an operation must have an `id` and a `body` that are strings";
                return Err(manifest.error(operation, message));
            };
            self.insert(&manifest, &id, body)?;
        }
        Ok(())
    }

    /// Adds an operation, whose text is a JSON string of the manifest.
    fn insert(&mut self, manifest: &Manifest<'_>, id: &str, json: &str) -> Result<()> {
        let at = |error: Error| error.at(manifest.place(json));
        let Some(text) = string(json) else {
            let message = format!(
                "the operation {:?} is {}, and must be a string",
                abridged(id),
                abridged(json)
            );
            return Err(manifest.error(json, message));
        };
        let query_id = QueryId::parse(id).map_err(at)?;
        self.bytes += text.len();
        check_size(self.operations.len() + 1, self.bytes).map_err(at)?;
        let text: Arc<str> = text.into();
        match self.texts.entry(query_id) {
            Entry::Vacant(vacant) => {
                vacant.insert(text.clone());
                let id = id.into();
                self.operations.push(ListedOperation { id, text });
                Ok(())
            }
            Entry::Occupied(listed) if *listed.get() == text => Ok(()),
            Entry::Occupied(_) => {
                let message = format!("the id {:?} has two different operations", abridged(id));
                Err(manifest.error(json, message))
            }
        }
    }
}

/// # Errors
/// `TOO_COMPLEX`: too many operations. `TOO_LARGE`: too many bytes of their texts.
fn check_size(count: usize, bytes: usize) -> Result<()> {
    if count > LISTED_OPERATIONS_MAX {
        return Err(Error::too_complex(
            Limit::new("listedOperations", LISTED_OPERATIONS_MAX),
            format!("more than {LISTED_OPERATIONS_MAX} operations, which is the limit"),
        ));
    }
    if bytes > LISTED_OPERATIONS_BYTES_MAX {
        return Err(Error::too_large(
            Limit::new("listedOperationsBytes", LISTED_OPERATIONS_BYTES_MAX),
            format!(
                "the texts of the operations have more than {LISTED_OPERATIONS_BYTES_MAX} bytes, \
                 which is the limit"
            ),
        ));
    }
    Ok(())
}

/// The text of a manifest, of which values are parts.
struct Manifest<'t>(&'t str);

type ManifestMember<'t> = (Cow<'t, str>, &'t str);

impl<'t> Manifest<'t> {
    /// The names and values of an object.
    fn members(&self, object: &'t str) -> Result<Vec<ManifestMember<'t>>> {
        let mut reader = Reader::new(object, usize::MAX);
        let failed = |error| self.invalid(object, error);
        if reader.peek_value() != Some(b'{') {
            let message = format!("{}, and must be an object", abridged(object));
            return Err(self.error(object, message));
        }
        reader.next().map_err(failed)?;
        let mut members = Vec::new();
        while let Some(member) = reader.next_member().map_err(failed)? {
            check_size(members.len(), 0).map_err(|error| error.at(self.place(member.1)))?;
            members.push(member);
        }
        match reader.next().map_err(failed)? {
            Event::End => Ok(members),
            _ => Err(self.error(&object[reader.offset()..], "text after the JSON object")),
        }
    }

    /// The elements of an array.
    fn elements(&self, array: &'t str) -> Result<Vec<&'t str>> {
        let mut reader = Reader::new(array, usize::MAX);
        let failed = |error| self.invalid(array, error);
        let mut elements = Vec::new();
        reader.next().map_err(failed)?;
        while let Some(element) = reader.next_element().map_err(failed)? {
            check_size(elements.len(), 0).map_err(|error| error.at(self.place(element)))?;
            elements.push(element);
        }
        Ok(elements)
    }

    /// The error of a value that is not JSON.
    fn invalid(&self, value: &str, mut error: JsonError) -> Error {
        error.offset += self.offset(value);
        json_error(&error, self.0)
    }

    /// An error at the beginning of a value.
    fn error(&self, value: &str, message: impl Into<String>) -> Error {
        Error::bad_input(message).at(self.place(value))
    }

    /// The line and column of a value.
    fn place(&self, value: &str) -> String {
        position(self.0, self.offset(value))
    }

    fn offset(&self, value: &str) -> usize {
        (value.as_ptr() as usize).saturating_sub(self.0.as_ptr() as usize)
    }
}

/// The value of the last member of this name.
fn member<'t>(members: &[ManifestMember<'t>], name: &str) -> Option<&'t str> {
    let mut named = members.iter().rev();
    let found = named.find(|(member, _)| member == name);
    found.map(|(_, value)| *value)
}

/// The text of a JSON string.
fn string(json: &str) -> Option<Cow<'_, str>> {
    match Reader::new(json, 0).next() {
        Ok(Event::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::ErrorKind;
    use crate::key::hex;

    fn read(manifests: &[String]) -> Result<OperationList> {
        OperationList::read(manifests)
    }

    fn text(list: &OperationList, id: &str) -> Option<String> {
        let id = QueryId::parse(id).expect("a short id");
        list.text(&id).map(|text| text.to_string())
    }

    fn hash(text: &str) -> String {
        hex(&Sha256::digest(text))
    }

    fn apollo(operations: &serde_json::Value) -> String {
        json!({"format": APOLLO, "version": 1, "operations": operations}).to_string()
    }

    #[test]
    fn operations_are_found_by_their_ids_and_by_the_hashes_of_their_texts() {
        let relay = json!({"0f1e": "query A { a }", "format": "query B { b }"}).to_string();
        let body = "query C { c }";
        let apollo = apollo(&json!([
            {"id": hash(body), "name": "C", "type": "query", "body": body},
            {"id": "named", "name": "D", "type": "query", "body": "{ d }", "clientName": "web"},
        ]));
        let list = read(&[relay, apollo]).expect("two manifests");
        assert_eq!(list.count(), 4);
        for (id, found) in [
            ("0f1e", "query A { a }"),
            ("format", "query B { b }"),
            (&hash(body), body),
            (&hash(body).to_uppercase(), body),
            (&format!("sha256:{}", hash(body)), body),
            ("named", "{ d }"),
            (&hash("{ d }"), "{ d }"),
            (
                &format!("sha256:{}", hash("query A { a }")),
                "query A { a }",
            ),
        ] {
            assert_eq!(text(&list, id).as_deref(), Some(found), "{id}");
        }
        for unknown in ["", "0F1E", "0f1", "NAMED", "operations", &hash("other")] {
            assert_eq!(text(&list, unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_same_operation_can_be_listed_again() {
        let manifest = json!({"a": "{ a }", "b": "{ a }"}).to_string();
        let list = read(&[manifest.clone(), manifest]).expect("they agree");
        assert_eq!(list.count(), 2);
        assert_eq!(read(&["{}".to_owned()]).expect("empty").count(), 0);
    }

    #[test]
    fn invalid_manifests_are_rejected_with_the_place() {
        for (manifest, message) in [
            ("", "must be an object"),
            ("[]", "line 1, column 1: [], and must be an object"),
            ("{\n \"a\": \"{ a }\"\n", "line 3, column 1"),
            ("{\"a\": \"{ a }\"} x", "line 1, column 16"),
            (
                "{\n \"a\": 1}",
                "line 2, column 7: the operation \"a\" is 1",
            ),
            (
                "{\"a\": \"{ a }\",\n\"a\": \"{ b }\"}",
                "line 2, column 6: the id \"a\" has two different operations",
            ),
            ("{\"operations\": []}", "`format`"),
            (
                "{\"format\": \"other\", \"version\": 1, \"operations\": []}",
                "`format`",
            ),
            (
                "{\"format\": \"apollo-persisted-query-manifest\", \"version\": 2}",
                "`version` 1",
            ),
        ] {
            let error = read(&[manifest.to_owned()]).expect_err(manifest);
            assert!(error.message().contains(message), "{manifest}: {error}");
            assert_eq!(error.kind(), ErrorKind::BadUserInput);
        }
        for operation in [
            json!(1),
            json!({}),
            json!({"id": "a"}),
            json!({"body": "{ a }"}),
            json!({"id": 1, "body": "{ a }"}),
            json!({"id": "a", "body": null}),
        ] {
            let manifest = apollo(&json!([{"id": "b", "body": "{ b }"}, operation]));
            let error = read(&["{}".to_owned(), manifest]).expect_err("invalid");
            let message = error.message();
            assert!(
                message.starts_with("manifest 2 of 2: line 1, column "),
                "{error}"
            );
        }
    }

    #[test]
    fn lists_over_a_limit_are_rejected() {
        let many = |count: usize| {
            let operations = (0..count).map(|id| (id.to_string(), json!("{ a }")));
            serde_json::Value::Object(operations.collect()).to_string()
        };
        assert!(read(&[many(LISTED_OPERATIONS_MAX)]).is_ok());
        let error = read(&[many(LISTED_OPERATIONS_MAX + 1)]).expect_err("too many");
        assert_eq!(error.kind(), ErrorKind::TooComplex);
        let error = read(&[many(LISTED_OPERATIONS_MAX), json!({"a": ""}).to_string()]);
        assert_eq!(error.expect_err("too many").kind(), ErrorKind::TooComplex);
        let long = |bytes: usize| json!({"a": "x".repeat(bytes)}).to_string();
        assert!(read(&[long(LISTED_OPERATIONS_BYTES_MAX)]).is_ok());
        let error = read(&[
            long(LISTED_OPERATIONS_BYTES_MAX),
            json!({"b": "x"}).to_string(),
        ]);
        assert_eq!(error.expect_err("too large").kind(), ErrorKind::TooLarge);
        let error = read(&[json!({"x".repeat(257): "{ a }"}).to_string()]);
        assert_eq!(error.expect_err("a long id").kind(), ErrorKind::TooLarge);
    }
}
