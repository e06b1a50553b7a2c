//! What the crate made of a query's text, type-checked, with the names and numbers of the query put
//! in again for their stand-ins.

use std::borrow::Cow;

use jsonpath_rust::parser::errors::JsonPathError;
use jsonpath_rust::parser::model::{self, FilterAtom, FnArg, Literal, SingularQuerySegment};
use jsonpath_rust::parser::parse_json_path;
use pest::error::{ErrorVariant, InputLocation};

use super::super::leaf::Leaf;
use super::super::tree::Tree;
use super::ast::{Comparison, LogicalExpression, Nodes, QuerySegment, Selector, Value};
use super::pattern::{Pattern, Regexp};
use super::text::{Function, Rewritten};
use super::wording::expected;
use crate::error::{Error, Limit, Result};
use crate::limits::REGEXPS_MAX;

/// The steps of a query, and how many regular expressions it has.
///
/// # Errors
/// As [`super::Query::parse`].
pub(super) fn parse(query: &str) -> Result<(Vec<QuerySegment>, usize)> {
    let rewritten = Rewritten::of(query)?;
    let parsed = parse_json_path(&rewritten.text).map_err(|error| refused(&rewritten, &error))?;
    let mut reading = QueryParser {
        query: &rewritten,
        numbers: 0,
        functions: 0,
        regexps: 0,
    };
    let steps = reading.steps(&parsed.segments)?;
    Ok((steps, reading.regexps))
}

/// The crate's error in words, at its place in the query.
fn refused(query: &Rewritten<'_>, error: &JsonPathError) -> Error {
    let JsonPathError::PestError(error) = error else {
        return query.wrong(0, "it does not fit together");
    };
    let at = match error.location {
        InputLocation::Pos(at) => at,
        InputLocation::Span((begin, _)) => begin,
    };
    match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => query.wrong_there(at, &expected(positives)),
        ErrorVariant::CustomError { message } => query.wrong_there(at, message),
    }
}

/// Reads what the crate made, in the order of the text, so that the next number and the next
/// function are those of the text.
struct QueryParser<'r, 'q> {
    query: &'r Rewritten<'q>,
    numbers: usize,
    functions: usize,
    regexps: usize,
}

impl QueryParser<'_, '_> {
    fn steps(&mut self, segments: &[model::Segment]) -> Result<Vec<QuerySegment>> {
        segments.iter().map(|segment| self.step(segment)).collect()
    }

    fn step(&mut self, segment: &model::Segment) -> Result<QuerySegment> {
        match segment {
            model::Segment::Descendant(segment) => match self.step(segment)? {
                QuerySegment::Child(selectors) | QuerySegment::Descendant(selectors) => {
                    Ok(QuerySegment::Descendant(selectors))
                }
            },
            model::Segment::Selector(selector) => {
                Ok(QuerySegment::Child(vec![self.selector(selector)?]))
            }
            model::Segment::Selectors(selectors) => {
                let selectors = selectors.iter().map(|selector| self.selector(selector));
                selectors.collect::<Result<_>>().map(QuerySegment::Child)
            }
        }
    }

    fn selector(&mut self, selector: &model::Selector) -> Result<Selector> {
        Ok(match selector {
            model::Selector::Name(name) => Selector::Name(self.name(name)?),
            model::Selector::Wildcard => Selector::Each,
            model::Selector::Index(index) => Selector::Index(self.index(*index)?),
            model::Selector::Slice(start, end, step) => Selector::Slice {
                start: start.map(|index| self.index(index)).transpose()?,
                end: end.map(|index| self.index(index)).transpose()?,
                step: step.map_or(Ok(1), |step| self.index(step))?,
            },
            model::Selector::Filter(filter) => Selector::Filter(self.test(filter)?),
        })
    }

    fn test(&mut self, filter: &model::Filter) -> Result<LogicalExpression> {
        let mut all = |filters: &[model::Filter]| {
            let tests = filters.iter().map(|filter| self.test(filter));
            tests.collect::<Result<Vec<_>>>()
        };
        match filter {
            model::Filter::Or(filters) => Ok(LogicalExpression::Any(all(filters)?)),
            model::Filter::And(filters) => Ok(LogicalExpression::All(all(filters)?)),
            model::Filter::Atom(FilterAtom::Filter { expr, not }) => {
                Ok(negated(self.test(expr)?, *not))
            }
            model::Filter::Atom(FilterAtom::Test { expr, not }) => {
                Ok(negated(self.basic(expr)?, *not))
            }
            model::Filter::Atom(FilterAtom::Comparison(comparison)) => self.comparison(comparison),
        }
    }

    /// A query, which holds if it selects anything, or a function.
    fn basic(&mut self, test: &model::Test) -> Result<LogicalExpression> {
        let model::Test::Function(called) = test else {
            return self.nodes(test).map(LogicalExpression::Exists);
        };
        let (function, at, arguments) = self.called(called)?;
        let [text, pattern] = arguments[..] else {
            return Err(self.query.wrong(
                at,
                &format!(
                    "the result of `{}` is a value, which has to be compared",
                    function.name()
                ),
            ));
        };
        let text = self.argument(text, function, at)?;
        let whole = function == Function::Match;
        let pattern = match self.argument(pattern, function, at)? {
            Value::Literal(Tree::Leaf(Leaf::String(text))) => {
                self.regexps += 1;
                if self.regexps > REGEXPS_MAX {
                    return Err(Error::too_complex(
                        Limit::new("regexps", REGEXPS_MAX),
                        format!(
                            "the JSONPath has more than {REGEXPS_MAX} regular expressions, which \
                             is the limit"
                        ),
                    ));
                }
                Pattern::Fixed(Regexp::compile(&text, whole)?)
            }
            value => Pattern::Told { value, whole },
        };
        Ok(LogicalExpression::Matches(text, pattern))
    }

    fn nodes(&mut self, test: &model::Test) -> Result<Nodes> {
        let (from_root, segments) = match test {
            model::Test::RelQuery(segments) => (false, segments),
            model::Test::AbsQuery(query) => (true, &query.segments),
            model::Test::Function(_) => return Err(apart()),
        };
        let steps = self.steps(segments)?;
        Ok(Nodes { from_root, steps })
    }

    fn comparison(&mut self, comparison: &model::Comparison) -> Result<LogicalExpression> {
        let (operator, a, b) = match comparison {
            model::Comparison::Eq(a, b) => (Comparison::Equal, a, b),
            model::Comparison::Ne(a, b) => (Comparison::NotEqual, a, b),
            model::Comparison::Gt(a, b) => (Comparison::Greater, a, b),
            model::Comparison::Gte(a, b) => (Comparison::GreaterOrEqual, a, b),
            model::Comparison::Lt(a, b) => (Comparison::Less, a, b),
            model::Comparison::Lte(a, b) => (Comparison::LessOrEqual, a, b),
        };
        Ok(LogicalExpression::Compare(
            self.comparable(a)?,
            operator,
            self.comparable(b)?,
        ))
    }

    fn comparable(&mut self, comparable: &model::Comparable) -> Result<Value> {
        match comparable {
            model::Comparable::Literal(literal) => self.literal(literal).map(Value::Literal),
            model::Comparable::Function(called) => self.function(called),
            model::Comparable::SingularQuery(query) => {
                let (from_root, segments) = match query {
                    model::SingularQuery::Root(segments) => (true, segments),
                    model::SingularQuery::Current(segments) => (false, segments),
                };
                let steps = segments.iter().map(|segment| {
                    Ok(QuerySegment::Child(vec![match segment {
                        SingularQuerySegment::Name(name) => Selector::Name(self.name(name)?),
                        SingularQuerySegment::Index(index) => Selector::Index(self.index(*index)?),
                    }]))
                });
                let steps = steps.collect::<Result<_>>()?;
                Ok(Value::Node(Nodes { from_root, steps }))
            }
        }
    }

    /// A function whose result is a value.
    fn function(&mut self, called: &model::TestFunction) -> Result<Value> {
        let (function, at, arguments) = self.called(called)?;
        let [argument] = arguments[..] else {
            return Err(apart());
        };
        if function == Function::Length {
            let value = self.argument(argument, function, at)?;
            return Ok(Value::Length(Box::new(value)));
        }
        let nodes = match argument {
            FnArg::Test(test) if !matches!(**test, model::Test::Function(_)) => self.nodes(test)?,
            _ => return Err(self.wants(function, at, "a query")),
        };
        Ok(match function {
            Function::Count => Value::Count(nodes),
            _ => Value::Only(nodes),
        })
    }

    /// An argument that has to be a value.
    fn argument(&mut self, argument: &FnArg, function: Function, at: usize) -> Result<Value> {
        const VALUE: &str = "a value, or a query that selects at most one node";
        match argument {
            FnArg::Literal(literal) => self.literal(literal).map(Value::Literal),
            FnArg::Test(test) => match &**test {
                model::Test::Function(called) => {
                    let next = self.query.functions.get(self.functions);
                    if next.is_some_and(|(function, _)| function.is_test()) {
                        return Err(self.wants(function, at, VALUE));
                    }
                    self.function(called)
                }
                test => match self.nodes(test)? {
                    nodes if nodes.is_singular() => Ok(Value::Node(nodes)),
                    _ => Err(self.wants(function, at, VALUE)),
                },
            },
            FnArg::Filter(_) => Err(self.wants(function, at, VALUE)),
        }
    }

    fn wants(&self, function: Function, at: usize, what: &str) -> Error {
        let function = function.name();
        let told = format!("an argument of `{function}` is not {what}");
        self.query.wrong(at, &told)
    }

    /// The function that is next in the text, and its arguments.
    fn called<'f>(
        &mut self,
        called: &'f model::TestFunction,
    ) -> Result<(Function, usize, Vec<&'f FnArg>)> {
        let arguments = match called {
            model::TestFunction::Value(argument) => vec![argument],
            model::TestFunction::Match(text, pattern) => vec![text, pattern],
            _ => return Err(apart()),
        };
        let (function, at) = *self.query.functions.get(self.functions).ok_or_else(apart)?;
        self.functions += 1;
        if function.is_test() != (arguments.len() == 2) {
            return Err(apart());
        }
        Ok((function, at, arguments))
    }

    fn literal(&mut self, literal: &Literal) -> Result<Tree> {
        Ok(Tree::Leaf(match literal {
            Literal::Int(_) | Literal::Float(_) => {
                let number = self.number()?;
                let at = number.start;
                let text = self.query.number(&number);
                Leaf::number(text).map_err(|error| self.query.wrong(at, error.message()))?
            }
            Literal::String(stand_in) => Leaf::String(Cow::Owned(self.name(stand_in)?)),
            Literal::Bool(value) => Leaf::Bool(*value),
            Literal::Null => Leaf::Null,
        }))
    }

    /// An index: the next number of the text, which the crate was given as it is.
    fn index(&mut self, index: i64) -> Result<i64> {
        let number = self.number()?;
        if self.query.number(&number).parse() != Ok(index) {
            return Err(apart());
        }
        Ok(index)
    }

    fn number(&mut self) -> Result<std::ops::Range<usize>> {
        let number = self.query.numbers.get(self.numbers).ok_or_else(apart)?;
        self.numbers += 1;
        Ok(number.clone())
    }

    fn name(&self, stand_in: &str) -> Result<String> {
        self.query
            .name(stand_in)
            .map(str::to_owned)
            .ok_or_else(apart)
    }
}

fn negated(test: LogicalExpression, not: bool) -> LogicalExpression {
    if not {
        LogicalExpression::Not(Box::new(test))
    } else {
        test
    }
}

/// The crate read something else than what it was given.
fn apart() -> Error {
    Error::internal("a JSONPath query and what its parser made of it do not go together")
}
