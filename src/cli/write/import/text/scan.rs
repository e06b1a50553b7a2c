//! Finds the structural bytes of JSON text.

/// Whether a byte outside strings is structural.
const MATTERS: [bool; 256] = {
    let mut matters = [false; 256];
    let bytes = b"{}[],\"\n";
    let mut at = 0;
    while at < bytes.len() {
        matters[bytes[at] as usize] = true;
        at += 1;
    }
    matters
};

/// Finds brackets, commas and line feeds outside strings. The text can be passed in pieces of any
/// size.
#[derive(Default)]
pub(crate) struct Scanner {
    in_string: bool,
    escaped: bool,
}

impl Scanner {
    /// The next byte of `{}[],` or line feed outside a string, from `at` on, and its
    /// position. Moves `at` past it.
    ///
    /// JSON strings contain no line feed, so a line feed ends a string. That confines an error to
    /// its line.
    pub(crate) fn next(&mut self, bytes: &[u8], at: &mut usize) -> Option<(usize, u8)> {
        loop {
            if self.in_string {
                self.skip_string(bytes, at);
                if self.in_string {
                    return None;
                }
            }
            let rest = bytes.get(*at..)?;
            let Some(offset) = rest.iter().position(|byte| MATTERS[usize::from(*byte)]) else {
                *at = bytes.len();
                return None;
            };
            let found = *at + offset;
            *at = found + 1;
            match bytes[found] {
                b'"' => self.in_string = true,
                byte => return Some((found, byte)),
            }
        }
    }

    /// Skips to the end of the string, or to a line feed that ends it.
    fn skip_string(&mut self, bytes: &[u8], at: &mut usize) {
        if self.escaped && *at < bytes.len() {
            self.escaped = false;
            *at += usize::from(bytes[*at] != b'\n');
        }
        while let Some(offset) = bytes.get(*at..).and_then(string_byte) {
            let found = *at + offset;
            *at = found + 1;
            match bytes[found] {
                b'"' => {
                    self.in_string = false;
                    return;
                }
                b'\n' => {
                    self.in_string = false;
                    *at = found;
                    return;
                }
                _ => match bytes.get(*at) {
                    Some(b'\n') => {}
                    Some(_) => *at += 1,
                    None => self.escaped = true,
                },
            }
        }
        *at = bytes.len();
    }
}

fn string_byte(bytes: &[u8]) -> Option<usize> {
    memchr::memchr3(b'"', b'\\', b'\n', bytes)
}
