//! Bodies of responses. Those that are not small count towards the memory held by all requests until
//! they are sent.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use crate::budget::{Pool, Share, turn};
use crate::limits::{HELD_FREE_BYTES, SENT_BYTES_AT_A_TIME};

/// Creates a response body that is sent in chunks, so that a connection buffers at most one.
pub(crate) fn body(json: impl Into<Bytes>, pool: &Pool) -> Body {
    let json = held(json.into(), pool);
    if json.len() <= SENT_BYTES_AT_A_TIME {
        return Body::from(json);
    }
    Body::new(ResponseBody { left: json })
}

/// Counts bytes as held until the last reference to them is dropped, which the connection has until
/// they are written. Shared bytes count already.
pub(crate) fn held(bytes: Bytes, pool: &Pool) -> Bytes {
    if bytes.len() <= HELD_FREE_BYTES || !bytes.is_unique() {
        return bytes;
    }
    let share = pool.share();
    share.add(bytes.len());
    Bytes::from_owner(HeldBytes {
        bytes,
        _share: share,
    })
}

/// Bytes whose memory is counted.
struct HeldBytes {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The bytes that remain to be sent.
struct ResponseBody {
    left: Bytes,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        if pin!(turn()).poll(context).is_pending() {
            return Poll::Pending;
        }
        let bytes = self.left.len().min(SENT_BYTES_AT_A_TIME);
        let next = self.left.split_to(bytes);
        Poll::Ready(Some(Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn large_bodies_are_held_until_they_are_sent() {
        let pool = Pool::new(0);
        let small = body(vec![b'1'; SENT_BYTES_AT_A_TIME], &pool);
        assert_eq!(pool.held(), 0);
        let bytes = 3 * SENT_BYTES_AT_A_TIME + 1;
        let mut large = body(vec![b'1'; bytes], &pool);
        assert_eq!(large.size_hint().exact(), Some(bytes as u64));
        let mut taken = 0;
        while let Some(frame) = large.frame().await {
            let data = frame.expect("it cannot fail").into_data();
            assert!(pool.held() > 0);
            taken += data.expect("data").len();
        }
        assert_eq!(taken, bytes);
        drop(large);
        assert_eq!(pool.held(), 0);
        drop(small);
    }
}
