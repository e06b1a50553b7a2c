//! `phyllo export`

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::task::yield_now;

use super::names;
use crate::cli::arguments::Export;
use crate::cli::connect::client::{Client, DataSource, address};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::connect::reply::{Reply, other_version};
use crate::cli::outcome::{Done, failed};
use crate::cli::terminal::output::{Output, say};
use crate::error::{Error, Result};

pub(crate) async fn run(source: DataSource<'_>, export: Export) -> Done {
    let client = Client::open(source, StorePurpose::Read).await?;
    let collection = &export.collection.name;
    names::check(&client, collection).await?;
    let documents = exported(&client, collection).await?;
    let Some(path) = export.output else {
        return write_all(documents, Output::stdout()).await;
    };
    let name = path.display().to_string();
    // A symbolic link is resolved, so that its target is replaced.
    let path = fs::canonicalize(&path).unwrap_or(path);
    if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        let opened = File::options().write(true).open(&path);
        let device = opened.map_err(|error| cannot_write(&path, &error))?;
        return write_all(documents, Output::new(device, name)).await;
    }
    let (partial, file) = Partial::create(&path).map_err(|error| cannot_write(&path, &error))?;
    write_all(documents, Output::new(&file, name)).await?;
    partial
        .complete(&file)
        .map_err(|error| cannot_write(&path, &error))?;
    Ok(())
}

/// The lines of all documents of a collection, and of those that cannot be exported.
///
/// # Errors
/// Why the export is refused.
pub(crate) async fn exported(client: &Client, collection: &str) -> Result<Reply> {
    let path = format!("{}?onError=continue", address([collection]));
    client.get(&path).await
}

async fn write_all(mut documents: Reply, mut output: Output<impl Write>) -> Done {
    let (mut foreign, mut damaged) = (0_u64, 0_u64);
    while let Some(line) = documents.line().await? {
        match omitted(&line)? {
            None => {
                output.write(&line)?;
                output.write(b"\n")?;
                // Allows an interrupt here.
                yield_now().await;
            }
            Some(why) => {
                if why["code"] == "INTERNAL" {
                    damaged += 1;
                } else {
                    foreign += 1;
                }
                let reason = why["omitted"].as_str().unwrap_or_default();
                say(format_args!("not exported: {reason}"));
            }
        }
    }
    output.finish()?;
    if foreign > 0 {
        say(format_args!(
            "not exported: {foreign} documents that another program stored with ids that are \
             neither strings nor 64-bit integers"
        ));
    }
    if damaged > 0 {
        return Err(failed(format!(
            "{damaged} documents are damaged and were not exported"
        ))
        .into());
    }
    Ok(())
}

/// What the line of a document that was not exported says. `None` for the line of a document.
///
/// # Errors
/// `UNAVAILABLE`: it is neither.
pub(crate) fn omitted(line: &[u8]) -> Result<Option<Value>> {
    if line.starts_with(b"{\"id\":") {
        return Ok(None);
    }
    let omitted: Value = serde_json::from_slice(line).unwrap_or_default();
    if omitted["omitted"].is_string() {
        return Ok(Some(omitted));
    }
    Err(other_version("a line is not one of an export"))
}

/// A partial file next to its final path. Dropping it removes the file.
struct Partial {
    partial: PathBuf,
    path: PathBuf,
}

impl Partial {
    fn create(path: &Path) -> std::io::Result<(Self, File)> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".partial-{}", std::process::id()));
        let partial = path.with_file_name(name);
        // The file has the contents of the store, so only its owner may read it. A file that it
        // replaces keeps its permissions.
        let mode = fs::metadata(path).map_or(0o600, |replaced| replaced.permissions().mode());
        let options = &mut File::options();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&partial)?;
        file.set_permissions(Permissions::from_mode(mode & 0o777))?;
        let path = path.to_owned();
        Ok((Self { partial, path }, file))
    }

    /// Syncs the file to disk and renames it to its final path.
    fn complete(self, file: &File) -> std::io::Result<()> {
        file.sync_all()?;
        fs::rename(&self.partial, &self.path)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename there is nothing to remove.
        let _removed = fs::remove_file(&self.partial);
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    failed(format!("{} cannot be written: {error}", path.display()))
}
