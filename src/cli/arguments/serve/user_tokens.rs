//! The arguments of `phyllo serve` about users' tokens.

use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::location::file_path;
use crate::server::UserTokenOptions;

#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "a flag is named like its field")]
pub(crate) struct UserTokenArguments {
    /// Accept users' tokens (JWT) that a key of this key set (JWKS) has signed: a file, or an https
    /// URL. Needs --jwt-issuer, --jwt-audience and --rules. A file is reloaded when it changes; a URL
    /// is fetched again every 5 minutes, and when a token names an unknown key
    #[arg(
        long,
        value_name = "FILE|URL",
        env = "PHYLLO_JWT_KEYS",
        requires_all = ["jwt_issuer", "jwt_audiences", "rules"],
        value_parser = clap::builder::NonEmptyStringValueParser::new()
    )]
    jwt_keys: Option<String>,
    /// The issuer (`iss`) that users' tokens must have
    #[arg(
        long,
        value_name = "ISSUER",
        env = "PHYLLO_JWT_ISSUER",
        requires = "jwt_keys"
    )]
    jwt_issuer: Option<String>,
    /// An audience (`aud`), of which users' tokens must have one; repeatable (comma-separated in the
    /// variable)
    #[arg(
        long = "jwt-audience",
        value_name = "AUDIENCE",
        env = "PHYLLO_JWT_AUDIENCES",
        value_delimiter = ',',
        requires = "jwt_keys"
    )]
    jwt_audiences: Vec<String>,
    /// The certificate authorities (PEM) that may vouch for the server of --jwt-keys, instead of those
    /// that this system trusts
    #[arg(
        long,
        value_name = "FILE",
        env = "PHYLLO_JWT_CA",
        requires = "jwt_keys",
        value_parser = file_path()
    )]
    jwt_ca: Option<PathBuf>,
}

impl UserTokenArguments {
    /// What the arguments say, if users' tokens are accepted.
    pub(crate) fn options(self) -> Option<UserTokenOptions> {
        Some(UserTokenOptions {
            keys: self.jwt_keys?,
            issuer: self.jwt_issuer?,
            audiences: self.jwt_audiences,
            authority: self.jwt_ca,
        })
    }
}
