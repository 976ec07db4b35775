//! A StatefulSet waits for a pod of its old revision before it replaces any.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::per_object;
use crate::member::MemberKind;

/// With `OrderedReady`, a pod that is not ready blocks everything, also the update that would
/// fix it. Source: kubernetes, pkg/controller/statefulset/stateful_set_control.go:processReplica.
pub const RULE: Rule = Rule::on_member("FS917", "old-pod-blocks-rollout", check).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let view = seen.view(cx)?;
        Some((view, view.blocking_old_pod()?))
    });
    found.describe(|group, mut finding| {
        let pod = group
            .first()
            .map_or("", |(_, (_, (pod, _)))| pod.meta.name.as_str());
        let why = format!(
            "its old pod {pod} is not ready, and pods are replaced only in order, each \
             after the previous one is ready"
        );
        finding = group.says(finding, &why);
        for (cluster, (view, (pod, ready))) in group.shown() {
            let pod = (MemberKind::Pod, &pod.meta);
            let workload = (view.kind, &view.workload.meta);
            let status = &view.workload.status;
            finding = finding
                .evidence_in(cluster, pod, "status.conditions[type=Ready]", *ready)
                .evidence_in(
                    cluster,
                    workload,
                    "status.updateRevision",
                    &status.update_revision,
                )
                .evidence_in(
                    cluster,
                    workload,
                    "status.currentRevision",
                    &status.current_revision,
                );
        }
        finding
            .look_with(
                "Check why the old pod is not ready.",
                group.kubectl("describe").arg("pod").arg(pod),
            )
            .disrupt_with(
                "Delete the old pod: its replacement has the new template.",
                group.kubectl("delete").arg("pod").arg(pod),
            )
            .then_continues(group.cx)
    })
}
