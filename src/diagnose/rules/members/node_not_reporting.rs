//! Pods count as not ready since their node has stopped reporting.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::pods_in;
use crate::member::PodState;

/// The last thing that the kubelet reported is that all containers are ready, and the pod is not:
/// the node controller has said so without a reason, as it does for nodes that are silent.
/// Source: kubernetes, pkg/controller/util/node/controller_utils.go:MarkPodsNotReady.
pub const RULE: Rule = Rule::on_member("FS914", "node-not-reporting", check).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::NodeSilent(ready) => ready);
    found.describe(|group, mut finding| {
        let nodes: BTreeSet<_> = group
            .found()
            .map(|(_, (trouble, _))| trouble.pod.spec.node.as_str())
            .collect();
        let node = nodes.first().unwrap_or(&"");
        let why = format!(
            "{} not ready although all containers are: the {} stopped reporting",
            match group.pods().as_str() {
                one @ "1 pod" => format!("{one} counts as"),
                several => format!("{several} count as"),
            },
            match nodes.len() {
                1 => format!("node {node} has"),
                _ => format!("nodes {} have", enumerate(&nodes)),
            }
        );
        finding = group.says(finding, &why);
        for (cluster, (trouble, ready)) in group.shown() {
            finding = finding
                .evidence_in(cluster, trouble, "spec.nodeName", &trouble.pod.spec.node)
                .evidence_in(cluster, trouble, "status.conditions[type=Ready]", *ready)
                .evidence_in(
                    cluster,
                    trouble,
                    "status.conditions[type=Ready].lastTransitionTime",
                    ready.since,
                );
        }
        finding = finding.look_with(
            "Inspect the node.",
            group.kubectl_in("", "describe").arg("node").arg(*node),
        );
        finding =
            finding.fix("Restore the node, or remove it from the cluster to replace its pods.");
        finding.then_continues(group.cx)
    })
}
