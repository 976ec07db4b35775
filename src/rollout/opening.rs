//! What passing a gate lets happen, up to the next task that holds the run. The model of the
//! controller comes to the same where it is played, which a test checks.
//! Source: updaterun/execution.go:execute.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{AgentVersion, ClusterState, Gate, Rollout, StageView, TaskState, TaskTime};
use crate::kubefleet::{Conditions, reasons};

/// What passing a gate lets happen.
#[derive(Debug, Default)]
pub struct GateOpening<'r, 'i> {
    /// The other tasks at the same place: the run waits for them too.
    pub held_by: Vec<&'r Gate<'i>>,
    /// The stages whose clusters are updated, or removed, without another gate.
    pub stages: Vec<&'r StageView<'i>>,
    /// The task that holds the run after them; `None` where it then ends.
    pub next: Option<&'r Gate<'i>>,
    /// When that ends, where it is a timed wait that runs already.
    pub until: Option<Timestamp>,
    /// A stage without clusters that the run passes with its tasks, unless its KubeFleet is older than
    /// what was read tells.
    pub passed: Option<&'r StageView<'i>>,
}

impl<'r, 'i> GateOpening<'r, 'i> {
    /// The deletion stage, where it has clusters left and no update comes before it.
    pub fn removal(&self) -> Option<&'r StageView<'i>> {
        self.stages
            .first()
            .copied()
            .filter(|stage| is_removal(stage))
    }

    /// The deletion stage, where it has clusters left and follows updates without another gate.
    pub fn later_removal(&self) -> Option<&'r StageView<'i>> {
        let mut later = self.stages.iter().copied().skip(1);
        later.find(|stage| is_removal(stage))
    }
}

fn is_removal(stage: &StageView<'_>) -> bool {
    let is_left = |state| state != ClusterState::Done;
    stage.deletes && stage.clusters.iter().any(|it| is_left(it.state))
}

/// What passing a gate of a run lets happen.
pub fn opening<'r, 'i>(rollout: &'r Rollout<'i>, gate: &Gate<'_>) -> GateOpening<'r, 'i> {
    let mut opening = GateOpening::default();
    // Not by name: nothing keeps two stages from having one.
    let is_own = |it: &Gate<'_>| std::ptr::eq(it.task, gate.task);
    let of = |stage: &StageView<'_>| stage.gates.iter().any(is_own);
    let Some(at) = rollout.stages.iter().position(of) else {
        return opening;
    };
    for (place, stage) in rollout.stages.iter().enumerate().skip(at) {
        let is_first = place == at;
        if is_first {
            let others = closed((rollout, gate), stage, gate.time);
            let others = others.filter(|it| !is_own(it));
            opening.held_by.extend(others);
        } else if stage.clusters.is_empty() && (stage.deletes || skips_empty(rollout).0) {
            let holds = !stage.deletes && !stage.gates.is_empty();
            if holds && skips_empty(rollout).1 {
                opening.passed = opening.passed.or(Some(stage));
            }
            continue;
        }
        if !is_first {
            opening.next = closed((rollout, gate), stage, TaskTime::Before).next();
        }
        if opening.next.is_some() {
            break;
        }
        if is_first && gate.time == TaskTime::After {
            continue;
        }
        if !stage.clusters.is_empty() {
            opening.stages.push(stage);
        }
        let runs = |it: &Gate<'_>| runs_until(stage, it).filter(|_| is_first);
        let mut after = closed((rollout, gate), stage, TaskTime::After);
        opening.next = after.find(|it| runs(it).is_none_or(|until| until > rollout.now));
        if let Some(next) = opening.next {
            opening.until = runs(next);
            break;
        }
    }
    opening
}

/// The clusters that a run which waits at a gate comes to before it asks for an approval again; `None` for one that waits
/// at none.
pub fn before_next_gate<'i>(rollout: &Rollout<'i>) -> Option<BTreeSet<&'i str>> {
    let mut opening = opening(rollout, rollout.open_gates().next()?);
    let mut reached = BTreeSet::new();
    loop {
        let clusters = opening.stages.iter().flat_map(|stage| &stage.clusters);
        reached.extend(clusters.map(|cluster| cluster.name));
        // A timed wait asks nobody, unless an approval is at the same place.
        let Some(wait) = opening.next.filter(|it| !it.task.is_approval()) else {
            return Some(reached);
        };
        opening = self::opening(rollout, wait);
        if opening.held_by.iter().any(|it| it.task.is_approval()) {
            return Some(reached);
        }
    }
}

/// Whether a run comes to a cluster before it asks for an approval again; one that waits at no gate may come to any.
pub fn comes_next<'i>(rollout: &Rollout<'i>) -> impl Fn(&str) -> bool + use<'i> {
    let next = before_next_gate(rollout);
    move |name| next.as_ref().is_none_or(|it| it.contains(name))
}

/// When a timed wait after a stage without clusters ends, while the stage waits at a gate. The wait counts from the
/// stage's Progressing condition, which the gate has written and no cluster changes.
/// Source: updaterun/execution.go:checkAfterStageTasksStatus.
fn runs_until(stage: &StageView<'_>, gate: &Gate<'_>) -> Option<Timestamp> {
    let progressing = stage.status.conditions.condition(reasons::PROGRESSING)?;
    let waits = stage.clusters.is_empty() && progressing.reason == reasons::STAGE_WAITING;
    let since = progressing.since.filter(|_| waits)?;
    let wait = gate.wait().filter(|_| gate.task.is_timed_wait())?;
    since.checked_add(wait).ok()
}

/// Whether stages without clusters are passed with all their tasks, and whether that is guessed.
fn skips_empty(rollout: &Rollout<'_>) -> (bool, bool) {
    let (version, is_guess) = AgentVersion::or_guess(rollout.inventory, rollout.run);
    (version >= AgentVersion::Next, is_guess)
}

/// The tasks of a stage at one side of its clusters that are not over once a gate is passed. A request that is approved
/// before the run comes to its gate holds nothing, and stages of one name share theirs.
/// Source: updaterun/execution.go:handleStageApprovalTask.
fn closed<'r, 'i>(
    (rollout, passed): (&'r Rollout<'i>, &Gate<'_>),
    stage: &'r StageView<'i>,
    time: TaskTime,
) -> impl Iterator<Item = &'r Gate<'i>> {
    let request = passed.task.approval_request.clone();
    let is_over = move |gate: &Gate<'_>| {
        let is_shared = !request.is_empty() && gate.task.approval_request == request;
        is_shared
            || gate.state == TaskState::Done
            || gate.is_approved_ahead()
            || gate.ends_at().is_some_and(|until| until <= rollout.now)
    };
    let gates = stage.gates.iter();
    gates.filter(move |gate| gate.time == time && !is_over(gate))
}
