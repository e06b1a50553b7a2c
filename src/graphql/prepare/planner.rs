//! Plans operations: expands fragments, merges fields of the same response name, and binds each field of a
//! type to what it reads.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::mem::size_of_val;
use std::sync::Arc;

use async_graphql::parser::types::{
    ExecutableDocument, Field as RequestedField, OperationDefinition, Selection as Requested,
    SelectionSet, TypeCondition,
};
use async_graphql::{Name, Positioned};
use async_graphql_value::Value as Input;

use super::condition::FieldCondition;
use super::introspection::{IntrospectedFields, Introspection, merged};
use super::occurrences::{Occurrence, PassedOccurrences, Source};
use super::plan::{
    ElementField, Field, FollowSelection, InverseSelection, MutationFunction, PageField, Paths,
    Plan, PlanSize, PlannedField, PlannedMutation, ReferenceSelection, Selection, TypedArgument,
    TypedPageSelection, TypedSelection, ValuesField, Where,
};
use super::prepared_memory::{PartMemory, PreparedDocument, arguments_bytes, selections_bytes};
use crate::budget::Pool;
use crate::document::json::write_string;
use crate::document::path::Path;
use crate::error::{Error, Limit, Result};
use crate::graphql::scalars::scalar_types::path_of;
use crate::graphql::schema::entities::{ENTITIES, ENTITY};
use crate::graphql::schema::typed::typed_fields::{TypedField, TypedFunction};
use crate::graphql::schema::types::Types;
use crate::limits::{PLANNED_BYTES_MAX, PLANNED_FIELDS_MAX, VISITED_SELECTIONS_MAX};

impl Plan {
    /// Plans a valid operation.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it has too many fields, or takes too much memory. `UNAVAILABLE`: all requests together
    /// hold too much. `INTERNAL`: the schema has a field that no plan reads.
    pub(crate) fn of(
        document: &Arc<PreparedDocument>,
        operation: &OperationDefinition,
        types: &Types,
        pool: &Pool,
    ) -> Result<Self> {
        let planner = Planner {
            document,
            types,
            size: Cell::default(),
            introspected: RefCell::default(),
            bytes: Cell::default(),
            visited: Cell::default(),
        };
        let selected = [Source::of(&operation.selection_set.node)];
        let root = planner.selection(Types::root(operation.ty), &selected);
        let root = root.ok_or_else(|| planner.failure())?;
        let introspected = planner.introspected.into_inner();
        Ok(Self {
            root,
            size: planner.size.get(),
            memory: PartMemory::new(planner.bytes.get(), pool)?,
            introspection: Introspection::new(document, operation, introspected),
        })
    }
}

pub(super) struct Planner<'d> {
    pub(super) document: &'d ExecutableDocument,
    pub(super) types: &'d Types,
    /// What is planned so far, of which the fields are limited. A field with several occurrences under
    /// different conditions is planned for each of them.
    size: Cell<PlanSize>,
    /// The fields that introspect the schema.
    introspected: RefCell<Vec<Positioned<Requested>>>,
    /// The bytes of the plan, which are limited. Fragments copy their arguments each time.
    bytes: Cell<usize>,
    /// Selections that were visited, which are limited. Those of a later occurrence are visited for each
    /// earlier one.
    visited: Cell<usize>,
}

fn too_many_fields() -> Error {
    Error::too_complex(
        Limit::new("plannedFields", PLANNED_FIELDS_MAX),
        format!(
            "more than {PLANNED_FIELDS_MAX} fields, which is the limit; a field that is selected several \
             times under different conditions counts each time, and what is selected below it"
        ),
    )
}

fn too_many_bytes() -> Error {
    Error::too_complex(
        Limit::new("plannedBytes", PLANNED_BYTES_MAX),
        format!(
            "the fields and arguments take more than {PLANNED_BYTES_MAX} bytes of memory, which is the \
             limit; those of a fragment count for each of its uses"
        ),
    )
}

impl<'d> Planner<'d> {
    /// Why an operation has no plan.
    fn failure(&self) -> Error {
        if self.has_too_many_fields() {
            return too_many_fields();
        }
        if self.has_too_many_bytes() {
            return too_many_bytes();
        }
        Error::internal("the schema has a field that no plan reads")
    }

    fn has_too_many_fields(&self) -> bool {
        self.size.get().fields > PLANNED_FIELDS_MAX || self.visited.get() > VISITED_SELECTIONS_MAX
    }

    fn has_too_many_bytes(&self) -> bool {
        self.bytes.get() > PLANNED_BYTES_MAX
    }

    /// Counts bytes of the plan. None if they are too many.
    fn hold(&self, bytes: usize) -> Option<()> {
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        (!self.has_too_many_bytes()).then_some(())
    }

    /// Counts a selection that is visited. None if there are too many.
    fn visit(&self) -> Option<()> {
        self.visited.set(self.visited.get() + 1);
        (!self.has_too_many_fields()).then_some(())
    }

    /// Counts what is planned.
    fn count(&self, count: impl FnOnce(&mut PlanSize)) {
        let mut size = self.size.get();
        count(&mut size);
        self.size.set(size);
    }

    /// The path in an argument. A constant that is a path is read now.
    fn place(&self, argument: Option<&Input>) -> Where {
        let Some(argument) = argument else {
            return Where::Fixed(Path::default());
        };
        let fixed = argument.clone().into_const();
        if let Some(path) = fixed.and_then(|value| path_of(&value).ok()) {
            self.bytes.set(self.bytes.get() + path.held_bytes());
            return Where::Fixed(path);
        }
        self.count(|size| size.given_paths += 1);
        Where::Given(argument.clone())
    }

    /// The paths in an argument.
    fn places(&self, argument: &Input) -> Paths {
        let listed = match argument {
            Input::Variable(name) => {
                self.count(|size| size.given_paths += 1);
                return Paths::Variable(name.clone());
            }
            Input::List(listed) => &listed[..],
            single => std::slice::from_ref(single),
        };
        self.count(|size| size.paths += listed.len());
        let listed = listed.iter().map(|path| self.place(Some(path)));
        Paths::Listed(listed.collect())
    }

    /// Whether a fragment with this condition applies to objects of the type.
    fn applies(&self, condition: &TypeCondition, of: &str) -> bool {
        self.types.applies(&condition.on.node, of)
    }

    /// Plans the merged selection of an object. The recursion is bounded by the limit on the levels of
    /// the document.
    pub(super) fn selection(&self, of: &str, sources: &[Source<'d>]) -> Option<Selection> {
        let mut occurrences = Vec::new();
        for source in sources {
            self.visit()?;
            self.collect(of, source.selected, &source.conditions, &mut occurrences)?;
        }
        let mut named: HashMap<&str, Vec<&Occurrence<'d>>> = HashMap::new();
        for occurrence in &occurrences {
            named.entry(occurrence.key()).or_default().push(occurrence);
        }
        let mut fields = Vec::new();
        let mut passed: HashMap<&str, PassedOccurrences<'_>> = HashMap::new();
        let mut repeated = 0;
        for occurrence in &occurrences {
            let all = &named[occurrence.key()];
            let earlier = passed.entry(occurrence.key()).or_default();
            earlier.number += 1;
            // The field is at the place of an earlier occurrence whenever this one is included.
            let is_earlier = earlier.conditions.contains(&[][..])
                || !earlier.conditions.insert(&occurrence.conditions);
            if is_earlier {
                continue;
            }
            if earlier.number == 1 && all.len() > 1 && !occurrence.conditions.is_empty() {
                earlier.repeated = Some(repeated);
                repeated += 1;
            }
            let later = &all[earlier.number..];
            fields.push(self.planned(of, occurrence, earlier.repeated, later)?);
        }
        fields.shrink_to_fit();
        self.hold(size_of_val(&fields[..]))?;
        Some(Selection(fields))
    }

    fn collect(
        &self,
        of: &str,
        requested: &'d SelectionSet,
        outer: &[FieldCondition],
        occurrences: &mut Vec<Occurrence<'d>>,
    ) -> Option<()> {
        for requested in &requested.items {
            self.visit()?;
            let mut conditions = outer.to_vec();
            for directive in requested.node.directives() {
                conditions.push(FieldCondition::of(&directive.node)?);
            }
            match &requested.node {
                Requested::Field(field) => occurrences.push(Occurrence { conditions, field }),
                Requested::InlineFragment(inline) => {
                    let ty = inline.node.type_condition.as_ref();
                    if ty.is_none_or(|ty| self.applies(&ty.node, of)) {
                        let below = &inline.node.selection_set.node;
                        self.collect(of, below, &conditions, occurrences)?;
                    }
                }
                Requested::FragmentSpread(spread) => {
                    let fragments = &self.document.fragments;
                    let fragment = &fragments.get(&spread.node.fragment_name.node)?.node;
                    if self.applies(&fragment.type_condition.node, of) {
                        let below = &fragment.selection_set.node;
                        self.collect(of, below, &conditions, occurrences)?;
                    }
                }
            }
        }
        Some(())
    }

    /// Plans a field with the selections of its `later` occurrences.
    fn planned(
        &self,
        of: &str,
        occurrence: &Occurrence<'d>,
        repeated: Option<usize>,
        later: &[&Occurrence<'d>],
    ) -> Option<PlannedField> {
        self.count(|size| size.fields += 1);
        self.visit()?;
        let requested = occurrence.field;
        let key = &requested.node.response_key().node;
        let mut name = vec![b','];
        write_string(&mut name, key);
        name.push(b':');
        self.hold(
            name.len()
                + size_of_val(&occurrence.conditions[..])
                + arguments_bytes(&requested.node.arguments),
        )?;
        let mut below = Vec::new();
        // A scalar has no selection at any of its occurrences.
        if !requested.node.selection_set.node.items.is_empty() {
            below.push(Source::of(&requested.node.selection_set.node));
            below.extend(later.iter().map(|occurrence| Source {
                conditions: occurrence.conditions.clone(),
                selected: &occurrence.field.node.selection_set.node,
            }));
        }
        Some(PlannedField {
            key: key.clone(),
            name: name.into(),
            pos: requested.pos,
            conditions: occurrence.conditions.clone(),
            repeated,
            nullable: self
                .types
                .field_type(of, &requested.node.name.node)
                .is_some_and(|ty| ty.nullable),
            field: self.field(of, &requested.node, &below)?,
        })
    }

    /// What a field reads, by its type and its name in the schema.
    fn field(&self, of: &str, requested: &RequestedField, below: &[Source<'d>]) -> Option<Field> {
        let name = requested.name.node.as_str();
        if name == "__typename" && of == ENTITY {
            return Some(Field::EntityTypename);
        }
        if name == "__typename" {
            return Some(Field::Typename(format!("\"{of}\"").into()));
        }
        if let Some(typed) = self.types.typed(of, name) {
            return self.typed_field(of, requested, below, typed);
        }
        if let Some(field) = ElementField::of(of, name) {
            return Some(Field::OfElement(field));
        }
        if let Some(field) = PageField::of(of, name) {
            return Some(Field::OfPage(field));
        }
        if let Some(field) = ValuesField::of(of, name) {
            let values = argument(requested, "of")?.clone();
            return Some(Field::OfValues(field, values));
        }
        if let Some(function) = MutationFunction::of(of, name) {
            let before = self.size.get();
            let below = self.below(of, requested, below)?;
            return Some(Field::Mutation(PlannedMutation {
                name: requested.name.node.clone(),
                function,
                arguments: requested.arguments.clone(),
                typed: None,
                size: self.size.get().since(before),
                below,
            }));
        }
        match of {
            "Query" | "Subscription" => self.root_field(of, requested, below),
            "Document" | "Subdocument" => self.field_of_value(of, requested, below),
            _ => self.other_field(of, requested, below),
        }
    }

    /// A field of a type of a collection, or a root field that returns one.
    fn typed_field(
        &self,
        of: &str,
        requested: &RequestedField,
        sources: &[Source<'d>],
        typed: &TypedField,
    ) -> Option<Field> {
        let below = || self.below(of, requested, sources);
        Some(match typed {
            TypedField::Document(collection) => Field::TypedDocument {
                collection: collection.clone(),
                key: argument(requested, "key")?.clone(),
                below: below()?,
            },
            TypedField::Documents(page) => Field::TypedDocuments(TypedPageSelection {
                page: page.clone(),
                inputs: self.types.typed_schema().inputs.clone(),
                arguments: arguments(requested),
                below: below()?,
            }),
            TypedField::Write(..) | TypedField::Delete(_) => {
                let before = self.size.get();
                let below = below()?;
                let size = self.size.get().since(before);
                Field::Mutation(self.typed_mutation(requested, typed, (below, size))?)
            }
            TypedField::Nodes => Field::TypedNodes(below()?),
            TypedField::Edges => Field::Edges(below()?),
            TypedField::Node => Field::TypedNode(below()?),
            TypedField::TotalCount => Field::OfPage(PageField::TotalCount),
            TypedField::Id => Field::DocumentId,
            TypedField::Key => Field::Key,
            TypedField::Version => Field::Version,
            TypedField::Untyped => Field::Whole(below()?),
            TypedField::Value(path, place) => Field::Typed(TypedSelection {
                path: path.clone(),
                place: place.clone(),
                arguments: arguments(requested),
                below: below()?,
            }),
            TypedField::EntryKey => Field::EntryKey,
            TypedField::Inverse(inverse) => Field::Inverse(InverseSelection {
                inverse: inverse.clone(),
                page: TypedPageSelection {
                    page: inverse.page.clone(),
                    inputs: self.types.typed_schema().inputs.clone(),
                    arguments: arguments(requested),
                    below: below()?,
                },
            }),
            TypedField::Reference(reference) => Field::Reference(ReferenceSelection {
                reference: reference.clone(),
                arguments: arguments(requested),
                below: below()?,
            }),
        })
    }

    /// A mutation of a typed document: the function of the untyped one, with other names of its arguments.
    fn typed_mutation(
        &self,
        requested: &RequestedField,
        typed: &TypedField,
        (below, size): (Selection, PlanSize),
    ) -> Option<PlannedMutation> {
        let (function, collection, document) = match typed {
            TypedField::Write(TypedFunction::Create, write) => (
                MutationFunction::InsertDocument,
                &write.collection,
                Some(("document", write)),
            ),
            TypedField::Write(TypedFunction::Update, write) => (
                MutationFunction::MergeDocument,
                &write.collection,
                Some(("patch", write)),
            ),
            TypedField::Delete(collection) => (MutationFunction::DeleteDocument, collection, None),
            _ => return None,
        };
        let mut arguments = requested.arguments.clone();
        for (name, _) in &mut arguments {
            let given = name.node.as_str();
            let renamed = match document {
                Some((renamed, write)) if write.argument == given => renamed,
                _ if given == "key" => "id",
                _ => continue,
            };
            name.node = Name::new(renamed);
        }
        let pos = requested.name.pos;
        let name = Positioned::new(Name::new("collection"), pos);
        let value = Positioned::new(Input::String(collection.to_string()), pos);
        arguments.push((name, value));
        Some(PlannedMutation {
            name: requested.name.node.clone(),
            function,
            arguments,
            typed: document.map(|(name, write)| TypedArgument {
                name,
                input: write.input.clone(),
                writes: self.types.typed_schema().writes.clone(),
            }),
            below,
            size,
        })
    }

    /// The selection below a field. Empty if it is a scalar.
    fn below(
        &self,
        of: &str,
        requested: &RequestedField,
        below: &[Source<'d>],
    ) -> Option<Selection> {
        let (_, ty) = self.types.field(of, &requested.name.node)?;
        self.selection(ty, below)
    }

    fn root_field(
        &self,
        of: &str,
        requested: &RequestedField,
        sources: &[Source<'d>],
    ) -> Option<Field> {
        let below = || self.below(of, requested, sources);
        let argument = |name| argument(requested, name);
        Some(match requested.name.node.as_str() {
            "document" => Field::Document {
                collection: argument("collection").cloned(),
                id: argument("id")?.clone(),
                path: self.place(argument("path")),
                below: below()?,
            },
            "documents" => Field::Documents(arguments(requested), below()?),
            "aggregate" => Field::Aggregate(arguments(requested), below()?),
            "__schema" | "__type" => self.introspection(requested, sources)?,
            "changesCursor" => Field::ChangesCursor,
            "changes" => Field::Change(below()?),
            "collections" => Field::Collections(argument("name").cloned(), below()?),
            "node" => Field::NodeById(argument("id")?.clone(), self.nodes(sources)?),
            "nodes" => Field::NodesById(argument("ids")?.clone(), self.nodes(sources)?),
            "_service" => Field::Service(below()?),
            ENTITIES => Field::Entities {
                representations: argument("representations")?.clone(),
                below: self.entities(sources)?,
            },
            _ => return None,
        })
    }

    fn field_of_value(
        &self,
        of: &str,
        requested: &RequestedField,
        sources: &[Source<'d>],
    ) -> Option<Field> {
        let below = || self.below(of, requested, sources);
        let argument = |name| argument(requested, name);
        Some(match requested.name.node.as_str() {
            "id" if of == "Subdocument" => Field::SubdocumentId,
            "id" => Field::DocumentId,
            "document" => Field::Whole(below()?),
            "path" => Field::Path,
            "key" => Field::Key,
            "collection" => Field::Collection,
            "version" => Field::Version,
            "created" if of == "Document" => Field::Created,
            "kind" => Field::Kind,
            "length" => Field::Length,
            "value" => Field::Value(self.place(argument("path"))),
            "values" => Field::Values(self.places(argument("paths")?)),
            "pick" => Field::Pick(self.places(argument("paths")?)),
            "omit" => Field::Omit(self.places(argument("paths")?)),
            "range" => Field::Range(self.place(argument("from")), self.place(argument("to"))),
            "subdocument" => Field::Subdocument(self.place(Some(argument("path")?)), below()?),
            "select" => Field::Select(argument("query")?.clone(), below()?),
            "children" => Field::Children(arguments(requested), below()?),
            "follow" => Field::Follow(FollowSelection {
                path: self.place(Some(argument("path")?)),
                collection: argument("collection").cloned(),
                first: argument("first").cloned(),
                below: below()?,
            }),
            _ => return None,
        })
    }

    /// A field of a page or of groups, of the result of a mutation, or of a change. Those of different
    /// types have different names.
    fn other_field(
        &self,
        of: &str,
        requested: &RequestedField,
        sources: &[Source<'d>],
    ) -> Option<Field> {
        let below = || self.below(of, requested, sources);
        Some(match requested.name.node.as_str() {
            "nodes" => Field::Nodes(below()?),
            "edges" => Field::Edges(below()?),
            "node" => Field::Node(below()?),
            "cursor" => Field::Cursor,
            "pageInfo" | "plan" => Field::AboutPage(below()?),
            "groups" => Field::Groups(below()?),
            "indexes" => Field::Indexes(below()?),
            "type" => Field::CollectionType(below()?),
            "violations" => Field::TypeViolations(below()?),
            "sdl" => Field::Sdl,
            "updates" => Field::Updates(below()?),
            "document" => Field::DocumentNow(below()?),
            "patch" => Field::Patch,
            _ => return None,
        })
    }

    fn introspection(&self, requested: &RequestedField, below: &[Source<'d>]) -> Option<Field> {
        for source in below {
            self.hold(selections_bytes(source.selected))?;
        }
        let occurrences = below.iter().map(|source| IntrospectedFields {
            conditions: &source.conditions,
            selected: source.selected,
        });
        let mut introspected = self.introspected.borrow_mut();
        introspected.push(merged(requested, occurrences));
        Some(Field::Introspection(introspected.len() - 1))
    }
}

fn arguments(requested: &RequestedField) -> Vec<(Name, Input)> {
    let arguments = requested.arguments.iter();
    let arguments = arguments.map(|(name, value)| (name.node.clone(), value.node.clone()));
    arguments.collect()
}

fn argument<'r>(requested: &'r RequestedField, name: &str) -> Option<&'r Input> {
    requested.get_argument(name).map(|value| &value.node)
}
