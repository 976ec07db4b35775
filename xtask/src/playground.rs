//! A hub with a small fleet on this machine, for trying the plugin without a fleet.

use std::future::Future;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use test_hub::playground::{SIGHTS, fill};
use test_hub::{Crds, Options, TestHub};
use tokio::runtime::Runtime;

use crate::report;

/// A step that takes longer says so, and again each time.
const PATIENCE: Duration = Duration::from_secs(15);

/// Starts everything, says how to use it, and ends with Ctrl-C.
pub fn run(root: &Path, members: usize) -> Result<()> {
    let runtime = Runtime::new().context("starting threads")?;
    report("building the plugin");
    build(root)?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = play(root, members) => done,
            // Whatever was started ends when it is dropped.
            () = interrupted() => {
                report("stopping");
                Ok(())
            }
        }
    });
    runtime.shutdown_background();
    done
}

async fn play(root: &Path, members: usize) -> Result<()> {
    report("starting etcd and kube-apiserver (the first time they are built, which takes minutes)");
    // The build blocks its thread, and we have something to say meanwhile.
    let starting = tokio::spawn(async { TestHub::start(&Options::default()).await });
    let hub = patiently(starting).await??;
    report("installing the CRDs");
    let crds = Crds::from_environment();
    patiently(hub.install(&crds)).await?;
    report(&format!(
        "preparing {} member clusters and their rollouts",
        members.max(4)
    ));
    let client = patiently(hub.client()).await?;
    let standin = Box::pin(patiently(fill(client, members))).await?;
    guide(root, &hub.kubeconfig());
    // Both work until whoever waits for the interruption drops us.
    let _at_work = (hub, standin);
    std::future::pending().await
}

/// Says every now and then that something is still going on.
async fn patiently<T, E: Into<anyhow::Error>>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T> {
    let begun = Instant::now();
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done.map_err(Into::into),
            () = tokio::time::sleep(PATIENCE) => {
                report(&format!("  still at it after {} s", begun.elapsed().as_secs()));
            }
        }
    }
}

async fn interrupted() {
    // Where signals cannot be waited for, they end the process, and everything with it.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn build(root: &Path) -> Result<()> {
    let built = Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "--locked",
            "--bin",
            "kubectl-fleet-stage",
        ])
        .current_dir(root)
        .status()
        .context("starting cargo")?;
    if built.success() {
        Ok(())
    } else {
        bail!("the plugin does not build")
    }
}

#[allow(clippy::print_stdout)] // this is the answer
fn guide(root: &Path, kubeconfig: &Path) {
    let binaries = root.join("target").join("debug");
    println!("\nIn another terminal:\n");
    println!("  export KUBECONFIG={}", kubeconfig.display());
    println!("  export PATH={}:$PATH", binaries.display());
    println!("\nThe rollouts there:\n");
    for sight in SIGHTS {
        println!("  {:<18} {}", sight.run, sight.state);
    }
    println!("\nThings to try:\n");
    for (command, why) in [
        ("list -A", "all of them"),
        ("status checkout-2", "stages, clusters, gates"),
        ("status checkout-2 -w", "the same, until it is over"),
        ("diagnose search-1", "why it is blocked, and what to do"),
        ("diagnose telemetry-1", "which cluster, which workload"),
        ("diagnose --all -A", "every run"),
        ("approvals -A", "the gates, and how to open them"),
        ("history crp/checkout", "what was rolled out when"),
        ("snapshots diff checkout 0 1", "what is different in it"),
    ] {
        println!("  {:<46} # {why}", format!("kubectl-fleet-stage {command}"));
    }
    println!("\nTo cause trouble on a cluster, or end it:\n");
    println!("  kubectl annotate membercluster edge-1 test-hub/trouble-");
    println!("  kubectl annotate membercluster prod-1 test-hub/trouble=gone");
    println!("  kubectl annotate membercluster prod-1 --overwrite \\");
    println!("    test-hub/trouble='apply-fails: no more disk'    # or not-available, slow: 30s");
    println!("\nCtrl-C ends it, and nothing stays behind.");
}
