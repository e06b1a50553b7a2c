//! A query that is well-formed and well-typed (RFC 9535 §2.4.3).

use super::super::path::SegmentRef;
use super::super::tree::Tree;
use crate::document::regexp::Regexp;

/// A segment of a query (§2.5).
#[derive(Debug, PartialEq)]
pub(super) enum QuerySegment {
    /// What the selectors select of each node, one selector after the other.
    Child(Vec<Selector>),
    /// The same, of each node and of all its descendants.
    Descendant(Vec<Selector>),
}

/// A selector (§2.3).
#[derive(Debug, PartialEq)]
pub(super) enum Selector {
    Name(String),
    /// A negative index counts from the end.
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Wildcard,
    Filter(LogicalExpression),
}

/// A logical expression about the current node (§2.3.5).
#[derive(Debug, PartialEq)]
pub(super) enum LogicalExpression {
    Or(Vec<LogicalExpression>),
    And(Vec<LogicalExpression>),
    Not(Box<LogicalExpression>),
    /// The query selects a node.
    Exists(FilterQuery),
    Comparison(Comparable, ComparisonOp, Comparable),
    /// `match` or `search` (§2.4.6, §2.4.7).
    Match(Comparable, Pattern),
}

/// The second argument of `match` or `search`.
#[derive(Debug, PartialEq)]
pub(super) enum Pattern {
    /// A literal.
    Fixed(Regexp),
    /// A value that the document determines; `whole` if all of the text has to match.
    Dynamic { value: Comparable, whole: bool },
}

/// A comparison operator (§2.3.5.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ComparisonOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An expression that yields one value, or nothing (`ValueType`, §2.4.1).
#[derive(Debug, PartialEq)]
pub(super) enum Comparable {
    Literal(Tree),
    Query(SingularQuery),
    Function(FunctionExpr),
}

/// A call of a function that yields a value (§2.4).
#[derive(Debug, PartialEq)]
pub(super) enum FunctionExpr {
    Length(Box<Comparable>),
    Count(FilterQuery),
    Value(FilterQuery),
}

/// A query inside a filter (§2.3.5.1).
#[derive(Debug, PartialEq)]
pub(super) struct FilterQuery {
    /// Whether it starts at `$`, and not at `@`.
    pub(super) from_root: bool,
    pub(super) segments: Vec<QuerySegment>,
}

/// A query of which every segment is [singular](QuerySegment::singular) (§2.3.5.1).
#[derive(Debug, PartialEq)]
pub(super) struct SingularQuery(FilterQuery);

/// A segment that selects at most one node.
#[derive(Clone, Copy, Debug)]
pub(super) enum SingularSegment<'q> {
    Name(&'q str),
    Index(i64),
}

impl QuerySegment {
    /// The segment, if it selects at most one node.
    pub(super) fn singular(&self) -> Option<SingularSegment<'_>> {
        match self {
            Self::Child(selectors) => match &selectors[..] {
                [Selector::Name(name)] => Some(SingularSegment::Name(name)),
                [Selector::Index(index)] => Some(SingularSegment::Index(*index)),
                _ => None,
            },
            Self::Descendant(_) => None,
        }
    }

    /// The segment as a step of a path, if it selects the same place in every value.
    pub(super) fn place(&self) -> Option<SegmentRef<'_>> {
        match self.singular()? {
            SingularSegment::Name(name) => Some(SegmentRef::Key(name)),
            SingularSegment::Index(index) => u64::try_from(index).ok().map(SegmentRef::Index),
        }
    }

    /// Calls `visit` with every query from the root in the filters of this segment.
    pub(super) fn visit_from_root<'q>(&'q self, visit: &mut impl FnMut(&'q FilterQuery)) {
        let (Self::Child(selectors) | Self::Descendant(selectors)) = self;
        for selector in selectors {
            if let Selector::Filter(expression) = selector {
                expression.visit_from_root(visit);
            }
        }
    }
}

impl LogicalExpression {
    fn visit_from_root<'q>(&'q self, visit: &mut impl FnMut(&'q FilterQuery)) {
        match self {
            Self::Or(operands) | Self::And(operands) => {
                for operand in operands {
                    operand.visit_from_root(visit);
                }
            }
            Self::Not(operand) => operand.visit_from_root(visit),
            Self::Exists(query) => query.visit_from_root(visit),
            Self::Comparison(left, _, right) => {
                left.visit_from_root(visit);
                right.visit_from_root(visit);
            }
            Self::Match(text, pattern) => {
                text.visit_from_root(visit);
                if let Pattern::Dynamic { value, .. } = pattern {
                    value.visit_from_root(visit);
                }
            }
        }
    }
}

impl Comparable {
    fn visit_from_root<'q>(&'q self, visit: &mut impl FnMut(&'q FilterQuery)) {
        match self {
            Self::Literal(_) => {}
            Self::Query(SingularQuery(query))
            | Self::Function(FunctionExpr::Count(query) | FunctionExpr::Value(query)) => {
                query.visit_from_root(visit);
            }
            Self::Function(FunctionExpr::Length(value)) => value.visit_from_root(visit),
        }
    }
}

impl FilterQuery {
    fn visit_from_root<'q>(&'q self, visit: &mut impl FnMut(&'q Self)) {
        if self.from_root {
            visit(self);
        }
        for segment in &self.segments {
            segment.visit_from_root(visit);
        }
    }
}

impl SingularQuery {
    /// The query, if it is singular.
    pub(super) fn of(query: FilterQuery) -> Option<Self> {
        let singular = |segment: &QuerySegment| segment.singular().is_some();
        query.segments.iter().all(singular).then_some(Self(query))
    }

    /// The query as one that may select any number of nodes.
    pub(super) fn query(&self) -> &FilterQuery {
        &self.0
    }
}
