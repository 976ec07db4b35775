//! A workload was applied and does not become available.

use crate::diagnose::rules::prelude::*;
use jiff::Timestamp;

use crate::diagnose::affected::Affected;
use crate::diagnose::failing_cluster::FailingCluster;
use crate::diagnose::member_findings;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::STUCK_AFTER;
use crate::words::CommandLine;

/// `ManifestNotAvailableYet` on anything but a Service, whose wait has another reason
/// (FS523), and an availability that could not be tracked.
/// Source: workapplier/availability_tracker.go.
pub const RULE: Rule = Rule::error("FS501", "workload-not-available", Search::Object(check))
    .reads(&[Concept::Binding, Concept::Work])
    .caused_by(&member_findings::OF_OBJECTS)
    .content();

/// Whether objects of a kind become available through pods, which need a node.
fn has_pods(kind: &str) -> bool {
    matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet")
}

fn check(affected: &Affected<'_, '_>, mut finding: Finding) -> Finding {
    let state = match affected.manifest.problem {
        ManifestProblem::NotAvailableYet => "has not become available",
        _ => "its availability could not be determined",
    };
    finding.message = format!(
        "{} was applied, but {state} on {}{}.",
        affected.object(),
        affected.clusters(),
        affected.lasting()
    );
    if affected.runs_elsewhere() {
        finding.fault = Some(Blame::Environment);
    }
    if let Some(deadline) = fresh(affected) {
        finding.message = format!(
            "{} was applied, but {state} on {}{}; it counts as stuck from {deadline}.",
            affected.object(),
            affected.clusters(),
            affected.lasting(),
        );
        return goes_on_by_itself(affected.cx, finding);
    }
    let clusters: Vec<_> = affected.on.iter().map(|on| on.cluster).collect();
    let subject = finding.subject.clone();
    finding = member_findings::statuses(affected.cx, &subject, &clusters, finding);
    let without_nodes: Vec<_> = affected
        .on
        .iter()
        .filter_map(|failing| failing.member)
        .filter(|member| has_pods(affected.manifest.kind) && member.nodes() == Some("0"))
        .collect();
    for member in without_nodes.iter().take(3) {
        finding = finding.evidence(
            member.object(),
            "status.properties[kubernetes-fleet.io/node-count].value",
            "0",
        );
    }
    if let Some(member) = without_nodes.first() {
        let names = without_nodes.iter().map(|member| member.meta.name.as_str());
        let (names, report) = match without_nodes.as_slice() {
            [one] => (one.meta.name.clone(), "reports"),
            _ => (enumerate(names), "report"),
        };
        finding.message = format!(
            "{} {names} {report} no nodes, so no pod starts there.",
            finding.message
        );
        finding = finding.look_with(
            "Check whether nodes have joined.",
            CommandLine::member(member.meta.name.as_str(), "get").arg("nodes"),
        );
    }
    let [inspect, causes, fields] = if has_pods(affected.manifest.kind) {
        [
            "pods and events show whether the image, quota, scheduling, or a probe blocks it",
            ": nodes, quota, pull secret, or a dependency",
            " (image, probes, requests)",
        ]
    } else {
        ["conditions and events show what is missing", "", ""]
    };
    finding = finding.look_with(
        format!(
            "Inspect the {} on {}: its {inspect}.",
            affected.manifest.kind,
            affected.clusters()
        ),
        affected.kubectl("describe"),
    );
    finding = member_findings::invite(affected.cx, &clusters, finding);
    finding
        .fix(format!(
            "Fix the cause on the member, if it is there{causes}."
        ))
        .then_continues(affected.cx)
        .new_run(
            affected.cx,
            format!(
                "Or fix {} on the hub{fields} and roll it out with a new run: this one keeps its \
                 snapshot.",
                affected.on_hub()
            ),
        )
}

/// When the first of the clusters of a run counts as stuck, where all have had less time than that and nobody
/// has looked into them: then it is early to look for a reason.
fn fresh(affected: &Affected<'_, '_>) -> Option<Timestamp> {
    let looks = &affected.cx.inventory.looks;
    affected.cx.run()?;
    let is_fresh = |on: &&FailingCluster<'_>| {
        let has_nodes = on.member.and_then(MemberCluster::nodes) != Some("0");
        // Content that was there before may have failed for long.
        let before = on.trouble.condition.since;
        let is_old = |since| affected.cx.now().duration_since(since) > STUCK_AFTER;
        !before.is_some_and(is_old)
            && on.blocking
            && !on.is_overdue()
            && has_nodes
            && !looks.contains_key(on.cluster)
    };
    let fresh: Vec<_> = affected.on.iter().copied().filter(is_fresh).collect();
    if fresh.len() < affected.on.len() {
        return None;
    }
    let first = fresh.iter().filter_map(|on| on.since).min()?;
    first.checked_add(STUCK_AFTER).ok()
}

fn goes_on_by_itself(cx: &Context<'_>, finding: Finding) -> Finding {
    let name = &cx.run_object().name;
    finding.look_with(
        "Wait: workloads take minutes to start.",
        cx.command("status").arg(name),
    )
}
