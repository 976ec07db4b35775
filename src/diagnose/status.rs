//! What state a rollout is in, without the reasons: what `status` shows and `wait` decides on.

mod sentence;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::controller::{self, ClusterTimes, ExpectedWrite, State};
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::{gaps, gate, overrides};
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::{Concept, ConditionStatus, duration, reasons};
use crate::report::{NotChecked, RunFacts, Subject, TypeMeta, Verdict};
use crate::rollout::approvals::{ApprovalStep, gate_facts, step_at};
use crate::rollout::content::{missing_content, would_go_back};
use crate::rollout::sent::{reported, sent_index};
use crate::rollout::{
    ClusterState, ClusterView, Gate, GateFacts, Phase, Rollout, StageView, Undelivered,
    rollout_started,
};
use crate::words::{self, CommandLine, distinct};

/// The state of a rollout.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    #[serde(flatten)]
    pub meta: TypeMeta,
    /// The context of the hub; absent if only one hub was asked.
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
    pub run: Option<RunFacts>,
    /// The gates that the run waits for now.
    pub gates: Vec<GateFacts>,
    /// For a placement: its clusters by name, with what they have.
    pub clusters: Option<Vec<PlacedCluster>>,
    /// What the update run controller is expected to do next; absent if that is unknown.
    pub expected: Option<ExpectedWrite>,
    /// Since when the controller has owed a write for too long.
    #[serde(skip)]
    pub silent_since: Option<Timestamp>,
    /// Whether a run that a person lets continue does other than that, as far as was seen.
    #[serde(skip)]
    pub is_hindered: bool,
    /// What could not be read, and why.
    pub not_checked: Vec<NotChecked>,
    /// The time for which this is true: now, or the time of the bundle.
    pub as_of: Timestamp,
}

/// What one cluster of a placement has.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacedCluster {
    /// The member cluster.
    pub name: String,
    /// The index of the snapshot that its binding names; absent before the first.
    pub snapshot: Option<String>,
    /// Why the cluster does not have that snapshot: nothing of it is sent, or it is only compared.
    pub undelivered: Option<Undelivered>,
    /// Whether that content is applied; absent if the binding does not say so yet.
    pub applied: Option<ConditionStatus>,
    /// Whether it is available; absent if the binding does not say so yet.
    pub available: Option<ConditionStatus>,
    /// Whether its differences are reported, for placements that only report them.
    pub diff_reported: Option<ConditionStatus>,
    /// The update run that wrote the binding last, if it says so.
    pub written_by: Option<String>,
    /// Whether the placement is being removed from the cluster.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub removing: bool,
    /// Whether the scheduler no longer selects the cluster: it keeps what it has until a run removes
    /// it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unselected: bool,
}

/// Adds when the stages of the run end, where it goes on by itself or once it is started.
fn add_ends(run: Option<&mut RunFacts>, cx: &DiagnosisContext<'_>) {
    let (Some(rollout), Some(run)) = (&cx.rollout, run) else {
        return;
    };
    let goes_on = matches!(
        rollout.phase,
        Phase::Initializing | Phase::Idle | Phase::Executing
    );
    let is_doomed = cx.outlook.failure().is_some()
        || cx.outlook.silence.is_some()
        || cx.outlook.delay.is_some()
        || missing_content(rollout).is_some();
    let times = ClusterTimes::of_placement(cx.inventory);
    let Some(times) = times.filter(|_| goes_on && !is_doomed) else {
        return;
    };
    let state = State::new(cx.inventory, rollout.run);
    let ends = controller::forecast(&state, times);
    // Nobody knows when a cluster is done that fails, that an override blocks, or whose agent reports
    // nothing good.
    let blocked = overrides::holds_ahead(cx).map_or(&[][..], |it| &it.clusters);
    let is_blocked = |name: &str| blocked.iter().any(|it| it == name);
    let is_held = |cluster: &ClusterView<'_>| {
        cluster.state != ClusterState::Done
            && (sentence::is_delayed(cx, cluster) || is_blocked(cluster.name))
    };
    let goes_well = |stage: &&StageView<'_>| !stage.clusters.iter().any(is_held);
    let well = rollout.stages.iter().take_while(goes_well);
    for ((stage, end), _) in run.stages.iter_mut().zip(ends).zip(well) {
        stage.ends = end;
    }
}

/// The sentence about a state.
pub(super) fn sentence_of(cx: &DiagnosisContext<'_>) -> String {
    sentence::summary(cx)
}

impl Status {
    /// For how long the longest of the stuck clusters is in flight, or the controller silent; `None`
    /// where that is unknown.
    pub fn stuck_for(&self) -> Option<jiff::SignedDuration> {
        let stages = self.run.iter().flat_map(|run| &run.stages);
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
        Self::of(&crate::diagnose::understand(inventory))
    }

    /// The same with when the stages end, as far as what was collected tells.
    pub fn with_ends(inventory: &Inventory) -> Self {
        let cx = crate::diagnose::understand(inventory);
        let mut status = Self::of(&cx);
        add_ends(status.run.as_mut(), &cx);
        status
    }

    fn of(cx: &DiagnosisContext<'_>) -> Self {
        let inventory = cx.inventory;
        let gates = cx.rollout.as_ref().map(|rollout| {
            let open = rollout.open_gates().filter(|_| rollout.is_live());
            open.map(|gate| open_gate(cx, rollout, gate)).collect()
        });
        let is_placement = inventory.target.kind.concept() == Concept::Placement;
        Self {
            meta: TypeMeta::new("Status"),
            hub: None,
            target: Subject::from(&inventory.target),
            verdict: cx.verdict,
            summary: sentence::with_cause(cx),
            next: sentence::next_command(cx),
            run: cx.run_facts(),
            gates: gates.unwrap_or_default(),
            clusters: is_placement
                .then(|| placed(inventory))
                .filter(|placed| !placed.is_empty() || inventory.bindings.is_complete()),
            expected: cx.outlook.expected(),
            silent_since: cx.outlook.silence.as_ref().map(|silence| silence.since),
            is_hindered: sentence::is_hindered(cx)
                || cx.rollout.iter().any(|it| !would_go_back(it).is_empty()),
            not_checked: gaps::not_checked(cx),
            as_of: duration::whole_seconds(inventory.now),
        }
    }

    /// Adds what an inventory tells of what comes next that has more than the state needs.
    pub fn look_ahead(&mut self, inventory: &Inventory) {
        let cx = crate::diagnose::understand(inventory);
        self.expected = cx.outlook.expected();
        add_ends(self.run.as_mut(), &cx);
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

    pub fn about(&self) -> String {
        self.target.on_hub(self.hub.as_deref())
    }

    /// Whether nothing but the time differs: the clock, and the words that count it.
    pub fn is_same_state(&self, other: &Self) -> bool {
        let timeless = |status: &Self| {
            let mut status = status.clone();
            status.summary = String::new();
            status.as_of = Timestamp::UNIX_EPOCH;
            let stages = status.run.iter_mut().flat_map(|run| &mut run.stages);
            stages.for_each(|stage| stage.ends = None);
            status
        };
        timeless(self) == timeless(other)
    }

    /// Why a run that is to stop cannot, and what ends that.
    pub fn why_no_stop(&self) -> Option<&'static str> {
        let run = self.run.as_ref();
        let state = run.and_then(|run| run.requested_state.as_deref());
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
        self.run.as_ref().is_some_and(|run| {
            let left = |removal: bool| {
                let stages = run.stages.iter();
                let stages = stages.filter(move |it| it.deletes == removal);
                stages.flat_map(|stage| &stage.clusters)
            };
            left(false).all(|cluster| cluster.state == ClusterState::Done)
                && left(true).any(|cluster| cluster.state == ClusterState::NotReached)
        })
    }

    /// Whether the run is over.
    pub const fn is_over(&self) -> bool {
        self.verdict.is_over()
    }
}

/// A gate that is open, and the command that approves.
fn open_gate(cx: &DiagnosisContext<'_>, rollout: &Rollout<'_>, gate: &Gate<'_>) -> GateFacts {
    let approves = gate.task.is_approval()
        && cx.outlook.aborts(cx.verdict).is_none()
        && gate::obstacle(cx).is_none()
        && step_at(rollout, gate) == ApprovalStep::Approve;
    let request = &gate.task.approval_request;
    GateFacts {
        command: approves.then(|| cx.command("approve").arg(request)),
        ..gate_facts(rollout, gate)
    }
}

/// What the clusters of a placement have, by name.
fn placed(inventory: &Inventory) -> Vec<PlacedCluster> {
    let bindings = inventory.bindings.iter();
    let names = bindings.map(|binding| binding.spec.cluster.as_str());
    distinct(names.filter(|name| !name.is_empty()))
        .into_iter()
        .filter_map(|name| inventory.binding(name))
        .map(|binding| placed_cluster(inventory, binding))
        .collect()
}

fn placed_cluster(inventory: &Inventory, binding: &Binding) -> PlacedCluster {
    let truth = |kind| reported(inventory, binding, kind).map(|it| it.status);
    PlacedCluster {
        name: binding.spec.cluster.clone(),
        snapshot: sent_index(inventory, binding).map(str::to_owned),
        undelivered: Undelivered::of(binding),
        applied: truth(reasons::APPLIED),
        available: truth(reasons::AVAILABLE),
        diff_reported: truth(reasons::DIFF_REPORTED),
        written_by: rollout_started(binding).run,
        removing: binding.meta.is_deleting(),
        unselected: binding.is_unscheduled() && !binding.meta.is_deleting(),
    }
}
