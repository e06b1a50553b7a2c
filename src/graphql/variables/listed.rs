//! Reads lists of representations of entities directly into the documents that they identify.

use std::borrow::Cow;

use async_graphql::parser::types::{BaseType, Type};
use bytes::Bytes;

use super::coerce_value::{ValueReader, VariableReader};
use crate::database::DocumentKey;
use crate::document::id::{DocumentId, is_canonical_integer};
use crate::document::json::Event;
use crate::graphql::scalars::node_id::NodeId;
use crate::graphql::schema::entities::{Entities, REPRESENTATION};

pub(crate) fn is_list_of_representations(ty: &Type) -> bool {
    let BaseType::List(element) = &ty.base else {
        return false;
    };
    matches!(&element.base, BaseType::Named(name) if name == REPRESENTATION)
}

impl ValueReader<'_> {
    /// The documents that a list of representations identifies. None if one of them is unusual or
    /// invalid; the list is then read like any other value.
    pub(crate) fn entities(&mut self, text: &Bytes) -> Option<Entities> {
        let values = self.values;
        let entities = self.try_entities(text);
        if entities.is_none() {
            self.values = values;
        }
        entities
    }

    fn try_entities(&mut self, text: &Bytes) -> Option<Entities> {
        let below = self.bounds.variable_levels.checked_sub(1)?;
        let given = &mut VariableReader::new(text).ok()?;
        self.count().ok()?;
        if given.next().ok()? != Event::BeginArray {
            return None;
        }
        let mut entities = Vec::new();
        while given.begin_element().ok()? {
            let (_, begin) = given.peek();
            if given.next().ok()? != Event::BeginObject {
                return None;
            }
            entities.push(self.entity(given, begin, below)?);
        }
        Some(entities)
    }

    /// The document of the representation that begins at `begin`.
    fn entity(
        &mut self,
        given: &mut VariableReader<'_>,
        begin: usize,
        levels: usize,
    ) -> Option<DocumentKey> {
        self.count().ok()?;
        let (mut typename, mut collection, mut key, mut id) = (None, None, None, None);
        while let Event::Name(member) = given.next().ok()? {
            let given_as = match &*member {
                "__typename" => &mut typename,
                "collection" => &mut collection,
                "key" => &mut key,
                "id" => &mut id,
                _ => {
                    self.check_string(&member).ok()?;
                    let event = given.next().ok()?;
                    self.subtree(given, event, begin, levels).ok()?;
                    continue;
                }
            };
            self.count().ok()?;
            let text = match given.next().ok()? {
                Event::String(text) => text,
                Event::Number(number) if member == "key" && is_canonical_integer(number) => {
                    Cow::Borrowed(number)
                }
                _ => return None,
            };
            self.check_string(&text).ok()?;
            *given_as = Some(text);
        }
        if typename.as_deref() != Some("Document") {
            return None;
        }
        let by_id = match id.as_deref().map(NodeId::parse) {
            None => None,
            Some(Ok(NodeId::Document(document))) => Some(document),
            Some(_) => return None,
        };
        let by_key = match collection.zip(key) {
            None => None,
            Some((collection, key)) => {
                let key = DocumentId::parse(&key).ok()?;
                Some(DocumentKey::new(collection, key).ok()?)
            }
        };
        match (by_id, by_key) {
            (Some(by_id), Some(by_key)) => (by_id == by_key).then_some(by_id),
            (one, other) => one.or(other),
        }
    }
}
