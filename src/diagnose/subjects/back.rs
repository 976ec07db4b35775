//! What continuing a run does to clusters that another run has updated since.

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::inventory::Inventory;
use crate::problems::put_there;
use crate::report::{ComposeText, Finding};
use crate::rollout::content::{self, GoesBack, would_go_back};
use crate::rollout::rollback::TakenBack;
use crate::rollout::{Phase, Rollout, rollout_started};
use crate::words::{by_number, count, enumerate};

/// What lets the run continue, as the beginning of a sentence: `Resuming example-run`.
fn how(rollout: &Rollout<'_>) -> String {
    let how = match rollout.phase {
        Phase::Idle => "Starting",
        Phase::Stopped | Phase::Stopping => "Resuming",
        _ if rollout.open_approvals().next().is_some() => "Approving",
        _ => "Continuing",
    };
    format!("{how} {}", rollout.run.meta.name)
}

/// That continuing the run rolls clusters back to its older snapshot, without the full stop.
pub fn goes_back(rollout: &Rollout<'_>, back: &[GoesBack<'_>]) -> String {
    let newer = put_there(
        back.iter().map(|back| back.holds),
        back.iter()
            .filter_map(|back| rollout_started(back.binding).run),
    );
    format!(
        "{} rolls {} back from {newer} to snapshot {}",
        how(rollout),
        enumerate(back.iter().map(|back| back.cluster)),
        rollout.run.status.snapshot_index
    )
}

/// What another run has done to the clusters of a run that rests, in one sentence; `None` where
/// nothing.
pub(in crate::diagnose) fn overtaken(cx: &DiagnosisContext<'_>) -> Option<String> {
    let rollout = cx.rollout.as_ref().filter(|_| cx.is_resting())?;
    let back = would_go_back(rollout);
    if !back.is_empty() {
        return Some(format!("{}.", goes_back(rollout, &back)));
    }
    let lost = content::overtaken(rollout);
    if lost.is_empty() {
        return None;
    }
    let (verb, has) = by_number(lost.len(), ("counts", "has"), ("count", "have"));
    Some(format!(
        "{} {verb} as done, but {has} another run's snapshot.",
        enumerate(lost.iter().map(|lost| lost.cluster))
    ))
}

/// What to do about a run whose clusters have another version: one in its place where that would bring them
/// together, or none.
pub(in crate::diagnose) fn replaced_or_deleted(
    cx: &DiagnosisContext<'_>,
    mut finding: Finding,
    brings_together: bool,
) -> Finding {
    let name = cx.run_object().name;
    if brings_together {
        let step = "Start a new run in its place to bring every cluster to the current content.";
        finding = finding.fix_with(step, cx.fresh_run_command(None));
    }
    let delete = cx.command("delete").arg(&name);
    let action = format!(
        "Or delete {name}, if the clusters should keep that version: this changes nothing on them."
    );
    finding.disrupt_with(action, delete)
}

/// What to do about a run whose content was taken back, where nobody is to let it continue.
pub(in crate::diagnose) fn taken_back(
    cx: &DiagnosisContext<'_>,
    finding: Finding,
    back: &TakenBack<'_>,
) -> Finding {
    let check = format!("Check what was rolled back: {back}.");
    finding.look_with(check, cx.history_command()).new_run(
        cx,
        "Start a new run in its place once the content is corrected: this one keeps its own.",
    )
}

/// Adds that a stopped run is resumed, unless its content was taken back.
pub(in crate::diagnose) fn resumed(
    cx: &DiagnosisContext<'_>,
    finding: Finding,
    action: &str,
) -> Finding {
    match cx
        .run()
        .and_then(|run| TakenBack::for_run(cx.inventory, run))
    {
        Some(back) => taken_back(cx, finding, &back),
        None => finding.fix_with(action, cx.command("resume").arg(cx.run_object().name)),
    }
}

/// The clusters from which any new run removes the placement.
pub(in crate::diagnose) fn removed(inventory: &Inventory) -> Option<String> {
    let bindings = inventory.bindings.iter();
    let leaving = bindings.filter(|it| it.is_unscheduled() && !it.meta.is_deleting());
    let leaving = leaving.filter(|it| !it.spec.snapshot.is_empty());
    let leaving = leaving.filter(|it| !inventory.keeps_content(&it.spec.cluster));
    let names: Vec<_> = leaving.map(|it| it.spec.cluster.as_str()).collect();
    match names.len() {
        0 => None,
        1..=3 => Some(enumerate(names)),
        several => Some(count(several, "cluster")),
    }
}
