//! Plans the selections of entities and nodes, whose types are known when the query is executed.

use std::collections::HashSet;

use async_graphql::Name;
use async_graphql::parser::types::{Selection as Requested, SelectionSet};

use super::occurrences::Source;
use super::plan::{EntitySelection, NodeSelection};
use super::planner::Planner;
use crate::graphql::schema::entities::ENTITY;

/// The conditions of fragments.
#[derive(Default)]
struct Conditions<'d> {
    types: HashSet<&'d str>,
    /// The named fragments that have been visited.
    fragments: HashSet<&'d Name>,
}

impl<'d> Planner<'d> {
    /// Plans the selections of entities. Types that no fragment names share one, which has no fields
    /// except `__typename`.
    pub(super) fn entities(&self, below: &[Source<'d>]) -> Option<EntitySelection> {
        let collections = self.types.typed_schema().entities.clone();
        let mut conditions = Conditions::default();
        for source in below {
            self.add_conditions(source.selected, &mut conditions)?;
        }
        let named = conditions.types.iter().copied();
        let named = named.filter(|ty| collections.contains_key(*ty));
        let typed = named.map(|ty| Some((ty.to_owned(), self.selection(ty, below)?)));
        Some(EntitySelection {
            of_document: self.selection("Document", below)?,
            typed: typed.collect::<Option<_>>()?,
            of_others: self.selection(ENTITY, below)?,
            collections,
        })
    }

    /// Adds the types that the conditions of fragments in a selection set name, at its level.
    fn add_conditions(
        &self,
        selected: &'d SelectionSet,
        conditions: &mut Conditions<'d>,
    ) -> Option<()> {
        for requested in &selected.items {
            let (ty, below) = match &requested.node {
                Requested::Field(_) => continue,
                Requested::InlineFragment(inline) => {
                    let ty = inline.node.type_condition.as_ref();
                    (ty.map(|ty| &ty.node), &inline.node.selection_set.node)
                }
                Requested::FragmentSpread(spread) => {
                    let name = &spread.node.fragment_name.node;
                    if !conditions.fragments.insert(name) {
                        continue;
                    }
                    let fragment = &self.document.fragments.get(name)?.node;
                    (
                        Some(&fragment.type_condition.node),
                        &fragment.selection_set.node,
                    )
                }
            };
            conditions.types.extend(ty.map(|ty| ty.on.node.as_str()));
            self.add_conditions(below, conditions)?;
        }
        Some(())
    }

    pub(super) fn nodes(&self, below: &[Source<'d>]) -> Option<NodeSelection> {
        Some(NodeSelection {
            of_document: self.selection("Document", below)?,
            of_subdocument: self.selection("Subdocument", below)?,
        })
    }
}
