//! `diagnose` and `status` on a live hub with a thousand clusters, against `curl` of the same lists.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use test_hub::fleet::{Big, Fleet};
use test_hub::{ADMIN, Crds, FaultProxy, Options, Seen, TestHub};
use tokio::runtime::Runtime;

use super::{Program, Table};
use crate::report;

const CLUSTERS: usize = 1000;
const STUCK: usize = 40;
/// How often each program runs, in turns, so that a busy moment hits them all.
const ROUNDS: usize = 9;
/// After each, the API server collects its garbage.
const PAUSE: Duration = Duration::from_millis(500);

/// Aims: of the time that `curl` takes, of requests beside one for each cluster under way, of
/// memory, and of the requests of `status`.
const RATIO: f64 = 0.9;
const REQUESTS: usize = 12;
const MEGABYTES: u64 = 80;
const STATUS_REQUESTS: usize = 6;

/// Fills a hub, measures, and gives back the table.
pub fn run(binary: &Path, folder: &Path) -> Result<String> {
    let runtime = Runtime::new().context("starting threads")?;
    report("filling a hub with a thousand clusters, which takes a minute or two");
    let (hub, big) = runtime.block_on(fill())?;
    let proxy = FaultProxy::start(&hub.kubeconfig())?;
    let run = format!("csur/{}", big.run);
    let cache = folder.join("cache");
    let plugin = |command: &str, kubeconfig: &Path| {
        plugin(binary, &[command, &run], kubeconfig).with("KUBECACHEDIR", &cache)
    };
    let diagnose = |kubeconfig: &Path| plugin("diagnose", kubeconfig);
    let status = |kubeconfig: &Path| plugin("status", kubeconfig);
    // What is served is remembered from the second call on.
    diagnose(&proxy.kubeconfig()).run()?;
    let asked = requests(&proxy, &diagnose(&proxy.kubeconfig()))?;
    let status_asked = requests(&proxy, &status(&proxy.kubeconfig()))?;
    let all: Vec<&str> = asked.iter().map(|seen| seen.target.as_str()).collect();
    let lists: Vec<&str> = all.iter().copied().filter(|path| is_list(path)).collect();
    report("measuring");
    let straight = diagnose(&hub.kubeconfig());
    let programs = [
        straight.clone(),
        status(&hub.kubeconfig()),
        curl(&hub, &folder.join("lists"), &lists, false)?,
        curl(&hub, &folder.join("lists-gzip"), &lists, true)?,
        curl(&hub, &folder.join("all"), &all, false)?,
    ];
    let times = super::in_turns(&programs, ROUNDS, PAUSE)?;
    let memory = straight.peak_memory().unwrap_or_default() * 1024 / 1_000_000;
    let under_way = all.iter().filter(|path| path.contains("/works?")).count();
    let mut table = Table::new(&["", "measured", "aim"]);
    time(&mut table, "`diagnose`", times[0], None);
    let title = format!("`curl` of its {} lists, one after the other", lists.len());
    time(&mut table, &title, times[2], Some((times[0], Some(RATIO))));
    time(
        &mut table,
        "the same, compressed",
        times[3],
        Some((times[0], None)),
    );
    let title = format!("`curl` of all its {} requests", all.len());
    time(&mut table, &title, times[4], Some((times[0], None)));
    table.row(&[
        "requests of `diagnose`".to_owned(),
        format!("{}, {} KB", asked.len(), bytes(&asked) / 1000),
        format!(
            "at most {}: {REQUESTS} and one for each of {under_way} clusters under way",
            REQUESTS + under_way
        ),
    ]);
    table.row(&[
        "peak memory of `diagnose`".to_owned(),
        format!("{memory} MB"),
        format!("at most {MEGABYTES} MB"),
    ]);
    time(&mut table, "`status`", times[1], None);
    table.row(&[
        "requests of `status`".to_owned(),
        format!("{}, {} KB", status_asked.len(), bytes(&status_asked) / 1000),
        format!("at most {STATUS_REQUESTS}"),
    ]);
    Ok(table.text)
}

async fn fill() -> Result<(TestHub, Big), test_hub::Error> {
    let hub = TestHub::start(&Options::default()).await?;
    hub.install(&Crds::Own).await?;
    let big = Fleet::new(hub.client().await?).big(CLUSTERS, STUCK).await?;
    Ok((hub, big))
}

fn is_list(path: &str) -> bool {
    path.contains("limit=")
}

pub(super) fn bytes(seen: &[Seen]) -> usize {
    seen.iter().map(|seen| seen.bytes).sum()
}

/// The plugin on a hub.
fn plugin(binary: &Path, words: &[&str], kubeconfig: &Path) -> Program {
    let more = ["-o", "json", "--exit-zero", "--context=hub", "--kubeconfig"];
    let words = words.iter().chain(&more).map(AsRef::as_ref);
    Program::new(binary, words.chain([kubeconfig.as_os_str()]))
}

/// What a program asks for; through a proxy, which takes its time.
pub(super) fn requests(proxy: &FaultProxy, program: &Program) -> Result<Vec<Seen>> {
    proxy.clear()?;
    program.run()?;
    Ok(proxy.requests())
}

/// `curl` of these paths, one after the other on one connection.
pub(super) fn curl(hub: &TestHub, config: &Path, paths: &[&str], gzip: bool) -> Result<Program> {
    let mut text = format!(
        "silent\nfail\ncacert = \"{}\"\nheader = \"Authorization: Bearer {}\"\n\
         # A browser or curl by its own name is sent indented JSON.\n\
         user-agent = \"bench\"\n",
        hub.authority().display(),
        TestHub::token_of(ADMIN)
    );
    if gzip {
        text.push_str("compressed\n");
    }
    for path in paths {
        let _ = writeln!(
            text,
            "url = \"{}{path}\"\noutput = \"/dev/null\"",
            hub.url()
        );
    }
    std::fs::write(config, text).with_context(|| config.display().to_string())?;
    Ok(Program::new(
        "curl",
        ["--config".as_ref(), config.as_os_str()],
    ))
}

/// A row with a time, and which share of it another took.
fn time(table: &mut Table, what: &str, time: Duration, other: Option<(Duration, Option<f64>)>) {
    let mut measured = format!("{:.3} s", time.as_secs_f64());
    let mut aim = String::new();
    if let Some((other, ratio)) = other {
        let share = other.as_secs_f64() / time.as_secs_f64();
        let _ = write!(measured, ", ratio {share:.2}");
        aim = ratio.map_or(aim, |ratio| format!("ratio at most {ratio}"));
    }
    table.row(&[what.to_owned(), measured, aim]);
}
