//! The commands of README.md, docs/walk.md and docs/http.md, run line by line, and the page in a real
//! browser.
//!
//! docs/walk.md and the browser test are long tests. Both need npm packages; the browser test needs
//! Chromium too. If these cannot be installed, the tests are skipped.

#[path = "../browser/mod.rs"]
mod browser;
mod browser_app;
mod examples;
#[path = "../npm/mod.rs"]
mod npm;
mod server;
#[path = "../skip/mod.rs"]
mod skip;
mod stream;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use server::Server;
use skip::{skipped, skips_long};
use stream::Stream;

/// The tokens of the server that requires one.
const TOKEN: &str = "3q0vJ2xR8mYb7NfKc5TzWw";
const READ_ONLY_TOKEN: &str = "8dLrX1pQe6HsVu0oGk9ZtA";

/// The secret with which users' tokens are signed, in base64url.
const SECRET: &str = "bm90IGEgc2VjcmV0LCBidXQgdGhhdCBvZiBhIHRlc3Q";

const README: &str = "README.md";
/// The page that continues the README with npm's data.
const WALK: &str = "docs/walk.md";
const HTTP: &str = "docs/http.md";

/// A command of a page, and what it prints on standard output.
struct Step {
    command: String,
    output: String,
}

/// The commands in the `console` blocks of a page, in order.
fn steps(page: &str) -> Vec<Step> {
    let text = fs::read_to_string(page).expect(page);
    let mut steps: Vec<Step> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().expect("the block ends");
        for line in block.lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step {
                    command: command.to_owned(),
                    output: String::new(),
                }),
                (None, Some(step)) => {
                    step.output.push_str(line);
                    step.output.push('\n');
                }
                (None, None) => panic!("{page}: output before any command: {line}"),
            }
        }
    }
    assert!(steps.len() > 6, "{page}: {} commands", steps.len());
    steps
}

fn run(command: &str, directory: &Path, store: &Path) -> Output {
    bash(command, directory, store)
        .output()
        .expect("bash is there")
}

fn bash(command: &str, directory: &Path, store: &Path) -> Command {
    let binaries = Path::new(env!("CARGO_BIN_EXE_phyllo"))
        .parent()
        .expect("a directory");
    let path = format!(
        "{}:{}",
        binaries.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", command])
        .current_dir(directory)
        .env("PATH", path)
        .env("PHYLLO_STORE", store);
    bash
}

/// Whether a program can be run. If not, prints what is skipped.
fn has(program: &str, left_out: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        skipped(left_out, &format!("{program} was not found"));
    }
    found
}

/// Installs the npm packages of the walk into `directory`. If that fails, prints what is skipped.
fn fetch(steps: &[Step], directory: &Path, left_out: &str) -> bool {
    let install = steps.iter().find(|step| step.command.starts_with("npm "));
    let install = install.expect("the walk begins with npm");
    let fetched = run(&install.command, directory, directory);
    if !fetched.status.success() {
        skipped(left_out, "npm's packages could not be installed");
    }
    fetched.status.success()
}

/// Runs the commands of pages, one page after another, against one server and compares what they
/// print. The server serves an empty store below `directory`, in which the commands run. A command
/// that follows a part of a document runs until the end of its page.
fn assert_pages_print_what_they_show(pages: &[(&str, Vec<Step>)], directory: &Path) {
    let store = directory.join("store");
    // The file of the reader's own.
    let mine = r#"[{"title": "One"}, {"title": "Two"}]"#;
    fs::write(directory.join("mine.json"), mine).expect("a file");
    let program = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    let server = Server::run(program, &store, &[]);
    for (page, steps) in pages {
        let mut streams = Vec::new();
        for Step { command, output } in steps {
            if command.starts_with("npm ") || command.starts_with("alias ") {
                continue;
            }
            let command = command.replace("http://127.0.0.1:8080", &server.url());
            if command.contains("text/event-stream") {
                streams.push(Stream::start(bash(&command, directory, &store), output));
                continue;
            }
            let ran = run(&command, directory, &store);
            let printed = String::from_utf8_lossy(&ran.stdout);
            let errors = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{page}: {command}\n{printed}{errors}");
            assert_eq!(printed.trim_end(), output.trim_end(), "{page}: {command}");
        }
        for stream in streams {
            stream.assert_rest();
        }
    }
}

#[test]
fn readme_commands_print_the_documented_output() {
    if !has("curl", "the README's commands") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    assert_pages_print_what_they_show(&[(README, steps(README))], directory.path());
}

#[test]
fn commands_for_documents_over_http_print_the_documented_output() {
    if !has("curl", HTTP) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    assert_pages_print_what_they_show(&[(HTTP, steps(HTTP))], directory.path());
}

#[test]
fn walk_commands_after_those_of_the_readme_print_the_documented_output() {
    if skips_long(WALK) || !has("npm", WALK) || !has("curl", WALK) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let walk = steps(WALK);
    if fetch(&walk, directory.path(), WALK) {
        let pages = [(README, steps(README)), (WALK, walk)];
        assert_pages_print_what_they_show(&pages, directory.path());
    }
}

/// The packages with which Node drives Chromium, and the program of Chromium. `None` if they cannot be
/// had; the test is then reported as skipped.
fn driver(left_out: &str) -> Option<(PathBuf, String)> {
    // The tests run at the same time and share the folder.
    static DRIVER: LazyLock<PathBuf> =
        LazyLock::new(|| npm::install("browser").expect("the driver's packages"));
    if skips_long(left_out) || !has("npm", left_out) || !has("node", left_out) {
        return None;
    }
    let chromium = browser::chromium(left_out)?;
    Some((DRIVER.clone(), chromium))
}

/// Runs a script of tests/browser. Its screenshots are kept.
fn drive((driver, chromium): (PathBuf, String), script: &str, arguments: &[&str]) {
    let artifacts = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::create_dir_all(&artifacts).expect("a directory for screenshots");
    let (base, others) = arguments.split_first().expect("the page");
    let driven = Command::new("node")
        .args([script, base])
        .arg(&artifacts)
        .args(others)
        .current_dir(driver)
        .env("CHROMIUM", chromium)
        .output()
        .expect("node runs");
    let told = String::from_utf8_lossy(&driven.stdout);
    println!("{told}screenshots: {}", artifacts.display());
    let errors = String::from_utf8_lossy(&driven.stderr);
    assert!(driven.status.success(), "{told}{errors}");
}

#[test]
fn the_page_works_in_a_real_browser() {
    let Some(driver) = driver("the page in a browser") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let store = directory.path().join("store");
    let program = || Command::new(env!("CARGO_BIN_EXE_phyllo"));
    let server = Server::run(program(), &store, &[]);
    let sample = run("phyllo sample", directory.path(), &store);
    let told = String::from_utf8_lossy(&sample.stderr);
    assert!(sample.status.success(), "{told}");
    let tokens = directory.path().join("tokens");
    let lines = format!("page read-write {TOKEN}\nreader read-only {READ_ONLY_TOKEN}\n");
    fs::write(&tokens, lines).expect("a file");
    let guarded = Server::run(
        program(),
        &directory.path().join("guarded"),
        &[
            "--change-retention",
            "0",
            "--token-file",
            tokens.to_str().expect("UTF-8"),
        ],
    );
    let ruled = with_rules(directory.path(), &tokens);
    let page = |server: &Server| format!("{}/", server.url());
    drive(
        driver,
        "page.mjs",
        &[
            &page(&server),
            &page(&guarded),
            TOKEN,
            READ_ONLY_TOKEN,
            &page(&ruled),
            SECRET,
        ],
    );
}

/// A server with the rules of the page's tests, which accepts users' tokens and those of a file.
fn with_rules(directory: &Path, tokens: &Path) -> Server {
    let keys = directory.join("keys.json");
    let key_set = format!(r#"{{"keys": [{{"kty": "oct", "alg": "HS256", "k": "{SECRET}"}}]}}"#);
    fs::write(&keys, key_set).expect("a file");
    let flags = [
        ["--rules", "tests/browser/rules.toml"],
        ["--jwt-keys", keys.to_str().expect("UTF-8")],
        ["--jwt-issuer", "https://login.example"],
        ["--jwt-audience", "phyllo"],
        ["--token-file", tokens.to_str().expect("UTF-8")],
    ];
    let program = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    Server::run(program, &directory.join("ruled"), flags.as_flattened())
}

#[test]
fn the_page_reads_only_what_it_shows_of_large_data() {
    let Some(driver) = driver("the page on large data") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let store = directory.path().join("store");
    write_large_data(directory.path()).expect("files");
    for (file, collection) in [("large.ndjson", "large"), ("many.ndjson", "many")] {
        let command = format!("phyllo import {file} --collection {collection}");
        let imported = run(&command, directory.path(), &store);
        let told = String::from_utf8_lossy(&imported.stderr);
        assert!(imported.status.success(), "{told}");
    }
    let server = Server::run(Command::new(env!("CARGO_BIN_EXE_phyllo")), &store, &[]);
    drive(driver, "scale.mjs", &[&format!("{}/", server.url())]);
}

/// A document of 20 MB, one with an array of 1,000,000 elements, and 400,000 small ones.
fn write_large_data(directory: &Path) -> io::Result<()> {
    let mut large = BufWriter::new(File::create(directory.join("large.ndjson"))?);
    let text = "x".repeat(420);
    write!(large, r#"{{"doc_id": "object""#)?;
    for part in 0..20_000 {
        let members =
            format!(r#""number": {part}, "text": "{text}", "more": {{"text": "{text}"}}"#);
        let list: Vec<String> = (0..20)
            .map(|element| (10_000 + element).to_string())
            .collect();
        write!(
            large,
            r#", "part{part:05}": {{{members}, "list": [{}]}}"#,
            list.join(",")
        )?;
    }
    writeln!(large, "}}")?;
    let elements: Vec<String> = (0..1_000_000).map(|element| element.to_string()).collect();
    writeln!(
        large,
        r#"{{"doc_id": "array", "list": [{}]}}"#,
        elements.join(",")
    )?;
    large.flush()?;
    let mut many = BufWriter::new(File::create(directory.join("many.ndjson"))?);
    for number in 1..=400_000 {
        writeln!(
            many,
            r#"{{"doc_id": {number}, "number": {number}, "name": "document {number}"}}"#
        )?;
    }
    many.flush()
}
