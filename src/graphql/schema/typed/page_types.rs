//! The types of pages of documents, and the fields that return them: those of `Query`, and those of documents to
//! which references lead.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_graphql::Positioned;
use async_graphql::parser::types::{
    FieldDefinition, InputValueDefinition, TypeDefinition, TypeKind,
};

use super::definitions::{argument, field, list, named, object, printable};
use super::filter_types::{filter_of, order_of};
use super::object_types::ObjectTypes;
use super::type_names::CollectionNames;
use super::typed_fields::{TypedField, TypedInverse, TypedPage};
use crate::document::jsonpath::Query;
use crate::document::leaf::abridged;
use crate::types::{CollectionType, ReferenceKeys};

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
    let arguments = page_arguments(&names.ty);
    let about = printable(&format!(
        "The documents of the collection `{}` that match a filter.",
        of.collection()
    ));
    let page = named(&format!("{}Connection", names.ty), true);
    field(&names.many, arguments, page, (&about, false))
}

/// The arguments of a page of documents with a type `ty`.
pub(super) fn page_arguments(ty: &str) -> Vec<Positioned<InputValueDefinition>> {
    let text = || named("String", false);
    let int = || named("Int", false);
    let order = list(named(&order_of(ty), true), false);
    vec![
        argument(
            "where",
            named(&filter_of(ty), false),
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
    ]
}

/// The documents of a collection that refer to those of another.
#[derive(Clone)]
pub(super) struct InverseField {
    /// The collection with the references, and the type of its documents.
    collection: Arc<str>,
    ty: String,
    /// The collection to whose documents the keys lead.
    target: String,
    /// The name of the field.
    name: String,
    /// Selects the keys.
    selected: Query,
    keys: ReferenceKeys,
}

/// The parts of the field of an inverse: itself, and its arguments.
pub(super) const PARTS_OF_INVERSE: usize = 9;

/// The fields that lead back to the documents of a collection with a type `ty`. There is none if the keys of one cannot
/// be found, which is refused when a type is set.
pub(super) fn inverse_fields(of: &CollectionType, ty: &str) -> Vec<InverseField> {
    let references = of.indexed_references().unwrap_or_default().into_iter();
    let fields = references.filter_map(|it| {
        Some(InverseField {
            collection: of.collection().into(),
            ty: ty.to_owned(),
            target: it.target,
            name: it.inverse?,
            selected: Query::parse(&it.keys.path()).ok()?,
            keys: it.keys,
        })
    });
    fields.collect()
}

impl InverseField {
    /// Adds the field to the type of the other collection, if it has one and no such field.
    pub(super) fn add(
        &self,
        definitions: &mut [TypeDefinition],
        fields: &mut HashMap<String, HashMap<String, TypedField>>,
        types: &BTreeMap<String, Arc<str>>,
    ) {
        let mut targets = types.iter();
        let target = targets.find(|(_, collection)| ***collection == *self.target);
        let Some((target, _)) = target else {
            return;
        };
        let mut definitions = definitions.iter_mut();
        let definition = definitions.find(|it| it.name.node == *target);
        let Some((TypeKind::Object(object), reads)) = definition
            .map(|it| &mut it.kind)
            .zip(fields.get_mut(target))
        else {
            return;
        };
        if reads.contains_key(&self.name) {
            return;
        }
        let about = printable(&format!(
            "The documents of the collection `{}` that refer to this one.",
            self.collection
        ));
        let page = named(&format!("{}Connection", self.ty), true);
        let arguments = page_arguments(&self.ty);
        object
            .fields
            .push(field(&self.name, arguments, page, (&about, false)));
        let read = TypedInverse {
            page: Arc::new(TypedPage {
                collection: self.collection.clone(),
                filter: filter_of(&self.ty),
                order: order_of(&self.ty),
            }),
            selected: self.selected.clone(),
            keys: self.keys.clone(),
        };
        reads.insert(self.name.clone(), TypedField::Inverse(Arc::new(read)));
    }

    /// Why the field cannot be added beside other ones, if one of them or the field is of this collection.
    pub(super) fn problem(
        &self,
        of: &str,
        others: &[Self],
        fields: &HashMap<String, HashMap<String, TypedField>>,
        types: &BTreeMap<String, Arc<str>>,
    ) -> Option<String> {
        let (target, field) = (&self.target, &self.name);
        let is_same = |other: &&Self| other.target == *target && other.name == *field;
        let mut same = others.iter().filter(is_same);
        let twice = same.clone().count() > 1 && same.any(|other| *other.collection == *of);
        let mut targets = types.iter();
        let of_target = targets.find(|(_, collection)| ***collection == **target);
        let is_taken = of_target.is_some_and(|(ty, _)| {
            let has = |reads: &HashMap<String, TypedField>| reads.contains_key(field);
            fields.get(ty).is_some_and(has) && (*self.collection == *of || target == of)
        });
        (twice || is_taken).then(|| {
            format!(
                "the documents of the collection {:?} have another field {:?} already: give the `inverse` of the \
                 reference in the collection {:?} another name",
                abridged(target),
                abridged(field),
                abridged(&self.collection)
            )
        })
    }
}
