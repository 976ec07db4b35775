//! The hub that all tests share, and folders of a PATH with kubectl and the plugin.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use test_hub::playground::{equip, fill};
use test_hub::standin::{StandIn, Timing};
use test_hub::{Crds, Error, Ran, TestHub, or_skip};
use tokio::runtime::Runtime;

/// Makes a missing shell or manual viewer an error instead of a reason to skip.
const REQUIRE: &str = "FLEET_STAGE_REQUIRE_SHELLS";

/// How long TAB waits for a hub.
pub const COMPLETE_TIMEOUT: &str = "FLEET_STAGE_COMPLETE_TIMEOUT";

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-fleet-stage");
/// The repository.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The names under which kubectl finds the plugin.
pub const NAMES: [&str; 2] = ["kubectl-fleet-stage", "kubectl-fleet_stage"];

/// A context's name with everything that means something to a shell.
pub const ODD: &str = "od\"d$x`y\\z!a";

/// The hub, kubectl, and where they are found.
pub struct Setting {
    /// The hub.
    pub hub: TestHub,
    /// Everything that a user installs, as links.
    pub bin: PathBuf,
    home: PathBuf,
    kubeconfig: PathBuf,
    _standin: StandIn,
    _runtime: Runtime,
}

impl Setting {
    /// The setting; `None` when a test is to be skipped, which it says.
    pub fn get() -> Option<&'static Self> {
        static SETTING: OnceLock<Option<Setting>> = OnceLock::new();
        // Nothing is rolled out there: what is to be stuck may be so sooner.
        let timing = Timing {
            stuck_after: Duration::from_secs(4),
            ..Timing::playground()
        };
        SETTING
            .get_or_init(|| or_skip(Self::start(timing)))
            .as_ref()
    }

    /// A setting for one test, which changes what is there: twice as fast as for a person.
    pub fn own() -> Option<Self> {
        let timing = Timing {
            look: Duration::from_secs(1),
            apply: Duration::from_secs(6),
            ..Timing::playground()
        };
        or_skip(Self::start(timing))
    }

    fn start(timing: Timing) -> Result<Self, Error> {
        let runtime = Runtime::new().unwrap();
        let (hub, standin) = runtime.block_on(async {
            let hub = TestHub::start(&test_hub::Options::default()).await?;
            hub.install(&Crds::from_environment()).await?;
            let standin = Box::pin(fill(hub.client().await?, 4, timing)).await;
            let standin = standin.map_err(|error| Error::Failed(error.to_string()))?;
            Ok::<_, Error>((hub, standin))
        })?;
        let [bin, home] = ["bin", "home"].map(|name| folder(&hub, name));
        equip(&bin, Path::new(BINARY))?;
        let this = Self {
            kubeconfig: home.join("config"),
            hub,
            bin,
            home,
            _standin: standin,
            _runtime: runtime,
        };
        this.prepare();
        Ok(this)
    }

    /// The context `hub` is the current one; of `away` nobody answers.
    fn prepare(&self) {
        std::fs::copy(self.hub.kubeconfig(), &self.kubeconfig).unwrap();
        for line in [
            "kubectl config use-context hub",
            "kubectl config set-cluster away --server https://127.0.0.1:1",
            "kubectl config set-context away --cluster away --user admin",
        ] {
            let ran = self.run(line);
            assert_eq!(ran.code, 0, "{line}: {ran:?}");
        }
    }

    /// A folder that goes away with the hub.
    pub fn folder(&self, name: &str) -> PathBuf {
        folder(&self.hub, name)
    }

    /// A `KUBECONFIG` with contexts that a shell reads as more than words.
    pub fn odd_contexts(&self, folder: &str) -> String {
        let file = self.folder(folder).join("config");
        let context = |name| serde_json::json!({"name": name, "context": {"cluster": "away"}});
        let config = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "contexts": [context(ODD), context("the other"), context("it's")],
        });
        std::fs::write(&file, config.to_string()).unwrap();
        format!("{}:{}", self.kubeconfig.display(), file.display())
    }

    /// Gives a command what a user's session has, and nothing else.
    pub fn equip(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", path(&self.bin))
            .env("HOME", &self.home)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm")
            // As long as it takes.
            .env(COMPLETE_TIMEOUT, "10m")
            .current_dir(&self.home);
    }

    /// A line that bash runs, which says what it has run in `_`.
    pub fn line(&self, line: &str) -> Command {
        let mut command = Command::new("bash");
        self.equip(&mut command);
        command.args(["--noprofile", "--norc", "-c", line]);
        command
    }

    /// Runs a line as a user types it.
    pub fn run(&self, line: &str) -> Ran {
        Ran::of(&mut self.line(line))
    }
}

fn folder(hub: &TestHub, name: &str) -> PathBuf {
    let folder = hub.folder().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A PATH that begins with a folder.
pub fn path(first: &Path) -> String {
    format!("{}:/usr/local/bin:/usr/bin:/bin", first.display())
}

/// Makes a link.
pub fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

/// Whether a program is here. Without it a test is skipped, which is said, and fails where nothing
/// may be skipped.
pub fn has(program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).exists()));
    if !found {
        missing(&format!("{program} is not installed"));
    }
    found
}

/// Skips a test for want of something, or fails where nothing may be skipped.
pub fn missing(what: &str) {
    let required = std::env::var_os(REQUIRE).is_some_and(|value| !value.is_empty());
    assert!(!required, "{what}, and nothing may be skipped");
    eprintln!("skipped: {what}");
}
