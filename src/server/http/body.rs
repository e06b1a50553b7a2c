//! Reads request bodies within their limits and decompresses them.

use std::io::{self, Write};

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use axum::http::{HeaderMap, HeaderValue, Request};
use flate2::write::GzDecoder;
use futures::FutureExt as _;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Frame;
use tokio::time::timeout;

use crate::budget::{Share, WaitingClient, count_steps, pause, turn};
use crate::error::{Error, Limit};
use crate::limits::{
    BODY_DECODED_BYTES, BODY_MEMBER_BYTES, BODY_MEMBERS_MAX, BODY_RESERVED_FROM_BYTES, Bounds,
    COPIED_BYTES_PER_STEP, GZIP_DECODER_BYTES,
};

/// The content encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
}

impl Coding {
    /// The encoding in the headers. `None` if it is unsupported or there are several.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut named = headers.get_all(CONTENT_ENCODING).iter();
        let coding = named.next().map(HeaderValue::as_bytes);
        let coding = match coding.map(<[u8]>::to_ascii_lowercase).as_deref() {
            None | Some(b"identity") => Self::Identity,
            Some(b"gzip" | b"x-gzip") => Self::Gzip,
            Some(_) => return None,
        };
        named.next().is_none().then_some(coding)
    }
}

/// Reads and decodes the whole body of a request.
///
/// # Errors
/// `TOO_LARGE`: the body, as sent or decoded, has more than `bytes_max` bytes. `TIMEOUT`: it did
/// not arrive in time. `BAD_USER_INPUT`: it is incomplete or does not match its encoding.
/// `UNAVAILABLE`: the bodies of all requests together exceed their memory limit.
pub(crate) async fn body(
    request: Request<Body>,
    coding: Coding,
    bounds: &Bounds,
    share: &Share,
) -> Result<Bytes, Error> {
    let bytes_max = bounds.body_bytes;
    let length = request
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > bytes_max) {
        return Err(too_large(bytes_max));
    }
    // The encoded size is limited too, because gzip input can decode to nothing.
    let sent = Limited::new(request.into_body(), bytes_max);
    let read = async {
        match coding {
            Coding::Identity => whole(sent, length, bytes_max, share).await,
            // Boxed, because it is rare and large.
            Coding::Gzip => Box::pin(decoded(sent, bytes_max, share)).await,
        }
    };
    timeout(bounds.body_time, read).await.unwrap_or_else(|_| {
        let limit = bounds.body_time;
        let message = format!("the body did not arrive within {limit:?}, which is the limit");
        Err(Error::timeout(
            Some(Limit::of_time("bodyMilliseconds", limit)),
            message,
        ))
    })
}

/// Collects a body without an encoding. A body that arrives in one piece is not copied.
async fn whole(
    mut sent: Limited<Body>,
    length: Option<usize>,
    bytes_max: usize,
    share: &Share,
) -> Result<Bytes, Error> {
    let (mut first, mut all) = (Bytes::new(), Vec::new());
    let mut client = WaitingClient::default();
    loop {
        let data = if let Some(data) = ready(&mut sent, bytes_max) {
            data?
        } else {
            // The piece may be a small part of a buffer that it keeps in memory.
            if !first.is_empty() {
                all.extend_from_slice(&std::mem::take(&mut first));
            }
            awaited(&mut sent, bytes_max, share, &mut client).await?
        };
        let Some(data) = data else { break };
        share.take(data.len())?;
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        // The client may send faster than this thread copies.
        turn().await;
        count_steps(data.len() as u64 / COPIED_BYTES_PER_STEP);
        all.extend_from_slice(&std::mem::take(&mut first));
        if all.capacity() - all.len() < data.len() {
            let rest = length.unwrap_or_default().saturating_sub(all.len());
            let more = if all.len() >= BODY_RESERVED_FROM_BYTES && rest >= data.len() {
                rest
            } else {
                // Not doubled, so that it takes little more memory than its bytes, which count.
                data.len().max(all.len() / 4)
            };
            // If the allocation fails, appending may still succeed, because it needs less memory.
            let _reserved = all.try_reserve_exact(more);
        }
        all.extend_from_slice(&data);
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

/// Decodes a body while it arrives and stops at the limit, so that memory use never exceeds it.
async fn decoded(mut sent: Limited<Body>, bytes_max: usize, share: &Share) -> Result<Bytes, Error> {
    let mut decoder = Decoder::new(bytes_max);
    share.take(GZIP_DECODER_BYTES)?;
    let mut client = WaitingClient::default();
    loop {
        let data = match ready(&mut sent, bytes_max) {
            Some(data) => data?,
            None => awaited(&mut sent, bytes_max, share, &mut client).await?,
        };
        let Some(data) = data else { break };
        for piece in data.chunks(BODY_DECODED_BYTES) {
            let before = decoder.decoded();
            decoder.write_all(piece)?;
            share.take(decoder.decoded() - before)?;
            // A small input can take long to decode, so this yields to other tasks.
            pause().await;
        }
    }
    share.give(GZIP_DECODER_BYTES);
    decoder.finish()
}

/// Why a body cannot be read.
type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// A piece of a body. `None` at its end.
type BodyPiece = Result<Option<Bytes>, Error>;

/// The next piece, if it has arrived.
fn ready(sent: &mut Limited<Body>, bytes_max: usize) -> Option<BodyPiece> {
    if sent.is_end_stream() {
        return Some(Ok(None));
    }
    let frame = sent.frame().now_or_never()?;
    Some(piece(frame, bytes_max))
}

/// Waits for the next piece.
///
/// # Errors
/// `UNAVAILABLE`: memory is short, and the client has been silent for longer than others.
async fn awaited(
    sent: &mut Limited<Body>,
    bytes_max: usize,
    share: &Share,
    client: &mut WaitingClient,
) -> BodyPiece {
    client.waits(share);
    let shed = client.shed();
    tokio::select! {
        frame = sent.frame() => piece(frame, bytes_max),
        () = shed.notified() => Err(Error::unavailable(
            "the rest of the body was awaited, and its memory is needed for others: try again",
            "",
        )),
    }
}

fn piece(frame: Option<Result<Frame<Bytes>, BodyError>>, bytes_max: usize) -> BodyPiece {
    let Some(frame) = frame else { return Ok(None) };
    let frame = frame.map_err(|error| unread(&*error, bytes_max))?;
    Ok(Some(frame.into_data().unwrap_or_default()))
}

/// Decodes gzip, which is a sequence of members (RFC 1952 §2.2). Starting and ending a member takes
/// microseconds even if it decodes to nothing, so the number of members is limited by the bytes
/// that they decode to.
struct Decoder {
    member: GzDecoder<Bounded>,
    /// The number of members so far, including this one.
    members: usize,
    bytes_max: usize,
}

impl Decoder {
    fn new(bytes_max: usize) -> Self {
        let bytes = Vec::new();
        Self {
            member: GzDecoder::new(Bounded { bytes, bytes_max }),
            members: 1,
            bytes_max,
        }
    }

    /// The number of bytes decoded so far.
    fn decoded(&self) -> usize {
        self.member.get_ref().bytes.len()
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let written = self
                .member
                .write(bytes)
                .map_err(|error| self.failed(&error))?;
            if written == 0 {
                self.begin_member()?;
            }
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Ends a member and begins the next one.
    fn begin_member(&mut self) -> Result<(), Error> {
        if self.members >= BODY_MEMBERS_MAX + self.decoded() / BODY_MEMBER_BYTES {
            return Err(Error::too_large(
                Limit::new(
                    "gzipMembers",
                    BODY_MEMBERS_MAX + self.decoded() / BODY_MEMBER_BYTES,
                ),
                format!(
                    "the body has more than {} gzip members for the {} bytes that they decode to; the \
                 limit is {BODY_MEMBERS_MAX}, and one more for each {BODY_MEMBER_BYTES} bytes",
                    self.members,
                    self.decoded()
                ),
            ));
        }
        let ended = self.member.try_finish();
        ended.map_err(|error| self.failed(&error))?;
        let decoded = std::mem::take(self.member.get_mut());
        self.member = GzDecoder::new(decoded);
        self.members += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<Bytes, Error> {
        let ended = self.member.try_finish();
        ended.map_err(|error| self.failed(&error))?;
        Ok(std::mem::take(self.member.get_mut()).bytes.into())
    }

    fn failed(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::FileTooLarge => too_large(self.bytes_max),
            _ => Error::bad_input(format!("the body is not valid gzip: {error}")),
        }
    }
}

/// A buffer of limited size.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if more.len() > self.bytes_max - self.bytes.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unread(error: &(dyn std::error::Error + Send + Sync + 'static), bytes_max: usize) -> Error {
    if error.is::<LengthLimitError>() {
        return too_large(bytes_max);
    }
    Error::bad_input(format!("the body could not be read completely: {error}"))
}

fn too_large(bytes_max: usize) -> Error {
    Error::too_large(
        Limit::new("bodyBytes", bytes_max),
        format!("the body is larger than {bytes_max} bytes, which is the limit"),
    )
}
