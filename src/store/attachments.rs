//! State that the layers above keep with a transaction.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// State that the layers above keep with a transaction: one value of each type. It lives as long as
/// the transaction, so a retried transaction begins without it.
#[derive(Default)]
pub struct Attachments(Mutex<Vec<(TypeId, Attachment)>>);

type Attachment = Arc<dyn Any + Send + Sync>;

impl Attachments {
    /// The value of a type. It is created at the first call.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut attached = self.lock();
        found(&attached).unwrap_or_else(|| {
            let created = Arc::new(T::default());
            attached.push((TypeId::of::<T>(), created.clone()));
            created
        })
    }

    /// Sets the value of a type, in place of one that was created before.
    pub fn set<T: Send + Sync + 'static>(&self, value: Arc<T>) {
        let mut attached = self.lock();
        attached.retain(|(of, _)| *of != TypeId::of::<T>());
        attached.push((TypeId::of::<T>(), value));
    }

    /// The value of a type, if it was created.
    pub fn find<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        found(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(TypeId, Attachment)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// There are few types, so a search is faster than hashing.
fn found<T: Send + Sync + 'static>(attached: &[(TypeId, Attachment)]) -> Option<Arc<T>> {
    let (_, value) = attached.iter().find(|(of, _)| *of == TypeId::of::<T>())?;
    value.clone().downcast().ok()
}
