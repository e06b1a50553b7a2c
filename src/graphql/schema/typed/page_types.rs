//! The types of pages of documents, and the fields that return them.

use std::collections::HashMap;

use async_graphql::Positioned;
use async_graphql::parser::types::{FieldDefinition, TypeDefinition};

use super::definitions::{argument, field, list, named, object};
use super::description::printable;
use super::filter_types::{filter_of, order_of};
use super::object_types::ObjectTypes;
use super::type_names::CollectionNames;
use super::typed_fields::TypedField;
use crate::types::CollectionType;

/// Adds the types of pages, and of the filters and orders.
pub(super) fn add_page_types(
    made: &mut ObjectTypes,
    filters: Vec<TypeDefinition>,
    names: &CollectionNames,
) {
    let plain = |name, ty, about| field(name, Vec::new(), ty, (about, false));
    let (connection, edge) = (
        format!("{}Connection", names.ty),
        format!("{}Edge", names.ty),
    );
    let node = || named(&names.ty, false);
    let about_node =
        "A document; null if a value that it must have is not there or does not fit its type.";
    made.definitions.push(object(
        &connection,
        "A page of documents.",
        vec![
            plain(
                "edges",
                list(named(&edge, true), true),
                "The documents, each with its cursor.",
            ),
            plain("nodes", list(node(), true), about_node),
            plain(
                "pageInfo",
                named("PageInfo", true),
                "Whether there are more pages, and the cursors to request them.",
            ),
            plain(
                "totalCount",
                named("Int", false),
                "As `DocumentConnection.totalCount`.",
            ),
            plain(
                "plan",
                named("DocumentQueryPlan", true),
                "How the documents were found.",
            ),
        ],
    ));
    made.definitions.push(object(
        &edge,
        "A document and its cursor.",
        vec![
            plain(
                "cursor",
                named("String", true),
                "Pass it as `after` or `before`.",
            ),
            plain("node", node(), about_node),
        ],
    ));
    made.definitions.extend(filters);
    let nodes = [
        ("nodes".to_owned(), TypedField::Nodes),
        ("edges".to_owned(), TypedField::Edges),
        ("totalCount".to_owned(), TypedField::TotalCount),
    ];
    made.fields.insert(connection, HashMap::from(nodes));
    let node = [("node".to_owned(), TypedField::Node)];
    made.fields.insert(edge, HashMap::from(node));
}

/// `Query.countries`
pub(super) fn many_field(
    of: &CollectionType,
    names: &CollectionNames,
) -> Positioned<FieldDefinition> {
    let text = || named("String", false);
    let int = || named("Int", false);
    let order = list(named(&order_of(&names.ty), true), false);
    let arguments = vec![
        argument(
            "where",
            named(&filter_of(&names.ty), false),
            "The filter that documents must match.",
        ),
        argument(
            "keys",
            named("DocumentKeyFilter", false),
            "The keys that documents must have.",
        ),
        argument(
            "orderBy",
            order,
            "The order: by the first of the list, then by the next. By default by key.",
        ),
        argument(
            "first",
            int(),
            "The page size when paging forwards; 100 by default.",
        ),
        argument("after", text(), "The page begins after this cursor."),
        argument(
            "last",
            int(),
            "The page size when paging backwards; 100 by default.",
        ),
        argument("before", text(), "The page ends before this cursor."),
        argument("scanLimit", int(), "As in `documents`."),
    ];
    let about = printable(&format!(
        "The documents of the collection `{}` that match a filter.",
        of.collection()
    ));
    let page = named(&format!("{}Connection", names.ty), true);
    field(&names.many, arguments, page, (&about, false))
}
