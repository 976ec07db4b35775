//! No node of the member cluster takes a pod.

use crate::diagnose::case::Case;
use crate::diagnose::looks::{self, per_pod};
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::member::State;
use crate::member::texts::unschedulable;

/// A pod of the newest template has `PodScheduled=False`, for another reason than its volumes; or
/// somebody holds it back with a scheduling gate.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS908",
    name: "pod-unschedulable",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::Work],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    per_pod(
        case,
        rule,
        |trouble| match trouble.state {
            State::Unschedulable(condition) => Some((condition, false)),
            State::Gated(condition) => Some((condition, true)),
            _ => None,
        },
        |group, mut finding| {
            let Some((_, (_, (condition, gated)))) = group.first() else {
                return finding;
            };
            let read = unschedulable(&condition.message);
            let pods = group.pods();
            let why = if *gated {
                format!("{pods} may not be scheduled yet, for a scheduling gate holds them back")
            } else if read.no_nodes {
                format!("there is no node for {pods}")
            } else {
                format!("no node takes {pods}: {}", read.reasons)
            };
            finding = group.says(finding, &why);
            for (cluster, (trouble, (condition, _))) in group.shown() {
                finding = finding.evidence_in(
                    cluster,
                    looks::pod(trouble),
                    "status.conditions[type=PodScheduled]",
                    format!("False {}: {}", condition.reason, condition.message),
                );
            }
            finding = finding.look(
                "Look at the nodes.",
                Some(group.kubectl_in("", "get").arg("nodes").flag("-o", "wide")),
            );
            finding = finding.look(
                "Look at what the pod asks for.",
                Some(group.kubectl("describe").arg("pod").arg(group.pod())),
            );
            if *gated {
                finding = finding.look(
                    "Find out who removes the pod's schedulingGates (a queue, a quota controller), \
                     and why it does not.",
                    None,
                );
            }
            if read.insufficient {
                finding = finding.fix(
                    "Give the cluster more room: larger or more nodes, or fewer other pods.",
                    None,
                );
            }
            if read.taints {
                finding = finding.fix(
                    "Take the taint off the nodes when it is stale, or mend the nodes that got it \
                     for being unwell.",
                    None,
                );
            }
            if read.no_nodes {
                finding = finding.fix("Add nodes to the cluster, or leave it out.", None);
            }
            finding = group.goes_on(finding);
            group.new_run(
                finding,
                format!(
                    "If the pod asks for too much, or for nodes that the cluster does not have, mend \
                     its requests, tolerations or affinity in {} on the hub, or for these clusters \
                     with an override, and make a new run.",
                    group.on_hub()
                ),
            )
        },
    )
}
