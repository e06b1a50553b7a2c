//! File permissions: other users have no access to stores, backups and exports, whatever the umask
//! is, and symbolic links of other users are not followed.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use phyllo::server::local::SOCKET_NAME;
use phyllo::store::FILE_NAME;

use super::harness::{Ran, Store, both};

const MAKING_NAME: &str = "phyllo.redb.new";

fn mode(path: &Path) -> u32 {
    let found = fs::symlink_metadata(path);
    let found = found.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    found.permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("its owner may");
}

/// A command in a process with umask 0.
fn permissive(store: &Store, arguments: &[&str]) -> Command {
    let command = store.command(arguments);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "umask 000; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args())
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    shell
}

fn run_permissive(store: &Store, arguments: &[&str]) {
    let output = permissive(store, arguments).output();
    Ran::from(output.expect("a shell")).expect(0);
}

/// A server process that has created its socket, killed when dropped.
struct Served(Option<Child>);

impl Served {
    fn start(store: &Store) -> Self {
        let mut command = permissive(store, &["serve", "--listen", "127.0.0.1:0"]);
        let served = Self(Some(command.spawn().expect("a shell")));
        let begin = Instant::now();
        while !store.path().join(SOCKET_NAME).exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it serves");
            std::thread::sleep(Duration::from_millis(10));
        }
        served
    }

    /// Stops the server and returns its log.
    fn stop(mut self) -> String {
        let process = self.0.take().expect("it runs");
        let kill = Command::new("kill").arg(process.id().to_string()).status();
        assert!(kill.expect("kill runs").success());
        let output = process.wait_with_output().expect("it ends");
        Ran::from(output).expect(0).err
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut process) = self.0.take() {
            // The process may have ended.
            let _killed = process.kill();
            let _ended = process.wait();
        }
    }
}

/// Asserts that only the owner has access to a directory and all files in it.
#[track_caller]
fn assert_private(directory: &Path, names: &[&str]) {
    assert_eq!(mode(directory), 0o700, "{}", directory.display());
    let entries = fs::read_dir(directory).expect("a directory");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("one").path()).collect();
    found.sort();
    let expected: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
    assert_eq!(found, expected);
    for path in found {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn new_stores_and_backups_are_private_under_any_umask() {
    let store = Store::at("above/store");
    let file = store.file("numbers.json", "[1, 2]");
    run_permissive(&store, &["import", &file]);
    assert_private(store.path(), &[FILE_NAME]);
    // The parent directory, which the command created, is private, too.
    assert_eq!(mode(store.path().parent().expect("one")), 0o700);
    let backup = |name: &str| {
        let target = store.path().with_file_name(name);
        run_permissive(&store, &["backup", target.to_str().expect("plain")]);
        assert_private(&target, &[FILE_NAME]);
    };
    backup("alone");
    let served = Served::start(&store);
    assert_private(store.path(), &[FILE_NAME, SOCKET_NAME]);
    backup("served");
    let log = served.stop();
    assert!(!log.contains("open to other users"), "{log}");
    assert_private(store.path(), &[FILE_NAME]);
    // A server that creates a store also makes it private.
    let store = Store::alone();
    let served = Served::start(&store);
    assert_private(store.path(), &[FILE_NAME, SOCKET_NAME]);
    served.stop();
}

#[test]
fn server_start_restricts_permissions_of_existing_stores() {
    for (directory, file, narrowed) in [
        (0o755, 0o644, (0o700, 0o600)),
        (0o777, 0o666, (0o700, 0o600)),
        (0o700, 0o640, (0o700, 0o600)),
        (0o750, 0o600, (0o700, 0o600)),
        (0o2775, 0o660, (0o2700, 0o600)),
    ] {
        let store = Store::alone();
        store.import("[1]", &["--name", "x"]);
        let (path, left) = (store.path().join(FILE_NAME), store.path().join(MAKING_NAME));
        // A crash can leave a partly created store.
        fs::write(&left, "half made").expect("a file");
        set_mode(&path, file);
        set_mode(&left, file);
        set_mode(store.path(), directory);
        let log = Served::start(&store).stop();
        assert_eq!((mode(store.path()), mode(&path)), narrowed, "{log}");
        assert_eq!(mode(&left), narrowed.1);
        assert_eq!(fs::read(&left).expect("the file"), b"half made");
        for (path, old, new) in [
            (store.path(), directory, narrowed.0),
            (&path, file, narrowed.1),
        ] {
            let told = format!("(mode {old:o}); it is now open to its owner only (mode {new:o})");
            let path = path.file_name().expect("a name").to_str().expect("plain");
            let line = log.lines().find(|line| line.contains(&told));
            assert_eq!(line.is_some(), old != new, "{path}: {log}");
        }
        assert_eq!(store.out(&["get", "x-1"]), "1\n");
        let log = Served::start(&store).stop();
        assert!(!log.contains("open to other users"), "{log}");
    }
}

#[test]
fn every_command_restricts_permissions_of_the_store() {
    let store = Store::alone();
    store.import("[1]", &["--name", "x"]);
    let path = store.path().join(FILE_NAME);
    set_mode(&path, 0o644);
    set_mode(store.path(), 0o755);
    assert_eq!(store.out(&["get", "x-1"]), "1\n");
    assert_private(store.path(), &[FILE_NAME]);
}

#[test]
fn shared_directories_keep_their_mode_but_the_file_is_restricted() {
    let store = Store::alone();
    fs::create_dir_all(store.path()).expect("made");
    set_mode(store.path(), 0o1777);
    let log = Served::start(&store).stop();
    assert!(log.contains("shared directory (mode 1777)"), "{log}");
    assert_eq!(mode(store.path()), 0o1777);
    assert_eq!(mode(&store.path().join(FILE_NAME)), 0o600);
}

#[test]
fn stores_can_be_opened_through_links_of_their_owner() {
    let store = Store::alone();
    store.import("[1]", &["--name", "x"]);
    let elsewhere = store.path().with_file_name("elsewhere");
    fs::rename(store.path(), &elsewhere).expect("moved");
    symlink(&elsewhere, store.path()).expect("a link");
    let file = store.path().with_file_name("file");
    fs::rename(elsewhere.join(FILE_NAME), &file).expect("moved");
    symlink(&file, elsewhere.join(FILE_NAME)).expect("a link");
    set_mode(&elsewhere, 0o755);
    set_mode(&file, 0o644);
    assert_eq!(store.out(&["get", "x-1"]), "1\n");
    assert_eq!((mode(&elsewhere), mode(&file)), (0o700, 0o600));
    // A dangling link does not count as a missing store.
    fs::remove_file(&file).expect("removed");
    store.run(&["serve", "--listen", "127.0.0.1:0"]).expect(1);
    assert!(elsewhere.join(FILE_NAME).is_symlink());
}

#[test]
fn backups_do_not_follow_planted_links() {
    both(|store| {
        store.import("[1]", &[]);
        let beside = |name: &str| store.path().with_file_name(name);
        let victim = beside("victim");
        fs::write(&victim, "of somebody else").expect("a file");
        for (case, name) in [MAKING_NAME, FILE_NAME].into_iter().enumerate() {
            for leads_to in [&victim, &beside("nowhere"), &beside("victims")] {
                fs::create_dir_all(beside("victims")).expect("a directory");
                let target = beside(&format!("target-{case}"));
                fs::create_dir_all(&target).expect("a directory");
                symlink(leads_to, target.join(name)).expect("a link");
                let target = target.to_str().expect("plain");
                let run = store.run(&["backup", target]).expect(1);
                let said = if name == MAKING_NAME {
                    "not followed"
                } else {
                    "there is a store in"
                };
                run.says(said);
                fs::remove_file(Path::new(target).join(name)).expect("the link is still there");
            }
        }
        assert_eq!(fs::read(&victim).expect("the file"), b"of somebody else");
        assert!(!beside("nowhere").exists());
        let inside = fs::read_dir(beside("victims")).expect("a directory");
        assert_eq!(inside.count(), 0);
    });
}

#[test]
fn backups_to_a_linked_directory_are_rejected() {
    both(|store| {
        store.import("[1]", &[]);
        let beside = |name: &str| store.path().with_file_name(name);
        let (link, elsewhere) = (beside("link"), beside("elsewhere"));
        for there in [false, true] {
            if there {
                fs::create_dir(&elsewhere).expect("a directory");
            }
            let _former = fs::remove_file(&link);
            symlink(&elsewhere, &link).expect("a link");
            for end in ["", "/", "/.", "//./"] {
                let target = format!("{}{end}", link.display());
                store
                    .run(&["backup", &target])
                    .expect(1)
                    .says("symbolic link");
            }
            assert_eq!(elsewhere.exists(), there);
        }
        let inside = fs::read_dir(&elsewhere).expect("a directory");
        assert_eq!(inside.count(), 0);
        // Links in parent directories are followed, because the user named that path.
        let below = format!("{}/below", link.display());
        store.run(&["backup", &below]).expect(0);
        assert!(elsewhere.join("below").join(FILE_NAME).is_file());
    });
}

#[test]
fn backups_create_a_new_file_instead_of_reusing_one() {
    let store = Store::alone();
    store.import("[1]", &["--name", "x"]);
    let beside = |name: &str| store.path().with_file_name(name);
    let (victim, target) = (beside("victim"), beside("target"));
    fs::write(&victim, "of somebody else").expect("a file");
    fs::create_dir(&target).expect("a directory");
    let making = target.join(MAKING_NAME);
    let path = target.to_str().expect("plain");
    // A hard link to a file, and a file that another user has open.
    fs::hard_link(&victim, &making).expect("a link");
    store.run(&["backup", path]).expect(0);
    assert_eq!(fs::read(&victim).expect("the file"), b"of somebody else");
    assert_eq!(mode(&target.join(FILE_NAME)), 0o600);
    fs::remove_file(target.join(FILE_NAME)).expect("the backup");
    fs::write(&making, "left").expect("a file");
    set_mode(&making, 0o666);
    let mut open_before = File::open(&making).expect("open to others");
    store.run(&["backup", path]).expect(0);
    assert_eq!(mode(&target.join(FILE_NAME)), 0o600);
    let mut read = String::new();
    std::io::Read::read_to_string(&mut open_before, &mut read).expect("read");
    assert_eq!(read, "left", "it is another file");
    // Special files are neither read nor removed.
    fs::remove_file(target.join(FILE_NAME)).expect("the backup");
    let made = Command::new("mkfifo").arg(&making).status();
    assert!(made.expect("mkfifo runs").success());
    store
        .run(&["backup", path])
        .expect(1)
        .says("is not a regular file");
    fs::remove_file(&making).expect("it is there");
    fs::create_dir(&making).expect("a directory");
    store
        .run(&["backup", path])
        .expect(1)
        .says("is not a regular file");
    // An existing directory keeps its mode, because others may need it.
    fs::remove_dir(&making).expect("it is there");
    set_mode(&target, 0o755);
    store.run(&["backup", path]).expect(0);
    assert_eq!(mode(&target), 0o755);
}

#[test]
fn concurrent_backups_to_one_directory_fail_without_waiting() {
    let store = Store::alone();
    store.import("[1]", &[]);
    let target = store.path().with_file_name("target");
    fs::create_dir(&target).expect("a directory");
    let making = File::create_new(target.join(MAKING_NAME)).expect("a file");
    making.try_lock().expect("nobody else has it");
    let path = target.to_str().expect("plain");
    store
        .run(&["backup", path])
        .expect(1)
        .says("cannot be opened");
    assert!(target.join(MAKING_NAME).exists());
    drop(making);
    store.run(&["backup", path]).expect(0);
}

#[test]
fn exports_are_private_unless_they_replace_a_shared_file() {
    let store = Store::alone();
    store.import("[1]", &[]);
    let out = store.path().with_file_name("out");
    let export = ["export", "-o", out.to_str().expect("plain")];
    run_permissive(&store, &export);
    assert_eq!(mode(&out), 0o600);
    for kept in [0o644, 0o640, 0o600, 0o400] {
        set_mode(&out, kept);
        run_permissive(&store, &export);
        assert_eq!(mode(&out), kept);
    }
}
