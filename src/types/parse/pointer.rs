//! Places in a schema.

use std::fmt::{self, Write as _};

use percent_encoding::percent_decode_str;

use crate::document::leaf::abridged;
use crate::document::path::{Segment, SegmentRef};

/// Bytes of the text of a pointer.
const POINTER_BYTES_MAX: usize = 500;

/// A place in a schema that is being parsed. It borrows the places above it.
#[derive(Clone, Copy)]
pub(super) struct Pointer<'p> {
    above: Option<(&'p Pointer<'p>, SegmentRef<'p>)>,
}

impl<'p> Pointer<'p> {
    /// The whole schema.
    pub(super) const ROOT: Self = Self { above: None };

    /// A member of this place.
    pub(super) fn member(&'p self, name: &'p str) -> Self {
        let above = Some((self, SegmentRef::Key(name)));
        Self { above }
    }

    /// An element of this place.
    pub(super) fn element(&'p self, index: usize) -> Self {
        let above = Some((self, SegmentRef::Index(index as u64)));
        Self { above }
    }
}

impl Pointer<'_> {
    /// Writes the place as a JSON Pointer (RFC 6901) until `out` is full.
    fn write(&self, out: &mut Shortened) -> fmt::Result {
        let Some((above, segment)) = self.above else {
            return Ok(());
        };
        above.write(out)?;
        match segment {
            SegmentRef::Key(name) => {
                let name = abridged(name).into_owned();
                write!(out, "/{}", Segment::Key(name))
            }
            SegmentRef::Index(index) => write!(out, "/{index}"),
        }
    }

    /// The place as a JSON Pointer. Long names are abridged, and so is a long pointer: a schema with long
    /// names has many places.
    pub(super) fn to_text(self) -> String {
        let mut out = Shortened(String::new());
        let is_whole = self.write(&mut out).is_ok();
        if !is_whole {
            out.0.push('…');
        }
        out.0
    }
}

/// The name in a token of a JSON Pointer in a URI fragment. None if an escape is malformed.
pub(super) fn decode_token(token: &str) -> Option<String> {
    let decoded = percent_decode_str(token).decode_utf8().ok()?;
    if decoded.contains('/') {
        // It separates tokens also if it is escaped (RFC 6901 §6).
        return None;
    }
    let mut name = String::with_capacity(decoded.len());
    let mut parts = decoded.split('~');
    name.push_str(parts.next()?);
    for part in parts {
        let (escaped, rest) = match part.as_bytes().first()? {
            b'0' => ('~', &part[1..]),
            b'1' => ('/', &part[1..]),
            _ => return None,
        };
        name.push(escaped);
        name.push_str(rest);
    }
    Some(name)
}

/// Text that refuses to become long.
struct Shortened(String);

impl fmt::Write for Shortened {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > POINTER_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}
