//! The state of a rollout in one sentence.

use jiff::SignedDuration;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::kubefleet::Concept;
use crate::kubefleet::placement::Placement;
use crate::report::Verdict;
use crate::rollout::content::lost_for_now;
use crate::rollout::sent::sent_index;
use crate::rollout::{Phase, Rollout};
use crate::words::count;

/// The sentence about a case: its state, how far it has come, and why, when that is known.
pub fn sentence(cx: &DiagnosisContext<'_>, because: Option<&str>) -> String {
    let subject = cx.run_object();
    let about = if subject == *cx.target() {
        cx.target().to_string()
    } else if cx.verdict == Verdict::Deleting && !is_deleted(cx) {
        // Only the run goes: its placement stays, and so does the content.
        format!("{subject}, and not {},", cx.target())
    } else {
        format!("{} (update run {})", cx.target(), subject.name)
    };
    let progress = cx.rollout.as_ref().map(Rollout::done_of);
    let done = progress
        .filter(|(_, total)| *total > 0)
        .map(|(done, total)| format!("{done} of {} done", count(total, "cluster")));
    let lead = match cx.verdict {
        Verdict::Succeeded => match &cx.rollout {
            Some(rollout) => succeeded(rollout),
            None if cx.inventory.compares_only() => {
                "was compared with all its clusters, and nothing was applied".to_owned()
            }
            None => "is available on all its clusters".to_owned(),
        },
        Verdict::Progressing => "is progressing".to_owned(),
        Verdict::WaitingForTimer => "waits for a timer".to_owned(),
        Verdict::WaitingForApproval => "waits for an approval".to_owned(),
        Verdict::Stuck => "is stuck".to_owned(),
        Verdict::Stopping => "is stopping".to_owned(),
        Verdict::Stopped => "is stopped".to_owned(),
        // One that an older hub agent began with, or whose state was set back.
        Verdict::NotStarted if progress.is_some_and(|(done, _)| done > 0) => {
            "does not run".to_owned()
        }
        Verdict::NotStarted if has_content_without_run(cx) => "waits for an update run".to_owned(),
        Verdict::NotStarted => "has not started".to_owned(),
        Verdict::Initializing => "is being initialized".to_owned(),
        Verdict::InitializationFailed => "could not be initialized".to_owned(),
        Verdict::Failed => "has failed".to_owned(),
        Verdict::Deleting => "is being deleted".to_owned(),
        Verdict::Unknown => "is in an unknown state: the required evidence is missing".to_owned(),
    };
    let done = match (cx.verdict, done) {
        (Verdict::Succeeded | Verdict::InitializationFailed | Verdict::Unknown, _) | (_, None) => {
            String::new()
        }
        (_, Some(done)) => format!(" ({done})"),
    };
    // A state that is its own reason is told once.
    let same = because.and_then(|because| because.strip_prefix(&format!("{subject} {lead}")));
    match because {
        _ if let Some(rest) = same => format!("{about} {lead}{rest}"),
        Some(because) => format!("{about} {lead}{done}: {because}"),
        None => format!("{about} {lead}{done}."),
    }
}

/// Whether clusters of an External placement have content, and no run is left that brought it.
pub fn has_content_without_run(cx: &DiagnosisContext<'_>) -> bool {
    let placement = cx.inventory.placement.present();
    let mut bindings = cx.inventory.bindings.iter();
    cx.rollout.is_none()
        && placement.is_some_and(Placement::is_external)
        && bindings.any(|it| !it.spec.snapshot.is_empty())
}

/// Whether the placement is being deleted, too.
fn is_deleted(cx: &DiagnosisContext<'_>) -> bool {
    let placement = cx.inventory.placement.present();
    placement.is_none_or(|placement| placement.meta.is_deleting())
}

/// What a run has done that succeeded: where it brought its snapshot, and where it removed it.
fn succeeded(rollout: &Rollout<'_>) -> String {
    let run = rollout.run;
    let (index, placement) = (&run.status.snapshot_index, &run.spec.placement);
    if index.is_empty() {
        return "has succeeded".to_owned();
    }
    let updated = rollout.updated_clusters().count();
    // One that joined again had left as well.
    let (left, removed): (Vec<_>, Vec<_>) = rollout.removals().partition(|it| {
        let joined = it.member.and_then(|member| member.meta.created);
        rollout.inventory.member_is_absent(it.name)
            || it.ended.is_some_and(|end| joined > Some(end))
    });
    let inventory = rollout.inventory;
    let still = removed.iter().filter(|cluster| {
        let mut works = inventory.works.iter();
        cluster.binding.is_none()
            && works.any(|it| it.is_going_from(cluster.name) && inventory.is_of_placement(it))
    });
    let still = match still.count() {
        0 => "",
        1 => "; 1 cluster still has its content",
        _ => "; some clusters still have its content",
    };
    let removed = removed.len();
    let (updated, removed) = (
        (updated > 0).then(|| count(updated, "cluster")),
        (removed > 0).then(|| count(removed, "cluster")),
    );
    let did = match updated {
        Some(updated) if rollout.only_compares() => format!(
            "snapshot {index} of {placement} was compared with {updated}, and nothing was applied"
        ),
        Some(updated) => format!("snapshot {index} of {placement} was rolled out to {updated}"),
        None => match removed {
            Some(removed) => {
                return format!("has succeeded: {placement} was removed from {removed}{still}");
            }
            None => format!("snapshot {index} of {placement} was rolled out to 0 clusters"),
        },
    };
    // Whether what they had was removed before they left is not known.
    let gone = match left.len() {
        0 => String::new(),
        1 => "; 1 cluster of its deletion stage has left the fleet".to_owned(),
        all => format!("; {all} clusters of its deletion stage have left the fleet"),
    };
    let lost = match lost_for_now(rollout).len() {
        0 => String::new(),
        1 => "; 1 cluster has lost it since".to_owned(),
        lost => format!("; {lost} clusters have lost it since"),
    };
    let others = format!("{gone}{lost}{}", others_now(rollout));
    match removed {
        Some(removed) => {
            format!(
                "has succeeded: {did}, and {placement} was removed from {removed}{still}{others}"
            )
        }
        None => format!("has succeeded: {did}{others}"),
    }
}

/// How many clusters of a placement have another snapshot than its last run brought; of a run itself that
/// is nothing to tell, as every later run changes it.
fn others_now(rollout: &Rollout<'_>) -> String {
    let own = rollout.run.status.snapshot_index.as_str();
    let is_placement = rollout.inventory.target.kind.concept() == Concept::Placement;
    let clusters = rollout.done_clusters().filter(|_| is_placement);
    let others = clusters
        .filter_map(|cluster| sent_index(rollout.inventory, cluster.binding?))
        .filter(|index| *index != own)
        .count();
    match others {
        0 => String::new(),
        1 => "; 1 cluster has another one now".to_owned(),
        others => format!("; {others} clusters have another one now"),
    }
}

/// An initialization takes seconds.
const INITIALIZATION: SignedDuration = SignedDuration::from_secs(60);

/// How long a run has been waiting for its initialization, when that is too long.
pub fn initialization_overdue(cx: &DiagnosisContext<'_>) -> Option<SignedDuration> {
    let rollout = cx.rollout.as_ref()?;
    let age = cx.now().duration_since(rollout.run.meta.created?);
    (rollout.phase == Phase::Initializing && age > INITIALIZATION).then_some(age)
}
