//! What is to be known about a placement's past: the truths that no run tells of itself.

use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnose::subjects::back::goes_back;
use crate::inventory::{Inventory, choose};
use crate::render::wrap::list;
use crate::rollout::history::{History, RunEpisode, StepBack, VersionHolding};
use crate::words::{CommandLine, by_key, enumerate};

/// What a note says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) enum NoteKind {
    /// Runs belong to an earlier placement of the same name.
    EarlierPlacement,
    /// Clusters have different versions.
    VersionsMixed,
    /// An older run continued and replaced a newer version with its older one.
    PutBack,
    /// A run was created with an older version and replaced a newer one.
    RolledBack,
    /// A run is Succeeded, but clusters have another version that no later run rolled out.
    SuccessReplaced,
    /// A run requested the current content and got the previous one.
    OldContent,
    /// An unfinished run would replace a newer version with an older one.
    WouldGoBack,
}

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum NoteSeverity {
    /// A person should check it.
    Warning,
    /// Expected, for information.
    Info,
}

/// Something to know about a placement's past.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HistoryNote {
    /// What it says.
    pub kind: NoteKind,
    /// How much it matters.
    pub severity: NoteSeverity,
    /// The sentence.
    pub message: String,
    /// The run that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// All the clusters that it is about.
    pub clusters: Vec<String>,
    /// What to run next.
    #[serde(flatten)]
    pub command: Option<CommandLine>,
}

impl HistoryNote {
    fn new(kind: NoteKind, message: String) -> Self {
        let severity = match kind {
            NoteKind::RolledBack | NoteKind::EarlierPlacement => NoteSeverity::Info,
            _ => NoteSeverity::Warning,
        };
        Self {
            kind,
            severity,
            message,
            run: None,
            clusters: Vec::new(),
            command: None,
        }
    }

    fn about(mut self, episode: &RunEpisode<'_>) -> Self {
        self.run = Some(episode.rollout.run.meta.name.clone());
        self
    }

    fn on<'c>(mut self, clusters: impl IntoIterator<Item = &'c str>) -> Self {
        self.clusters = clusters.into_iter().map(str::to_owned).collect();
        self
    }
}

/// The notes: what happened, oldest first, then how it is, then what threatens.
pub(super) fn notes(history: &History<'_>, inventory: &Inventory) -> Vec<HistoryNote> {
    let mut notes = Vec::new();
    notes.extend(earlier(history, inventory));
    for episode in &history.runs {
        notes.extend(old_content(episode, inventory));
        let steps = episode.steps_back.iter();
        notes.extend(steps.map(|step| went_back(episode, step)));
    }
    notes.extend(history.contradicted().flat_map(replaced));
    notes.extend(mixed(history));
    notes.extend(history.runs.iter().filter_map(threat));
    notes
}

fn earlier(history: &History<'_>, inventory: &Inventory) -> Option<HistoryNote> {
    let earlier = history.runs.iter().filter(|episode| episode.earlier);
    let names: Vec<_> = earlier.map(|it| &it.rollout.run.meta.name).collect();
    let placement = inventory.placement.present()?;
    let (belong, their) = match names.len() {
        0 => return None,
        1 => ("belongs", "its snapshot is"),
        _ => ("belong", "their snapshots are"),
    };
    let since = placement.meta.created.map_or_else(String::new, |since| {
        format!(", which was created at {since}")
    });
    Some(HistoryNote::new(
        NoteKind::EarlierPlacement,
        format!(
            "{} {belong} to an earlier placement with the same name as {}{since}; {their} no longer \
             available.",
            list(&names, 5),
            placement.object(),
        ),
    ))
}

fn old_content(episode: &RunEpisode<'_>, inventory: &Inventory) -> Option<HistoryNote> {
    let old = episode.old_content?;
    let run = &episode.rollout.run;
    let next = match old.next.and_then(|next| next.index()) {
        Some(index) => format!("the change is in snapshot {index}"),
        None if inventory.snapshots.is_complete() => "the change is in no snapshot yet".to_owned(),
        None => "which snapshot has the change is unknown".to_owned(),
    };
    Some(
        HistoryNote::new(
            NoteKind::OldContent,
            format!(
                "{} requested the current content but got snapshot {}, because KubeFleet delayed \
                 the snapshot of a recent change ({next}).",
                run.meta.name, run.status.snapshot_index
            ),
        )
        .about(episode)
        .on(episode
            .rollout
            .updated_clusters()
            .map(|cluster| cluster.name)),
    )
}

fn went_back(episode: &RunEpisode<'_>, step: &StepBack<'_>) -> HistoryNote {
    let name = &episode.rollout.run.meta.name;
    let StepBack {
        clusters,
        from,
        to,
        over,
        at,
        asked_for,
    } = step;
    let on = enumerate(clusters);
    let over = over.unwrap_or("a deleted run");
    let (kind, message) = if *asked_for {
        (
            NoteKind::RolledBack,
            format!(
                "{name} was created with snapshot {to} and replaced snapshot {from} of {over} on {on}, starting \
                 at {at}."
            ),
        )
    } else {
        (
            NoteKind::PutBack,
            format!(
                "{name} replaced the newer snapshot {from} with snapshot {to} on {on}, starting at \
                 {at}: {over} had rolled out the newer one in the meantime."
            ),
        )
    };
    HistoryNote::new(kind, message)
        .about(episode)
        .on(clusters.iter().copied())
}

fn replaced(episode: &RunEpisode<'_>) -> Vec<HistoryNote> {
    let run = &episode.rollout.run;
    let replaced = episode.replaced.iter().filter(|it| !it.usual);
    by_key(replaced.map(|it| ((it.index, it.writer.as_deref()), it.cluster)))
        .into_iter()
        .map(|((index, writer), clusters)| {
            let has = match index {
                Some(index) => format!("snapshot {index}"),
                None => "no snapshot".to_owned(),
            };
            let by = writer.map_or_else(String::new, |writer| format!(", written by {writer}"));
            let verb = if clusters.len() == 1 { "has" } else { "have" };
            HistoryNote::new(
                NoteKind::SuccessReplaced,
                format!(
                    "{} is Succeeded with snapshot {}, but {} now {verb} {has}{by}.",
                    run.meta.name,
                    run.status.snapshot_index,
                    enumerate(&clusters)
                ),
            )
            .about(episode)
            .on(clusters)
        })
        .collect()
}

fn mixed(history: &History<'_>) -> Option<HistoryNote> {
    let versions = history.mixed()?;
    let parts: Vec<_> = history
        .now
        .iter()
        .filter_map(|holding: &VersionHolding<'_>| {
            let by = holding
                .writer
                .as_ref()
                .map_or_else(String::new, |writer| format!(" by {writer}"));
            Some(format!(
                "snapshot {} on {}{by}",
                holding.index?,
                enumerate(&holding.clusters)
            ))
        })
        .collect();
    let under_way: Vec<_> = history
        .runs
        .iter()
        .filter(|episode| {
            let run = episode.rollout.run;
            choose::has_started(run) && episode.rollout.is_live()
        })
        .map(|episode| episode.rollout.run.meta.name.as_str())
        .collect();
    let under_way = match under_way.as_slice() {
        [] => "no run is unfinished".to_owned(),
        [one] => format!("{one} is unfinished"),
        several => format!("{} are unfinished", enumerate(several)),
    };
    let clusters = history.now.iter().flat_map(|holding| &holding.clusters);
    Some(
        HistoryNote::new(
            NoteKind::VersionsMixed,
            format!(
                "The clusters run {} versions, and {under_way}: {}.",
                versions.len(),
                parts.join("; ")
            ),
        )
        .on(clusters.copied()),
    )
}

fn threat(episode: &RunEpisode<'_>) -> Option<HistoryNote> {
    if episode.would_go_back.is_empty() {
        return None;
    }
    let run = &episode.rollout.run;
    let back = &episode.would_go_back;
    let clusters = back.iter().map(|back| back.cluster);
    let mut note = HistoryNote::new(
        NoteKind::WouldGoBack,
        format!(
            "{}; deleting it changes nothing on the clusters.",
            goes_back(&episode.rollout, back)
        ),
    )
    .about(episode)
    .on(clusters);
    note.command = Some(run.object().fleet("diagnose"));
    Some(note)
}
