//! A workload's own settings keep its pods from being replaced.

use crate::diagnose::member_findings::per_object;
use crate::diagnose::rules::prelude::*;
use crate::member::Held;

/// KubeFleet waits until every pod has the newest template. A paused Deployment, a StatefulSet with
/// a partition, and `OnDelete` keep older pods for ever.
/// Source: workapplier/availability_tracker.go.
pub const RULE: Rule = Rule::error("FS916", "rollout-held-on-member", Search::Whole(check))
    .reads(&[Concept::Binding, Concept::Work])
    .content();

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    per_object(
        cx,
        rule,
        |seen| {
            let view = seen.view(cx)?;
            Some((view.held()?, view))
        },
        |group, mut finding| {
            let Some((_, (held, view))) = group.first() else {
                return finding;
            };
            let (kind, name) = (view.kind, &view.workload.meta.name);
            let word = kind.name().to_lowercase();
            let why = match held {
                Held::Paused => {
                    "it is paused, but KubeFleet waits for pods with the newest template".to_owned()
                }
                Held::Partition(partition) => format!(
                    "its partition is {partition}, so pods with a smaller number keep the old \
                     template, but KubeFleet waits for all of them"
                ),
                Held::OnDelete => {
                    "its update strategy is OnDelete, so its pods keep the old template until they \
                     are deleted, and KubeFleet waits for that"
                        .to_owned()
                }
            };
            finding = group.says(finding, &why);
            for (cluster, (held, view)) in group.shown() {
                let (path, value) = match held {
                    Held::Paused => ("spec.paused", "true".to_owned()),
                    Held::Partition(partition) => (
                        "spec.updateStrategy.rollingUpdate.partition",
                        partition.to_string(),
                    ),
                    Held::OnDelete => ("spec.updateStrategy.type", "OnDelete".to_owned()),
                };
                finding =
                    finding.evidence_in(cluster, (view.kind, &view.workload.meta), path, value);
            }
            finding = finding.look_with(
                "Inspect the workload.",
                group
                    .kubectl("rollout status")
                    .arg(&word)
                    .arg(name)
                    .switch("--watch=false"),
            );
            finding = match held {
                Held::Paused => finding.fix_with(
                    "Resume it, if it was paused on the member.",
                    group.kubectl("rollout resume").arg(&word).arg(name),
                ),
                Held::Partition(_) => {
                    finding.fix("Set the partition back to 0, if it was changed on the member.")
                }
                Held::OnDelete => finding.disrupt_with(
                    "Delete the old pods one by one: each replacement has the new template.",
                    group.kubectl("delete").arg("pod").arg("NAME"),
                ),
            };
            finding.then_continues(group.cx).new_run(
                group.cx,
                format!(
                    "Or fix {} on the hub and start a new run, if the content sets this: a staged \
                     update run cannot end while its workload delays pods.",
                    group.on_hub()
                ),
            )
        },
    )
}
