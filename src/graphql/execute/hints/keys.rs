//! Mistakes in keys: global ids, keys of another type, rounded integers.

use async_graphql::{PathSegment, Value};

use super::empty::path;
use super::rounded::{are_same_double, looks_rounded, mistakable};
use super::{GivenArguments, HintFinder};
use crate::database::query::{self, KeySet, KeyTests, Order, Page, Select};
use crate::database::{DocumentKey, StoredKeys, stored_keys};
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::leaf::abridged;
use crate::error::Result;
use crate::graphql::arguments::place_input::DEFAULT_COLLECTION;
use crate::graphql::prepare::plan::PlannedField;
use crate::graphql::response::hint::{Hint, HintCode};
use crate::graphql::scalars::node_id::{self, NodeId};
use crate::limits::{HINTED_LOOKUPS_MAX, HINTS_MAX};

/// The text of an argument of the type `ID`, and whether it was given as a number.
fn id_text(value: &Value) -> Option<(String, bool)> {
    match value {
        Value::String(text) => Some((text.clone(), false)),
        Value::Number(number) => Some((number.to_string(), true)),
        _ => None,
    }
}

/// The other key with the same text: a string for an integer, and the other way round.
fn of_other_type(id: &DocumentId) -> Option<DocumentId> {
    match id {
        DocumentId::Text(text) => {
            let other = DocumentId::parse(text).ok()?;
            (!matches!(other, DocumentId::Text(_))).then_some(other)
        }
        DocumentId::Integer(_) | DocumentId::Versionstamp(_) => {
            Some(DocumentId::Text(id.to_string()))
        }
    }
}

/// The type of a key, with an article.
fn type_of(id: &DocumentId) -> &'static str {
    match id {
        DocumentId::Text(_) => "a string",
        DocumentId::Integer(_) => "an integer",
        DocumentId::Versionstamp(_) => "a versionstamp",
    }
}

/// A key that was asked for and not found.
struct MissingKey<'k> {
    path: Vec<PathSegment>,
    collection: &'k str,
    id: DocumentId,
    /// The text that was given, if it may be a global id.
    text: Option<&'k str>,
    as_number: bool,
    /// Whether it was given to a field of the type of the collection.
    is_typed: bool,
    /// Whether the whole document was read: the key is then not stored.
    is_whole: bool,
}

/// What explains that a key was not found.
enum KeyFinding {
    /// The document is stored, so only the path finds nothing.
    Stored,
    Mistaken(Hint),
    Unknown {
        /// Whether the collection has a document.
        in_collection: bool,
    },
}

impl HintFinder<'_> {
    /// The hints for a field `document` that is null. `is_whole` says whether it reads the whole document.
    pub(super) async fn of_document(
        &self,
        path: Vec<PathSegment>,
        arguments: &GivenArguments<'_>,
        is_whole: bool,
    ) -> Result<Option<Hint>> {
        let Some((text, as_number)) = arguments.get("id").and_then(id_text) else {
            return Ok(None);
        };
        let Ok(id) = DocumentId::parse(&text) else {
            return Ok(None);
        };
        let key = MissingKey {
            path,
            collection: arguments.collection().unwrap_or(DEFAULT_COLLECTION),
            id,
            text: Some(&text),
            as_number,
            is_typed: false,
            is_whole,
        };
        self.of_key(key, arguments.collection()).await
    }

    /// The hints for a field that returns a document of a collection with a type, and is null.
    pub(super) async fn of_typed_document(
        &self,
        path: Vec<PathSegment>,
        collection: &str,
        key: Option<&Value>,
    ) -> Result<Option<Hint>> {
        let Some((text, as_number)) = key.and_then(id_text) else {
            return Ok(None);
        };
        let Ok(id) = DocumentId::parse(&text) else {
            return Ok(None);
        };
        let key = MissingKey {
            path,
            collection,
            id,
            text: Some(&text),
            as_number,
            is_typed: true,
            is_whole: true,
        };
        let finding = self.of_stored(&key).await?;
        self.of_finding(finding, &key).await
    }

    /// The hints for a field `node` that is null.
    pub(super) async fn of_node(
        &self,
        path: Vec<PathSegment>,
        id: Option<&Value>,
    ) -> Result<Option<Hint>> {
        let Some((text, _)) = id.and_then(id_text) else {
            return Ok(None);
        };
        let (document, is_whole) = match NodeId::parse(&text) {
            Ok(NodeId::Document(document)) => (document, true),
            Ok(NodeId::Subdocument(document, _)) => (document, false),
            Err(_) => return Ok(None),
        };
        let DocumentKey { collection, id } = document;
        let key = MissingKey {
            path,
            collection: &collection,
            id,
            text: None,
            as_number: false,
            is_typed: false,
            is_whole,
        };
        self.of_key(key, Some(&collection)).await
    }

    /// The hints for the elements of a field `nodes` that are null.
    pub(super) async fn of_nodes(
        &self,
        hints: &mut Vec<Hint>,
        field: &PlannedField,
        ids: Option<&Value>,
        nulls: &[usize],
    ) -> Result<()> {
        let ids = match ids {
            Some(Value::List(ids)) => &ids[..],
            Some(id) => std::slice::from_ref(id),
            None => &[],
        };
        for at in nulls.iter().take(HINTED_LOOKUPS_MAX) {
            if hints.len() >= HINTS_MAX {
                break;
            }
            let hint = self.of_node(path(field, Some(*at)), ids.get(*at)).await?;
            hints.extend(hint);
        }
        Ok(())
    }

    /// The hint for a key that was not found in a collection. `given` is none if the default
    /// applies.
    async fn of_key(&self, key: MissingKey<'_>, given: Option<&str>) -> Result<Option<Hint>> {
        let finding = self.of_stored(&key).await?;
        if matches!(
            finding,
            KeyFinding::Unknown {
                in_collection: false
            }
        ) {
            let hint = self.of_collection(key.path.clone(), given).await?;
            if hint.is_some() {
                return Ok(hint);
            }
        }
        self.of_finding(finding, &key).await
    }

    /// The hint for what was found of a key.
    async fn of_finding(&self, finding: KeyFinding, key: &MissingKey<'_>) -> Result<Option<Hint>> {
        match finding {
            KeyFinding::Stored => Ok(None),
            KeyFinding::Mistaken(hint) => Ok(Some(hint)),
            KeyFinding::Unknown { .. } => self.of_rounded(key).await,
        }
    }

    /// Reads the documents that a key may have meant.
    async fn of_stored(&self, key: &MissingKey<'_>) -> Result<KeyFinding> {
        let collection = abridged(key.collection);
        let global = key
            .text
            .and_then(|text| NodeId::parse(text).ok())
            .map(|id| match id {
                NodeId::Document(document) | NodeId::Subdocument(document, _) => document,
            });
        let other = of_other_type(&key.id).and_then(|id| DocumentKey::new(key.collection, id).ok());
        let asked = if key.is_whole {
            None
        } else {
            Some(DocumentKey::new(key.collection, key.id.clone())?)
        };
        let (has_asked, has_global, has_other) =
            (asked.is_some(), global.is_some(), other.is_some());
        let documents: Vec<DocumentKey> = [asked, global.clone(), other.clone()]
            .into_iter()
            .flatten()
            .collect();
        let StoredKeys {
            documents,
            in_collection,
        } = stored_keys(self.read, &documents, key.collection).await?;
        let mut documents = documents.into_iter();
        let mut next = |is_read: bool| is_read && documents.next().unwrap_or_default();
        if next(has_asked) {
            return Ok(KeyFinding::Stored);
        }
        if next(has_global)
            && let Some(document) = global
        {
            let id = node_id::of_document(&document);
            let DocumentKey {
                collection,
                id: key_of,
            } = &document;
            let key_of = key_of.to_string();
            let (takes, instead) = if key.is_typed && collection == key.collection {
                ("this field", format!("key: {:?}", abridged(&key_of)))
            } else {
                let instead = format!(
                    "document(collection: {:?}, id: {:?})",
                    abridged(collection),
                    abridged(&key_of)
                );
                ("`document`", instead)
            };
            return Ok(KeyFinding::Mistaken(Hint {
                code: HintCode::GlobalId,
                path: key.path.clone(),
                message: format!(
                    "{:?} is a global id, which `node` takes; {takes} takes the key: {instead}",
                    abridged(&id)
                ),
                suggestion: Some(instead),
            }));
        }
        if next(has_other)
            && let Some(DocumentKey { id: other, .. }) = other
        {
            let (asked, other_text) = (key.id.to_string(), other.to_string());
            return Ok(KeyFinding::Mistaken(Hint {
                code: HintCode::KeyType,
                path: key.path.clone(),
                message: format!(
                    "the key {} is {}, and the collection {collection:?} has a document whose key is {}: \
                     give {:?}",
                    abridged(&asked),
                    type_of(&key.id),
                    type_of(&other),
                    abridged(&other_text)
                ),
                suggestion: Some(other_text),
            }));
        }
        Ok(KeyFinding::Unknown { in_collection })
    }

    /// The hint that a client has rounded a key that was not found.
    async fn of_rounded(&self, key: &MissingKey<'_>) -> Result<Option<Hint>> {
        let DocumentId::Integer(integer) = key.id else {
            return Ok(None);
        };
        let Some((least, greatest)) = mistakable(integer) else {
            return Ok(None);
        };
        let tests = KeyTests {
            gte: Some(DocumentId::Integer(least)),
            lte: Some(DocumentId::Integer(greatest)),
            ..KeyTests::default()
        };
        let keys = KeySet::new(key.collection, tests)?;
        let mut near = self
            .keys(key.collection, keys, HINTED_LOOKUPS_MAX, false)
            .await?
            .into_iter()
            .filter_map(|id| match id {
                DocumentId::Integer(id) => Some(id),
                _ => None,
            });
        let why = "clients that read numbers as binary64, as JavaScript does, round integers past \
                   2^53: take the key as a string, from `key`";
        let hint = |message, suggestion| Hint {
            code: HintCode::RoundedInteger,
            path: key.path.clone(),
            message,
            suggestion,
        };
        if let Some(stored) = near.find(|id| are_same_double(*id, integer)) {
            let message =
                format!("there is no document {integer}, and one with the key {stored}; {why}");
            return Ok(Some(hint(message, Some(stored.to_string()))));
        }
        if key.as_number && looks_rounded(integer) {
            let message = format!("the key {integer} may have been rounded; {why}");
            return Ok(Some(hint(message, None)));
        }
        Ok(None)
    }

    /// The first or last keys of a set in the catalog of a collection.
    async fn keys(
        &self,
        collection: &str,
        keys: KeySet,
        size: usize,
        backward: bool,
    ) -> Result<Vec<DocumentId>> {
        let select = Select {
            collection: collection.to_owned(),
            filter: Filter::All(Vec::new()),
            keys,
            order: Order::default(),
            page: Page {
                size,
                backward,
                from: None,
            },
            scan_max: size,
            total: false,
        };
        let found = query::documents(self.read, self.request_budget.budget(), &select).await?;
        Ok(found.rows.into_iter().map(|row| row.position.id).collect())
    }

    /// The hints for the argument `keys` of a field `documents` that found nothing.
    pub(super) async fn of_keys(
        &self,
        path: &[PathSegment],
        collection: &str,
        keys: Option<&Value>,
    ) -> Result<Vec<Hint>> {
        let Some(Value::Object(tests)) = keys else {
            return Ok(Vec::new());
        };
        let mut hints = Vec::new();
        let listed = match tests.get("in") {
            Some(Value::List(listed)) => &listed[..],
            Some(Value::Null) | None => &[],
            Some(one) => std::slice::from_ref(one),
        };
        for value in listed.iter().take(HINTED_LOOKUPS_MAX) {
            let Some((text, as_number)) = id_text(value) else {
                continue;
            };
            let Ok(id) = DocumentId::parse(&text) else {
                continue;
            };
            let key = MissingKey {
                path: path.to_vec(),
                collection,
                id,
                text: Some(&text),
                as_number,
                is_typed: false,
                is_whole: false,
            };
            let finding = self.of_stored(&key).await?;
            hints.extend(self.of_finding(finding, &key).await?);
            if hints.len() == HINTS_MAX {
                return Ok(hints);
            }
        }
        let bound = |names: [&str; 2]| {
            let mut values = names.iter().filter_map(|name| tests.get(*name));
            let (text, _) = values.find_map(id_text)?;
            DocumentId::parse(&text).ok()
        };
        let bounds = [bound(["gt", "gte"]), bound(["lt", "lte"])];
        let prefix = matches!(tests.get("prefix"), Some(Value::String(_)));
        let hint = self.of_bounds(path, collection, bounds, prefix).await?;
        hints.extend(hint);
        Ok(hints)
    }

    /// The hint that bounds, or a prefix, have another type than the keys of the collection.
    async fn of_bounds(
        &self,
        path: &[PathSegment],
        collection: &str,
        bounds: [Option<DocumentId>; 2],
        prefix: bool,
    ) -> Result<Option<Hint>> {
        const ORDER: &str = "strings sort before integers, and integers before versionstamps";
        let hint = |message, suggestion| {
            Some(Hint {
                code: HintCode::KeyType,
                path: path.to_vec(),
                message,
                suggestion,
            })
        };
        if let [Some(from), Some(to)] = &bounds
            && type_of(from) != type_of(to)
        {
            let message = format!(
                "the lower bound of `keys` is {} and the upper bound {}; {ORDER}: write a string of \
                 digits with its quotation marks",
                type_of(from),
                type_of(to)
            );
            let integer = [from, to]
                .into_iter()
                .find(|id| !matches!(id, DocumentId::Text(_)));
            let quoted = integer.and_then(of_other_type).map(|id| id.to_string());
            return Ok(hint(message, quoted));
        }
        let [from, to] = bounds;
        let asked = match (&from, &to) {
            (Some(bound), _) | (_, Some(bound)) => type_of(bound),
            _ if prefix => type_of(&DocumentId::Text(String::new())),
            _ => return Ok(None),
        };
        let first = self.keys(collection, KeySet::All, 1, false).await?.pop();
        let last = self.keys(collection, KeySet::All, 1, true).await?.pop();
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(None);
        };
        // Between two types there may be keys of the third one.
        let stored = type_of(&first);
        if stored != type_of(&last) || stored == asked {
            return Ok(None);
        }
        let collection = abridged(collection);
        let example = first.to_string();
        let example = abridged(&example);
        if prefix {
            let message = format!(
                "`prefix` selects strings, and the first and the last key of the collection \
                 {collection:?} are {} such as {example:?}: use `gte` and `lt`",
                plural(&first)
            );
            return Ok(hint(message, None));
        }
        let bound = from.or(to);
        let instead = bound
            .as_ref()
            .and_then(of_other_type)
            .filter(|id| type_of(id) == stored);
        let advice = match &instead {
            Some(DocumentId::Text(_)) => {
                ": write a string of digits with its quotation marks".to_owned()
            }
            _ => String::new(),
        };
        let message = format!(
            "a bound of `keys` is {asked}, and the first and the last key of the collection \
             {collection:?} are {} such as {example:?}{advice}",
            plural(&first)
        );
        Ok(hint(message, instead.map(|id| id.to_string())))
    }
}

fn plural(id: &DocumentId) -> &'static str {
    match id {
        DocumentId::Text(_) => "strings",
        DocumentId::Integer(_) => "integers",
        DocumentId::Versionstamp(_) => "versionstamps",
    }
}
