//! What is thrown at the program: one module for each class of attack. Seconds as a part of `make
//! test`; `make attack` (`FLEET_STAGE_ATTACK=long`) tries more.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

mod credentials;
mod doubt;
#[path = "../files/mod.rs"]
mod files;
mod input;
mod output;
mod pipelines;
mod planted;
mod secrets;
mod transport;
mod words;

use std::process::{Command, Output, Stdio};

use test_hub::waiting;

use transport::server::Server;

/// How often something is tried: a hundred times as often by `make attack`.
fn tries(short: usize) -> usize {
    let long = std::env::var_os("FLEET_STAGE_ATTACK").is_some_and(|how| how == "long");
    if long { short * 100 } else { short }
}

/// The program, without anything of the user's own.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
    command
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("_")
        .env("KUBECONFIG", "/nonexistent")
        .env("KUBECACHEDIR", "/dev/null")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program to its end, which must be one of its own: no signal, no panic.
fn ends(command: &mut Command) -> Output {
    let output = waiting::output(command);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some(), "{command:?}: {err}");
    assert!(!err.contains("panicked"), "{command:?}: {err}");
    output
}

/// The same with a server in the place of a hub.
fn run(server: &Server, words: &[&str]) -> Output {
    ends(program(words).args(["--server", &server.url]))
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}\n{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}
