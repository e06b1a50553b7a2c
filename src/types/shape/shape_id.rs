//! References between shapes.

/// The number of a [shape](super::Shape) in its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeId(pub(in crate::types) u32);

impl ShapeId {
    /// The shape of whole documents.
    pub const ROOT: Self = Self(0);

    pub(in crate::types) fn index(self) -> usize {
        self.0 as usize
    }
}
