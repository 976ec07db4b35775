//! No controller of the member cluster has taken note of what was applied.

use crate::diagnose::rules::prelude::*;
use jiff::SignedDuration;

use crate::diagnose::subjects::member_findings::per_object;
use crate::member::MemberBody;

/// The status speaks of another generation than the object's own, a minute after the rollout
/// reached the cluster.
pub const RULE: Rule =
    Rule::on_member("FS918", "change-not-observed-on-member", check).environment();

/// Controllers take note within seconds.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let waited = seen
            .failing
            .lasting
            .is_none_or(|lasting| lasting >= PATIENCE);
        let object = seen.object()?;
        let observed = match &object.body {
            MemberBody::Workload(workload) => workload.status.observed,
            MemberBody::Budget(budget) => budget.status.observed,
            _ => return None,
        };
        let is = object.meta().generation;
        (waited && is.unwrap_or(0) != observed.unwrap_or(0))
            .then(|| (is, observed, seen.wanted.clone()))
    });
    found.describe(|group, mut finding| {
        finding = group.says(
            finding,
            "no controller of the cluster has processed its current generation",
        );
        for (cluster, (is, observed, wanted)) in group.shown() {
            finding = finding
                .evidence_in(cluster, wanted, "metadata.generation", is)
                .evidence_in(cluster, wanted, "status.observedGeneration", observed);
        }
        finding.look_with(
            "Check whether the cluster's controllers run.",
            group.kubectl_in("", "get").arg("leases").switch("-A"),
        ).fix(
            "Fix the control plane of the member: its kube-controller-manager does not work, or \
             is far behind.",
        ).then_continues(group.cx)
    })
}
