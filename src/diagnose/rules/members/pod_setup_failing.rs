//! A node cannot prepare a pod: its volumes, or its network.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, SameTrouble, pods_in};
use crate::member::model::Event;
use crate::member::{MULTI_ATTACH, PodState, PodTrouble, WorkloadView};

/// No container of a pod of the newest template has begun, and the kubelet, or the controller that
/// attaches volumes, says why. Source: kubernetes, pkg/kubelet/events/event.go.
pub const RULE: Rule = Rule::on_member("FS910", "pod-setup-failing", check)
    .caused_by(&["FS518", "FS531"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::Setup(event) => event);
    found.describe(|group, mut finding| {
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
        if let Some(old) = deadlock(group) {
            return deadlocked(group, old, finding);
        }
        finding
            .look_with("Read the pod's events.", group.describe_pod())
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
    })
}

type SetupTrouble<'i> = (PodTrouble<'i>, &'i Event);

/// The old pod that holds the volume of a new one, and goes only when that one is ready.
fn deadlock<'i>(
    group: &SameTrouble<'_, 'i, SetupTrouble<'i>>,
) -> Option<(&'i str, WorkloadView<'i>)> {
    let (seen, (_, event)) = group.first()?;
    let view = seen.view(group.cx)?;
    let held = event.message.contains(MULTI_ATTACH) && view.keeps_all_pods();
    let old = view.old_pod().filter(|_| held)?;
    Some((&old.meta.name, view))
}

fn deadlocked<'i>(
    group: &SameTrouble<'_, 'i, SetupTrouble<'i>>,
    (old, view): (&str, WorkloadView<'i>),
    mut finding: Finding,
) -> Finding {
    let why = format!(
        "{} cannot start: its volume is attached for the old pod {old}, which stays until the \
         new one is ready (maxUnavailable is 0)",
        group.pods()
    );
    finding = group.says(finding, &why);
    let object = (view.kind, &view.workload.meta);
    let given = &view.workload.spec.strategy.rolling.max_unavailable;
    let path = "spec.strategy.rollingUpdate.maxUnavailable";
    finding = finding.evidence_in(group.cluster(), object, path, given);
    finding
        .look_with(
            "Inspect the new pod: its events name the volume.",
            group.describe_pod(),
        )
        .repair_on_hub(
            group,
            "Set the update strategy of {} on the hub to Recreate, or maxUnavailable to 1, and \
             start a new run.",
        )
}
