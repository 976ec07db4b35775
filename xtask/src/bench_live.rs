//! `diagnose` and `status` on a live hub with a thousand clusters, against `curl` of the same lists.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use test_hub::fleet::{Big, Fleet};
use test_hub::{ADMIN, Crds, FaultProxy, Options, Seen, TestHub};
use tokio::runtime::Runtime;

use crate::bench::peak_memory;
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
pub fn run(binary: &Path, folder: &Path) -> Result<String, String> {
    let runtime = Runtime::new().map_err(|error| format!("starting threads: {error}"))?;
    report("filling a hub with a thousand clusters, which takes a minute or two");
    let (hub, big) = runtime
        .block_on(fill())
        .map_err(|error| error.to_string())?;
    let proxy = FaultProxy::start(&hub).map_err(|error| error.to_string())?;
    let run = format!("csur/{}", big.run);
    let diagnose = |kubeconfig: PathBuf| Program::plugin(binary, &["diagnose", &run], kubeconfig);
    let status = |kubeconfig: PathBuf| Program::plugin(binary, &["status", &run], kubeconfig);
    let asked = requests(&proxy, &diagnose(proxy.kubeconfig()))?;
    let status_asked = requests(&proxy, &status(proxy.kubeconfig()))?;
    let all: Vec<&str> = asked.iter().map(|seen| seen.target.as_str()).collect();
    let lists: Vec<&str> = all.iter().copied().filter(|path| is_list(path)).collect();
    report("measuring");
    let straight = diagnose(hub.kubeconfig());
    let times = in_turns(&[
        straight.clone(),
        status(hub.kubeconfig()),
        curl(&hub, &folder.join("lists"), &lists, false)?,
        curl(&hub, &folder.join("lists-gzip"), &lists, true)?,
        curl(&hub, &folder.join("all"), &all, false)?,
    ])?;
    let memory = peak_memory(binary, &straight.arguments()).unwrap_or_default() * 1024 / 1_000_000;
    let under_way = all.iter().filter(|path| path.contains("/works?")).count();
    let mut table = Table::default();
    table.row("", "measured", "aim");
    table.row("---", "---", "---");
    table.time("`diagnose`", times[0], None);
    let title = format!("`curl` of its {} lists, one after the other", lists.len());
    table.time(&title, times[2], Some((times[0], Some(RATIO))));
    table.time("the same, compressed", times[3], Some((times[0], None)));
    let title = format!("`curl` of all its {} requests", all.len());
    table.time(&title, times[4], Some((times[0], None)));
    table.row(
        "requests of `diagnose`",
        &format!("{}, {} KB", asked.len(), bytes(&asked) / 1000),
        &format!(
            "at most {}: {REQUESTS} and one for each of {under_way} clusters under way",
            REQUESTS + under_way
        ),
    );
    table.row(
        "peak memory of `diagnose`",
        &format!("{memory} MB"),
        &format!("at most {MEGABYTES} MB"),
    );
    table.time("`status`", times[1], None);
    table.row(
        "requests of `status`",
        &format!("{}, {} KB", status_asked.len(), bytes(&status_asked) / 1000),
        &format!("at most {STATUS_REQUESTS}"),
    );
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

fn bytes(seen: &[Seen]) -> usize {
    seen.iter().map(|seen| seen.bytes).sum()
}

/// A program that is measured.
#[derive(Clone)]
struct Program {
    program: OsString,
    arguments: Vec<OsString>,
}

impl Program {
    fn plugin(binary: &Path, words: &[&str], kubeconfig: PathBuf) -> Self {
        let more = ["-o", "json", "--exit-zero", "--context=hub", "--kubeconfig"];
        let words = words.iter().chain(&more).map(OsString::from);
        Self {
            program: binary.into(),
            arguments: words.chain([kubeconfig.into_os_string()]).collect(),
        }
    }

    fn arguments(&self) -> Vec<&std::ffi::OsStr> {
        self.arguments.iter().map(AsRef::as_ref).collect()
    }

    fn run(&self) -> Result<(), String> {
        let name = self.program.to_string_lossy();
        let output = Command::new(&self.program)
            .args(&self.arguments)
            .stdout(Stdio::null())
            .output()
            .map_err(|error| format!("starting {name}: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{name} fails with {}: {said}", output.status))
    }
}

/// What a program asks for; through a proxy, which takes its time.
fn requests(proxy: &FaultProxy, program: &Program) -> Result<Vec<Seen>, String> {
    proxy.clear().map_err(|error| error.to_string())?;
    program.run()?;
    Ok(proxy.requests())
}

/// The median time of each.
fn in_turns(programs: &[Program]) -> Result<Vec<Duration>, String> {
    let mut times = vec![Vec::new(); programs.len()];
    for _ in 0..ROUNDS {
        for (program, times) in programs.iter().zip(&mut times) {
            std::thread::sleep(PAUSE);
            let begun = Instant::now();
            program.run()?;
            times.push(begun.elapsed());
        }
    }
    Ok(times
        .into_iter()
        .map(|mut times| {
            times.sort();
            times[ROUNDS / 2]
        })
        .collect())
}

/// `curl` of these paths, one after the other on one connection.
fn curl(hub: &TestHub, config: &Path, paths: &[&str], gzip: bool) -> Result<Program, String> {
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
    std::fs::write(config, text).map_err(|error| format!("{}: {error}", config.display()))?;
    Ok(Program {
        program: "curl".into(),
        arguments: vec!["--config".into(), config.into()],
    })
}

#[derive(Default)]
struct Table {
    text: String,
}

impl Table {
    fn row(&mut self, what: &str, measured: &str, aim: &str) {
        let _ = writeln!(self.text, "| {what} | {measured} | {aim} |");
    }

    /// A time, and which share of it another took.
    fn time(&mut self, what: &str, time: Duration, other: Option<(Duration, Option<f64>)>) {
        let mut measured = format!("{:.3} s", time.as_secs_f64());
        let mut aim = String::new();
        if let Some((other, ratio)) = other {
            let share = other.as_secs_f64() / time.as_secs_f64();
            let _ = write!(measured, ", ratio {share:.2}");
            aim = ratio.map_or(aim, |ratio| format!("ratio at most {ratio}"));
        }
        self.row(what, &measured, &aim);
    }
}
