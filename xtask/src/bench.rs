//! `diagnose` on large bundles, against `jq .` on the same objects.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench_live;

const RUNS: usize = 5;
const MOMENT: &str = "2026-03-02T09:05:00Z";

/// Builds the release binary, writes bundles, fills a hub, measures, prints the tables.
#[allow(clippy::print_stdout)] // the tables are the answer
pub fn run(root: &Path, live_alone: bool) -> Result<(), String> {
    let built = Command::new("cargo")
        .args(["build", "--release", "--quiet"])
        .current_dir(root)
        .status()
        .map_err(|error| error.to_string())?;
    if !built.success() {
        return Err("the release build failed".to_owned());
    }
    let binary = root.join("target/release/kubectl-fleet-stage");
    let folder = root.join("target/bench");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    if !live_alone {
        bundles(&binary, &folder)?;
    }
    println!("{}", bench_live::run(&binary, &folder)?);
    Ok(())
}

#[allow(clippy::print_stdout)] // the table is the answer
fn bundles(binary: &Path, folder: &Path) -> Result<(), String> {
    println!("| clusters | file | MB | diagnose | jq . | ratio | peak memory | memory / file |");
    println!("|---|---|---|---|---|---|---|---|");
    for clusters in [100, 1000, 5000] {
        let document = bundle(clusters);
        let json = folder.join(format!("{clusters}.json"));
        write(
            &json,
            serde_json::to_string_pretty(&document)
                .map_err(|e| e.to_string())?
                .as_bytes(),
        )?;
        let yaml = folder.join(format!("{clusters}.yaml"));
        let text = kubectl_fleet_stage::render::yaml(&document)?;
        write(&yaml, text.as_bytes())?;
        let jq = time(&mut || quiet("jq", &[".".as_ref(), json.as_os_str()]));
        for file in [&json, &yaml] {
            let args = diagnose(file);
            let ours = time(&mut || quiet(binary, &args));
            let memory = peak_memory(binary, &args);
            row(clusters, file, ours, jq, memory);
        }
    }
    start_up(binary, folder)?;
    println!();
    Ok(())
}

/// What needs neither a hub nor objects: how long it takes to be there.
#[allow(clippy::print_stdout)] // the rows are the answer
fn start_up(binary: &Path, folder: &Path) -> Result<(), String> {
    // The name under which kubectl asks for candidates.
    let completing = folder.join("kubectl_complete-fleet_stage");
    std::fs::copy(binary, &completing)
        .map_err(|error| format!("{}: {error}", completing.display()))?;
    let nowhere = ["approve", "--kubeconfig", "/nowhere", ""];
    for (what, program, args) in [
        ("", binary, &["--help"][..]),
        ("", binary, &["explain", "FS401"]),
        ("", binary, &["version"]),
        ("completion of ", &completing, &["expl"]),
        ("completion without a hub of ", &completing, &nowhere),
    ] {
        let args: Vec<_> = args.iter().map(AsRef::as_ref).collect();
        if let Some(took) = time(&mut || quiet(program, &args)) {
            println!(
                "\n{what}`{}`: {:.1} ms",
                join(&args),
                took.as_secs_f64() * 1e3
            );
        }
    }
    Ok(())
}

fn join(args: &[&OsStr]) -> String {
    args.iter()
        .map(|arg| arg.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[allow(clippy::print_stdout, clippy::cast_precision_loss)] // sizes far below 2^52
fn row(
    clusters: usize,
    file: &PathBuf,
    ours: Option<Duration>,
    jq: Option<Duration>,
    memory: Option<u64>,
) {
    let size = std::fs::metadata(file).map_or(0, |data| data.len()) as f64;
    let seconds = |time: Option<Duration>| {
        time.map_or_else(
            || "-".to_owned(),
            |time| format!("{:.3} s", time.as_secs_f64()),
        )
    };
    let ratio = match (ours, jq) {
        (Some(ours), Some(jq)) => format!("{:.2}", ours.as_secs_f64() / jq.as_secs_f64()),
        _ => "-".to_owned(),
    };
    let (peak, factor) = memory.map_or_else(
        || ("-".to_owned(), "-".to_owned()),
        |kilobytes| {
            let bytes = kilobytes as f64 * 1024.0;
            (
                format!("{:.0} MB", bytes / 1e6),
                format!("{:.1}", bytes / size),
            )
        },
    );
    let kind = file
        .extension()
        .map_or_else(String::new, |kind| kind.to_string_lossy().into_owned());
    println!(
        "| {clusters} | {kind} | {:.1} | {} | {} | {ratio} | {peak} | {factor} |",
        size / 1e6,
        seconds(ours),
        seconds(jq)
    );
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::File::create(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a program without a word; whether it succeeds.
pub fn quiet(program: impl AsRef<OsStr>, args: &[&OsStr]) -> bool {
    Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The arguments that diagnose the run of a bundle.
fn diagnose(file: &Path) -> Vec<&OsStr> {
    const WORDS: [&str; 6] = ["diagnose", "example-run", "--exit-zero", "-o", "json", "-f"];
    let mut args: Vec<&OsStr> = WORDS.iter().map(AsRef::as_ref).collect();
    args.push(file.as_os_str());
    args
}

/// The median of several runs after a first one; `None` when the program is not there or fails.
pub fn time(run: &mut dyn FnMut() -> bool) -> Option<Duration> {
    if !run() {
        return None;
    }
    let mut times: Vec<_> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times.get(RUNS / 2).copied()
}

/// The peak of a run's memory in kB, as GNU time reports it; `None` without GNU time.
pub fn peak_memory(binary: &Path, args: &[&OsStr]) -> Option<u64> {
    let output = Command::new("/usr/bin/time")
        .arg("-f")
        .arg("%M")
        .arg(binary)
        .args(args)
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

/// A run over a fleet: a tenth of the clusters done, forty stuck, the rest to come.
fn bundle(clusters: usize) -> Value {
    let mut items = Vec::new();
    let name = |at: usize| format!("cluster-{at:05}");
    let done = clusters / 10;
    let stuck = 40.min(clusters - done);
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": message,
               "observedGeneration": 2, "lastTransitionTime": "2026-03-02T08:50:00Z"})
    };
    let statuses: Vec<_> = (0..clusters)
        .map(|at| {
            let mut conditions = Vec::new();
            if at < done + stuck {
                conditions.push(condition(
                    "Started",
                    "True",
                    "ClusterUpdatingStarted",
                    "Cluster update started",
                ));
            }
            if at < done {
                conditions.push(condition(
                    "Succeeded",
                    "True",
                    "ClusterUpdatingSucceeded",
                    "Cluster update completed successfully",
                ));
            }
            json!({"clusterName": name(at), "conditions": conditions})
        })
        .collect();
    let meta = |kind: &str, name: &str| {
        json!({"name": name, "uid": format!("{kind}-{name}-0f448a5f-a25d-4749"), "resourceVersion": "12345",
               "generation": 2, "creationTimestamp": "2026-03-02T08:00:00Z",
               "labels": {"kubernetes-fleet.io/parent-CRP": "example-placement", "environment": "prod"}})
    };
    let api = "placement.kubernetes-fleet.io/v1beta1";
    items.push(json!({"apiVersion": api, "kind": "ClusterStagedUpdateRun", "metadata": meta("run", "example-run"),
        "spec": {"placementName": "example-placement", "stagedRolloutStrategyName": "example-strategy", "state": "Run"},
        "status": {"resourceSnapshotIndexUsed": "0", "policySnapshotIndexUsed": "0",
            "stagedUpdateStrategySnapshot": {"stages": [{"name": "prod", "maxConcurrency": 40}]},
            "conditions": [condition("Initialized", "True", "UpdateRunInitializedSuccessfully", "The UpdateRun initialized successfully"),
                condition("Progressing", "False", "UpdateRunStuck", "The updateRun is stuck waiting for a, b, c... cluster(s) in stage prod to finish updating, please check placement status for potential errors")],
            "stagesStatus": [{"stageName": "prod", "clusters": statuses, "conditions": [condition("Progressing", "True", "StageUpdatingStarted", "Clusters in the stage started updating")]}]}}));
    let manifest = |ordinal: usize| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("settings-{ordinal}"), "namespace": "shop"},
               "data": {"settings.yaml": "listen: 8080\nlog: info\nfeatures:\n  search: true\n  cart: true\n".repeat(12)}})
    };
    let manifests: Vec<_> = (0..9).map(manifest).collect();
    for at in 0..clusters {
        let (cluster, reached, stuck) =
            (name(at), at < done + stuck, at >= done && at < done + stuck);
        let available = if stuck {
            condition(
                "Available",
                "False",
                "NotAllWorkAreAvailable",
                "Work object example-placement-work is not yet available",
            )
        } else {
            condition(
                "Available",
                "True",
                "AllWorkAreAvailable",
                "All corresponding work objects are available",
            )
        };
        let mut status = json!({"conditions": [
            condition("RolloutStarted", "True", "RolloutStarted", "Detected the new changes on the resources and started the rollout process, resourceSnapshotIndex: , updateRun: example-run"),
            condition("Overridden", "True", "NoOverrideSpecified", "No override rules are configured for the selected resources"),
            condition("WorkSynchronized", "True", "AllWorkSynced", "All of the works are synchronized to the latest"),
            condition("Applied", "True", "AllWorkHaveBeenApplied", "All corresponding work objects are applied"), available]});
        if stuck {
            status["failedPlacements"] = json!([{"group": "apps", "version": "v1", "kind": "Deployment", "name": "web", "namespace": "shop",
                "condition": condition("Available", "False", "ManifestNotAvailableYet", "Manifest is not yet available; Fleet will check again later")}]);
        }
        items.push(json!({"apiVersion": api, "kind": "ClusterResourceBinding", "metadata": meta("binding", &format!("example-placement-{cluster}-0f448a5f")),
            "spec": {"state": "Bound", "targetCluster": cluster, "schedulingPolicySnapshotName": "example-placement-0",
                "resourceSnapshotName": if reached { "example-placement-0-snapshot" } else { "" }},
            "status": if reached { status } else { json!({}) }}));
        let mut work = json!({"apiVersion": api, "kind": "Work", "metadata": meta("work", "example-placement-work"),
            "spec": {"workload": {"manifests": manifests}}, "status": {"conditions": [condition("Applied", "True", "AllManifestsApplied", "All the specified manifests have been applied")]}});
        work["metadata"]["namespace"] = json!(format!("fleet-member-{cluster}"));
        work["metadata"]["labels"]["kubernetes-fleet.io/parent-resource-binding"] =
            json!(format!("example-placement-{cluster}-0f448a5f"));
        items.push(work);
        items.push(json!({"apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster", "metadata": meta("member", &cluster),
            "spec": {"heartbeatPeriodSeconds": 60}, "status": {"conditions": [condition("Joined", "True", "MemberClusterJoined", "Member cluster has successfully joined the fleet")],
                "agentStatus": [{"type": "MemberAgent", "lastReceivedHeartbeat": MOMENT, "conditions": [condition("Healthy", "True", "InternalMemberClusterHealthy", "")]}]}}));
    }
    items.push(json!({"apiVersion": api, "kind": "ClusterResourcePlacement", "metadata": meta("placement", "example-placement"),
        "spec": {"strategy": {"type": "External"}, "policy": {"placementType": "PickAll"}}}));
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}
