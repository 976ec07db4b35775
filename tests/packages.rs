//! The packages: what is in an archive, and that it can be installed the way krew does it, and run by
//! a real kubectl.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)] // a test may fail

#[path = "packages/promises.rs"]
mod promises;
#[path = "packages/workflows.rs"]
mod workflows;

use crate::files;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use release::archive::Compression;
use release::checksums::sha256;
use release::krew::manifest::NO_SUM;
use release::krew::programs;
use release::make::{self, Package};
use release::product::{HOMEPAGE, LICENCE, LINKS, NAME, SHORT, TARGETS, Target};
use release::{archive, compile, homebrew};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The time of all files in the archives made here.
const TIME: u64 = 1_767_225_600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The platform of this machine; `None` when no release is made for it, which it says.
fn host() -> Option<Target> {
    let triple = compile::host(root()).unwrap();
    let found = Target::find(&triple);
    if let Err(why) = &found {
        eprintln!("skipped: {why}");
    }
    found.ok()
}

/// The archive of a small file that stands for the program.
fn small(folder: &Path, target: Target) -> Package {
    let program = folder.join("program");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    make::package(root(), target, &program, TIME, Compression::best()).unwrap()
}

/// Whoever builds from source is promised that this Rust is enough: it is the one that CI builds with.
#[test]
fn the_oldest_rust_is_the_one_that_is_built_with() {
    let toolchain = std::fs::read_to_string(root().join("rust-toolchain.toml")).unwrap();
    let channel = format!("channel = \"{}.0\"", env!("CARGO_PKG_RUST_VERSION"));
    assert!(toolchain.contains(&channel), "{channel}: {toolchain}");
}

#[test]
fn an_archive_is_made_of_the_repository_and_the_program_alone() {
    let Some(target) = host() else { return };
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let package = small(here.path(), target);
    assert_eq!(package, small(there.path(), target));

    let entries = archive::read(&package.archive).unwrap();
    let programs: Vec<_> = entries.iter().filter(|entry| entry.executable).collect();
    assert_eq!(programs.len(), 1);
    assert_eq!(programs[0].path, target.binary());
    let has = |path: &str| entries.iter().any(|entry| entry.path == path);
    for path in [
        "LICENSE",
        "THIRD-PARTY-LICENSES",
        "man/kubectl-fleet-stage.1",
    ] {
        assert!(has(path), "{path}");
    }
    for folder in ["man", "completions"] {
        for file in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(has(&format!("{folder}/{name}")), "{folder}/{name}");
        }
    }
    let licence = entries.iter().find(|entry| entry.path == "LICENSE");
    assert!(String::from_utf8_lossy(&licence.unwrap().data).contains("Apache License"));
}

/// What the crates say, against what is known of a few.
#[test]
fn the_components_are_those_of_the_program() {
    let Some(target) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let package = small(folder.path(), target);
    let bom: serde_json::Value = serde_json::from_str(&package.sbom).unwrap();
    let components = bom["components"].as_array().unwrap();
    let find = |name: &str| components.iter().find(|one| one["name"] == name);
    let rustls = find("rustls").unwrap();
    assert_eq!(rustls["scope"], "required");
    assert_eq!(rustls["hashes"][0]["content"].as_str().unwrap().len(), 64);
    assert_eq!(find("serde_derive").unwrap()["scope"], "excluded");
    // A test's, a build script's, a developer's, and ourselves.
    for name in ["insta", "cc", "clap_mangen", "test-hub", NAME] {
        assert!(find(name).is_none(), "{name}");
    }
    let program = &bom["metadata"]["component"];
    assert_eq!(program["version"], VERSION);
    assert_eq!(program["hashes"][0]["content"], sha256(b"#!/bin/sh\n"));
    assert!(package.notices.contains("\nrustls "), "{}", package.notices);
    assert!(!package.notices.contains("\nserde_derive "));
}

/// Cargo.toml says the same as the table: cargo-deb reads both.
#[test]
fn cargo_knows_the_same_facts() {
    assert_eq!(env!("CARGO_PKG_NAME"), NAME);
    assert_eq!(env!("CARGO_PKG_DESCRIPTION"), SHORT);
    assert_eq!(env!("CARGO_PKG_LICENSE"), LICENCE);
    assert_eq!(env!("CARGO_PKG_REPOSITORY"), HOMEPAGE);
}

/// The manifest in the repository has krew's form, and cannot be taken for one of a release.
#[test]
fn the_manifest_of_the_repository_is_a_template() {
    let text = std::fs::read_to_string(root().join("krew-manifest.yaml")).unwrap();
    assert!(text.contains(&format!("version: v{VERSION}\n")), "{text}");
    assert_eq!(text.matches(NO_SUM).count(), TARGETS.len());
    if kubectl().is_some() {
        programs::validate(root(), &text).unwrap();
    }
}

/// What krew-index would refuse, and an archive that is not the one of the manifest or lacks a file.
#[test]
fn krew_says_what_it_cannot_install() {
    let Some(target) = host().filter(|_| kubectl().is_some()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |path: String| archive::Entry {
        executable: path == target.binary(),
        path,
        data: b"x".to_vec(),
    };
    let refused = |files: &[String], change: &dyn Fn(&str) -> String| {
        let files: Vec<_> = files.iter().cloned().map(file).collect();
        let packed = archive::write(&files, TIME, Compression::none()).unwrap();
        std::fs::write(folder.path().join(target.archive(VERSION)), packed).unwrap();
        let made = make::describe(folder.path(), VERSION, true).unwrap();
        let checked = make::check(root(), &change(&made.manifest), folder.path(), VERSION);
        checked
            .err()
            .map(|error| format!("{error:#}"))
            .unwrap_or_default()
    };
    let all = [
        target.binary(),
        "LICENSE".into(),
        "THIRD-PARTY-LICENSES".into(),
    ];
    assert_eq!(refused(&all, &str::to_owned), "");
    let without = refused(&all[..1], &str::to_owned);
    assert!(without.contains("LICENSE"), "{without}");
    let other = refused(&all, &|text| {
        let (before, sum) = text.split_once("sha256: \"").unwrap();
        format!("{before}sha256: \"{NO_SUM}{}", &sum[64..])
    });
    assert!(other.contains("checksum"), "{other}");
    let kind = refused(&all, &|text| text.replace("kind: Plugin", "kind: Plugins"));
    assert!(kind.contains("kind"), "{kind}");
}

/// An archive of the program under test, which krew installed by the manifest that is made from it.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new(target: Target) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
        let package = make::package(root(), target, program, TIME, Compression::none()).unwrap();
        let dist = folder.path().join("dist");
        std::fs::create_dir(&dist).unwrap();
        std::fs::write(dist.join(target.archive(VERSION)), &package.archive).unwrap();
        let manifest = make::describe(&dist, VERSION, true).unwrap().manifest;
        let archive = dist.join(target.archive(VERSION));
        programs::install(root(), &manifest, target, &archive, folder.path()).unwrap();
        Self { folder }
    }

    fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn link(&self, to: &Path, name: &str) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(to, self.bin().join(name)).unwrap();
        #[cfg(not(unix))]
        std::fs::copy(to, self.bin().join(name)).map(drop).unwrap();
    }

    /// Runs a program that finds the plugin on its `PATH`, and no hub.
    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        let mut path = OsString::from(self.bin());
        if let Some(others) = std::env::var_os("PATH") {
            path.push(if cfg!(windows) { ";" } else { ":" });
            path.push(others);
        }
        Command::new(program)
            .args(arguments)
            .current_dir(root())
            .env("PATH", path)
            .env("KUBECONFIG", self.folder.path().join("none"))
            .output()
            .unwrap()
    }
}

fn answer(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A diagnosis of a bundle, which ends with exit code 4.
const DIAGNOSE: [&str; 4] = [
    "diagnose",
    "example-run",
    "-f",
    "examples/cluster/waiting-for-approval.yaml",
];

#[test]
fn an_installed_archive_runs_and_kubectl_runs_it() {
    let (Some(target), Some(kubectl)) = (host(), kubectl()) else {
        return;
    };
    let installed = Installed::new(target);
    let name = format!("{}{}", LINKS[0], std::env::consts::EXE_SUFFIX);
    let link = installed.bin().join(&name);
    let version = installed.run(&link, &["version"]);
    assert!(answer(&version).contains(VERSION), "{version:?}");
    let diagnosed = installed.run(&link, &DIAGNOSE);
    assert_eq!(diagnosed.status.code(), Some(4), "{diagnosed:?}");

    let run = |words: &[&str]| installed.run(&kubectl, words);
    assert!(answer(&run(&["plugin", "list"])).contains(&name));
    let words = [&["fleet-stage"], &DIAGNOSE[..]].concat();
    let by_kubectl = run(&words);
    assert_eq!(by_kubectl.status.code(), Some(4), "{by_kubectl:?}");
    assert_eq!(answer(&by_kubectl), answer(&diagnosed));

    // What the caveats say: with one more link, kubectl completes.
    let before = answer(&run(&["__complete", "fleet-stage", "diag"]));
    assert!(!before.contains("diagnose"), "{before}");
    installed.link(&link, LINKS[1]);
    let after = answer(&run(&["__complete", "fleet-stage", "diag"]));
    assert!(after.contains("diagnose"), "{after}");
}

/// A real kubectl; `None` when there is none, which it says.
fn kubectl() -> Option<PathBuf> {
    match test_hub::kubectl() {
        Ok(program) => Some(program),
        Err(test_hub::Error::Missing(why)) => {
            eprintln!("skipped: {why}");
            None
        }
        Err(error) => panic!("there is no kubectl: {error}"),
    }
}

#[test]
fn the_formula_is_ruby() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(homebrew::FILE);
    std::fs::write(&file, homebrew::write(VERSION, |_| Some("ab".repeat(32)))).unwrap();
    let Ok(output) = Command::new("ruby").arg("-c").arg(&file).output() else {
        // The release's own workflow has it; nothing else of the project needs it.
        eprintln!("skipped: ruby is not installed, and reads the formula");
        return;
    };
    assert!(output.status.success(), "{output:?}");
}
