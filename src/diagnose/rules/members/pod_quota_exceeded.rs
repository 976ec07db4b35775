//! A quota of the namespace allows no more pods.

use crate::diagnose::case::Case;
use crate::diagnose::finding::enumerate;
use crate::diagnose::looks::per_object;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::member::Kind;

/// The newest ReplicaSet, or an event about the StatefulSet or DaemonSet, says `exceeded quota`.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS911",
    name: "pod-quota-exceeded",
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
            let found = seen.view(case).and_then(|view| {
                let refusal = view.refusal()?;
                Some((view, refusal, refusal.quota()?))
            });
            found.into_iter().collect()
        },
        |group, mut finding| {
            let quotas: std::collections::BTreeSet<_> =
                group.found().map(|(_, (_, _, quota))| *quota).collect();
            let plural = if quotas.len() == 1 { "" } else { "s" };
            finding = group.says(
                finding,
                &format!(
                    "the quota{plural} {} allows no more pods",
                    enumerate(&quotas)
                ),
            );
            for (cluster, (view, refusal, quota)) in group.shown() {
                let (kind, meta) = refusal.object;
                finding = finding.evidence_in(
                    cluster,
                    Subject::new(kind, &meta.namespace, &meta.name),
                    refusal.path,
                    refusal.message,
                );
                let Some(quota) = view.quota(quota) else {
                    continue;
                };
                for (resource, hard) in &quota.status.hard {
                    let Some(used) = quota.status.used.get(resource) else {
                        continue;
                    };
                    finding = finding.computed_in(
                        cluster,
                        Subject::new(
                            Kind::ResourceQuota.name(),
                            &quota.meta.namespace,
                            &quota.meta.name,
                        ),
                        &[
                            &format!("status.used[{resource}]"),
                            &format!("status.hard[{resource}]"),
                        ],
                        format!("{used} of {hard}"),
                    );
                }
            }
            let quota = quotas.first().unwrap_or(&"");
            finding = finding.look(
                "Check what is used.",
                Some(group.kubectl("describe").arg("resourcequota").arg(*quota)),
            );
            finding = finding.fix(
                "Raise the quota on the member, or remove what fills it: a rolling update needs \
                 room for old and new pods.",
                None,
            );
            finding = group.goes_on(finding);
            group.new_run(
                finding,
                format!(
                    "Or lower the requests or the surge in {} on the hub and start a new run.",
                    group.on_hub()
                ),
            )
        },
    )
}
