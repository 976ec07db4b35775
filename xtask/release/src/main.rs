//! `cargo xtask release` without the other tasks, which is built in less time and needs nothing that
//! the tests need: `cargo run --locked --package release`.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use release::task::{ReleaseArgs, run};

#[derive(Parser)]
#[command(name = "release", about = "Make what a release has")]
struct Cli {
    #[command(flatten)]
    args: ReleaseArgs,
}

#[allow(clippy::print_stderr)] // a developer's tool has no other place to say it
fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).unwrap_or(here);
    match run(root, &Cli::parse().args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
