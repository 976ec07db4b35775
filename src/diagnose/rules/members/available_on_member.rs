//! An object is available in its cluster, and the hub does not know yet.

use crate::diagnose::case::Case;
use crate::diagnose::looks::per_object;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::member::availability::is_available;

/// By the member agent's own rules the object is available, while its last report says that it is
/// not. Source: workapplier/availability_tracker.go.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS919",
    name: "available-on-member",
    severity: Severity::Info,
    reads: &[Concept::Binding, Concept::Work, Concept::MemberCluster],
    caused_by: &["FS516"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    per_object(
        case,
        rule,
        |seen| {
            let object = seen.object();
            object
                .filter(|object| is_available(object) == Some(true))
                .map(|_| seen.wanted.clone())
                .into_iter()
                .collect()
        },
        |group, mut finding| {
            finding = group.says(
                finding.severity(rule.severity),
                "it is available there now, but the member agent has not reported that yet",
            );
            for (cluster, wanted) in group.shown() {
                finding = finding.computed_in(
                    cluster,
                    Subject::new(wanted.kind.name(), &wanted.namespace, &wanted.name),
                    &["status"],
                    "available, as KubeFleet judges it",
                );
            }
            finding = finding.look(
                "Wait: the agent checks again by itself at growing intervals, at least every 15 \
                 minutes.",
                None,
            );
            finding = finding.fix(
                "Check that the member agent runs and reaches the hub, if this persists.",
                Some(group.kubectl_in("fleet-system", "get").arg("pods")),
            );
            group.goes_on(finding)
        },
    )
}
