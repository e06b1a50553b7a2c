//! JSON Patch (RFC 6902): applies operations in order.

use std::sync::Arc;

use super::editor::Editor;
use super::editor::ahead::look_ahead;
use super::editor::argument::leaves_of;
use super::editor::location::{Location, MissingParents, Target};
use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::read::value_ref::malformed;
use crate::document::number::equal;
use crate::document::patch::PatchOperation;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::{Leaves, decode_leaf};
use crate::limits::LOOK_AHEAD_MAX;
use crate::store::{Batches, Transaction};

/// Applies all operations of a patch at a place. `parents` is about the places where they add values. Returns
/// whether the document changed.
///
/// # Errors
/// Each error except for the first names the operation by its number, from 0. `NOT_FOUND`: there is
/// no value at `path`, or at the place where an operation starts. `TEST_FAILED`: a `test` does not
/// hold. `INVALID_PATH`: the parent cannot have such a member or element. `BAD_USER_INPUT`: an
/// operation removes the patched value as a whole or moves a value into itself. `TOO_LARGE`: a
/// value cannot be stored. Errors of the store.
pub async fn patch(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
    operations: &[PatchOperation],
    parents: MissingParents,
) -> Result<bool> {
    let ahead = next_paths(path, operations);
    let (mut editor, target) =
        Editor::begin_above(transaction, budget, document, path, &ahead).await?;
    let base = match target {
        Target::Present(location) => Path::from(&location.place),
        _ => return Err(editor.nothing_at(path)),
    };
    for (number, operation) in operations.iter().enumerate() {
        if number > 0 && number % LOOK_AHEAD_MAX == 0 {
            let paths = next_paths(&base, &operations[number..]);
            look_ahead(transaction, document, &paths).await;
        }
        budget.pace(1).await?;
        let applied = editor.apply(&base, operation, parents).await;
        applied.map_err(|error| error.at(operation).at_operation(number))?;
    }
    editor.finish().await
}

/// The paths that the next operations name, joined with `base`, for one read-ahead.
fn next_paths(base: &Path, operations: &[PatchOperation]) -> Vec<Path> {
    let next = operations.iter().take(LOOK_AHEAD_MAX);
    let named = next.flat_map(|operation| [operation.from(), Some(operation.path())]);
    named.flatten().map(|path| base.join(path)).collect()
}

impl Editor<'_> {
    async fn apply(
        &mut self,
        base: &Path,
        operation: &PatchOperation,
        parents: MissingParents,
    ) -> Result<()> {
        match operation {
            PatchOperation::Add(path, value) => {
                let leaves = leaves_of(value, self.budget).await?;
                self.add(base, path, &leaves, parents).await
            }
            PatchOperation::Replace(path, value) => {
                let leaves = leaves_of(value, self.budget).await?;
                let location = self.present(base, path).await?;
                self.overwrite(&location, &leaves).await
            }
            PatchOperation::Remove(path) => {
                if path.tokens().is_empty() {
                    return Err(Error::bad_input(
                        "a patch cannot remove the whole value that it is applied to: use \
                         deleteDocument",
                    ));
                }
                let location = self.present(base, path).await?;
                self.remove(&location).await
            }
            PatchOperation::Copy(from, path) => {
                let source = self.present(base, from).await?;
                let leaves = self.leaves_at(&source).await?;
                self.add(base, path, &leaves, parents).await
            }
            PatchOperation::Move(from, path) => {
                let source = self.present(base, from).await?;
                if from == path {
                    return Ok(());
                }
                if path.below(from).is_some() {
                    return Err(Error::bad_input(format!(
                        "{:?} cannot be moved into itself (RFC 6902 §4.4)",
                        from.to_string()
                    )));
                }
                let leaves = self.leaves_at(&source).await?;
                self.remove(&source).await?;
                self.add(base, path, &leaves, parents).await
            }
            PatchOperation::Test(path, value) => {
                let expected = leaves_of(value, self.budget).await?;
                self.test(base, path, &expected).await
            }
        }
    }

    async fn add(
        &mut self,
        base: &Path,
        path: &Path,
        leaves: &Leaves,
        parents: MissingParents,
    ) -> Result<()> {
        let whole = base.join(path);
        let target = self.locate(&whole).await?;
        if let Target::Present(location) = &target
            && let Some(index) = location.element().filter(|_| !path.tokens().is_empty())
        {
            return self.insert_element(&location.place, index, leaves).await;
        }
        self.put(target, &whole, leaves, parents).await?;
        Ok(())
    }

    async fn test(&mut self, base: &Path, path: &Path, expected: &Leaves) -> Result<()> {
        let Target::Present(location) = self.locate(&base.join(path)).await? else {
            return Err(failed(base, path, "nothing is stored there"));
        };
        let mut expected = expected.iter();
        let end = prefix_end(&location.key);
        let mut batches = Batches::new(self.transaction, &location.key[..], end);
        while let Some(batch) = batches.next().await? {
            self.budget.pace(batch.len() as u64).await?;
            for (key, value) in batch.iter() {
                let same = expected.next().is_some_and(|(other, expected)| {
                    key[location.key.len()..] == *other && same_value(value, expected)
                });
                if !same {
                    return Err(failed(
                        base,
                        path,
                        "the stored value is not equal to the expected one",
                    ));
                }
            }
        }
        match expected.next() {
            Some(_) => Err(failed(
                base,
                path,
                "the stored value is not equal to the expected one",
            )),
            None => Ok(()),
        }
    }

    /// The existing value at which an operation starts.
    async fn present(&self, base: &Path, path: &Path) -> Result<Location> {
        let path = base.join(path);
        match self.locate(&path).await? {
            Target::Present(location) => Ok(location),
            _ => Err(self.nothing_at(&path)),
        }
    }

    pub(crate) async fn leaves_at(&self, location: &Location) -> Result<Leaves> {
        let found = self
            .pairs(location.key.clone(), &prefix_end(&location.key))
            .await?;
        self.budget.pace(found.len() as u64).await?;
        let relative = found
            .iter()
            .map(|(key, value)| (&key[location.key.len()..], value));
        let leaves = Leaves::from_stored(relative);
        leaves.map_err(|(error, key)| malformed(error, &[&location.key, key].concat()))
    }
}

fn failed(base: &Path, path: &Path, why: &str) -> Error {
    let place = base.join(path).to_string();
    Error::test_failed(place, format!("the test fails: {why}"))
}

fn same_value(a: &[u8], b: &[u8]) -> bool {
    a == b
        || match (decode_leaf(a), decode_leaf(b)) {
            (Some(a), Some(b)) => equal(&a, &b),
            _ => false,
        }
}
