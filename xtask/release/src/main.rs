//! `cargo xtask release` without the other tasks, which is built in less time and needs nothing that
//! the tests need: `cargo run --locked --package release`.

use std::path::Path;

use clap::Parser;
use release::task::{ReleaseArgs, run};

#[derive(Parser)]
#[command(name = "release", about = "Make what a release has")]
struct Cli {
    #[command(flatten)]
    args: ReleaseArgs,
}

fn main() -> anyhow::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).unwrap_or(here);
    run(root, &Cli::parse().args)
}
