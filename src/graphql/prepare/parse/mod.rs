//! Parses queries: the executable documents of the GraphQL specification (September 2025), into the
//! document of `async_graphql`. Its parser takes ten times as long, and deviates from the
//! specification (docs/decisions/0017). `tests/graphql_js` compares this parser with GraphQL.js.

pub(crate) mod lexer;
pub(crate) mod strings;
pub(crate) mod syntax_error;

use std::collections::HashMap;

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{
    BaseType, Directive, DocumentOperations, ExecutableDocument, Field, FragmentDefinition,
    FragmentSpread, InlineFragment, OperationDefinition, OperationType, Selection, SelectionSet,
    Type, TypeCondition, VariableDefinition,
};
use async_graphql::{Name, Pos, Positioned};
use async_graphql_value::{ConstValue, Value};
use lexer::{Lexeme, Lexer};
use strings::{block_string_value, string_value};
use syntax_error::{ParseResult, SyntaxError};

/// Parses a document.
///
/// The caller must have checked the limit on nested brackets, because the parser recurses into
/// them.
///
/// # Errors
/// The text is not a document, or two operations, two fragments or two members of an object have the
/// same name.
pub(crate) fn parse(text: &str) -> ParseResult<ExecutableDocument> {
    Parser::new(text)?.document()
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The current token, and its position.
    token: Lexeme<'t>,
    pos: Pos,
}

type ParsedArguments = Vec<(Positioned<Name>, Positioned<Value>)>;

/// Whether variables may be in a value.
#[derive(Clone, Copy, PartialEq)]
enum Variables {
    Allowed,
    Forbidden,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> ParseResult<Self> {
        let mut lexer = Lexer::new(text);
        let (token, pos) = lexer.next()?;
        Ok(Self { lexer, token, pos })
    }

    /// Advances to the next token, and returns the position of the previous one.
    fn advance(&mut self) -> ParseResult<Pos> {
        let pos = self.pos;
        (self.token, self.pos) = self.lexer.next()?;
        Ok(pos)
    }

    fn unexpected<T>(&self, expected: &str) -> ParseResult<T> {
        let why = format!("expected {expected}, found {}", self.token);
        Err(SyntaxError::new(&why, self.pos))
    }

    fn is(&self, punctuator: u8) -> bool {
        self.token == Lexeme::Punctuator(punctuator)
    }

    fn expect(&mut self, punctuator: u8) -> ParseResult<Pos> {
        if self.is(punctuator) {
            return self.advance();
        }
        self.unexpected(&Lexeme::Punctuator(punctuator).to_string())
    }

    fn accept(&mut self, punctuator: u8) -> ParseResult<bool> {
        let accepted = self.is(punctuator);
        if accepted {
            self.advance()?;
        }
        Ok(accepted)
    }

    fn document(&mut self) -> ParseResult<ExecutableDocument> {
        let mut single: Option<Positioned<OperationDefinition>> = None;
        let mut named: HashMap<Name, Positioned<OperationDefinition>> = HashMap::new();
        let mut fragments: HashMap<Name, Positioned<FragmentDefinition>> = HashMap::new();
        while self.token != Lexeme::End {
            let described = self.description()?;
            if self.token == Lexeme::Name("fragment") {
                let (name, fragment) = self.fragment_definition()?;
                let pos = fragment.pos;
                if let Some(first) = fragments.insert(name.clone(), fragment) {
                    return Err(SyntaxError::defined_twice(
                        "fragment", &name, pos, first.pos,
                    ));
                }
                continue;
            }
            if described && self.is(b'{') {
                return self.unexpected("an operation after the description");
            }
            let (name, operation) = self.operation()?;
            let pos = operation.pos;
            let Some(name) = name else {
                let other = single.as_ref().or_else(|| named.values().next());
                if let Some(other) = other {
                    return Err(SyntaxError::several_operations(pos, other.pos));
                }
                single = Some(operation);
                continue;
            };
            if let Some(single) = &single {
                return Err(SyntaxError::several_operations(single.pos, pos));
            }
            if let Some(first) = named.insert(name.clone(), operation) {
                return Err(SyntaxError::defined_twice(
                    "operation",
                    &name,
                    pos,
                    first.pos,
                ));
            }
        }
        let operations = match single {
            Some(operation) => DocumentOperations::Single(operation),
            None if named.is_empty() => return Err(SyntaxError::no_operation()),
            None => DocumentOperations::Multiple(named),
        };
        Ok(ExecutableDocument {
            operations,
            fragments,
        })
    }

    /// Skips a description. Returns whether there was one.
    fn description(&mut self) -> ParseResult<bool> {
        let described = matches!(self.token, Lexeme::String(_) | Lexeme::BlockString(_));
        if described {
            self.value(Variables::Forbidden)?;
        }
        Ok(described)
    }

    fn operation(&mut self) -> ParseResult<(Option<Name>, Positioned<OperationDefinition>)> {
        let pos = self.pos;
        let (mut ty, mut name) = (OperationType::Query, None);
        let (mut variable_definitions, mut directives) = (Vec::new(), Vec::new());
        if !self.is(b'{') {
            ty = match self.token {
                Lexeme::Name("query") => OperationType::Query,
                Lexeme::Name("mutation") => OperationType::Mutation,
                Lexeme::Name("subscription") => OperationType::Subscription,
                _ => return self.unexpected("an operation or a fragment"),
            };
            self.advance()?;
            if let Lexeme::Name(_) = self.token {
                name = Some(self.name()?.node);
            }
            if self.accept(b'(')? {
                while !self.is(b')') || variable_definitions.is_empty() {
                    variable_definitions.push(self.variable_definition()?);
                }
                self.advance()?;
            }
            directives = self.directives(Variables::Allowed)?;
        }
        let selection_set = self.selection_set()?;
        let operation = OperationDefinition {
            ty,
            variable_definitions,
            directives,
            selection_set,
        };
        Ok((name, Positioned::new(operation, pos)))
    }

    fn fragment_definition(&mut self) -> ParseResult<(Name, Positioned<FragmentDefinition>)> {
        let pos = self.advance()?;
        if self.token == Lexeme::Name("on") {
            return self.unexpected("the name of a fragment");
        }
        let name = self.name()?.node;
        if self.token != Lexeme::Name("on") {
            return self.unexpected("\"on\"");
        }
        let fragment = FragmentDefinition {
            type_condition: self.type_condition()?,
            directives: self.directives(Variables::Allowed)?,
            selection_set: self.selection_set()?,
        };
        Ok((name, Positioned::new(fragment, pos)))
    }

    fn variable_definition(&mut self) -> ParseResult<Positioned<VariableDefinition>> {
        self.description()?;
        let pos = self.expect(b'$')?;
        let name = self.name()?;
        self.expect(b':')?;
        let definition = VariableDefinition {
            name,
            var_type: self.ty()?,
            default_value: if self.accept(b'=')? {
                Some(self.default_value()?)
            } else {
                None
            },
            directives: self.directives(Variables::Forbidden)?,
        };
        Ok(Positioned::new(definition, pos))
    }

    fn default_value(&mut self) -> ParseResult<Positioned<ConstValue>> {
        let value = self.value(Variables::Forbidden)?;
        let constant = value
            .node
            .into_const()
            .expect("the parser rejected variables");
        Ok(Positioned::new(constant, value.pos))
    }

    /// The recursion is bounded by the limit on nested brackets.
    fn ty(&mut self) -> ParseResult<Positioned<Type>> {
        let pos = self.pos;
        let base = if self.accept(b'[')? {
            let element = self.ty()?.node;
            self.expect(b']')?;
            BaseType::List(Box::new(element))
        } else if let Lexeme::Name(_) = self.token {
            BaseType::Named(self.name()?.node)
        } else {
            return self.unexpected("a type");
        };
        let nullable = !self.accept(b'!')?;
        Ok(Positioned::new(Type { base, nullable }, pos))
    }

    /// Begins at `on`.
    fn type_condition(&mut self) -> ParseResult<Positioned<TypeCondition>> {
        let pos = self.advance()?;
        let on = self.name()?;
        Ok(Positioned::new(TypeCondition { on }, pos))
    }

    fn name(&mut self) -> ParseResult<Positioned<Name>> {
        let Lexeme::Name(name) = self.token else {
            return self.unexpected("a name");
        };
        let name = Name::new(name);
        Ok(Positioned::new(name, self.advance()?))
    }

    fn directives(&mut self, variables: Variables) -> ParseResult<Vec<Positioned<Directive>>> {
        let mut directives = Vec::new();
        while self.is(b'@') {
            let pos = self.advance()?;
            let name = self.name()?;
            let arguments = self.arguments(variables)?;
            directives.push(Positioned::new(Directive { name, arguments }, pos));
        }
        Ok(directives)
    }

    fn arguments(&mut self, variables: Variables) -> ParseResult<ParsedArguments> {
        let mut arguments = Vec::new();
        if self.accept(b'(')? {
            while !self.is(b')') || arguments.is_empty() {
                let name = self.name()?;
                self.expect(b':')?;
                arguments.push((name, self.value(variables)?));
            }
            self.advance()?;
        }
        Ok(arguments)
    }

    /// The recursion is bounded by the limit on nested brackets.
    fn selection_set(&mut self) -> ParseResult<Positioned<SelectionSet>> {
        let pos = self.expect(b'{')?;
        let mut items = Vec::new();
        while !self.is(b'}') || items.is_empty() {
            items.push(self.selection()?);
        }
        self.advance()?;
        Ok(Positioned::new(SelectionSet { items }, pos))
    }

    fn selection(&mut self) -> ParseResult<Positioned<Selection>> {
        let pos = self.pos;
        let selection = match self.token {
            Lexeme::Spread => self.fragment()?,
            _ => Selection::Field(Positioned::new(self.field()?, pos)),
        };
        Ok(Positioned::new(selection, pos))
    }

    fn field(&mut self) -> ParseResult<Field> {
        let first = self.name()?;
        let (alias, name) = if self.accept(b':')? {
            (Some(first), self.name()?)
        } else {
            (None, first)
        };
        Ok(Field {
            alias,
            name,
            arguments: self.arguments(Variables::Allowed)?,
            directives: self.directives(Variables::Allowed)?,
            selection_set: if self.is(b'{') {
                self.selection_set()?
            } else {
                Positioned::default()
            },
        })
    }

    /// A fragment spread or an inline fragment.
    fn fragment(&mut self) -> ParseResult<Selection> {
        let pos = self.advance()?;
        let type_condition = match self.token {
            Lexeme::Name("on") => Some(self.type_condition()?),
            Lexeme::Name(_) => {
                let spread = FragmentSpread {
                    fragment_name: self.name()?,
                    directives: self.directives(Variables::Allowed)?,
                };
                return Ok(Selection::FragmentSpread(Positioned::new(spread, pos)));
            }
            _ => None,
        };
        let inline = InlineFragment {
            type_condition,
            directives: self.directives(Variables::Allowed)?,
            selection_set: self.selection_set()?,
        };
        Ok(Selection::InlineFragment(Positioned::new(inline, pos)))
    }

    /// The recursion is bounded by the limit on nested brackets.
    fn value(&mut self, variables: Variables) -> ParseResult<Positioned<Value>> {
        let pos = self.pos;
        let value = match self.token {
            Lexeme::Punctuator(b'$') if variables == Variables::Allowed => {
                self.advance()?;
                return Ok(Positioned::new(Value::Variable(self.name()?.node), pos));
            }
            Lexeme::Punctuator(b'[') => self.list(variables)?,
            Lexeme::Punctuator(b'{') => self.object(variables)?,
            Lexeme::Number(number) => match number.parse() {
                Ok(number) => Value::Number(number),
                Err(_) => return self.unexpected("a number"),
            },
            Lexeme::String(text) => Value::String(self.string(text)?),
            Lexeme::BlockString(text) => Value::String(block_string_value(text)),
            Lexeme::Name("true") => Value::Boolean(true),
            Lexeme::Name("false") => Value::Boolean(false),
            Lexeme::Name("null") => Value::Null,
            Lexeme::Name(name) => Value::Enum(Name::new(name)),
            _ if variables == Variables::Forbidden => {
                return self.unexpected("a value without variables");
            }
            _ => return self.unexpected("a value"),
        };
        self.advance()?;
        Ok(Positioned::new(value, pos))
    }

    fn string(&self, text: &str) -> ParseResult<String> {
        string_value(text).map_err(|invalid| {
            let before = &text[..text.len() - invalid.len()];
            let escape: String = invalid.chars().take(ESCAPE_SHOWN).collect();
            let pos = Pos {
                line: self.pos.line,
                column: self.pos.column + 1 + before.chars().count(),
            };
            SyntaxError::new(&format!("invalid escape in a string: {escape}"), pos)
        })
    }

    /// Stops at the closing bracket.
    fn list(&mut self, variables: Variables) -> ParseResult<Value> {
        let mut elements = Vec::new();
        self.advance()?;
        while !self.is(b']') {
            elements.push(self.value(variables)?.node);
        }
        Ok(Value::List(elements))
    }

    /// Stops at the closing brace.
    fn object(&mut self, variables: Variables) -> ParseResult<Value> {
        let mut members = IndexMap::new();
        self.advance()?;
        while !self.is(b'}') {
            let Positioned { node: name, pos } = self.name()?;
            self.expect(b':')?;
            let value = self.value(variables)?.node;
            if members.insert(name.clone(), value).is_some() {
                return Err(SyntaxError::member_given_twice(&name, pos));
            }
        }
        Ok(Value::Object(members))
    }
}

/// Characters of an invalid escape in an error message.
const ESCAPE_SHOWN: usize = 12;

#[cfg(test)]
mod tests;
