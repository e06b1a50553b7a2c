//! The recipe's Python code, at full speed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{PYTHON_PROCESSES, TURN, python};

/// The recipe's code.
pub(crate) struct Recipe {
    python: PathBuf,
    cluster_file: PathBuf,
}

impl Recipe {
    pub(crate) fn find(cluster_file: &Path) -> Option<Self> {
        match python::environment() {
            Ok(python) => Some(Self {
                python,
                cluster_file: cluster_file.to_owned(),
            }),
            Err(why) => {
                println!("skipped: the recipe's Python code, because {why}");
                None
            }
        }
    }

    /// Runs it in several processes with this number of threads each, or in one with one thread.
    /// Returns calls per second.
    pub(crate) fn rate(&self, threads: usize, arguments: &[&str]) -> f64 {
        let processes = if threads == 1 { 1 } else { PYTHON_PROCESSES };
        let start = |_| {
            Command::new(&self.python)
                .arg("tests/foundationdb/recipe/rate.py")
                .arg(&self.cluster_file)
                .args([&TURN.as_secs_f64().to_string(), &threads.to_string()])
                .args(arguments)
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .stdout(Stdio::piped())
                .spawn()
                .expect("Python runs")
        };
        let processes: Vec<_> = (0..processes).map(start).collect();
        let rates = processes.into_iter().map(|process| {
            let output = process.wait_with_output().expect("Python runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.trim().parse::<f64>().expect("a rate")
        });
        rates.sum()
    }
}
