//! The token file.
//!
//! A line is blank, a comment that begins with `#`, or a name, a permission (`read-only` or
//! `read-write`) and a token, separated by blanks:
//!
//! ```text
//! # name      permission   token
//! dashboard   read-only    3q0vJ2xR8mYb7NfKc5TzWw
//! importer    read-write   a9LhE4uGd1PsXo6QiVrBtM
//! ```

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::error::{Error, Result};
use crate::limits::{TOKEN_CHARACTERS_MAX, TOKEN_CHARACTERS_MIN, TOKEN_NAME_BYTES_MAX};

/// The known tokens, stored as digests so that no token is kept in memory.
pub(crate) struct AccessTokens(Vec<AccessToken>);

pub(crate) struct AccessToken {
    /// The name that log lines use.
    pub(crate) name: Arc<str>,
    /// Whether the token permits mutations.
    pub(crate) writes: bool,
    digest: TokenDigest,
}

/// The SHA-256 of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenDigest([u8; 32]);

impl TokenDigest {
    pub(crate) fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }

    pub(crate) fn bytes(self) -> [u8; 32] {
        self.0
    }
}

impl From<[u8; 32]> for TokenDigest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest")
    }
}

impl AccessTokens {
    /// Parses a token file.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a line is invalid, or there is no token. The message names the line and
    /// contains none of its text.
    pub(crate) fn read(file: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(file)
            .map_err(|_| Error::bad_input("the token file is not UTF-8"))?;
        let mut tokens: Vec<AccessToken> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let token = AccessToken::read(line)
                .and_then(|token| token.unlike(&tokens))
                .map_err(|why| {
                    Error::bad_input(format!("line {number} of the token file: {why}"))
                })?;
            tokens.push(token);
        }
        if tokens.is_empty() {
            return Err(Error::bad_input("the token file has no token"));
        }
        Ok(Self(tokens))
    }

    /// Looks up a token. The lookup time depends on the number of tokens, not on their contents.
    pub(crate) fn find(&self, sent: TokenDigest) -> Option<&AccessToken> {
        let mut found = None;
        for token in &self.0 {
            if bool::from(token.digest.0.ct_eq(&sent.0)) {
                found = Some(token);
            }
        }
        found
    }
}

impl AccessToken {
    fn read(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let (Some(name), Some(may_do), Some(token), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("it must be a name, read-only or read-write, and a token".to_owned());
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.len() > TOKEN_NAME_BYTES_MAX || !name.bytes().all(plain) {
            return Err(format!(
                "the name must be up to {TOKEN_NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`"
            ));
        }
        let writes = match may_do {
            "read-only" => false,
            "read-write" => true,
            _ => return Err("the second word must be read-only or read-write".to_owned()),
        };
        if !is_token(token) {
            return Err(format!(
                "the token must be {TOKEN_CHARACTERS_MIN} to {TOKEN_CHARACTERS_MAX} letters, \
                 digits and -._~+/, optionally followed by ="
            ));
        }
        Ok(Self {
            name: name.into(),
            writes,
            digest: TokenDigest::of(token.as_bytes()),
        })
    }

    fn unlike(self, others: &[Self]) -> Result<Self, String> {
        if others.iter().any(|other| other.name == self.name) {
            return Err("another token has this name".to_owned());
        }
        if others.iter().any(|other| other.digest == self.digest) {
            return Err("another name has this token".to_owned());
        }
        Ok(self)
    }
}

/// Whether `text` is a valid bearer token (RFC 6750 §2.1) of acceptable length.
fn is_token(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !bare.is_empty()
        && bare.bytes().all(allowed)
        && (TOKEN_CHARACTERS_MIN..=TOKEN_CHARACTERS_MAX).contains(&text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "3q0vJ2xR8mYb7NfKc5TzWw==";

    #[test]
    fn token_files_have_names_rights_tokens_and_comments() {
        let file = format!(
            "# tokens\n\n a.b-c_1 \t read-only  {SECRET} \r\n  # another\nw read-write {}",
            "x".repeat(1024)
        );
        let tokens = AccessTokens::read(file.as_bytes()).expect("a file of tokens");
        let find = |token: &[u8]| tokens.find(TokenDigest::of(token));
        let token = find(SECRET.as_bytes()).expect("known");
        assert_eq!((&*token.name, token.writes), ("a.b-c_1", false));
        let token = find(&[b'x'; 1024]).expect("known");
        assert_eq!((&*token.name, token.writes), ("w", true));
        for unknown in ["", "a.b-c_1", &SECRET[1..], &SECRET.to_lowercase(), "#"] {
            assert!(find(unknown.as_bytes()).is_none(), "{unknown}");
        }
    }

    #[test]
    fn invalid_token_files_are_rejected_with_the_line_and_without_the_token() {
        let other = "another-token-of-someone";
        for (file, line) in [
            (String::new(), None),
            ("# nothing\n".to_owned(), None),
            (format!("a read-only {SECRET}\nb {SECRET}"), Some(2)),
            (format!("a read-only {SECRET} extra"), Some(1)),
            (format!("a readonly {SECRET}"), Some(1)),
            (format!("a/b read-only {SECRET}"), Some(1)),
            (format!("{} read-only {SECRET}", "n".repeat(65)), Some(1)),
            ("\na read-only 123456789012345".to_owned(), Some(2)),
            ("a read-only ================".to_owned(), Some(1)),
            ("a read-only tökens-of-some-length".to_owned(), Some(1)),
            (format!("a read-only {}", "x".repeat(1025)), Some(1)),
            (
                format!("a read-only {SECRET}\na read-write {other}"),
                Some(2),
            ),
            (
                format!("a read-only {SECRET}\n#\nb read-write {SECRET}"),
                Some(3),
            ),
        ] {
            let error = AccessTokens::read(file.as_bytes())
                .map(|_| ())
                .expect_err("no file of tokens")
                .to_string();
            let named = line.map_or("no token".to_owned(), |line| format!("line {line} of"));
            assert!(error.contains(&named), "{file:?}: {error}");
            assert!(!error.contains(SECRET) && !error.contains(other), "{error}");
        }
        assert!(AccessTokens::read(&[0xFF]).is_err());
    }
}
