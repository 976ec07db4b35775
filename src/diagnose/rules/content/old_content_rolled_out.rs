//! A run without an index got the previous content: the new snapshot was delayed.

use jiff::SignedDuration;

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity, Verdict};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, Conditions, names, reasons};

/// The snapshot used carries a detection time at or before the run's initialization, and the next
/// snapshot, if any, is younger than it. Source:
/// utils/controller/resource_snapshot_resolver.go:shouldCreateNewResourceSnapshotNow.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS701",
    name: "old-content-rolled-out",
    severity: Severity::Warning,
    reads: &[Concept::ResourceSnapshot],
    caused_by: &[],
    check,
};

/// The annotation is written by the very look that initializes the run; both are cut to seconds.
const SAME_LOOK: SignedDuration = SignedDuration::from_secs(2);

/// How long a hub delays a snapshot at most: by default 15 s after the change and 30 s after the
/// last snapshot. The annotation stays when a change is taken back, and means nothing later on.
const DELAY: SignedDuration = SignedDuration::from_mins(5);

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(run) = case.run().filter(|run| run.spec.snapshot_index.trim().is_empty()) else {
        return Vec::new();
    };
    let used = &run.status.snapshot_index;
    let initialized = run.status.conditions.condition(reasons::INITIALIZED).filter(|c| c.is_true());
    let Some(at) = initialized.and_then(|initialized| initialized.since) else { return Vec::new() };
    let Some(snapshot) = case.inventory.snapshot(used) else { return Vec::new() };
    let Some(detected) = snapshot.change_detected() else { return Vec::new() };
    let ahead = detected.duration_since(at);
    if ahead > SAME_LOOK || -ahead > DELAY {
        return Vec::new();
    }
    let number: Option<u64> = used.parse().ok();
    let next = case
        .inventory
        .snapshots
        .iter()
        .filter(|other| other.is_master())
        .filter_map(|other| Some((other.index()?.parse::<u64>().ok()?, other)))
        .filter(|(index, _)| number.is_some_and(|number| *index > number))
        .min_by_key(|(index, _)| *index)
        .map(|(_, other)| other);
    if next.is_some_and(|next| next.meta.created.is_some_and(|created| created < at)) {
        // The run could have had the new snapshot and took another one: not this state.
        return Vec::new();
    }
    let (object, run_object) = (snapshot.object(), run.object());
    let verb = match case.verdict {
        Verdict::Succeeded => "rolled out",
        Verdict::NotStarted => "will roll out",
        Verdict::Failed | Verdict::Deleting => "was rolling out",
        _ => "rolls out",
    };
    let newer = match next.and_then(|next| next.index()) {
        Some(index) => format!("; the change came with snapshot {index}"),
        None if case.inventory.snapshots.is_complete() => {
            "; the change has no snapshot yet".to_owned()
        }
        None => String::new(),
    };
    let mut finding = rule
        .finding(
            &run_object,
            format!(
                "{} {verb} snapshot {used}, which was already out of date when the run was \
                 initialized: KubeFleet had noticed a change and delayed its snapshot{newer}.",
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
        .evidence(&run_object, "status.resourceSnapshotIndexUsed", used.clone())
        .evidence(
            &object,
            format!("metadata.annotations[{}]", names::NEXT_DETECTION_TIME),
            detected.to_string(),
        )
        .evidence(
            &run_object,
            "status.conditions[type=Initialized].lastTransitionTime",
            at.to_string(),
        );
    if let Some(next) = next
        && let Some(created) = next.meta.created
    {
        finding = finding.evidence(next.object(), "metadata.creationTimestamp", created.to_string());
    }
    vec![
        finding
            .look(
                "Compare the content that was rolled out with the current one.",
                Some(case.command(&format!("snapshots {}", case.inventory.placement_name))),
            )
            .fix(
                "Roll out the current content with a new run; it sees to it that it gets the new \
                 snapshot.",
                case.new_run_command(),
            ),
    ]
}
