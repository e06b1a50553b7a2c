//! The app of examples/browser-app, with its provider of tokens, in a real browser.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Server, drive, driver, npm, run};

/// A process that is killed when dropped.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has detected.
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Waits until something listens on a port of loopback.
fn await_listener(port: u16) {
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "port {port}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_browser_app_works_without_a_backend() {
    const LEFT_OUT: &str = "the browser app of the examples";
    let Some(driver) = driver(LEFT_OUT) else {
        return;
    };
    let app = Path::new("examples/browser-app");
    let app = npm::install_from(app, "browser-app").expect("the app's packages");
    let directory = tempfile::tempdir().expect("a directory");
    let store = directory.path().join("store");
    let product = r#"{"key": "tea", "name": "Green tea", "reviews": {}}"#;
    let import = format!("echo '{product}' | phyllo import - --collection products --id /key");
    let imported = run(&import, directory.path(), &store);
    let told = String::from_utf8_lossy(&imported.stderr);
    assert!(imported.status.success(), "{told}");

    let (provider_port, page_port) = (free_port(), free_port());
    let provider_url = format!("http://127.0.0.1:{provider_port}");
    let page_url = format!("http://127.0.0.1:{page_port}");
    let node = |arguments: &[&str]| {
        let mut node = Command::new("node");
        node.args(arguments).current_dir(&app);
        node
    };
    let port = provider_port.to_string();
    let _provider = Running::start(&mut node(&["provider.mjs", &port]));
    await_listener(provider_port);
    let flags = [
        ["--rules", "docs/rules/reviews.toml"],
        ["--cors-origin", &page_url],
        ["--jwt-keys", &format!("{provider_url}/keys")],
        ["--jwt-issuer", &provider_url],
        ["--jwt-audience", "reviews"],
    ];
    let program = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    let server = Server::run(program, &store, flags.as_flattened());
    let vite = [
        "node_modules/vite/bin/vite.js",
        "--host",
        "127.0.0.1",
        "--strictPort",
        "--port",
        &page_port.to_string(),
    ];
    let _page = Running::start(
        node(&vite)
            .env("VITE_PHYLLO", format!("{}/graphql", server.url()))
            .env("VITE_PROVIDER", &provider_url),
    );
    await_listener(page_port);
    drive(driver, "app.mjs", &[&format!("{page_url}/")]);
}
