//! Reads the lines of a body of any length, in bounded memory.

use std::io::Write as _;
use std::mem::take;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use flate2::write::MultiGzDecoder;
use http_body_util::BodyExt as _;
use memchr::memchr;
use tokio::time::{Instant, timeout_at};

use crate::budget::{Share, WaitingClient, pause};
use crate::error::{Error, Limit, Result};
use crate::limits::{
    BODY_DECODED_BYTES, Bounds, GZIP_DECODER_BYTES, IMPORT_BATCH_BYTES_MAX,
    IMPORT_BATCH_DOCUMENTS_MAX,
};
use crate::server::http::body::Coding;

/// A line that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its number, from 1; blank lines count, too.
    pub(crate) number: u64,
    /// Its text without the line feed. `None` if it is longer than the limit.
    pub(crate) text: Option<Bytes>,
}

/// Lines that are written together. Where a batch ends depends only on the body.
#[derive(Debug, Default)]
pub(crate) struct LineBatch {
    pub(crate) lines: Vec<Line>,
    pub(crate) bytes: usize,
    /// Whether no line follows.
    pub(crate) is_last: bool,
}

/// Reads lines. What it has read counts in its share of the memory.
pub(crate) struct LineReader {
    body: Body,
    decoder: Option<MultiGzDecoder<Vec<u8>>>,
    /// What arrived and is not decoded yet.
    encoded: Bytes,
    share: Share,
    client: WaitingClient,
    line_bytes_max: usize,
    line_time: Duration,
    /// When the line that is awaited must be complete.
    deadline: Option<Instant>,
    buffer: BytesMut,
    /// The beginning of the buffer that has no line feed.
    searched: usize,
    /// Whether the rest of a line that is too long is left out.
    skips: bool,
    number: u64,
    is_at_end: bool,
}

impl LineReader {
    pub(crate) fn new(body: Body, coding: Coding, bounds: &Bounds, share: Share) -> Result<Self> {
        let decoder = match coding {
            Coding::Identity => None,
            Coding::Gzip => {
                share.take(GZIP_DECODER_BYTES)?;
                Some(MultiGzDecoder::new(Vec::new()))
            }
        };
        Ok(Self {
            body,
            decoder,
            encoded: Bytes::new(),
            share,
            client: WaitingClient::default(),
            line_bytes_max: bounds.body_bytes,
            line_time: bounds.body_time,
            deadline: None,
            buffer: BytesMut::new(),
            searched: 0,
            skips: false,
            number: 0,
            is_at_end: false,
        })
    }

    /// The limit on a line, in bytes.
    pub(crate) fn line_bytes_max(&self) -> usize {
        self.line_bytes_max
    }

    /// The next lines. After the last one, none.
    ///
    /// # Errors
    /// `TIMEOUT`: a line did not arrive in time. `BAD_USER_INPUT`: the body is incomplete or not in its
    /// coding. `UNAVAILABLE`: the memory is needed for others.
    pub(crate) async fn batch(&mut self) -> Result<LineBatch> {
        let mut batch = LineBatch::default();
        while batch.lines.len() < IMPORT_BATCH_DOCUMENTS_MAX && batch.bytes < IMPORT_BATCH_BYTES_MAX
        {
            let Some(line) = self.line().await? else {
                batch.is_last = true;
                break;
            };
            batch.bytes += line.text.as_ref().map_or(0, Bytes::len);
            batch.lines.push(line);
        }
        self.client.ends();
        Ok(batch)
    }

    /// Gives back the memory of a batch that was written.
    pub(crate) fn release(&self, bytes: usize) {
        self.share.give(bytes);
    }

    async fn line(&mut self) -> Result<Option<Line>> {
        loop {
            let found = memchr(b'\n', &self.buffer[self.searched..]);
            let text = match found {
                Some(at) => {
                    let mut text = self.buffer.split_to(self.searched + at + 1);
                    text.truncate(text.len() - 1);
                    self.share.give(1);
                    text
                }
                None if !self.is_at_end => {
                    self.searched = self.buffer.len();
                    if self.searched > self.line_bytes_max {
                        self.drop_begin();
                    }
                    self.fill().await?;
                    continue;
                }
                None if self.buffer.is_empty() && !self.skips => return Ok(None),
                None => take(&mut self.buffer),
            };
            self.searched = 0;
            self.deadline = None;
            self.number += 1;
            let number = self.number;
            if take(&mut self.skips) || text.len() > self.line_bytes_max {
                self.share.give(text.len());
                return Ok(Some(Line { number, text: None }));
            }
            if text.iter().all(u8::is_ascii_whitespace) {
                self.share.give(text.len());
                continue;
            }
            let text = Some(text.freeze());
            return Ok(Some(Line { number, text }));
        }
    }

    /// Leaves out the beginning of a line that is too long.
    fn drop_begin(&mut self) {
        self.share.give(self.buffer.len());
        self.buffer = BytesMut::new();
        self.searched = 0;
        self.skips = true;
    }

    /// Waits for more of the body, or decodes more of what arrived.
    async fn fill(&mut self) -> Result<()> {
        if !self.encoded.is_empty() {
            return self.decode().await;
        }
        let line_time = self.line_time;
        let deadline = *self
            .deadline
            .get_or_insert_with(|| Instant::now() + line_time);
        self.client.waits(&self.share);
        let shed = self.client.shed();
        let frame = tokio::select! {
            frame = timeout_at(deadline, self.body.frame()) => frame.map_err(|_| late(line_time))?,
            () = shed.notified() => return Err(Error::unavailable(
                "the next line was awaited, and its memory is needed for others: try again",
                "",
            )),
        };
        let Some(frame) = frame else {
            return self.end();
        };
        let frame = frame.map_err(|error| {
            Error::bad_input(format!("the body could not be read completely: {error}"))
        })?;
        let data = frame.into_data().unwrap_or_default();
        if self.decoder.is_some() {
            self.encoded = data;
            return Ok(());
        }
        self.share.take(data.len())?;
        self.buffer.extend_from_slice(&data);
        Ok(())
    }

    /// Decodes a piece, so that a line that is too long is left out before more of it is decoded.
    async fn decode(&mut self) -> Result<()> {
        let bytes = self.encoded.len().min(BODY_DECODED_BYTES);
        let piece = self.encoded.split_to(bytes);
        if let Some(decoder) = &mut self.decoder {
            decoder
                .write_all(&piece)
                .map_err(|error| not_gzip(&error))?;
            let decoded = take(decoder.get_mut());
            self.share.take(decoded.len())?;
            self.buffer.extend_from_slice(&decoded);
        }
        // A small input can take long to decode, so this yields to other tasks.
        pause().await;
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.is_at_end = true;
        if let Some(mut decoder) = self.decoder.take() {
            decoder.try_finish().map_err(|error| not_gzip(&error))?;
            let decoded = take(decoder.get_mut());
            self.share.take(decoded.len())?;
            self.buffer.extend_from_slice(&decoded);
            self.share.give(GZIP_DECODER_BYTES);
        }
        Ok(())
    }
}

fn late(line_time: Duration) -> Error {
    let message = format!("a line did not arrive within {line_time:?}, which is the limit");
    let limit = Limit::of_time("bodyMilliseconds", line_time);
    Error::timeout(Some(limit), message)
}

fn not_gzip(error: &std::io::Error) -> Error {
    Error::bad_input(format!("the body is not valid gzip: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use futures::stream;

    use super::*;
    use crate::budget::Pool;

    const BOUNDS: Bounds = Bounds {
        body_bytes: 100,
        body_time: Duration::from_millis(50),
        ..Bounds::DEFAULT
    };

    fn body(pieces: Vec<Vec<u8>>) -> Body {
        Body::from_stream(stream::iter(pieces.into_iter().map(io::Result::Ok)))
    }

    async fn lines(body: Body, coding: Coding) -> Result<Vec<(u64, Option<String>)>> {
        let pool = Pool::new(1 << 30);
        let mut reader = LineReader::new(body, coding, &BOUNDS, pool.counted_share())?;
        let mut lines = Vec::new();
        loop {
            let batch = reader.batch().await?;
            for Line { number, text } in batch.lines {
                let text = text.map(|text| String::from_utf8(text.to_vec()).expect("UTF-8"));
                lines.push((number, text));
            }
            reader.release(batch.bytes);
            if batch.is_last {
                assert_eq!(pool.held(), 0, "all memory is given back");
                return Ok(lines);
            }
        }
    }

    #[tokio::test]
    async fn lines_do_not_depend_on_the_pieces_of_the_body() {
        let long = "x".repeat(101);
        let text = format!("1\n\n{long}\n  \r\n{{\"a\": 2}}\r\n{long}{long}\n3");
        let expected = vec![
            (1, Some("1".to_owned())),
            (3, None),
            (5, Some("{\"a\": 2}\r".to_owned())),
            (6, None),
            (7, Some("3".to_owned())),
        ];
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).expect("it is in memory");
        let gzip = encoder.finish().expect("it is in memory");
        for size in [1, 2, 7, 50, 1_000] {
            let pieces = |bytes: &[u8]| bytes.chunks(size).map(<[u8]>::to_vec).collect();
            let plain = lines(body(pieces(text.as_bytes())), Coding::Identity).await;
            assert_eq!(plain.expect("lines"), expected, "{size}");
            let decoded = lines(body(pieces(&gzip)), Coding::Gzip).await;
            assert_eq!(decoded.expect("lines"), expected, "{size}");
        }
        let cut = lines(body(vec![gzip[..gzip.len() - 9].to_vec()]), Coding::Gzip).await;
        assert!(cut.is_err(), "{cut:?}");
    }

    #[tokio::test]
    async fn batches_end_after_a_number_of_lines() {
        let text = "1\n".repeat(2 * IMPORT_BATCH_DOCUMENTS_MAX + 1);
        let pool = Pool::new(1 << 30);
        let body = body(vec![text.into_bytes()]);
        let reader = LineReader::new(body, Coding::Identity, &BOUNDS, pool.share());
        let mut reader = reader.expect("there is memory");
        for expected in [IMPORT_BATCH_DOCUMENTS_MAX, IMPORT_BATCH_DOCUMENTS_MAX, 1] {
            let batch = reader.batch().await.expect("a batch");
            assert_eq!(
                (batch.lines.len(), batch.is_last),
                (expected, expected == 1)
            );
        }
    }

    #[tokio::test]
    async fn a_line_must_be_complete_in_time() {
        let drops = stream::unfold(0, |count| async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some((io::Result::Ok(b"x".to_vec()), count + 1))
        });
        let failed = lines(Body::from_stream(drops), Coding::Identity).await;
        let kind = failed.expect_err("it never ends").kind();
        assert_eq!(kind, crate::error::ErrorKind::Timeout);
    }

    #[tokio::test]
    async fn an_endless_line_is_not_held() {
        let pieces = vec![vec![b'x'; 90]; 1_000];
        let found = lines(body(pieces), Coding::Identity).await;
        assert_eq!(found.expect("lines"), [(1, None)]);
    }
}
