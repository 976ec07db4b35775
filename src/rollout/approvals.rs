//! Approvals: what has become of each request, and who gave them as far as the objects tell.

use super::content::{
    cascading_losses, emptied, leaving_ahead, lost_content, missing_content, overtaken,
    would_go_back,
};
use super::in_the_way::in_the_way_ahead;
use super::opening::comes_next;
use super::rollback::TakenBack;
use super::{
    Gate, GateFacts, GateState, PersonAnswer, Phase, Rollout, StageState, TaskState, TaskTime,
    opening,
};
use crate::inventory::Sight;
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::{duration, names};

/// What a person does about an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalStep {
    Approve,
    /// Look first: approving alone does not help, or does more than it seems.
    Look,
    /// Nothing.
    Wait,
}

/// One approval: a gate of a run, or a request whose run has no such gate.
#[derive(Debug, Clone)]
pub struct Approval {
    pub run: String,
    /// The placement's name; empty where the run is not known.
    pub placement: String,
    pub gate: GateFacts,
    /// Where its run is, when there is one.
    pub phase: Option<Phase>,
    /// What a person does about it.
    pub step: ApprovalStep,
    /// The clusters from which it removes the placement, where it is the gate of that.
    pub removes: Vec<String>,
}

impl Approval {
    /// The request's name; it is known before the request exists.
    pub fn request(&self) -> &str {
        self.gate.request.as_deref().unwrap_or_default()
    }
}

/// The approvals of a run, in the order of its stages. A stage that was skipped asks for none.
pub fn of_run(rollout: &Rollout<'_>) -> Vec<Approval> {
    let stages = rollout.stages.iter();
    let asking = stages.filter(|stage| stage.state != StageState::Skipped);
    let gates = asking.flat_map(|stage| &stage.gates);
    let approvals = gates.filter(|gate| gate.task.is_approval());
    approvals
        .map(|gate| Approval {
            run: rollout.run.meta.name.clone(),
            placement: rollout.run.spec.placement.clone(),
            gate: GateFacts {
                state: state(rollout, gate),
                answer: gate.own_request().and_then(answer),
                ..gate_facts(rollout, gate)
            },
            phase: Some(rollout.phase),
            step: step_at(rollout, gate),
            removes: removed(rollout, gate)
                .into_iter()
                .map(str::to_owned)
                .collect(),
        })
        .collect()
}

/// What a run tells of a gate. Requests of gates that are not open are not read for that.
pub fn gate_facts(rollout: &Rollout<'_>, gate: &Gate<'_>) -> GateFacts {
    let is_approval = gate.task.is_approval();
    let is_open = gate.state == TaskState::Open;
    let state = match gate.state {
        TaskState::NotReached => GateState::NotReached,
        _ => state(rollout, gate),
    };
    GateFacts {
        stage: gate.stage.to_owned(),
        when: Some(gate.time),
        kind: gate.task.kind.clone(),
        state,
        request: is_approval.then(|| gate.task.approval_request.clone()),
        wait: gate.wait().filter(|_| !is_approval).map(duration::describe),
        since: gate
            .since()
            .filter(|_| !is_approval || gate.state != TaskState::NotReached),
        until: match gate.until().filter(|_| is_open) {
            None => gate.holds_until(),
            until => until,
        },
        ended: gate.ended(),
        answer: gate.own_request().filter(|_| is_open).and_then(answer),
        command: None,
        is_unnoted: is_open && state == GateState::Accepted,
    }
}

/// The clusters from which a gate lets the placement be removed.
pub fn removed<'i>(rollout: &Rollout<'i>, gate: &Gate<'_>) -> Vec<&'i str> {
    let removal = opening(rollout, gate).removal();
    let clusters = removal.into_iter().flat_map(|stage| &stage.clusters);
    clusters.map(|cluster| cluster.name).collect()
}

/// A request that no gate of a known run names. `rollout` is its run, where that exists; `None`
/// where it does not.
pub fn of_request(request: &ApprovalRequest, rollout: Option<&Rollout<'_>>) -> Approval {
    let state = match rollout {
        None => GateState::RunGone,
        Some(_) if request.is_accepted() => GateState::Accepted,
        Some(rollout) if !rollout.is_live() => GateState::RunOver,
        Some(_) => GateState::NoGate,
    };
    Approval {
        run: request.spec.run.clone(),
        placement: rollout.map_or_else(String::new, |rollout| rollout.run.spec.placement.clone()),
        gate: GateFacts {
            stage: request.spec.stage.clone(),
            when: time(request),
            kind: "Approval".to_owned(),
            state,
            request: Some(request.meta.name.clone()),
            since: request.meta.created,
            answer: answer(request),
            ..GateFacts::default()
        },
        phase: rollout.map(|rollout| rollout.phase),
        step: rollout.map_or(ApprovalStep::Wait, |rollout| step(rollout, state, false)),
        removes: Vec::new(),
    }
}

/// Whether clusters lose something before the next gate, with what is in it.
fn loses_next(rollout: &Rollout<'_>) -> bool {
    let is_next = comes_next(rollout);
    let losses = cascading_losses(rollout);
    let mut clusters = losses.iter().flat_map(|it| &it.clusters);
    clusters.any(|name| is_next(name))
}

/// What a person does about an approval of a run, in every command.
fn step(rollout: &Rollout<'_>, state: GateState, removes: bool) -> ApprovalStep {
    use GateState as S;

    let rests = rollout.phase.is_halted() || rollout.phase == Phase::Idle;
    match state {
        S::Pending | S::Ignored | S::Unknown => {
            let alone = would_go_back(rollout).is_empty()
                && overtaken(rollout).is_empty()
                && missing_content(rollout).is_none()
                && lost_content(rollout).is_empty()
                && emptied(rollout).is_empty()
                && !loses_next(rollout)
                && in_the_way_ahead(rollout).is_empty()
                && leaving_ahead(rollout).is_empty()
                && TakenBack::for_run(rollout.inventory, rollout.run).is_none();
            if alone && !rests && !removes {
                ApprovalStep::Approve
            } else {
                ApprovalStep::Look
            }
        }
        // Somebody said no, or nobody can answer.
        S::Withheld | S::Missing | S::Foreign => ApprovalStep::Look,
        S::Approved if rests => ApprovalStep::Look,
        S::Approved
        | S::Accepted
        | S::Done
        | S::NotReached
        | S::RunOver
        | S::RunGone
        | S::NoGate => ApprovalStep::Wait,
    }
}

/// What a person does about an open gate.
pub fn step_at(rollout: &Rollout<'_>, gate: &Gate<'_>) -> ApprovalStep {
    let removes = opening(rollout, gate).removal().is_some();
    step(rollout, state(rollout, gate), removes)
}

fn state(rollout: &Rollout<'_>, gate: &Gate<'_>) -> GateState {
    let is_approval = gate.task.is_approval();
    let request = gate.request.as_ref();
    match gate.state {
        TaskState::Done if is_approval => GateState::Accepted,
        TaskState::Done => GateState::Done,
        TaskState::NotReached if request.is_none_or(Sight::is_absent) => GateState::NotReached,
        _ if !rollout.is_live() => GateState::RunOver,
        _ if gate.foreign => GateState::Foreign,
        TaskState::NotReached => GateState::NotReached,
        TaskState::Open if !is_approval => GateState::Pending,
        TaskState::Open => match request {
            Some(Sight::Present(request)) => answered(request),
            Some(Sight::Unknown(_)) => GateState::Unknown,
            Some(Sight::Absent) | None => GateState::Missing,
        },
    }
}

/// What a request that somebody waits for has been answered.
pub fn answered(request: &ApprovalRequest) -> GateState {
    match request.approved() {
        _ if request.is_accepted() => GateState::Accepted,
        None => GateState::Pending,
        Some(_) if request.counts() => GateState::Approved,
        Some(approved) if approved.is_true() => GateState::Ignored,
        Some(_) => GateState::Withheld,
    }
}

/// On which side of its stage a request stands: its label says so, or its name.
fn time(request: &ApprovalRequest) -> Option<TaskTime> {
    let (run, stage) = (&request.spec.run, &request.spec.stage);
    match request.meta.label(names::TASK_TYPE) {
        Some("beforeStage") => return Some(TaskTime::Before),
        Some("afterStage") => return Some(TaskTime::After),
        _ => {}
    }
    [TaskTime::Before, TaskTime::After]
        .into_iter()
        .find(|time| request.meta.name == format!("{run}-{}-{stage}", time.as_str()))
}

fn answer(request: &ApprovalRequest) -> Option<PersonAnswer> {
    let approved = request.approved()?;
    let (by, reason) = approver(&approved.message).unzip();
    Some(PersonAnswer {
        approves: request.counts() || request.is_accepted(),
        is_too_late: request.is_accepted() && !approved.is_true(),
        at: approved.since,
        by,
        with: writer(request),
        reason: reason.flatten(),
        message: approved.message.clone(),
        observed_generation: approved.observed_generation,
    })
}

/// Who approved and why, where the text says it in so many words: `approved by alice: looks good`.
/// A name may have colons and commas in it, as those of service accounts do.
fn approver(text: &str) -> Option<(String, Option<String>)> {
    const SAID: &str = "approved by ";
    let (start, rest) = text.trim().split_at_checked(SAID.len())?;
    let end = [": ", "; ", ", ", "\n"]
        .iter()
        .filter_map(|end| rest.find(end))
        .min();
    let (who, why) = rest.split_at(end.unwrap_or(rest.len()));
    let who = who.trim().trim_end_matches(['.', ':', ';', ',']);
    let why = why.trim_start_matches([':', ';', ',', ' ', '\n']);
    (start.eq_ignore_ascii_case(SAID) && !who.is_empty()).then(|| {
        let why = Some(why.to_owned()).filter(|why| !why.is_empty());
        (who.to_owned(), why)
    })
}

/// The one program beside KubeFleet's own that wrote the status.
fn writer(request: &ApprovalRequest) -> Option<String> {
    let writers = request.meta.managed.iter();
    let mut writers: Vec<_> = writers
        .filter(|write| write.subresource == "status" && !write.manager.is_empty())
        .filter(|write| !names::HUB_AGENTS.contains(&write.manager.as_str()))
        .map(|write| write.manager.as_str())
        .collect();
    writers.dedup();
    match writers.as_slice() {
        [one] => Some((*one).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::approver;

    #[test]
    fn a_text_may_say_who_and_why() {
        let told = |text| {
            let (who, why) = approver(text)?;
            Some(format!("{who}|{}", why.unwrap_or_default()))
        };
        for (text, wanted) in [
            ("approved by alice", "alice|"),
            ("Approved by alice: looks good", "alice|looks good"),
            ("approved by alice, looks good.", "alice|looks good."),
            ("approved by alice: done: all", "alice|done: all"),
            (
                "approved by system:serviceaccount:ci:release: pipeline 7",
                "system:serviceaccount:ci:release|pipeline 7",
            ),
            ("approved by CN=alice,OU=ops.", "CN=alice,OU=ops|"),
            ("approved by alice:", "alice|"),
        ] {
            assert_eq!(told(text).as_deref(), Some(wanted), "{text}");
        }
        for text in ["approved", "approved by ", "approved by: ", "lgtm", ""] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
