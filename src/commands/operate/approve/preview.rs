//! What an approval opens, before it is given.

use jiff::Timestamp;

use super::select::{ApprovalSelection, gate};
use crate::change::guard::AcceptedRisks;
use crate::change::preview::Preview;
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::{safeguards, steering};
use crate::error::Error;
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::{Concept, duration};
use crate::report::Finding;
use crate::rollout::approvals::Approval;
use crate::rollout::content::{GoesBack, would_go_back};
use crate::rollout::{
    ClusterState, ClusterView, Gate, GateOpening, GateState, PersonAnswer, Rollout, StageView,
    TaskState, TaskTime, opening,
};
use crate::words::{Hint, count, enumerate, together};

pub(super) fn preview_of(
    rollout: &Rollout<'_>,
    selection: &ApprovalSelection,
    (aborts, held): (Option<&str>, &[Finding]),
) -> Preview {
    let mut preview = Preview::default();
    for approval in &selection.write {
        preview.lines(approval_lines(rollout, approval, aborts.is_some()));
    }
    let ApprovalSelection {
        write,
        given,
        taken,
    } = selection;
    for approval in write.iter().chain(given).chain(taken) {
        if let Some(request) = rollout.inventory.approval(approval.request()).present() {
            let meta = &request.meta;
            preview.fact(
                request.object().to_string(),
                approval.gate.state.describe(),
                &format!("{} {}", meta.uid, meta.resource_version),
            );
        }
    }
    warn(rollout, selection, (aborts.is_some(), held), &mut preview);
    preview.warnings(aborts.filter(|_| !selection.write.is_empty()));
    preview.warnings(leads_to_failure(rollout, selection));
    steering::facts(rollout, &mut preview);
    preview
}

fn approval_lines(rollout: &Rollout<'_>, approval: &Approval, aborts: bool) -> Vec<String> {
    let run = rollout.run;
    let mut lines = vec![format!(
        "{}: {} of {}, snapshot {} of {}",
        approval.request(),
        gate(approval),
        run.object(),
        run.status.snapshot_index,
        run.spec.placement
    )];
    if let Some(asked) = approval.gate.since {
        let ago = duration::describe(rollout.now.duration_since(asked));
        lines.push(format!("  requested {ago} ago"));
    }
    if let (Some(TaskTime::After), Some((stage, _))) =
        (approval.gate.when, gate_of(rollout, approval))
    {
        lines.push(format!(
            "  signs off stage {}: {} of {} done",
            approval.gate.stage,
            stage.done(),
            count(stage.clusters.len(), "cluster"),
        ));
    }
    lines.extend(failing(rollout));
    if aborts {
        lines.push(
            "  opens nothing: KubeFleet aborts the run before it reads the approval".to_owned(),
        );
        return lines;
    }
    if let Some(opening) = opening_of(rollout, approval) {
        lines.extend(opening_lines(rollout, &opening));
    }
    lines
}

/// What an approval opens, and what holds the run then.
fn opening_lines(rollout: &Rollout<'_>, opening: &GateOpening<'_, '_>) -> Vec<String> {
    let mut lines = Vec::new();
    if !opening.held_by.is_empty() {
        let others = opening.held_by.iter();
        let others = others.map(|gate| task(gate, gate.ends_at()));
        lines.push(format!(
            "  the run then still waits for {}",
            enumerate(others)
        ));
    }
    for stage in &opening.stages {
        let left = stage.clusters.iter();
        let left: Vec<_> = left
            .filter(|it| it.state == ClusterState::NotReached)
            .collect();
        lines.extend(stage_lines(rollout, stage, &left, "opens stage"));
    }
    if let Some(passed) = opening.passed {
        lines.push(format!(
            "  up to KubeFleet 0.3, stage {} has no clusters and comes first, with its own tasks",
            passed.name()
        ));
    }
    if opening.stages.is_empty() {
        lines.push(match opening.next {
            Some(next) => format!(
                "  opens no further stage: the run then waits for {}",
                task(next, opening.until)
            ),
            None => "  opens no further stage: the run then ends".to_owned(),
        });
    }
    lines
}

fn task(gate: &Gate<'_>, until: Option<Timestamp>) -> String {
    let Some(wait) = gate.wait().filter(|_| gate.task.is_timed_wait()) else {
        return gate.task.approval_request.clone();
    };
    let wait = duration::describe(wait);
    match until {
        Some(until) => format!("a wait of {wait}, until {until}"),
        None => format!("a wait of {wait}"),
    }
}

/// What happens to the clusters of a stage that are left.
pub(crate) fn stage_lines(
    rollout: &Rollout<'_>,
    stage: &StageView<'_>,
    left: &[&ClusterView<'_>],
    head: &str,
) -> Vec<String> {
    if stage.deletes {
        return removal_lines(rollout, left);
    }
    let clusters = count(left.len(), "cluster");
    let mut lines = vec![format!(
        "  {head} {}: {clusters}, {} at a time",
        stage.status.name, stage.concurrency
    )];
    lines.extend(moves(rollout, left));
    lines
}

pub(crate) fn removal_lines(rollout: &Rollout<'_>, clusters: &[&ClusterView<'_>]) -> Vec<String> {
    let names = |clusters: Vec<&ClusterView<'_>>| enumerate(clusters.iter().map(|it| it.name));
    let (left, there): (Vec<_>, Vec<_>) = clusters
        .iter()
        .partition(|it| rollout.inventory.keeps_content(it.name));
    let mut lines = Vec::new();
    if !there.is_empty() {
        let never_came =
            |it: &&ClusterView<'_>| it.binding.is_some_and(|it| it.spec.snapshot.is_empty());
        let is_empty = there.iter().all(never_came);
        let clusters = count(there.len(), "cluster");
        lines.push(format!(
            "  removes the placement from {clusters}: {}",
            names(there)
        ));
        lines.push(if is_empty {
            "  it never came there, so nothing is deleted".to_owned()
        } else {
            "  its workloads there are deleted, and nothing brings them back".to_owned()
        });
    }
    if !left.is_empty() {
        lines.push(format!(
            "  deletes the bindings of clusters that left the fleet, which keep their workloads: {}",
            names(left)
        ));
    }
    lines
}

/// Which cluster goes from which snapshot to the run's, those that do the same in one line.
pub(crate) fn moves(rollout: &Rollout<'_>, clusters: &[&ClusterView<'_>]) -> Vec<String> {
    let to = rollout.run.status.snapshot_index.as_str();
    let has = clusters.iter().map(|cluster| {
        let has = match cluster.binding {
            None if !rollout.sees_bindings => ClusterContent::Unknown,
            binding => match binding.and_then(Binding::snapshot_index) {
                None => ClusterContent::Nothing,
                Some(has) if has == to && cluster.state == ClusterState::Updating => {
                    ClusterContent::InFlight
                }
                Some(has) if has == to && cluster.trouble().is_some() => ClusterContent::Failing,
                Some(has) if has == to && !cluster.is_written => ClusterContent::Rewritten,
                Some(has) => ClusterContent::Snapshot(has),
            },
        };
        (has, cluster.name)
    });
    together(has)
        .into_iter()
        .map(|(has, names)| {
            let names = enumerate(names);
            match has {
                ClusterContent::Unknown => {
                    format!("    snapshot {to}; the current snapshot is unknown: {names}")
                }
                ClusterContent::Nothing => format!("    first snapshot, {to}: {names}"),
                ClusterContent::InFlight => format!("    snapshot {to}, not done yet: {names}"),
                ClusterContent::Failing => format!("    snapshot {to} again, now failing: {names}"),
                ClusterContent::Rewritten => {
                    format!("    snapshot {to}, with other overrides or apply strategy: {names}")
                }
                ClusterContent::Snapshot(has) if has == to => {
                    format!("    snapshot {to}, unchanged: {names}")
                }
                ClusterContent::Snapshot(has) => format!("    snapshot {has} -> {to}: {names}"),
            }
        })
        .collect()
}

/// What a cluster has before it is updated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClusterContent<'a> {
    Unknown,
    Nothing,
    /// The content that it is to get, and it is not known yet what becomes of it.
    InFlight,
    /// The content that it is to get, and it fails there.
    Failing,
    /// The snapshot that it is to get, though not what the run writes beside it.
    Rewritten,
    Snapshot(&'a str),
}

/// What fails on the clusters that the run has reached.
fn failing(rollout: &Rollout<'_>) -> Vec<String> {
    let reached = rollout
        .updated_clusters()
        .filter(|it| it.state != ClusterState::NotReached);
    reached
        .filter_map(|cluster| {
            let condition = cluster.trouble()?.condition;
            Some(format!(
                "  {} is failing: {}={:?} {}",
                cluster.name, condition.kind, condition.status, condition.reason
            ))
        })
        .collect()
}

/// Refuses to let a run continue whose content fails where the run counts it as done: a gate is there to
/// hold that. A person may know why it fails.
fn done_is_well(rollout: &Rollout<'_>, reading: &SourceReading) -> Result<(), Error> {
    let mut done = rollout.updated_clusters();
    let failing = done.find_map(|it| {
        let condition = it.trouble()?.condition;
        (it.state == ClusterState::Done).then_some((it.name, condition))
    });
    let Some((name, condition)) = failing else {
        return Ok(());
    };
    let (kind, reason) = (&condition.kind, &condition.reason);
    let diagnose = rollout.run.object().fleet("diagnose");
    Err(reading
        .refused(format!(
            "{name} fails now ({kind}={:?} {reason}), but the run counts it as done",
            condition.status
        ))
        .hint(Hint::new("check why:").command(diagnose).text(
            "approve it at a terminal, if the next clusters should get the content all the same",
        )))
}

/// The gate of an approval, in the run as it stands, and its stage. Of stages that share a request,
/// that which waits for it.
fn gate_of<'r, 'i>(
    rollout: &'r Rollout<'i>,
    approval: &Approval,
) -> Option<(&'r StageView<'i>, &'r Gate<'i>)> {
    let stages = rollout.stages.iter();
    let gates = stages.flat_map(|stage| stage.gates.iter().map(move |gate| (stage, gate)));
    let own = gates.filter(|(_, gate)| {
        gate.task.is_approval() && gate.task.approval_request == approval.request()
    });
    own.min_by_key(|(_, gate)| gate.state != TaskState::Open)
}

fn opening_of<'r, 'i>(
    rollout: &'r Rollout<'i>,
    approval: &Approval,
) -> Option<GateOpening<'r, 'i>> {
    gate_of(rollout, approval).map(|(_, gate)| opening(rollout, gate))
}

/// Says what a person should know before approving, and what no one could see.
fn warn(
    rollout: &Rollout<'_>,
    selection: &ApprovalSelection,
    (aborts, held): (bool, &[Finding]),
    preview: &mut Preview,
) {
    for approval in &selection.write {
        let request = approval.request();
        match (approval.gate.state, &approval.gate.answer) {
            (GateState::Ignored, Some(answer)) => preview.warning(&format!(
                "KubeFleet ignores the current approval of {request} (observedGeneration {}, the \
                 request is at {}){}: it will be replaced",
                answer
                    .observed_generation
                    .map_or_else(|| "missing".to_owned(), |number| number.to_string()),
                generation(rollout.inventory, request),
                writer(answer.with.as_deref()),
            )),
            (GateState::Withheld, Some(answer)) => preview.warning(&format!(
                "{}: an approval replaces it",
                withheld_words(request, answer)
            )),
            _ => {}
        }
    }
    if selection.write.is_empty() {
        return;
    }
    if !aborts && rollout.phase.is_halted() {
        preview.warning(&format!(
            "{} is stopped: the approval takes effect when the run is resumed",
            rollout.run.object()
        ));
    }
    preview.warnings(shared_words(rollout, selection));
    safeguards::warn_of_lost(rollout, preview);
    if !aborts {
        safeguards::warn_of_members(rollout, Some(&opened(rollout, selection)), preview);
        safeguards::warn_of_ahead(rollout, held, preview);
    }
    steering::unseen(rollout.inventory, preview);
    let kind = rollout.inventory.scope.kind(Concept::ResourceSnapshot);
    if let Some(gap) = rollout.inventory.gaps.get(&kind) {
        preview.warning(&format!(
            "whether its content still exists is unknown: {kind} {gap}"
        ));
    }
    steering::others(rollout, preview);
}

/// That somebody gave an answer that opens nothing, as a clause.
fn withheld_words(request: &str, answer: &PersonAnswer) -> String {
    let with = writer(answer.with.as_deref());
    format!("the Approved condition of {request} is not True{with}")
}

fn writer(with: Option<&str>) -> String {
    with.map_or_else(String::new, |with| format!(", written with {with}"))
}

fn generation(inventory: &Inventory, request: &str) -> String {
    let request = inventory.approval(request);
    let generation = request
        .present()
        .and_then(|request| request.meta.generation);
    generation.map_or_else(|| "none".to_owned(), |number| number.to_string())
}

pub(super) fn opened<'i>(rollout: &Rollout<'i>, selection: &ApprovalSelection) -> Vec<&'i str> {
    selection
        .write
        .iter()
        .filter_map(|approval| opening_of(rollout, approval))
        .flat_map(|opening| opening.stages)
        .flat_map(|stage| &stage.clusters)
        .map(|cluster| cluster.name)
        .collect()
}

/// That a request is that of several gates, which one approval opens: stages of one name share them.
/// Source: updaterun/execution.go:handleStageApprovalTask.
fn shared_words(rollout: &Rollout<'_>, selection: &ApprovalSelection) -> Option<String> {
    let stages = |request: &str| {
        let stages = rollout.stages.iter();
        let stages = stages.filter(|stage| !stage.clusters.is_empty());
        let stages = stages.filter(|stage| {
            let mut gates = stage.gates.iter();
            gates.any(|it| it.task.approval_request == request && it.state != TaskState::Done)
        });
        let clusters = stages.map(|it| enumerate(it.clusters.iter().map(|it| it.name)));
        clusters.collect::<Vec<_>>()
    };
    let mut requests = selection.write.iter().map(Approval::request);
    let (request, stages) =
        requests.find_map(|it| Some((it, stages(it))).filter(|it| it.1.len() > 1))?;
    Some(format!(
        "{request} also opens the gates of later stages of the same name: {}",
        stages.get(1..)?.join("; ")
    ))
}

/// That the run fails at the next gate, because the request of its name is another's.
fn leads_to_failure(rollout: &Rollout<'_>, selection: &ApprovalSelection) -> Option<String> {
    let opened = selection.write.iter();
    let mut next = opened.filter_map(|approval| opening_of(rollout, approval)?.next);
    let request = &next.find(|it| it.foreign)?.task.approval_request;
    let run = &rollout.run.meta.name;
    Some(format!(
        "{request} belongs to another run or stage: {run} fails when it reaches that gate"
    ))
}

/// Refuses to replace an answer that somebody gave on purpose: KubeFleet knows no rejection, people do.
fn nobody_withholds(selection: &ApprovalSelection, reading: &SourceReading) -> Result<(), Error> {
    let mut write = selection.write.iter();
    let withheld = write.find(|it| it.gate.state == GateState::Withheld);
    let Some((approval, answer)) = withheld.and_then(|it| Some((it, it.gate.answer.as_ref()?)))
    else {
        return Ok(());
    };
    let withheld = withheld_words(approval.request(), answer);
    let text = match answer.message.as_str() {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    let hint = "approve it at a terminal, if the rollout should continue after all";
    Err(reading.refused(format!("{withheld}{text}")).hint(hint))
}

/// Refuses to open what would block clusters, or take them back to an older snapshot unless that is
/// wanted; and what only a person opens.
pub(super) fn guard(
    rollout: &Rollout<'_>,
    (selection, held): (&ApprovalSelection, &[Finding]),
    (is_script, accepted): (bool, AcceptedRisks),
    reading: &SourceReading,
) -> Result<(), Error> {
    let opened = opened(rollout, selection);
    safeguards::reached(rollout, held, (Some(&opened), "approving"), reading)?;
    let back: Vec<GoesBack<'_>> = would_go_back(rollout)
        .into_iter()
        .filter(|back| opened.contains(&back.cluster))
        .collect();
    safeguards::going_back(&back, rollout, "approving", accepted, reading)?;
    if let Some(why) = shared_words(rollout, selection).filter(|_| is_script) {
        let hint =
            "approve it at a terminal, or give the stages of the strategy names of their own";
        return Err(reading.refused(why).hint(hint));
    }
    if let Some(why) = leads_to_failure(rollout, selection).filter(|_| is_script) {
        return Err(safeguards::would_abort(
            &rollout.run.object(),
            &why,
            reading,
        ));
    }
    if is_script {
        nobody_withholds(selection, reading)?;
        safeguards::nobody_leaves(rollout, reading)?;
        done_is_well(rollout, reading)?;
    }
    safeguards::unattended(rollout, Some(&opened), (is_script, accepted), reading).map(|_| ())
}
