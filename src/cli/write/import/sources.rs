//! The files that an import reads: those of the command line and of its directories.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::arguments::ExportFormat;
use crate::cli::outcome::{Done, Ended, failed};
use crate::error::{Error, Result};

/// Extensions of the files of a directory that are imported.
const EXTENSIONS: [&str; 5] = ["json", "jsonl", "ndjson", "csv", "tsv"];
/// Extensions that can follow them.
const COMPRESSED_EXTENSIONS: [&str; 2] = ["gz", "zst"];

/// A stream of documents.
pub(crate) struct ImportSource {
    /// The name in messages.
    pub(crate) name: Arc<str>,
    /// The prefix of generated ids.
    pub(crate) prefix: String,
    /// The format that the extension says.
    pub(crate) format: Option<ExportFormat>,
    input: Input,
    /// The size, if it is known.
    bytes: Option<u64>,
}

enum Input {
    Standard,
    Path(PathBuf),
    /// A pipe, which can be opened only once.
    Opened(File),
}

impl ImportSource {
    /// Opens the stream.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(crate) fn open(&mut self) -> io::Result<Box<dyn Read + Send>> {
        match std::mem::replace(&mut self.input, Input::Standard) {
            Input::Standard => Ok(Box::new(io::stdin())),
            Input::Path(path) => Ok(Box::new(File::open(path)?)),
            Input::Opened(file) => Ok(Box::new(file)),
        }
    }

    /// Whether its length is unknown. It may have no end.
    pub(crate) fn is_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn standard() -> Self {
        Self {
            name: "-".into(),
            prefix: format!("stdin-{:08x}", rand::random::<u32>()),
            format: None,
            input: Input::Standard,
            bytes: None,
        }
    }

    fn file(path: &Path, prefix: String) -> Result<Self> {
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
        let is_file = metadata.is_file();
        Ok(Self {
            name: path.display().to_string().into(),
            prefix,
            format: match extension(&file_name(path)).as_deref() {
                Some("csv") => Some(ExportFormat::Csv),
                Some("tsv") => Some(ExportFormat::Tsv),
                _ => None,
            },
            input: if is_file {
                Input::Path(path.to_owned())
            } else {
                Input::Opened(file)
            },
            bytes: is_file.then_some(metadata.len()),
        })
    }
}

/// Lists the streams of an import in the order in which they are read. A directory means the files
/// below it, in the order of their names. `name` is the prefix of generated ids that the user gives.
///
/// # Errors
/// A file or directory cannot be read, or a directory has no file to import. Standard input is named twice.
pub(crate) fn list(paths: &[PathBuf], name: Option<&str>) -> Result<Vec<ImportSource>, Ended> {
    let mut sources = Vec::new();
    let mut standard = false;
    for path in paths {
        if path == Path::new("-") {
            if std::mem::replace(&mut standard, true) {
                let twice = "standard input (-) can be given only once";
                return Err(Ended::Misused(Error::bad_input(twice)));
            }
            sources.push(ImportSource::standard());
        } else if path.is_dir() {
            let before = sources.len();
            add_directory(path, "", &mut sources)?;
            if sources.len() == before {
                return Err(empty(path).into());
            }
        } else {
            let prefix = stem(&file_name(path)).to_owned();
            sources.push(ImportSource::file(path, prefix)?);
        }
    }
    if let Some(name) = name {
        match &mut sources[..] {
            [only] => name.clone_into(&mut only.prefix),
            several => {
                for source in several {
                    source.prefix = format!("{name}-{}", source.prefix);
                }
            }
        }
    }
    Ok(sources)
}

/// The size of all streams, if it is known.
pub(crate) fn total_bytes(sources: &[ImportSource]) -> Option<u64> {
    sources.iter().map(|source| source.bytes).sum()
}

/// The prefix of generated ids, if standard input is the only stream.
pub(crate) fn random_prefix(sources: &[ImportSource]) -> Option<String> {
    match sources {
        [only] if matches!(only.input, Input::Standard) => Some(only.prefix.clone()),
        _ => None,
    }
}

/// Adds the files of a directory. `above` is the path of the directory in generated ids.
fn add_directory(directory: &Path, above: &str, sources: &mut Vec<ImportSource>) -> Done {
    let unreadable = |error: io::Error| unreadable(directory, &error);
    let entries = fs::read_dir(directory).map_err(unreadable)?;
    let paths: io::Result<BTreeSet<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    for path in paths.map_err(unreadable)? {
        let name = file_name(&path);
        // A link to a directory can lead back to a directory above.
        if name.starts_with('.') || (path.is_symlink() && path.is_dir()) {
            continue;
        }
        if path.is_dir() {
            add_directory(&path, &format!("{above}{name}/"), sources)?;
        } else if is_imported(&name) && path.is_file() {
            let prefix = format!("{above}{}", stem(&name));
            sources.push(ImportSource::file(&path, prefix)?);
        }
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The extension of a file's name in lower case, without that of its compression.
fn extension(name: &str) -> Option<String> {
    let extension = Path::new(without_compression(name)).extension()?;
    Some(extension.to_str()?.to_ascii_lowercase())
}

/// A file's name without its extension and that of its compression.
fn stem(name: &str) -> &str {
    let name = without_compression(name);
    let stem = Path::new(name).file_stem();
    stem.and_then(|stem| stem.to_str()).unwrap_or(name)
}

fn without_compression(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((rest, end))
            if !rest.is_empty() && COMPRESSED_EXTENSIONS.contains(&&*end.to_ascii_lowercase()) =>
        {
            rest
        }
        _ => name,
    }
}

fn is_imported(name: &str) -> bool {
    extension(name).is_some_and(|extension| EXTENSIONS.contains(&&*extension))
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    failed(format!("{} cannot be read: {error}", path.display()))
}

fn empty(directory: &Path) -> Error {
    let extensions = EXTENSIONS.map(|extension| format!(".{extension}"));
    failed(format!(
        "the directory {} has no file whose name ends with {}, and possibly .gz or .zst after it",
        directory.display(),
        extensions.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_their_extensions() {
        for (name, expected, of_directory) in [
            ("a.json", "a", true),
            ("a.b.JSON.GZ", "a.b", true),
            ("a.ndjson.zst", "a", true),
            ("a.gz", "a", false),
            (".gz", ".gz", false),
            ("a", "a", false),
            ("a.txt", "a", false),
            ("json", "json", false),
        ] {
            assert_eq!(stem(name), expected, "{name}");
            assert_eq!(is_imported(name), of_directory, "{name}");
        }
    }
}
