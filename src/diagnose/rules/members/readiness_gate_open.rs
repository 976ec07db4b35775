//! A pod waits for somebody else to say that it is ready.

use std::collections::BTreeSet;

use crate::diagnose::case::Case;
use crate::diagnose::finding::enumerate;
use crate::diagnose::looks::{self, per_pod};
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, Conditions};
use crate::member::State;

/// All containers of a pod of the newest template are ready, and a condition among its readiness
/// gates is not `True`.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS913",
    name: "readiness-gate-open",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::Work],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    per_pod(
        case,
        rule,
        |trouble| match trouble.state {
            State::ReadinessGate(gate) => Some(gate),
            _ => None,
        },
        |group, mut finding| {
            let gates: BTreeSet<_> = group.found().map(|(_, (_, gate))| *gate).collect();
            finding = group.says(
                finding,
                &format!(
                    "the containers of {} are ready, but the condition {} is not set",
                    group.pods(),
                    enumerate(&gates)
                ),
            );
            for (cluster, (trouble, gate)) in group.shown() {
                let condition = trouble.pod.status.conditions.condition(gate);
                let value = condition.map_or_else(
                    || "absent".to_owned(),
                    |condition| {
                        format!(
                            "{} {}: {}",
                            condition.status.as_str(),
                            condition.reason,
                            condition.message
                        )
                    },
                );
                finding = finding.evidence_in(
                    cluster,
                    looks::pod(trouble),
                    format!("status.conditions[type={gate}]"),
                    value,
                );
            }
            finding = finding.look(
                "Find which controller sets this condition, such as a load balancer's or a \
                 service mesh's, and why it does not.",
                Some(group.kubectl("describe").arg("pod").arg(group.pod())),
            );
            finding = finding.fix(
                "Fix that controller on the member, or what it checks, such as a target's health.",
                None,
            );
            group.goes_on(finding)
        },
    )
}
