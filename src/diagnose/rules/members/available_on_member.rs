//! An object is available in its cluster, and the hub does not know yet.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::per_object;
use crate::member::availability::is_available;

/// By the member agent's own rules the object is available, while its last report says that it is
/// not. Source: workapplier/availability_tracker.go.
pub const RULE: Rule = Rule::info("FS919", "available-on-member", Whole(check))
    .reads(&[Concept::Binding, Concept::Work, Concept::MemberCluster])
    .caused_by(&["FS516", "FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let object = seen.object()?;
        (is_available(object) == Some(true)).then(|| seen.wanted.clone())
    });
    found.describe(|group, mut finding| {
        finding = group.says(
            finding.severity(rule.severity),
            "it is available there now, but the member agent has not reported that yet",
        );
        for (cluster, wanted) in group.shown() {
            finding = finding.computed_in(
                cluster,
                wanted,
                &["status"],
                "available, as KubeFleet judges it",
            );
        }
        finding
            .look(
                "Wait: the agent checks again by itself at growing intervals, at least every 15 \
                 minutes.",
            )
            .look_with(
                "Check whether the member agent's pods run, if this persists.",
                group.kubectl_in("fleet-system", "get").arg("pods"),
            )
    })
}
