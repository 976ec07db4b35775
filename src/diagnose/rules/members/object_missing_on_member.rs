//! An object that the member agent has applied is not in the member cluster.

use crate::diagnose::case::Case;
use crate::diagnose::looks::per_object;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;

/// The Work says `Applied=True`, and the cluster, which is surely the right one, answers that there
/// is no such object.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS915",
    name: "object-missing-on-member",
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
            let missing = seen.sure && seen.look.is_missing(&seen.wanted);
            missing.then_some(seen.wanted.clone()).into_iter().collect()
        },
        |group, mut finding| {
            finding = group.says(finding, "it was applied but no longer exists there");
            for (cluster, wanted) in group.shown() {
                finding = finding.evidence_in(
                    cluster,
                    Subject::new(wanted.kind.name(), &wanted.namespace, &wanted.name),
                    "metadata.name",
                    "absent",
                );
            }
            let kind = group.first().map_or("", |(_, wanted)| wanted.kind.plural());
            finding = finding.look(
                "Confirm it, and check what else is missing.",
                Some(group.kubectl("get").arg(kind)),
            );
            finding = finding.look(
                "Find what deletes it on the member, such as a cleanup job or another tool: the \
                 audit log of the member's API server names it.",
                None,
            );
            finding = finding.fix(
                "Wait: the member agent creates it again at its next check. If it does not, check \
                 that the agent runs in the namespace fleet-system.",
                None,
            );
            group.goes_on(finding)
        },
    )
}
