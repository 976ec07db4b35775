//! Files that are no files: whatever a name given to `-o` stands for stays what it is.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use kubectl_fleet_stage::commands::show::saving::{self, FileDestination};
use kubectl_fleet_stage::ui::Ui;

use super::ends;

fn save(path: &Path, text: &str) -> Result<(), String> {
    saving::check(path).map_err(|error| error.to_string())?;
    saving::save(path, text, &mut Ui::of_process()).map_err(|error| error.to_string())
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Saves while someone reads, and gives what was read.
fn saved_to_reader(path: &Path, reader: &Path, text: &str) -> Vec<u8> {
    let reader = reader.to_owned();
    let reading = std::thread::spawn(move || {
        let mut found = Vec::new();
        File::open(reader).unwrap().read_to_end(&mut found).unwrap();
        found
    });
    save(path, text).unwrap();
    reading.join().unwrap()
}

#[test]
fn a_fifo_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let link = folder.path().join("link");
    let second = folder.path().join("second");
    fifo(&pipe);
    symlink("pipe", &link).unwrap();
    symlink(&link, &second).unwrap();
    for name in [&pipe, &link, &second] {
        // A new one each time: a process that another test is about to start may still hold the end
        // of the last one open for a moment, and would be taken for the reader.
        fs::remove_file(&pipe).unwrap();
        fifo(&pipe);
        assert_eq!(saved_to_reader(name, &pipe, "text\n"), b"text\n");
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    }
    assert!(fs::symlink_metadata(&second).unwrap().is_symlink());
    // Its name says how, not what it is.
    let packed = folder.path().join("pipe.gz");
    fifo(&packed);
    let found = saved_to_reader(&packed, &packed, "text\n");
    assert!(found.starts_with(&[0x1f, 0x8b]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

/// What `>(…)` gives: an open pipe by the name of its number.
#[test]
fn what_a_shell_opened_is_written_to() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
    let path = format!("/dev/fd/{number}");
    save(Path::new(&path), "text\n").unwrap();
    drop(writer);
    let mut found = String::new();
    reader.read_to_string(&mut found).unwrap();
    assert_eq!(found, "text\n");
    // A file that was opened to be appended to keeps what is in it.
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, "before\n").unwrap();
    let open = File::options().append(true).open(&log).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    save(Path::new(&format!("/dev/fd/{number}")), "text\n").unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "before\ntext\n");
    let standard = [
        "/dev/stdout",
        "/dev/fd/1",
        "/proc/self/fd/1",
        "/proc/thread-self/fd/1",
    ];
    for name in standard {
        let found = FileDestination::find(Path::new(name)).unwrap();
        let expected = match name {
            "/proc/thread-self/fd/1" => matches!(found, FileDestination::Stream(_)),
            _ => found == FileDestination::StandardOutput,
        };
        assert!(expected, "{name}: {found:?}");
    }
}

/// A device of this test's own; only root may make one.
#[test]
fn a_device_stays() {
    let folder = tempfile::tempdir().unwrap();
    let null = folder.path().join("null");
    let made = Command::new("mknod")
        .arg(&null)
        .args(["c", "1", "3"])
        .output()
        .unwrap();
    if !made.status.success() {
        return;
    }
    let link = folder.path().join("link");
    symlink(&null, &link).unwrap();
    for name in [&null, &link] {
        // Devices may be forbidden where the folder is: the write fails, and the device stays.
        let opened = File::options().write(true).open(&null).is_ok();
        assert_eq!(save(name, "text\n").is_ok(), opened);
        let found = fs::symlink_metadata(&null).unwrap();
        assert!(found.file_type().is_char_device());
        assert_eq!(found.rdev(), 0x103);
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_file_is_replaced_whole_and_links_to_it_stay() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("file");
    let link = folder.path().join("link");
    let nowhere = folder.path().join("nowhere");
    fs::write(&file, "much more than before\n").unwrap();
    let before = fs::metadata(&file).unwrap().ino();
    symlink(&file, &link).unwrap();
    symlink(elsewhere.path().join("new"), &nowhere).unwrap();
    save(&link, "text\n").unwrap();
    save(&nowhere, "text\n").unwrap();
    for name in ["file", "new"] {
        let path = elsewhere.path().join(name);
        assert_eq!(fs::read_to_string(&path).unwrap(), "text\n");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    assert_ne!(fs::metadata(&file).unwrap().ino(), before);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::symlink_metadata(&nowhere).unwrap().is_symlink());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 2);
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let round = folder.path().join("round");
    symlink("round", &round).unwrap();
    let missing = folder.path().join("missing/file");
    let slash = folder.path().join("new/");
    for path in [folder.path(), &round, &missing, &slash] {
        assert!(saving::check(path).is_err(), "{}", path.display());
        assert!(save(path, "text\n").is_err());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// An answer that nobody can get is an error, of every command that reads.
#[test]
fn a_closed_stream_loses_no_answer() {
    let bundle = "-f examples/cluster/waiting-for-approval.yaml";
    for command in [
        "list",
        "list -o json",
        "status example-run",
        "approvals",
        "diagnose example-run",
        "diagnose example-run -o html",
        "history crp/example-placement",
        "clusters crp/example-placement",
        "snapshots crp/example-placement",
        "snapshots show crp/example-placement 0",
        "strategies",
        "render crp/example-placement",
        "plan --placement example-placement --strategy example-strategy",
        "explain FS401",
        "version",
        "schema",
        "options",
        "completion bash",
        "list --help",
    ] {
        let is_about_objects = !["explain", "version", "schema", "options", "completion"]
            .contains(&command.split(' ').next().unwrap())
            && !command.contains("--help");
        let files = if is_about_objects { bundle } else { "" };
        let program = env!("CARGO_BIN_EXE_kubectl-fleet-stage");
        let outputs = [">&-", "> /dev/null"].map(|to| {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", &format!("{program} {command} {files} {to}")]);
            // Nothing of an outer one is left.
            ends(shell.env("FLEET_STAGE_CLOSED", "1"))
        });
        let [closed, open] = outputs.map(|output| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.code(), said.contains("is closed"))
        });
        assert_eq!(closed, (Some(1), true), "{command}");
        assert!(!open.1 && open.0 != Some(1), "{command}: {open:?}");
    }
}
