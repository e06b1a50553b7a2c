//! Descriptions and directives of definitions, in the library's schema.

use async_graphql::dynamic::Directive;
use async_graphql::parser::types::ConstDirective;
use async_graphql::{Positioned, Value};

pub(super) const DEPRECATED: &str = "deprecated";
pub(super) const ONE_OF: &str = "oneOf";
pub(super) const SPECIFIED_BY: &str = "specifiedBy";

/// Whether one of the directives has this name.
pub(super) fn has(directives: &[Positioned<ConstDirective>], name: &str) -> bool {
    directives.iter().any(|it| it.node.name.node == name)
}

/// A string in the argument of a directive, if it is there.
pub(super) fn string_argument<'d>(
    directives: &'d [Positioned<ConstDirective>],
    directive: &str,
    argument: &str,
) -> Option<&'d str> {
    let mut directives = directives.iter();
    let found = directives.find(|it| it.node.name.node == directive)?;
    match &found.node.get_argument(argument)?.node {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// The directives in the library's schema, without those that the library keeps in its own form.
pub(super) fn invocations(
    directives: &[Positioned<ConstDirective>],
) -> impl Iterator<Item = Directive> {
    let others = directives
        .iter()
        .map(|directive| &directive.node)
        .filter(|directive| {
            ![DEPRECATED, ONE_OF, SPECIFIED_BY].contains(&directive.name.node.as_str())
        });
    others.map(|directive| {
        let invoked = Directive::new(directive.name.node.as_str());
        let arguments = directive.arguments.iter();
        arguments.fold(invoked, |invoked, (name, value)| {
            invoked.argument(name.node.as_str(), value.node.clone())
        })
    })
}

/// Adds the description of a definition to a part of the library's schema. The types of the parts have
/// these methods and no trait.
macro_rules! with_description {
    ($part:expr, $definition:expr) => {
        match &$definition.description {
            Some(text) => $part.description(text.node.as_str()),
            None => $part,
        }
    };
}

/// Adds the description and the directives of a definition.
macro_rules! with_annotations {
    ($part:expr, $definition:expr) => {{
        let part = with_description!($part, $definition);
        invocations(&$definition.directives).fold(part, |part, it| part.directive(it))
    }};
}

/// Deprecates a part of the library's schema if its definition does.
macro_rules! with_deprecation {
    ($part:expr, $definition:expr) => {{
        let (part, directives) = ($part, &$definition.directives);
        if has(directives, DEPRECATED) {
            part.deprecation(string_argument(directives, DEPRECATED, "reason"))
        } else {
            part
        }
    }};
}

pub(super) use {with_annotations, with_deprecation, with_description};
