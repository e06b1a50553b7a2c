//! Descriptions and directives of definitions, in the library's schema.

use async_graphql::dynamic::{
    Directive, Enum, EnumItem, Field, InputObject, InputValue, Interface, InterfaceField, Object,
    Scalar, SubscriptionField, Union,
};
use async_graphql::parser::types::{
    ConstDirective, EnumValueDefinition, FieldDefinition, InputValueDefinition, TypeDefinition,
};
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

/// A definition with a description and directives.
pub(super) trait Definition {
    fn description(&self) -> Option<&str>;
    fn directives(&self) -> &[Positioned<ConstDirective>];
}

/// A part of the library's schema that has a description and directives.
pub(super) trait Annotated: Sized {
    fn with_description(self, text: &str) -> Self;
    fn with_directive(self, directive: Directive) -> Self;
}

/// A part of the library's schema that can be deprecated.
pub(super) trait Deprecatable: Sized {
    fn with_deprecation(self, reason: Option<&str>) -> Self;
}

macro_rules! definitions {
    ($($of:ty),*) => {$(
        impl Definition for $of {
            fn description(&self) -> Option<&str> {
                self.description.as_ref().map(|text| text.node.as_str())
            }

            fn directives(&self) -> &[Positioned<ConstDirective>] {
                &self.directives
            }
        }
    )*};
}

macro_rules! annotated {
    ($($of:ty),*) => {$(
        impl Annotated for $of {
            fn with_description(self, text: &str) -> Self {
                self.description(text)
            }

            fn with_directive(self, directive: Directive) -> Self {
                self.directive(directive)
            }
        }
    )*};
}

macro_rules! deprecatable {
    ($($of:ty),*) => {$(
        impl Deprecatable for $of {
            fn with_deprecation(self, reason: Option<&str>) -> Self {
                self.deprecation(reason)
            }
        }
    )*};
}

definitions!(
    TypeDefinition,
    FieldDefinition,
    InputValueDefinition,
    EnumValueDefinition
);
annotated!(
    Scalar,
    Object,
    Interface,
    Union,
    Enum,
    InputObject,
    Field,
    InterfaceField,
    InputValue,
    EnumItem
);
deprecatable!(
    Field,
    InterfaceField,
    SubscriptionField,
    InputValue,
    EnumItem
);

/// Adds the description and the directives of a definition, other than those that the library keeps
/// in its own form.
pub(super) fn annotated<T: Annotated>(of: T, definition: &impl Definition) -> T {
    let of = match definition.description() {
        Some(text) => of.with_description(text),
        None => of,
    };
    let others = definition.directives().iter().filter(|directive| {
        let name = directive.node.name.node.as_str();
        ![DEPRECATED, ONE_OF, SPECIFIED_BY].contains(&name)
    });
    others.fold(of, |of, directive| {
        let directive = &directive.node;
        let invoked = Directive::new(directive.name.node.as_str());
        let arguments = directive.arguments.iter();
        of.with_directive(arguments.fold(invoked, |invoked, (name, value)| {
            invoked.argument(name.node.as_str(), value.node.clone())
        }))
    })
}

/// Deprecates a part of the schema if its definition does.
pub(super) fn deprecated<T: Deprecatable>(of: T, directives: &[Positioned<ConstDirective>]) -> T {
    if has(directives, DEPRECATED) {
        of.with_deprecation(string_argument(directives, DEPRECATED, "reason"))
    } else {
        of
    }
}
