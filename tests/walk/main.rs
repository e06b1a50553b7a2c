//! What a newcomer does: the walk of README.md, line by line, and its page in a real browser.
//!
//! Both need npm packages; the browser test needs Chromium too. Where they cannot be had, one line
//! says so.

#[path = "../npm/mod.rs"]
mod npm;
mod server;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use server::Server;

/// What a server asks for.
const TOKEN: &str = "3q0vJ2xR8mYb7NfKc5TzWw";

/// A command of the walk, and what it prints on standard output.
struct Step {
    command: String,
    output: String,
}

/// The `console` blocks of the README's walk.
fn steps() -> Vec<Step> {
    let readme = fs::read_to_string("README.md").expect("README.md is there");
    let walk = readme.split("## A walk").nth(1).expect("the walk is there");
    let walk = walk.split("\n## ").next().expect("the walk ends");
    let mut steps: Vec<Step> = Vec::new();
    for block in walk.split("```console\n").skip(1) {
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
                (None, None) => panic!("output before any command: {line}"),
            }
        }
    }
    assert!(steps.len() > 8, "the walk has its commands");
    steps
}

fn run(command: &str, directory: &Path, store: &Path) -> Output {
    let binaries = Path::new(env!("CARGO_BIN_EXE_phyllo"))
        .parent()
        .expect("a directory");
    let path = format!(
        "{}:{}",
        binaries.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    Command::new("bash")
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", path)
        .env("PHYLLO_STORE", store)
        .output()
        .expect("bash is there")
}

/// Whether a program can be run; says what is left out if not.
fn has(program: &str, left_out: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("skipped: {left_out}, because {program} is not here");
    }
    found
}

/// Fetches the data of the walk into `directory`; says so if it cannot be had.
fn fetch(steps: &[Step], directory: &Path, left_out: &str) -> bool {
    let install = steps.iter().find(|step| step.command.starts_with("npm "));
    let install = install.expect("the walk begins with npm");
    let fetched = run(&install.command, directory, directory);
    if !fetched.status.success() {
        println!("skipped: {left_out}, because npm's packages cannot be had here");
    }
    fetched.status.success()
}

#[test]
fn every_command_of_the_readmes_walk_prints_what_it_says() {
    let left_out = "the README's walk";
    if !has("npm", left_out) || !has("curl", left_out) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let steps = steps();
    if !fetch(&steps, directory.path(), left_out) {
        return;
    }
    let store = directory.path().join("store");
    let server = Server::start(&store);
    let mut walked = 0;
    for Step { command, output } in &steps {
        if command.starts_with("npm ") || command.starts_with("alias ") {
            continue;
        }
        let here = command.replace("http://127.0.0.1:8080", &server.url());
        let ran = run(&here, directory.path(), &store);
        let printed = String::from_utf8_lossy(&ran.stdout);
        let told = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{command}\n{printed}{told}");
        assert_eq!(printed.trim_end(), output.trim_end(), "{command}");
        walked += 1;
    }
    assert!(walked > 6, "only {walked} commands were tried");
}

#[test]
fn the_page_works_in_a_real_browser() {
    let left_out = "the page in a browser";
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    if !has("npm", left_out) || !has("node", left_out) || !has(&chromium, left_out) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let steps = steps();
    if !fetch(&steps, directory.path(), left_out) {
        return;
    }
    let browser = npm::install("browser").expect("the driver's packages");
    let store = directory.path().join("store");
    let server = Server::start(&store);
    for Step { command, .. } in steps
        .iter()
        .filter(|step| step.command.starts_with("phyllo import"))
    {
        let imported = run(command, directory.path(), &store);
        assert!(
            imported.status.success(),
            "{}",
            String::from_utf8_lossy(&imported.stderr)
        );
    }
    let tokens = directory.path().join("tokens");
    fs::write(&tokens, format!("page read-write {TOKEN}\n")).expect("a file");
    let guarded = Server::run(
        Command::new(env!("CARGO_BIN_EXE_phyllo")),
        &directory.path().join("guarded"),
        &["--token-file", tokens.to_str().expect("UTF-8")],
    );
    let artifacts = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::create_dir_all(&artifacts).expect("a directory for screenshots");
    let driven = Command::new("node")
        .arg("page.mjs")
        .arg(format!("{}/", server.url()))
        .arg(&artifacts)
        .arg(format!("{}/", guarded.url()))
        .arg(TOKEN)
        .current_dir(browser)
        .env("CHROMIUM", chromium)
        .output()
        .expect("node runs");
    let told = String::from_utf8_lossy(&driven.stdout);
    println!("{told}screenshots: {}", artifacts.display());
    assert!(
        driven.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&driven.stderr)
    );
}
