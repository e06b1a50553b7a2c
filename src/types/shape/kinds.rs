//! The kinds of values that JSON Schema names.

use crate::document::leaf::{Kind, Leaf};

/// A set of the kinds of JSON Schema's `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// `null`
    pub const NULL: Self = Self(1);
    /// `boolean`
    pub const BOOLEAN: Self = Self(2);
    /// `object`
    pub const OBJECT: Self = Self(4);
    /// `array`
    pub const ARRAY: Self = Self(8);
    /// `string`
    pub const STRING: Self = Self(16);
    /// `integer`
    pub const INTEGER: Self = Self(32);
    /// `number`, which includes the integers.
    pub const NUMBER: Self = Self(32 | 64);
    /// All kinds.
    pub const ALL: Self = Self(127);

    /// The kinds with their names in JSON Schema.
    pub(in crate::types) const NAMED: [(&'static str, Self); 7] = [
        ("object", Self::OBJECT),
        ("array", Self::ARRAY),
        ("string", Self::STRING),
        ("number", Self::NUMBER),
        ("integer", Self::INTEGER),
        ("boolean", Self::BOOLEAN),
        ("null", Self::NULL),
    ];

    /// The kinds of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The kinds that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The kinds in both sets.
    #[must_use]
    pub const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether all kinds of `other` are in this set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The smallest set with the kind of a leaf.
    pub fn of_leaf(leaf: &Leaf<'_>) -> Self {
        match leaf {
            Leaf::Null => Self::NULL,
            Leaf::Bool(_) => Self::BOOLEAN,
            Leaf::Integer(_) | Leaf::BigInteger(_) => Self::INTEGER,
            Leaf::Double(double) if double.fract() == 0.0 => Self::INTEGER,
            Leaf::Double(_) => Self(64),
            Leaf::String(_) => Self::STRING,
        }
    }

    /// The set with one kind of values, numbers with and without a fraction.
    pub fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Object => Self::OBJECT,
            Kind::Array => Self::ARRAY,
            Kind::String => Self::STRING,
            Kind::Number => Self::NUMBER,
            Kind::Boolean => Self::BOOLEAN,
            Kind::Null => Self::NULL,
        }
    }

    /// The names of the kinds, as in `type`.
    pub fn names(self) -> Vec<&'static str> {
        let named = Self::NAMED.into_iter().filter(|(_, kind)| self.has(*kind));
        let is_part = |name: &str| name == "integer" && self.has(Self::NUMBER);
        named
            .map(|(name, _)| name)
            .filter(|name| !is_part(name))
            .collect()
    }
}
