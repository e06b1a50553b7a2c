//! Clusters of real `fdbserver` processes on this machine, stopped by process id.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use tempfile::TempDir;

/// The timeout for a cluster to start, so that a failure does not hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// FoundationDB's programs.
pub(crate) struct Programs {
    fdbserver: PathBuf,
    fdbcli: PathBuf,
}

impl Programs {
    /// Finds them in PATH and next to the directories of `LD_LIBRARY_PATH`. The error names the
    /// missing one.
    pub(crate) fn find() -> Result<Self, &'static str> {
        Ok(Self {
            fdbserver: find("fdbserver").ok_or("fdbserver")?,
            fdbcli: find("fdbcli").ok_or("fdbcli")?,
        })
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let paths = |name: &str| {
        let value = env::var_os(name).unwrap_or_default();
        env::split_paths(&value).collect::<Vec<_>>()
    };
    let beside = |library: PathBuf| [library.clone(), library.join("../bin")];
    let libraries = paths("LD_LIBRARY_PATH").into_iter().flat_map(beside);
    let mut directories = paths("PATH").into_iter().chain(libraries);
    directories.find_map(|directory| {
        let path = directory.join(program);
        path.is_file().then_some(path)
    })
}

/// The number of copies that a cluster keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redundancy {
    /// One copy, in one process.
    Single,
    /// Two copies, in three processes.
    Double,
}

/// Where the processes of a cluster keep data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// In memory, and in a log in the directory.
    Memory,
    /// In B-trees in the directory.
    Ssd,
}

/// A cluster with its data in a temporary directory.
pub(crate) struct Cluster {
    programs: Programs,
    directory: TempDir,
    processes: Vec<Process>,
    /// The environment of its programs, if they use TLS.
    tls: Option<Environment>,
}

/// Variables and their values.
pub(crate) type Environment = Vec<(&'static str, PathBuf)>;

struct Process {
    port: u16,
    child: Option<Child>,
}

impl Cluster {
    /// Starts a cluster and waits until it is available.
    pub(crate) fn start(redundancy: Redundancy) -> Self {
        Self::start_with(redundancy, Engine::Memory, None)
    }

    /// Starts a cluster of one process that keeps its data in B-trees.
    pub(crate) fn start_with_ssd() -> Self {
        Self::start_with(Redundancy::Single, Engine::Ssd, None)
    }

    /// Starts a cluster of one process that listens with TLS.
    pub(crate) fn start_with_tls(environment: Environment) -> Self {
        Self::start_with(Redundancy::Single, Engine::Memory, Some(environment))
    }

    fn start_with(redundancy: Redundancy, engine: Engine, tls: Option<Environment>) -> Self {
        let ports = free_ports(match redundancy {
            Redundancy::Single => 1,
            Redundancy::Double => 3,
        });
        let directory = tempfile::tempdir().expect("a directory");
        let mut cluster = Self {
            programs: Programs::find().unwrap_or_else(|missing| panic!("{missing} not found")),
            directory,
            processes: Vec::new(),
            tls,
        };
        let addresses: Vec<_> = ports.iter().map(|port| cluster.address(*port)).collect();
        let text = format!("test:test@{}\n", addresses.join(","));
        fs::write(cluster.file(), text).expect("a cluster file");
        for port in ports {
            cluster.processes.push(Process { port, child: None });
            cluster.spawn(cluster.processes.len() - 1);
        }
        let copies = match redundancy {
            Redundancy::Single => "single",
            Redundancy::Double => "double",
        };
        let engine = match engine {
            Engine::Memory => "memory",
            Engine::Ssd => "ssd",
        };
        cluster.configure(&format!("configure new {copies} {engine}"));
        cluster
    }

    /// Its cluster file.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("fdb.cluster")
    }

    /// Pauses a process, as if the machine were unreachable.
    pub(crate) fn pause(&self, number: usize) {
        self.signal(number, "STOP");
    }

    /// Resumes a paused process.
    pub(crate) fn resume(&self, number: usize) {
        self.signal(number, "CONT");
    }

    /// Kills a process.
    pub(crate) fn kill(&mut self, number: usize) {
        if let Some(mut child) = self.processes[number].child.take() {
            child.kill().expect("it is ours");
            child.wait().expect("it ends");
        }
    }

    /// Starts a killed process again, with the data that it had.
    pub(crate) fn start_again(&mut self, number: usize) {
        assert!(self.processes[number].child.is_none(), "it runs");
        self.spawn(number);
    }

    fn address(&self, port: u16) -> String {
        let tls = if self.tls.is_some() { ":tls" } else { "" };
        format!("127.0.0.1:{port}{tls}")
    }

    fn environment(&self) -> Environment {
        self.tls.clone().unwrap_or_default()
    }

    fn signal(&self, number: usize, signal: &str) {
        let child = self.processes[number].child.as_ref().expect("it runs");
        let sent = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
    }

    fn spawn(&mut self, number: usize) {
        let port = self.processes[number].port;
        let path = |name: &str| self.directory.path().join(format!("{name}-{number}"));
        let (data, log) = (path("data"), path("log"));
        for directory in [&data, &log] {
            fs::create_dir_all(directory).expect("a directory");
        }
        let child = Command::new(&self.programs.fdbserver)
            .envs(self.environment())
            .args(["-p", &self.address(port)])
            .arg("-C")
            .arg(self.file())
            .arg("-d")
            .arg(data)
            .arg("-L")
            .arg(log)
            .arg(format!("--locality-zoneid=zone-{number}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.processes[number].child = Some(child.expect("fdbserver starts"));
    }

    /// Creates the database, which takes until the processes have found one another.
    fn configure(&self, command: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = self.ask(command);
            if said.contains("Database created") || said.contains("already exists") {
                break;
            }
            assert!(Instant::now() < deadline, "no cluster: {said}");
            sleep(Duration::from_millis(200));
        }
        while !self.ask("status minimal").contains("is available") {
            assert!(Instant::now() < deadline, "the cluster is not available");
            sleep(Duration::from_millis(200));
        }
    }

    fn ask(&self, command: &str) -> String {
        let output = Command::new(&self.programs.fdbcli)
            .envs(self.environment())
            .arg("-C")
            .arg(self.file())
            .args(["--timeout", "20", "--exec", command])
            .output()
            .expect("fdbcli runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for number in 0..self.processes.len() {
            self.kill(number);
        }
    }
}

/// Different free ports.
fn free_ports(count: usize) -> Vec<u16> {
    let bind = |_| TcpListener::bind("127.0.0.1:0").expect("a port");
    let listeners: Vec<_> = (0..count).map(bind).collect();
    let port = |listener: &TcpListener| listener.local_addr().expect("an address").port();
    listeners.iter().map(port).collect()
}

/// The `phyllo` command on a cluster.
pub(crate) fn phyllo(cluster_file: &Path, command: impl AsRef<OsStr>) -> Command {
    phyllo_on(&format!("fdb:{}", cluster_file.display()), command)
}

/// The `phyllo` command on a store.
pub(crate) fn phyllo_on(store: &str, command: impl AsRef<OsStr>) -> Command {
    let mut phyllo = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    phyllo
        .arg(command)
        .args(["--store", store])
        .env_remove("PHYLLO_LISTEN")
        .env_remove("PHYLLO_STORE");
    phyllo
}
