//! State that the layers above keep with a transaction.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, PoisonError};

/// State that the layers above keep with a transaction: one value of each type. It lives as long as
/// the transaction, so a retried transaction begins without it.
#[derive(Default)]
pub struct Attachments(Mutex<Vec<(TypeId, Attachment)>>);

type Attachment = Arc<dyn Any + Send + Sync>;

impl Attachments {
    /// The value of a type. It is created at the first call.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut attached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = TypeId::of::<T>();
        // There are few types, so a search is faster than hashing.
        let found = attached.iter().find(|(of, _)| *of == wanted);
        if let Some(found) = found.and_then(|(_, value)| value.clone().downcast().ok()) {
            return found;
        }
        let created = Arc::new(T::default());
        attached.push((wanted, created.clone()));
        created
    }
}
