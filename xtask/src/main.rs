//! Developer tasks: generated files, new findings, benchmarks, releases.

mod accuracy;
mod bench;
mod book;
mod compare;
mod conform;
mod faults;
mod fixture;
mod generate;
mod new_finding;
mod pictures;
mod playground;
mod schemas;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write completions, man pages, the reference, and the pictures
    Gen {
        /// Only say which files differ
        #[arg(long)]
        check: bool,
    },
    /// Check that the schemas of outputs keep what the released ones promise
    Schemas {
        /// Keep the present ones as those of a release
        #[arg(long)]
        release: bool,
    },
    /// Write the files of a new finding
    NewFinding {
        /// FSnnn
        code: String,
        /// The state seen, in kebab-case
        name: String,
        /// The folder under src/diagnose/rules
        area: String,
    },
    /// Measure the start-up, and `diagnose` on large bundles and on a hub with a thousand clusters
    Bench(bench::BenchArgs),
    /// Ask two builds of the program the same about every bundle, and report what differs
    Compare(compare::CompareArgs),
    /// Hold the model of the update run controller against recordings of the real one
    Conform {
        /// Recordings: JSON lines, packed with gzip
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Print the whole bundle of a fixture, or write a bundle as a fixture
    #[command(subcommand)]
    Fixture(fixture::FixtureTask),
    /// Measure what becomes of each write when it goes wrong, and write the reference page
    Faults,
    /// Start a hub with a small fleet to try the plugin on, until Ctrl-C
    Playground {
        /// How many member clusters, at least 4
        #[arg(long, default_value_t = 8)]
        members: usize,
    },
    /// Make what a release has: archives, checksums, lists of components, descriptions for packages
    Release(release::task::ReleaseArgs),
}

fn main() -> anyhow::Result<()> {
    let root = root();
    match Cli::parse().task {
        Task::Gen { check } => generate::run(&root, check),
        Task::Schemas { release } => schemas::run(&root, release),
        Task::NewFinding { code, name, area } => new_finding::run(&root, &code, &name, &area),
        Task::Bench(args) => bench::run(&root, &args),
        Task::Compare(args) => compare::run(&root, &args),
        Task::Conform { files } => conform::run(&files),
        Task::Fixture(task) => fixture::run(&root, &task),
        Task::Faults => faults::run(&root),
        Task::Playground { members } => playground::run(&root, members),
        Task::Release(args) => release::task::run(&root, &args),
    }
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
        .to_owned()
}

/// Says something to the developer.
#[allow(clippy::print_stderr)] // a developer's tool has no other place to say it
fn report(text: &str) {
    eprintln!("{text}");
}
