//! A quota of the namespace allows no more pods.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::per_object;
use crate::member::MemberKind;

/// The newest ReplicaSet, or an event about the StatefulSet or DaemonSet, says `exceeded quota`.
pub const RULE: Rule = Rule::on_member("FS911", "pod-quota-exceeded", check).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let view = seen.view(cx)?;
        let refusal = view.refusal()?;
        Some((view, refusal, refusal.quota()?))
    });
    found.describe(|group, mut finding| {
        let quotas: BTreeSet<_> = group.found().map(|(_, (_, _, quota))| *quota).collect();
        let plural = if quotas.len() == 1 { "" } else { "s" };
        let why = format!(
            "the quota{plural} {} allows no more pods",
            enumerate(&quotas)
        );
        finding = group.says(finding, &why);
        for (cluster, (view, refusal, quota)) in group.shown() {
            finding = finding.evidence_in(cluster, refusal.object, refusal.path, refusal.message);
            let Some(quota) = view.quota(quota) else {
                continue;
            };
            for (resource, hard) in &quota.status.hard {
                let Some(used) = quota.status.used.get(resource) else {
                    continue;
                };
                finding = finding.computed_in(
                    cluster,
                    (MemberKind::ResourceQuota, &quota.meta),
                    &[
                        &format!("status.used[{resource}]"),
                        &format!("status.hard[{resource}]"),
                    ],
                    format!("{used} of {hard}"),
                );
            }
        }
        let quota = quotas.first().unwrap_or(&"");
        let finding = finding.look_with(
            "Check what is used.",
            group.kubectl("describe").arg("resourcequota").arg(*quota),
        );
        if let Some(own) = group.in_content("ResourceQuota", |it| quotas.contains(it)) {
            let change = format!(
                "Raise {own} on the hub, or lower what {} requests, and start a new run: the quota \
                 is part of the content, and the member agent would put it back.",
                group.on_hub()
            );
            return finding
                .fault(FaultOrigin::Content)
                .new_run(group.cx, change);
        }
        finding.repair_there_or_on_hub(
            group,
            "Raise the quota on the member, or remove what fills it: a rolling update \
             needs room for old and new pods.",
            "Or lower the requests or the surge in {} on the hub and start a new run.",
        )
    })
}
