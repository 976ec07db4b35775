//! Commands about many runs: on hubs of several sizes against `curl` of the same lists, and on
//! several hubs at once against the slowest of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use test_hub::fleet::Fleet;
use test_hub::{Crds, Fault, FaultProxy, Options, Rule, TestHub};
use tokio::runtime::Runtime;

use super::live::{bytes, curl, requests};
use super::{Program, Table};
use crate::report;

/// How many placements, each on so many clusters.
const SIZES: [usize; 3] = [25, 100, 200];
const CLUSTERS: usize = 100;
const ROUNDS: usize = 5;
const PAUSE: Duration = Duration::from_millis(300);

/// Several hubs at once, each as large as the smallest, and how far away they are: a request takes
/// this longer.
const HUBS: [&str; 3] = ["eu", "us", "asia"];
const FAR: Duration = Duration::from_millis(100);

const RUNS: &str = "clusterstagedupdateruns";
const ALL: [&str; 4] = [
    RUNS,
    "clusterresourceplacements",
    "clusterresourcebindings",
    "works",
];

/// A command, and the lists of which `curl` is measured beside it.
struct Measured {
    words: &'static [&'static str],
    lists: &'static [&'static str],
}

impl Measured {
    fn name(&self) -> String {
        format!("`{}`", self.words.join(" "))
    }

    /// The command on the hubs of a kubeconfig; what is served is remembered.
    fn on(
        &self,
        binary: &Path,
        folder: &Path,
        (hubs, kubeconfig): (&str, &Path),
        now: &str,
    ) -> Program {
        let more = [hubs, "--now", now, "--kubeconfig"];
        let words = self.words.iter().chain(&more);
        let words = words.map(AsRef::as_ref).chain([kubeconfig.as_os_str()]);
        Program::new(binary, words).with("KUBECACHEDIR", folder.join("cache"))
    }
}

const COMMANDS: [Measured; 4] = [
    Measured {
        words: &["list", "-A"],
        lists: &[RUNS],
    },
    Measured {
        words: &["strategies", "-A"],
        lists: &[RUNS, "clusterstagedupdatestrategies"],
    },
    Measured {
        words: &["approvals", "-A"],
        lists: &[RUNS, "clusterapprovalrequests"],
    },
    Measured {
        words: &["diagnose", "--all", "-A", "--exit-zero", "-o", "json"],
        lists: &ALL,
    },
];

/// Fills hubs, measures, and gives back the table.
pub fn run(binary: &Path, folder: &Path, placements: Option<usize>) -> Result<String> {
    let mut table = Table::new(&[
        "placements",
        "command",
        "time",
        "`curl` of what it shows",
        "ratio",
        "`curl` of its requests",
        "ratio",
        "requests",
        "read",
        "peak memory",
    ]);
    let sizes = placements.map_or_else(|| SIZES.to_vec(), |one| vec![one]);
    for placements in sizes {
        report(&format!(
            "filling a hub with {placements} placements, which takes minutes"
        ));
        let runtime = Runtime::new().context("starting threads")?;
        let hub = runtime.block_on(fill(placements))?;
        // What is under way now is to stay so while it is measured.
        let now = jiff::Timestamp::now().to_string();
        measure(binary, folder, (&hub, &now), placements, &mut table)?;
    }
    Ok(table.text)
}

/// Fills several hubs, measures, and gives back the table.
pub fn several(binary: &Path, folder: &Path) -> Result<String> {
    let size = SIZES[0];
    let mut table = Table::new(&[
        "hubs",
        "command",
        "all at once",
        "the slowest alone",
        "ratio",
        "peak memory",
    ]);
    report(&format!(
        "filling {} hubs with {size} placements each",
        HUBS.len()
    ));
    let runtime = Runtime::new().context("starting threads")?;
    let filled = HUBS.iter().map(|_| runtime.block_on(fill(size)));
    let hubs: Vec<TestHub> = filled.collect::<Result<_, _>>()?;
    let now = jiff::Timestamp::now().to_string();
    let proxies = hubs.iter().map(|hub| FaultProxy::start(&hub.kubeconfig()));
    let proxies: Vec<FaultProxy> = proxies.collect::<Result<_, _>>()?;
    for proxy in &proxies {
        proxy.rules(vec![Rule::new("", Fault::Delay(FAR))]);
    }
    let paths = |of_all: &[PathBuf], name: &str| -> Result<PathBuf> {
        let path = folder.join(name);
        std::fs::write(&path, joined(of_all)?.to_string()).with_context(|| name.to_owned())?;
        Ok(path)
    };
    let near: Vec<_> = hubs.iter().map(TestHub::kubeconfig).collect();
    let far: Vec<_> = proxies.iter().map(FaultProxy::kubeconfig).collect();
    let places = [
        ("on the same cores".to_owned(), paths(&near, "near.json")?),
        (
            format!("{} ms away", FAR.as_millis()),
            paths(&far, "far.json")?,
        ),
    ];
    report("measuring");
    for (place, kubeconfig) in places {
        for command in COMMANDS.iter().filter(|it| it.words[0] != "strategies") {
            let program = |contexts: &str| {
                let contexts = format!("--contexts={contexts}");
                command.on(binary, folder, (&contexts, &kubeconfig), &now)
            };
            let mut programs = vec![program(&HUBS.join(","))];
            programs.extend(HUBS.iter().map(|hub| program(hub)));
            let times = super::in_turns(&programs, ROUNDS, PAUSE)?;
            let memory = programs[0].peak_memory().unwrap_or_default() * 1024 / 1_000_000;
            let slowest = times[1..].iter().max().copied().unwrap_or_default();
            table.row(&[
                format!("{}, {place}", HUBS.len()),
                command.name(),
                seconds(times[0]),
                seconds(slowest),
                format!("{:.2}", times[0].as_secs_f64() / slowest.as_secs_f64()),
                format!("{memory} MB"),
            ]);
        }
    }
    Ok(table.text)
}

/// One kubeconfig with the hubs of several.
fn joined(kubeconfigs: &[PathBuf]) -> Result<Value> {
    let (mut clusters, mut users, mut contexts) = (Vec::new(), Vec::new(), Vec::new());
    for (name, path) in HUBS.iter().zip(kubeconfigs) {
        let config: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        let context = &named(&config["contexts"], &config["current-context"])["context"];
        let cluster = &named(&config["clusters"], &context["cluster"])["cluster"];
        let user = &named(&config["users"], &context["user"])["user"];
        clusters.push(json!({"name": name, "cluster": cluster}));
        users.push(json!({"name": name, "user": user}));
        contexts.push(json!({"name": name, "context": {"cluster": name, "user": name}}));
    }
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": clusters,
        "users": users,
        "contexts": contexts,
    }))
}

/// The entry of a kubeconfig's list with that name.
fn named<'c>(list: &'c Value, name: &Value) -> &'c Value {
    let mut entries = list.as_array().into_iter().flatten();
    entries
        .find(|it| it["name"] == *name)
        .unwrap_or(&Value::Null)
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn measure(
    binary: &Path,
    folder: &Path,
    (hub, now): (&TestHub, &str),
    placements: usize,
    table: &mut Table,
) -> Result<()> {
    report("measuring");
    let proxy = FaultProxy::start(&hub.kubeconfig())?;
    for command in &COMMANDS {
        let plugin =
            |kubeconfig: &Path| command.on(binary, folder, ("--context=hub", kubeconfig), now);
        let through = plugin(&proxy.kubeconfig());
        through.run()?;
        let asked = requests(&proxy, &through)?;
        let straight = plugin(&hub.kubeconfig());
        let lists: Vec<String> = command.lists.iter().map(|list| path_of(list)).collect();
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        let beside = curl(hub, &folder.join("beside"), &lists, false)?;
        let all: Vec<&str> = asked.iter().map(|seen| seen.target.as_str()).collect();
        let same = curl(hub, &folder.join("same"), &all, true)?;
        let times = super::in_turns(&[straight.clone(), beside, same], ROUNDS, PAUSE)?;
        let ratio = |of: usize| format!("{:.2}", times[0].as_secs_f64() / times[of].as_secs_f64());
        let memory = straight.peak_memory().unwrap_or_default() * 1024 / 1_000_000;
        table.row(&[
            placements.to_string(),
            command.name(),
            seconds(times[0]),
            seconds(times[1]),
            ratio(1),
            seconds(times[2]),
            ratio(2),
            asked.len().to_string(),
            format!("{:.1} MB", f64::from(kilobytes(bytes(&asked))) / 1000.0),
            format!("{memory} MB"),
        ]);
    }
    Ok(())
}

fn kilobytes(bytes: usize) -> u32 {
    u32::try_from(bytes / 1000).unwrap_or(u32::MAX)
}

fn path_of(list: &str) -> String {
    format!("/apis/placement.kubernetes-fleet.io/v1beta1/{list}")
}

async fn fill(placements: usize) -> Result<TestHub, test_hub::Error> {
    let hub = TestHub::start(&Options::default()).await?;
    hub.install(&Crds::Own).await?;
    let fleet = Fleet::new(hub.client().await?);
    fleet.busy(placements, CLUSTERS).await?;
    Ok(hub)
}
