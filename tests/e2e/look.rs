//! One look at a hub with many runs says the same as a look at each of them, in few requests.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use test_hub::fleet::Fleet;
use test_hub::{Crds, FaultProxy, Options, Ran, TestHub, or_skip};
use tokio::runtime::Runtime;

/// More than are looked at together.
const PLACEMENTS: usize = 102;
/// Of so many runs each is looked at alone too: some of each state.
const EACH: usize = 7;
const CLUSTERS: usize = 8;

struct Busy {
    hub: TestHub,
    proxy: FaultProxy,
    cache: tempfile::TempDir,
    now: String,
    _runtime: Runtime,
}

impl Busy {
    fn fill() -> Option<Self> {
        let runtime = Runtime::new().unwrap();
        let filled = runtime.block_on(async {
            let hub = TestHub::start(&Options::default()).await?;
            hub.install(&Crds::Own).await?;
            let fleet = Fleet::new(hub.client().await?);
            fleet.busy(PLACEMENTS, CLUSTERS).await?;
            Ok(hub)
        });
        let hub = or_skip(filled)?;
        Some(Self {
            proxy: FaultProxy::start(&hub.kubeconfig()).unwrap(),
            hub,
            cache: tempfile::tempdir().unwrap(),
            now: jiff::Timestamp::now().to_string(),
            _runtime: runtime,
        })
    }

    fn plugin(&self, kubeconfig: &Path, words: &[&str]) -> Ran {
        let ran = Ran::of(
            Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
                .args(words)
                .args(["--now", &self.now, "--context", "hub", "--kubeconfig"])
                .arg(kubeconfig)
                .env_clear()
                .env("KUBECACHEDIR", self.cache.path()),
        );
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.err);
        ran
    }

    fn json(&self, words: &[&str]) -> Value {
        let words = [words, &["-o", "json"]].concat();
        self.plugin(&self.hub.kubeconfig(), &words).json()
    }

    /// The paths that a command asks for.
    fn asked(&self, words: &[&str]) -> Vec<String> {
        self.proxy.clear().unwrap();
        self.plugin(&self.proxy.kubeconfig(), words);
        let seen = self.proxy.requests();
        seen.into_iter().map(|seen| seen.target).collect()
    }
}

#[test]
fn many_runs_are_looked_at_together() {
    let Some(busy) = Busy::fill() else {
        return;
    };
    let all = busy.json(&["diagnose", "--all", "-A", "--exit-zero"]);
    let reports = all["items"].as_array().unwrap();
    assert_eq!(reports.len(), PLACEMENTS);
    let verdicts = all["verdicts"].as_object().unwrap();
    assert!(verdicts.len() >= 4, "{verdicts:?}");
    let list = busy.json(&["list", "-A"]);
    let pairs = reports.iter().zip(list["items"].as_array().unwrap());
    for (report, item) in pairs.step_by(EACH) {
        let name = report["target"]["name"].as_str().unwrap();
        let run = format!("csur/{name}");
        let alone = busy.json(&["diagnose", &run, "--exit-zero"]);
        assert_eq!(*report, alone, "{name}");
        assert_eq!(item["name"], name);
        assert_eq!(item["verdict"], report["verdict"], "{name}");
    }
    few_requests(&busy);
    stale_memory(&busy);
}

fn few_requests(busy: &Busy) {
    // What is served is remembered from the second call on.
    busy.asked(&["list", "-A"]);
    let asked = busy.asked(&["list", "-A"]);
    let is_page = |path: &&String| path.contains("&continue=") || path.contains("bindings?");
    let pages = asked.iter().filter(is_page).count();
    assert!(asked.len() - pages <= 4, "{asked:#?}");
    assert!(!asked.iter().any(|path| path == "/apis"), "{asked:#?}");
    let asked = busy.asked(&["strategies", "-A"]);
    let needless = ["bindings", "approvalrequests", "/works"];
    let is_needless = |path: &String| needless.iter().any(|word| path.contains(word));
    assert!(!asked.iter().any(is_needless), "{asked:#?}");
    let asked = busy.asked(&["diagnose", "--all", "-A", "--exit-zero"]);
    let is_first = |path: &String| !path.contains("&continue=");
    let asked: Vec<_> = asked.into_iter().filter(is_first).collect();
    let of = |word: &str| asked.iter().filter(|path| path.contains(word)).count();
    // Once for all.
    for (kind, times) in [
        // The runs, and at the end their versions.
        ("/clusterstagedupdateruns?limit=500", 2),
        ("/stagedupdateruns?", 1),
        ("/clusterresourceplacements?", 1),
        ("/clusterstagedupdatestrategies?", 1),
        ("/clusterapprovalrequests?", 1),
        ("/clusterschedulingpolicysnapshots?", 1),
        ("/memberclusters?", 1),
        ("overridesnapshots?", 2),
        // Two groups, and ten placements at a time.
        ("/clusterresourcebindings?", 11),
        ("/clusterresourcesnapshots?", 11),
    ] {
        assert_eq!(of(kind), times, "{kind}: {asked:#?}");
    }
    // Once for each cluster that has something in flight, however many runs, and as far as an
    // address has room for the names of their bindings.
    assert!(of("/works?") <= 2 * CLUSTERS, "{asked:#?}");
    // The texts of two snapshots for each run that waits, which are compared.
    let texts = of("/clusterresourcesnapshots/");
    assert_eq!(texts, 22, "{asked:#?}");
    assert_eq!(asked.len() - of("/works?") - texts, 32, "{asked:#?}");
    let told = busy
        .plugin(&busy.proxy.kubeconfig(), &["list", "-A", "-v"])
        .err;
    assert!(told.contains("read from the hub: "), "{told}");
}

/// What is remembered wrongly is found out, and asked again.
fn stale_memory(busy: &Busy) {
    let before = busy.json(&["list", "-A"]);
    let notes: Vec<_> = walkdir::WalkDir::new(busy.cache.path())
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name() == "fleet-stage.json")
        .map(walkdir::DirEntry::into_path)
        .collect();
    assert_eq!(notes.len(), 2, "the hub's and the proxy's");
    for note in &notes {
        let text = std::fs::read_to_string(note).unwrap();
        for (from, to) in [
            ("v1beta1", "v1alpha1"),
            ("clusterstagedupdateruns", "somethingelse"),
        ] {
            std::fs::write(note, text.replace(from, to)).unwrap();
            assert_eq!(busy.json(&["list", "-A"]), before, "{from}");
        }
    }
}
