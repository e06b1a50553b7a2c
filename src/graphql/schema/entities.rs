//! Representations of entities, which the gateway of a federated graph sends.

use async_graphql::Value;
use async_graphql::indexmap::IndexMap;

use crate::database::DocumentKey;
use crate::document::id::DocumentId;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::graphql::scalars::node_id::NodeId;
use crate::graphql::scalars::scalar_types::name;

/// The field that returns entities.
pub(crate) const ENTITIES: &str = "_entities";

/// The union of all entities.
pub(crate) const ENTITY: &str = "_Entity";

/// The scalar type of representations.
pub(crate) const REPRESENTATION: &str = "_Any";

/// The type of entities of any collection. Collections with types have others, too.
const DOCUMENT: &str = "Document";

/// The members of a representation that identify an entity of this graph.
#[derive(Default)]
pub(crate) struct EntityKeys {
    typename: Option<Value>,
    collection: Option<Value>,
    key: Option<Value>,
    id: Option<Value>,
}

impl EntityKeys {
    /// Takes the keys from a representation.
    pub(crate) fn of(representation: Value) -> Self {
        let mut keys = Self::default();
        if let Value::Object(members) = representation {
            for (member, value) in members {
                if let Some(key) = keys.named(&member) {
                    *key = Some(value);
                }
            }
        }
        keys
    }

    /// The key with this name; none if there is no such key.
    pub(crate) fn named(&mut self, name: &str) -> Option<&mut Option<Value>> {
        match name {
            "__typename" => Some(&mut self.typename),
            "collection" => Some(&mut self.collection),
            "key" => Some(&mut self.key),
            "id" => Some(&mut self.id),
            _ => None,
        }
    }

    /// A representation that contains only these keys.
    pub(crate) fn into_representation(self) -> Value {
        let members = [
            ("__typename", self.typename),
            ("collection", self.collection),
            ("key", self.key),
            ("id", self.id),
        ];
        let given = members
            .into_iter()
            .filter_map(|(member, value)| Some((name(member), value?)));
        Value::Object(given.collect::<IndexMap<_, _>>())
    }

    /// The name of the type.
    pub(crate) fn typename(&self) -> Option<&str> {
        match &self.typename {
            Some(Value::String(name)) => Some(name),
            _ => None,
        }
    }

    /// The document that the keys of a type of this collection identify.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the key is missing or malformed. As [`DocumentKey::new`].
    pub(crate) fn in_collection(self, collection: &str) -> Result<DocumentKey> {
        let Some(key) = text(self.key.as_ref()) else {
            return Err(Error::bad_input(
                "a representation has no key: `key`, as text",
            ));
        };
        DocumentKey::new(collection, DocumentId::parse(&key)?)
    }

    /// The document that the keys identify.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the type is not `Document`, a key is missing or malformed, or two keys
    /// identify different documents. As [`DocumentKey::new`].
    pub(crate) fn document(self) -> Result<DocumentKey> {
        let typename = text(self.typename.as_ref()).unwrap_or_default();
        if typename != DOCUMENT {
            return Err(Error::bad_input(format!(
                "a representation has the type {:?}, which is not an entity of this graph",
                abridged(&typename)
            )));
        }
        let by_id = match text(self.id.as_ref()) {
            None => None,
            Some(id) => match NodeId::parse(&id)? {
                NodeId::Document(document) => Some(document),
                NodeId::Subdocument(..) => {
                    return Err(Error::bad_input(format!(
                        "{:?} is the id of a Subdocument, which is not an entity of this graph",
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

/// The text of a key, which is a string or a number.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The documents that a list of representations identifies.
pub(crate) type Entities = Vec<DocumentKey>;

/// Removes all members except the keys, so that they are not copied with the variables.
pub(crate) fn keys_only(representation: Value) -> Value {
    match representation {
        Value::Object(_) => EntityKeys::of(representation).into_representation(),
        other => other,
    }
}

/// As [`keys_only`], for each element of a list.
pub(crate) fn all_keys_only(representations: Value) -> Value {
    match representations {
        Value::List(elements) => Value::List(elements.into_iter().map(keys_only).collect()),
        one => keys_only(one),
    }
}
