//! The arguments that name a server.

#![expect(clippy::doc_markdown, reason = "the comments are read in a terminal")]

use std::env;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use http::{HeaderValue, Uri};

use super::location::file_path;
use crate::error::{Error, Result};

/// The environment variable with the token.
const TOKEN_VARIABLE: &str = "PHYLLO_TOKEN";

// A command that can work on any server. This is no documentation, because clap would print it as that of the
// command.
#[derive(Debug, Args)]
pub(crate) struct OnServer<A: Args> {
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    #[command(flatten)]
    pub(crate) arguments: A,
}

#[derive(Debug, Args)]
pub(crate) struct ServerArguments {
    /// Work on the server at this URL; --store is ignored
    #[arg(long, global = true, value_name = "URL", value_parser = parse_url, help_heading = "Server")]
    pub(crate) url: Option<Uri>,
    /// The file with the token for the server; without it, the environment variable PHYLLO_TOKEN is the token, if it
    /// is set
    #[arg(long, global = true, value_name = "FILE", value_parser = file_path(), requires = "url", help_heading = "Server")]
    pub(crate) token_file: Option<PathBuf>,
    /// A file of certificate authorities in PEM, of which one must have signed the server's certificate; without it,
    /// those of the system are trusted
    #[arg(long, global = true, value_name = "FILE", value_parser = file_path(), requires = "url", help_heading = "Server")]
    pub(crate) ca: Option<PathBuf>,
}

impl ServerArguments {
    /// The header with the token for the server. `None` if there is no server or no token.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the token is not visible ASCII. `UNAVAILABLE`: the file cannot be read.
    pub(crate) fn token(&self) -> Result<Option<HeaderValue>> {
        if self.url.is_none() {
            return Ok(None);
        }
        let token = match &self.token_file {
            Some(file) => Some(fs::read_to_string(file).map_err(|error| {
                let message = format!("{} cannot be read: {error}", file.display());
                Error::unavailable(message, "")
            })?),
            None => env::var(TOKEN_VARIABLE).ok(),
        };
        let Some(token) = token.as_deref().map(str::trim).filter(|it| !it.is_empty()) else {
            return Ok(None);
        };
        let header = HeaderValue::try_from(format!("Bearer {token}"));
        let mut header = header.map_err(|_| Error::bad_input("the token is not visible ASCII"))?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}

/// # Errors
/// `BAD_USER_INPUT`: the text is no URL of a server.
fn parse_url(text: &str) -> Result<Uri> {
    let url: Option<Uri> = text.parse().ok();
    let url = url.filter(|url| {
        let host = url.authority().map_or("", |authority| authority.as_str());
        matches!(url.scheme_str(), Some("http" | "https"))
            && !host.is_empty()
            && !host.contains('@')
            && url.query().is_none()
    });
    url.ok_or_else(|| {
        Error::bad_input("a URL such as https://db.example or http://127.0.0.1:8080 is expected")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_server() {
        for text in ["http://a", "https://a.b:8/c", "http://[::1]:8080/"] {
            parse_url(text).expect(text);
        }
        for text in [
            "a",
            "ftp://a",
            "http://",
            "http://u:p@a",
            "http://a?b",
            "/a",
            "",
        ] {
            assert!(parse_url(text).is_err(), "{text}");
        }
    }
}
