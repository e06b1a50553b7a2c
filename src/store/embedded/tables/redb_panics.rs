//! Panics of redb, which are errors here. redb panics on some kinds of damage to its file.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use redb::{Database, StorageError};

/// Reads a table. A panic becomes [`StorageError::Corrupted`]. What was being read is of no use then.
pub(crate) fn read_table<T>(
    read: impl FnOnce() -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    quietly(read).unwrap_or_else(|panic| Err(StorageError::Corrupted(panic)))
}

/// A database of redb. redb writes when it closes a file; if that panics, a warning is logged, and the
/// next start repairs the file or rejects it.
pub(crate) struct OpenDatabase(Option<Database>);

impl From<Database> for OpenDatabase {
    fn from(database: Database) -> Self {
        Self(Some(database))
    }
}

impl Deref for OpenDatabase {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.0.as_ref().expect("it is open until it is dropped")
    }
}

impl DerefMut for OpenDatabase {
    fn deref_mut(&mut self) -> &mut Database {
        self.0.as_mut().expect("it is open until it is dropped")
    }
}

impl Drop for OpenDatabase {
    fn drop(&mut self) {
        let database = self.0.take();
        if let Err(panic) = quietly(|| drop(database)) {
            tracing::warn!("the store's file was not closed: {panic}");
        }
    }
}

thread_local! {
    /// How many calls of [`quietly`] this thread is in. Each read of a table is one.
    static CALLS: Cell<u32> = const { Cell::new(0) };
    /// The panics in them that are not taken yet.
    static PANICS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `work`. A panic is not printed; its text is the error.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            // A thread that ends may close a store after it has destroyed this text.
            let note = |panics: &RefCell<String>| panics.borrow_mut().push_str(&panic.to_string());
            if CALLS.get() == 0 || PANICS.try_with(note).is_err() {
                print(panic);
            }
        }));
    });
    let calls = CALLS.get();
    CALLS.set(calls + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    CALLS.set(calls);
    done.map_err(|_| PANICS.try_with(RefCell::take).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Late;

    impl Drop for Late {
        fn drop(&mut self) {
            assert_eq!(quietly(|| 1), Ok(1));
            assert!(quietly(|| panic!("late")).is_err());
        }
    }

    thread_local! {
        static FIRST: Cell<Option<Late>> = const { Cell::new(None) };
        static LAST: Cell<Option<Late>> = const { Cell::new(None) };
    }

    #[test]
    fn a_thread_that_ends_can_close_a_store() {
        // One of the two is dropped after the text of panics is destroyed.
        let thread = std::thread::spawn(|| {
            FIRST.set(Some(Late));
            assert!(quietly(|| panic!("early")).is_err());
            LAST.set(Some(Late));
        });
        thread.join().expect("it ends");
    }

    #[test]
    fn a_call_inside_another_leaves_the_outer_one_its_panics() {
        let outer: Result<(), String> = quietly(|| {
            let inner: Result<(), String> = quietly(|| panic!("the inner one"));
            assert!(inner.is_err_and(|text| text.contains("the inner one")));
            panic!("the outer one");
        });
        let text = outer.expect_err("it panics");
        assert!(text.contains("the outer one"), "{text}");
        assert!(!text.contains("the inner one"), "{text}");
    }
}
