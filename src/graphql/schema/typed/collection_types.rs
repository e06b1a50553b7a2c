//! The GraphQL types of all collections.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use async_graphql::Positioned;
use async_graphql::parser::types::{FieldDefinition, TypeDefinition, TypeKind};

use super::definitions::{
    argument, extension, field, named, parts_of, parts_of_fields, printable, scalar,
    union_extension,
};
use super::filter_types::{filter_of, filter_types, order_of, shared_names, shared_types};
use super::object_types::{ObjectTypes, object_types};
use super::page_types::{
    InverseField, PARTS_OF_INVERSE, add_page_types, inverse_fields, many_field,
};
use super::reference_fields::find_referenced_types;
use super::type_names::CollectionNames;
use super::typed_fields::{
    BIG_INTEGER, TypedField, TypedFields, TypedFunction, TypedPage, TypedWrite,
};
use super::typed_inputs::{TypedInput, TypedInputs};
use super::typed_schema::TypedSchema;
use super::typed_writes::{TypedWrites, WrittenMember};
use super::write_types::{InputFor, write_types};
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

/// Rejects a type of a collection whose names do not fit those of other collections.
///
/// # Errors
/// As [`super::check_schema::check_schema_of`].
pub(super) fn check_names_of(new: &CollectionType, others: &[CollectionType]) -> Result<()> {
    let mut types = TypesOfCollections::new();
    for other in others {
        // It is not in the schema either.
        let _refused = types.add(other);
    }
    types.add(new)?;
    types.check_inverses(new)
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
        self.with_some_collections(types, &HashSet::new())
    }

    /// As [`SchemaSource::with_collections`], without the fields that lead to documents of `hidden` collections.
    pub(crate) fn with_some_collections<'t>(
        self,
        types: impl IntoIterator<Item = &'t CollectionType>,
        hidden: &HashSet<String>,
    ) -> Result<(Self, Vec<UnnamedType>)> {
        let mut of_collections = TypesOfCollections::new();
        let mut refused = Vec::new();
        for ty in types {
            if let Err(error) = of_collections.add(ty) {
                let collection = ty.collection().to_owned();
                refused.push(UnnamedType { collection, error });
            }
        }
        Ok((of_collections.source(self, hidden)?, refused))
    }
}

/// The names of the fixed schema: of all types, and of the fields of each root type.
struct FixedNames {
    types: HashSet<String>,
    queries: HashSet<String>,
    mutations: HashSet<String>,
    subscriptions: HashSet<String>,
}

static FIXED_NAMES: LazyLock<FixedNames> = LazyLock::new(|| {
    let source = SchemaSource::of(SchemaScope::Full)
        .subgraph()
        .unwrap_or_default();
    let full = SchemaSource::of(SchemaScope::Full);
    let types = full
        .types()
        .chain(source.types())
        .map(|ty| ty.name.node.to_string());
    let further = FURTHER_TYPES.into_iter().chain(shared_names());
    FixedNames {
        types: types.chain(further.map(str::to_owned)).collect(),
        queries: fields_of(&full, "Query"),
        mutations: fields_of(&full, "Mutation"),
        subscriptions: fields_of(&full, "Subscription"),
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
    mutations: HashSet<String>,
    parts: usize,
    definitions: Vec<TypeDefinition>,
    query_fields: Vec<Positioned<FieldDefinition>>,
    mutation_fields: Vec<Positioned<FieldDefinition>>,
    fields: HashMap<String, HashMap<String, TypedField>>,
    inputs: HashMap<String, HashMap<String, TypedInput>>,
    writes: HashMap<String, HashMap<String, WrittenMember>>,
    entities: BTreeMap<String, Arc<str>>,
    inverses: Vec<InverseField>,
}

impl TypesOfCollections {
    fn new() -> Self {
        Self {
            types: FIXED_NAMES.types.clone(),
            queries: FIXED_NAMES.queries.clone(),
            mutations: FIXED_NAMES.mutations.clone(),
            parts: 0,
            definitions: Vec::new(),
            query_fields: Vec::new(),
            mutation_fields: Vec::new(),
            fields: HashMap::new(),
            inputs: HashMap::new(),
            writes: HashMap::new(),
            entities: BTreeMap::new(),
            inverses: Vec::new(),
        }
    }

    /// Adds the types of a collection, if its documents are objects.
    fn add(&mut self, of: &CollectionType) -> Result<()> {
        if !matches!(of.root().kind(), ShapeKind::Object(_)) {
            return Ok(());
        }
        let names = CollectionNames::of(of).map_err(|why| refused(of, &why))?;
        let mut made = object_types(of, &names).map_err(|why| refused(of, &why))?;
        self.check_parts(of, made.parts)?;
        let filters = filter_types(&names.ty, &made).map_err(|why| refused(of, &why))?;
        let writes = write_types(&names.ty, &made).map_err(|why| refused(of, &why))?;
        let inverses = inverse_fields(of, &names.ty);
        add_page_types(&mut made, filters.definitions, &names);
        let has_members = !writes.definitions.is_empty();
        made.definitions.extend(writes.definitions);
        check_distinct(&made).map_err(|why| refused(of, &why))?;
        self.check_types(of, &made)?;
        self.check_queries(of, &names)?;
        let mutations = MutationNames::of(&names);
        self.check_mutations(of, &mutations)?;
        let query_fields = [one_field(of, &names), many_field(of, &names)];
        // Subscriptions have the fields of queries, and there is an entity.
        let roots = 2 * parts_of_fields(&query_fields) + PARTS_OF_MUTATIONS + 1;
        let roots = roots + PARTS_OF_INVERSE * inverses.len();
        let parts = roots + made.definitions.iter().map(parts_of).sum::<usize>();
        self.check_parts(of, parts)?;
        self.parts += parts;
        self.queries.extend([names.one.clone(), names.many.clone()]);
        self.query_fields.extend(query_fields);
        let collection: Arc<str> = of.collection().into();
        let page = TypedPage {
            collection: collection.clone(),
            filter: filter_of(&names.ty),
            order: order_of(&names.ty),
        };
        let (one, names_ty) = (names.one.clone(), names.ty.clone());
        let page = Arc::new(page);
        for root in ["Query", "Subscription"] {
            let fields = self.fields.entry(root.to_owned()).or_default();
            fields.insert(names.one.clone(), TypedField::Document(collection.clone()));
            fields.insert(names.many.clone(), TypedField::Documents(page.clone()));
        }
        self.inverses.extend(inverses);
        self.entities.insert(names_ty.clone(), collection.clone());
        self.inputs.extend(filters.inputs);
        self.writes.extend(writes.members);
        self.add_mutations(
            &mutations,
            &names_ty,
            &argument_of(&one),
            has_members,
            &collection,
        );
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

    /// Rejects a type with so many parts that the schema would have too many.
    fn check_parts(&self, of: &CollectionType, parts: usize) -> Result<()> {
        if self.parts + parts <= GRAPHQL_PARTS_MAX {
            return Ok(());
        }
        Err(Error::too_complex(
            Limit::new("graphqlParts", GRAPHQL_PARTS_MAX),
            format!(
                "with the type of the collection {:?}, the GraphQL types of all collections would have more than \
                 {GRAPHQL_PARTS_MAX} types, fields, arguments and values of enums: leave places open with `true`, or make \
                 objects whose names are data a map",
                abridged(of.collection())
            ),
        ))
    }

    /// Rejects fields that lead back of which the names are taken.
    fn check_inverses(&self, of: &CollectionType) -> Result<()> {
        let mut problems = self.inverses.iter().filter_map(|inverse| {
            inverse.problem(
                of.collection(),
                &self.inverses,
                &self.fields,
                &self.entities,
            )
        });
        match problems.next() {
            None => Ok(()),
            Some(why) => Err(refused(of, &why)),
        }
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
        let subscriptions = &FIXED_NAMES.subscriptions;
        let is_taken =
            |name: &&&String| self.queries.contains(**name) || subscriptions.contains(**name);
        let mut taken = both.iter().filter(is_taken).copied();
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

    fn check_mutations(&self, of: &CollectionType, names: &MutationNames) -> Result<()> {
        let mut names = [&names.create, &names.update, &names.delete].into_iter();
        let Some(taken) = names.find(|name| self.mutations.contains(*name)) else {
            return Ok(());
        };
        Err(refused(
            of,
            &format!(
                "a field of `Mutation` has the name {:?} already: give the type another name, such as \
                 \"x-graphql\": {{\"name\": \"Other\"}}",
                abridged(taken)
            ),
        ))
    }

    /// Adds the mutations of a collection with a type `ty`, whose documents are given in `argument`. A type
    /// without members has no inputs.
    fn add_mutations(
        &mut self,
        names: &MutationNames,
        ty: &str,
        argument: &str,
        has_members: bool,
        collection: &Arc<str>,
    ) {
        let MutationNames {
            create,
            update,
            delete,
        } = names;
        self.mutations
            .extend([create, update, delete].map(Clone::clone));
        let input = |kind: InputFor| {
            if has_members {
                kind.name(ty)
            } else {
                "JSON".to_owned()
            }
        };
        let (stored, patch) = (input(InputFor::Value), input(InputFor::Patch));
        self.mutation_fields
            .extend(mutation_fields(names, (ty, argument), (&stored, &patch)));
        let write = |argument: &str, input: String| {
            Arc::new(TypedWrite {
                collection: collection.clone(),
                argument: argument.to_owned(),
                input,
            })
        };
        let fields = self.fields.entry("Mutation".to_owned()).or_default();
        let created = write(argument, stored);
        fields.insert(
            create.clone(),
            TypedField::Write(TypedFunction::Create, created),
        );
        let updated = write("patch", patch);
        fields.insert(
            update.clone(),
            TypedField::Write(TypedFunction::Update, updated),
        );
        fields.insert(delete.clone(), TypedField::Delete(collection.clone()));
    }

    /// The source with these types.
    fn source(mut self, source: SchemaSource, hidden: &HashSet<String>) -> Result<SchemaSource> {
        if self.definitions.is_empty() {
            return Ok(source);
        }
        let mut definitions = self.definitions;
        for inverse in &self.inverses {
            inverse.add(&mut definitions, &mut self.fields, &self.entities);
        }
        find_referenced_types(&mut definitions, &mut self.fields, &self.entities, hidden);
        definitions.push(scalar(
            BIG_INTEGER,
            "An integer, as a JSON number with all its digits. Integers that always have 32 bits are `Int`.",
        ));
        definitions.extend(shared_types());
        definitions.push(extension("Query", self.query_fields.clone()));
        if source.contains("Subscription") {
            definitions.push(extension("Subscription", self.query_fields));
        }
        if source.contains("_Entity") {
            let entities = self.entities.keys().map(String::as_str);
            definitions.push(union_extension("_Entity", entities));
        }
        if source.contains("Mutation") {
            definitions.push(extension("Mutation", self.mutation_fields));
        } else {
            let is_of_writes = |name: &str| self.writes.contains_key(name);
            definitions.retain(|definition| !is_of_writes(definition.name.node.as_str()));
        }
        let typed = TypedSchema {
            fields: TypedFields::new(self.fields),
            inputs: TypedInputs::new(self.inputs),
            writes: TypedWrites::new(self.writes),
            entities: Arc::new(self.entities),
        };
        source.with_types(definitions, typed)
    }
}

/// The parts of the mutations of a collection, as of [`mutation_fields`].
const PARTS_OF_MUTATIONS: usize = 10;

/// The names of the mutations of a collection.
struct MutationNames {
    create: String,
    update: String,
    delete: String,
}

impl MutationNames {
    fn of(names: &CollectionNames) -> Self {
        let mut characters = names.ty.chars();
        let first = characters.next().map(|first| first.to_ascii_uppercase());
        let ty: String = first.into_iter().chain(characters).collect();
        Self {
            create: format!("create{ty}"),
            update: format!("update{ty}"),
            delete: format!("delete{ty}"),
        }
    }
}

/// The argument that has a document that is created.
fn argument_of(one: &str) -> String {
    let name = if one == "key" { "document" } else { one };
    name.to_owned()
}

/// The mutations of a collection with a type `ty`. `stored` and `patch` are the types of their arguments.
fn mutation_fields(
    names: &MutationNames,
    (ty, document): (&str, &str),
    (stored, patch): (&str, &str),
) -> [Positioned<FieldDefinition>; 3] {
    let key = |required| {
        let about = if required {
            "The key of the document."
        } else {
            "The key of the new document; by default the server chooses one."
        };
        argument("key", named("ID", required), about)
    };
    let version = || {
        let about = "The version that the document must have.";
        argument("ifVersion", named("DocumentVersion", false), about)
    };
    let create = vec![
        argument(document, named(stored, true), "The document."),
        key(false),
    ];
    let about = "The changes, as a JSON Merge Patch (RFC 7386).";
    let update = vec![
        key(true),
        argument("patch", named(patch, true), about),
        version(),
    ];
    [
        field(
            &names.create,
            create,
            named(ty, true),
            ("Stores a new document, as `insertDocument`.", false),
        ),
        field(
            &names.update,
            update,
            named(ty, true),
            (
                "Changes members of a document that exists, as `mergeDocument`.",
                false,
            ),
        ),
        field(
            &names.delete,
            vec![key(true), version()],
            named("DocumentDeletion", true),
            ("Removes a document, as `deleteDocument`.", false),
        ),
    ]
}

/// Rejects types of one collection that would have the same name.
fn check_distinct(made: &ObjectTypes) -> Result<(), String> {
    let mut names = HashSet::new();
    let mut defined = made.definitions.iter().map(|it| it.name.node.as_str());
    match defined.find(|name| !names.insert(*name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "two types would have the name {:?}: move a schema to `$defs`, and give it another one there, \
             such as \"x-graphql\": {{\"name\": \"Other\"}}",
            abridged(name)
        )),
    }
}

/// `Query.country`
fn one_field(of: &CollectionType, names: &CollectionNames) -> Positioned<FieldDefinition> {
    let key = argument(
        "key",
        named("ID", true),
        "The key of the document in its collection.",
    );
    let about = printable(&format!(
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
