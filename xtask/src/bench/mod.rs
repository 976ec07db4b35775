//! How long the release binary takes, and how much memory, beside programs that everybody has.

mod bundles;
mod hub;
mod live;
mod runs;
mod start;

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// What is measured.
#[derive(clap::Args)]
pub struct BenchArgs {
    /// The live hub alone
    #[arg(long, conflicts_with = "start")]
    live: bool,
    /// The size and the start-up alone
    #[arg(long, conflicts_with = "runs")]
    start: bool,
    /// Bundles of many runs alone
    #[arg(long, conflicts_with = "live")]
    runs: bool,
    /// Hubs with many runs alone
    #[arg(long, conflicts_with_all = ["live", "start", "runs"])]
    hub: bool,
    /// Several hubs at once alone
    #[arg(long, conflicts_with_all = ["live", "start", "runs", "hub"])]
    hubs: bool,
    /// With --hub: a hub with so many placements instead of 25, 100 and 200
    #[arg(long, value_name = "NUMBER", requires = "hub")]
    placements: Option<usize>,
    /// Another program whose `--help` the start-up is held against, such as KubeFleet's own plugin
    #[arg(long, value_name = "PROGRAM")]
    beside: Option<PathBuf>,
}

/// Builds the program that ships, writes bundles, fills a hub, measures, prints the tables.
#[allow(clippy::print_stdout)] // the tables are the answer
pub fn run(root: &Path, args: &BenchArgs) -> Result<()> {
    let built = Command::new("cargo")
        .args(["build", "--profile", "dist", "--quiet", "--locked"])
        .current_dir(root)
        .status()?;
    if !built.success() {
        bail!("the build failed");
    }
    let binary = root.join("target/dist/kubectl-fleet-stage");
    let folder = root.join("target/bench");
    std::fs::create_dir_all(&folder)?;
    let all = !(args.live || args.start || args.runs || args.hub || args.hubs);
    if all || args.start {
        println!("{}", start::run(&binary, &folder, args.beside.as_deref())?);
    }
    if all {
        println!("{}", bundles::run(&binary, &folder)?);
    }
    if all || args.runs {
        println!("{}", runs::run(&binary, &folder)?);
    }
    if all || args.live {
        println!("{}", live::run(&binary, &folder)?);
    }
    if all || args.hub {
        println!("{}", hub::run(&binary, &folder, args.placements)?);
    }
    if all || args.hubs {
        println!("{}", hub::several(&binary, &folder)?);
    }
    Ok(())
}

/// A program that is measured.
#[derive(Clone)]
struct Program {
    executable: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

impl Program {
    fn new<'a>(program: impl AsRef<OsStr>, arguments: impl IntoIterator<Item = &'a OsStr>) -> Self {
        Self {
            executable: program.as_ref().to_owned(),
            arguments: arguments.into_iter().map(OsStr::to_owned).collect(),
            variables: Vec::new(),
        }
    }

    /// The same with a variable of its environment.
    fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    fn environment(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.variables.iter().map(|(name, value)| (name, value))
    }

    fn run(&self) -> Result<()> {
        let name = self.executable.to_string_lossy();
        let output = Command::new(&self.executable)
            .args(&self.arguments)
            .envs(self.environment())
            .stdout(Stdio::null())
            .output()
            .with_context(|| format!("starting {name}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{name} fails with {}: {said}", output.status)
    }

    /// How long a run takes. Nothing is read of what it says, which would be measured too.
    fn time(&self) -> Result<Duration> {
        let begun = Instant::now();
        let status = Command::new(&self.executable)
            .args(&self.arguments)
            .envs(self.environment())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let took = begun.elapsed();
        match status {
            Ok(status) if status.success() => Ok(took),
            // It says what is wrong.
            _ => self.run().map(|()| took),
        }
    }

    /// The peak of a run's memory in kB, as GNU time reports it; `None` without GNU time.
    fn peak_memory(&self) -> Option<u64> {
        let output = Command::new("/usr/bin/time")
            .arg("-f")
            .arg("%M")
            .arg(&self.executable)
            .args(&self.arguments)
            .envs(self.environment())
            .stdout(Stdio::null())
            .output()
            .ok()?;
        String::from_utf8_lossy(&output.stderr)
            .lines()
            .last()?
            .trim()
            .parse()
            .ok()
    }
}

/// The median time of each, after a first run that does not count. They take turns, so that a busy
/// moment hits them all, with a pause before each run.
fn in_turns(programs: &[Program], rounds: usize, pause: Duration) -> Result<Vec<Duration>> {
    let mut times = vec![Vec::new(); programs.len()];
    for program in programs {
        program.run()?;
    }
    for _ in 0..rounds {
        for (program, times) in programs.iter().zip(&mut times) {
            std::thread::sleep(pause);
            times.push(program.time()?);
        }
    }
    Ok(times
        .into_iter()
        .map(|mut times| {
            times.sort();
            times[rounds / 2]
        })
        .collect())
}

/// A table in markdown.
struct Table {
    text: String,
}

impl Table {
    fn new(columns: &[&str]) -> Self {
        let mut text = format!("| {} |\n", columns.join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(columns.len()));
        Self { text }
    }

    fn row(&mut self, cells: &[String]) {
        let _ = writeln!(self.text, "| {} |", cells.join(" | "));
    }
}
