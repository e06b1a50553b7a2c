//! Decompresses gzip and zstd streams, which are detected by their first bytes.

use std::io::{self, BufRead, BufReader, Error, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const GZIP: &[u8] = b"\x1F\x8B";
const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";
/// The header of a zstd frame with the smallest window.
const ZSTD_FIRST_HEADER: &[u8] = b"\x28\xB5\x2F\xFD\0\0";

/// A stream of text.
pub(crate) struct Decompressed {
    pub(crate) source: Box<dyn Read>,
    /// Whether the stream was compressed.
    pub(crate) compressed: bool,
}

/// Decompresses a stream. Streams that are not compressed are returned as they are.
///
/// # Errors
/// The stream cannot be read.
pub(crate) fn decompress(mut source: impl Read + 'static) -> io::Result<Decompressed> {
    let mut first = Vec::with_capacity(ZSTD.len());
    let longest = ZSTD.len() as u64;
    source.by_ref().take(longest).read_to_end(&mut first)?;
    let (gzip, zstd) = (first.starts_with(GZIP), first.starts_with(ZSTD));
    let whole = io::Cursor::new(first).chain(source);
    let source: Box<dyn Read> = if gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else if zstd {
        Box::new(ZstdFrames::new(whole)?)
    } else {
        Box::new(whole)
    };
    Ok(Decompressed {
        source,
        compressed: gzip || zstd,
    })
}

/// Decodes one zstd frame after another. A window of more than 100 MiB is rejected.
struct ZstdFrames<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: Read> ZstdFrames<R> {
    fn new(source: R) -> io::Result<Self> {
        let mut decoder = FrameDecoder::new();
        // The decoder does not check the window of the first frame that it begins.
        decoder.init(ZSTD_FIRST_HEADER).map_err(Error::other)?;
        Ok(Self {
            source: BufReader::new(source),
            decoder,
            in_frame: false,
        })
    }

    /// Begins the next frame. Returns false at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.source.by_ref().take(length.into());
                    if io::copy(&mut skipped, &mut io::sink())? < length.into() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(Error::other(error)),
            }
        }
        Ok(false)
    }

    /// Ends a frame whose content was read.
    fn end(&mut self) -> io::Result<()> {
        self.in_frame = false;
        let expected = self.decoder.get_checksum_from_data();
        if expected.is_some() && expected != self.decoder.get_calculated_checksum() {
            return Err(Error::other("the checksum of a zstd frame is wrong"));
        }
        Ok(())
    }
}

impl<R: Read> Read for ZstdFrames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() < out.len() && !self.decoder.is_finished() {
                let missing = out.len() - self.decoder.can_collect();
                let strategy = BlockDecodingStrategy::UptoBytes(missing);
                let decoded = self.decoder.decode_blocks(&mut self.source, strategy);
                decoded.map_err(Error::other)?;
            }
            let read = self.decoder.read(out)?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            self.end()?;
        }
    }
}
