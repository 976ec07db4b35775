//! A run without an index got the previous content: the new snapshot was delayed.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::names;
use crate::rollout::content::old_content;

/// See [`old_content`].
pub const RULE: Rule = Rule::warning("FS701", "old-content-rolled-out", One(check))
    .reads(&[Concept::ResourceSnapshot]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let run = cx.run()?;
    let old = old_content(cx.inventory, run)?;
    let (snapshot, next) = (old.snapshot, old.next);
    let used = &run.status.snapshot_index;
    let (object, run_object) = (snapshot.object(), run.object());
    let verb = match cx.verdict {
        Verdict::Succeeded => "rolled out",
        Verdict::NotStarted => "will roll out",
        Verdict::Failed | Verdict::Deleting => "was rolling out",
        _ => "rolls out",
    };
    let newer = match next.and_then(|next| next.index()) {
        Some(index) => format!("; that change is in snapshot {index}"),
        None if cx.inventory.snapshots.is_complete() => {
            "; that change has no snapshot yet".to_owned()
        }
        None => String::new(),
    };
    let message = format!(
        "{} {verb} snapshot {used}, which was already outdated when the run was \
         initialized: KubeFleet had delayed the snapshot of a newer change{newer}.",
        run_object.name
    );
    let mut finding = rule
        .finding(&run_object, message)
        .clusters(
            cx.rollout
                .iter()
                .flat_map(crate::rollout::Rollout::updated_clusters)
                .map(|cluster| cluster.name),
        )
        .evidence(&run_object, "spec.resourceSnapshotIndex", "")
        .evidence(&run_object, "status.resourceSnapshotIndexUsed", used)
        .evidence(
            &object,
            format!("metadata.annotations[{}]", names::NEXT_DETECTION_TIME),
            old.detected,
        )
        .evidence(
            &run_object,
            "status.conditions[type=Initialized].lastTransitionTime",
            old.initialized,
        );
    if let Some(next) = next {
        finding = finding.created(next.object(), next.meta.created);
    }
    let snapshots = cx.command("snapshots");
    let placement = &cx.inventory.placement_name;
    let (see, command) = match next.and_then(|next| next.index()) {
        Some(index) => {
            let diff = snapshots.arg("diff").arg(placement);
            let see = "Compare the two versions.";
            (see, diff.arg(used).arg(index))
        }
        None => ("List the versions that exist.", snapshots.arg(placement)),
    };
    Some(finding.look_with(see, command).fix_with(
        "Roll out the current content with a new run: the command ensures that it gets the \
                 new snapshot.",
        cx.new_content_command(),
    ))
}
