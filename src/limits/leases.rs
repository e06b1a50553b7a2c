//! Limits of background work that one of several servers does: builds of indexes, and checks of
//! stored documents against types.

use std::time::Duration;

/// Time for which a server reserves the build of an index, renewed with each batch. Also the time
/// limit of one batch.
pub const INDEX_LEASE_TIME: Duration = Duration::from_secs(10);
/// The latest expiry of such a lease: one lease time, and one more for clock skew. A lease that
/// expires later is ignored.
pub const INDEX_LEASE_EXPIRY_MAX: Duration = Duration::from_secs(2 * INDEX_LEASE_TIME.as_secs());
/// Interval at which a server looks for an index to build.
pub const INDEX_POLL_TIME: Duration = Duration::from_millis(250);
