//! The conditions of a field, from `@include` and `@skip`.

use async_graphql::parser::types::Directive;
use async_graphql::{Name, Pos, Positioned};
use async_graphql_value::Value as Input;

/// A condition from `@include` or `@skip`: the field is included if `flag` equals `is`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FieldCondition {
    pub(crate) flag: Flag,
    pub(crate) is: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Flag {
    Fixed(bool),
    Variable(Name),
}

impl FieldCondition {
    /// None if the directive is another one.
    pub(super) fn of(directive: &Directive) -> Option<Self> {
        let is = match directive.name.node.as_str() {
            "include" => true,
            "skip" => false,
            _ => return None,
        };
        let [(_, only)] = &directive.arguments[..] else {
            return None;
        };
        let flag = match &only.node {
            Input::Boolean(flag) => Flag::Fixed(*flag),
            Input::Variable(name) => Flag::Variable(name.clone()),
            _ => return None,
        };
        Some(Self { flag, is })
    }

    /// The directive with this condition.
    pub(super) fn directive(&self, pos: Pos) -> Directive {
        let name = if self.is { "include" } else { "skip" };
        let flag = match &self.flag {
            Flag::Fixed(flag) => Input::Boolean(*flag),
            Flag::Variable(name) => Input::Variable(name.clone()),
        };
        let argument = Positioned::new(Name::new("if"), pos);
        Directive {
            name: Positioned::new(Name::new(name), pos),
            arguments: vec![(argument, Positioned::new(flag, pos))],
        }
    }
}
