//! The limit on open files. Each connection uses one.

use crate::limits::{Bounds, OTHER_FILES};

/// Raises the process's limit as far as needed and permitted. If that is not enough, lowers the
/// number of connections and logs a warning.
pub(crate) fn make_room(bounds: &Bounds) -> Bounds {
    let wanted = bounds.connections.saturating_add(OTHER_FILES) as u64;
    let files = match rlimit::increase_nofile_limit(wanted) {
        Ok(files) => usize::try_from(files).unwrap_or(usize::MAX),
        Err(error) => {
            tracing::warn!("the limit on open files is unknown: {error}");
            return *bounds;
        }
    };
    let connections = files.saturating_sub(OTHER_FILES).max(1);
    if connections >= bounds.connections {
        return *bounds;
    }
    tracing::warn!(
        "the limit on open files (ulimit -n) is {files}, so the server accepts at most \
         {connections} connections at the same time instead of {}",
        bounds.connections
    );
    Bounds {
        connections,
        ..*bounds
    }
}
