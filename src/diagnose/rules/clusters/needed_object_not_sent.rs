//! A workload does not become available, and an object that its pods need is not sent to its cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::contents::ManifestKey;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::objects::grouped;
use crate::diagnose::subjects::unsent::{UnsentNeeds, UnsentWhy, needs_unsent};
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::problems::overridden;
use crate::problems::steps::see_override;
use crate::words::CommandLine;

/// Pods wait for a ConfigMap, Secret, claim, or service account that does not exist. Whether somebody
/// else made it there, only the member cluster tells: without that, this is no root cause.
/// Source: workgenerator/override.go:applyOverrideRules; kubernetes, pkg/kubelet/kubelet_pods.go.
pub const RULE: Rule = Rule::error("FS531", "needed-object-not-sent", Whole(check))
    .reads(&[
        Concept::Binding,
        Concept::Work,
        Concept::ResourceSnapshot,
        Concept::ClusterOverrideSnapshot,
        Concept::OverrideSnapshot,
        Concept::MemberCluster,
    ])
    .caused_by(&["FS518"])
    .content();

/// How many parts of a snapshot are evidence that it does not have an object.
const PARTS: usize = 3;

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let all = needs_unsent(cx);
    [true, false]
        .into_iter()
        .flat_map(|confirmed| {
            let those = all.iter().filter(|it| it.confirmed == confirmed);
            let those = those.map(|it| (it.manifest.into(), it.failing, it));
            grouped(cx, rule, those)
                .into_iter()
                .filter_map(|(finding, group)| {
                    let finding = if confirmed {
                        finding
                    } else {
                        finding.severity(Severity::Warning).root_if(false)
                    };
                    describe(cx, &group, finding)
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// `the Secret shop/db`.
fn named(object: &ManifestKey) -> String {
    format!("the {}", object.describe())
}

fn describe(
    cx: &DiagnosisContext<'_>,
    group: &[&UnsentNeeds<'_, '_>],
    mut finding: Finding,
) -> Option<Finding> {
    let on = group.iter().map(|it| (it.failing, it.manifest)).collect();
    let affected = AffectedObject::new(cx, on)?;
    // What is not sent for one reason is said together.
    let mut reasons: BTreeMap<String, (BTreeSet<String>, BTreeSet<&str>)> = BTreeMap::new();
    let (mut is_dropped, mut deleting) = (false, None);
    for needs in group {
        for (object, why) in &needs.objects {
            match why {
                UnsentWhy::Dropped(_) => is_dropped = true,
                UnsentWhy::Deleted(over, _) => deleting = deleting.or(Some(*over)),
            }
            let (objects, clusters) = reasons.entry(reason(needs, why)).or_default();
            objects.insert(named(object));
            clusters.insert(needs.failing.cluster);
            finding = evidence(needs, object, why, finding);
        }
    }
    let lacks = reasons.into_iter().map(|(reason, (objects, clusters))| {
        let (is, it) = by_number(objects.len(), ("is", "it"), ("are", "them"));
        let (objects, clusters) = (enumerate(&objects), enumerate(clusters));
        format!("needs {objects}, which {is} not sent to {clusters}: {reason} {it}")
    });
    finding.message = format!(
        "{} {}.",
        affected.object(),
        lacks.collect::<Vec<_>>().join("; it also ")
    );
    let (object, _) = group.first()?.objects.first()?;
    let all_like_it = |command: CommandLine| {
        let command = command.namespace(&object.namespace);
        command.arg(object.kind.to_lowercase())
    };
    if !group.iter().all(|it| it.confirmed) {
        finding = finding.look_with(
            "Check whether something else created it there. If so, this is not the reason.",
            all_like_it(affected.on_member("get")).arg(&object.name),
        );
    }
    if is_dropped {
        finding = finding
            .look_with(
                "Check whether the hub still has it, with the labels that the placement selects.",
                all_like_it(CommandLine::kubectl("get"))
                    .arg(&object.name)
                    .switch("--show-labels"),
            )
            .new_run(
                cx,
                "Create it again on the hub, or add it to the placement's selectors. Then start a new \
                 run.",
            );
    }
    if let Some(over) = deleting {
        finding = finding
            .look_with("Inspect the override.", see_override(over))
            .fix_with(
                "Correct the override, whose rule deletes the object for a cluster that needs it. \
                 Then start a new run: this one keeps the override snapshots of its initialization.",
                cx.new_run_command(),
            );
    }
    Some(finding)
}

/// Why objects are not sent, as a clause that lacks its object.
fn reason(needs: &UnsentNeeds<'_, '_>, why: &UnsentWhy<'_>) -> String {
    let index = |part: &ResourceSnapshot| part.index().unwrap_or_default().to_owned();
    match why {
        UnsentWhy::Dropped(with) => {
            let own = needs.parts.first().map_or_else(String::new, |it| index(it));
            let other = index(with);
            format!("unlike snapshot {other}, snapshot {own} does not have")
        }
        UnsentWhy::Deleted(over, rule) => {
            format!("rule {} of {} deletes", rule + 1, overridden(over))
        }
    }
}

fn evidence(
    needs: &UnsentNeeds<'_, '_>,
    object: &ManifestKey,
    why: &UnsentWhy<'_>,
    mut finding: Finding,
) -> Finding {
    let list = ["spec.selectedResources"];
    let name = object.describe();
    match why {
        UnsentWhy::Dropped(with) => {
            for part in needs.parts.iter().take(PARTS) {
                finding = finding.computed(part.object(), &list, format!("without {name}"));
            }
            finding.computed(with.object(), &list, format!("has {name}"))
        }
        UnsentWhy::Deleted(over, rule) => finding.evidence(
            over.object(),
            format!("spec.overrideSpec.policy.overrideRules[{rule}].overrideType"),
            "Delete",
        ),
    }
}
