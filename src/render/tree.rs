//! The chain that was walked: placement, snapshot, stages, gates and clusters.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};

use super::look::RenderLook;
use super::meter::meter;
use super::style::TextPaint;
use super::tone::ColorTone;
use super::wrap::{hanging, list};
use crate::kubefleet::duration;
use crate::report::RunFacts;
use crate::rollout::{
    ClusterProgress, ClusterState, GateFacts, GateState, StageProgress, StageState, TaskTime,
};
use crate::words::{count, together};

/// Names of clusters that need someone's eye, before the rest is only counted.
const NAMED: usize = 12;
/// Names of clusters that are done or not reached.
const NAMED_QUIET: usize = 6;

pub fn content(progress: &RunFacts) -> String {
    let snapshot = match &progress.snapshot {
        Some(index) => format!("snapshot {index}"),
        None => "no snapshot yet".to_owned(),
    };
    let content = format!("placement {}, {snapshot}", progress.placement);
    if progress.strategy.is_empty() {
        content
    } else {
        format!("{content}, strategy {}", progress.strategy)
    }
}

/// The clusters of a stage by state; first what needs someone's eye.
pub fn groups(stage: &StageProgress) -> Vec<(ClusterState, Vec<&ClusterProgress>)> {
    let mut groups = together(stage.clusters.iter().map(|it| (it.state, it)));
    groups.sort_by_key(|(state, _)| match state {
        ClusterState::Failed => 0,
        ClusterState::Stuck => 1,
        ClusterState::Left => 2,
        ClusterState::Updating => 3,
        ClusterState::NotReached => 4,
        ClusterState::Done => 5,
    });
    groups
}

/// What a tree shows beyond a report's: how long everything takes at this moment, what each open
/// gate waits for, how many slots are in use, and when stages end.
pub struct LiveTree<'l> {
    pub now: Timestamp,
    pub gates: &'l [GateFacts],
    /// Characters of each stage's meter; without any there is none.
    pub meter: usize,
}

#[derive(Clone, Copy)]
pub enum TreePart<'l> {
    Live(&'l LiveTree<'l>),
    Whole,
    /// A line for each stage; those that are alike on one.
    Stages,
    /// What is done and what is under way: what comes later is only named.
    Front,
}

/// Draws the progress of a run. Returns whether something was left out.
pub fn draw(out: &mut String, progress: &RunFacts, scope: TreePart<'_>, look: &RenderLook) -> bool {
    let live = match scope {
        TreePart::Live(live) => Some(live),
        _ => None,
    };
    let is_brief = matches!(scope, TreePart::Stages | TreePart::Front);
    let mut head = content(progress);
    if progress.only_compares {
        head.push_str(", compares only, applies nothing");
    }
    // The summary of a report says how many are done.
    if progress.total > 0 && !is_brief {
        head = format!("{head}: {}/{} clusters done", progress.done, progress.total);
    }
    hanging(out, "", "  ", &head, look.width);
    let mut cut = false;
    let tree = StageTree {
        progress,
        live,
        is_told: matches!(scope, TreePart::Front),
        look,
    };
    let alike = |a: &StageProgress, b: &StageProgress| {
        is_brief && a.state == b.state && tree.is_quiet(a) && tree.is_quiet(b)
    };
    let mut chunks: Vec<_> = progress.stages.chunk_by(alike).collect();
    let mut later: &[StageProgress] = &[];
    if let (TreePart::Front, [_, .., last]) = (scope, chunks.as_slice())
        && last
            .iter()
            .all(|it| it.state == StageState::NotReached && tree.is_quiet(it))
    {
        later = last;
        chunks.pop();
    }
    for (at, stages) in chunks.iter().enumerate() {
        let is_last = at + 1 == chunks.len();
        let turn = look.paint.branch(is_last);
        match stages {
            [stage] if is_brief => {
                let later = if is_last { later } else { &[] };
                cut |= tree.brief(out, stage, later, turn);
            }
            [stage] => cut |= tree.stage(out, stage, turn),
            stages => {
                cut = true;
                tree.several(out, stages, turn);
            }
        }
    }
    cut
}

struct StageTree<'t> {
    progress: &'t RunFacts,
    live: Option<&'t LiveTree<'t>>,
    /// Whether what comes next is told elsewhere.
    is_told: bool,
    look: &'t RenderLook,
}

impl StageTree<'_> {
    /// Whether nothing is to be seen in a stage: it is all done, or not reached.
    fn is_quiet(&self, stage: &StageProgress) -> bool {
        let state = match stage.state {
            StageState::Done => ClusterState::Done,
            StageState::NotReached => ClusterState::NotReached,
            _ => return false,
        };
        let is_plain = |cluster: &ClusterProgress| {
            cluster.state == state && name(cluster, self.progress, None) == cluster.name
        };
        !stage.deletes && stage.clusters.iter().all(is_plain)
    }

    /// Stages that are alike, on one line.
    fn several(&self, out: &mut String, stages: &[StageProgress], (branch, trunk): (&str, &str)) {
        let names: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
        let state = stages.first().map_or("", |stage| stage.state.describe());
        let clusters = stages.iter().map(|stage| stage.clusters.len()).sum();
        let text = format!(
            "stages {}: {state}, {}",
            list(&names, NAMED),
            count(clusters, "cluster")
        );
        self.look.twig(out, branch, trunk, &text);
    }

    /// The line of a stage, and whether all of it is done.
    fn head(&self, stage: &StageProgress) -> (String, bool) {
        let live = self.live;
        let mut text = format!("{}: {}", stage.title(), stage.state.describe());
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
                text = format!("{text}, {used} of {} slots in use", stage.concurrency);
            }
            _ if total > 1 && stage.concurrency > 0 && !stage.state.is_over() => {
                text = format!("{text}, {} at a time", stage.concurrency);
            }
            _ => {}
        }
        if let (Some(_), Some(started), Some(ended)) = (live, stage.started, stage.ended) {
            let took = duration::describe(ended.duration_since(started));
            text = format!("{text}, took {took}");
        }
        (text, complete)
    }

    /// A stage on one line, without what is over and what is not reached. Returns whether something
    /// was left out.
    fn brief(
        &self,
        out: &mut String,
        stage: &StageProgress,
        later: &[StageProgress],
        (branch, trunk): (&str, &str),
    ) -> bool {
        let (head, _) = self.head(stage);
        let mut parts = vec![head];
        let mut cut = false;
        let groups = groups(stage);
        let names = |members: &[&ClusterProgress]| -> Vec<_> {
            let names = members.iter();
            names.map(|one| name(one, self.progress, None)).collect()
        };
        let alone = match groups.as_slice() {
            [(ClusterState::NotReached, members)] if stage.state == StageState::NotReached => {
                members
            }
            [(ClusterState::Done, members)] => members,
            _ => &Vec::new(),
        };
        match parts.as_mut_slice() {
            // The stage's own line has room for them.
            [head] if (1..=NAMED_QUIET).contains(&alone.len()) => {
                let _ = write!(head, ": {}", names(alone).join(", "));
            }
            _ => {
                for (state, members) in &groups {
                    let label = format!("{} {}", members.len(), state.describe());
                    let is_quiet = matches!(state, ClusterState::NotReached | ClusterState::Done);
                    if is_quiet && members.len() > NAMED_QUIET {
                        parts.push(label);
                        cut = true;
                    } else {
                        cut |= members.len() > NAMED;
                        parts.push(format!("{label}: {}", list(&names(members), NAMED)));
                    }
                }
            }
        }
        for when in [TaskTime::Before, TaskTime::After] {
            for task in stage.gates(when) {
                cut |= task.is_passed();
                if task.is_open() {
                    // The sentence above says until when.
                    let is_told = self.is_told && !task.is_approved();
                    let words = gate_words(task, stage, is_told.then_some("pending"));
                    parts.push(format!("{}: {words}", when.as_str()));
                }
            }
        }
        if !later.is_empty() {
            let names: Vec<_> = later.iter().map(|stage| stage.name.as_str()).collect();
            parts.push(format!("not reached: {}", list(&names, NAMED)));
            cut = true;
        }
        self.look.twig(out, branch, trunk, &parts.join("; "));
        cut
    }

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
            ..
        } = *self;
        let (text, complete) = self.head(stage);
        let mut first = branch.to_owned();
        if let Some(cells) = live.map(|live| live.meter).filter(|cells| *cells > 0) {
            let _ = write!(first, "[{}] ", meter(stage, cells, look.paint));
        }
        look.twig(out, &first, trunk, &text);
        for task in stage.gates(TaskTime::Before) {
            self.gate(out, task, stage, trunk);
        }
        let mut cut = false;
        for (state, members) in groups(stage) {
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
            let label = look.paint.tone(ColorTone::of_cluster(state), &label);
            let is_quiet = matches!(state, ClusterState::NotReached | ClusterState::Done);
            if is_quiet && names.len() > NAMED_QUIET && !look.verbose {
                let _ = writeln!(out, "{trunk}{label}");
                cut = true;
                continue;
            }
            let most = look.most(NAMED);
            cut |= names.len() > most;
            let first = format!("{trunk}{label}: ");
            look.twig(out, &first, trunk, &list(&names, most));
        }
        for task in stage.gates(TaskTime::After) {
            self.gate(out, task, stage, trunk);
        }
        if let Some(end) = end(stage) {
            look.twig(out, trunk, trunk, &end);
        }
        cut
    }

    fn gate(&self, out: &mut String, task: &GateFacts, stage: &StageProgress, trunk: &str) {
        let Self { live, look, .. } = *self;
        let is_reached = task.state != GateState::NotReached;
        if !is_reached && stage.state.is_settled() && !look.verbose {
            return;
        }
        let open = live.and_then(|live| {
            let is_this = |gate: &&GateFacts| {
                (&gate.stage, gate.when, &gate.kind, &gate.request)
                    == (&stage.name, task.when, &task.kind, &task.request)
            };
            let gate = live.gates.iter().find(is_this)?;
            Some((gate, wait(gate, live.now)))
        });
        let label = look.paint.gate_side(task);
        let first = format!("{trunk}{label}: ");
        let words = open.as_ref().map(|(_, words)| words.as_str());
        let text = gate_words(task, stage, words);
        look.twig(out, &first, trunk, &text);
        if let Some(command) = open.and_then(|(gate, _)| gate.command.as_ref()) {
            let command = look.paint.command(&look.invocation.command(command));
            let _ = writeln!(out, "{trunk}  {command}");
        }
    }
}

/// When a stage ends. Of one that waits for its tasks, they say so themselves.
fn end(stage: &StageProgress) -> Option<String> {
    if stage.deletes || stage.state == StageState::WaitingAfter {
        return None;
    }
    stage.ends.as_ref()?.describe()
}

/// A gate in words; what it waits for, where that is known.
fn gate_words(task: &GateFacts, stage: &StageProgress, waits: Option<&str>) -> String {
    let request = task
        .request
        .as_deref()
        .filter(|_| task.state != GateState::NotReached)
        .map_or_else(String::new, |name| format!(" {name}"));
    let over = stage.state.is_over();
    let stopped = matches!(stage.state, StageState::Stopped | StageState::Stopping);
    let state = match task.until {
        Some(until) if task.state == GateState::NotReached => {
            format!("until {until}, even while the run is stopped")
        }
        None if task.state == GateState::NotReached => "not reached".to_owned(),
        _ if task.is_passed() => "done".to_owned(),
        _ if over && task.is_approved() => "approved, but the run ended first".to_owned(),
        _ if over => "not passed".to_owned(),
        _ if stopped && task.is_approved() => "approved, checked when resumed".to_owned(),
        _ if task.is_approved() => "approved, not yet reconciled".to_owned(),
        _ if let Some(waits) = waits => waits.to_owned(),
        Some(until) => format!("until {until}"),
        None => "pending".to_owned(),
    };
    format!("{}{request}, {state}", task.kind)
}

fn name(cluster: &ClusterProgress, progress: &RunFacts, live: Option<&LiveTree<'_>>) -> String {
    let mut notes = Vec::new();
    if let Some(index) = &cluster.snapshot
        // Before its turn a cluster has what it had: that is nothing to tell.
        && cluster.state != ClusterState::NotReached
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
pub fn lasting(since: Timestamp, now: Timestamp) -> String {
    duration::describe(now.duration_since(since).max(SignedDuration::ZERO))
}

pub fn wait(gate: &GateFacts, now: Timestamp) -> String {
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
    match gate.state {
        _ if gate.is_approved() => "approved, not yet reconciled".to_owned(),
        GateState::Ignored => {
            format!(
                "pending{lasting}: approved, but not for its generation, which KubeFleet ignores"
            )
        }
        GateState::Withheld => {
            format!("pending{lasting}: Approved is not True, which KubeFleet treats as no answer")
        }
        GateState::Missing => "the request does not exist".to_owned(),
        GateState::Unknown => "whether it was answered was not read".to_owned(),
        GateState::Foreign => "the request belongs to another run or stage".to_owned(),
        _ => format!("pending{lasting}"),
    }
}

impl TextPaint {
    fn gate_side(self, gate: &GateFacts) -> String {
        let text = gate.side();
        match gate.state {
            GateState::NotReached => text.to_owned(),
            _ if gate.is_passed() => self.good(text),
            _ if gate.is_approved() => self.hint(text),
            _ => self.warning(text),
        }
    }
}
