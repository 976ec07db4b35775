//! A hub with a small fleet on this machine, for trying the plugin without a fleet.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use test_hub::playground::{SIGHTS, TO_TRY, equip, fill};
use test_hub::standin::Timing;
use test_hub::{Crds, Options, TestHub};
use tokio::runtime::Runtime;

use crate::report;

/// A step that takes longer says so, and again each time.
const PATIENCE: Duration = Duration::from_secs(15);

/// Starts everything, says how to use it, and ends with Ctrl-C.
pub fn run(root: &Path, members: usize) -> Result<()> {
    let runtime = Runtime::new().context("starting threads")?;
    report("building the plugin");
    let plugin = build(root)?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = play(&plugin, members) => done,
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

async fn play(plugin: &Path, members: usize) -> Result<()> {
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
    let standin = Box::pin(patiently(fill(client, members, Timing::playground()))).await?;
    let bin = hub.folder().join("bin");
    std::fs::create_dir_all(&bin).with_context(|| format!("creating {}", bin.display()))?;
    equip(&bin, plugin)?;
    guide(&bin, &hub.kubeconfig());
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

/// Builds the plugin, and says where it is: wherever cargo is told to put it.
fn build(root: &Path) -> Result<PathBuf> {
    let built = Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "--locked",
            "--message-format=json-render-diagnostics",
            "--bin",
            "kubectl-fleet-stage",
        ])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo")?;
    if !built.status.success() {
        bail!("the plugin does not build");
    }
    let said = String::from_utf8_lossy(&built.stdout);
    let mut made = said.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    made.next_back()
        .context("cargo does not say where the plugin is")
}

#[allow(clippy::print_stdout)] // this is the answer
fn guide(bin: &Path, kubeconfig: &Path) {
    println!("\nIn another terminal:\n");
    println!("  export KUBECONFIG={}", kubeconfig.display());
    println!("  export PATH={}:$PATH", bin.display());
    println!("\nThe rollouts there:\n");
    for (run, state) in SIGHTS {
        println!("  {run:<18} {state}");
    }
    println!("\nThings to try:\n");
    for (command, why) in TO_TRY {
        println!("  {command:<50} # {why}");
    }
    println!("\nCtrl-C ends it, and nothing stays behind.");
}
