//! Limits on the text of a query, checked before it is parsed.

use crate::error::{Error, Limit, Result};
use crate::limits::Bounds;

/// Checks the limits on the text of a query in one pass: bytes, lines, tokens, directives,
/// operations and nested brackets. The parser recurses into brackets.
///
/// # Errors
/// `TOO_COMPLEX`: the named limit is exceeded. `BAD_USER_INPUT`: a block string is not closed. The
/// parser would read it as other strings and tokens.
pub(crate) fn check_text(query: &str, bounds: &Bounds) -> Result<()> {
    bound(
        query.len(),
        Limit::new("queryBytes", bounds.query_bytes),
        "bytes of query text",
    )?;
    let mut lexer = TokenCounter {
        text: query.as_bytes(),
        begin: 0,
        at: 0,
    };
    for end in [b'\n', b'\r'] {
        let lines = memchr::memchr_iter(end, query.as_bytes()).count();
        bound(
            lines,
            Limit::new("queryLines", bounds.query_tokens),
            "lines of query text",
        )?;
    }
    let (mut tokens, mut brackets, mut directives) = (0, 0_usize, 0);
    let (mut operations, mut between) = (0, true);
    while let Some(token) = lexer.next()? {
        tokens += 1;
        // An operation or a fragment may begin with a description.
        let described = between && token == b'"';
        if between && !described {
            operations += usize::from(!lexer.is_at_fragment());
            bound(
                operations,
                Limit::new("queryOperations", bounds.query_operations),
                "operations in the query text",
            )?;
        }
        match token {
            b'{' | b'[' | b'(' => brackets += 1,
            b'}' | b']' | b')' => brackets = brackets.saturating_sub(1),
            b'@' => directives += 1,
            _ => {}
        }
        between = described || (token == b'}' && brackets == 0);
        bound(
            tokens,
            Limit::new("queryTokens", bounds.query_tokens),
            "tokens in the query text",
        )?;
        bound(
            directives,
            Limit::new("queryDirectives", bounds.query_directives),
            "directives in the query text",
        )?;
        bound(
            brackets,
            Limit::new("queryBrackets", bounds.query_brackets),
            "nested brackets in the query text",
        )
        .map_err(|error| error.at(format!("at byte {}", lexer.at)))?;
    }
    Ok(())
}

/// # Errors
/// `TOO_COMPLEX`: `found` exceeds the limit, which the message names.
pub(crate) fn bound(found: usize, limit: Limit, what: &str) -> Result<()> {
    if found as u64 <= limit.value() {
        return Ok(());
    }
    Err(Error::too_complex(
        limit,
        format!("more than {} {what}, which is the limit", limit.value()),
    ))
}

/// A simplified lexer that returns the first byte of each token.
struct TokenCounter<'t> {
    text: &'t [u8],
    /// The offset at which the last token begins; `at` is its end.
    begin: usize,
    at: usize,
}

impl TokenCounter<'_> {
    fn next(&mut self) -> Result<Option<u8>> {
        self.skip_ignored();
        let Some(first) = self.text.get(self.at).copied() else {
            return Ok(None);
        };
        self.begin = self.at;
        match first {
            b'"' => self.skip_string()?,
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
            }
            b'-' | b'0'..=b'9' => {
                self.skip_while(|byte| {
                    matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
                });
            }
            _ => self.at += 1,
        }
        Ok(Some(first))
    }

    /// Whether the last token is the keyword `fragment`.
    fn is_at_fragment(&self) -> bool {
        self.text.get(self.begin..self.at) == Some(b"fragment")
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        self.at += self
            .rest()
            .iter()
            .take_while(|byte| belongs(**byte))
            .count();
    }

    fn skip_ignored(&mut self) {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | b',') => self.at += 1,
                Some(b'#') => {
                    let line = memchr::memchr2(b'\n', b'\r', self.rest());
                    self.at += line.unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    fn skip_string(&mut self) -> Result<()> {
        if self.rest().starts_with(b"\"\"\"") {
            return self.skip_block_string();
        }
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'"' | b'\n' | b'\r' => return Ok(()),
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn skip_block_string(&mut self) -> Result<()> {
        let begin = self.at;
        self.at += 3;
        while self.at < self.text.len() {
            if self.rest().starts_with(b"\\\"\"\"") {
                self.at += 4;
            } else if self.rest().starts_with(b"\"\"\"") {
                self.at += 3;
                return Ok(());
            } else {
                self.at += 1;
            }
        }
        Err(Error::bad_input(format!(
            "the block string that begins at byte {begin} of the query text is not closed"
        )))
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at.min(self.text.len())..]
    }
}
