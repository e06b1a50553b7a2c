//! Index definitions and their stored form.

use foundationdb_tuple::{Element, pack, unpack};

use super::partial::IndexFilter;
use crate::database::types::head::TypeHead;
use crate::document::jsonpath::{Query, SimpleStep};
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result};
use crate::key::{Family, append_segment, hex};
use crate::store::{Batches, Read};

/// An index of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// The name, unique in the collection.
    pub name: String,
    /// The number of the index in the keys of its entries.
    pub number: u64,
    /// The indexed paths, in column order.
    pub on: Vec<IndexPath>,
    /// Whether two documents must not have the same values.
    pub unique: bool,
    /// The filter of a partial index: only documents that pass it have entries.
    pub filter: Option<IndexFilter>,
    /// Whether the values of entries have the [forms](crate::key::NumberForm) of numbers, so that an
    /// entry shows exactly what the document has. False for indexes created before
    /// [`FORMAT_EXACT_ENTRIES`](crate::database::FORMAT_EXACT_ENTRIES).
    pub exact: bool,
    /// The state of the index.
    pub state: State,
    /// The reason, if the index failed.
    pub error: Option<String>,
}

/// Bytes of memory of a decoded definition, for each byte of its stored form. A step of a JSONPath is
/// stored in as few as 3 bytes, and decoded once as a step and once as a segment of a place.
const DECODED_PER_ENCODED: usize = 32;

/// The state of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Some documents do not have their entries yet.
    Building = 0,
    /// Queries use the index.
    Ready = 1,
    /// The index could not be built. It has no entries and is not maintained.
    Failed = 2,
}

impl Index {
    /// Whether writes to documents maintain the entries.
    pub fn is_kept(&self) -> bool {
        self.state != State::Failed
    }

    /// An estimate of the memory of this value, in bytes.
    pub(crate) fn decoded_bytes(&self) -> usize {
        size_of::<Self>() + self.name.len() + DECODED_PER_ENCODED * self.encode().len()
    }

    /// Packs the definition, without the name.
    pub fn encode(&self) -> Vec<u8> {
        let mut elements = vec![
            Element::Int(i64::try_from(self.number).unwrap_or(i64::MAX)),
            Element::Bool(self.unique),
            Element::Int(self.state as i64),
            self.error
                .as_ref()
                .map_or(Element::Nil, |error| Element::String(error.into())),
        ];
        if self.exact {
            elements.push(Element::Bool(true));
        }
        if let Some(filter) = &self.filter {
            elements.push(Element::String(filter.json().into()));
        }
        elements.extend(self.on.iter().map(IndexPath::encode));
        pack(&elements)
    }

    /// Decodes the definition of the index with this name. None if it is damaged.
    pub fn decode(name: String, value: &[u8]) -> Option<Self> {
        let elements: Vec<Element<'_>> = unpack(value).ok()?;
        let [number, unique, state, error, on @ ..] = &elements[..] else {
            return None;
        };
        let (Element::Int(number), Element::Bool(unique), Element::Int(state)) =
            (number, unique, state)
        else {
            return None;
        };
        let (exact, on) = match on {
            [Element::Bool(true), on @ ..] => (true, on),
            on => (false, on),
        };
        let (filter, on) = match on {
            [Element::String(json), on @ ..] => (Some(IndexFilter::from_json(json).ok()?), on),
            on => (None, on),
        };
        let states = [State::Building, State::Ready, State::Failed];
        Some(Self {
            name,
            number: u64::try_from(*number).ok()?,
            on: on.iter().map(IndexPath::decode).collect::<Option<_>>()?,
            unique: *unique,
            filter,
            exact,
            state: states.into_iter().find(|known| *known as i64 == *state)?,
            error: match error {
                Element::Nil => None,
                Element::String(error) => Some(error.to_string()),
                _ => return None,
            },
        })
    }
}

/// One of the JSONPaths that an index is on.
#[derive(Clone, Debug)]
pub struct IndexPath {
    pub(crate) text: String,
    steps: Vec<SimpleStep>,
    /// The steps before `[*]`, or all steps if there is none.
    pub(crate) place: Place,
    /// The packed steps after `[*]`. None if there is no `[*]`. Empty if the values are names.
    pub(crate) behind_each: Option<Vec<u8>>,
}

/// Paths are equal if they select the same places, whatever their text is.
impl PartialEq for IndexPath {
    fn eq(&self, other: &Self) -> bool {
        self.steps == other.steps
    }
}

impl IndexPath {
    /// Parses a JSONPath, possibly followed by `~`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not a JSONPath, or it contains anything but names, indexes and
    /// at most one `[*]`, or `~` follows anything but `[*]`.
    pub fn parse(text: &str) -> Result<Self> {
        let (path, names) = match text.strip_suffix('~') {
            Some(path) => (path, true),
            None => (text, false),
        };
        let query = Query::parse(path)?;
        let each = |step: &&SimpleStep| **step == SimpleStep::Each;
        let steps = query.simple();
        let steps = steps.filter(|steps| steps.iter().filter(each).count() <= 1);
        let Some(steps) = steps else {
            return Err(Error::bad_input(format!(
                "an index cannot be on {text}: its JSONPath may contain only names, indexes from 0 \
                 and at most one [*]"
            )));
        };
        let mut steps = steps.to_vec();
        if names && steps.pop() != Some(SimpleStep::Each) {
            return Err(Error::bad_input(format!(
                "an index cannot be on {text}: ~ follows .* or [*] and means the names of the \
                 members of an object"
            )));
        }
        if names {
            steps.push(SimpleStep::EachName);
        }
        Ok(Self::new(text.to_owned(), steps))
    }

    fn new(text: String, steps: Vec<SimpleStep>) -> Self {
        let mut place = Place::default();
        let mut behind_each: Option<Vec<u8>> = None;
        for step in &steps {
            let segment = match step {
                SimpleStep::Name(name) => Segment::Key(name.clone()),
                SimpleStep::Index(index) => Segment::Index(*index),
                SimpleStep::Each | SimpleStep::EachName => {
                    behind_each = Some(Vec::new());
                    continue;
                }
            };
            match &mut behind_each {
                Some(behind) => append_segment(behind, segment.as_ref()),
                None => place.0.push(segment),
            }
        }
        Self {
            text,
            steps,
            place,
            behind_each,
        }
    }

    /// The JSONPath as the client wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The steps.
    pub fn steps(&self) -> &[SimpleStep] {
        &self.steps
    }

    /// Whether the path can select several values, that is, contains a `[*]`.
    pub fn is_multiple(&self) -> bool {
        self.behind_each.is_some()
    }

    /// Whether the values are the names of the members of an object.
    pub fn is_of_names(&self) -> bool {
        self.steps.last() == Some(&SimpleStep::EachName)
    }

    fn encode(&self) -> Element<'_> {
        let mut elements = vec![Element::String(self.text.as_str().into())];
        elements.extend(self.steps.iter().map(|step| match step {
            SimpleStep::Name(name) => Element::String(name.as_str().into()),
            SimpleStep::Index(index) => Element::Int(i64::try_from(*index).unwrap_or(i64::MAX)),
            SimpleStep::Each => Element::Nil,
            SimpleStep::EachName => Element::Bool(true),
        }));
        Element::Tuple(elements)
    }

    fn decode(element: &Element<'_>) -> Option<Self> {
        let Element::Tuple(elements) = element else {
            return None;
        };
        let [Element::String(text), steps @ ..] = &elements[..] else {
            return None;
        };
        let steps = steps
            .iter()
            .map(|step| match step {
                Element::String(name) => Some(SimpleStep::Name(name.to_string())),
                Element::Int(index) => Some(SimpleStep::Index(u64::try_from(*index).ok()?)),
                Element::Nil => Some(SimpleStep::Each),
                Element::Bool(true) => Some(SimpleStep::EachName),
                _ => None,
            })
            .collect::<Option<_>>()?;
        Some(Self::new(text.to_string(), steps))
    }
}

/// Whether a pair of the catalog is a valid index definition.
pub(crate) fn is_definition(key: &[u8], value: &[u8]) -> bool {
    Family::index_name(key).is_some_and(|name| Index::decode(name, value).is_some())
}

/// The indexes of a collection, in the order of their names.
///
/// # Errors
/// `INTERNAL`: a definition is damaged. Errors of the store.
pub async fn indexes(read: &dyn Read, collection: &str) -> Result<Vec<Index>> {
    let (begin, end) = Family::definitions(collection);
    let mut found = Vec::new();
    let mut batches = Batches::new(read, begin, end);
    while let Some(pairs) = batches.next().await? {
        for (key, value) in pairs.iter() {
            found.push(index_of(key, value)?);
        }
    }
    Ok(found)
}

/// What a collection defines about its documents.
pub(crate) struct Definitions {
    /// The indexes, in the order of their names.
    pub(crate) indexes: Vec<Index>,
    /// The head of the type.
    pub(crate) type_head: Option<TypeHead>,
}

/// The definitions of a collection, read as one range. Every write of a document reads them under
/// conflict.
///
/// # Errors
/// As [`indexes`].
pub(crate) async fn definitions(read: &dyn Read, collection: &str) -> Result<Definitions> {
    let (begin, end) = Family::definitions_and_type(collection);
    let mut found = Definitions {
        indexes: Vec::new(),
        type_head: None,
    };
    let mut batches = Batches::new(read, begin, end);
    while let Some(pairs) = batches.next().await? {
        for (key, value) in pairs.iter() {
            if Family::is_type(key) {
                found.type_head = Some(TypeHead::of_collection(collection, value)?);
            } else {
                found.indexes.push(index_of(key, value)?);
            }
        }
    }
    Ok(found)
}

fn index_of(key: &[u8], value: &[u8]) -> Result<Index> {
    let index = Family::index_name(key).and_then(|name| Index::decode(name, value));
    index.ok_or_else(|| Error::internal(format!("bad index definition: the key {}", hex(key))))
}

/// The index of a collection with this name.
///
/// # Errors
/// As [`indexes`].
pub(crate) async fn index_named(
    read: &dyn Read,
    collection: &str,
    name: &str,
) -> Result<Option<Index>> {
    let key = Family::Definition(collection, name).key()?;
    let Some(value) = read.get(&key).await? else {
        return Ok(None);
    };
    let damaged = || Error::internal(format!("bad index definition: the key {}", hex(&key)));
    Index::decode(name.to_owned(), &value)
        .map(Some)
        .ok_or_else(damaged)
}
