//! The chain that was walked: placement, snapshot, stages, gates and clusters.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};

use super::look::Look;
use super::meter::meter;
use super::style::Paint;
use super::wrap::{hanging, list};
use crate::diagnose::status::{GateState, OpenGate};
use crate::kubefleet::duration;
use crate::rollout::{
    ClusterProgress, ClusterState, Progress, StageProgress, StageState, TaskProgress, TaskState,
    TaskTime,
};
use crate::words::{count, together};

/// Names of clusters that need someone's eye, before the rest is only counted.
const NAMED: usize = 12;
/// Names of clusters that are done or not reached.
const NAMED_QUIET: usize = 6;

/// The clusters of a stage by state; first what needs someone's eye.
pub(super) fn groups(stage: &StageProgress) -> Vec<(ClusterState, Vec<&ClusterProgress>)> {
    let mut groups = together(stage.clusters.iter().map(|it| (it.state, it)));
    groups.sort_by_key(|(state, _)| match state {
        ClusterState::Failed => 0,
        ClusterState::Stuck => 1,
        ClusterState::Left => 2,
        ClusterState::Updating => 3,
        ClusterState::Pending => 4,
        ClusterState::Done => 5,
    });
    groups
}

/// What a tree shows beyond a report's: how long everything takes at this moment, what each open
/// gate waits for, and how many slots are in use.
pub(super) struct Live<'l> {
    pub now: Timestamp,
    pub gates: &'l [OpenGate],
    /// Characters of each stage's meter; without any there is none.
    pub meter: usize,
}

/// Draws the progress of a run. Returns whether something was left out.
pub(super) fn draw(
    out: &mut String,
    progress: &Progress,
    live: Option<&Live<'_>>,
    look: &Look,
) -> bool {
    let mut head = vec![format!("placement {}", progress.placement)];
    head.push(match &progress.snapshot {
        Some(index) => format!("snapshot {index}"),
        None => "no snapshot yet".to_owned(),
    });
    if !progress.strategy.is_empty() {
        head.push(format!("strategy {}", progress.strategy));
    }
    if progress.only_compares {
        head.push("compares only, applies nothing".to_owned());
    }
    let mut head = head.join(", ");
    // The summary of a report says how many are done.
    if progress.total > 0 && (live.is_some() || look.verbose) {
        head = format!("{head}: {}/{} clusters done", progress.done, progress.total);
    }
    hanging(out, "", "  ", &head, look.width);
    let mut cut = false;
    let tree = Tree {
        progress,
        live,
        look,
    };
    for (at, stage) in progress.stages.iter().enumerate() {
        let turn = look.paint.branch(at + 1 == progress.stages.len());
        cut |= tree.stage(out, stage, turn);
    }
    cut
}

struct Tree<'t> {
    progress: &'t Progress,
    live: Option<&'t Live<'t>>,
    look: &'t Look,
}

impl Tree<'_> {
    fn stage(
        &self,
        out: &mut String,
        stage: &StageProgress,
        (branch, trunk): (&str, &str),
    ) -> bool {
        let Self {
            progress,
            live,
            look,
        } = *self;
        let mut text = if stage.deletes {
            "removal: ".to_owned()
        } else {
            format!("stage {}: ", stage.name)
        };
        text.push_str(stage.state.describe());
        let (done, total) = (stage.done(), stage.clusters.len());
        let complete = stage.state == StageState::Done && done == total;
        if total > 0 {
            text = if complete {
                format!("{text}, {}", count(total, "cluster"))
            } else {
                format!("{text}, {done}/{total} done")
            };
        }
        match (live, stage.in_flight()) {
            (Some(_), used @ 1..) if !stage.deletes => {
                text = format!("{text}, {used} of {} slots in use", stage.max_concurrency);
            }
            _ if total > 1 && stage.max_concurrency > 0 && !stage.state.is_over() => {
                text = format!("{text}, {} at a time", stage.max_concurrency);
            }
            _ => {}
        }
        if let (Some(_), Some(started), Some(ended)) = (live, stage.started, stage.ended) {
            let took = duration::describe(ended.duration_since(started));
            text = format!("{text}, took {took}");
        }
        let indent = format!("{trunk}  ");
        // Where all clusters of a stage are done or not reached, its own line has room for them.
        let as_one = match groups(stage).as_slice() {
            [(ClusterState::Pending, members)] if stage.state == StageState::Pending => {
                members.clone()
            }
            [(ClusterState::Done, members)] => members.clone(),
            _ => Vec::new(),
        };
        let as_one = live.is_none() && !look.verbose && (1..=NAMED_QUIET).contains(&as_one.len());
        if as_one {
            let names = stage.clusters.iter();
            let names: Vec<_> = names.map(|cluster| name(cluster, progress, live)).collect();
            text = format!("{text}: {}", list(&names, NAMED_QUIET));
        }
        let mut first = branch.to_owned();
        if let Some(cells) = live.map(|live| live.meter).filter(|cells| *cells > 0) {
            let _ = write!(first, "[{}] ", meter(stage, cells, look.paint));
        }
        hanging(out, &first, &indent, &text, look.width);
        let tasks = |when| stage.tasks.iter().filter(move |task| task.when == when);
        for task in tasks(TaskTime::Before) {
            self.gate(out, task, stage, trunk);
        }
        let mut cut = false;
        for (state, members) in groups(stage).into_iter().filter(|_| !as_one) {
            // Those that began together are as old as each other: once is enough.
            let age = live.and_then(|live| common_age(&members, live.now));
            let names: Vec<_> = members
                .iter()
                .map(|cluster| name(cluster, progress, live.filter(|_| age.is_none())))
                .collect();
            let odd = names
                .iter()
                .zip(&members)
                .any(|(name, cluster)| *name != cluster.name);
            if live.is_some() && complete && !odd && !look.verbose {
                // The stage's own line says it all.
                cut = true;
                continue;
            }
            let mut label = format!("{} {}", names.len(), state.describe());
            if let Some(age) = age {
                label = format!("{label} for {age}");
            }
            let label = look.paint.cluster_state(state, &label);
            let is_quiet = matches!(state, ClusterState::Pending | ClusterState::Done);
            if is_quiet && names.len() > NAMED_QUIET && !look.verbose {
                out.push_str(trunk);
                out.push_str(&label);
                out.push('\n');
                cut = true;
                continue;
            }
            let most = if look.verbose { usize::MAX } else { NAMED };
            cut |= names.len() > most;
            let first = format!("{trunk}{label}: ");
            hanging(out, &first, &indent, &list(&names, most), look.width);
        }
        for task in tasks(TaskTime::After) {
            self.gate(out, task, stage, trunk);
        }
        cut
    }

    /// A gate, as soon as its stage is reached.
    fn gate(&self, out: &mut String, task: &TaskProgress, stage: &StageProgress, trunk: &str) {
        let Self { live, look, .. } = *self;
        let skipped = task.state == TaskState::Pending && stage.state.is_over();
        if (task.state == TaskState::Pending && stage.state == StageState::Pending || skipped)
            && !look.verbose
        {
            return;
        }
        let request = task
            .approval_request
            .as_deref()
            .filter(|_| task.state != TaskState::Pending)
            .map_or_else(String::new, |name| format!(" {name}"));
        let open = live.and_then(|live| {
            let is_this = |gate: &&OpenGate| {
                gate.stage == stage.name
                    && gate.when == task.when
                    && gate.kind == task.kind
                    && gate.approval_request == task.approval_request
            };
            let gate = live.gates.iter().find(is_this)?;
            Some((gate, wait(gate, live.now)))
        });
        let over = stage.state.is_over();
        let stopped = matches!(stage.state, StageState::Stopped | StageState::Stopping);
        let state = match (task.state, task.until) {
            (TaskState::Open, _) if over => "not passed".to_owned(),
            (TaskState::Approved, _) if over => "approved, but the run ended first".to_owned(),
            (TaskState::Approved, _) if stopped => "approved, takes effect after resume".to_owned(),
            (TaskState::Approved, _) => "approved, not yet reconciled".to_owned(),
            (TaskState::Open, _) if open.is_some() => open
                .as_ref()
                .map_or_else(String::new, |(_, words)| words.clone()),
            (TaskState::Open, Some(until)) => format!("until {until}"),
            (TaskState::Open, None) => "waiting".to_owned(),
            (TaskState::Done, _) => "done".to_owned(),
            (TaskState::Pending, _) => "not reached".to_owned(),
        };
        let label = look.paint.task_state(task.state, task.when.as_str());
        let first = format!("{trunk}{label}: ");
        let text = format!("{}{request}, {state}", task.kind);
        hanging(out, &first, &format!("{trunk}  "), &text, look.width);
        if let Some(command) = open.and_then(|(gate, _)| gate.command.as_ref()) {
            let command = look.invocation.command(command);
            out.push_str(trunk);
            out.push_str("  ");
            out.push_str(&look.paint.command(&command));
            out.push('\n');
        }
    }
}

/// A cluster, and what is odd about it.
fn name(cluster: &ClusterProgress, progress: &Progress, live: Option<&Live<'_>>) -> String {
    let mut notes = Vec::new();
    if let Some(index) = &cluster.snapshot
        // Before its turn a cluster has what it had: that is nothing to tell.
        && cluster.state != ClusterState::Pending
        && progress.snapshot.as_ref() != Some(index)
    {
        notes.push(format!("at snapshot {index}"));
    }
    if let (Some(live), Some(started), true) = (live, cluster.started, cluster.state.is_in_flight())
    {
        notes.push(lasting(started, live.now));
    }
    if notes.is_empty() {
        cluster.name.clone()
    } else {
        format!("{} ({})", cluster.name, notes.join(", "))
    }
}

/// How long the clusters in flight have been updated, when it is the same for all.
fn common_age(clusters: &[&ClusterProgress], now: Timestamp) -> Option<String> {
    let mut ages = clusters.iter().map(|cluster| {
        let started = cluster.started.filter(|_| cluster.state.is_in_flight());
        started.map(|started| lasting(started, now))
    });
    let first = ages.next()??;
    ages.all(|age| age.as_deref() == Some(&first))
        .then_some(first)
}

/// How long something has lasted. A clock that is behind the hub's has seen nothing of it yet.
pub(super) fn lasting(since: Timestamp, now: Timestamp) -> String {
    duration::describe(now.duration_since(since).max(SignedDuration::ZERO))
}

pub(super) fn wait(gate: &OpenGate, now: Timestamp) -> String {
    if let Some(until) = gate.until {
        let left = until.duration_since(now);
        return if left.is_positive() {
            format!("{} left, until {until}", duration::describe(left))
        } else {
            "over, not yet reconciled".to_owned()
        };
    }
    let lasting = gate
        .since
        .map_or_else(String::new, |since| format!(" for {}", lasting(since, now)));
    match gate.approval {
        Some(GateState::Given) => "approved, not yet reconciled".to_owned(),
        Some(GateState::Ignored) => {
            format!(
                "waiting{lasting}: approved for an outdated generation, which KubeFleet ignores"
            )
        }
        Some(GateState::Withheld) => {
            format!("waiting{lasting}: Approved is not True, which KubeFleet treats as no answer")
        }
        Some(GateState::Missing) => "the request does not exist".to_owned(),
        Some(GateState::Foreign) => "the request belongs to another run or stage".to_owned(),
        Some(GateState::Pending) | None => format!("waiting{lasting}"),
    }
}

impl Paint {
    /// A number of clusters in a state.
    fn cluster_state(self, state: ClusterState, text: &str) -> String {
        match state {
            ClusterState::Failed | ClusterState::Stuck | ClusterState::Left => self.error(text),
            ClusterState::Updating => self.hint(text),
            ClusterState::Done => self.good(text),
            ClusterState::Pending => text.to_owned(),
        }
    }

    /// The side of a stage on which a gate stands.
    fn task_state(self, state: TaskState, text: &str) -> String {
        match state {
            TaskState::Open => self.warning(text),
            TaskState::Approved => self.hint(text),
            TaskState::Done => self.good(text),
            TaskState::Pending => text.to_owned(),
        }
    }
}
