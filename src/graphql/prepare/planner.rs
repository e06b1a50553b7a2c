//! Plans operations: expands fragments, merges fields of the same response name, and binds each field of a
//! type to what it reads.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use async_graphql::parser::types::{
    ExecutableDocument, Field as RequestedField, OperationDefinition, OperationType,
    Selection as Requested, SelectionSet, TypeCondition,
};
use async_graphql::{Name, Positioned};
use async_graphql_value::Value as Input;

use super::condition::FieldCondition;
use super::introspection::{IntrospectedFields, Introspection, merged};
use super::plan::{
    ElementField, Field, NodeSelection, PageField, Paths, Plan, PlannedField, PlannedMutation,
    Selection, ValuesField, Where,
};
use super::planned_types::{Of, field_of_result, function};
use crate::document::json::write_string;
use crate::document::path::Path;
use crate::error::{Error, Limit, Result};
use crate::graphql::scalars::scalar_types::path_of;
use crate::graphql::schema::entities::ENTITIES;
use crate::graphql::schema::types::Types;
use crate::limits::PLANNED_FIELDS_MAX;

impl Plan {
    /// Plans a valid operation. The root field of a subscription is one of a query.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it has too many fields. `INTERNAL`: the schema has a field that no plan reads.
    pub(crate) fn of(
        document: &ExecutableDocument,
        operation: &OperationDefinition,
        types: &Types,
    ) -> Result<Self> {
        let of = match operation.ty {
            OperationType::Mutation => Of::Mutation,
            OperationType::Query | OperationType::Subscription => Of::Query,
        };
        let planner = Planner {
            document,
            types,
            fields: Cell::new(PLANNED_FIELDS_MAX),
            introspected: RefCell::default(),
        };
        let selected = [Source::of(&operation.selection_set.node)];
        let root = planner.selection(of, &selected);
        let root = root.ok_or_else(|| planner.failure())?;
        let introspected = planner.introspected.into_inner();
        Ok(Self {
            root,
            introspection: Introspection::new(document, operation, introspected),
        })
    }
}

struct Planner<'d> {
    document: &'d ExecutableDocument,
    types: &'d Types,
    /// The number of further fields that are allowed. A field with several occurrences under different
    /// conditions is planned for each of them.
    fields: Cell<usize>,
    /// The fields that introspect the schema.
    introspected: RefCell<Vec<Positioned<Requested>>>,
}

fn too_many_fields() -> Error {
    Error::too_complex(
        Limit::new("plannedFields", PLANNED_FIELDS_MAX),
        format!(
            "more than {PLANNED_FIELDS_MAX} fields, which is the limit; a field that is selected several \
             times under different conditions counts each time"
        ),
    )
}

/// A selection set, and the conditions under which it is selected.
struct Source<'d> {
    conditions: Vec<FieldCondition>,
    selected: &'d SelectionSet,
}

impl<'d> Source<'d> {
    fn of(selected: &'d SelectionSet) -> Self {
        Self {
            conditions: Vec::new(),
            selected,
        }
    }
}

/// An occurrence of a field in a selection.
struct Occurrence<'d> {
    conditions: Vec<FieldCondition>,
    field: &'d Positioned<RequestedField>,
}

impl<'d> Occurrence<'d> {
    fn key(&self) -> &'d str {
        &self.field.node.response_key().node
    }
}

impl<'d> Planner<'d> {
    /// Why an operation has no plan.
    fn failure(&self) -> Error {
        if self.fields.get() == 0 {
            return too_many_fields();
        }
        Error::internal("the schema has a field that no plan reads")
    }

    /// Whether a fragment with this condition applies to objects of the type.
    fn applies(&self, condition: &TypeCondition, of: Of) -> bool {
        self.types.applies(&condition.on.node, of.names().0)
    }

    /// Whether a field can be null. A subscription is planned as a query.
    fn is_nullable(&self, of: Of, field: &Name) -> bool {
        let mut ty = self.types.field_type(of.names().0, field);
        if let Of::Query = of {
            ty = ty.or_else(|| self.types.field_type("Subscription", field));
        }
        ty.is_some_and(|ty| ty.nullable)
    }

    /// Plans the merged selection of an object. The recursion is bounded by the limit on the levels of
    /// the document.
    fn selection(&self, of: Of, sources: &[Source<'d>]) -> Option<Selection> {
        let mut occurrences = Vec::new();
        for source in sources {
            self.collect(of, source.selected, &source.conditions, &mut occurrences)?;
        }
        let mut named: HashMap<&str, Vec<&Occurrence<'d>>> = HashMap::new();
        for occurrence in &occurrences {
            named.entry(occurrence.key()).or_default().push(occurrence);
        }
        let mut fields = Vec::new();
        // For each response name, the conditions of the occurrences so far, and their number.
        let mut passed: HashMap<&str, (Vec<Vec<FieldCondition>>, usize)> = HashMap::new();
        for occurrence in &occurrences {
            let (earlier, number) = passed.entry(occurrence.key()).or_default();
            *number += 1;
            // The field is at the place of an earlier occurrence whenever this one is included.
            let is_earlier =
                |other: &Vec<FieldCondition>| other.is_empty() || *other == occurrence.conditions;
            if earlier.iter().any(is_earlier) {
                continue;
            }
            let later = &named[occurrence.key()][*number..];
            fields.push(self.planned(of, occurrence, earlier.clone(), later)?);
            earlier.push(occurrence.conditions.clone());
        }
        Some(Selection(fields))
    }

    fn collect(
        &self,
        of: Of,
        requested: &'d SelectionSet,
        outer: &[FieldCondition],
        occurrences: &mut Vec<Occurrence<'d>>,
    ) -> Option<()> {
        for requested in &requested.items {
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

    /// Plans a field with the selections of its `later` occurrences, unless it is at the place of an
    /// `earlier` one.
    fn planned(
        &self,
        of: Of,
        occurrence: &Occurrence<'d>,
        earlier: Vec<Vec<FieldCondition>>,
        later: &[&Occurrence<'d>],
    ) -> Option<PlannedField> {
        self.fields.set(self.fields.get().checked_sub(1)?);
        let requested = occurrence.field;
        let key = &requested.node.response_key().node;
        let mut name = vec![b','];
        write_string(&mut name, key);
        name.push(b':');
        let mut below = vec![Source::of(&requested.node.selection_set.node)];
        below.extend(later.iter().map(|occurrence| Source {
            conditions: occurrence.conditions.clone(),
            selected: &occurrence.field.node.selection_set.node,
        }));
        Some(PlannedField {
            key: key.clone(),
            name: name.into(),
            pos: requested.pos,
            conditions: occurrence.conditions.clone(),
            earlier,
            nullable: self.is_nullable(of, &requested.node.name.node),
            field: self.field(of, &requested.node, &below)?,
        })
    }

    fn field(&self, of: Of, requested: &RequestedField, below: &[Source<'d>]) -> Option<Field> {
        let name = requested.name.node.as_str();
        if name == "__typename" {
            return Some(Field::Typename(of.names().1));
        }
        match of {
            Of::Query => self.root_field(name, requested, below),
            Of::Document | Of::Subdocument => self.field_of_value(of, name, requested, below),
            Of::Page | Of::Edge | Of::ChildPage | Of::ChildEdge => {
                self.field_of_page(of, name, below)
            }
            Of::PageInfo | Of::QueryPlan | Of::AggregationPlan => {
                page_field(name).map(Field::OfPage)
            }
            Of::Aggregation => Some(match name {
                "groups" => Field::Groups(self.selection(Of::Group, below)?),
                "plan" => Field::AboutPage(self.selection(Of::AggregationPlan, below)?),
                "groupCount" => Field::OfPage(PageField::GroupCount),
                _ => return None,
            }),
            Of::Group => field_of_group(name, requested),
            Of::Collection => Some(match name {
                "name" => Field::OfElement(ElementField::CollectionName),
                "count" => Field::OfElement(ElementField::CollectionCount),
                "indexes" => Field::Indexes(self.selection(Of::Index, below)?),
                _ => return None,
            }),
            Of::Index => field_of_index(name).map(Field::OfElement),
            Of::Service => (name == "sdl").then_some(Field::Sdl),
            Of::Mutation => self.mutation(name, requested, below),
            Of::Deletion
            | Of::Append
            | Of::BulkResult
            | Of::UpdateResult
            | Of::CollectionDrop
            | Of::Change => match (of, name) {
                (Of::Deletion | Of::Change, "document") => {
                    self.selection(Of::Document, below).map(Field::DocumentNow)
                }
                (Of::BulkResult, "updates") => {
                    self.selection(Of::UpdateResult, below).map(Field::Updates)
                }
                (Of::Change, "patch") => Some(Field::Patch),
                _ => field_of_result(of, name).map(Field::OfElement),
            },
        }
    }

    fn mutation(
        &self,
        name: &str,
        requested: &RequestedField,
        below: &[Source<'d>],
    ) -> Option<Field> {
        let (function, result) = function(name)?;
        Some(Field::Mutation(PlannedMutation {
            function,
            arguments: requested.arguments.clone(),
            below: match result {
                Some(of) => self.selection(of, below)?,
                None => Selection(Vec::new()),
            },
        }))
    }

    fn root_field(
        &self,
        name: &str,
        requested: &RequestedField,
        below: &[Source<'d>],
    ) -> Option<Field> {
        let field = match name {
            "document" => Field::Document {
                collection: argument(requested, "collection").cloned(),
                id: argument(requested, "id")?.clone(),
                path: place(argument(requested, "path")),
                below: self.selection(Of::Subdocument, below)?,
            },
            "documents" => Field::Documents(arguments(requested), self.selection(Of::Page, below)?),
            "aggregate" => {
                let selection = self.selection(Of::Aggregation, below)?;
                Field::Aggregate(arguments(requested), selection)
            }
            "__schema" | "__type" => self.introspection(requested, below),
            "changesCursor" => Field::ChangesCursor,
            "changes" => Field::Change(self.selection(Of::Change, below)?),
            "collections" => Field::Collections(self.selection(Of::Collection, below)?),
            "node" => {
                let id = argument(requested, "id")?.clone();
                Field::NodeById(id, self.nodes(below)?)
            }
            "nodes" => {
                let ids = argument(requested, "ids")?.clone();
                Field::NodesById(ids, self.nodes(below)?)
            }
            "_service" => Field::Service(self.selection(Of::Service, below)?),
            ENTITIES => Field::Entities {
                representations: argument(requested, "representations")?.clone(),
                below: self.selection(Of::Document, below)?,
            },
            _ => return None,
        };
        Some(field)
    }

    fn introspection(&self, requested: &RequestedField, below: &[Source<'d>]) -> Field {
        let occurrences = below.iter().map(|source| IntrospectedFields {
            conditions: &source.conditions,
            selected: source.selected,
        });
        let mut introspected = self.introspected.borrow_mut();
        introspected.push(merged(requested, occurrences));
        Field::Introspection(introspected.len() - 1)
    }

    fn nodes(&self, below: &[Source<'d>]) -> Option<NodeSelection> {
        Some(NodeSelection {
            of_document: self.selection(Of::Document, below)?,
            of_subdocument: self.selection(Of::Subdocument, below)?,
        })
    }

    fn field_of_value(
        &self,
        of: Of,
        name: &str,
        requested: &RequestedField,
        below: &[Source<'d>],
    ) -> Option<Field> {
        let field = match (of, name) {
            (Of::Subdocument, "document") => Field::Whole(self.selection(Of::Document, below)?),
            (Of::Subdocument, "path") => Field::Path,
            (Of::Subdocument, "id") => Field::SubdocumentId,
            (_, "id") => Field::DocumentId,
            (_, "key") => Field::Key,
            (_, "collection") => Field::Collection,
            (_, "version") => Field::Version,
            (_, "kind") => Field::Kind,
            (_, "value") => Field::Value(place(argument(requested, "path"))),
            (_, "values") => Field::Values(places(argument(requested, "paths")?)),
            (_, "pick") => Field::Pick(places(argument(requested, "paths")?)),
            (_, "omit") => Field::Omit(places(argument(requested, "paths")?)),
            (_, "subdocument") => Field::Subdocument(
                place(Some(argument(requested, "path")?)),
                self.selection(Of::Subdocument, below)?,
            ),
            (_, "select") => {
                let query = argument(requested, "query")?.clone();
                Field::Select(query, self.selection(Of::Subdocument, below)?)
            }
            (_, "length") => Field::Length,
            (_, "children") => {
                Field::Children(arguments(requested), self.selection(Of::ChildPage, below)?)
            }
            _ => return None,
        };
        Some(field)
    }

    fn field_of_page(&self, of: Of, name: &str, below: &[Source<'d>]) -> Option<Field> {
        let (edge, node) = match of {
            Of::Page | Of::Edge => (Of::Edge, Of::Document),
            _ => (Of::ChildEdge, Of::Subdocument),
        };
        let field = match (of, name) {
            (Of::Page | Of::ChildPage, "nodes") => Field::Nodes(self.selection(node, below)?),
            (Of::Page | Of::ChildPage, "edges") => Field::Edges(self.selection(edge, below)?),
            (_, "pageInfo") => Field::AboutPage(self.selection(Of::PageInfo, below)?),
            (Of::Page, "plan") => Field::AboutPage(self.selection(Of::QueryPlan, below)?),
            (Of::Page, "totalCount") => Field::OfPage(PageField::TotalCount),
            (Of::Edge | Of::ChildEdge, "cursor") => Field::Cursor,
            (Of::Edge | Of::ChildEdge, "node") => Field::Node(self.selection(node, below)?),
            _ => return None,
        };
        Some(field)
    }
}

fn field_of_group(name: &str, requested: &RequestedField) -> Option<Field> {
    let values = match name {
        "key" => return Some(Field::OfElement(ElementField::GroupKey)),
        "count" => return Some(Field::OfElement(ElementField::GroupCount)),
        "sum" => ValuesField::Sum,
        "average" => ValuesField::Average,
        "min" => ValuesField::Min,
        "max" => ValuesField::Max,
        _ => return None,
    };
    Some(Field::OfValues(values, argument(requested, "of")?.clone()))
}

fn field_of_index(name: &str) -> Option<ElementField> {
    Some(match name {
        "name" => ElementField::IndexName,
        "on" => ElementField::IndexOn,
        "unique" => ElementField::IndexUnique,
        "where" => ElementField::IndexWhere,
        "state" => ElementField::IndexState,
        "error" => ElementField::IndexError,
        _ => return None,
    })
}

/// A field of `PageInfo` or `DocumentQueryPlan`. Their fields have different names.
fn page_field(name: &str) -> Option<PageField> {
    Some(match name {
        "hasNextPage" => PageField::HasNextPage,
        "hasPreviousPage" => PageField::HasPreviousPage,
        "startCursor" => PageField::StartCursor,
        "endCursor" => PageField::EndCursor,
        "index" => PageField::Index,
        "partial" => PageField::Partial,
        "scanned" => PageField::Scanned,
        "examined" => PageField::Examined,
        "covered" => PageField::Covered,
        "returned" => PageField::Returned,
        "totalCountReason" => PageField::TotalCountReason,
        _ => return None,
    })
}

fn arguments(requested: &RequestedField) -> Vec<(Name, Input)> {
    let arguments = requested.arguments.iter();
    let arguments = arguments.map(|(name, value)| (name.node.clone(), value.node.clone()));
    arguments.collect()
}

fn argument<'r>(requested: &'r RequestedField, name: &str) -> Option<&'r Input> {
    requested.get_argument(name).map(|value| &value.node)
}

/// The path in an argument. A constant that is a path is read now.
fn place(argument: Option<&Input>) -> Where {
    let Some(argument) = argument else {
        return Where::Fixed(Path::default());
    };
    let fixed = argument.clone().into_const();
    match fixed.and_then(|value| path_of(&value).ok()) {
        Some(path) => Where::Fixed(path),
        None => Where::Given(argument.clone()),
    }
}

/// The paths in an argument.
fn places(argument: &Input) -> Paths {
    let listed = match argument {
        Input::Variable(name) => return Paths::Variable(name.clone()),
        Input::List(listed) => &listed[..],
        single => std::slice::from_ref(single),
    };
    Paths::Listed(listed.iter().map(|path| place(Some(path))).collect())
}
