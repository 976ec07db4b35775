//! The history for programs.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::notes::HistoryNote;
use crate::diagnose;
use crate::kubefleet::ObjectRef;
use crate::report::{NotChecked, RunFacts, Subject, TypeMeta};
use crate::rollout::Undelivered;
use crate::rollout::approvals::of_run;
use crate::rollout::history::{History, RunEpisode, VersionHolding};

/// What happened on a placement.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryView {
    #[serde(flatten)]
    meta: TypeMeta,
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
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunView {
    #[serde(flatten)]
    run: RunFacts,
    /// Whether it belongs to an earlier placement of the same name, which was deleted: its
    /// snapshots no longer exist.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    earlier_placement: bool,
    /// The clusters that it completed and that still have its version.
    still_on: Vec<String>,
    /// The clusters that it completed and that have another version now.
    replaced_on: Vec<String>,
}

/// Clusters that have the same version from the same run.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HoldingView {
    /// The index of the version; absent if the bindings name none.
    snapshot: Option<String>,
    /// Why the clusters do not have that snapshot: nothing of it is sent, or it is only compared.
    undelivered: Option<Undelivered>,
    /// The run that wrote it last, where the bindings say so.
    written_by: Option<String>,
    /// When the first of these clusters was written.
    since: Option<Timestamp>,
    /// The clusters.
    clusters: Vec<String>,
    /// How many of them have it available.
    available_clusters: usize,
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
            meta: TypeMeta::new("History"),
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
    let mut run = RunFacts::new(rollout, diagnose::verdict(rollout));
    let approvals = of_run(rollout);
    for gate in run.stages.iter_mut().flat_map(|stage| &mut stage.gates) {
        let mut told = approvals.iter().map(|approval| &approval.gate);
        let own = told.find(|it| {
            (&it.stage, it.when, &it.request) == (&gate.stage, gate.when, &gate.request)
        });
        if let Some(own) = own {
            gate.clone_from(own);
        }
    }
    RunView {
        run,
        earlier_placement: episode.earlier,
        still_on: owned(episode.holds.iter().copied()),
        replaced_on: owned(episode.replaced.iter().map(|replaced| replaced.cluster)),
    }
}

fn holding(holding: &VersionHolding<'_>) -> HoldingView {
    HoldingView {
        snapshot: holding.index.map(str::to_owned),
        undelivered: holding.undelivered,
        written_by: holding.writer.clone(),
        since: holding.since,
        clusters: owned(holding.clusters.iter().copied()),
        available_clusters: holding.available,
    }
}
