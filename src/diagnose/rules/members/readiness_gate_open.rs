//! A pod waits for somebody else to say that it is ready.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::pods_in;
use crate::kubefleet::Conditions;
use crate::member::PodState;

/// All containers of a pod of the newest template are ready, and a condition among its readiness
/// gates is not `True`.
pub const RULE: Rule = Rule::on_member("FS913", "readiness-gate-open", check).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::ReadinessGate(gate) => gate);
    found.describe(|group, mut finding| {
        let gates: BTreeSet<_> = group.found().map(|(_, (_, gate))| *gate).collect();
        let why = format!(
            "the containers of {} are ready, but the condition {} is not set",
            group.pods(),
            enumerate(&gates)
        );
        finding = group.says(finding, &why);
        for (cluster, (trouble, gate)) in group.shown() {
            finding = finding.evidence_in(
                cluster,
                trouble,
                format!("status.conditions[type={gate}]"),
                trouble.pod.status.conditions.condition(gate),
            );
        }
        finding
            .look_with(
                "Find which controller sets this condition, such as a load balancer's or a service \
                 mesh's, and why it does not.",
                group.describe_pod(),
            )
            .fix("Fix that controller on the member, or what it checks, such as a target's health.")
            .then_continues(group.cx)
    })
}
