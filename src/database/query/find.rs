//! Choosing among the ways to find documents, and following one by id.

use super::plan::access_path::EntrySource;

impl EntrySource<'_> {
    /// The indexes that it reads.
    pub(crate) fn name(&self) -> String {
        let mut names = Vec::new();
        self.names(&mut names);
        names.join(" | ")
    }

    fn names<'s>(&'s self, names: &mut Vec<&'s str>) {
        match self {
            Self::Index { index, .. } if names.contains(&&index.name[..]) => {}
            Self::Index { index, .. } => names.push(&index.name),
            Self::Union(parts) => {
                for part in parts {
                    part.names(names);
                }
            }
        }
    }
}
