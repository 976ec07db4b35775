//! A workload's own settings keep its pods from being replaced.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::per_object;
use crate::diagnose::subjects::sent::SentManifest;
use crate::member::PodHold;

/// KubeFleet waits until every pod has the newest template. A paused Deployment, a StatefulSet with
/// a partition, and `OnDelete` keep older pods for ever.
/// Source: workapplier/availability_tracker.go.
pub const RULE: Rule = Rule::on_member("FS916", "rollout-held-on-member", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let view = seen.view(cx)?;
        Some((view.held()?, view))
    });
    found.describe(|group, mut finding| {
        let Some((_, (held, view))) = group.first() else {
            return finding;
        };
        let (kind, name) = (view.kind, &view.workload.meta.name);
        let word = kind.name().to_lowercase();
        finding = group.says(finding, &held.why());
        for (cluster, (held, view)) in group.shown() {
            let object = (view.kind, &view.workload.meta);
            finding = finding.evidence_in(cluster, object, held.field(), held.value());
        }
        finding = finding.look_with(
            "Inspect the workload.",
            group
                .kubectl("rollout status")
                .arg(&word)
                .arg(name)
                .switch("--watch=false"),
        );
        let by_content = group.all.iter().any(|(seen, _)| {
            let sent = SentManifest::of(group.cx, seen.failing, seen.manifest);
            let settings = sent.as_ref().and_then(SentManifest::settings);
            let settings = settings.filter(|_| *held != PodHold::OnDelete);
            settings.is_some_and(|it| {
                PodHold::of_settings(kind.name(), it.paused, &it.update) == Some(*held)
            })
        });
        if by_content {
            let action = format!(
                "Change {} of {} on the hub, which sets it, and start a new run.",
                held.field(),
                group.on_hub()
            );
            return finding.new_run(group.cx, action);
        }
        finding = match held {
            PodHold::Paused => finding.fix_with(
                "Resume it, if it was paused on the member.",
                group.kubectl("rollout resume").arg(&word).arg(name),
            ),
            PodHold::Partition(_) => {
                finding.fix("Set the partition back to 0, if it was changed on the member.")
            }
            PodHold::NeverCurrent => {
                finding.fix("Set it back to RollingUpdate, if it was changed on the member.")
            }
            PodHold::OnDelete => {
                let delete = group.kubectl("delete").arg("pod");
                let command = view.old_pod().map(|pod| delete.arg(&pod.meta.name));
                let step = "Delete the old pods one by one: each replacement has the new template.";
                finding.disrupt_with(step, command)
            }
        };
        finding.then_continues(group.cx).repair_on_hub(
            group,
            "Or fix {} on the hub and start a new run, if the content sets this: a staged \
             update run cannot end while its workload delays pods.",
        )
    })
}
