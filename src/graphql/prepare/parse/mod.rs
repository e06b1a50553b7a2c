//! Parses queries. The parser of `async_graphql` takes ten times as long, which matters for queries
//! that are rejected later.
//!
//! This parser returns the same document as that of `async_graphql`, or none. In the second case
//! the caller uses the parser of `async_graphql`, which reports the error, or accepts a form that
//! is not in the specification. Tests compare the two parsers.

pub(crate) mod lexer;
pub(crate) mod strings;

use std::collections::HashMap;

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::parse_query;
use async_graphql::parser::types::{
    Directive, DocumentOperations, ExecutableDocument, Field, FragmentDefinition, FragmentSpread,
    InlineFragment, OperationDefinition, OperationType, Selection, SelectionSet, Type,
    TypeCondition, VariableDefinition,
};
use async_graphql::{Name, Pos, Positioned};
use async_graphql_value::Value;
use lexer::{Lexeme, Lexer};
use strings::{block_string_value, string_value, with_known_escapes};

/// The number of nested selection levels below the first that `async_graphql`'s parser accepts.
const SELECTION_LEVELS_MAX: usize = 64;

/// Parses a document.
///
/// The caller must have checked the limit on nested brackets, because the parser recurses into
/// them.
///
/// # Errors
/// The position up to which the text was read, if it is not a document or has an unusual form.
pub(crate) fn parse(text: &str) -> Result<ExecutableDocument, Pos> {
    let begin = Pos { line: 1, column: 1 };
    let mut parser = Parser::new(text).ok_or(begin)?;
    parser.document().ok_or(parser.pos)
}

/// As [`parse`], with the parser of `async_graphql`.
///
/// # Errors
/// The expected tokens and the position, if the text is not a document.
pub(crate) fn parse_otherwise(text: &str) -> async_graphql::parser::Result<ExecutableDocument> {
    parse_query(with_known_escapes(text))
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The current token, and its position.
    token: Lexeme<'t>,
    pos: Pos,
}

type ParsedArguments = Vec<(Positioned<Name>, Positioned<Value>)>;

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Option<Self> {
        let mut lexer = Lexer::new(text);
        let (token, pos) = lexer.next()?;
        Some(Self { lexer, token, pos })
    }

    /// Advances to the next token, and returns the position of the previous one.
    fn advance(&mut self) -> Option<Pos> {
        let pos = self.pos;
        (self.token, self.pos) = self.lexer.next()?;
        Some(pos)
    }

    fn is(&self, punctuator: u8) -> bool {
        self.token == Lexeme::Punctuator(punctuator)
    }

    fn expect(&mut self, punctuator: u8) -> Option<Pos> {
        if self.is(punctuator) {
            return self.advance();
        }
        None
    }

    fn accept(&mut self, punctuator: u8) -> Option<bool> {
        let accepted = self.is(punctuator);
        if accepted {
            self.advance()?;
        }
        Some(accepted)
    }

    fn document(&mut self) -> Option<ExecutableDocument> {
        let (mut single, mut named) = (None, HashMap::new());
        let mut fragments = HashMap::new();
        while self.token != Lexeme::End {
            if self.token == Lexeme::Name("fragment") {
                let (name, fragment) = self.fragment_definition()?;
                if fragments.insert(name, fragment).is_some() {
                    return None;
                }
                continue;
            }
            let twice = match self.operation()? {
                (None, operation) => single.replace(operation).is_some(),
                (Some(name), operation) => named.insert(name, operation).is_some(),
            };
            if twice || (single.is_some() && !named.is_empty()) {
                return None;
            }
        }
        let operations = match single {
            Some(operation) => DocumentOperations::Single(operation),
            None if named.is_empty() => return None,
            None => DocumentOperations::Multiple(named),
        };
        Some(ExecutableDocument {
            operations,
            fragments,
        })
    }

    fn operation(&mut self) -> Option<(Option<Name>, Positioned<OperationDefinition>)> {
        let pos = self.pos;
        let (mut ty, mut name) = (OperationType::Query, None);
        let (mut variable_definitions, mut directives) = (Vec::new(), Vec::new());
        if !self.is(b'{') {
            ty = match self.token {
                Lexeme::Name("query") => OperationType::Query,
                Lexeme::Name("mutation") => OperationType::Mutation,
                Lexeme::Name("subscription") => OperationType::Subscription,
                _ => return None,
            };
            self.advance()?;
            if let Lexeme::Name(_) = self.token {
                name = Some(self.name()?.node);
            }
            if self.accept(b'(')? {
                while !self.accept(b')')? {
                    variable_definitions.push(self.variable_definition()?);
                }
            }
            directives = self.directives()?;
        }
        let selection_set = self.selection_set(SELECTION_LEVELS_MAX)?;
        let operation = OperationDefinition {
            ty,
            variable_definitions,
            directives,
            selection_set,
        };
        Some((name, Positioned::new(operation, pos)))
    }

    fn fragment_definition(&mut self) -> Option<(Name, Positioned<FragmentDefinition>)> {
        let pos = self.advance()?;
        let name = self.name()?.node;
        let fragment = FragmentDefinition {
            type_condition: self.type_condition().filter(|_| name != "on")?,
            directives: self.directives()?,
            selection_set: self.selection_set(SELECTION_LEVELS_MAX)?,
        };
        Some((name, Positioned::new(fragment, pos)))
    }

    fn variable_definition(&mut self) -> Option<Positioned<VariableDefinition>> {
        let pos = self.expect(b'$')?;
        let name = self.name()?;
        self.expect(b':')?;
        let definition = VariableDefinition {
            name,
            var_type: self.ty()?,
            directives: self.directives()?,
            default_value: if self.accept(b'=')? {
                let value = self.value()?;
                Some(Positioned::new(value.node.into_const()?, value.pos))
            } else {
                None
            },
        };
        Some(Positioned::new(definition, pos))
    }

    /// Parses a type as one token, because `async_graphql`'s parser accepts no white space in it.
    fn ty(&mut self) -> Option<Positioned<Type>> {
        let begins = self.is(b'[') || matches!(self.token, Lexeme::Name(_));
        let text = self.lexer.rest_of_type().filter(|_| begins)?;
        let pos = self.advance()?;
        Some(Positioned::new(Type::new(text)?, pos))
    }

    fn type_condition(&mut self) -> Option<Positioned<TypeCondition>> {
        if self.token != Lexeme::Name("on") || !self.lexer.is_before_space() {
            return None;
        }
        let pos = self.advance()?;
        let on = self.name()?;
        Some(Positioned::new(TypeCondition { on }, pos))
    }

    fn name(&mut self) -> Option<Positioned<Name>> {
        let Lexeme::Name(name) = self.token else {
            return None;
        };
        let name = Name::new(name);
        Some(Positioned::new(name, self.advance()?))
    }

    fn directives(&mut self) -> Option<Vec<Positioned<Directive>>> {
        let mut directives = Vec::new();
        while self.is(b'@') {
            let pos = self.advance()?;
            let name = self.name()?;
            let arguments = self.arguments()?;
            directives.push(Positioned::new(Directive { name, arguments }, pos));
        }
        Some(directives)
    }

    fn arguments(&mut self) -> Option<ParsedArguments> {
        let mut arguments = Vec::new();
        if self.accept(b'(')? {
            while !self.is(b')') || arguments.is_empty() {
                let name = self.name()?;
                self.expect(b':')?;
                arguments.push((name, self.value()?));
            }
            self.advance()?;
        }
        Some(arguments)
    }

    /// Recurses at most `levels` deep.
    fn selection_set(&mut self, levels: usize) -> Option<Positioned<SelectionSet>> {
        let pos = self.expect(b'{')?;
        let mut items = Vec::new();
        while !self.is(b'}') || items.is_empty() {
            items.push(self.selection(levels)?);
        }
        self.advance()?;
        Some(Positioned::new(SelectionSet { items }, pos))
    }

    fn selection(&mut self, levels: usize) -> Option<Positioned<Selection>> {
        let pos = self.pos;
        let selection = match self.token {
            Lexeme::Spread => self.fragment(levels)?,
            _ => Selection::Field(Positioned::new(self.field(levels)?, pos)),
        };
        Some(Positioned::new(selection, pos))
    }

    fn field(&mut self, levels: usize) -> Option<Field> {
        let first = self.name()?;
        let (alias, name) = if self.accept(b':')? {
            (Some(first), self.name()?)
        } else {
            (None, first)
        };
        Some(Field {
            alias,
            name,
            arguments: self.arguments()?,
            directives: self.directives()?,
            selection_set: if self.is(b'{') {
                self.selection_set(levels.checked_sub(1)?)?
            } else {
                Positioned::default()
            },
        })
    }

    /// A fragment spread or an inline fragment.
    fn fragment(&mut self, levels: usize) -> Option<Selection> {
        let pos = self.advance()?;
        if let Lexeme::Name(name) = self.token
            && name != "on"
        {
            let spread = FragmentSpread {
                fragment_name: self.name()?,
                directives: self.directives()?,
            };
            return Some(Selection::FragmentSpread(Positioned::new(spread, pos)));
        }
        let inline = InlineFragment {
            type_condition: match self.token {
                Lexeme::Name(_) => Some(self.type_condition()?),
                _ => None,
            },
            directives: self.directives()?,
            selection_set: self.selection_set(levels.checked_sub(1)?)?,
        };
        Some(Selection::InlineFragment(Positioned::new(inline, pos)))
    }

    /// The recursion is bounded by the limit on nested brackets.
    fn value(&mut self) -> Option<Positioned<Value>> {
        let pos = self.pos;
        let value = match self.token {
            Lexeme::Punctuator(b'$') => {
                self.advance()?;
                return Some(Positioned::new(Value::Variable(self.name()?.node), pos));
            }
            Lexeme::Punctuator(b'[') => self.list()?,
            Lexeme::Punctuator(b'{') => self.object()?,
            Lexeme::Number(number) => Value::Number(number.parse().ok()?),
            Lexeme::String(text) => Value::String(string_value(text)?),
            Lexeme::BlockString(text) => Value::String(block_string_value(text)),
            Lexeme::Name("true") => Value::Boolean(true),
            Lexeme::Name("false") => Value::Boolean(false),
            Lexeme::Name("null") => Value::Null,
            // The parser of `async_graphql` reads these as two values.
            Lexeme::Name(name)
                if ["true", "false", "null"]
                    .iter()
                    .any(|it| name.starts_with(it)) =>
            {
                return None;
            }
            Lexeme::Name(name) => Value::Enum(Name::new(name)),
            _ => return None,
        };
        self.advance()?;
        Some(Positioned::new(value, pos))
    }

    /// Stops at the closing bracket.
    fn list(&mut self) -> Option<Value> {
        let mut elements = Vec::new();
        self.advance()?;
        while !self.is(b']') {
            elements.push(self.value()?.node);
        }
        Some(Value::List(elements))
    }

    /// Stops at the closing brace.
    fn object(&mut self) -> Option<Value> {
        let mut members = IndexMap::new();
        self.advance()?;
        while !self.is(b'}') {
            let name = self.name()?.node;
            self.expect(b':')?;
            members.insert(name, self.value()?.node);
        }
        Some(Value::Object(members))
    }
}

#[cfg(test)]
mod tests;
