//! Builds the page of `web/` for the server to embed.
//!
//! The sources are copied to `OUT_DIR/web` and built there with npm, so that the source tree
//! stays as it is. A machine without npm or network still builds the server: its page then
//! says what is missing, and so does one warning here. `PHYLLO_WEB=skip` leaves the page out
//! on purpose.
//!
//! What comes out is `OUT_DIR/page_assets.rs`, the table that `src/server/http/web_page.rs` includes.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// Everything of `web/` that the page is made of.
const SOURCES: [&str; 6] = [
    ".npmrc",
    "build.mjs",
    "index.html",
    "package.json",
    "package-lock.json",
    "src",
];

/// The sample data, which the page offers to an empty store.
const SAMPLE: &str = "src/cli/write/sample";

/// The lockfile that `node_modules` was installed from lies beside it under this name.
const INSTALLED_LOCKFILE: &str = "installed-lock.json";

fn main() -> Result<(), Box<dyn Error>> {
    let sources = Path::new("web");
    let workshop = PathBuf::from(std::env::var("OUT_DIR")?).join("web");
    watch(sources);
    let page = build_page(sources, &workshop);
    if let Err(reason) = &page {
        println!("cargo::warning=the server is built without its page: {reason}");
        println!("cargo::rerun-if-env-changed=PATH");
    }
    fs::write(workshop.with_file_name("page_assets.rs"), table(&page)?)?;
    Ok(())
}

fn watch(sources: &Path) {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PHYLLO_WEB");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", sources.join(source).display());
    }
    println!("cargo::rerun-if-changed={SAMPLE}");
}

/// The built files, or in one line why there are none.
fn build_page(sources: &Path, workshop: &Path) -> Result<Vec<PathBuf>, String> {
    if std::env::var_os("PHYLLO_WEB").is_some_and(|choice| choice == "skip") {
        return Err("PHYLLO_WEB=skip was set".to_owned());
    }
    copy_sources(sources, workshop).map_err(|error| format!("copying web/ failed: {error}"))?;
    install_packages(workshop)?;
    run("node", &["build.mjs"], workshop)?;
    let dist = workshop.join("dist");
    list(&dist).map_err(|error| format!("reading {} failed: {error}", dist.display()))
}

fn copy_sources(sources: &Path, workshop: &Path) -> io::Result<()> {
    fs::create_dir_all(workshop)?;
    remove_if_present(&workshop.join("src"))?;
    for source in SOURCES {
        copy(&sources.join(source), &workshop.join(source))?;
    }
    copy(Path::new(SAMPLE), &workshop.join("sample"))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

fn remove_if_present(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Installs what the lockfile names, unless that was done already. No package runs a script
/// of its own here; the binary that esbuild needs is a package too. Packages that only check
/// the sources are left out.
fn install_packages(workshop: &Path) -> Result<(), String> {
    let lockfile = workshop.join("package-lock.json");
    let installed = workshop.join("node_modules").join(INSTALLED_LOCKFILE);
    if same_contents(&lockfile, &installed) {
        return Ok(());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    run(npm, &["ci", "--omit=dev", "--ignore-scripts"], workshop)?;
    fs::copy(&lockfile, &installed)
        .map(|_| ())
        .map_err(|error| format!("writing {} failed: {error}", installed.display()))
}

fn same_contents(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
    let command = format!("`{program} {}`", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("`{program}` was not found"),
            _ => format!("{command} did not start: {error}"),
        })?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    eprintln!("{command}:\n{complaint}"); // cargo keeps it, and shows it with -vv
    Err(format!("{command} failed: {}", cause(&complaint)))
}

/// npm's code for what went wrong, else the first line that speaks of an error. No more than
/// that, since the page shows it and npm's own sentence names the registry.
fn cause(complaint: &str) -> String {
    let mut lines = complaint.lines().map(str::trim);
    let code = lines
        .clone()
        .find_map(|line| line.strip_prefix("npm error code "));
    let cause = code.or_else(|| lines.find(|line| line.to_lowercase().contains("error")));
    cause
        .unwrap_or("it did not say why")
        .chars()
        .take(200)
        .collect()
}

fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension() == Some(OsStr::new("gz")));
    files.sort();
    Ok(files)
}

/// The Rust source of the table: `Ok` with the files, or `Err` with the reason.
fn table(page: &Result<Vec<PathBuf>, String>) -> Result<String, Box<dyn Error>> {
    let mut source = String::from("static PAGE: Result<&[Asset], &str> = ");
    match page {
        Err(reason) => writeln!(source, "Err({reason:?});")?,
        Ok(files) => {
            source.push_str("Ok(&[\n");
            for file in files {
                source.push_str(&row(file)?);
            }
            source.push_str("]);\n");
        }
    }
    Ok(source)
}

fn row(file: &Path) -> Result<String, Box<dyn Error>> {
    let name = file
        .file_stem()
        .and_then(OsStr::to_str)
        .ok_or("a file's name is not text")?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&fs::read(file)?);
    Ok(format!(
        "    Asset {{ name: {name:?}, etag: \"W/\\\"{:016x}\\\"\", \
         gzip: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/web/dist/{name}.gz\")) }},\n",
        hasher.finish()
    ))
}
