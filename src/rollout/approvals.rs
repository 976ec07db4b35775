//! Approvals: what has become of each request, and who gave them as far as the objects tell.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::content::{overtaken, would_go_back};
use super::{Gate, Phase, Rollout, TaskState, TaskTime};
use crate::inventory::Sight;
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::{Conditions, names, reasons};

/// The state of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum ApprovalState {
    /// Pending: requested and not answered.
    Pending,
    /// Approved for a generation that is not the request's current one: KubeFleet ignores it.
    Ignored,
    /// `Approved` is not `True`: KubeFleet treats that as no answer.
    Withheld,
    /// Approved, and not accepted by the controller yet.
    Approved,
    /// Approved and accepted: it cannot be reverted.
    Accepted,
    /// The run waits for a request that does not exist.
    Missing,
    /// The request under that name belongs to another run or stage.
    Foreign,
    /// The run has not requested it yet.
    NotReached,
    /// The run ended before it was approved: nothing reads it.
    RunOver,
    /// Its run no longer exists.
    RunGone,
    /// No gate of its run asks for it: nothing reads it.
    NoGate,
    /// The request could not be read.
    Unknown,
}

impl ApprovalState {
    /// The words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ignored => "ignored",
            Self::Withheld => "withheld",
            Self::Approved => "approved",
            Self::Accepted => "accepted",
            Self::Missing => "missing",
            Self::Foreign => "foreign",
            Self::NotReached => "not reached",
            Self::RunOver => "run over",
            Self::RunGone => "run gone",
            Self::NoGate => "no gate",
            Self::Unknown => "unknown",
        }
    }

    /// Whether a person has to do something before the run continues.
    pub const fn needs_a_person(self) -> bool {
        matches!(self, Self::Pending | Self::Ignored | Self::Withheld)
    }
}

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
    /// The run's name.
    pub run: String,
    /// The placement's name; empty where the run is not known.
    pub placement: String,
    pub stage: String,
    /// Before or after the stage's clusters, where that is known.
    pub time: Option<TaskTime>,
    /// The request's name; it is known before the request exists.
    pub request: String,
    /// Its state.
    pub state: ApprovalState,
    /// Where its run is, when there is one.
    pub phase: Option<Phase>,
    /// What a person does about it.
    pub step: ApprovalStep,
    /// Since when it has been pending.
    pub asked: Option<Timestamp>,
    pub answer: Option<PersonAnswer>,
    /// The clusters from which it removes the placement, where it is the gate of that.
    pub removes: Vec<String>,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonAnswer {
    /// When, by the answer's own word.
    pub at: Option<Timestamp>,
    /// Who, where the text says so.
    pub by: Option<String>,
    /// The program that wrote it, where that is recorded.
    pub with: Option<String>,
    /// The reason that stands behind the name.
    pub reason: Option<String>,
    /// The text.
    pub message: String,
    /// Why an ignored answer is ignored: the generation that it names.
    pub observed_generation: Option<i64>,
}

/// The approvals of a run, in the order of its stages.
pub fn of_run(rollout: &Rollout<'_>) -> Vec<Approval> {
    rollout
        .stages
        .iter()
        .flat_map(|stage| &stage.gates)
        .filter(|gate| gate.task.is_approval())
        .map(|gate| {
            let own = gate.own_request();
            Approval {
                run: rollout.run.meta.name.clone(),
                placement: rollout.run.spec.placement.clone(),
                stage: gate.stage.to_owned(),
                time: Some(gate.time),
                request: gate.task.approval_request.clone(),
                state: state(rollout, gate),
                phase: Some(rollout.phase),
                step: step_at(rollout, gate),
                removes: removed(rollout, gate).map(str::to_owned).collect(),
                asked: own.and_then(|request| request.meta.created).or_else(|| {
                    let created = gate
                        .task
                        .conditions
                        .condition(reasons::APPROVAL_REQUEST_CREATED);
                    created.filter(|created| created.is_true())?.since
                }),
                answer: own.and_then(answer),
            }
        })
        .collect()
}

/// The clusters from which a gate lets the placement be removed.
pub fn removed<'i>(rollout: &Rollout<'i>, gate: &Gate<'_>) -> impl Iterator<Item = &'i str> {
    let removes = gate.removes;
    let stages = rollout.stages.iter().filter(move |_| removes);
    stages
        .filter(|stage| stage.deletes)
        .flat_map(|stage| &stage.clusters)
        .map(|cluster| cluster.name)
}

/// A request that no gate of a known run names. `rollout` is its run, where that exists; `None`
/// where it does not.
pub fn of_request(request: &ApprovalRequest, rollout: Option<&Rollout<'_>>) -> Approval {
    let state = match rollout {
        None => ApprovalState::RunGone,
        Some(_) if request.is_accepted() => ApprovalState::Accepted,
        Some(rollout) if !rollout.is_live() => ApprovalState::RunOver,
        Some(_) => ApprovalState::NoGate,
    };
    Approval {
        run: request.spec.run.clone(),
        placement: rollout.map_or_else(String::new, |rollout| rollout.run.spec.placement.clone()),
        stage: request.spec.stage.clone(),
        time: time(request),
        request: request.meta.name.clone(),
        state,
        phase: rollout.map(|rollout| rollout.phase),
        step: rollout.map_or(ApprovalStep::Wait, |rollout| step(rollout, state, false)),
        removes: Vec::new(),
        asked: request.meta.created,
        answer: answer(request),
    }
}

/// What a person does about an approval of a run, in every command.
fn step(rollout: &Rollout<'_>, state: ApprovalState, removes: bool) -> ApprovalStep {
    use ApprovalState as S;

    let rests = matches!(rollout.phase, Phase::Stopped | Phase::Stopping);
    match state {
        S::Pending | S::Ignored | S::Unknown => {
            let alone = would_go_back(rollout).is_empty() && overtaken(rollout).is_empty();
            if alone && !rests && !removes {
                ApprovalStep::Approve
            } else {
                ApprovalStep::Look
            }
        }
        // Somebody said no, or nobody can answer.
        S::Withheld | S::Missing | S::Foreign => ApprovalStep::Look,
        S::Approved if rests => ApprovalStep::Look,
        S::Approved | S::Accepted | S::NotReached | S::RunOver | S::RunGone | S::NoGate => {
            ApprovalStep::Wait
        }
    }
}

/// What a person does about an open gate.
pub fn step_at(rollout: &Rollout<'_>, gate: &Gate<'_>) -> ApprovalStep {
    step(rollout, state(rollout, gate), gate.removes)
}

fn state(rollout: &Rollout<'_>, gate: &Gate<'_>) -> ApprovalState {
    match gate.state {
        TaskState::Done => ApprovalState::Accepted,
        _ if !rollout.is_live() => ApprovalState::RunOver,
        _ if gate.foreign => ApprovalState::Foreign,
        TaskState::Pending => ApprovalState::NotReached,
        TaskState::Open | TaskState::Approved => match &gate.request {
            Some(Sight::Present(request)) => answered(request),
            Some(Sight::Unknown(_)) => ApprovalState::Unknown,
            Some(Sight::Absent) | None => ApprovalState::Missing,
        },
    }
}

/// What a request that somebody waits for has been answered.
pub fn answered(request: &ApprovalRequest) -> ApprovalState {
    match request.approved() {
        _ if request.is_accepted() => ApprovalState::Accepted,
        None => ApprovalState::Pending,
        Some(_) if request.counts() => ApprovalState::Approved,
        Some(approved) if approved.is_true() => ApprovalState::Ignored,
        Some(_) => ApprovalState::Withheld,
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
    let mut writers: Vec<_> = request
        .meta
        .managed
        .iter()
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
            (
                "approved by alice: done: all of it",
                "alice|done: all of it",
            ),
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
