//! Arguments that are a text, a file, or standard input.

use std::fs;
use std::io::{self, Read};

use crate::cli::connect::data::check_json;
use crate::cli::outcome::failed;
use crate::error::{Error, Result};

/// The JSON that an argument gives: its text, or else the contents of the file that it names; `-` is standard input.
///
/// # Errors
/// `BAD_USER_INPUT`: it is not JSON. `UNAVAILABLE`: the file cannot be read.
pub(crate) fn read_json(argument: &str) -> Result<String> {
    if argument != "-" && check_json(argument).is_ok() {
        return Ok(argument.to_owned());
    }
    let text = read_file(argument).map_err(|error| {
        let begins_as_json = argument.trim_start().starts_with(['{', '[', '"']);
        match check_json(argument) {
            Err(reason) if begins_as_json => reason,
            _ if argument == "-" => error,
            _ => failed(format!(
                "{argument} is neither JSON nor a file (in JSON, text has quotation marks): {error}"
            )),
        }
    })?;
    check_json(&text).map_err(|error| error.at(argument))?;
    Ok(text)
}

/// The text of a file, or of standard input.
///
/// # Errors
/// `UNAVAILABLE`: it cannot be read. `BAD_USER_INPUT`: it is not UTF-8.
pub(crate) fn read_file(argument: &str) -> Result<String> {
    let bytes = if argument == "-" {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(argument)
    };
    let bytes = bytes.map_err(|error| failed(format!("{argument} cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| Error::bad_input(format!("{argument} is not UTF-8")))
}
