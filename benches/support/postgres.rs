//! A PostgreSQL server from the Debian package, started with an empty directory and stopped at the
//! end, and a load generator with its own client: connections that send a prepared statement, read
//! the whole result, and repeat.
//!
//! Commits have the default durability. The server has enough memory for all data, and runs no
//! checkpoint or vacuum during measurements.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_postgres::{Client, Config, NoTls, Row};

use super::support::load::alone;

/// The Debian directory with the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";
const VERSION_LEAST: u32 = 15;
const USER: &str = "phyllo";
const SETTINGS: [&str; 7] = [
    "listen_addresses=",
    "shared_buffers=2GB",
    "effective_cache_size=4GB",
    "max_wal_size=64GB",
    "checkpoint_timeout=1d",
    "autovacuum=off",
    "jit=off",
];
const START_TIME_MAX: Duration = Duration::from_secs(60);

/// A server with its own data directory.
pub(crate) struct Postgres {
    server: Child,
    directory: TempDir,
}

impl Postgres {
    /// Starts the server. If that is not possible, prints the reason in one line.
    pub(crate) fn start() -> Option<Self> {
        match Self::try_start() {
            Ok(postgres) => Some(postgres),
            Err(why) => {
                println!("skipped: PostgreSQL, because {why}");
                None
            }
        }
    }

    fn try_start() -> Result<Self, String> {
        let programs = programs().or_else(|| install().then(programs).flatten());
        let programs = programs.ok_or(format!(
            "Debian's package postgresql, version {VERSION_LEAST} or later, is not here"
        ))?;
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let user = Unprivileged::find()?;
        user.own(directory.path())?;
        let data = directory.path().join("data");
        let made = user
            .run(&programs.join("initdb"))
            .args([
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--username",
                USER,
            ])
            .arg("--pgdata")
            .arg(&data)
            .output();
        let made = made.map_err(|error| format!("initdb: {error}"))?;
        if !made.status.success() {
            return Err(format!("initdb: {}", String::from_utf8_lossy(&made.stderr)));
        }
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let server = user
            .run(&programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(directory.path())
            .args(settings)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("postgres: {error}"))?;
        Ok(Self { server, directory })
    }

    /// Connects over a Unix socket, which is its fastest transport.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new();
        config
            .host_path(self.directory.path())
            .user(USER)
            .dbname("postgres");
        config
    }

    /// Returns a connection once the server accepts one.
    pub(crate) async fn client(&self) -> Client {
        let begin = Instant::now();
        loop {
            match connect(&self.config()).await {
                Ok(client) => return client,
                Err(error) if begin.elapsed() > START_TIME_MAX => panic!("PostgreSQL: {error}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Runs a statement with one newly generated text parameter on `connections` concurrent
    /// connections for `time`. Returns results per second.
    pub(crate) fn rate<P: AsRef<str> + Send + Sync>(
        &self,
        statement: &'static str,
        new: impl Fn() -> P + Clone + Send + 'static,
        connections: usize,
        time: Duration,
    ) -> f64 {
        let config = self.config();
        alone(move || run(config, statement, new, connections, time))
    }
}

impl Drop for Postgres {
    /// A fast shutdown.
    fn drop(&mut self) {
        let told = Command::new("kill")
            .args(["-INT", &self.server.id().to_string()])
            .status();
        if !told.is_ok_and(|status| status.success()) {
            let _gone_already = self.server.kill();
        }
        let _ended = self.server.wait();
    }
}

async fn connect(config: &Config) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn run<P: AsRef<str> + Send + Sync>(
    config: Config,
    statement: &'static str,
    new: impl Fn() -> P + Clone + Send + 'static,
    connections: usize,
    time: Duration,
) -> f64 {
    let stop = Arc::new(AtomicBool::new(false));
    let results = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..connections)
        .map(|_| {
            let (config, new) = (config.clone(), new.clone());
            let (stop, results) = (stop.clone(), results.clone());
            tokio::spawn(async move {
                let client = connect(&config).await.expect("it takes connections");
                let statement = client.prepare(statement).await.expect("a statement");
                while !stop.load(Relaxed) {
                    let rows = client.query(&statement, &[&new().as_ref()]).await;
                    assert!(!rows.expect("a result").is_empty(), "nothing was found");
                    results.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    let begin = Instant::now();
    tokio::time::sleep(time).await;
    let rate = results.load(Relaxed) as f64 / begin.elapsed().as_secs_f64();
    stop.store(true, Relaxed);
    for client in clients {
        client.await.expect("every statement had a result");
    }
    rate
}

/// The text columns of a row.
pub(crate) fn texts(row: &Row) -> Vec<String> {
    (0..row.len()).map(|column| row.get(column)).collect()
}

/// The directory of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir(VERSIONS).ok()?.filter_map(Result::ok);
    let versions = versions.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let programs = entry.path().join("bin");
        let whole = version >= VERSION_LEAST && programs.join("initdb").is_file();
        whole.then_some((version, programs))
    });
    versions.max().map(|(_, programs)| programs)
}

/// Installs the package if this process runs as root. Returns whether it did.
fn install() -> bool {
    let installed = || {
        Command::new("apt-get")
            .args(["install", "-y", "--no-install-recommends", "postgresql"])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null())
            .status()
    };
    is_root() && installed().is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// The user of the server, which refuses to run as root.
struct Unprivileged {
    /// The package's user and group. `None` if this process is unprivileged itself.
    ids: Option<(u32, u32)>,
}

impl Unprivileged {
    fn find() -> Result<Self, String> {
        if !is_root() {
            return Ok(Self { ids: None });
        }
        let users = fs::read_to_string("/etc/passwd").map_err(|error| error.to_string())?;
        let mut users = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let ids = users.find_map(|user| match user[..] {
            ["postgres", _, user, group, ..] => Some((user.parse().ok()?, group.parse().ok()?)),
            _ => None,
        });
        let ids = ids.ok_or("the package's user, postgres, is not here")?;
        Ok(Self { ids: Some(ids) })
    }

    fn own(&self, directory: &Path) -> Result<(), String> {
        let (user, group) = self.ids.unzip();
        chown(directory, user, group).map_err(|error| error.to_string())
    }

    fn run(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/");
        if let Some((user, group)) = self.ids {
            command.uid(user).gid(group);
        }
        command
    }
}
