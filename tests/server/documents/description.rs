//! The description at `/openapi.json`, checked by public validators.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip::{rounds, skipped, skips_long};
use crate::support::Server;

/// The folder of programs of a Python environment with the locked packages, which is reused. `None` if
/// Python or the packages cannot be installed.
fn programs() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi-python");
    let installed = folder.join("requirements.txt");
    let requirements = "tests/server/documents/requirements.txt";
    let wanted = fs::read(requirements).expect("it is there");
    // The copy is made last, so it shows that the installation is complete.
    if fs::read(&installed).is_ok_and(|packages| packages == wanted) {
        return folder.join("bin").canonicalize().ok();
    }
    let venv = ["-m", "venv", "--clear"];
    succeeds(Command::new("python3").args(venv).arg(&folder))?;
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--retries",
        "1",
    ];
    let python = folder.join("bin").join("python");
    succeeds(
        Command::new(python)
            .args(pip)
            .args(["--requirement", requirements]),
    )?;
    fs::write(installed, wanted).expect("a copy");
    folder.join("bin").canonicalize().ok()
}

fn succeeds(command: &mut Command) -> Option<()> {
    let status = command.status();
    status.is_ok_and(|status| status.success()).then_some(())
}

fn run(program: &Path, arguments: &[&str]) {
    let hooks = fs::canonicalize("tests/server/documents/hooks.py").expect("it is there");
    let mut command = Command::new(program);
    command.args(arguments).env("SCHEMATHESIS_HOOKS", hooks);
    // It writes a folder of its own.
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    let ran = command.output();
    let ran = ran.expect("the program starts");
    let told = [ran.stdout, ran.stderr].map(|told| String::from_utf8_lossy(&told).into_owned());
    assert!(ran.status.success(), "{}\n{}", told[0], told[1]);
}

#[test]
fn the_served_description_is_the_one_of_the_repository() {
    let server = Server::start();
    let served = server.ask("GET", "/openapi.json", &[], "");
    assert_eq!(
        (served.status, served.header("content-type")),
        (200, Some("application/json"))
    );
    assert_eq!(
        served.body,
        fs::read_to_string("openapi.json").expect("it is there")
    );
    assert_eq!(served.json()["openapi"], "3.1.0");
}

#[test]
fn schemathesis_finds_no_undocumented_answer() {
    let what = "the validators of OpenAPI";
    if skips_long(what) {
        return;
    }
    let Some(programs) = programs() else {
        skipped(what, "Python or its packages could not be installed");
        return;
    };
    let description = fs::canonicalize("openapi.json").expect("it is there");
    let description = description.to_str().expect("a plain path");
    run(&programs.join("openapi-spec-validator"), &[description]);
    let server = Server::start();
    let url = format!("http://{}", server.address);
    let examples = rounds("20", "200");
    run(
        &programs.join("schemathesis"),
        &[
            "run",
            description,
            "--url",
            &url,
            "--phases",
            "examples,coverage,fuzzing",
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance",
            "--max-examples",
            examples,
            "--seed",
            "38",
        ],
    );
    server.assert_serves();
}
