//! A cluster does not finish, and nothing that was read tells why.

use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::{subjects::ownership, subjects::preemption};
use crate::inventory::BLOCKING;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::parse_stuck;
use crate::kubefleet::{Conditions, describe_object, reasons};
use crate::problems::steps;
use crate::rollout::sent::awaited_since;
use crate::rollout::{ClusterState, Health, Rollout};

/// The rest of the stuck clusters, so that each has a finding: those of which no other rule of this
/// group speaks. Source: updaterun/execution.go:checkClusterUpdateResult.
pub const RULE: Rule = Rule::error("FS521", "cluster-stuck-unexplained", Whole(check))
    .reads(&[Concept::Binding, Concept::Work, Concept::MemberCluster])
    .caused_by(&["FS516", "FS517", "FS518"]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    if cx.verdict != Verdict::Stuck || cx.rollout.as_ref().is_some_and(|it| !it.is_live()) {
        return Vec::new();
    }
    // A stop that waits for a removal waits for no cluster, nor does a removal that is blocked.
    let waits_for_removal = |rollout: &Rollout<'_>| {
        !rollout.removals_under_stop().is_empty() || rollout.held_removals().next().is_some()
    };
    if cx.rollout.as_ref().is_some_and(waits_for_removal) {
        return Vec::new();
    }
    let stuck = stuck(cx);
    let lost: Vec<_> = preemption::lost(cx).iter().map(|it| it.cluster).collect();
    let waits = |rollout: &Rollout<'_>| rollout.unrequested_approvals().next().is_some();
    // The controller has not noticed that a cluster is done.
    let mut in_flight = cx.rollout.iter().flat_map(Rollout::in_flight);
    let is_done = in_flight.any(|it| matches!(it.health, Health::Fine(_)));
    let waits = cx.outlook.silence.is_some() || cx.rollout.as_ref().is_some_and(waits) || is_done;
    if stuck.is_empty() && waits {
        return Vec::new();
    }
    let mut groups: BTreeMap<_, Vec<(&str, Option<&Binding>)>> = BTreeMap::new();
    for (cluster, stage) in &stuck {
        let explained = cx
            .troubles
            .iter()
            .any(|failing| failing.cluster == cluster && ownership::is_explained(cx, failing));
        // One that is done only waits for the controller.
        let is_done = cx
            .rollout
            .iter()
            .flat_map(Rollout::clusters)
            .any(|it| it.name == cluster && matches!(it.health, Health::Fine(_)));
        let is_late = awaited_since(cx.inventory, cluster).is_some();
        if explained || is_done || is_late || lost.contains(&cluster.as_str()) {
            continue;
        }
        let binding = cx.inventory.binding(cluster);
        let subject = binding.map_or_else(|| cx.run_object().into(), |b| Subject::from(b.object()));
        groups
            .entry((subject, stage.as_deref(), unknown(cx, binding)))
            .or_default()
            .push((cluster, binding));
    }
    let findings = groups.into_iter().map(|((subject, stage, why), on)| {
        let names = on.iter().map(|(cluster, _)| *cluster);
        let do_not = if on.len() == 1 { "does" } else { "do" };
        let message = format!("{} {do_not} not finish: {why}.", enumerate(names.clone()));
        let mut finding = rule
            .finding(subject, message)
            .root()
            .clusters(names.clone());
        finding.stage = stage.map(str::to_owned);
        if on.iter().all(|(_, binding)| binding.is_none()) {
            finding = second_hand(cx, names, finding);
        }
        let bindings: Vec<_> = on.iter().filter_map(|(_, binding)| *binding).collect();
        for binding in bindings {
            finding = conditions(binding, finding);
        }
        remedies(cx, finding)
    });
    let mut findings: Vec<_> = findings.collect();
    if stuck.is_empty() {
        findings.push(remedies(
            cx,
            rule.finding(
                cx.run_object(),
                "The run reports that it is stuck; the cluster is unknown.",
            )
            .root(),
        ));
    }
    findings
}

/// The clusters that the verdict is about, with their stages.
fn stuck(cx: &DiagnosisContext<'_>) -> Vec<(String, Option<String>)> {
    let mut stuck: Vec<(String, Option<String>)> = Vec::new();
    if let Some(rollout) = &cx.rollout {
        let says_stuck = rollout.reason() == reasons::RUN_STUCK;
        for cluster in rollout.in_flight() {
            let overdue =
                cluster.state == ClusterState::Stuck || (says_stuck && cluster.since.is_none());
            if overdue && !matches!(cluster.health, Health::Fine(_)) {
                stuck.push((cluster.name.to_owned(), Some(cluster.stage.to_owned())));
            }
        }
        if stuck.is_empty()
            && says_stuck
            && let Some(text) = rollout
                .progressing()
                .and_then(|condition| parse_stuck(&condition.message))
        {
            for name in text.clusters {
                stuck.push((name, Some(text.stage.clone())));
            }
        }
    }
    for failing in &cx.troubles {
        if failing.explains(cx.verdict) && !stuck.iter().any(|(name, _)| name == failing.cluster) {
            stuck.push((failing.cluster.to_owned(), failing.stage.map(str::to_owned)));
        }
    }
    stuck
}

/// What the placement's own status says of clusters whose bindings could not be read: its
/// controller copies it from them. Source: placement/placement_status.go.
fn second_hand<'c>(
    cx: &DiagnosisContext<'_>,
    clusters: impl Iterator<Item = &'c str>,
    mut finding: Finding,
) -> Finding {
    const SHOWN: usize = 3;
    let (Some(placement), Some(run)) = (cx.inventory.placement.present(), cx.run()) else {
        return finding;
    };
    if cx.inventory.bindings.is_complete() {
        return finding;
    }
    let object = placement.object();
    let index = &run.status.snapshot_index;
    let mut said = Vec::new();
    for cluster in clusters {
        let entry = placement.status.clusters.iter().find(|entry| {
            // What was copied before the run came to the cluster is about other content.
            entry.cluster == cluster
                && (entry.observed_index.is_empty() || entry.observed_index == *index)
        });
        let Some(entry) = entry else { continue };
        let base = format!("status.placementStatuses[clusterName={cluster}]");
        let failed = BLOCKING.iter().find_map(|kind| {
            let condition = entry.conditions.condition(kind)?;
            condition.is_false().then_some(condition)
        });
        let Some(failed) = failed else { continue };
        if said.len() < SHOWN {
            finding = finding.condition_at(&object, &base, failed);
        }
        let objects: Vec<_> = entry
            .failed
            .iter()
            .map(|it| describe_object(&it.kind, &it.namespace, &it.name))
            .collect();
        for (at, failed) in entry.failed.iter().enumerate().take(SHOWN) {
            let path = format!("{base}.failedPlacements[{at}].condition.message");
            finding = finding.evidence(&object, path, &failed.condition.message);
        }
        said.push(if objects.is_empty() {
            format!("{cluster}: {}=False {}", failed.kind, failed.reason)
        } else {
            format!(
                "{cluster}: {}=False {} for {}",
                failed.kind,
                failed.reason,
                enumerate(objects)
            )
        });
    }
    if !said.is_empty() {
        finding.add_sentence(&format!(
            "The status of {object}, which may be older than its bindings, reports for {}.",
            enumerate(said)
        ));
    }
    finding
}

/// What exactly is not known.
fn unknown(cx: &DiagnosisContext<'_>, binding: Option<&Binding>) -> &'static str {
    let Some(binding) = binding else {
        return if cx.inventory.bindings.is_complete() {
            "the placement has no binding there"
        } else {
            "the reason is in the binding, which could not be read"
        };
    };
    if binding.meta.is_deleting() {
        return "its binding is being deleted";
    }
    let conditions = &binding.status.conditions;
    if !conditions.is_empty()
        && conditions
            .iter()
            .all(|condition| !condition.observes(binding.meta.generation))
    {
        return "the conditions of its binding cover an older generation, so the hub agent has not \
                processed it since its last change";
    }
    let mut troubles = cx.troubles.iter();
    let failing = troubles.any(|failing| failing.binding.meta.name == binding.meta.name);
    let (released, answered): (Vec<_>, Vec<_>) = conditions
        .iter()
        .filter(|it| it.observes(binding.meta.generation))
        .partition(|it| it.kind == reasons::ROLLOUT_STARTED);
    if !failing && !released.is_empty() && answered.is_empty() {
        return "the hub agent has not written the content since the run released it, so the member cluster \
                has not received it";
    }
    if !failing {
        return "its binding shows no failure and no success";
    }
    if cx.inventory.works.is_complete() {
        "its binding and its Work name no failed object"
    } else {
        "its binding names no failed object, and its Works could not be read"
    }
}

fn conditions(binding: &Binding, mut finding: Finding) -> Finding {
    let object = binding.object();
    finding = finding.evidence(&object, "metadata.generation", binding.meta.generation);
    if binding.status.conditions.is_empty() {
        return finding.evidence(&object, "status.conditions", ABSENT);
    }
    for condition in &binding.status.conditions {
        finding = finding.condition(&object, condition);
    }
    match binding.status.conditions.last() {
        Some(condition) if !condition.observes(binding.meta.generation) => {
            finding.observed(&object, condition)
        }
        _ => finding,
    }
}

fn remedies(cx: &DiagnosisContext<'_>, mut finding: Finding) -> Finding {
    let kind = cx.inventory.scope.kind(Concept::Binding).name();
    finding = finding.condition(
        &cx.run_object(),
        cx.rollout.as_ref().and_then(Rollout::progressing),
    );
    if !cx.inventory.bindings.is_complete() || !cx.inventory.works.is_complete() {
        finding = finding.look(format!(
            "Diagnose again with permission to read {kind} and Work \
             (works.placement.kubernetes-fleet.io), or from a file that contains them."
        ));
    }
    let placement = cx.placement_object();
    finding = match finding.clusters.as_slice() {
        [one] => {
            let works = steps::works_for(&placement, one).flag("-o", "yaml");
            let action = format!("Inspect the placement's Works for {one}.");
            finding.look_with(action, works)
        }
        _ => finding.look_with(
            "List the placement's Works for all clusters.",
            steps::works_of(&placement),
        ),
    };
    let names = match finding.clusters.len() {
        0 => "the hub agent".to_owned(),
        _ => format!(
            "the hub agent, then of the agents on {}",
            enumerate(&finding.clusters)
        ),
    };
    finding.look_with(format!("Read the log of {names}."), cx.agent_log())
}
