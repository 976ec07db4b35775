//! What changed between two looks, one line each.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::describe;
use crate::diagnose::status::{PlacedCluster, Status};
use crate::kubefleet::duration;
use crate::render::escape;
use crate::render::wrap::list;
use crate::report::RunFacts;
use crate::rollout::{ClusterState, GateFacts, GateState, StageProgress, StageState};
use crate::words::{count, together};

/// Names in one line, before the rest is only counted.
const NAMES: usize = 6;

/// What changed, in the order in which it is told: what was asked for, stage by stage what
/// happened, and at last the verdict. Text from the cluster is made harmless.
pub fn changes(before: &Status, after: &Status) -> Vec<String> {
    let mut lines = Vec::new();
    let same_run = run_changes(before.run.as_ref(), after.run.as_ref(), &mut lines);
    if let Some(progress) = &after.run {
        let known = before.run.as_ref().filter(|_| same_run);
        progress_changes(known, progress, &mut lines);
    }
    if same_run {
        answers(&before.gates, &after.gates, &mut lines);
    }
    if let (Some(before), Some(after)) = (&before.clusters, &after.clusters) {
        placed(before, after, &mut lines);
    }
    lines.extend(gaps(Some(before), after));
    if before.verdict != after.verdict || !same_run {
        lines.push(verdict(after));
    }
    lines.iter().map(|line| escape::line(line)).collect()
}

/// How things stand at the beginning: the verdict, and what cannot be seen.
pub fn beginning(status: &Status) -> Vec<String> {
    std::iter::once(verdict(status))
        .chain(gaps(None, status))
        .collect()
}

/// What cannot be seen any more.
pub fn gaps(before: Option<&Status>, after: &Status) -> Vec<String> {
    let gaps = after.not_checked.iter();
    gaps.filter(|gap| before.is_none_or(|before| !before.not_checked.contains(gap)))
        .map(|gap| escape::line(&format!("not checked: {}: {}", gap.what, gap.why)))
        .collect()
}

pub fn verdict(status: &Status) -> String {
    escape::line(&format!("{}: {}", status.verdict.as_str(), status.summary))
}

/// What happened to the run itself. Returns whether it still is the same.
fn run_changes(
    before: Option<&RunFacts>,
    after: Option<&RunFacts>,
    lines: &mut Vec<String>,
) -> bool {
    match (before, after) {
        (None, None) => true,
        (Some(before), Some(after)) if before.is_same(after) => {
            if before.requested_state != after.requested_state {
                let word = |state: &Option<String>| state.clone().unwrap_or("nothing".to_owned());
                lines.push(format!(
                    "update run {}: spec.state is {} (was {})",
                    after.object.name,
                    word(&after.requested_state),
                    word(&before.requested_state)
                ));
            }
            true
        }
        (_, Some(after)) => {
            lines.push(format!(
                "update run {} is now the current one",
                after.object.name
            ));
            false
        }
        (Some(before), None) => {
            lines.push(format!(
                "update run {} no longer exists",
                before.object.name
            ));
            false
        }
    }
}

fn progress_changes(before: Option<&RunFacts>, after: &RunFacts, lines: &mut Vec<String>) {
    let Some(before) = before else { return };
    if before.stages.is_empty() && !after.stages.is_empty() {
        let snapshot = after
            .snapshot
            .as_ref()
            .map_or_else(String::new, |index| format!(", snapshot {index}"));
        let stages = after.stages.iter().filter(|stage| !stage.deletes);
        let clusters = stages.clone().map(|stage| stage.clusters.len()).sum();
        lines.push(format!(
            "initialized: {} in {}{snapshot}",
            count(clusters, "cluster"),
            count(stages.count(), "stage")
        ));
    }
    for (at, stage) in after.stages.iter().enumerate() {
        let known = at_the_place(&before.stages, at, |known| known.name == stage.name);
        stage_changes(known, stage, lines);
    }
}

/// What is meant, first at its own place: the order of stages and clusters stays, two stages may have
/// one name and one request, and a fleet of thousands is looked at every second.
fn at_the_place<T>(all: &[T], at: usize, is_meant: impl Fn(&T) -> bool) -> Option<&T> {
    let here = all.get(at).filter(|it| is_meant(it));
    here.or_else(|| all.iter().find(|it| is_meant(it)))
}

fn stage_changes(before: Option<&StageProgress>, stage: &StageProgress, lines: &mut Vec<String>) {
    let name = stage.title();
    let was = before.map_or(StageState::NotReached, |stage| stage.state);
    let ended = stage.state.is_over();
    // A task that begins says what the stage waits for.
    let asks = stage.gates.iter().enumerate().any(|(at, task)| {
        let was = before.and_then(|stage| stage.gates.get(at));
        is_asked(task) && was.is_none_or(|was| !is_asked(was))
    });
    let waits = matches!(
        stage.state,
        StageState::WaitingBefore | StageState::WaitingAfter
    );
    let headline = (was != stage.state && !(asks && waits)).then(|| {
        let took = match stage.state {
            StageState::Done => took(stage.started, stage.ended),
            _ => String::new(),
        };
        format!("{name}: {}{took}", stage.state.describe())
    });
    // An end is told after what led to it, a beginning before.
    let (first, last) = if ended {
        (None, headline)
    } else {
        (headline, None)
    };
    lines.extend(first);
    for (at, task) in stage.gates.iter().enumerate() {
        let was = before.and_then(|stage| stage.gates.get(at));
        lines.extend(task_change(was, task, &name));
    }
    cluster_changes(before, stage, &name, lines);
    lines.extend(last);
}

fn is_asked(gate: &GateFacts) -> bool {
    gate.is_open() && !gate.is_approved()
}

fn task_change(was: Option<&GateFacts>, task: &GateFacts, stage: &str) -> Option<String> {
    let is_new = |is: fn(&GateFacts) -> bool| is(task) && !was.is_some_and(is);
    let when = task.side();
    // An answer is told with the gate that it opens.
    let what = if is_new(GateFacts::is_passed) {
        match &task.request {
            Some(request) => format!("approval {request} is accepted"),
            None => format!("{} is over", task.kind),
        }
    } else if is_new(is_asked) {
        match (&task.request, task.until) {
            (Some(request), _) => format!("waits for approval {request} {when} its clusters"),
            (None, Some(until)) => format!("{} runs until {until}", task.kind),
            (None, None) => format!("{} runs", task.kind),
        }
    } else {
        return None;
    };
    Some(format!("{stage}: {what}"))
}

/// Clusters that reached the same state together are told together.
fn cluster_changes(
    before: Option<&StageProgress>,
    stage: &StageProgress,
    name: &str,
    lines: &mut Vec<String>,
) {
    let before = before.map_or(&[][..], |stage| &stage.clusters);
    let moved = stage
        .clusters
        .iter()
        .enumerate()
        .filter_map(|(at, cluster)| {
            let known = at_the_place(before, at, |known| known.name == cluster.name);
            let known = known.map_or(ClusterState::NotReached, |known| known.state);
            (known != cluster.state).then_some((cluster.state, cluster))
        });
    let mut moved = together(moved);
    // What is done makes room for what begins.
    moved.sort_by_key(|(state, _)| {
        (
            *state != ClusterState::Done,
            *state == ClusterState::Updating,
        )
    });
    for (state, members) in moved {
        let took = match members.as_slice() {
            [one] if state == ClusterState::Done => took(one.started, one.ended),
            _ => String::new(),
        };
        let names: Vec<_> = members
            .iter()
            .map(|cluster| cluster.name.as_str())
            .collect();
        lines.push(format!(
            "{name}: {} {}{took}",
            list(&names, NAMES),
            state.describe()
        ));
    }
}

fn took(started: Option<Timestamp>, ended: Option<Timestamp>) -> String {
    match (started, ended) {
        (Some(started), Some(ended)) => {
            format!(
                " after {}",
                duration::describe(ended.duration_since(started))
            )
        }
        _ => String::new(),
    }
}

/// What people answered to requests that stay open.
fn answers(before: &[GateFacts], after: &[GateFacts], lines: &mut Vec<String>) {
    for (at, gate) in after.iter().enumerate() {
        let Some(request) = &gate.request else {
            continue;
        };
        let known = at_the_place(before, at, |known| known.request.as_ref() == Some(request));
        let was = known.map_or(GateState::Pending, |known| known.state);
        if was == gate.state {
            continue;
        }
        let what = match gate.state {
            _ if gate.is_approved() && known.is_some_and(GateFacts::is_approved) => continue,
            _ if gate.is_approved() => "is approved",
            GateState::Ignored => {
                "is approved, but not for its generation, which KubeFleet ignores"
            }
            GateState::Withheld => {
                "has Approved that is not True, which KubeFleet treats as no answer"
            }
            GateState::Missing => "no longer exists",
            GateState::Foreign => "belongs to another run or stage",
            GateState::Pending => "is pending",
            _ => continue,
        };
        lines.push(format!("stage {}: {request} {what}", gate.stage));
    }
}

/// What clusters of a placement have now; those with the same stand together.
fn placed(before: &[PlacedCluster], after: &[PlacedCluster], lines: &mut Vec<String>) {
    let changed = after.iter().enumerate().filter_map(|(at, cluster)| {
        if before.get(at) == Some(cluster) {
            return None;
        }
        let what = describe(cluster);
        let known = before.iter().find(|known| known.name == cluster.name);
        let same = known.is_some_and(|known| describe(known) == what);
        (!same).then_some((what, cluster.name.as_str()))
    });
    for (what, members) in together(changed) {
        lines.push(format!("{}: {what}", list(&members, NAMES)));
    }
    let names: BTreeSet<_> = after.iter().map(|cluster| &cluster.name).collect();
    let left: Vec<_> = before
        .iter()
        .filter(|known| !names.contains(&known.name))
        .map(|known| known.name.as_str())
        .collect();
    if !left.is_empty() {
        lines.push(format!("{}: no longer selected", list(&left, NAMES)));
    }
}

#[cfg(test)]
pub(crate) mod tests;
