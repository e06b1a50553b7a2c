//! Checks all pairs of one value without building it.

use super::decode_pairs::{KeyStep, Malformed, Marker, common_prefix, shared_segments, step};
use super::tuple::{decode_leaf, decode_piece};
use crate::document::assemble::Misshapen;
use crate::document::json::whole_characters;

/// Checks the pairs of one value, in key order.
///
/// It reports a fault exactly where [`super::JsonText`] does. It then continues with the most
/// likely interpretation, so that one fault is reported once. Its memory is bounded by the length
/// of a path.
#[derive(Debug, Default)]
pub struct Verify {
    /// The packed path of the previous pair, as far as it is valid, and the ends of its segments.
    path: Vec<u8>,
    ends: Vec<usize>,
    /// The container of each segment of the path, and the container at the path, if any.
    open: Vec<Container>,
    at_path: AtPath,
    leaves: u64,
    levels: usize,
}

#[derive(Clone, Copy, Debug)]
enum Container {
    Object,
    /// The next expected index.
    Array(u64),
}

/// What the previous pair stored at its path.
#[derive(Debug, Default)]
enum AtPath {
    #[default]
    Nothing,
    Leaf,
    /// Pieces of a string: the next expected number, and the bytes of an incomplete character.
    Pieces(u64, Vec<u8>),
}

/// The faults found with a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// A fault of the pairs before this one, attributed to the last of them.
    pub before: Option<Malformed>,
    /// A fault of this pair.
    pub here: Option<Malformed>,
}

impl Verify {
    /// Checks the next pair. `key` is relative to the root of the value.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Verified {
        let same = common_prefix(&self.path, key);
        let shared = shared_segments(&self.ends, key, same);
        let at = shared.checked_sub(1).map_or(0, |last| self.ends[last]);
        let stays = shared == self.ends.len();
        if stays
            && let AtPath::Pieces(..) = self.at_path
            && let Some((KeyStep::Marker(Marker::Piece), bytes)) = step(&key[at..])
        {
            let here = self.piece(&key[at + bytes..], value).err();
            return Verified { before: None, here };
        }
        let before = self.finish();
        let leaf_above = stays && matches!(self.at_path, AtPath::Leaf);
        let misplaced = leaf_above.then_some(Misshapen::LeafWithChildren.into());
        self.ends.truncate(shared);
        self.open.truncate(shared + 1);
        let here = misplaced.or(self.place(key, value, at).err());
        Verified { before, here }
    }

    /// Ends the value. Returns the fault of the last string's pieces, if any.
    pub fn finish(&mut self) -> Option<Malformed> {
        let AtPath::Pieces(_, character) = &self.at_path else {
            return None;
        };
        let cut = !character.is_empty();
        self.at_path = AtPath::Leaf;
        cut.then_some(Malformed::Pieces)
    }

    /// The number of leaves. A split string counts as one.
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// The levels of objects and arrays so far.
    pub(super) fn levels(&self) -> usize {
        self.levels
    }

    /// Moves to the place of a pair, which shares its segments before `at` with the previous pair.
    /// Returns the first fault.
    fn place(&mut self, key: &[u8], value: &[u8], mut at: usize) -> Result<(), Malformed> {
        self.path.truncate(at);
        self.at_path = AtPath::Nothing;
        let mut placed = Ok(());
        while at < key.len() {
            let (found, bytes) = step(&key[at..]).ok_or(Malformed::Segment)?;
            let entered = match found {
                KeyStep::Key(_) => self.enter_member(),
                KeyStep::Index(index) => self.enter_element(index),
                KeyStep::Marker(marker) => {
                    let beside = self.open.len() > self.ends.len();
                    let written = self.mark(marker, &key[at + bytes..], value);
                    if beside {
                        placed = placed.and(Err(Misshapen::LeafWithChildren.into()));
                    }
                    return placed.and(written);
                }
            };
            placed = placed.and(entered.map_err(Malformed::from));
            self.path.extend_from_slice(&key[at..at + bytes]);
            at += bytes;
            self.ends.push(at);
        }
        self.leaf();
        let leaf = decode_leaf(value).map(|_| ()).ok_or(Malformed::Value);
        placed.and(leaf)
    }

    fn enter_member(&mut self) -> Result<(), Misshapen> {
        match self.open.get(self.ends.len()) {
            None => self.open.push(Container::Object),
            Some(Container::Object) => {}
            Some(Container::Array(_)) => return Err(Misshapen::MixedSegments),
        }
        Ok(())
    }

    fn enter_element(&mut self, index: u64) -> Result<(), Misshapen> {
        let level = self.ends.len();
        let before = self.open.get(level).copied();
        self.open.truncate(level);
        self.open.push(Container::Array(index.saturating_add(1)));
        match before {
            Some(Container::Object) => Err(Misshapen::MixedSegments),
            Some(Container::Array(next)) if next != index => Err(Misshapen::Hole),
            None if index != 0 => Err(Misshapen::Hole),
            _ => Ok(()),
        }
    }

    fn mark(&mut self, marker: Marker, rest: &[u8], value: &[u8]) -> Result<(), Malformed> {
        self.leaf();
        match (marker, rest) {
            (Marker::Piece, number) => {
                self.at_path = AtPath::Pieces(0, Vec::new());
                self.piece(number, value)
            }
            (_, [_, ..]) => Err(Malformed::Segment),
            (_, []) if value == [0] => {
                self.levels = self.levels.max(self.ends.len() + 1);
                Ok(())
            }
            (_, []) => Err(Malformed::Value),
        }
    }

    fn leaf(&mut self) {
        self.leaves += 1;
        self.levels = self.levels.max(self.ends.len());
        self.at_path = AtPath::Leaf;
    }

    /// Checks a piece of the string at the path. `number` is packed.
    fn piece(&mut self, number: &[u8], value: &[u8]) -> Result<(), Malformed> {
        let AtPath::Pieces(next, character) = &mut self.at_path else {
            return Err(Malformed::Pieces);
        };
        let found = match step(number) {
            Some((KeyStep::Index(found), bytes)) if bytes == number.len() => found,
            _ => return Err(Malformed::Pieces),
        };
        let follows = found == *next;
        *next = found.saturating_add(1);
        let piece = decode_piece(value).ok_or(Malformed::Value)?;
        if follows {
            return goes_on(character, &piece)
                .then_some(())
                .ok_or(Malformed::Pieces);
        }
        // After a missing piece, the text may continue in the middle of a character.
        let inside = piece.iter().take_while(|byte| **byte & 0xC0 == 0x80);
        let begins = inside.count();
        character.clear();
        goes_on(character, &piece[begins..]);
        Err(Malformed::Pieces)
    }
}

/// Whether `piece` continues valid UTF-8. Keeps an incomplete character at its end in `character`.
fn goes_on(character: &mut Vec<u8>, piece: &[u8]) -> bool {
    character.extend_from_slice(piece);
    let complete = whole_characters(character).map(str::len);
    character.drain(..complete.unwrap_or(character.len()));
    complete.is_some()
}

#[cfg(test)]
mod tests {
    use foundationdb_tuple::{Bytes, TuplePack, pack};

    use super::super::Leaves;
    use super::*;

    fn element(element: &impl TuplePack) -> Vec<u8> {
        pack(&(element,))
    }

    fn path(segments: &[Vec<u8>]) -> Vec<u8> {
        segments.concat()
    }

    /// The faults, each with the index of the pair that it is attributed to.
    fn found(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<(usize, Malformed)> {
        let mut verify = Verify::default();
        let mut found = Vec::new();
        for (at, (key, value)) in pairs.iter().enumerate() {
            let Verified { before, here } = verify.push(key, value);
            found.extend(before.map(|malformed| (at - 1, malformed)));
            found.extend(here.map(|malformed| (at, malformed)));
        }
        found.extend(
            verify
                .finish()
                .map(|malformed| (pairs.len() - 1, malformed)),
        );
        found
    }

    #[test]
    fn well_formed_documents_have_no_faults() {
        let long = "é\0".repeat(60_000);
        let json = format!(
            r#"{{"":{{"":[]}},"a":[[1],[{{}},"x"]],"a\u0000b":2,"b":"{}","c":{{"d":null}}}}"#,
            long.replace('\0', "\\u0000")
        );
        let leaves = Leaves::from_json(&json).expect("a document");
        let mut verify = Verify::default();
        for (key, value) in leaves.iter() {
            assert_eq!(verify.push(key, value), Verified::default());
        }
        assert_eq!(verify.finish(), None);
        assert_eq!(verify.leaves(), 7);
    }

    #[test]
    fn each_fault_is_reported_once_and_verification_continues() {
        let (one, null) = (|| element(&1), || vec![0]);
        let [a, b, c] = ["a", "b", "c"].map(|name| element(&name));
        let index = |index: i64| element(&index);
        let piece = |number: i64| [index(-3), index(number)].concat();
        let bytes = |bytes: &'static [u8]| element(&Bytes::from(bytes));
        let shape = Malformed::Shape;
        let cases = [
            // A hole is reported at the element after it, and a later hole again.
            (
                [0, 2, 3, 5].map(|at| (index(at), one())).to_vec(),
                vec![(1, shape(Misshapen::Hole)), (3, shape(Misshapen::Hole))],
            ),
            // Keys below a leaf are reported once, at the first key.
            (
                vec![
                    (a.clone(), one()),
                    (path(&[a.clone(), b.clone()]), one()),
                    (path(&[a.clone(), c.clone()]), one()),
                    (b.clone(), one()),
                ],
                vec![(1, shape(Misshapen::LeafWithChildren))],
            ),
            // Elements next to members are treated as an array from then on.
            (
                vec![
                    (a.clone(), one()),
                    (index(0), one()),
                    (index(1), one()),
                    (index(3), one()),
                ],
                vec![
                    (1, shape(Misshapen::MixedSegments)),
                    (3, shape(Misshapen::Hole)),
                ],
            ),
            (
                vec![
                    (path(&[a.clone(), b.clone()]), vec![]),
                    (path(&[a.clone(), c.clone()]), bytes(b"x")),
                    (path(&[b.clone(), index(-2)]), one()),
                    (c.clone(), one()),
                ],
                vec![
                    (0, Malformed::Value),
                    (1, Malformed::Value),
                    (2, Malformed::Value),
                ],
            ),
            // A key that continues with an element that is not a segment has no place.
            (
                vec![
                    (path(&[a.clone(), bytes(b"x")]), one()),
                    (path(&[a.clone(), bytes(b"y")]), one()),
                    (path(&[a.clone(), b.clone()]), one()),
                    (path(&[a.clone(), vec![0x21]]), one()),
                ],
                vec![
                    (0, Malformed::Segment),
                    (1, Malformed::Segment),
                    (3, Malformed::Segment),
                ],
            ),
            // An index in a longer encoding is a key that no lookup finds.
            (
                vec![(vec![0x16, 0, 0], one())],
                vec![(0, Malformed::Segment)],
            ),
            (
                vec![
                    (path(&[a.clone(), piece(1)]), bytes(b"\x80")),
                    (path(&[a.clone(), piece(2)]), bytes(b"b")),
                    (path(&[a.clone(), piece(4)]), bytes(b"c")),
                    (b.clone(), one()),
                ],
                vec![(0, Malformed::Pieces), (2, Malformed::Pieces)],
            ),
            // An incomplete character is attributed to the last piece.
            (
                vec![(path(&[a.clone(), piece(0)]), bytes(b"\xC3")), (b, one())],
                vec![(0, Malformed::Pieces)],
            ),
            (
                vec![(piece(0), bytes(b"a\xC3")), (piece(1), bytes(b"\xA9"))],
                vec![],
            ),
            (
                vec![(piece(0), bytes(b"a")), (piece(1), bytes(b"\xC3"))],
                vec![(1, Malformed::Pieces)],
            ),
            (
                vec![
                    (path(&[a.clone(), c]), one()),
                    (path(&[a.clone(), index(-2)]), null()),
                    (path(&[a, index(-1)]), null()),
                ],
                vec![
                    (1, shape(Misshapen::LeafWithChildren)),
                    (2, shape(Misshapen::LeafWithChildren)),
                ],
            ),
        ];
        for (pairs, expected) in cases {
            assert!(pairs.is_sorted());
            assert_eq!(found(&pairs), expected, "{pairs:?}");
        }
    }
}
