//! Representations of entities, as a federated graph's gateway sends them.

use async_graphql::Value;
use async_graphql::indexmap::IndexMap;

use crate::database::DocumentKey;
use crate::document::id::DocumentId;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::graphql::scalars::node_id::NodeId;
use crate::graphql::scalars::types::name;

/// The field that asks for entities.
pub(crate) const ENTITIES: &str = "_entities";

/// The scalar that representations are of.
pub(crate) const REPRESENTATION: &str = "_Any";

/// The only type that is an entity.
const DOCUMENT: &str = "Document";

/// A representation as it was given.
pub(crate) struct Representation(pub(crate) Value);

/// What a representation says of what tells entities of this graph apart.
#[derive(Default)]
pub(crate) struct EntityKeys {
    typename: Option<Value>,
    collection: Option<Value>,
    key: Option<Value>,
    id: Option<Value>,
}

impl EntityKeys {
    /// What a representation says.
    pub(crate) fn of(Representation(value): Representation) -> Self {
        let mut keys = Self::default();
        if let Value::Object(members) = value {
            for (member, value) in members {
                if let Some(key) = keys.named(&member) {
                    *key = Some(value);
                }
            }
        }
        keys
    }

    /// The one of this name.
    pub(crate) fn named(&mut self, name: &str) -> Option<&mut Option<Value>> {
        match name {
            "__typename" => Some(&mut self.typename),
            "collection" => Some(&mut self.collection),
            "key" => Some(&mut self.key),
            "id" => Some(&mut self.id),
            _ => None,
        }
    }

    /// The representation that says this and nothing else.
    pub(crate) fn into_representation(self) -> Value {
        let members = [
            ("__typename", self.typename),
            ("collection", self.collection),
            ("key", self.key),
            ("id", self.id),
        ];
        let given = members.into_iter();
        let given = given.filter_map(|(member, value)| Some((name(member), value?)));
        Value::Object(given.collect::<IndexMap<_, _>>())
    }

    /// The document that it stands for.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is of another type, lacks a key, or has two that do not agree; or a key
    /// is malformed.
    pub(crate) fn document(self) -> Result<DocumentKey> {
        let typename = text(self.typename.as_ref()).unwrap_or_default();
        if typename != DOCUMENT {
            return Err(Error::bad_input(format!(
                "a representation has the type {:?}; the only entity here is {DOCUMENT}",
                abridged(&typename)
            )));
        }
        let by_id = match text(self.id.as_ref()) {
            None => None,
            Some(id) => match NodeId::parse(&id)? {
                NodeId::Document(document) => Some(document),
                NodeId::Subdocument(..) => {
                    return Err(Error::bad_input(format!(
                        "{:?} is the id of a Subdocument; the only entity here is {DOCUMENT}",
                        abridged(&id)
                    )));
                }
            },
        };
        let by_key = match (text(self.collection.as_ref()), text(self.key.as_ref())) {
            (Some(collection), Some(key)) => {
                Some(DocumentKey::new(collection, DocumentId::parse(&key)?)?)
            }
            _ => None,
        };
        match (by_id, by_key) {
            (Some(by_id), Some(by_key)) if by_id != by_key => Err(Error::bad_input(
                "in a representation `id` names another document than `collection` and `key`",
            )),
            (Some(document), _) | (None, Some(document)) => Ok(document),
            (None, None) => Err(Error::bad_input(
                "a representation has no key: `id`, or `collection` and `key`, as text",
            )),
        }
    }
}

/// The text that a key is given as.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The document that each representation of a list stands for.
pub(crate) type Entities = Vec<DocumentKey>;

/// A representation of a document.
pub(crate) fn representation_of(document: &DocumentKey) -> Value {
    let DocumentKey { collection, id } = document;
    let keys = EntityKeys {
        typename: Some(Value::String(DOCUMENT.to_owned())),
        collection: Some(Value::String(collection.clone())),
        key: Some(Value::String(id.to_string())),
        id: None,
    };
    keys.into_representation()
}

/// The representation with its keys only, so that what else it says is not copied.
pub(crate) fn keys_only(representation: Value) -> Value {
    match representation {
        Value::Object(_) => EntityKeys::of(Representation(representation)).into_representation(),
        other => other,
    }
}

/// The same of each element of a list.
pub(crate) fn all_keys_only(representations: Value) -> Value {
    match representations {
        Value::List(elements) => Value::List(elements.into_iter().map(keys_only).collect()),
        one => keys_only(one),
    }
}
