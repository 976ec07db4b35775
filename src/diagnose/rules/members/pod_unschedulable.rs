//! No node of the member cluster takes a pod.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::pods_in;
use crate::member::PodState;
use crate::member::texts::unschedulable;

/// A pod of the newest template has `PodScheduled=False`, for another reason than its volumes; or
/// somebody holds it back with a scheduling gate.
pub const RULE: Rule = Rule::on_member("FS908", "pod-unschedulable", check)
    .caused_by(&["FS518", "FS531"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(
        cx,
        rule,
        PodState::Unschedulable(condition) => (condition, false),
        PodState::Gated(condition) => (condition, true)
    );
    found.describe(|group, mut finding| {
        let Some((_, (_, (condition, gated)))) = group.first() else {
            return finding;
        };
        let read = unschedulable(&condition.message);
        let pods = group.pods();
        let why = if *gated {
            format!("a scheduling gate blocks {pods}")
        } else if read.no_nodes {
            format!("no node exists for {pods}")
        } else {
            format!("no node accepts {pods}: {}", read.reasons)
        };
        finding = group.says(finding, &why);
        for (cluster, (trouble, (condition, _))) in group.shown() {
            let path = "status.conditions[type=PodScheduled]";
            finding = finding.evidence_in(cluster, trouble, path, *condition);
        }
        if !*gated {
            let nodes = group.kubectl_in("", "get").arg("nodes").flag("-o", "wide");
            finding = finding.look_with("List the nodes.", nodes);
        }
        finding = finding.look_with(
            if *gated {
                "Inspect the pod: it names its scheduling gates."
            } else {
                "Inspect the pod's requests."
            },
            group.describe_pod(),
        );
        let content = format!(
            "fix the requests, tolerations, or affinity in {} on the hub, or with an override \
             for these clusters, and start a new run.",
            group.on_hub()
        );
        if *gated {
            return finding
                .fix(
                    "Find what should remove the pod's schedulingGates (a queue, a quota \
                     controller), and let it do so.",
                )
                .then_continues(group.cx);
        }
        if !(read.insufficient || read.taints || read.no_nodes || read.placement) {
            return finding.new_run(group.cx, content.replacen("fix", "Fix", 1));
        }
        if read.placement {
            finding = finding.fix("Label the nodes as the pod asks, if labels are missing there.");
        }
        if read.insufficient {
            finding = finding.fix("Add larger or more nodes, or remove other pods.");
        }
        if read.taints {
            finding = finding.fix(
                "Remove the taint from the nodes, if it is stale, or fix the nodes, if they \
                 are unhealthy.",
            );
        }
        if read.no_nodes {
            finding = finding.fix("Add nodes to the cluster, if no autoscaler does.");
        }
        finding
            .then_continues(group.cx)
            .new_run(group.cx, format!("Or {content}"))
    })
}
