//! A query's text token by token: held against every bound, checked where the crate's grammar is
//! too lenient, and written anew for it.
//!
//! The crate reads names, strings and numbers loosely (it trims names, takes space inside them, and
//! has no number past 2^53), so it is given stand-ins for them and decides on the structure alone.

use super::super::json::position;
use super::super::leaf::abridged;
use super::scan::{name_bytes, number_bytes, string};
use crate::error::{Error, Limit, Result};
use crate::limits::{
    JSONPATH_BRACKETS_MAX, JSONPATH_BYTES_MAX, JSONPATH_FUNCTIONS_MAX, JSONPATH_INTEGER_MAX,
};

/// What the crate is given for a number that can be no index.
const NO_INDEX: &str = "0.5";

/// A function of RFC 9535 §2.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Length,
    Count,
    Value,
    Match,
    Search,
}

impl Function {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "length" => Self::Length,
            "count" => Self::Count,
            "value" => Self::Value,
            "match" => Self::Match,
            "search" => Self::Search,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Count => "count",
            Self::Value => "value",
            Self::Match => "match",
            Self::Search => "search",
        }
    }

    /// Whether its result is true or false, and no value.
    pub(super) fn is_test(self) -> bool {
        matches!(self, Self::Match | Self::Search)
    }

    /// A function of as many arguments, of which the crate checks nothing else.
    fn stand_in(self) -> &'static str {
        if self.is_test() { "match" } else { "value" }
    }
}

/// A query, written anew.
pub(super) struct Rewritten<'q> {
    query: &'q str,
    /// For the crate: each name or string is `n` and its number among them, each function is one of
    /// as many arguments, and each number that can be no index is the same one.
    pub(super) text: String,
    /// Where each token begins, in `text` and in the query.
    begins: Vec<(usize, usize)>,
    names: Vec<String>,
    /// Where each number stands in the query.
    pub(super) numbers: Vec<std::ops::Range<usize>>,
    /// The functions, and where each stands in the query.
    pub(super) functions: Vec<(Function, usize)>,
}

impl<'q> Rewritten<'q> {
    /// Reads the tokens of a query.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: what stands somewhere is no token. `TOO_LARGE`, `TOO_COMPLEX`: a limit is
    /// passed.
    pub(super) fn of(query: &'q str) -> Result<Self> {
        if query.len() > JSONPATH_BYTES_MAX {
            return Err(Error::too_large(
                Limit::new("jsonPathBytes", JSONPATH_BYTES_MAX),
                format!(
                    "the JSONPath has {} bytes; the limit is {JSONPATH_BYTES_MAX} bytes",
                    query.len()
                ),
            ));
        }
        let rewritten = Self {
            query,
            text: String::with_capacity(query.len()),
            begins: Vec::new(),
            names: Vec::new(),
            numbers: Vec::new(),
            functions: Vec::new(),
        };
        let mut tokens = TextTokens {
            rewritten,
            at: 0,
            open: Vec::new(),
            before: Before::Other,
        };
        while tokens.at < query.len() {
            tokens.next()?;
        }
        Ok(tokens.rewritten)
    }

    /// The name or string for which `stand_in` stands.
    pub(super) fn name(&self, stand_in: &str) -> Option<&str> {
        let number: usize = stand_in.strip_prefix('n')?.parse().ok()?;
        self.names.get(number).map(String::as_str)
    }

    /// The text of a number.
    pub(super) fn number(&self, at: &std::ops::Range<usize>) -> &'q str {
        &self.query[at.clone()]
    }

    /// What is wrong at a place of the rewritten text.
    pub(super) fn wrong_there(&self, at: usize, what: &str) -> Error {
        let begins = self.begins.partition_point(|(begin, _)| *begin <= at);
        let token = begins.checked_sub(1).map_or((0, 0), |it| self.begins[it]);
        let end = self.begins.get(begins).map_or(self.query.len(), |it| it.1);
        // At the end of the text nothing stands.
        let at = if at >= self.text.len() { end } else { token.1 };
        let number = self.numbers.iter().find(|number| number.start == at);
        if let Some(number) = number.filter(|number| !is_index(self.number(number))) {
            return self.wrong(
                at,
                &format!(
                    "{} cannot stand here: an index is an integer from \
                     -{JSONPATH_INTEGER_MAX} to {JSONPATH_INTEGER_MAX}",
                    abridged(self.number(number))
                ),
            );
        }
        self.wrong(at, what)
    }

    /// What is wrong at a place of the query.
    pub(super) fn wrong(&self, at: usize, what: &str) -> Error {
        Error::bad_input(format!(
            "not a JSONPath query (RFC 9535): {what}, at {} of {:?}",
            position(self.query, at),
            abridged(self.query)
        ))
    }
}

/// Whether the text of a number is an index that RFC 9535 §2.1 allows.
fn is_index(number: &str) -> bool {
    let integer = number.parse::<i64>().ok();
    number != "-0" && integer.is_some_and(|it| it.unsigned_abs() <= JSONPATH_INTEGER_MAX)
}

enum Bracket {
    Bracket,
    /// A parenthesis, of a function's arguments or not.
    Parenthesis(Option<(Function, usize)>),
}

/// What stands before the next token, as far as that matters.
#[derive(Clone, Copy)]
enum Before {
    Comparison,
    /// The end of `match(…)` or `search(…)`.
    Test(Function, usize),
    /// A name, a string, a number, or `true`, `false` or `null`.
    Operand,
    Other,
}

struct TextTokens<'q> {
    rewritten: Rewritten<'q>,
    at: usize,
    open: Vec<Bracket>,
    before: Before,
}

impl<'q> TextTokens<'q> {
    fn next(&mut self) -> Result<()> {
        let rest = self.rest();
        let bytes = space_bytes(rest);
        if bytes > 0 {
            return self.space(bytes);
        }
        if let Some(operator) = COMPARISONS.iter().find(|it| rest.starts_with(**it)) {
            if let Before::Test(function, at) = self.before {
                return Err(self.compared(function, at));
            }
            self.take(operator.len(), operator);
            self.before = Before::Comparison;
            return Ok(());
        }
        let before = std::mem::replace(&mut self.before, Before::Other);
        let (number, name) = (number_bytes(rest), name_bytes(rest));
        let operand = number.or(name).is_some() || rest.starts_with(['\'', '"', '$', '@']);
        if operand && matches!(before, Before::Operand) {
            return Err(self.wrong("an operator is missing between two values"));
        }
        if let Some(bytes) = number {
            return self.number(bytes);
        }
        if let Some(bytes) = name {
            return self.word(bytes, before);
        }
        match rest.as_bytes() {
            [b'\'' | b'"', ..] => self.string(),
            [b'.', ..] => self.dots(),
            [b'[', ..] => self.open(Bracket::Bracket, "["),
            [b'(', ..] => self.open(Bracket::Parenthesis(None), "("),
            [b']' | b')', ..] => {
                self.close();
                Ok(())
            }
            [b'&', b'&', ..] | [b'|', b'|', ..] => {
                self.take(2, &rest[..2]);
                Ok(())
            }
            [b'$' | b'@' | b'*' | b'?' | b'!' | b',' | b':', ..] => {
                self.take(1, &rest[..1]);
                Ok(())
            }
            _ => Err(self.no_token(rest)),
        }
    }

    fn rest(&self) -> &'q str {
        &self.rewritten.query[self.at..]
    }

    /// Takes so many bytes of the query, for which the crate is given `stand_in`.
    fn take(&mut self, bytes: usize, stand_in: &str) {
        let begin = (self.rewritten.text.len(), self.at);
        self.rewritten.begins.push(begin);
        self.rewritten.text.push_str(stand_in);
        self.at += bytes;
    }

    fn space(&mut self, bytes: usize) -> Result<()> {
        if self.at == 0 || bytes == self.rest().len() {
            return Err(self.wrong("a query neither begins nor ends with space"));
        }
        self.take(bytes, " ");
        Ok(())
    }

    fn number(&mut self, bytes: usize) -> Result<()> {
        let number = &self.rest()[..bytes];
        let behind = &self.rest()[bytes..];
        if behind.starts_with(|character: char| character.is_ascii_digit()) {
            return Err(self.wrong("a number begins with a needless zero"));
        }
        if name_bytes(behind).is_some() {
            return Err(self.wrong("a number is followed by a name"));
        }
        self.rewritten.numbers.push(self.at..self.at + bytes);
        let stands = is_index(number) || number == "-0";
        self.take(bytes, if stands { number } else { NO_INDEX });
        self.before = Before::Operand;
        Ok(())
    }

    fn name(&mut self, bytes: usize, name: String, quote: &str) {
        let number = self.rewritten.names.len();
        self.rewritten.names.push(name);
        self.take(bytes, &format!("{quote}n{number}{quote}"));
        self.before = Before::Operand;
    }

    fn string(&mut self) -> Result<()> {
        match string(self.rest()) {
            Ok((text, bytes)) => {
                self.name(bytes, text, "'");
                Ok(())
            }
            Err((bytes, what)) => {
                self.at += bytes;
                Err(self.wrong(what))
            }
        }
    }

    /// `.` or `..`, and what follows directly.
    fn dots(&mut self) -> Result<()> {
        let dots = if self.rest().starts_with("..") { 2 } else { 1 };
        self.take(dots, &self.rest()[..dots]);
        let rest = self.rest();
        if let Some(bytes) = name_bytes(rest) {
            self.name(bytes, rest[..bytes].to_owned(), "");
            return Ok(());
        }
        match (dots, rest.as_bytes().first()) {
            (_, Some(b'*')) | (2, Some(b'[')) => Ok(()),
            (1, _) => Err(self.wrong("expected a name or `*` directly behind `.`")),
            _ => Err(self.wrong("expected a name, `*` or `[` directly behind `..`")),
        }
    }

    /// A name that does not stand behind a dot: of a function, or `true`, `false`, `null`.
    fn word(&mut self, bytes: usize, before: Before) -> Result<()> {
        let word = &self.rest()[..bytes];
        let called = self.rest()[bytes..].starts_with('(');
        if !called && matches!(word, "true" | "false" | "null") {
            self.take(bytes, word);
            self.before = Before::Operand;
            return Ok(());
        }
        let Some(function) = Function::of(word).filter(|_| called) else {
            return Err(self.unknown(word, called));
        };
        if function.is_test() && matches!(before, Before::Comparison) {
            return Err(self.compared(function, self.at));
        }
        let at = self.at;
        self.rewritten.functions.push((function, at));
        self.take(bytes, function.stand_in());
        self.open(Bracket::Parenthesis(Some((function, at))), "(")
    }

    fn unknown(&self, word: &str, called: bool) -> Error {
        let word = abridged(word);
        self.wrong(&match (called, Function::of(&word)) {
            (true, _) => format!(
                "there is no function `{word}`, only length, count, value, match and search"
            ),
            (false, Some(_)) => format!("expected `(` directly behind `{word}`"),
            (false, None) => format!("`{word}` means nothing here: strings need quotes"),
        })
    }

    fn open(&mut self, open: Bracket, text: &str) -> Result<()> {
        self.open.push(open);
        if self.open.len() > JSONPATH_BRACKETS_MAX {
            return Err(self.too_complex(
                Limit::new("jsonPathBrackets", JSONPATH_BRACKETS_MAX),
                format_args!(
                    "brackets and parentheses nest deeper than {JSONPATH_BRACKETS_MAX} levels"
                ),
            ));
        }
        let call = |open: &&Bracket| matches!(open, Bracket::Parenthesis(Some(_)));
        if self.open.iter().filter(call).count() > JSONPATH_FUNCTIONS_MAX {
            return Err(self.too_complex(
                Limit::new("jsonPathFunctions", JSONPATH_FUNCTIONS_MAX),
                format_args!(
                    "functions stand inside one another deeper than {JSONPATH_FUNCTIONS_MAX} levels"
                ),
            ));
        }
        self.take(1, text);
        Ok(())
    }

    /// Whether the brackets match is left to the crate.
    fn close(&mut self) {
        if let Some(Bracket::Parenthesis(Some((function, at)))) = self.open.pop()
            && function.is_test()
        {
            self.before = Before::Test(function, at);
        }
        self.take(1, &self.rest()[..1]);
    }

    fn no_token(&self, rest: &str) -> Error {
        let character = rest.chars().next().unwrap_or_default();
        self.wrong(&match character {
            '=' => "expected `==`".to_owned(),
            '&' | '|' => format!("expected `{character}{character}`"),
            _ => format!("{character:?} means nothing here"),
        })
    }

    fn compared(&self, function: Function, at: usize) -> Error {
        let what = format!(
            "`{}` holds or does not hold, and cannot be compared",
            function.name()
        );
        self.rewritten.wrong(at, &what)
    }

    fn wrong(&self, what: &str) -> Error {
        self.rewritten.wrong(self.at, what)
    }

    fn too_complex(&self, limit: Limit, what: std::fmt::Arguments<'_>) -> Error {
        let place = position(self.rewritten.query, self.at);
        let message = format!("in the JSONPath {what}, which is the limit, at {place}");
        Error::too_complex(limit, message)
    }
}

/// The longer of those that begin alike first.
const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

fn space_bytes(text: &str) -> usize {
    let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    text.bytes().take_while(space).count()
}
