//! Prints schemas. The library prints them, so that every schema has the form of schema.graphql.

use std::fmt::Write as _;

use async_graphql::SDLExportOptions;
use async_graphql::dynamic::Schema;

use super::register::{Subscriptions, builder, finish};
use super::schema_source::{SCHEMA_GRAPHQL, SchemaSource};
use crate::error::Result;

impl SchemaSource {
    /// The text of the schema with these types. That of the full scope without types of collections is
    /// schema.graphql.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the types do not form a schema.
    pub fn text(&self) -> Result<String> {
        builder(self, Subscriptions::Root)
            .and_then(finish)
            .map(|schema| printed(&schema))
    }

    /// The text of the subgraph with these types, which `_service { sdl }` returns to a gateway.
    ///
    /// # Errors
    /// As [`SchemaSource::text`].
    pub fn subgraph_text(&self) -> Result<String> {
        printed_subgraph(self)
    }
}

/// The text of a schema.
pub(crate) fn printed(schema: &Schema) -> String {
    let options = SDLExportOptions::new().include_specified_by();
    let text = tidied(&schema.sdl_with_options(options));
    format!("{}{text}", comment())
}

/// The text of the subgraph with these types.
///
/// # Errors
/// `BAD_USER_INPUT`: the types do not form a schema.
pub(crate) fn printed_subgraph(source: &SchemaSource) -> Result<String> {
    let schema = builder(&source.subgraph()?, Subscriptions::Object).and_then(finish)?;
    let options = SDLExportOptions::new().federation().include_specified_by();
    Ok(tidied(&schema.sdl_with_options(options)))
}

/// The description of the schema: the comment at the beginning of schema.graphql, a line for each
/// paragraph.
pub(crate) fn description() -> String {
    let lines = comment().lines();
    let text: Vec<&str> = lines
        .map(|line| line.trim_start_matches('#').trim())
        .collect();
    let paragraphs = text.split(|line| line.is_empty());
    let paragraphs = paragraphs.filter(|lines| !lines.is_empty());
    let joined: Vec<String> = paragraphs.map(|lines| lines.join(" ")).collect();
    joined.join("\n\n")
}

/// The comment at the beginning of schema.graphql, which describes the schema. It is a comment because
/// parsers of the 2018 specification, such as that of Rust's `graphql_client`, do not accept a
/// description of the schema itself. The text of a subgraph has none: its schema is an extension of the
/// schema of the graph, which its owner describes.
fn comment() -> &'static str {
    let definitions = SCHEMA_GRAPHQL.find("\"\"\"").unwrap_or_default();
    &SCHEMA_GRAPHQL[..definitions]
}

/// Indents each level by two spaces, and removes spaces at the ends of lines.
fn tidied(sdl: &str) -> String {
    let mut text = String::with_capacity(sdl.len());
    for line in sdl.trim().lines() {
        writeln!(text, "{}", line.trim_end().replace('\t', "  ")).expect("a string has room");
    }
    text
}
