//! The history for programs.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::between;
use super::notes::HistoryNote;
use crate::diagnose;
use crate::kubefleet::object::OWN_API_VERSION;
use crate::kubefleet::{ObjectRef, duration};
use crate::report::{NotChecked, Subject, Verdict};
use crate::rollout::approvals::{Approval, ApprovalState, of_run};
use crate::rollout::history::{History, RunEpisode, VersionHolding};
use crate::rollout::{ClusterState, Gate, StageState, StageView, TaskState, TaskTime};

/// What happened on a placement.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryView {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: String,
    /// Always `History`.
    kind: String,
    /// The placement.
    placement: Subject,
    /// The runs, oldest first.
    runs: Vec<RunView>,
    /// What the clusters have now, by version, then writer.
    clusters: Vec<HoldingView>,
    /// What a person should know: what happened, what the state is, and what may happen.
    notes: Vec<HistoryNote>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// One run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunView {
    /// Its name.
    name: String,
    /// Whether it belongs to an earlier placement of the same name, which was deleted: its
    /// snapshots no longer exist.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    earlier_placement: bool,
    /// Its state.
    verdict: Verdict,
    /// Its strategy.
    strategy: String,
    /// The index of the snapshot that it rolls out; absent until it is initialized.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    /// The index in its spec; absent if it requests the current content.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_snapshot: Option<String>,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    created: Option<Timestamp>,
    /// When it started its first cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    started: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    ended: Option<Timestamp>,
    /// From its first cluster to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    took_seconds: Option<i64>,
    /// Whether nothing was applied: clusters are done when their differences are reported.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_compares: bool,
    /// Clusters done, over all stages.
    done: usize,
    /// Clusters in all stages.
    total: usize,
    /// The clusters that it completed and that still have its version.
    still_on: Vec<String>,
    /// The clusters that it completed and that have another version now.
    replaced_on: Vec<String>,
    /// Its stages in order; the deletion stage comes last, if it has clusters.
    stages: Vec<HistoryStageItem>,
}

/// One stage of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StageItem")]
struct HistoryStageItem {
    /// Its name.
    name: String,
    /// Whether the placement is removed from these clusters instead of updated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deletes: bool,
    /// Its state.
    state: StageState,
    /// Clusters done.
    done: usize,
    /// Clusters in it.
    total: usize,
    /// When its first cluster was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    started: Option<Timestamp>,
    /// When it was completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    ended: Option<Timestamp>,
    /// The seconds between start and end.
    #[serde(skip_serializing_if = "Option::is_none")]
    took_seconds: Option<i64>,
    /// Its approvals.
    approvals: Vec<ApprovalView>,
    /// Its timed waits.
    waits: Vec<WaitView>,
}

/// One approval.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ApprovalView {
    /// `before` or `after` the stage's clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<TaskTime>,
    /// The request's name.
    request: String,
    /// Its state.
    state: ApprovalState,
    /// Since when it has been pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    asked: Option<Timestamp>,
    /// When it was answered, according to the answer's own time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    answered: Option<Timestamp>,
    /// Who answered, if the answer's text says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// The program that wrote the answer, if that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<String>,
    /// The answer's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// One timed wait.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WaitView {
    /// `before` or `after` the stage's clusters.
    when: TaskTime,
    /// Its state.
    state: TaskState,
    /// How long it takes, as a Go duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<String>,
}

/// Clusters that have the same version from the same run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HoldingView {
    /// The index of the version; absent if the bindings name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    /// The run that wrote it last, where the bindings say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    written_by: Option<String>,
    /// When the first of these clusters was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    since: Option<Timestamp>,
    /// The clusters.
    clusters: Vec<String>,
    /// How many of them have it available.
    available: usize,
}

fn filled(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn seconds(start: Option<Timestamp>, end: Option<Timestamp>) -> Option<i64> {
    between(start, end).map(|took| took.as_secs())
}

fn owned<'c>(names: impl IntoIterator<Item = &'c str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

impl HistoryView {
    pub(super) fn new(
        placement: &ObjectRef,
        history: &History<'_>,
        notes: Vec<HistoryNote>,
        not_checked: Vec<NotChecked>,
    ) -> Self {
        Self {
            api_version: OWN_API_VERSION.to_owned(),
            kind: "History".to_owned(),
            placement: Subject::from(placement),
            runs: history.runs.iter().map(run).collect(),
            clusters: history.now.iter().map(holding).collect(),
            notes,
            not_checked,
        }
    }
}

fn run(episode: &RunEpisode<'_>) -> RunView {
    let rollout = &episode.rollout;
    let run = rollout.run;
    let (started, ended) = (rollout.started(), rollout.ended());
    let approvals = of_run(rollout);
    let done = rollout
        .clusters()
        .filter(|cluster| cluster.state == ClusterState::Done);
    RunView {
        name: run.meta.name.clone(),
        earlier_placement: episode.earlier,
        verdict: diagnose::verdict(rollout),
        strategy: run.spec.strategy.clone(),
        snapshot: filled(&run.status.snapshot_index),
        asked_snapshot: filled(&run.spec.snapshot_index),
        created: run.meta.created,
        started,
        ended,
        took_seconds: seconds(started, ended),
        only_compares: rollout.only_compares(),
        done: done.count(),
        total: rollout.clusters().count(),
        still_on: owned(episode.holds.iter().copied()),
        replaced_on: owned(episode.replaced.iter().map(|replaced| replaced.cluster)),
        stages: rollout
            .stages
            .iter()
            .filter(|stage| !stage.deletes || !stage.clusters.is_empty())
            .map(|stage| self::stage(stage, &approvals))
            .collect(),
    }
}

fn stage(stage: &StageView<'_>, approvals: &[Approval]) -> HistoryStageItem {
    let done = stage
        .clusters
        .iter()
        .filter(|cluster| cluster.state == ClusterState::Done);
    let (started, ended) = (stage.status.started, stage.status.ended);
    let waits = stage.gates.iter().filter(|gate| gate.task.is_timed_wait());
    HistoryStageItem {
        name: stage.name().to_owned(),
        deletes: stage.deletes,
        state: stage.state,
        done: done.count(),
        total: stage.clusters.len(),
        started,
        ended,
        took_seconds: seconds(started, ended),
        approvals: approvals
            .iter()
            .filter(|approval| approval.stage == stage.status.name)
            .map(approval)
            .collect(),
        waits: waits.map(wait).collect(),
    }
}

fn approval(approval: &Approval) -> ApprovalView {
    let answer = approval.answer.as_ref();
    ApprovalView {
        when: approval.time,
        request: approval.request.clone(),
        state: approval.state,
        asked: approval.asked,
        answered: answer.and_then(|answer| answer.at),
        by: answer.and_then(|answer| answer.by.clone()),
        with: answer.and_then(|answer| answer.with.clone()),
        message: answer.and_then(|answer| filled(&answer.message)),
    }
}

fn wait(gate: &Gate<'_>) -> WaitView {
    WaitView {
        when: gate.time,
        state: gate.state,
        wait: gate.wait.map(duration::describe),
    }
}

fn holding(holding: &VersionHolding<'_>) -> HoldingView {
    HoldingView {
        snapshot: holding.index.map(str::to_owned),
        written_by: holding.writer.clone(),
        since: holding.since,
        clusters: owned(holding.clusters.iter().copied()),
        available: holding.available,
    }
}
