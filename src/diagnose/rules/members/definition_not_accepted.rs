//! A CustomResourceDefinition is not accepted, or not served, by its cluster.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::per_object;
use crate::kubefleet::Conditions;
use crate::member::{MemberBody, MemberKind};

/// `NamesAccepted` or `Established` is `False`: KubeFleet waits for both.
/// Source: workapplier/availability_tracker.go:trackCRDAvailability.
pub const RULE: Rule = Rule::on_member("FS921", "definition-not-accepted", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let MemberBody::Definition(definition) = &seen.object()?.body else {
            return None;
        };
        let conditions = &definition.status.conditions;
        let of = |kind: &&str| conditions.condition(kind).filter(|it| it.is_false());
        let condition = ["NamesAccepted", "Established"].iter().find_map(of)?;
        Some((&definition.meta, condition))
    });
    found.describe(|group, mut finding| {
        let Some((_, (meta, first))) = group.first() else {
            return finding;
        };
        let names = first.kind == "NamesAccepted";
        finding = group.says(
            finding,
            if names {
                "one of its names belongs to another definition there"
            } else {
                "the cluster does not serve it yet"
            },
        );
        for (cluster, (meta, condition)) in group.shown() {
            finding = finding.evidence_in(
                cluster,
                (MemberKind::CustomResourceDefinition, *meta),
                format!("status.conditions[type={}]", condition.kind),
                *condition,
            );
        }
        finding = finding
            .look_with(
                "Inspect the definition.",
                group.kubectl("describe").arg("crd").arg(&meta.name),
            )
            .look_with(
                "List the other definitions.",
                group.kubectl("get").arg("crds"),
            );
        if !names {
            return finding
                .fix("Fix what the condition names: the cluster then serves it by itself.")
                .then_continues(group.cx);
        }
        finding
            .disrupt(
                "Delete the other definition, if nothing needs it: this deletes all its \
                 objects.",
            )
            .then_continues(group.cx)
            .repair_on_hub(group, "Or rename {} on the hub and start a new run.")
    })
}
