//! Moves work on large texts to a blocking thread.

use crate::error::{Error, Result};
use crate::limits::JSON_BYTES_AT_ONCE;

/// Runs `work` on a text of `bytes` bytes: directly if the text is small, otherwise on a blocking
/// thread.
///
/// # Errors
/// The error of `work`. `INTERNAL`: it panicked on the blocking thread.
pub async fn offload_if_large<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if bytes <= JSON_BYTES_AT_ONCE {
        return work();
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::internal(error.to_string()))?
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn large_texts_are_processed_on_a_blocking_thread() {
        let on = async |bytes| offload_if_large(bytes, || Ok(thread::current().id())).await;
        let here = thread::current().id();
        assert_eq!(on(JSON_BYTES_AT_ONCE).await.expect("done"), here);
        assert_ne!(on(JSON_BYTES_AT_ONCE + 1).await.expect("done"), here);
    }
}
