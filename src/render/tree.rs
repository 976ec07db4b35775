//! The chain that was walked: placement, snapshot, stages, gates and clusters.

use super::style::Paint;
use super::text::Look;
use super::wrap::{hanging, list};
use crate::diagnose::finding::count;
use crate::rollout::{
    ClusterProgress, ClusterState, Progress, StageProgress, StageState, TaskProgress, TaskState,
    TaskTime,
};

/// Names of clusters that need someone's eye, before the rest is only counted.
const NAMED: usize = 12;
/// Names of clusters that are done or not reached.
const NAMED_QUIET: usize = 6;

/// The clusters of a stage by state; first what needs someone's eye.
pub(super) fn groups(stage: &StageProgress) -> Vec<(ClusterState, Vec<&ClusterProgress>)> {
    let mut groups: Vec<(ClusterState, Vec<&ClusterProgress>)> = Vec::new();
    for cluster in &stage.clusters {
        match groups.iter_mut().find(|(state, _)| *state == cluster.state) {
            Some((_, members)) => members.push(cluster),
            None => groups.push((cluster.state, vec![cluster])),
        }
    }
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

/// How many clusters of a stage are done.
pub(super) fn done(stage: &StageProgress) -> usize {
    let is_done = |cluster: &&ClusterProgress| cluster.state == ClusterState::Done;
    stage.clusters.iter().filter(is_done).count()
}

/// Draws the progress of a run. Returns whether something was left out.
pub fn draw(out: &mut String, progress: &Progress, look: &Look) -> bool {
    let mut head = vec![format!("placement {}", progress.placement)];
    head.push(match &progress.snapshot {
        Some(index) => format!("snapshot {index}"),
        None => "no snapshot yet".to_owned(),
    });
    if !progress.strategy.is_empty() {
        head.push(format!("strategy {}", progress.strategy));
    }
    let mut head = head.join(", ");
    if progress.total > 0 {
        head = format!("{head}: {}/{} clusters done", progress.done, progress.total);
    }
    hanging(out, "", "  ", &head, look.width);
    let mut cut = false;
    for (at, stage) in progress.stages.iter().enumerate() {
        let last = at + 1 == progress.stages.len();
        let (branch, trunk) = if last {
            ("`- ", "     ")
        } else {
            ("|- ", "|    ")
        };
        cut |= self::stage(out, stage, progress, (branch, trunk), look);
    }
    cut
}

fn stage(
    out: &mut String,
    stage: &StageProgress,
    progress: &Progress,
    (branch, trunk): (&str, &str),
    look: &Look,
) -> bool {
    let mut text = if stage.deletes {
        "removal: ".to_owned()
    } else {
        format!("stage {}: ", stage.name)
    };
    text.push_str(stage.state.describe());
    let (done, total) = (done(stage), stage.clusters.len());
    if total > 0 {
        text = if stage.state == StageState::Done && done == total {
            format!("{text}, {}", count(total, "cluster"))
        } else {
            format!("{text}, {done}/{total} done")
        };
    }
    if total > 1 && stage.max_concurrency > 0 && !is_over(stage.state) {
        text = format!("{text}, {} at a time", stage.max_concurrency);
    }
    let indent = format!("{trunk}  ");
    hanging(out, branch, &indent, &text, look.width);
    let tasks = |when| stage.tasks.iter().filter(move |task| task.when == when);
    for task in tasks(TaskTime::Before) {
        gate(out, task, stage, trunk, look);
    }
    let mut cut = false;
    for (state, members) in groups(stage) {
        let names: Vec<_> = members
            .into_iter()
            .map(|cluster| match &cluster.snapshot {
                // Before its turn a cluster has what it had: that is nothing to tell.
                Some(index)
                    if state != ClusterState::Pending
                        && progress.snapshot.as_ref() != Some(index) =>
                {
                    format!("{} (at snapshot {index})", cluster.name)
                }
                _ => cluster.name.clone(),
            })
            .collect();
        let label = format!("{} {}", names.len(), state.describe());
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
        gate(out, task, stage, trunk, look);
    }
    cut
}

/// A gate, as soon as its stage is reached.
fn gate(out: &mut String, task: &TaskProgress, stage: &StageProgress, trunk: &str, look: &Look) {
    let skipped = task.state == TaskState::Pending && is_over(stage.state);
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
    let state = match (task.state, task.until) {
        (TaskState::Open, Some(until)) => format!("until {until}"),
        (TaskState::Open, None) => "waiting".to_owned(),
        (TaskState::Done, _) => "done".to_owned(),
        (TaskState::Pending, _) => "not reached".to_owned(),
    };
    let label = look.paint.task_state(task.state, task.when.as_str());
    let first = format!("{trunk}{label}: ");
    let text = format!("{}{request}, {state}", task.kind);
    hanging(out, &first, &format!("{trunk}  "), &text, look.width);
}

const fn is_over(state: StageState) -> bool {
    matches!(
        state,
        StageState::Done | StageState::Skipped | StageState::Failed
    )
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
            TaskState::Done => self.good(text),
            TaskState::Pending => text.to_owned(),
        }
    }
}
