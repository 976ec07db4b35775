//! A pod waits for a volume that is not bound.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, per_object};
use crate::member::{MemberKind, PodState};

/// A pod of the newest template cannot be scheduled because its claims are not bound.
/// Source: kubernetes, pkg/scheduler/framework/plugins/volumebinding.
pub const RULE: Rule = Rule::on_member("FS909", "volume-not-bound", check)
    .caused_by(&["FS518", "FS531"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let Some(view) = seen.view(cx) else {
            return Vec::new();
        };
        let troubles = view.troubles().into_iter();
        let waiting = troubles.filter_map(|trouble| match trouble.state {
            PodState::UnboundClaims(condition) => Some((trouble, (view, condition))),
            _ => None,
        });
        waiting.collect()
    });
    found.describe(|group, mut finding| {
        let mut pending = BTreeSet::new();
        let mut unbound = Vec::new();
        for (cluster, (trouble, (view, _))) in group.found() {
            let names = trouble.pod.spec.volumes.iter();
            let names: Vec<_> = names
                .map(|volume| volume.claim.name.as_str())
                .filter(|name| !name.is_empty())
                .collect();
            let claims = view.look.claims(MemberKind::PersistentVolumeClaim);
            for claim in claims.filter(|claim| {
                claim.meta.namespace == trouble.pod.meta.namespace
                    && names.contains(&claim.meta.name.as_str())
                    && claim.status.phase != "Bound"
            }) {
                if pending.insert(claim.meta.name.as_str()) {
                    unbound.push((cluster, *view, claim));
                }
            }
        }
        let pods = group.pods();
        let what = if pending.is_empty() {
            "some volumes are".to_owned()
        } else {
            let one = pending.len() == 1;
            format!(
                "the claim{} {} {}",
                if one { "" } else { "s" },
                enumerate(&pending),
                if one { "is" } else { "are" }
            )
        };
        let why = format!("{pods} cannot be scheduled because {what} not bound");
        finding = group.says(finding, &why);
        for (cluster, (trouble, (_, condition))) in group.shown() {
            let path = "status.conditions[type=PodScheduled]";
            finding = finding.evidence_in(cluster, trouble, path, *condition);
        }
        for (cluster, view, claim) in unbound.iter().take(3) {
            let object = (MemberKind::PersistentVolumeClaim, &claim.meta);
            finding = finding
                .evidence_in(cluster, object, "status.phase", &claim.status.phase)
                .evidence_in(cluster, object, "spec.storageClassName", &claim.spec.class);
            let events = view.events(MemberKind::PersistentVolumeClaim, &claim.meta);
            if let Some(event) = events.first() {
                finding = member_findings::event(finding, cluster, event);
            }
        }
        finding = match pending.first() {
            Some(claim) => finding.look_with(
                "Inspect the claim.",
                group.kubectl("describe").arg("pvc").arg(*claim),
            ),
            None => finding.look_with("List the claims.", group.kubectl("get").arg("pvc")),
        };
        finding.look_with(
            "List the storage classes.",
            group.kubectl_in("", "get").arg("storageclasses"),
        ).fix(
            "Add the storage class that the claim names, a working provisioner, or a matching \
             volume to the cluster.",
        ).then_continues(group.cx).disrupt_with(
            "Or set the members' storage class with an override and start a new run. A claim keeps \
             its class, so delete the unbound one first.",
            group.cx.new_run_command(),
        )
    })
}
