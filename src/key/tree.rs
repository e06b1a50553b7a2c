//! Builds a value in memory from sorted pairs.

use std::borrow::Cow;

use super::decode_pairs::{Assemble, Decoding, Malformed};
use super::tuple::decode_leaf;
use crate::document::assemble::Misshapen;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::SegmentRef;
use crate::document::tree::Tree;
use crate::limits::TREE_LEVELS_MAX;

/// Why pairs do not make a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTree {
    /// The pairs are malformed, or there are none.
    Malformed(Malformed),
    /// The value is deeper than [`TREE_LEVELS_MAX`].
    TooDeep,
}

impl From<Malformed> for NoTree {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

/// Builds the value from its pairs, in key order. The keys are relative to the root of the value.
///
/// # Errors
/// The pairs are malformed, or the value is too deep.
pub fn tree<'p>(pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> Result<Tree, NoTree> {
    let mut decoding = Decoding::new(Growing::default());
    for (key, value) in pairs {
        decoding.push(key, value)?;
    }
    let mut growing = decoding.finish()?;
    growing.close_to(0);
    Ok(growing.value.ok_or(Malformed::Value)?)
}

/// A value under construction.
#[derive(Default)]
struct Growing {
    open: Vec<PendingContainer>,
    /// The value at the place that was entered last, once it is complete.
    value: Option<Tree>,
}

/// A container whose last member or element is not complete.
enum PendingContainer {
    Object(Vec<(String, Tree)>, String),
    Array(Vec<Tree>),
}

impl Growing {
    fn close_to(&mut self, level: usize) {
        while self.open.len() > level {
            self.settle();
            self.value = self.open.pop().map(|open| match open {
                PendingContainer::Object(members, _) => Tree::Object(members),
                PendingContainer::Array(elements) => Tree::Array(elements),
            });
        }
    }

    /// Moves the complete value into its container.
    fn settle(&mut self) {
        let Some(value) = self.value.take() else {
            return;
        };
        match self.open.last_mut() {
            Some(PendingContainer::Object(members, name)) => {
                members.push((std::mem::take(name), value));
            }
            Some(PendingContainer::Array(elements)) => elements.push(value),
            None => self.value = Some(value),
        }
    }

    fn begin(&mut self, segment: SegmentRef<'_>) -> Result<(), NoTree> {
        if self.open.len() >= TREE_LEVELS_MAX {
            return Err(NoTree::TooDeep);
        }
        self.open.push(match segment {
            SegmentRef::Key(_) => PendingContainer::Object(Vec::new(), String::new()),
            SegmentRef::Index(_) => PendingContainer::Array(Vec::new()),
        });
        Ok(())
    }
}

impl Assemble for Growing {
    type Error = NoTree;

    fn enter(&mut self, level: usize, segment: SegmentRef<'_>) -> Result<(), NoTree> {
        self.close_to(level + 1);
        if self.open.len() > level {
            self.settle();
        } else {
            self.begin(segment)?;
        }
        match (self.open.last_mut(), segment) {
            (Some(PendingContainer::Object(_, next)), SegmentRef::Key(name)) => {
                name.clone_into(next);
            }
            (Some(PendingContainer::Array(elements)), SegmentRef::Index(index)) => {
                if elements.len() as u64 != index {
                    return Err(Malformed::from(Misshapen::Hole).into());
                }
            }
            _ => return Err(Malformed::from(Misshapen::MixedSegments).into()),
        }
        Ok(())
    }

    fn leaf(&mut self, value: &[u8]) -> Result<(), NoTree> {
        self.value = Some(Tree::Leaf(
            match decode_leaf(value).ok_or(Malformed::Value)? {
                Leaf::Null => Leaf::Null,
                Leaf::Bool(value) => Leaf::Bool(value),
                Leaf::Integer(integer) => Leaf::Integer(integer),
                Leaf::BigInteger(integer) => Leaf::BigInteger(integer),
                Leaf::Double(double) => Leaf::Double(double),
                Leaf::String(text) => Leaf::String(Cow::Owned(text.into_owned())),
            },
        ));
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), NoTree> {
        self.value = Some(Tree::Leaf(Leaf::String(Cow::Owned(text.to_owned()))));
        Ok(())
    }

    fn empty(&mut self, kind: Kind) -> Result<(), NoTree> {
        self.value = Some(match kind {
            Kind::Object => Tree::Object(Vec::new()),
            _ => Tree::Array(Vec::new()),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::path::{Place, Segment};
    use crate::key::{JsonText, Leaves, append_place, pack_leaf};
    use crate::limits::VALUE_BYTES_MAX;

    fn pairs_of(places: &[(Place, &str)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let pair = |(place, number): &(Place, &str)| {
            let mut key = Vec::new();
            append_place(&mut key, place);
            (key, pack_leaf(&Leaf::number(number).expect("a number")))
        };
        places.iter().map(pair).collect()
    }

    fn of(pairs: &[(Vec<u8>, Vec<u8>)]) -> Result<Tree, NoTree> {
        tree(pairs.iter().map(|(key, value)| (&key[..], &value[..])))
    }

    #[test]
    fn trees_from_pairs_equal_trees_from_text() {
        let long = "é".repeat(VALUE_BYTES_MAX);
        for text in [
            "null",
            "-1.5e300",
            "[]",
            "{}",
            r#"{"":{"":[]},"a":[[],{},[[1]],"x"],"b\u0000":{"c":true},"b":-0.0}"#,
            "[123456789012345678901234567890,{\"a\":{\"b\":1},\"c\":2},false]",
            &format!("[\"{long}\",{{\"a\":\"{long}\"}}]"),
            &format!("\"{long}\""),
        ] {
            let leaves = Leaves::from_json(text).expect("JSON");
            let expected = Tree::from_json(text).expect("JSON");
            assert!(tree(leaves.iter()) == Ok(expected), "{text:.60}");
        }
    }

    #[test]
    fn trees_reject_the_same_pairs_as_the_text_writer() {
        use Segment::{Index, Key};
        let key = |name: &str| Key(name.to_owned());
        for places in [
            vec![(vec![], "1"), (vec![key("a")], "1")],
            vec![(vec![key("a")], "1"), (vec![key("a"), key("b")], "1")],
            vec![(vec![key("a")], "1"), (vec![Index(0)], "1")],
            vec![(vec![Index(0)], "1"), (vec![Index(2)], "1")],
            vec![(vec![key("a"), Index(1)], "1")],
        ] {
            let places: Vec<_> = places.into_iter().map(|(it, n)| (Place(it), n)).collect();
            let pairs = pairs_of(&places);
            let mut out = Vec::new();
            let mut text = JsonText::new(&mut out);
            let mut errors = pairs.iter().map(|(key, value)| text.push(key, value));
            let refused = errors.find_map(Result::err).expect("no document");
            assert_eq!(of(&pairs), Err(NoTree::Malformed(refused)), "{places:?}");
        }
        assert_eq!(of(&[]), Err(NoTree::Malformed(Malformed::Value)));
        assert_eq!(
            of(&[(vec![], vec![0x99])]),
            Err(NoTree::Malformed(Malformed::Value))
        );
    }

    #[test]
    fn a_value_deeper_than_the_limit_is_refused() {
        let nested = |levels| vec![(Place(vec![Segment::Index(0); levels]), "1")];
        of(&pairs_of(&nested(TREE_LEVELS_MAX))).expect("at the limit");
        let past = of(&pairs_of(&nested(TREE_LEVELS_MAX + 1)));
        assert_eq!(past, Err(NoTree::TooDeep));
    }
}
