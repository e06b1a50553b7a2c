//! How many files the process may have open: each connection is one.

use crate::limits::{Bounds, OTHER_FILES};

/// Raises the process's limit as far as the connections need and the system lets it; where that is
/// not enough, fewer connections are served at the same time, and the log says so.
pub(crate) fn make_room(bounds: &Bounds) -> Bounds {
    let wanted = bounds.connections.saturating_add(OTHER_FILES) as u64;
    let files = match rlimit::increase_nofile_limit(wanted) {
        Ok(files) => usize::try_from(files).unwrap_or(usize::MAX),
        Err(error) => {
            tracing::warn!("how many files may be open is not known: {error}");
            return *bounds;
        }
    };
    let connections = files.saturating_sub(OTHER_FILES).max(1);
    if connections >= bounds.connections {
        return *bounds;
    }
    tracing::warn!(
        "the system lets this process have {files} files open (ulimit -n), so {connections} \
         connections are served at the same time and not {}",
        bounds.connections
    );
    Bounds {
        connections,
        ..*bounds
    }
}
