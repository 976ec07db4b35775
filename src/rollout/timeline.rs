//! A run in time: when each stage, gate and cluster began and ended, and who waits for whom.
//!
//! Everything follows from the run's own times. Where one is missing, nothing is drawn.

use jiff::{SignedDuration, Timestamp};

use super::{
    ClusterProgress, ClusterState, GateFacts, GateState, StageProgress, StageState, TaskTime,
};

/// A run in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline<'p> {
    /// When the first thing began.
    pub from: Timestamp,
    /// When the run was over, or the moment for which it is judged.
    pub until: Timestamp,
    /// Whether nothing more happens.
    pub is_over: bool,
    pub stages: Vec<StageLine<'p>>,
    /// Who waits for whom: first what is waited for now, then what was.
    pub waits: Vec<TimelineWait<'p>>,
}

/// A stage in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageLine<'p> {
    pub stage: &'p StageProgress,
    /// From its first gate or cluster to its end; `None` where it was not reached.
    pub span: Option<TimeSpan>,
    /// Its gates and clusters, in the order in which they come.
    pub steps: Vec<TimelineStep<'p>>,
}

/// A gate or a cluster in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineStep<'p> {
    pub what: StagePart<'p>,
    /// How long the cluster waited for a slot of its stage before it was started.
    pub slot: Option<TimeSpan>,
    /// The cluster that left it the slot.
    pub slot_of: Option<&'p str>,
    /// The wait, or the update.
    pub span: Option<TimeSpan>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StagePart<'p> {
    Gate(&'p GateFacts),
    Cluster(&'p ClusterProgress),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// Its beginning.
    pub from: Timestamp,
    /// Its end; the end of the timeline for what is under way.
    pub until: Timestamp,
    /// Whether it is under way.
    pub open: bool,
}

impl TimeSpan {
    /// How long it is.
    pub fn lasts(&self) -> SignedDuration {
        self.until.duration_since(self.from)
    }
}

/// Someone waits for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineWait<'p> {
    pub who: TimelineWaiter<'p>,
    pub on: AwaitedTask<'p>,
    /// How long; `None` where the run notes no beginning.
    pub span: Option<TimeSpan>,
    /// Whether it is waited for now.
    pub open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimelineWaiter<'p> {
    Stage(&'p StageProgress),
    Clusters(&'p StageProgress, Vec<&'p str>),
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwaitedTask<'p> {
    /// An approval or a timed wait.
    Gate(&'p GateFacts),
    /// Clusters in one state that are being updated since one moment.
    Clusters(ClusterState, Vec<&'p str>),
    /// A slot, which these clusters have.
    Slot(Vec<&'p str>),
    /// A stage that comes before.
    Stage(&'p StageProgress),
}

impl<'p> Timeline<'p> {
    /// Puts a run in time, as of a moment; `None` where nothing has begun.
    pub fn new(
        stages: &'p [StageProgress],
        ended: Option<Timestamp>,
        now: Timestamp,
    ) -> Option<Self> {
        let mut known = moments(stages);
        known.sort_unstable();
        let from = *known.first()?;
        let last = known.last().copied().unwrap_or(from);
        let settled = |stage: &StageProgress| stage.state.is_settled();
        let is_over = ended.is_some()
            || stages
                .iter()
                .all(|stage| settled(stage) && stage.state != StageState::NotReached);
        let until = match ended {
            Some(ended) => ended.max(last),
            None if is_over => last,
            None => now.max(last),
        };
        let axis = TimelineEnd { until, is_over };
        let stages: Vec<_> = stages.iter().map(|stage| axis.stage(stage)).collect();
        let waits = axis.waits(&stages);
        Some(Self {
            from,
            until,
            is_over,
            stages,
            waits,
        })
    }

    /// How long the run takes, or took.
    pub fn lasts(&self) -> SignedDuration {
        self.until.duration_since(self.from)
    }
}

/// Every moment that a run notes.
fn moments(stages: &[StageProgress]) -> Vec<Timestamp> {
    let stages = stages.iter().flat_map(|stage| {
        let clusters = stage.clusters.iter();
        let clusters = clusters.flat_map(|cluster| [cluster.started, cluster.ended]);
        let tasks = stage.gates.iter().flat_map(|task| [task.since, task.ended]);
        [stage.started, stage.ended]
            .into_iter()
            .chain(clusters)
            .chain(tasks)
    });
    stages.flatten().collect()
}

#[derive(Clone, Copy)]
struct TimelineEnd {
    until: Timestamp,
    is_over: bool,
}

impl TimelineEnd {
    /// From a moment to another, or to the end of the timeline.
    fn span(self, from: Timestamp, until: Option<Timestamp>) -> TimeSpan {
        let end = until.unwrap_or(self.until);
        TimeSpan {
            from,
            until: end.max(from),
            open: until.is_none() && !self.is_over,
        }
    }

    fn stage(self, stage: &StageProgress) -> StageLine<'_> {
        let gates = |time| stage.gates(time).map(move |task| self.gate(stage, task));
        let clusters = self.clusters(stage);
        let steps: Vec<_> = gates(TaskTime::Before)
            .chain(clusters)
            .chain(gates(TaskTime::After))
            .collect();
        let begun = steps.iter().filter_map(|step| Some(step.span?.from));
        let from = begun.chain(stage.started).min();
        let ended = stage.ended.or_else(|| {
            let ends = steps.iter().filter_map(|step| Some(step.span?.until));
            ends.max().filter(|_| stage.state.is_over())
        });
        StageLine {
            stage,
            span: from.map(|from| self.span(from, ended)),
            steps,
        }
    }

    fn gate<'p>(self, stage: &'p StageProgress, task: &'p GateFacts) -> TimelineStep<'p> {
        // A wait begins when the controller sees the last cluster done.
        // Source: updaterun/execution.go:checkAfterStageTasksStatus.
        let past = || {
            let is_wait = task.request.is_none() && task.when == Some(TaskTime::After);
            let ends = stage.clusters.iter().filter_map(|cluster| cluster.ended);
            ends.max().filter(|_| is_wait && task.ended.is_some())
        };
        let from = task.since.or_else(past);
        let from = from.filter(|_| task.state != GateState::NotReached);
        TimelineStep {
            what: StagePart::Gate(task),
            slot: None,
            slot_of: None,
            span: from.map(|from| self.span(from, task.ended)),
        }
    }

    /// The clusters of a stage. Those behind the first slots wait until one before them is done.
    fn clusters(self, stage: &StageProgress) -> Vec<TimelineStep<'_>> {
        let first = stage.clusters.iter().filter_map(|one| one.started).min();
        let mut ends: Vec<(Timestamp, &str)> = Vec::new();
        let mut steps = Vec::new();
        for (at, cluster) in stage.clusters.iter().enumerate() {
            let behind = at >= stage.concurrency && !stage.deletes;
            let (mut slot, mut slot_of) = (None, None);
            if let (true, Some(first)) = (behind, first) {
                match cluster.started {
                    Some(started) if started > first => {
                        slot = Some(self.span(first, Some(started)));
                        let done = ends.partition_point(|(end, _)| *end <= started);
                        slot_of = ends[..done].last().map(|(_, name)| *name);
                    }
                    None if cluster.state == ClusterState::NotReached && stage.in_flight() > 0 => {
                        slot = Some(self.span(first, None));
                    }
                    _ => {}
                }
            }
            if let Some(ended) = cluster.ended {
                let place = ends.partition_point(|(end, _)| *end <= ended);
                ends.insert(place, (ended, &cluster.name));
            }
            steps.push(TimelineStep {
                what: StagePart::Cluster(cluster),
                slot,
                slot_of,
                span: cluster.started.map(|from| self.span(from, cluster.ended)),
            });
        }
        steps
    }

    fn waits<'p>(self, stages: &[StageLine<'p>]) -> Vec<TimelineWait<'p>> {
        let mut waits = Vec::new();
        let mut before: Option<&StageProgress> = None;
        for line in stages {
            let stage = line.stage;
            for step in &line.steps {
                match step.what {
                    StagePart::Gate(task) => waits.extend(self.gate_wait(stage, task, step.span)),
                    StagePart::Cluster(cluster) => in_flight(&mut waits, stage, cluster, step.span),
                }
            }
            waits.extend(slots(line));
            if !self.is_over {
                if let (Some(unfinished), StageState::NotReached) = (before, stage.state) {
                    waits.push(TimelineWait {
                        who: TimelineWaiter::Stage(stage),
                        on: AwaitedTask::Stage(unfinished),
                        span: None,
                        open: true,
                    });
                }
                if !stage.state.is_over() {
                    before = Some(stage);
                }
            }
        }
        waits.sort_by_key(|wait| !wait.open);
        waits
    }

    /// The wait for a gate that was reached.
    fn gate_wait<'p>(
        self,
        stage: &'p StageProgress,
        task: &'p GateFacts,
        span: Option<TimeSpan>,
    ) -> Option<TimelineWait<'p>> {
        (task.state != GateState::NotReached).then(|| TimelineWait {
            who: TimelineWaiter::Stage(stage),
            on: AwaitedTask::Gate(task),
            span,
            open: !task.is_passed() && !self.is_over,
        })
    }
}

/// The clusters that wait for a slot now.
fn slots<'p>(line: &StageLine<'p>) -> Option<TimelineWait<'p>> {
    let mut span = None;
    let mut waiting = Vec::new();
    let mut holding = Vec::new();
    for step in &line.steps {
        let StagePart::Cluster(cluster) = step.what else {
            continue;
        };
        if cluster.state.is_in_flight() {
            holding.push(cluster.name.as_str());
        } else if let Some(slot) = step.slot.filter(|slot| slot.open) {
            waiting.push(cluster.name.as_str());
            span = Some(slot);
        }
    }
    (!waiting.is_empty() && !holding.is_empty()).then_some(TimelineWait {
        who: TimelineWaiter::Clusters(line.stage, waiting),
        on: AwaitedTask::Slot(holding),
        span,
        open: true,
    })
}

/// Adds a cluster that a stage waits for to those that are like it.
fn in_flight<'p>(
    waits: &mut Vec<TimelineWait<'p>>,
    stage: &'p StageProgress,
    cluster: &'p ClusterProgress,
    span: Option<TimeSpan>,
) {
    if !cluster.state.is_in_flight() {
        return;
    }
    let who = TimelineWaiter::Stage(stage);
    for wait in waits.iter_mut() {
        if let AwaitedTask::Clusters(state, names) = &mut wait.on
            && (*state, wait.span, &wait.who) == (cluster.state, span, &who)
        {
            names.push(&cluster.name);
            return;
        }
    }
    waits.push(TimelineWait {
        who,
        on: AwaitedTask::Clusters(cluster.state, vec![&cluster.name]),
        span,
        open: true,
    });
}

#[cfg(test)]
mod tests;
