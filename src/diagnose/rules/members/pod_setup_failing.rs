//! A node cannot prepare a pod: its volumes, or its network.

use crate::diagnose::member_findings::{self, per_pod};
use crate::diagnose::rules::prelude::*;
use crate::member::PodState;

/// No container of a pod of the newest template has begun, and the kubelet, or the controller that
/// attaches volumes, says why. Source: kubernetes, pkg/kubelet/events/event.go.
pub const RULE: Rule = Rule::error("FS910", "pod-setup-failing", Search::Whole(check))
    .reads(&[Concept::Binding, Concept::Work])
    .caused_by(&["FS531"])
    .environment();

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    per_pod(
        cx,
        rule,
        |trouble| match trouble.state {
            PodState::Setup(event) => Some(event),
            _ => None,
        },
        |group, mut finding| {
            let Some((_, (_, first))) = group.first() else {
                return finding;
            };
            let volumes = matches!(
                first.reason.as_str(),
                "FailedMount" | "FailedAttachVolume" | "FailedMapVolume"
            );
            let network = matches!(
                first.reason.as_str(),
                "FailedCreatePodSandBox" | "NetworkNotReady"
            );
            let what = if volumes {
                "a volume cannot be attached or mounted"
            } else if network {
                "the pod's sandbox and network cannot be created"
            } else {
                "the node cannot prepare what the pod needs"
            };
            finding = group.says(finding, &format!("{} cannot start: {what}", group.pods()));
            for (cluster, (_, event)) in group.shown() {
                finding = member_findings::event(finding, cluster, event);
            }
            finding
                .look_with(
                    "Read the pod's events.",
                    group.kubectl("describe").arg("pod").arg(group.pod()),
                )
                .fix(if volumes {
                    "Detach the volume from the node or pod that still uses it, or fix the \
                     cluster's storage driver."
                } else if network {
                    "Fix the cluster's network plugin or the node's container runtime: the event \
                     names which."
                } else {
                    "Fix what the event names, on the node or in the cluster."
                })
                .then_continues(group.cx)
        },
    )
}
