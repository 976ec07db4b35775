//! What state a rollout is in, without the reasons: what `status` shows and `wait` decides on.

mod sentence;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::gaps;
use crate::controller::{self, ClusterTimes, ExpectedWrite, StageEnd, State};
use crate::inventory::{Inventory, Sight};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::object::OWN_API_VERSION;
use crate::kubefleet::{Concept, ConditionStatus, Conditions, duration, reasons};
use crate::report::{NotChecked, Subject, Verdict};
use crate::rollout::approvals::{ApprovalStep, step_at};
use crate::rollout::{ClusterState, Gate, Phase, Progress, Rollout, TaskTime, rollout_started};
use crate::words::{self, CommandLine};

/// The state of a rollout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Always `kubectl-fleet-stage/v1`.
    pub api_version: String,
    /// Always `Status`.
    pub kind: String,
    /// The context of the hub; absent if only one hub was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<String>,
    /// The update run or placement.
    pub target: Subject,
    /// The state of the rollout, as in `diagnose`.
    pub verdict: Verdict,
    /// One sentence, true on its own.
    pub summary: String,
    /// The command that comes next, when there is one.
    #[serde(flatten, with = "words::as_next")]
    #[schemars(with = "words::as_next::NextFields")]
    pub next: Option<CommandLine>,
    /// The update run that the verdict is about; absent for a placement without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunOverview>,
    /// The stages and clusters of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// When its stages are expected to end, without those of which that is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stage_ends: Vec<StageForecast>,
    /// The stage tasks that the run waits for now.
    pub gates: Vec<OpenGate>,
    /// For a placement: its clusters by name, with what they have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Vec<PlacedCluster>>,
    /// What the update run controller is expected to do next; absent if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedWrite>,
    /// Since when the controller has owed a write for too long.
    #[serde(skip)]
    pub silent_since: Option<Timestamp>,
    /// What could not be read, and why.
    pub not_checked: Vec<NotChecked>,
    /// The time for which this is true: now, or the time of the bundle.
    #[schemars(with = "String")]
    pub as_of: Timestamp,
}

/// The update run that a verdict is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RunStatus")]
pub struct RunOverview {
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty for cluster-scoped runs.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The value of `spec.state`; absent if the run has no such field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Whether its stages are computed.
    pub initialized: bool,
    /// Whether it has started its first stage.
    pub started: bool,
    /// Whether its conditions cover its current spec: the controller has processed the last change.
    pub observed: bool,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub created: Option<Timestamp>,
}

/// When a stage is expected to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StageForecast {
    /// The stage.
    pub stage: String,
    #[serde(flatten)]
    pub end: StageEnd,
}

/// A stage task that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenGate {
    /// The stage.
    pub stage: String,
    /// `before` or `after` the stage's clusters.
    pub when: TaskTime,
    /// `Approval` or `TimedWait`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// When a running TimedWait ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// The approval request, for approvals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_request: Option<String>,
    /// The answer; absent for timed waits, and if the request was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<GateState>,
    /// The command that approves.
    #[serde(flatten)]
    pub command: Option<CommandLine>,
}

/// The answer to an approval request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Approval")]
pub enum GateState {
    /// Nothing.
    Pending,
    /// `Approved=False`, which KubeFleet treats as no answer.
    Withheld,
    /// Approved in a way that the controller ignores: for another generation.
    Ignored,
    /// Approved; the controller accepts it at its next reconcile.
    Given,
    /// The request does not exist.
    Missing,
    /// The request under that name belongs to another run or stage.
    Foreign,
}

/// What one cluster of a placement has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacedCluster {
    /// The member cluster.
    pub name: String,
    /// The index of the snapshot that its binding names; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Whether that content is applied; absent if the binding does not say so yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<ConditionTruth>,
    /// Whether it is available; absent if the binding does not say so yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<ConditionTruth>,
    /// Whether its differences are reported, for placements that only report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_reported: Option<ConditionTruth>,
    /// The update run that wrote the binding last, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
    /// Whether the placement is being removed from the cluster.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub removing: bool,
}

/// The status of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum ConditionTruth {
    /// True.
    True,
    /// False.
    False,
    /// Unknown.
    Unknown,
}

impl From<ConditionStatus> for ConditionTruth {
    fn from(status: ConditionStatus) -> Self {
        match status {
            ConditionStatus::True => Self::True,
            ConditionStatus::False => Self::False,
            ConditionStatus::Unknown => Self::Unknown,
        }
    }
}

/// When the stages of the run end, where it goes on by itself or once it is started.
fn stage_ends(cx: &Context<'_>) -> Vec<StageForecast> {
    let Some(rollout) = &cx.rollout else {
        return Vec::new();
    };
    let goes_on = matches!(
        rollout.phase,
        Phase::Initializing | Phase::Idle | Phase::Executing
    );
    let is_doomed = cx.outlook.failure().is_some() || cx.outlook.silence.is_some();
    let times = ClusterTimes::of_placement(cx.inventory);
    let Some(times) = times.filter(|_| goes_on && !is_doomed) else {
        return Vec::new();
    };
    let state = State::new(cx.inventory, rollout.run);
    let ends = controller::forecast(&state, times).into_iter();
    let stages = rollout.stages.iter().zip(ends);
    let known = stages.filter_map(|(stage, end)| Some((stage.status.name.clone(), end?)));
    known
        .map(|(stage, end)| StageForecast { stage, end })
        .collect()
}

/// The sentence about a state.
pub(super) fn sentence_of(cx: &Context<'_>) -> String {
    sentence::summary(cx)
}

impl Status {
    /// For how long the longest of the stuck clusters is in flight, or the controller silent; `None`
    /// where that is unknown.
    pub fn stuck_for(&self) -> Option<jiff::SignedDuration> {
        let stages = self.progress.iter().flat_map(|progress| &progress.stages);
        let stuck = stages
            .flat_map(|stage| {
                let clusters = stage.clusters.iter();
                clusters.map(|cluster| (cluster, cluster.started.or(stage.started)))
            })
            .filter(|(cluster, _)| cluster.state == ClusterState::Stuck);
        let lasting = |since: Timestamp| self.as_of.duration_since(since);
        let stuck: Option<Vec<_>> = stuck.map(|(_, since)| since.map(lasting)).collect();
        stuck?.into_iter().max().or(self.silent_since.map(lasting))
    }

    /// The state of what was collected. A shallow walk is enough. When stages end is left open: that
    /// takes playing the run.
    pub fn new(inventory: &Inventory) -> Self {
        Self::of(&super::understand(inventory))
    }

    /// The same with when the stages end, as far as what was collected tells.
    pub fn with_ends(inventory: &Inventory) -> Self {
        let cx = super::understand(inventory);
        Self {
            stage_ends: stage_ends(&cx),
            ..Self::of(&cx)
        }
    }

    fn of(cx: &Context<'_>) -> Self {
        let inventory = cx.inventory;
        let gates = cx.rollout.as_ref().map(|rollout| {
            let open = rollout.open_gates().filter(|_| rollout.is_live());
            open.map(|gate| open_gate(cx, rollout, gate)).collect()
        });
        let is_placement = inventory.target.kind.concept() == Concept::Placement;
        Self {
            api_version: OWN_API_VERSION.to_owned(),
            kind: "Status".to_owned(),
            hub: None,
            target: Subject::from(&inventory.target),
            verdict: cx.verdict,
            summary: sentence::with_cause(cx),
            next: sentence::next(cx),
            run: cx.rollout.as_ref().map(run_status),
            progress: cx.rollout.as_ref().map(Rollout::progress),
            stage_ends: Vec::new(),
            gates: gates.unwrap_or_default(),
            clusters: is_placement.then(|| placed(inventory)),
            expected: cx.outlook.expected(),
            silent_since: cx.outlook.silence.as_ref().map(|silence| silence.since),
            not_checked: gaps::not_checked(cx),
            as_of: duration::whole_seconds(inventory.now),
        }
    }

    /// Adds what an inventory tells of what comes next that has more than the state needs.
    pub fn look_ahead(&mut self, inventory: &Inventory) {
        self.expected = controller::expected(inventory);
        self.stage_ends = stage_ends(&super::understand(inventory));
    }

    /// The same where several hubs were asked: its commands lead to its own.
    #[must_use]
    pub fn on_hub(mut self, context: &str) -> Self {
        let lead = |command: &mut Option<CommandLine>| {
            *command = command.take().map(|command| command.on_hub(context));
        };
        lead(&mut self.next);
        self.gates
            .iter_mut()
            .for_each(|gate| lead(&mut gate.command));
        self.hub = Some(context.to_owned());
        self
    }

    /// What it is about.
    pub fn about(&self) -> String {
        self.target.on_hub(self.hub.as_deref())
    }

    /// Whether nothing but the time differs: the clock, and the words that count it.
    pub fn is_same_state(&self, other: &Self) -> bool {
        let timeless = |status: &Self| Self {
            summary: String::new(),
            stage_ends: Vec::new(),
            as_of: Timestamp::UNIX_EPOCH,
            ..status.clone()
        };
        timeless(self) == timeless(other)
    }

    /// Why a run that is to stop cannot, and what ends that.
    pub fn why_no_stop(&self) -> Option<&'static str> {
        let state = self.run.as_ref().and_then(|run| run.state.as_deref());
        if self.verdict != Verdict::Stuck || state != Some("Stop") {
            return None;
        }
        Some(if self.silent_since.is_some() {
            "the controller does not respond: check the hub agent"
        } else if self.waits_for_removal() {
            "resume the run or delete it"
        } else {
            "a stuck cluster blocks the stop: fix it, or delete the run"
        })
    }

    /// Whether the run has clusters left from which it has still to remove the placement, and
    /// nothing else.
    fn waits_for_removal(&self) -> bool {
        self.progress.as_ref().is_some_and(|progress| {
            let left = |removal: bool| {
                let stages = progress
                    .stages
                    .iter()
                    .filter(move |it| it.deletes == removal);
                stages.flat_map(|stage| &stage.clusters)
            };
            left(false).all(|cluster| cluster.state == ClusterState::Done)
                && left(true).any(|cluster| cluster.state == ClusterState::Pending)
        })
    }

    /// Whether the run is over.
    pub const fn is_over(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::Succeeded | Verdict::Failed | Verdict::InitializationFailed
        )
    }
}

fn run_status(rollout: &Rollout<'_>) -> RunOverview {
    let object = rollout.run.object();
    RunOverview {
        kind: object.kind.name().to_owned(),
        namespace: object.namespace,
        name: object.name,
        state: rollout.run.spec.state.clone(),
        initialized: rollout.run.status.conditions.is_true(reasons::INITIALIZED),
        started: rollout.has_begun(),
        observed: rollout.is_current(),
        created: rollout.run.meta.created,
    }
}

fn open_gate(cx: &Context<'_>, rollout: &Rollout<'_>, gate: &Gate<'_>) -> OpenGate {
    let request = gate.task.approval_request.as_str();
    let approval = match &gate.request {
        Some(Sight::Present(_)) if gate.foreign => Some(GateState::Foreign),
        request => request.as_ref().and_then(approval),
    };
    let approves = gate.task.is_approval()
        && cx.outlook.aborts(cx.verdict).is_none()
        && step_at(rollout, gate) == ApprovalStep::Approve;
    OpenGate {
        stage: gate.stage.to_owned(),
        when: gate.time,
        kind: gate.task.kind.clone(),
        since: gate.since(),
        until: gate.until(),
        approval_request: gate.task.is_approval().then(|| request.to_owned()),
        approval,
        command: approves.then(|| cx.command("approve").arg(request)),
    }
}

fn approval(request: &Sight<ApprovalRequest>) -> Option<GateState> {
    let request = match request {
        Sight::Present(request) => request,
        Sight::Absent => return Some(GateState::Missing),
        Sight::Unknown(_) => return None,
    };
    Some(match request.approved() {
        _ if request.counts() || request.is_accepted() => GateState::Given,
        None => GateState::Pending,
        Some(approved) if approved.is_true() => GateState::Ignored,
        Some(_) => GateState::Withheld,
    })
}

/// What the clusters of a placement have, by name.
fn placed(inventory: &Inventory) -> Vec<PlacedCluster> {
    let mut names: Vec<_> = inventory
        .bindings
        .iter()
        .map(|binding| binding.spec.cluster.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| inventory.binding(name))
        .map(placed_cluster)
        .collect()
}

fn placed_cluster(binding: &Binding) -> PlacedCluster {
    let truth = |kind| {
        let condition = binding.current(kind)?;
        Some(ConditionTruth::from(condition.status))
    };
    PlacedCluster {
        name: binding.spec.cluster.clone(),
        snapshot: binding.snapshot_index().map(str::to_owned),
        applied: truth(reasons::APPLIED),
        available: truth(reasons::AVAILABLE),
        diff_reported: truth(reasons::DIFF_REPORTED),
        written_by: rollout_started(binding).run,
        removing: binding.meta.is_deleting() || binding.is_unscheduled(),
    }
}

impl RunOverview {
    /// Whether it is the same run, as far as its name tells.
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.namespace == other.namespace
            && self.created == other.created
    }
}

impl OpenGate {
    /// Whether it is an approval that still needs a person.
    pub fn needs_a_person(&self) -> bool {
        self.kind == "Approval" && self.approval != Some(GateState::Given)
    }
}
