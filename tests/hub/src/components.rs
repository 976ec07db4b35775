//! The servers' programs and kubectl: built from source once, and kept.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, context};

/// The programs that a hub is made of.
#[derive(Debug, Clone)]
pub struct Components {
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub apiserver: PathBuf,
    /// kubectl, of the same version.
    pub kubectl: PathBuf,
}

/// What is built: the Go package, and the name that the program gets.
const PROGRAMS: [(&str, &str); 3] = [
    ("go.etcd.io/etcd/server/v3", "server"),
    ("k8s.io/kubernetes/cmd/kube-apiserver", "kube-apiserver"),
    ("k8s.io/kubernetes/cmd/kubectl", "kubectl"),
];

/// Where a real kubectl is, or why there is none.
pub fn kubectl() -> Result<PathBuf, Error> {
    Components::find().map(|components| components.kubectl)
}

/// Names another folder for the built programs.
pub const CACHE: &str = "FLEET_STAGE_TEST_CACHE";
/// Makes a missing Go an error instead of a reason to skip; so does `CI`.
pub const REQUIRE: &str = "FLEET_STAGE_REQUIRE_HUB";

impl Components {
    /// Finds the programs, or builds them, which takes some minutes the first time. Says on
    /// standard error that it does.
    pub fn find() -> Result<Self, Error> {
        let module = Path::new(env!("CARGO_MANIFEST_DIR"));
        let go = go_version()?;
        let mut hasher = DefaultHasher::new();
        go.hash(&mut hasher);
        for file in ["go.mod", "go.sum"] {
            let path = module.join(file);
            let text = fs::read(&path).map_err(context(format!("reading {}", path.display())))?;
            text.hash(&mut hasher);
        }
        let folder = std::env::var_os(CACHE).map_or_else(
            || module.join("..").join("..").join("target").join("test-hub"),
            PathBuf::from,
        );
        let folder = folder.join(format!("{:016x}", hasher.finish()));
        let this = Self {
            etcd: folder.join("server"),
            apiserver: folder.join("kube-apiserver"),
            kubectl: folder.join("kubectl"),
        };
        if this.is_there() {
            return Ok(this);
        }
        fs::create_dir_all(&folder).map_err(context(format!("creating {}", folder.display())))?;
        // Test binaries run beside each other: one builds, the others wait for it.
        let lock = folder.join("lock");
        let lock = File::create(&lock).map_err(context(format!("creating {}", lock.display())))?;
        lock.lock()
            .map_err(context("waiting for another build".to_owned()))?;
        if !this.is_there() {
            build(module, &folder)?;
        }
        Ok(this)
    }

    fn is_there(&self) -> bool {
        self.etcd.exists() && self.apiserver.exists() && self.kubectl.exists()
    }
}

fn go_version() -> Result<String, Error> {
    let output = Command::new("go").arg("version").output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        _ => {
            let required = [REQUIRE, "CI"]
                .iter()
                .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
            let why = "Go is not installed, and etcd, kube-apiserver and kubectl are built with it";
            Err(if required {
                Error::Failed(why.to_owned())
            } else {
                Error::Missing(why.to_owned())
            })
        }
    }
}

/// Builds into a folder beside the cache and moves the programs there, so that nobody sees half of
/// one.
#[allow(clippy::print_stderr)] // whoever waits for minutes wants to know what for
fn build(module: &Path, folder: &Path) -> Result<(), Error> {
    eprintln!("building etcd, kube-apiserver and kubectl for the test hub: some minutes, once");
    let parts = folder.join("parts");
    fs::create_dir_all(&parts).map_err(context(format!("creating {}", parts.display())))?;
    let output = Command::new("go")
        .current_dir(module)
        .args([
            "build",
            "-mod=readonly",
            "-trimpath",
            "-ldflags",
            "-s -w",
            "-o",
        ])
        .arg(&parts)
        .args(PROGRAMS.map(|(package, _)| package))
        .output()
        .map_err(context("starting go build".to_owned()))?;
    if !output.status.success() {
        return Err(Error::Failed(format!(
            "go build failed in {}:\n{}",
            module.display(),
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    for (_, name) in PROGRAMS {
        fs::rename(parts.join(name), folder.join(name))
            .map_err(context(format!("moving {name} into {}", folder.display())))?;
    }
    Ok(())
}
