//! Commands about many runs, on hubs of several sizes, against `curl` of the same lists.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use test_hub::fleet::Fleet;
use test_hub::{Crds, FaultProxy, Options, TestHub};
use tokio::runtime::Runtime;

use super::live::{bytes, curl, requests};
use super::{Program, Table};
use crate::report;

/// How many placements, each on so many clusters.
const SIZES: [usize; 3] = [25, 100, 200];
const CLUSTERS: usize = 100;
const ROUNDS: usize = 5;
const PAUSE: Duration = Duration::from_millis(300);

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
        "`curl` of its lists",
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
        let plugin = |kubeconfig: &Path| {
            let words = command.words.iter().map(AsRef::as_ref);
            let more = ["--now", now, "--context=hub", "--kubeconfig"];
            let words = words.chain(more.iter().map(AsRef::as_ref));
            Program::new(binary, words.chain([kubeconfig.as_os_str()]))
                .with("KUBECACHEDIR", folder.join("cache"))
        };
        let through = plugin(&proxy.kubeconfig());
        through.run()?;
        let asked = requests(&proxy, &through)?;
        let straight = plugin(&hub.kubeconfig());
        let lists: Vec<String> = command.lists.iter().map(|list| path_of(list)).collect();
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        let beside = curl(hub, &folder.join("beside"), &lists, false)?;
        let times = super::in_turns(&[straight.clone(), beside], ROUNDS, PAUSE)?;
        let memory = straight.peak_memory().unwrap_or_default() * 1024 / 1_000_000;
        let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
        let mut name = String::new();
        let _ = write!(name, "`{}`", command.words.join(" "));
        table.row(&[
            placements.to_string(),
            name,
            seconds(times[0]),
            seconds(times[1]),
            format!("{:.2}", times[0].as_secs_f64() / times[1].as_secs_f64()),
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
