//! A StatefulSet waits for a pod of its old revision before it replaces any.

use crate::diagnose::case::Case;
use crate::diagnose::looks::per_object;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::member::Kind;

/// With `OrderedReady`, a pod that is not ready blocks everything, also the update that would
/// fix it. Source: kubernetes, pkg/controller/statefulset/stateful_set_control.go:processReplica.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS917",
    name: "old-pod-blocks-rollout",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::Work],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    per_object(
        case,
        rule,
        |seen| {
            let found = seen
                .view(case)
                .and_then(|view| Some((view, view.blocking_old_pod()?)));
            found.into_iter().collect()
        },
        |group, mut finding| {
            let pod = group
                .first()
                .map_or("", |(_, (_, (pod, _)))| pod.meta.name.as_str());
            finding = group.says(
                finding,
                &format!(
                    "its old pod {pod} is not ready, and pods are replaced only in order, each \
                     after the previous one is ready"
                ),
            );
            for (cluster, (view, (pod, ready))) in group.shown() {
                let object = Subject::new(Kind::Pod.name(), &pod.meta.namespace, &pod.meta.name);
                let status = &view.workload.status;
                finding = finding
                    .evidence_in(cluster, object, "status.conditions[type=Ready]", *ready)
                    .evidence_in(
                        cluster,
                        Subject::new(
                            view.kind.name(),
                            &view.workload.meta.namespace,
                            &view.workload.meta.name,
                        ),
                        "status.updateRevision",
                        &status.update_revision,
                    )
                    .evidence_in(
                        cluster,
                        Subject::new(
                            view.kind.name(),
                            &view.workload.meta.namespace,
                            &view.workload.meta.name,
                        ),
                        "status.currentRevision",
                        &status.current_revision,
                    );
            }
            finding = finding.look(
                "Check why the old pod is not ready.",
                Some(group.kubectl("describe").arg("pod").arg(pod)),
            );
            finding = finding.disrupt(
                "Delete the old pod: its replacement has the new template.",
                Some(group.kubectl("delete").arg("pod").arg(pod)),
            );
            group.goes_on(finding)
        },
    )
}
