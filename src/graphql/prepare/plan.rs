//! Plans operations: a plan has the places and lists that an operation reads and the fields that it
//! writes, with the variables left open.

use std::collections::HashSet;

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field as RequestedField, OperationDefinition, OperationType,
    Selection as Requested, SelectionSet,
};
use async_graphql::{Name, Pos, Positioned};
use async_graphql_value::Value as Input;

use crate::document::json::write_string;
use crate::document::path::Path;
use crate::graphql::scalars::types::path_of;
use crate::graphql::schema::entities::ENTITIES;
use crate::limits::{LISTED_PATHS_MAX, PLANNED_FIELDS_MAX};

/// A plan of a query.
#[derive(Debug)]
pub(crate) struct Plan(pub(crate) Selection);

/// The fields that are selected from an object. Fragments are expanded, and each response name
/// occurs once.
#[derive(Debug)]
pub(crate) struct Selection(pub(crate) Vec<PlannedField>);

#[derive(Debug)]
pub(crate) struct PlannedField {
    /// The name of the field in the response.
    pub(crate) key: Name,
    /// `,"name":`
    pub(crate) name: Box<[u8]>,
    /// The position of the field in the query.
    pub(crate) pos: Pos,
    pub(crate) conditions: Vec<FieldCondition>,
    pub(crate) field: Field,
}

/// A condition from `@include` or `@skip`: the field is included if `flag` equals `is`.
#[derive(Clone, Debug)]
pub(crate) struct FieldCondition {
    pub(crate) flag: Flag,
    pub(crate) is: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Flag {
    Fixed(bool),
    Variable(Name),
}

#[derive(Debug)]
pub(crate) enum Field {
    /// `Query.document`
    Document {
        collection: Option<Input>,
        id: Input,
        path: Where,
        below: Selection,
    },
    /// `Query._entities`, with a variable as its argument.
    Entities {
        representations: Name,
        below: Selection,
    },
    /// `__typename`, as JSON.
    Typename(&'static str),
    /// `Document.id`
    DocumentId,
    /// `Subdocument.id`
    SubdocumentId,
    Key,
    Collection,
    Path,
    Version,
    Kind,
    Value(Where),
    Values(Paths),
    Pick(Paths),
    Omit(Paths),
    Subdocument(Where, Selection),
    /// `Subdocument.document`
    Whole(Selection),
    /// `select`, with its argument `query`.
    Select(Input, Selection),
    Length,
    /// `children`, with its arguments.
    Children(Vec<(Name, Input)>, Selection),
    /// `Query.documents`, with its arguments.
    Documents(Vec<(Name, Input)>, Selection),
    /// `nodes` of a page: the selection of each document or child.
    Nodes(Selection),
    /// `edges` of a page: the selection of each edge.
    Edges(Selection),
    /// `node` of an edge.
    Node(Selection),
    /// `cursor` of an edge.
    Cursor,
    /// `pageInfo` or `plan` of a page.
    AboutPage(Selection),
    /// A field that is known when the documents or children are found.
    OfPage(PageField),
}

/// A scalar field of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageField {
    TotalCount,
    /// Fields of `PageInfo`.
    HasNextPage,
    HasPreviousPage,
    StartCursor,
    EndCursor,
    /// Fields of `DocumentQueryPlan`.
    Index,
    Partial,
    Scanned,
    Examined,
    Covered,
    Returned,
    TotalCountReason,
}

/// The path in an argument.
#[derive(Debug)]
pub(crate) enum Where {
    Fixed(Path),
    /// The value of the argument, which contains variables.
    Given(Input),
}

/// The paths in an argument that is a list.
#[derive(Debug)]
pub(crate) enum Paths {
    Listed(Vec<Where>),
    /// A variable that is the whole list.
    Variable(Name),
}

/// The type that a selection belongs to.
#[derive(Clone, Copy)]
enum Of {
    Query,
    Entity,
    Document,
    Subdocument,
    Page,
    Edge,
    ChildPage,
    ChildEdge,
    PageInfo,
    QueryPlan,
}

impl Of {
    /// The name of the type, and the name as JSON.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Query => ("Query", "\"Query\""),
            Self::Entity | Self::Document => ("Document", "\"Document\""),
            Self::Subdocument => ("Subdocument", "\"Subdocument\""),
            Self::Page => ("DocumentConnection", "\"DocumentConnection\""),
            Self::Edge => ("DocumentEdge", "\"DocumentEdge\""),
            Self::ChildPage => ("SubdocumentConnection", "\"SubdocumentConnection\""),
            Self::ChildEdge => ("SubdocumentEdge", "\"SubdocumentEdge\""),
            Self::PageInfo => ("PageInfo", "\"PageInfo\""),
            Self::QueryPlan => ("DocumentQueryPlan", "\"DocumentQueryPlan\""),
        }
    }

    /// Whether a fragment on the type `ty` always applies.
    fn is(self, ty: &str) -> bool {
        ty == self.names().0 || (matches!(self, Self::Entity) && ty == "_Entity")
    }
}

impl Plan {
    /// Plans a valid operation; none if it cannot be executed from a plan.
    pub(crate) fn of(
        document: &ExecutableDocument,
        operation: &OperationDefinition,
    ) -> Option<Self> {
        if operation.ty != OperationType::Query || !operation.directives.is_empty() {
            return None;
        }
        let mut planner = Planner {
            document,
            fields: PLANNED_FIELDS_MAX,
        };
        let selection = planner.selection(Of::Query, &operation.selection_set.node)?;
        Some(Self(selection))
    }
}

struct Planner<'d> {
    document: &'d ExecutableDocument,
    /// The number of further fields that are allowed.
    fields: usize,
}

impl Planner<'_> {
    /// The recursion is bounded by the limit on the levels of the document.
    fn selection(&mut self, of: Of, requested: &SelectionSet) -> Option<Selection> {
        let mut fields = Vec::new();
        self.collect(of, requested, &[], &mut fields)?;
        let mut names = HashSet::new();
        let once = fields.iter().all(|field| names.insert(&field.name));
        once.then(|| Selection(fields))
    }

    fn collect(
        &mut self,
        of: Of,
        requested: &SelectionSet,
        outer: &[FieldCondition],
        fields: &mut Vec<PlannedField>,
    ) -> Option<()> {
        for requested in &requested.items {
            let mut conditions = outer.to_vec();
            for directive in requested.node.directives() {
                conditions.push(condition(&directive.node)?);
            }
            match &requested.node {
                Requested::Field(field) => fields.push(self.selected(of, field, conditions)?),
                Requested::InlineFragment(inline) => {
                    let ty = inline.node.type_condition.as_ref();
                    if ty.is_some_and(|ty| !of.is(&ty.node.on.node)) {
                        return None;
                    }
                    let below = &inline.node.selection_set.node;
                    self.collect(of, below, &conditions, fields)?;
                }
                Requested::FragmentSpread(spread) => {
                    let fragments = &self.document.fragments;
                    let fragment = &fragments.get(&spread.node.fragment_name.node)?.node;
                    if !of.is(&fragment.type_condition.node.on.node)
                        || !fragment.directives.is_empty()
                    {
                        return None;
                    }
                    self.collect(of, &fragment.selection_set.node, &conditions, fields)?;
                }
            }
        }
        Some(())
    }

    fn selected(
        &mut self,
        of: Of,
        requested: &Positioned<RequestedField>,
        conditions: Vec<FieldCondition>,
    ) -> Option<PlannedField> {
        self.fields = self.fields.checked_sub(1)?;
        let key = &requested.node.response_key().node;
        let mut name = vec![b','];
        write_string(&mut name, key);
        name.push(b':');
        Some(PlannedField {
            key: key.clone(),
            name: name.into(),
            pos: requested.pos,
            conditions,
            field: self.field(of, &requested.node)?,
        })
    }

    fn field(&mut self, of: Of, requested: &RequestedField) -> Option<Field> {
        let name = requested.name.node.as_str();
        if name == "__typename" {
            return Some(Field::Typename(of.names().1));
        }
        match of {
            Of::Query => self.root_field(name, requested),
            Of::Entity | Of::Document | Of::Subdocument => self.field_of_value(of, name, requested),
            Of::Page | Of::Edge | Of::ChildPage | Of::ChildEdge => {
                self.field_of_page(of, name, requested)
            }
            Of::PageInfo | Of::QueryPlan => page_field(name).map(Field::OfPage),
        }
    }

    fn root_field(&mut self, name: &str, requested: &RequestedField) -> Option<Field> {
        let below = &requested.selection_set.node;
        let field = match name {
            "document" => Field::Document {
                collection: argument(requested, "collection").cloned(),
                id: argument(requested, "id")?.clone(),
                path: place(argument(requested, "path"))?,
                below: self.selection(Of::Subdocument, below)?,
            },
            "documents" => Field::Documents(arguments(requested), self.selection(Of::Page, below)?),
            ENTITIES => match argument(requested, "representations")? {
                Input::Variable(representations) => Field::Entities {
                    representations: representations.clone(),
                    below: self.selection(Of::Entity, below)?,
                },
                _ => return None,
            },
            _ => return None,
        };
        Some(field)
    }

    fn field_of_value(&mut self, of: Of, name: &str, requested: &RequestedField) -> Option<Field> {
        let below = &requested.selection_set.node;
        let field = match (of, name) {
            (Of::Subdocument, "document") => Field::Whole(self.selection(Of::Document, below)?),
            (Of::Subdocument, "path") => Field::Path,
            (Of::Subdocument, "id") => Field::SubdocumentId,
            (_, "id") => Field::DocumentId,
            (_, "key") => Field::Key,
            (_, "collection") => Field::Collection,
            (_, "version") => Field::Version,
            (_, "kind") => Field::Kind,
            (_, "value") => Field::Value(place(argument(requested, "path"))?),
            (_, "values") => Field::Values(places(argument(requested, "paths")?)?),
            (_, "pick") => Field::Pick(places(argument(requested, "paths")?)?),
            (_, "omit") => Field::Omit(places(argument(requested, "paths")?)?),
            (_, "subdocument") => Field::Subdocument(
                place(Some(argument(requested, "path")?))?,
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

    fn field_of_page(&mut self, of: Of, name: &str, requested: &RequestedField) -> Option<Field> {
        let below = &requested.selection_set.node;
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

fn condition(directive: &Directive) -> Option<FieldCondition> {
    let is = match directive.name.node.as_str() {
        "include" => true,
        "skip" => false,
        _ => return None,
    };
    let flag = match &only(&directive.arguments)?.node {
        Input::Boolean(flag) => Flag::Fixed(*flag),
        Input::Variable(name) => Flag::Variable(name.clone()),
        _ => return None,
    };
    Some(FieldCondition { flag, is })
}

fn only(arguments: &[(Positioned<Name>, Positioned<Input>)]) -> Option<&Positioned<Input>> {
    match arguments {
        [(_, only)] => Some(only),
        _ => None,
    }
}

/// The path in an argument; none if the argument is not a path.
fn place(argument: Option<&Input>) -> Option<Where> {
    let Some(argument) = argument else {
        return Some(Where::Fixed(Path::default()));
    };
    match argument.clone().into_const() {
        Some(value) => path_of(&value).ok().map(Where::Fixed),
        None => Some(Where::Given(argument.clone())),
    }
}

/// The paths in an argument; none if the argument is not a list of paths, or one that is too long.
fn places(argument: &Input) -> Option<Paths> {
    let listed = match argument {
        Input::Variable(name) => return Some(Paths::Variable(name.clone())),
        Input::List(listed) => &listed[..],
        single => std::slice::from_ref(single),
    };
    if listed.len() > LISTED_PATHS_MAX {
        return None;
    }
    let listed = listed.iter().map(|path| match path {
        Input::Null => None,
        path => place(Some(path)),
    });
    listed.collect::<Option<_>>().map(Paths::Listed)
}
