//! Tables and values of TOML, with their positions.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::document::leaf::Leaf;
use crate::document::tree::Tree;
use crate::error::Error;

/// An error, and the byte at which it is.
#[derive(Debug)]
pub(super) struct ParseError {
    at: usize,
    error: Error,
}

impl From<toml::de::Error> for ParseError {
    fn from(error: toml::de::Error) -> Self {
        Self {
            at: error.span().map_or(0, |span| span.start),
            error: Error::bad_input(error.message()),
        }
    }
}

impl ParseError {
    /// The error with the line and the column in front of its message.
    pub(super) fn located(self, text: &str) -> Error {
        let (line, column) = position(text, self.at);
        let place = format_args!("line {line}, column {column} of the rules");
        self.error.at(place)
    }
}

/// The line and the column of a byte, both from 1. Columns are counted in characters.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// A value, and the byte at which it begins.
#[derive(Clone, Copy)]
pub(super) struct GivenValue<'t> {
    pub(super) value: &'t DeValue<'t>,
    begin: usize,
}

impl<'t> From<&'t Spanned<DeValue<'t>>> for GivenValue<'t> {
    fn from(value: &'t Spanned<DeValue<'t>>) -> Self {
        Self {
            value: value.get_ref(),
            begin: value.span().start,
        }
    }
}

impl<'t> GivenValue<'t> {
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        self.wrap(Error::bad_input(message))
    }

    /// An error of this value.
    pub(super) fn wrap(&self, error: Error) -> ParseError {
        ParseError {
            at: self.begin,
            error,
        }
    }

    fn mismatch(&self, expected: &str) -> ParseError {
        let found = match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.error(format!("{found} is not allowed here: {expected}"))
    }

    /// # Errors
    /// The value is not a string.
    pub(super) fn string(&self) -> Result<&'t str, ParseError> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => Err(self.mismatch("a string is needed")),
        }
    }

    /// # Errors
    /// The value is not `true` or `false`.
    pub(super) fn boolean(&self) -> Result<bool, ParseError> {
        match self.value {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.mismatch("true or false is needed")),
        }
    }

    /// The elements of a list.
    ///
    /// # Errors
    /// The value is not a list. The message is `expected`.
    pub(super) fn list(&self, expected: &str) -> Result<Vec<GivenValue<'t>>, ParseError> {
        match self.value {
            DeValue::Array(elements) => Ok(elements.iter().map(GivenValue::from).collect()),
            _ => Err(self.mismatch(expected)),
        }
    }

    /// # Errors
    /// The value is not a table. The message is `expected`.
    pub(super) fn table(&self, expected: &str) -> Result<Table<'t>, ParseError> {
        match self.value {
            DeValue::Table(members) => Ok(Table {
                members,
                begin: self.begin,
            }),
            _ => Err(self.mismatch(expected)),
        }
    }

    /// The value as JSON.
    ///
    /// # Errors
    /// It has a date, an infinity or a number that is none, which JSON does not have.
    pub(super) fn tree(&self) -> Result<Tree, ParseError> {
        let leaf = match self.value {
            DeValue::String(text) => Leaf::String(text.to_string().into()),
            DeValue::Boolean(flag) => Leaf::Bool(*flag),
            DeValue::Integer(_) => self.integer()?,
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(double) if double.is_finite() => Leaf::Double(double),
                _ => return Err(self.mismatch("JSON has finite numbers only")),
            },
            DeValue::Datetime(_) => {
                return Err(self.mismatch("JSON has no dates; write it as a string"));
            }
            DeValue::Array(elements) => {
                let elements = elements
                    .iter()
                    .map(|element| GivenValue::from(element).tree());
                return Ok(Tree::Array(elements.collect::<Result<_, _>>()?));
            }
            DeValue::Table(members) => {
                // They are sorted by name.
                let members = members.iter().map(|(name, value)| {
                    Ok((name.get_ref().to_string(), GivenValue::from(value).tree()?))
                });
                return Ok(Tree::Object(members.collect::<Result<_, ParseError>>()?));
            }
        };
        Ok(Tree::Leaf(leaf))
    }

    /// An integer of any size that documents can have.
    ///
    /// # Errors
    /// The value is not an integer, or it is too large.
    pub(super) fn integer(&self) -> Result<Leaf<'static>, ParseError> {
        let DeValue::Integer(integer) = self.value else {
            return Err(self.mismatch("an integer is needed"));
        };
        match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => Ok(Leaf::Integer(integer)),
            Err(_) => Leaf::number(integer.as_str()).map_err(|error| self.wrap(error)),
        }
    }
}

/// A table, and the byte at which it begins.
#[derive(Clone, Copy)]
pub(super) struct Table<'t> {
    members: &'t DeTable<'t>,
    begin: usize,
}

impl<'t> Table<'t> {
    /// The table of a whole file.
    pub(super) fn of_file(file: &'t Spanned<DeTable<'t>>) -> Self {
        Self {
            members: file.get_ref(),
            begin: file.span().start,
        }
    }

    /// The byte at which it begins.
    pub(super) fn begin(&self) -> usize {
        self.begin
    }

    /// Checks that every member has one of these names. `what` is what the table is.
    ///
    /// # Errors
    /// A member has another name. The message has the names.
    pub(super) fn only(&self, what: &str, names: &[&str]) -> Result<(), ParseError> {
        for name in self.members.keys() {
            if !names.contains(&&**name.get_ref()) {
                return Err(ParseError {
                    at: name.span().start,
                    error: Error::bad_input(format!(
                        "{what} has no member {:?}. Its members are {}",
                        name.get_ref(),
                        names.join(", ")
                    )),
                });
            }
        }
        Ok(())
    }

    /// The member of this name.
    pub(super) fn member(&self, name: &str) -> Option<GivenValue<'t>> {
        self.members.get(name).map(GivenValue::from)
    }

    /// The member of this name of a rule.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn required(&self, name: &str) -> Result<GivenValue<'t>, ParseError> {
        self.member(name).ok_or_else(|| ParseError {
            at: self.begin,
            error: Error::bad_input(format!("the rule has no `{name}`")),
        })
    }
}
