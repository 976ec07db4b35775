//! `diagnose` on large bundles, against `jq .` on the same objects.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{Program, Table};

const MOMENT: &str = "2026-03-02T09:05:00Z";
/// How often each runs, in turns.
const ROUNDS: usize = 5;

/// Writes bundles, measures, and gives back the table.
pub fn run(binary: &Path, folder: &Path) -> Result<String> {
    let mut table = Table::new(&[
        "clusters",
        "file",
        "MB",
        "diagnose",
        "jq .",
        "ratio",
        "peak memory",
        "memory / file",
    ]);
    for clusters in [100, 1000, 5000] {
        let document = bundle(clusters);
        let json = folder.join(format!("{clusters}.json"));
        let text = serde_json::to_string_pretty(&document)?;
        write(&json, text.as_bytes())?;
        let yaml = folder.join(format!("{clusters}.yaml"));
        let text = kubectl_fleet_stage::render::yaml(&document)?;
        write(&yaml, text.as_bytes())?;
        let jq = Program::new("jq", [".".as_ref(), json.as_os_str()]);
        let [on_json, on_yaml] = [&json, &yaml].map(|file| diagnose(binary, file));
        let times = super::in_turns(
            &[jq, on_json.clone(), on_yaml.clone()],
            ROUNDS,
            Duration::ZERO,
        )?;
        for (kind, program, time) in [("json", on_json, times[1]), ("yaml", on_yaml, times[2])] {
            let file = folder.join(format!("{clusters}.{kind}"));
            let memory = program.peak_memory();
            table.row(&row(clusters, kind, &file, [time, times[0]], memory));
        }
    }
    Ok(table.text)
}

#[allow(clippy::cast_precision_loss)] // sizes far below 2^52
fn row(
    clusters: usize,
    kind: &str,
    file: &Path,
    [ours, jq]: [Duration; 2],
    memory: Option<u64>,
) -> [String; 8] {
    let size = std::fs::metadata(file).map_or(0, |data| data.len()) as f64;
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
    [
        clusters.to_string(),
        kind.to_owned(),
        format!("{:.1}", size / 1e6),
        format!("{:.3} s", ours.as_secs_f64()),
        format!("{:.3} s", jq.as_secs_f64()),
        format!("{:.2}", ours.as_secs_f64() / jq.as_secs_f64()),
        peak,
        factor,
    ]
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::File::create(path)
        .and_then(|mut file| file.write_all(bytes))
        .with_context(|| path.display().to_string())
}

/// The program that diagnoses the run of a bundle.
fn diagnose(binary: &Path, file: &Path) -> Program {
    const WORDS: [&str; 6] = ["diagnose", "example-run", "--exit-zero", "-o", "json", "-f"];
    let words = WORDS.iter().map(AsRef::as_ref);
    Program::new(binary, words.chain([file.as_os_str()]))
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
