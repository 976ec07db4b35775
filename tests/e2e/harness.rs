//! The hub that all tests share, and the binary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use clap::error::ErrorKind;
use kube::Client;
use kubectl_fleet_stage::cli;
use kubectl_fleet_stage::render::invocation::Invocation;
use serde_json::{Value, json};
pub use test_hub::Ran;
use test_hub::fleet::{Fleet, annotated, member};
use test_hub::standin::{Served, SnapshotDelay, StandIn, TROUBLE, Timing, Trouble};
use test_hub::{Crds, Error, FaultProxy, Options, TestHub, or_skip};
use tokio::runtime::Runtime;

/// Names a kubeconfig whose context `hub` is a hub with KubeFleet's own agents and the members
/// `member-1` to `member-3`, labelled `environment: staging`, `canary` and `prod` and `order: 1` to
/// `3`; their contexts have their names. The user of `hub` is an admin with a token, which a proxy
/// can pass on. Skipped there is what needs users of ours (`rights`) or a cluster that gets stuck on
/// demand.
const EXTERNAL: &str = "FLEET_STAGE_E2E_KUBECONFIG";

/// The clusters of the fleet and their environments.
pub const MEMBERS: [(&str, &str); 3] = [
    ("member-1", "staging"),
    ("member-2", "canary"),
    ("member-3", "prod"),
];

/// The cluster of the stand-in's fleet on which nothing becomes available. It has an API server of
/// its own, in which tests put what a look is to find.
const BROKEN: &str = "broken-1";

/// A command of the plugin, and how it ended.
pub struct Did {
    pub command: String,
    pub ran: Ran,
}

impl Did {
    /// Checks the exit code.
    pub fn ends(&self, code: i32) -> &Self {
        let said = format!("{}{}", self.ran.out, self.ran.err);
        assert_eq!(self.ran.code, code, "{}:\n{said}", self.command);
        assert!(!said.contains("panicked"), "{}:\n{said}", self.command);
        self
    }

    /// Checks what the answer says.
    pub fn answers(&self, words: &str) -> &Self {
        let out = &self.ran.out;
        assert!(
            out.contains(words),
            "{} does not answer {words:?}:\n{out}{}",
            self.command,
            self.ran.err
        );
        self
    }

    /// Checks what is said beside it.
    pub fn says(&self, words: &str) -> &Self {
        let err = &self.ran.err;
        assert!(
            err.contains(words),
            "{} does not say {words:?}:\n{err}{}",
            self.command,
            self.ran.out
        );
        self
    }

    /// Checks what is not said at all.
    pub fn is_silent_of(&self, words: &str) -> &Self {
        let said = format!("{}{}", self.ran.out, self.ran.err);
        assert!(!said.contains(words), "{}:\n{said}", self.command);
        self
    }

    /// Checks what is answered or said; line breaks do not count.
    pub fn tells(&self, words: &str) -> &Self {
        let said = format!("{} {}", self.ran.out, self.ran.err);
        assert!(
            flat(&said).contains(words),
            "{} does not tell {words:?}:\n{said}",
            self.command
        );
        self
    }
}

/// What a terminal showed, without the line ends that its width made.
pub fn flat(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The hub that all tests share.
pub struct Harness {
    pub runtime: Runtime,
    pub kubeconfig: PathBuf,
    pub client: Client,
    fleet: Fleet,
    /// Ours, with the stand-in; else KubeFleet's own agents are at work.
    pub own: Option<(TestHub, StandIn)>,
}

impl Harness {
    /// The hub; `None` when a test is to be skipped, which it says.
    pub fn get() -> Option<&'static Self> {
        static HARNESS: OnceLock<Option<Harness>> = OnceLock::new();
        HARNESS.get_or_init(Self::start).as_ref()
    }

    fn start() -> Option<Self> {
        let runtime = Runtime::new().unwrap();
        if let Some(path) = std::env::var_os(EXTERNAL) {
            let kubeconfig = PathBuf::from(path);
            let client = runtime
                .block_on(test_hub::client(&kubeconfig, "hub"))
                .unwrap();
            let fleet = runtime.block_on(Fleet::new(client.clone()).discover());
            return Some(Self {
                runtime,
                kubeconfig,
                client,
                fleet,
                own: None,
            });
        }
        let started = runtime.block_on(async {
            let options = Options {
                members: vec![BROKEN.to_owned()],
                ..Options::default()
            };
            let hub = TestHub::start(&options).await?;
            hub.install(&Crds::from_environment()).await?;
            let client = hub.client().await?;
            let fleet = Fleet::new(client.clone()).discover().await;
            let standin = StandIn::start(client.clone(), timing());
            Ok::<_, Error>((hub, standin, client, fleet))
        });
        let (hub, standin, client, fleet) = or_skip(started)?;
        let this = Self {
            runtime,
            kubeconfig: hub.kubeconfig(),
            client,
            fleet,
            own: Some((hub, standin)),
        };
        this.join_fleet();
        Some(this)
    }

    fn join_fleet(&self) {
        for (place, (name, environment)) in MEMBERS.iter().enumerate() {
            let order = (place + 1).to_string();
            self.create(&member(
                name,
                &[("environment", environment), ("order", &order)],
            ));
        }
        let broken = member(BROKEN, &[("environment", "broken"), ("order", "4")]);
        let trouble = Trouble::NotAvailable.to_string();
        self.create(&annotated(broken, TROUBLE, &trouble));
    }

    /// What the hub serves of update runs.
    pub const fn served(&self) -> &Served {
        self.fleet.served()
    }

    /// Whether KubeFleet's own agents are at work.
    pub const fn is_real(&self) -> bool {
        self.own.is_none()
    }

    /// The cluster on which a workload does not become available, and its environment. On a real
    /// hub nothing runs workloads, so that it is any.
    pub const fn broken(&self) -> (&'static str, &'static str) {
        if self.is_real() {
            MEMBERS[0]
        } else {
            (BROKEN, "broken")
        }
    }

    /// Creates an object.
    pub fn create(&self, object: &Value) -> Value {
        self.runtime
            .block_on(self.fleet.create(object))
            .unwrap_or_else(|error| panic!("{error}\n{object:#}"))
    }

    /// Changes an object by a merge patch.
    pub fn patch(&self, path: &str, patch: &Value) -> Value {
        self.send("PATCH", path, "application/merge-patch+json", patch)
            .unwrap_or_else(|error| panic!("patching {path}: {error}"))
    }

    /// Deletes an object.
    pub fn delete(&self, path: &str) {
        self.send("DELETE", path, "application/json", &json!({}))
            .unwrap_or_else(|error| panic!("deleting {path}: {error}"));
    }

    /// The same for what may be gone already.
    pub fn forget(&self, path: &str) {
        let _ = self.send("DELETE", path, "application/json", &json!({}));
    }

    /// Reads a path.
    pub fn read(&self, path: &str) -> Option<Value> {
        self.send("GET", path, "application/json", &Value::Null)
            .ok()
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        form: &str,
        body: &Value,
    ) -> Result<Value, kube::Error> {
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            serde_json::to_vec(body).unwrap()
        };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", form)
            .body(bytes)
            .unwrap();
        self.runtime.block_on(self.client.request(request))
    }

    /// Whether there are users of ours, who may do nothing until a test lets them. Where not, the
    /// test is skipped, which this says.
    pub fn has_our_users(&self) -> bool {
        if self.is_real() {
            eprintln!("skipped: the users of this hub are not ours");
        }
        !self.is_real()
    }

    /// The kubeconfig of one of them: `user-000` to `user-511`.
    pub fn kubeconfig_of(&self, user: &str) -> PathBuf {
        let (hub, _) = self.own.as_ref().unwrap();
        hub.kubeconfig_of(user)
    }

    /// A proxy in front of the hub, at which things can go wrong.
    pub fn proxy(&self) -> FaultProxy {
        FaultProxy::start(&self.kubeconfig).unwrap()
    }

    /// Runs the plugin as the admin.
    pub fn plugin(&self, arguments: &[&str]) -> Ran {
        self.plugin_as(&self.kubeconfig, arguments)
    }

    /// Runs the plugin with another kubeconfig.
    pub fn plugin_as(&self, kubeconfig: &Path, arguments: &[&str]) -> Ran {
        let arguments = [arguments, &["--context", "hub"]].concat();
        self.plugin_with(kubeconfig, "off".as_ref(), &arguments)
    }

    /// Runs the plugin with another kubeconfig, on no context but those of the arguments, with a
    /// settings file.
    #[allow(clippy::unused_self)] // a plugin without a hub is no end-to-end test
    pub fn plugin_with(&self, kubeconfig: &Path, settings: &Path, arguments: &[&str]) -> Ran {
        let ran = Ran::of(
            Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
                .args(arguments)
                .arg("--kubeconfig")
                .arg(kubeconfig)
                .env_clear()
                .env("FLEET_STAGE_SETTINGS", settings)
                .env("PATH", std::env::var_os("PATH").unwrap_or_default()),
        );
        for line in format!("{}\n{}", ran.out, ran.err).lines() {
            let is_hint = line.starts_with("  ") || line.starts_with("next: ");
            let line = line.trim_start_matches("next: ").trim();
            if is_hint && line.starts_with("kubectl-fleet-stage ") {
                takes(line)
                    .unwrap_or_else(|error| panic!("{arguments:?} suggests {line}: {error}"));
            }
        }
        ran
    }
}

/// Whether our own command line takes a line that is suggested.
fn takes(line: &str) -> Result<(), String> {
    let mut words = vec![String::new()];
    for (number, piece) in line.split('\'').enumerate() {
        let quoted = number % 2 == 1;
        for c in piece.chars() {
            match words.last_mut() {
                Some(word) if quoted || c != ' ' => word.push(c),
                _ => words.push(String::new()),
            }
        }
    }
    let command = cli::command(&Invocation::default());
    let parsed = command.try_get_matches_from(words);
    match parsed {
        Err(error) if error.kind() != ErrorKind::DisplayHelp => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Fast, with a delay for new snapshots that a test can step into.
fn timing() -> Timing {
    Timing {
        snapshots: Some(SnapshotDelay {
            collect: Duration::from_secs(1),
            interval: Duration::from_secs(1),
        }),
        // Longer than anything takes on a busy machine that is not stuck.
        stuck_after: Duration::from_secs(8),
        ..Timing::fast()
    }
}

/// What a command does that waits until its time limit, which it gets as a flag, and the limit. A
/// machine that is too busy to read what the command waits for within the limit gives it more.
pub fn until_late<T>(
    waits: impl Fn(&str) -> T,
    has_read: impl Fn(&T) -> bool,
) -> (T, &'static str) {
    let tried = |limit| (waits(&format!("--timeout={limit}")), limit);
    let mut limits = ["4s", "20s"].into_iter().map(tried);
    let read = limits.find(|(ran, _)| has_read(ran));
    read.unwrap_or_else(|| tried("50s"))
}
