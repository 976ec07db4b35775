//! `diagnose --all` on bundles of many runs, of which every placement has had hundreds.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{Program, Table};

const PLACEMENTS: usize = 50;
const ROUNDS: usize = 3;

/// Writes bundles, measures, and gives back the table.
pub fn run(binary: &Path, folder: &Path) -> Result<String> {
    let mut table = Table::new(&[
        "runs",
        "on each placement",
        "MB",
        "diagnose --all",
        "for each run",
        "peak memory",
    ]);
    for runs in [1000, 3000, 10_000] {
        let file = folder.join(format!("{runs}-runs.json"));
        let text = bundle(runs).to_string();
        std::fs::write(&file, &text).with_context(|| file.display().to_string())?;
        let words = ["diagnose", "--all", "--exit-zero", "-o", "json", "-f"];
        let words = words.iter().map(AsRef::as_ref);
        let program = Program::new(binary, words.chain([file.as_os_str()]));
        let took = super::in_turns(std::slice::from_ref(&program), ROUNDS, Duration::ZERO)?[0];
        table.row(&row(runs, text.len(), took, program.peak_memory()));
    }
    Ok(table.text)
}

#[allow(clippy::cast_precision_loss)] // sizes far below 2^52
fn row(runs: usize, bytes: usize, took: Duration, memory: Option<u64>) -> [String; 6] {
    [
        runs.to_string(),
        (runs / PLACEMENTS).to_string(),
        format!("{:.1}", bytes as f64 / 1e6),
        format!("{:.2} s", took.as_secs_f64()),
        format!("{:.0} µs", took.as_secs_f64() * 1e6 / runs as f64),
        memory.map_or_else(
            || "-".to_owned(),
            |kilobytes| format!("{:.0} MB", kilobytes as f64 / 1e3),
        ),
    ]
}

/// Runs that succeeded one after the other, the newest of each placement half way, with their bindings.
fn bundle(runs: usize) -> Value {
    const API: &str = "placement.kubernetes-fleet.io/v1beta1";
    const CLUSTERS: [&str; 4] = ["member-1", "member-2", "member-3", "member-4"];
    let meta = |name: &str, at: usize| {
        json!({"name": name, "uid": format!("{name}-5b1f"), "generation": 1,
            "resourceVersion": "12345", "creationTimestamp": moment(at)})
    };
    let condition = |kind: &str, status: &str, reason: &str, at: usize| json!({"type": kind, "status": status, "reason": reason, "message": "", "observedGeneration": 1, "lastTransitionTime": moment(at)});
    let mut items = Vec::new();
    for place in 0..PLACEMENTS {
        let placement = format!("app-{place:02}");
        let each = runs / PLACEMENTS;
        items.push(json!({"apiVersion": API, "kind": "ClusterResourcePlacement", "metadata": meta(&placement, 0),
            "spec": {"strategy": {"type": "External"}, "policy": {"placementType": "PickAll"}}}));
        for at in 0..each {
            let last = at + 1 == each;
            let clusters: Vec<_> = CLUSTERS
                .iter()
                .zip(0..)
                .map(|(cluster, number)| {
                    let mut conditions = Vec::new();
                    if !last || number < 2 {
                        conditions.push(condition("Started", "True", "ClusterUpdatingStarted", at));
                    }
                    if !last || number < 1 {
                        conditions.push(condition(
                            "Succeeded",
                            "True",
                            "ClusterUpdatingSucceeded",
                            at,
                        ));
                    }
                    json!({"clusterName": cluster, "conditions": conditions})
                })
                .collect();
            let mut conditions = vec![condition(
                "Initialized",
                "True",
                "UpdateRunInitializedSuccessfully",
                at,
            )];
            conditions.push(if last {
                condition("Progressing", "True", "UpdateRunProgressing", at)
            } else {
                condition("Succeeded", "True", "UpdateRunSucceeded", at)
            });
            items.push(json!({"apiVersion": API, "kind": "ClusterStagedUpdateRun", "metadata": meta(&format!("{placement}-{at}"), at + 1),
                "spec": {"placementName": placement, "stagedRolloutStrategyName": "all", "state": "Run"},
                "status": {"resourceSnapshotIndexUsed": at.to_string(), "policySnapshotIndexUsed": "0",
                    "stagedUpdateStrategySnapshot": {"stages": [{"name": "all", "maxConcurrency": 1}]},
                    "conditions": conditions,
                    "stagesStatus": [{"stageName": "all", "clusters": clusters, "conditions": []}]}}));
        }
        for (cluster, number) in CLUSTERS.iter().zip(0..) {
            let at = if number < 2 {
                each - 1
            } else {
                each.saturating_sub(2)
            };
            let mut meta = meta(&format!("{placement}-{cluster}"), 0);
            meta["labels"] = json!({"kubernetes-fleet.io/parent-CRP": placement});
            let mut started = condition("RolloutStarted", "True", "RolloutStarted", at);
            started["message"] = json!(format!(
                "Detected the new changes on the resources and started the rollout process, resourceSnapshotIndex: {at}, updateRun: {placement}-{at}"
            ));
            let spec = json!({"state": "Bound", "targetCluster": cluster, "schedulingPolicySnapshotName": format!("{placement}-0"),
                "resourceSnapshotName": format!("{placement}-{at}-snapshot")});
            items.push(json!({"apiVersion": API, "kind": "ClusterResourceBinding", "metadata": meta, "spec": spec,
                "status": {"conditions": [started, condition("Applied", "True", "AllWorkHaveBeenApplied", at),
                    condition("Available", "True", "AllWorkAreAvailable", at)]}}));
        }
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

/// So many minutes after the first.
fn moment(minutes: usize) -> String {
    let (day, hour, minute) = (1 + minutes / 1440, minutes / 60 % 24, minutes % 60);
    format!("2026-03-{day:02}T{hour:02}:{minute:02}:00Z")
}
