//! The GraphQL types of all collections.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use async_graphql::Positioned;
use async_graphql::parser::types::{FieldDefinition, TypeDefinition, TypeKind};

use super::definitions::{argument, extension, field, named, scalar};
use super::object_types::{BIG_INTEGER, ObjectTypes, object_types};
use super::type_names::CollectionNames;
use super::typed_fields::{TypedField, TypedFields};
use crate::document::leaf::abridged;
use crate::error::{Error, Limit, Result};
use crate::graphql::schema::schema_source::SchemaSource;
use crate::graphql::schema::scope::SchemaScope;
use crate::limits::GRAPHQL_PARTS_MAX;
use crate::types::{CollectionType, ShapeKind};

/// The scalars of GraphQL, and what this module defines. Types of collections cannot have their names.
const FURTHER_TYPES: [&str; 7] = [
    "Int",
    "Float",
    "String",
    "Boolean",
    "ID",
    BIG_INTEGER,
    "_Entity",
];

/// A collection whose type is not in the schema.
#[derive(Debug)]
pub struct UnnamedType {
    /// The name of the collection.
    pub collection: String,
    /// Why it is not.
    pub error: Error,
}

/// Rejects a type of a collection that cannot be in the schema beside those of other collections.
///
/// # Errors
/// `BAD_USER_INPUT`: a name of the type is no name of GraphQL, or is taken. The message has the place in the
/// schema. `TOO_COMPLEX`: the types of all collections have too many fields.
pub fn check_schema_of(new: &CollectionType, others: &[CollectionType]) -> Result<()> {
    let mut types = TypesOfCollections::new();
    for other in others {
        // It is not in the schema either.
        let _refused = types.add(other);
    }
    types.add(new)
}

impl SchemaSource {
    /// Adds the types of collections. Returns those that cannot be added, too: others have taken their
    /// names.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the types do not fit the others.
    pub fn with_collections<'t>(
        self,
        types: impl IntoIterator<Item = &'t CollectionType>,
    ) -> Result<(Self, Vec<UnnamedType>)> {
        let mut of_collections = TypesOfCollections::new();
        let mut refused = Vec::new();
        for ty in types {
            if let Err(error) = of_collections.add(ty) {
                let collection = ty.collection().to_owned();
                refused.push(UnnamedType { collection, error });
            }
        }
        Ok((of_collections.source(self)?, refused))
    }
}

/// The names of the fixed schema: of all types, and of the fields of each root type.
struct FixedNames {
    types: HashSet<String>,
    queries: HashSet<String>,
}

static FIXED_NAMES: LazyLock<FixedNames> = LazyLock::new(|| {
    let source = SchemaSource::of(SchemaScope::Full);
    let source = source.subgraph().unwrap_or_default();
    let full = SchemaSource::of(SchemaScope::Full);
    let types = full.types().chain(source.types());
    let types = types.map(|ty| ty.name.node.to_string());
    let further = FURTHER_TYPES.map(str::to_owned);
    FixedNames {
        types: types.chain(further).collect(),
        queries: fields_of(&full, "Query"),
    }
});

fn fields_of(source: &SchemaSource, root: &str) -> HashSet<String> {
    let mut types = source.types();
    let root = types.find(|ty| ty.name.node == root);
    match root.map(|root| &root.kind) {
        Some(TypeKind::Object(object)) => {
            let fields = object.fields.iter();
            fields
                .map(|field| field.node.name.node.to_string())
                .collect()
        }
        _ => HashSet::new(),
    }
}

/// The types of the collections that were added so far.
struct TypesOfCollections {
    types: HashSet<String>,
    queries: HashSet<String>,
    parts: usize,
    definitions: Vec<TypeDefinition>,
    query_fields: Vec<Positioned<FieldDefinition>>,
    fields: HashMap<String, HashMap<String, TypedField>>,
}

impl TypesOfCollections {
    fn new() -> Self {
        Self {
            types: FIXED_NAMES.types.clone(),
            queries: FIXED_NAMES.queries.clone(),
            parts: 0,
            definitions: Vec::new(),
            query_fields: Vec::new(),
            fields: HashMap::new(),
        }
    }

    /// Adds the types of a collection, if its documents are objects.
    fn add(&mut self, of: &CollectionType) -> Result<()> {
        if !matches!(of.root().kind(), ShapeKind::Object(_)) {
            return Ok(());
        }
        let names = CollectionNames::of(of).map_err(|why| refused(of, &why))?;
        let made = object_types(of, &names).map_err(|why| refused(of, &why))?;
        self.check_types(of, &made)?;
        self.check_queries(of, &names)?;
        let parts = self.parts + made.parts + PARTS_OF_QUERIES;
        if parts > GRAPHQL_PARTS_MAX {
            return Err(Error::too_complex(
                Limit::new("graphqlParts", GRAPHQL_PARTS_MAX),
                format!(
                    "with the type of the collection {:?}, the GraphQL types of all collections have {parts} \
                     fields, arguments and values of enums; the limit is {GRAPHQL_PARTS_MAX}: leave places \
                     open with `true`, or make objects whose names are data a map",
                    abridged(of.collection())
                ),
            ));
        }
        self.parts = parts;
        self.queries.extend([names.one.clone(), names.many.clone()]);
        self.query_fields.push(one_field(of, &names));
        let read = TypedField::Document(of.collection().into());
        let queries = self.fields.entry("Query".to_owned()).or_default();
        queries.insert(names.one, read);
        let ObjectTypes {
            definitions,
            fields,
            ..
        } = made;
        let defined = definitions.iter().map(|ty| ty.name.node.to_string());
        self.types.extend(defined);
        self.definitions.extend(definitions);
        self.fields.extend(fields);
        Ok(())
    }

    fn check_types(&self, of: &CollectionType, made: &ObjectTypes) -> Result<()> {
        let mut defined = made.definitions.iter().map(|ty| ty.name.node.as_str());
        let Some(taken) = defined.find(|name| self.types.contains(*name)) else {
            return Ok(());
        };
        Err(refused(
            of,
            &format!(
                "a type of the schema has the name {:?} already: give this one another, such as \
                 \"x-graphql\": {{\"name\": \"Other\"}}",
                abridged(taken)
            ),
        ))
    }

    fn check_queries(&self, of: &CollectionType, names: &CollectionNames) -> Result<()> {
        let both = [&names.one, &names.many];
        let mut taken = both.into_iter().filter(|name| self.queries.contains(*name));
        let taken = taken
            .next()
            .or((names.one == names.many).then_some(&names.one));
        let Some(taken) = taken else {
            return Ok(());
        };
        Err(refused(
            of,
            &format!(
                "a field of `Query` has the name {:?} already: give the type others, such as \"x-graphql\": \
                 {{\"name\": \"Other\", \"plural\": \"others\"}}",
                abridged(taken)
            ),
        ))
    }

    /// The source with these types.
    fn source(self, source: SchemaSource) -> Result<SchemaSource> {
        if self.definitions.is_empty() {
            return Ok(source);
        }
        let mut definitions = self.definitions;
        definitions.push(scalar(
            BIG_INTEGER,
            "An integer, as a JSON number with all its digits. Integers that always have 32 bits are `Int`.",
        ));
        definitions.push(extension("Query", self.query_fields));
        source.with_types(definitions, TypedFields::new(self.fields))
    }
}

/// The parts of the root fields of a collection.
const PARTS_OF_QUERIES: usize = 2;

/// `Query.country`
fn one_field(of: &CollectionType, names: &CollectionNames) -> Positioned<FieldDefinition> {
    let key = argument(
        "key",
        named("ID", true),
        "The key of the document in its collection.",
    );
    let about = super::description::printable(&format!(
        "A document of the collection `{}`; null if it does not exist.",
        of.collection()
    ));
    field(
        &names.one,
        vec![key],
        named(&names.ty, false),
        (&about, false),
    )
}

fn refused(of: &CollectionType, why: &str) -> Error {
    Error::bad_input(format!(
        "the schema cannot be the type of the collection {:?}: {why}",
        abridged(of.collection())
    ))
}
