//! What a request may take.

use tokio::time::Instant;

use crate::graphql::request::body::Request;
use crate::limits::Bounds;

/// The deadline of a request, and the size limit of its response in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Allowed {
    pub(crate) deadline: Instant,
    pub(crate) response_bytes: usize,
}

impl Allowed {
    /// The limits from `bounds`, or the remaining ones of a batch if these are lower.
    pub(crate) fn of(request: &Request, bounds: &Bounds) -> Self {
        let deadline = Instant::now() + bounds.request_time;
        let response_bytes = bounds.response_bytes;
        match request.left {
            None => Self {
                deadline,
                response_bytes,
            },
            Some(left) => Self {
                deadline: deadline.min(left.deadline),
                response_bytes: response_bytes.min(left.response_bytes),
            },
        }
    }

    /// The bounds with the response limit of this request.
    pub(crate) fn bounds(self, bounds: &Bounds) -> Bounds {
        Bounds {
            response_bytes: self.response_bytes,
            ..*bounds
        }
    }
}
