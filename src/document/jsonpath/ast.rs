//! A query that is well-formed and well-typed (RFC 9535 §2.4.3).

use super::super::path::SegmentRef;
use super::super::tree::Tree;
use super::pattern::Pattern;

/// A segment of a query (§2.5).
#[derive(Debug, PartialEq)]
pub(super) enum QuerySegment {
    /// Of each node, what the selectors select, one after the other.
    Child(Vec<Selector>),
    /// The same of each node and of all that is below it.
    Descendant(Vec<Selector>),
}

/// A selector (§2.3).
#[derive(Debug, PartialEq)]
pub(super) enum Selector {
    Name(String),
    /// Negative ones count from the end.
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Each,
    Filter(LogicalExpression),
}

/// A logical expression about the current node (§2.3.5).
#[derive(Debug, PartialEq)]
pub(super) enum LogicalExpression {
    Any(Vec<LogicalExpression>),
    All(Vec<LogicalExpression>),
    Not(Box<LogicalExpression>),
    Exists(Nodes),
    Compare(Value, Comparison, Value),
    Matches(Value, Pattern),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A query inside a filter.
#[derive(Debug, PartialEq)]
pub(super) struct Nodes {
    /// `$`, and not `@`.
    pub(super) from_root: bool,
    pub(super) steps: Vec<QuerySegment>,
}

/// What is one value, or nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Literal(Tree),
    /// A query of which every step is [`QuerySegment::singular`].
    Node(Nodes),
    Length(Box<Value>),
    Count(Nodes),
    /// The value of the one node of a query.
    Only(Nodes),
}

/// A step that selects at most one node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Singular<'q> {
    Name(&'q str),
    Index(i64),
}

impl QuerySegment {
    pub(super) fn singular(&self) -> Option<Singular<'_>> {
        match self {
            Self::Child(selectors) => match &selectors[..] {
                [Selector::Name(name)] => Some(Singular::Name(name)),
                [Selector::Index(index)] => Some(Singular::Index(*index)),
                _ => None,
            },
            Self::Descendant(_) => None,
        }
    }

    /// The one place further down at which all that it selects stands, whatever the value.
    pub(super) fn place(&self) -> Option<SegmentRef<'_>> {
        match self.singular()? {
            Singular::Name(name) => Some(SegmentRef::Key(name)),
            Singular::Index(index) => u64::try_from(index).ok().map(SegmentRef::Index),
        }
    }

    /// Tells `visit` every query from the root that a filter of this step has inside.
    pub(super) fn visit_from_root<'q>(&'q self, visit: &mut impl FnMut(&'q Nodes)) {
        let (Self::Child(selectors) | Self::Descendant(selectors)) = self;
        for selector in selectors {
            if let Selector::Filter(test) = selector {
                test.visit_from_root(visit);
            }
        }
    }
}

impl LogicalExpression {
    fn visit_from_root<'q>(&'q self, visit: &mut impl FnMut(&'q Nodes)) {
        match self {
            Self::Any(tests) | Self::All(tests) => {
                for test in tests {
                    test.visit_from_root(visit);
                }
            }
            Self::Not(test) => test.visit_from_root(visit),
            Self::Exists(nodes) => nodes.visit_from_root(visit),
            Self::Compare(a, _, b) => {
                a.visit_from_root(visit);
                b.visit_from_root(visit);
            }
            Self::Matches(text, pattern) => {
                text.visit_from_root(visit);
                if let Pattern::Told { value, .. } = pattern {
                    value.visit_from_root(visit);
                }
            }
        }
    }
}

impl Value {
    fn visit_from_root<'q>(&'q self, visit: &mut impl FnMut(&'q Nodes)) {
        match self {
            Self::Literal(_) => {}
            Self::Node(nodes) | Self::Count(nodes) | Self::Only(nodes) => {
                nodes.visit_from_root(visit);
            }
            Self::Length(value) => value.visit_from_root(visit),
        }
    }
}

impl Nodes {
    fn visit_from_root<'q>(&'q self, visit: &mut impl FnMut(&'q Self)) {
        if self.from_root {
            visit(self);
        }
        self.steps
            .iter()
            .for_each(|step| step.visit_from_root(visit));
    }

    pub(super) fn is_singular(&self) -> bool {
        self.steps.iter().all(|step| step.singular().is_some())
    }
}
