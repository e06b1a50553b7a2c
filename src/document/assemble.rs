//! Writes leaves as JSON text. The leaves arrive in the order of their paths, so a stack of open
//! containers suffices and no tree is built.

use std::fmt;

use super::json::write_string;
use super::path::SegmentRef;

/// Why leaves do not form a document. Other programs may have written them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misshapen {
    /// A leaf or an empty marker has keys below or beside it.
    LeafWithChildren,
    /// An array lacks an element.
    Hole,
    /// An object key and an array index follow the same path.
    MixedSegments,
}

impl fmt::Display for Misshapen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeafWithChildren => "a leaf or an empty marker has keys below or beside it",
            Self::Hole => "an array lacks an element",
            Self::MixedSegments => "object keys and array indexes follow the same path",
        })
    }
}

enum OpenContainer {
    Object,
    /// The number of elements that are written.
    Array(u64),
}

/// Writes one JSON value. The caller passes the leaves in the order of their paths.
pub struct Assembler<'o> {
    out: &'o mut Vec<u8>,
    open: Vec<OpenContainer>,
}

impl<'o> Assembler<'o> {
    /// An assembler that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            open: Vec::new(),
        }
    }

    /// The output, to make room for more.
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Enters the member or element `segment` of the container at `level` (the root is level 0).
    /// Closes all deeper containers, and opens this one if necessary.
    ///
    /// # Errors
    /// The container is of the other kind, or the previous element is missing.
    #[inline]
    pub fn enter(&mut self, level: usize, segment: SegmentRef<'_>) -> Result<(), Misshapen> {
        match segment {
            SegmentRef::Key(key) => {
                let out = self.enter_object(level)?;
                write_string(out, key);
                out.push(b':');
                Ok(())
            }
            SegmentRef::Index(index) => self.enter_array(level, index),
        }
    }

    /// Enters a member, like [`Assembler::enter`]. The caller writes its name and the colon to the
    /// returned buffer.
    ///
    /// # Errors
    /// The container is an array.
    #[inline]
    pub fn enter_object(&mut self, level: usize) -> Result<&mut Vec<u8>, Misshapen> {
        self.close_to(level + 1);
        match self.open.get(level) {
            Some(OpenContainer::Object) => self.out.push(b','),
            Some(OpenContainer::Array(_)) => return Err(Misshapen::MixedSegments),
            None => {
                self.out.push(b'{');
                self.open.push(OpenContainer::Object);
            }
        }
        Ok(self.out)
    }

    fn enter_array(&mut self, level: usize, index: u64) -> Result<(), Misshapen> {
        self.close_to(level + 1);
        let written = match self.open.get_mut(level) {
            Some(OpenContainer::Array(written)) => {
                self.out.push(b',');
                std::mem::replace(written, *written + 1)
            }
            Some(OpenContainer::Object) => return Err(Misshapen::MixedSegments),
            None => {
                self.out.push(b'[');
                self.open.push(OpenContainer::Array(1));
                0
            }
        };
        if written == index {
            Ok(())
        } else {
            Err(Misshapen::Hole)
        }
    }

    /// The buffer for the value of the place that was entered last.
    #[inline]
    pub fn value(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// The length of the output in bytes.
    pub fn bytes(&self) -> usize {
        self.out.len()
    }

    /// Closes all open containers. The value is complete.
    pub fn finish(mut self) {
        self.close_to(0);
    }

    #[inline]
    fn close_to(&mut self, level: usize) {
        while self.open.len() > level {
            let bracket = match self.open.pop() {
                Some(OpenContainer::Object) => b'}',
                _ => b']',
            };
            self.out.push(bracket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn key(name: &str) -> SegmentRef<'_> {
        SegmentRef::Key(name)
    }

    const fn index(index: u64) -> SegmentRef<'static> {
        SegmentRef::Index(index)
    }

    /// Each step enters a segment at a level and writes a leaf, if any.
    type Steps<'s> = &'s [(usize, SegmentRef<'s>, &'s str)];

    fn assembled(steps: Steps<'_>) -> Result<String, Misshapen> {
        let mut out = Vec::new();
        let mut assembler = Assembler::new(&mut out);
        for (level, segment, leaf) in steps {
            assembler.enter(*level, *segment)?;
            assembler.value().extend_from_slice(leaf.as_bytes());
        }
        assembler.finish();
        Ok(String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn containers_open_and_close_with_the_paths() {
        let cases: [(Steps<'_>, &str); 5] = [
            (&[], ""),
            (
                &[(0, key("a"), "1"), (0, key("b"), "2")],
                r#"{"a":1,"b":2}"#,
            ),
            (
                &[
                    (0, key("a"), ""),
                    (1, index(0), ""),
                    (2, key("\n"), "1"),
                    (0, key("b"), "2"),
                ],
                r#"{"a":[{"\n":1}],"b":2}"#,
            ),
            (
                &[
                    (0, index(0), ""),
                    (1, index(0), ""),
                    (2, index(0), "1"),
                    (1, index(1), "2"),
                ],
                "[[[1],2]]",
            ),
            (
                &[(0, index(0), "1"), (0, index(1), ""), (1, key("a"), "2")],
                r#"[1,{"a":2}]"#,
            ),
        ];
        for (steps, expected) in cases {
            assert_eq!(assembled(steps).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn holes_and_mixed_segments_are_rejected() {
        let cases: [(Steps<'_>, Misshapen); 5] = [
            (&[(0, index(1), "1")], Misshapen::Hole),
            (&[(0, index(0), "1"), (0, index(2), "1")], Misshapen::Hole),
            (&[(0, index(0), "1"), (0, index(0), "1")], Misshapen::Hole),
            (
                &[(0, key("a"), "1"), (0, index(0), "1")],
                Misshapen::MixedSegments,
            ),
            (
                &[(0, index(0), "1"), (0, key("a"), "1")],
                Misshapen::MixedSegments,
            ),
        ];
        for (steps, expected) in cases {
            assert_eq!(assembled(steps), Err(expected));
        }
    }
}
