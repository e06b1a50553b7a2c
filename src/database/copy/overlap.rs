//! Checks whether a store can be the target of a copy.

use super::walk::{DocumentHead, Documents};
use crate::database::open::Database;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Entry, tuple_text};

/// Checks that a store is empty, or contains only what an interrupted copy of `source` left: all
/// leaves of each document with a catalog entry, and the first leaves of any other document.
///
/// # Errors
/// `ALREADY_EXISTS`: the store contains anything else. Errors of either store.
pub async fn check_target(source: &Database, target: &Database) -> Result<()> {
    let mut present = Documents::of(target).await?;
    let mut source = Documents::of(source).await?;
    while let Some(document) = present.next().await? {
        if !is_of(&mut source, &mut present, &document).await? {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!(
                    "the target holds a different document than the source under the key {}: copy \
                     to an empty store, or to one that an interrupted copy of the same source left",
                    tuple_text(&document.key)
                ),
            ));
        }
    }
    Ok(())
}

/// Whether the leaves of a document in the target are a prefix of those in the source.
async fn is_of(
    source: &mut Documents,
    present: &mut Documents,
    document: &DocumentHead,
) -> Result<bool> {
    let entry = Entry::Existence.key_of(&document.key);
    source.entries.seek(&entry);
    let entered = matches!(source.entries.pair().await?, Some((found, _)) if found == entry);
    if document.entered && !entered {
        return Ok(false);
    }
    source.leaves.seek(&document.key);
    loop {
        let here = present
            .leaves
            .pair()
            .await?
            .filter(|(key, _)| document.covers(key));
        let there = source
            .leaves
            .pair()
            .await?
            .filter(|(key, _)| document.covers(key));
        match (here, there) {
            (None, there) => return Ok(there.is_none() || !document.entered),
            (here, there) if here != there => return Ok(false),
            _ => {}
        }
        present.leaves.step();
        source.leaves.step();
    }
}
