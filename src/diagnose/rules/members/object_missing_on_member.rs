//! An object that the member agent has applied is not in the member cluster.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::per_object;

/// The Work says `Applied=True`, and the cluster, which is surely the right one, answers that there
/// is no such object.
pub const RULE: Rule = Rule::on_member("FS915", "object-missing-on-member", check).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let missing = seen.sure && seen.look.is_missing(&seen.wanted);
        missing.then(|| seen.wanted.clone())
    });
    found.describe(|group, mut finding| {
        finding = group.says(finding, "it was applied but no longer exists there");
        for (cluster, wanted) in group.shown() {
            finding = finding.evidence_in(cluster, wanted, "metadata.name", ABSENT);
        }
        let kind = group.first().map_or("", |(_, wanted)| wanted.kind.plural());
        finding
            .look_with(
                "Confirm it, and check what else is missing.",
                group.kubectl("get").arg(kind),
            )
            .look(
                "Find what deletes it on the member, such as a cleanup job or another tool: the \
                 audit log of the member's API server names it.",
            )
            .look_with(
                "Wait: the member agent creates it again within 15 minutes, if its pods run.",
                group.kubectl_in("fleet-system", "get").arg("pods"),
            )
    })
}
