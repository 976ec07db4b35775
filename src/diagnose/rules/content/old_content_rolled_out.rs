//! A run without an index got the previous content: the new snapshot was delayed.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity, Verdict};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, names};
use crate::rollout::content::old_content;

/// See [`old_content`].
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS701",
    name: "old-content-rolled-out",
    severity: Severity::Warning,
    reads: &[Concept::ResourceSnapshot],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(run) = case.run() else {
        return Vec::new();
    };
    let Some(old) = old_content(case.inventory, run) else {
        return Vec::new();
    };
    let (snapshot, next) = (old.snapshot, old.next);
    let used = &run.status.snapshot_index;
    let (object, run_object) = (snapshot.object(), run.object());
    let verb = match case.verdict {
        Verdict::Succeeded => "rolled out",
        Verdict::NotStarted => "will roll out",
        Verdict::Failed | Verdict::Deleting => "was rolling out",
        _ => "rolls out",
    };
    let newer = match next.and_then(|next| next.index()) {
        Some(index) => format!("; that change is in snapshot {index}"),
        None if case.inventory.snapshots.is_complete() => {
            "; that change has no snapshot yet".to_owned()
        }
        None => String::new(),
    };
    let mut finding = rule
        .finding(
            &run_object,
            format!(
                "{} {verb} snapshot {used}, which was already outdated when the run was \
                 initialized: KubeFleet had delayed the snapshot of a newer change{newer}.",
                run_object.name
            ),
        )
        .clusters(
            case.rollout
                .iter()
                .flat_map(crate::rollout::Rollout::updated_clusters)
                .map(|cluster| cluster.name),
        )
        .evidence(&run_object, "spec.resourceSnapshotIndex", "")
        .evidence(
            &run_object,
            "status.resourceSnapshotIndexUsed",
            used.clone(),
        )
        .evidence(
            &object,
            format!("metadata.annotations[{}]", names::NEXT_DETECTION_TIME),
            old.detected.to_string(),
        )
        .evidence(
            &run_object,
            "status.conditions[type=Initialized].lastTransitionTime",
            old.initialized.to_string(),
        );
    if let Some(next) = next
        && let Some(created) = next.meta.created
    {
        finding = finding.evidence(
            next.object(),
            "metadata.creationTimestamp",
            created.to_string(),
        );
    }
    vec![
        finding
            .look(
                "Compare the rolled-out content with the current content.",
                Some(
                    case.command("snapshots")
                        .arg(&case.inventory.placement_name),
                ),
            )
            .fix(
                "Roll out the current content with a new run: the command ensures that it gets \
                 the new snapshot.",
                case.new_run_command(),
            ),
    ]
}
