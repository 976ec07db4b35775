//! What a gate opens.

use std::collections::BTreeSet;

use crate::controller;
use crate::diagnose::subjects::changes_ahead::{changes_ahead, created_again, fails_again};
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::rule::Rule;
use crate::diagnose::subjects::{back, overrides, verdict};
use crate::inventory::Inventory;
use crate::kubefleet::duration;
use crate::kubefleet::duration::whole_seconds;
use crate::manifests::FaultCause;
use crate::problems::members::TroubledMembers;
use crate::problems::{namespace_undelivered_ahead, problems_ahead};
use crate::report::{ComposeText, Finding, Remedy, Verdict};
use crate::rollout::content::{
    cascading_losses, emptied, goes_back, leaving_ahead, lost_content, missing_content,
};
use crate::rollout::rollback::TakenBack;
use crate::rollout::{
    ClusterState, Gate, Phase, Rollout, StageView, TaskState, TaskTime, comes_next, life, opening,
    rollback,
};
use crate::words::{by_number, enumerate};

/// What passing a gate lets happen: `stage canary update member1 and member2 (1 at a time)`.
pub(in crate::diagnose) fn opens(cx: &DiagnosisContext<'_>, gate: &Gate<'_>) -> String {
    let Some(rollout) = &cx.rollout else {
        return "the run continue".to_owned();
    };
    let opening = opening(rollout, gate);
    let mut what = match (opening.stages.first(), opening.next) {
        (Some(stage), _) => lets(stage, gate, cx.inventory) + &back_to(rollout, stage),
        (None, Some(next)) => match opening.until {
            Some(until) => format!("the run continue when the timed wait ends, at {until}"),
            None => asks(rollout, next),
        },
        (None, None) => "the run finish".to_owned(),
    };
    let later = opening.stages.iter().skip(1).filter(|it| !it.deletes);
    let later: Vec<_> = later.map(|it| format!("stage {}", it.name())).collect();
    if !later.is_empty() {
        what = format!("{what}, and then {}", enumerate(later));
    }
    if let Some(removal) = opening.later_removal() {
        what = format!(
            "{what}, and then the run {}",
            removes(removal, cx.inventory)
        );
    }
    // The tasks after a stage run side by side, and all of them have to end.
    if opening.held_by.iter().any(|it| it.task.is_timed_wait()) {
        what = format!(
            "{what}, once the timed wait of stage {} is also over",
            gate.stage
        );
    }
    if let Some(passed) = opening.passed {
        what = format!(
            "{what}, after the tasks of stage {} up to KubeFleet 0.3",
            passed.name()
        );
    }
    what
}

/// That clusters of a stage have a newer snapshot than the run brings, be it on purpose.
fn back_to(rollout: &Rollout<'_>, stage: &StageView<'_>) -> String {
    let back = goes_back(rollout).into_iter();
    let back = back.filter(|it| stage.clusters.iter().any(|of| of.name == it.cluster));
    let newest = back.map(|it| it.holds).max();
    newest.map_or_else(String::new, |newest| {
        let own = &rollout.run.status.snapshot_index;
        format!(", back from snapshot {newest} to {own}")
    })
}

/// What happens in the stage that is opened.
fn lets(stage: &StageView<'_>, gate: &Gate<'_>, inventory: &Inventory) -> String {
    if stage.deletes {
        return format!("the run {}", removes(stage, inventory));
    }
    let verb = match gate.time {
        TaskTime::Before => "update",
        TaskTime::After => "start with",
    };
    let clusters = enumerate(stage.clusters.iter().map(|cluster| cluster.name));
    let pace = match stage.clusters.len() {
        1 => String::new(),
        _ => format!(" ({} at a time)", stage.concurrency),
    };
    format!("stage {} {verb} {clusters}{pace}", stage.name())
}

fn removes(stage: &StageView<'_>, inventory: &Inventory) -> String {
    let clusters = stage.clusters.iter().map(|cluster| cluster.name);
    let (left, there): (Vec<_>, Vec<_>) = clusters.partition(|name| inventory.keeps_content(name));
    let there =
        (!there.is_empty()).then(|| format!("remove the placement from {}", enumerate(there)));
    let left = (!left.is_empty()).then(|| {
        let left = enumerate(left);
        format!("delete the binding of {left}, which left the fleet and keeps its content")
    });
    enumerate(there.into_iter().chain(left))
}

/// What the run waits for instead of a stage.
fn asks(rollout: &Rollout<'_>, next: &Gate<'_>) -> String {
    let mut stages = rollout.stages.iter();
    let stage = stages.find(|stage| stage.status.name == next.stage);
    let name = stage.map_or_else(|| next.stage.to_owned(), |stage| stage.name().to_owned());
    if next.of_removal && next.task.is_approval() {
        "the run request an approval of the removal".to_owned()
    } else if next.task.is_approval() {
        format!("stage {name} request its own approval")
    } else {
        format!("the timed wait of stage {name} start")
    }
}

/// The gate of which the summary tells what it opens.
pub(in crate::diagnose) fn summarized_gate<'r, 'i>(
    cx: &DiagnosisContext<'_>,
    rollout: &'r Rollout<'i>,
) -> Option<&'r Gate<'i>> {
    let speaks = cx.verdict == Verdict::WaitingForApproval
        && cx.outlook.aborts(cx.verdict).is_none()
        && back::overtaken(cx).is_none()
        && obstacle(cx).is_none();
    let mut open = rollout.open_approvals();
    open.find(|gate| speaks && verdict::needs_a_person(gate))
}

/// Whether the time alone lets the run continue: behind its timer nobody is asked before clusters change.
pub(in crate::diagnose) fn timer_opens(cx: &DiagnosisContext<'_>) -> bool {
    let Some(rollout) = cx.rollout.as_ref() else {
        return false;
    };
    cx.verdict == Verdict::WaitingForTimer
        && rollout
            .open_timers()
            .all(|timer| next_approval(rollout, timer).is_none())
}

/// The approval that holds a run next, once a timed wait is over.
pub(in crate::diagnose) fn next_approval<'r, 'i>(
    rollout: &'r Rollout<'i>,
    wait: &Gate<'_>,
) -> Option<&'r Gate<'i>> {
    let next = opening(rollout, wait).next;
    next.filter(|gate| gate.task.is_approval() && !gate.of_removal)
}

/// Why a run that rests is not simply let continue: what clusters would get then, as a clause.
pub(in crate::diagnose) fn obstacle(cx: &DiagnosisContext<'_>) -> Option<String> {
    let rollout = cx.rollout.as_ref()?;
    if !cx.verdict.waits_for_person() && !timer_opens(cx) {
        return None;
    }
    if cx.inventory.is_placement_deleting() {
        return Some("its placement is being deleted.".to_owned());
    }
    if let Some(back) = TakenBack::for_run(cx.inventory, rollout.run) {
        return Some(format!("{back}."));
    }
    let lost: Vec<_> = lost_content(rollout).iter().map(|it| it.0.name).collect();
    if !lost.is_empty() && !life::is_foreign(rollout.inventory, rollout.run) {
        return Some(format!(
            "the content is gone again from {}, which the run counts as done.",
            enumerate(lost)
        ));
    }
    let emptied = emptied(rollout);
    if !emptied.is_empty() {
        return Some(format!(
            "its snapshot {} has no objects: it deletes everything from {}.",
            rollout.run.status.snapshot_index,
            enumerate(emptied)
        ));
    }
    let is_next = comes_next(rollout);
    let mut losses = cascading_losses(rollout).into_iter();
    if let Some(loss) = losses.find(|it| it.clusters.iter().any(|name| is_next(name))) {
        return Some(format!("it {}.", loss.describe()));
    }
    let mut again = created_again(cx);
    if let Some(loss) = again.find(|it| it.clusters.iter().any(|name| is_next(name))) {
        return Some(format!("{}.", loss.describe()));
    }
    if let Some((cluster, binding)) = leaving_ahead(rollout).first() {
        return Some(format!(
            "binding {} of {cluster} is being deleted, and the run fails if it writes that one.",
            binding.meta.name
        ));
    }
    let mut gates = rollout.gates();
    if let Some(foreign) = gates.find(|it| it.foreign && it.state == TaskState::NotReached) {
        return Some(format!(
            "{} belongs to another run or stage, and the run fails at that gate.",
            foreign.task.approval_request
        ));
    }
    let Some(missing) = missing_content(rollout) else {
        let Some(fault) = overrides::holds_ahead(cx) else {
            let members = TroubledMembers::ahead(rollout, &is_next);
            let unwell = TroubledMembers::ahead(rollout, |_| true)
                .leaving_words()
                .or_else(|| members.unhealthy_words())
                .or_else(|| members.silence_words());
            let without = namespace_undelivered_ahead(rollout).map(|it| it.message);
            let taken = || {
                let found = problems_ahead(rollout);
                let first = found.messages().next()?;
                // It stands behind a colon.
                Some(match first.strip_prefix("The ") {
                    Some(rest) => format!("the {rest}."),
                    None => format!("{first}."),
                })
            };
            let refused = || {
                let mut refused = changes_ahead(cx).refused.iter();
                let first = refused.find(|it| it.clusters.iter().any(|name| is_next(name)))?;
                Some(format!("{}.", first.describe()))
            };
            let unfit = unwell.or(without).or_else(taken).or_else(refused);
            return unfit.or_else(|| failing(cx));
        };
        return Some(match &fault.cause {
            FaultCause::Operation(failing) => format!(
                "{} does not fit the content for {}.",
                failing.over,
                enumerate(&fault.clusters)
            ),
            _ => format!("{}.", fault.describe()),
        });
    };
    Some(missing.describe())
}

/// That clusters fail which the run counts as done, or which have its content already.
fn failing(cx: &DiagnosisContext<'_>) -> Option<String> {
    if let Some(again) = fails_again(cx, true) {
        return Some(format!("{again}."));
    }
    let resting = cx.troubles.iter().filter(|it| !it.blocking);
    let (done, ahead): (Vec<_>, Vec<_>) = resting.partition(|it| it.was_done);
    let is_done = !done.is_empty();
    let ahead = ahead.into_iter().filter(|it| it.is_written).collect();
    let all: Vec<_> = if is_done { done } else { ahead };
    let names: BTreeSet<_> = all.iter().map(|it| it.cluster).collect();
    let (fail, them) = match names.len() {
        0 => return unheard(cx),
        1 => ("fails", "it"),
        _ => ("fail", "them"),
    };
    let names = enumerate(names);
    Some(if is_done {
        format!("{names} {fail} now, but the run counts {them} as done.")
    } else {
        format!("{names} already {fail} with its content, so the run gets stuck.")
    })
}

/// That nobody has heard for long of clusters that the run counts as done.
fn unheard(cx: &DiagnosisContext<'_>) -> Option<String> {
    let done = cx.rollout.as_ref()?.done_clusters();
    let silent = done.filter_map(|it| Some((it.name, it.member?.silent_for(cx.now())?)));
    let silent: Vec<_> = silent.collect();
    let longest = silent.iter().map(|(_, silent)| *silent).max()?;
    Some(format!(
        "{} {} not reported for {}; whether the content is still available there is unknown.",
        enumerate(silent.iter().map(|(name, _)| name)),
        by_number(silent.len(), "has", "have"),
        duration::describe(longest)
    ))
}

/// Puts a look at such clusters first.
pub(in crate::diagnose) fn check_failing(
    cx: &DiagnosisContext<'_>,
    mut finding: Finding,
) -> Finding {
    match failing(cx) {
        Some(why) => {
            let step = Remedy::first(format!("Check this first: {why}"));
            finding.remedies.push(step);
            finding
        }
        None => finding,
    }
}

/// A wait of which only the run's own text tells: its status lists no task that is open. `None`
/// where it lists one, or where the verdict is another.
pub(in crate::diagnose) fn unlisted(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    approval: bool,
) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let (verdict, what) = if approval {
        (Verdict::WaitingForApproval, "an approval")
    } else {
        (Verdict::WaitingForTimer, "a timed wait")
    };
    if cx.verdict != verdict || rollout.open_gates().next().is_some() {
        return None;
    }
    let run = cx.run_object();
    let name = &run.name;
    let message = format!("{name} waits for {what}, but its status does not list the open tasks.");
    let finding = rule
        .finding(&run, message)
        .root()
        .condition(&run, rollout.progressing()?);
    let action = "List the approval requests of the run: their label `kubernetes-fleet.io/targetUpdateRun` \
                  has its name.";
    Some(finding.look_with(action, cx.command("approvals").arg(name)))
}

/// What becomes of the timed waits of a run that is stopped, and of the gates that they are.
pub fn stopped_waits(rollout: &Rollout<'_>) -> Vec<String> {
    let again = || {
        let look = controller::look_after_stop(rollout.inventory, rollout.run);
        look.map_or_else(String::new, |by| {
            let by = whole_seconds(by);
            format!("; a check that may still come, by {by}, restarts the wait")
        })
    };
    rollout
        .gates()
        .filter_map(|gate| {
            let (since, until) = (gate.stopped_since?, gate.holds_until());
            let (stage, again) = (gate.stage, again());
            Some(match until {
                None => format!(
                    "the timed wait of stage {stage} started at the stop ({since}) and continues \
                     while the run is stopped{again}"
                ),
                Some(until) if until > rollout.now => format!(
                    "the timed wait of stage {stage} started at the stop and ends in {}, at \
                     {until}, even while the run is stopped{again}",
                    duration::describe(until.duration_since(rollout.now))
                ),
                Some(until) => format!(
                    "the timed wait of stage {stage} ended at {until}, during the stop, and no longer \
                     holds the run{again}"
                ),
            })
        })
        .collect()
}

/// Adds how to hold a rollout back that waits at a gate: a gate cannot be rejected.
pub(in crate::diagnose) fn hold_back(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let Some(rollout) = &cx.rollout else {
        return finding;
    };
    let name = &rollout.run.meta.name;
    let left = rollout
        .clusters()
        .any(|cluster| cluster.state != ClusterState::Done);
    if !left {
        return match went_before(cx) {
            Some(index) => finding.disrupt_with(
                format!(
                    "Roll back to snapshot {index} with a new run to undo the rollout: every \
                     cluster already has the new content."
                ),
                cx.command("rollback").arg(name).joined("--active", "stop"),
            ),
            None => finding,
        };
    }
    halt(
        cx,
        finding,
        "to block the rollout: a gate cannot be rejected.",
    )
}

/// Adds a step that halts a run, with what comes after `Stop the run`: where the hub cannot stop one, it is
/// deleted.
pub(in crate::diagnose) fn halt(cx: &DiagnosisContext<'_>, finding: Finding, why: &str) -> Finding {
    let name = &cx.run_object().name;
    if cx.rollout.as_ref().is_some_and(|it| it.state_ignored) {
        let delete = format!(
            "Delete the run {why} Clusters keep their content, and this hub cannot stop a run."
        );
        return finding.disrupt_with(delete, cx.command("delete").arg(name));
    }
    finding.fix_with(format!("Stop the run {why}"), cx.command("stop").arg(name))
}

/// The same for a run that continues while what it is done with fails.
pub(in crate::diagnose) fn halt_meanwhile(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let executes = |it: &&Rollout<'_>| it.phase == Phase::Executing;
    let rollout = cx.rollout.as_ref().filter(executes);
    let next = rollout.filter(|_| cx.verdict == Verdict::Progressing);
    let next = next.map(Rollout::reached_next).unwrap_or_default();
    if next.is_empty() {
        return finding;
    }
    let why = format!(
        "first, if the content may be at fault: it continues with {}.",
        enumerate(next)
    );
    halt(cx, finding, &why)
}

/// The snapshot to which `rollback` would go.
fn went_before<'i>(cx: &DiagnosisContext<'i>) -> Option<&'i str> {
    let good = rollback::last_good(cx.inventory, cx.run()?);
    good.ok().map(|good| good.index)
}
