//! For every recorded run the plan is what the controller computed, and for every run that could not
//! be initialized it names the reason.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use kubectl_fleet_stage::kubefleet::messages::{Cause, parse_failure};
use serde_json::{Value, json};

use super::fixtures::text;
use super::gates::side;
use super::{fixtures, kinds, plan};

fn yaml_files(folder: &str) -> Vec<PathBuf> {
    fixtures::yaml_files(&[folder])
}

/// The objects of a bundle.
fn objects(path: &Path) -> Vec<Value> {
    fixtures::documents(&std::fs::read_to_string(path).unwrap())
}

fn runs(objects: &[Value]) -> impl Iterator<Item = &Value> {
    objects.iter().filter(|object| {
        let kind = object["kind"].as_str().unwrap_or_default();
        matches!(kind, "ClusterStagedUpdateRun" | "StagedUpdateRun")
    })
}

fn condition<'v>(run: &'v Value, kind: &str) -> Option<&'v Value> {
    run["status"]["conditions"]
        .as_array()?
        .iter()
        .find(|condition| condition["type"] == kind)
}

/// What a plan and a run have in common: stages, clusters in order, gates, removed clusters.
fn shape(stages: &Value, names: [&str; 4]) -> Vec<Value> {
    let [stage, cluster, before, after] = names;
    let tasks = |tasks: &Value| {
        let tasks = tasks.as_array().cloned().unwrap_or_default();
        let task = |task: &Value| {
            let request = task.get("request").or(task.get("approvalRequestName"));
            json!([task["type"], request])
        };
        tasks.iter().map(task).collect::<Vec<_>>()
    };
    let stages = stages.as_array().cloned().unwrap_or_default();
    stages
        .iter()
        .map(|it| {
            let clusters = it["clusters"].as_array().cloned().unwrap_or_default();
            let clusters: Vec<_> = clusters.iter().map(|one| one[cluster].clone()).collect();
            json!([
                it[stage],
                clusters,
                tasks(&side(it, before)),
                tasks(&side(it, after))
            ])
        })
        .collect()
}

/// The plan for a run that was initialized, from the strategy that it recorded.
fn planned(path: &Path, run: &Value, folder: &Path) -> Option<Value> {
    let strategy = run.pointer("/status/stagedUpdateStrategySnapshot")?;
    let kind = text(run, "/kind").replace("Run", "Strategy");
    let file = folder.join("strategy.json");
    let manifest = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": kind,
        "metadata": {"name": text(run, "/spec/stagedRolloutStrategyName")},
        "spec": strategy,
    });
    let mut out = std::fs::File::create(&file).unwrap();
    write!(out, "{manifest}").unwrap();
    let (path, file) = (path.to_str().unwrap(), file.to_str().unwrap());
    let mut args = vec![
        "--placement",
        text(run, "/spec/placementName"),
        "--strategy-file",
        file,
        "--run",
        text(run, "/metadata/name"),
        "-f",
        path,
    ];
    let index = text(run, "/status/resourceSnapshotIndexUsed");
    if !index.is_empty() {
        args.extend(["--snapshot", index]);
    }
    let namespace = text(run, "/metadata/namespace");
    if !namespace.is_empty() {
        args.extend(["-n", namespace]);
    }
    Some(plan(&args, "").1)
}

/// Bundles in which the run cannot be computed again: what it was made from has changed since, or was
/// kept from whoever collected it, or an older KubeFleet named its approval requests.
const CHANGED: &[&str] = &[
    "findings/FS803/fires-created-again.yaml example-run",
    "findings/FS805/fires-binding.yaml example-run",
    "findings/FS203/fires-live-picked.yaml example-run",
    "findings/FS204/fires-joined.yaml example-run",
    "findings/FS205/fires-gone.yaml web-app-rollout",
    "findings/FS105/fires-live-member-left.yaml example-run",
    "findings/FS302/fires-bindings-denied.yaml web-app-rollout",
    "findings/FS607/fires-foreign-finalizer.yaml example-run",
    "healthy/cluster/head-delete-stage.yaml example-run",
    "healthy/namespaced/head-delete-stage.yaml web-app-rollout",
    "findings/FS527/fires-agent-reports.yaml example-run",
    "real/C-cluster-joined.yaml cluster-joined",
    "real/C-cluster-left.yaml cluster-left",
];

/// All recordings, and one bundle of each finding.
pub fn bundles() -> Vec<PathBuf> {
    let mut findings = yaml_files("tests/findings");
    findings.dedup_by(|a, b| a.parent() == b.parent());
    let recorded = ["tests/real", "tests/healthy"]
        .into_iter()
        .flat_map(yaml_files);
    recorded.chain(findings).collect()
}

pub fn short(path: &Path) -> &str {
    path.to_str().unwrap().rsplit("tests/").next().unwrap()
}

#[test]
fn a_plan_is_what_the_controller_computed() {
    let folder = tempfile::tempdir().unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for path in bundles() {
        let all = objects(&path);
        for run in runs(&all) {
            if condition(run, "Initialized").is_none_or(|it| it["status"] != "True") {
                continue;
            }
            let Some(plan) = planned(&path, run, folder.path()) else {
                continue;
            };
            if text(&plan, "/policySnapshot") != text(run, "/status/policySnapshotIndexUsed") {
                continue;
            }
            compared += 1;
            let names = [
                "stageName",
                "clusterName",
                "beforeStageTaskStatus",
                "afterStageTaskStatus",
            ];
            let computed = shape(&run["status"]["stagesStatus"], names);
            let planned = shape(&plan["stages"], ["name", "name", "before", "after"]);
            let deletion = json!([run["status"]["deletionStageStatus"]]);
            let deletion = shape(&deletion, ["", "clusterName", "", ""]);
            let removed = json!([{"clusters": plan["removed"]}]);
            let removed = shape(&removed, ["", "name", "", ""]);
            let same = computed == planned && deletion == removed;
            let name = format!("{} {}", short(&path), text(run, "/metadata/name"));
            if same == CHANGED.contains(&name.as_str()) {
                wrong.push(format!(
                    "{name}\n  {} {}\n  {} {}",
                    json!(computed),
                    json!(deletion),
                    json!(planned),
                    json!(removed),
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared > 100, "{compared}");
}

/// The refusal that tells what a controller's text names; `None` for what is no reason of the inputs.
fn refusal(cause: &Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::PlacementNotFound => "placement-not-found",
        Cause::PlacementNotExternal { .. } => "placement-not-external",
        Cause::PolicySnapshotNotFound => "policy-snapshot-not-found",
        Cause::PolicySnapshotMultiple { .. } => "policy-snapshots-several",
        Cause::PolicySnapshotNoIndex { .. } => "policy-snapshot-without-index",
        Cause::PolicySnapshotBadClusterCount { .. } => "policy-snapshot-without-count",
        Cause::PolicyNotScheduled { .. } => "placement-not-scheduled",
        Cause::BindingOldPolicy { .. } => "binding-outdated",
        Cause::NoBindings { .. } => "no-cluster-selected",
        Cause::BindingCountMismatch { .. } => "binding-count-mismatch",
        Cause::StrategyNotFound { .. } => "strategy-not-found",
        Cause::StageTasksInvalid { .. } => "stage-tasks-invalid",
        Cause::StageSelectorInvalid { .. } => "stage-selector-invalid",
        Cause::ClusterInSeveralStages { .. } => "cluster-in-two-stages",
        Cause::SortingLabelInvalid { .. } => "sorting-label-invalid",
        Cause::ClustersInNoStage { .. } => "cluster-in-no-stage",
        Cause::SnapshotIndexInvalid { .. } => "snapshot-index-invalid",
        Cause::SnapshotNotFound { .. } => "snapshot-not-found",
        Cause::NoMasterSnapshot
        | Cause::SnapshotGroupIncomplete { .. }
        | Cause::SnapshotCountInvalid { .. } => "snapshot-incomplete",
        Cause::ResourceSelectorInvalid { .. } => "resource-selector-invalid",
        Cause::OverridePolicyNil | Cause::OverrideSelectorInvalid { .. } => "override-invalid",
        _ => return None,
    })
}

/// Bundles in which the reason is gone by now, or was kept from whoever collected it.
const MENDED: &[&str] = &[
    "findings/FS101/fires-exists-by-now.yaml",
    "findings/FS102/fires-external-by-now.yaml",
    "findings/FS102/quiet-not-found-then.yaml",
    "findings/FS103/fires-too-early.yaml",
    "findings/FS105/fires-scheduled-by-now.yaml",
    "findings/FS106/fires-selected-by-now.yaml",
    // A policy that has no count.
    "findings/FS106/quiet-one-cluster.yaml",
    "findings/FS107/fires-agrees-by-now.yaml",
    "findings/FS107/fires-tainted.yaml",
    "findings/FS108/fires-exists-but-not-external.yaml",
    "findings/FS108/fires-exists-by-now.yaml",
    // A plan does not list the strategies that it is not about.
    "findings/FS125/fires-hides-another.yaml",
    "findings/FS125/quiet-readable.yaml",
    "findings/FS109/fires-mended-by-now.yaml",
    "findings/FS110/fires-changed-since.yaml",
    "findings/FS111/fires-relabelled-since.yaml",
    "findings/FS113/fires-joined-again.yaml",
    "findings/FS113/fires-labelled-since.yaml",
    "findings/FS113/fires-members-denied.yaml",
    // What the controller does not know, the plan does.
    "findings/FS114/fires-latest.yaml",
    "findings/FS115/fires-exists-by-now.yaml",
    "findings/FS115/fires-snapshots-denied.yaml",
    // Without overrides the parts are not looked for; see the tests of refusals.
    "findings/FS117/fires-in-namespace.yaml",
    "findings/FS117/fires-whole-by-now.yaml",
    "findings/FS118/fires-policy-nil.yaml",
    "findings/FS118/fires-selector.yaml",
    // A newer controller makes up for it, so that it is a warning.
    "findings/FS120/quiet-parts-missing.yaml",
];

#[test]
fn a_plan_names_the_reason_for_which_a_run_was_not_initialized() {
    let (mut compared, mut wrong) = (0, Vec::new());
    let bundles = yaml_files("tests/real")
        .into_iter()
        .chain(yaml_files("tests/findings"));
    for path in bundles {
        if !std::fs::read_to_string(&path)
            .unwrap()
            .contains("UpdateRunInitializedFailed")
        {
            continue;
        }
        let all = objects(&path);
        for run in runs(&all) {
            let Some(failed) = condition(run, "Initialized").filter(|it| it["status"] == "False")
            else {
                continue;
            };
            let causes = parse_failure(text(failed, "/message"));
            let wanted: Vec<_> = causes.iter().filter_map(refusal).collect();
            let bundle = path.to_str().unwrap();
            let mut args = vec![
                "--placement",
                text(run, "/spec/placementName"),
                "--strategy",
                text(run, "/spec/stagedRolloutStrategyName"),
                "-f",
                bundle,
            ];
            for (flag, value) in [
                ("--snapshot", text(run, "/spec/resourceSnapshotIndex")),
                ("-n", text(run, "/metadata/namespace")),
            ] {
                if !value.is_empty() {
                    args.extend([flag, value]);
                }
            }
            if wanted.is_empty() {
                continue;
            }
            let (_, plan) = plan(&args, "");
            let told = kinds(&plan, "refusals");
            compared += 1;
            let same = wanted.iter().all(|kind| {
                // What is lower than all that exist has been deleted.
                let also = if *kind == "snapshot-not-found" {
                    "snapshot-pruned"
                } else {
                    kind
                };
                told.iter().any(|it| it == kind || it == also)
            });
            if same == MENDED.contains(&short(&path)) {
                wrong.push(format!(
                    "{}: {wanted:?} {told:?} {}",
                    short(&path),
                    plan["notChecked"]
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared > 30, "{compared}");
}

/// Whatever is missing from a bundle, there is a plan or an error, and no plan is made of nothing.
#[test]
fn every_line_may_be_missing() {
    let base = include_str!("base.yaml");
    let lines: Vec<_> = base.lines().collect();
    let args = ["--placement", "web", "--strategy", "rolling", "-f", "-"];
    for at in 0..lines.len() {
        let kept = lines.iter().enumerate().filter(|(line, _)| *line != at);
        let kept: Vec<_> = kept.map(|(_, line)| *line).collect();
        let (code, out, err) = super::call(&args, &kept.join("\n"));
        assert!(
            [0, 1, 3, 6, 7].contains(&code),
            "{at} {}: {code} {err}",
            lines[at]
        );
        assert!(
            code == 1 || out.contains("as of"),
            "{at} {}: {err}",
            lines[at]
        );
    }
}

#[test]
fn the_order_of_objects_means_nothing() {
    let base = include_str!("base.yaml");
    let mut turned: Vec<_> = base.split("\n---\n").collect();
    turned[1..].reverse();
    let args = ["--placement", "web", "--strategy", "rolling", "-f", "-"];
    assert_eq!(plan(&args, base), plan(&args, &turned.join("\n---\n")));
}

/// As of a finding, the first step of a point looks, or changes what can be changed back.
#[test]
fn the_first_step_of_a_point_is_safe() {
    let folder = tempfile::tempdir().unwrap();
    let (mut count, mut wrong) = (0, Vec::new());
    for path in bundles() {
        let all = objects(&path);
        for run in runs(&all) {
            let Some(plan) = planned(&path, run, folder.path()) else {
                continue;
            };
            for point in ["refusals", "warnings"]
                .iter()
                .filter_map(|list| plan[list].as_array())
                .flatten()
            {
                let Some(first) = point["remedies"].get(0) else {
                    continue;
                };
                count += 1;
                let action = first["action"].as_str().unwrap();
                let hangs = action.starts_with("Or ") || action.starts_with("Then ");
                if first["effect"] == "disruptive" || hangs {
                    wrong.push(format!("{}: {}: {action}", short(&path), point["kind"]));
                }
            }
        }
    }
    assert!(count > 100, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
