//! Parses the keywords that describe a place: `title`, `description`, `deprecated`, `x-graphql` and
//! `x-reference`.

use std::sync::Arc;

use super::annotations::{Annotations, is_graphql_name};
use super::pointer::Pointer;
use super::{Parser, Site};
use crate::document::leaf::{Kind, abridged};
use crate::types::schema_json::SchemaJson;
use crate::types::shape::{OnDelete, Reference};

const MEMBERS_OF_REFERENCE: [&str; 6] =
    ["collection", "as", "inverse", "exists", "onDelete", "chain"];

const ON_DELETE: [(&str, OnDelete); 4] = [
    ("ignore", OnDelete::Ignore),
    ("restrict", OnDelete::Restrict),
    ("nullify", OnDelete::Nullify),
    ("cascade", OnDelete::Cascade),
];

impl Parser<'_> {
    pub(super) fn annotations(
        &mut self,
        schema: &SchemaJson,
        at: &Pointer<'_>,
        site: Site,
    ) -> Annotations {
        let mut annotations = Annotations {
            title: self.text(schema, "title", at).map(Arc::from),
            description: self.text(schema, "description", at).map(Arc::from),
            deprecated: self.flag(schema, "deprecated", at),
            ..Annotations::default()
        };
        if let Some(json) = schema.member("x-graphql") {
            let at = at.member("x-graphql");
            let members: &[&str] = match site {
                Site::Document => &["name", "plural"],
                Site::Definition | Site::Inside => &["name"],
            };
            self.only(json, members, &at);
            annotations.graphql_name = self.graphql_name(json, "name", &at).map(Arc::from);
            annotations.graphql_plural = self.graphql_name(json, "plural", &at).map(Arc::from);
        }
        if let Some(json) = schema.member("x-reference") {
            let reference = self.reference(json, &at.member("x-reference"));
            annotations.reference = reference.map(Arc::new);
        }
        annotations
    }

    fn reference(&mut self, json: &SchemaJson, at: &Pointer<'_>) -> Option<Reference> {
        self.only(json, &MEMBERS_OF_REFERENCE, at);
        let collection = self.text(json, "collection", at);
        let field = self.graphql_name(json, "as", at);
        for (name, is_missing) in [
            ("collection", collection.is_none()),
            ("as", field.is_none()),
        ] {
            if is_missing && json.member(name).is_none() {
                self.problems.add(at, format_args!("it has no `{name}`"));
            }
        }
        let on_delete = self.text(json, "onDelete", at).map(|given| {
            let found = ON_DELETE.iter().find(|(name, _)| *name == given);
            if found.is_none() {
                let message = "write \"ignore\", \"restrict\", \"nullify\" or \"cascade\"";
                self.problems.add(&at.member("onDelete"), message);
            }
            found.map(|(_, on_delete)| *on_delete).unwrap_or_default()
        });
        let reference = Reference {
            collection: collection?,
            field: field?,
            inverse: self.graphql_name(json, "inverse", at),
            exists: self.flag(json, "exists", at),
            on_delete: on_delete.unwrap_or_default(),
            chain: self.graphql_name(json, "chain", at),
        };
        if reference.chain.is_some() && reference.collection != self.collection {
            self.problems.add(
                &at.member("chain"),
                format_args!(
                    "only a reference to the own collection, {:?}, has a chain",
                    self.collection
                ),
            );
        }
        Some(reference)
    }

    fn text(&mut self, json: &SchemaJson, name: &str, at: &Pointer<'_>) -> Option<String> {
        let value = json.member(name)?;
        self.of_kind(value, Kind::String, &at.member(name));
        value.text().map(str::to_owned)
    }

    fn flag(&mut self, json: &SchemaJson, name: &str, at: &Pointer<'_>) -> bool {
        let Some(value) = json.member(name) else {
            return false;
        };
        self.of_kind(value, Kind::Boolean, &at.member(name));
        value.boolean().unwrap_or_default()
    }

    fn graphql_name(&mut self, json: &SchemaJson, name: &str, at: &Pointer<'_>) -> Option<String> {
        let given = self.text(json, name, at)?;
        if is_graphql_name(&given) {
            return Some(given);
        }
        self.problems.add(
            &at.member(name),
            format_args!(
                "{:?} is no name of GraphQL: write letters, digits and `_`, without a digit or `__` at \
                 the beginning",
                abridged(&given)
            ),
        );
        None
    }

    /// Checks that a value is an object with these members only.
    fn only(&mut self, json: &SchemaJson, members: &[&str], at: &Pointer<'_>) {
        self.of_kind(json, Kind::Object, at);
        let SchemaJson::Object(given) = json else {
            return;
        };
        for (name, _) in given.iter().filter(|(it, _)| !members.contains(&&**it)) {
            let message = format!("remove it: its members are {}", members.join(", "));
            self.problems.add(&at.member(name), message);
        }
    }
}
