//! When the stages of a run end, if clusters take as long as clusters of its placement took before.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::after::{Intervention, after};
use super::play::{ClusterPace, PlayEnd, PlayLimits, play};
use super::state::State;
use super::wait::AwaitedEvent;
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::run::{ClusterStatus, RunState, StageStatus, TaskStatus, UpdateRun};
use crate::kubefleet::{Condition, Conditions, names, reasons};
use crate::rollout::AgentVersion;
use crate::rollout::life;
use crate::rollout::{LOOK_EVERY, StageEnd};

/// How many looks at clusters one play may take, so that a run of thousands is not played for long.
const WORK: usize = 40_000;
/// How many looks one play takes at least.
const LOOKS: usize = 40;

/// How long clusters took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterTimes {
    pub shortest: SignedDuration,
    pub longest: SignedDuration,
}

impl ClusterTimes {
    /// Of the clusters that runs have finished. One that was finished as soon as it was started had
    /// the content already.
    pub fn of<'r>(runs: impl Iterator<Item = &'r UpdateRun>) -> Option<Self> {
        let stages = runs.flat_map(|run| &run.status.stages);
        let clusters = stages.flat_map(|stage| &stage.clusters);
        let times = clusters
            .filter_map(took)
            .filter(SignedDuration::is_positive);
        times.fold(None, |known: Option<Self>, took| {
            let known = known.unwrap_or(Self {
                shortest: took,
                longest: took,
            });
            Some(Self {
                shortest: known.shortest.min(took),
                longest: known.longest.max(took),
            })
        })
    }

    /// Of the clusters of an inventory's placement, as far as its runs were read.
    pub fn of_placement(inventory: &Inventory) -> Option<Self> {
        let runs = inventory.runs.iter();
        Self::of(runs.filter(|run| !life::is_of_earlier(inventory, run)))
    }
}

fn took(cluster: &ClusterStatus) -> Option<SignedDuration> {
    let at = |kind| {
        let condition = cluster.conditions.condition(kind);
        condition.filter(|it| it.is_true())?.since
    };
    Some(at(reasons::SUCCEEDED)?.duration_since(at(reasons::STARTED)?))
}

/// When the stages of a run end that goes on from where it stands; `None` for those that are done,
/// and where it is unknown. What decides whether the run goes on at all is not checked.
pub fn forecast(state: &State, times: ClusterTimes) -> Vec<Option<StageEnd>> {
    if is_slow(state, times.longest) || is_long(&state.run) {
        return Vec::new();
    }
    let state = assumed(state);
    // What was noted at one look may have been so since the one before, and may be noted one later.
    let shortest = times.shortest.saturating_sub(LOOK_EVERY);
    let shortest = shortest.max(SignedDuration::ZERO);
    let pause = shortest.clamp(SignedDuration::from_secs(1), LOOK_EVERY);
    let early = play_stages(&state, shortest, pause, false).into_iter();
    let longest = times.longest.saturating_add(LOOK_EVERY);
    // Where nothing tells the version, the tasks of stages without clusters may be carried out.
    let older = state.is_version_guessed.then(|| State {
        version: AgentVersion::V03,
        ..state.clone()
    });
    let late = play_stages(older.as_ref().unwrap_or(&state), longest, LOOK_EVERY, true).into_iter();
    let pairs = early.zip(late);
    let range = |(early, late): (Option<StageEnd>, Option<StageEnd>)| {
        let mut late = late?;
        late.at_most = late.at_most.saturating_add(LOOK_EVERY);
        StageEnd::between(&early?, &late)
    };
    pairs.map(range).collect()
}

/// Whether a cluster takes longer than any did before. That it is done is noted a look later at most;
/// that its content fails says nothing until then: every rollout passes through that.
fn is_slow(state: &State, longest: SignedDuration) -> bool {
    let longest = longest.saturating_add(LOOK_EVERY);
    let mut flying = state.run.in_flight();
    flying.any(|cluster| {
        let since = cluster.conditions.since(reasons::STARTED);
        since.is_none_or(|it| state.now.duration_since(it) > longest)
    })
}

/// How many looks one play of a run may take.
fn looks(run: &UpdateRun) -> usize {
    let clusters = run.all_stages().map(|it| it.clusters.len());
    WORK.checked_div(clusters.sum()).unwrap_or(WORK).max(LOOKS)
}

/// Whether the stage that is under way has more batches of clusters left than a play has looks.
fn is_long(run: &UpdateRun) -> bool {
    let Some(at) = run.status.stages.iter().position(|it| !it.is_done()) else {
        return false;
    };
    let strategy = run.status.strategy.as_deref();
    let spec = strategy.and_then(|strategy| strategy.stages.get(at));
    let clusters = run.status.stages.get(at).map_or(&[][..], |it| &it.clusters);
    let at_once = spec.and_then(|it| it.concurrency(clusters.len()));
    let left = clusters.iter().filter(|it| !it.is_done()).count();
    left.div_ceil(at_once.unwrap_or(1).max(1)) > looks(run)
}

/// The objects with what a play needs: bindings that were not read are what the run has written, and
/// requests that were not read do not exist.
fn assumed(state: &State) -> State {
    let mut state = State {
        trusts: true,
        ..state.clone()
    };
    state.approvals.gap = None;
    if state.bindings.gap.take().is_some() {
        let known = state.bindings.items.iter();
        let known: BTreeSet<_> = known.map(|it| it.spec.cluster.as_str()).collect();
        let unread = state.run.updated_clusters();
        let unread = unread.filter(|cluster| !known.contains(cluster.name.as_str()));
        let unread: Vec<_> = unread
            .map(|cluster| Arc::new(written(&state.run, cluster)))
            .collect();
        state.bindings.items.extend(unread);
    }
    state
}

/// The binding of a cluster as the run has written it.
fn written(run: &UpdateRun, cluster: &ClusterStatus) -> Binding {
    let mut binding = Binding::default();
    binding.spec.cluster.clone_from(&cluster.name);
    let started = cluster.conditions.condition(reasons::STARTED);
    if let Some(started) = started.filter(|it| it.is_true()) {
        "Bound".clone_into(&mut binding.spec.state);
        binding.spec.snapshot =
            names::master_snapshot(&run.spec.placement, &run.status.snapshot_index);
        binding.spec.overrides.clone_from(&cluster.overrides);
        let overrides = &cluster.cluster_overrides;
        binding.spec.cluster_overrides.clone_from(overrides);
        binding
            .spec
            .apply_strategy
            .clone_from(&run.status.apply_strategy);
        binding.status.conditions.push(Condition {
            kind: reasons::ROLLOUT_STARTED.to_owned(),
            observed_generation: None,
            ..started.clone()
        });
    }
    binding
}

/// The ends of the stages where every cluster takes this long. Approvals are given as soon as they are
/// asked for, or when they are all that the run waits for.
fn play_stages(
    state: &State,
    took: SignedDuration,
    pause: SignedDuration,
    at_once: bool,
) -> Vec<Option<StageEnd>> {
    // What was noted at one look and the next is counted from look to look.
    let looks = took.as_millis().div_euclid(pause.as_millis().max(1));
    let looks = i32::try_from(looks).unwrap_or(i32::MAX);
    let took = pause.saturating_mul(looks);
    let now = state.now;
    let is_absent =
        |member: &&MemberCluster| member.is_leaving() || member.silent_for(now).is_some();
    let absent = state.members.iter().filter(is_absent);
    let absent: BTreeSet<_> = absent.map(|member| member.meta.name.as_str()).collect();
    let pace = |name: &str| (!absent.contains(name)).then_some(took);
    let mut course = ForecastPlay {
        state: state.clone(),
        pause,
        at_once,
        from: now,
        origin: StageEnd::default(),
        ends: vec![None; state.run.status.stages.len()],
    };
    while course.play_on(&pace) {}
    course.ends
}

/// A run that is played from one approval to the next.
struct ForecastPlay {
    state: State,
    pause: SignedDuration,
    at_once: bool,
    /// Since when time is counted, and what that is.
    from: Timestamp,
    origin: StageEnd,
    ends: Vec<Option<StageEnd>>,
}

impl ForecastPlay {
    /// Plays until a person has to act, and acts. Returns whether it goes on.
    fn play_on(&mut self, pace: ClusterPace<'_>) -> bool {
        let limits = PlayLimits {
            until: Timestamp::MAX,
            looks: looks(&self.state.run),
            pause: Some(self.pause),
        };
        let Ok(played) = play(self.state.clone(), pace, &limits) else {
            return false;
        };
        let was = std::mem::replace(&mut self.state, played.state);
        self.note_ends(&was.run.status.stages);
        let last = played.writes.last().map_or(was.now, |write| write.at);
        match played.end {
            PlayEnd::Waits(waits) => waits.iter().any(|it| self.act(it, was.now, last)),
            _ => false,
        }
    }

    /// Notes the stages that have ended. That one ends with its approval goes without saying.
    fn note_ends(&mut self, was: &[StageStatus]) {
        let stages = self.state.run.status.stages.clone();
        self.ends.resize(stages.len(), None);
        for (at, stage) in stages.iter().enumerate() {
            let is_new = stage.is_done() && !was.get(at).is_some_and(StageStatus::is_done);
            let answers =
                |it: &TaskStatus| self.origin.after_approval.as_ref() == Some(&it.approval_request);
            let is_answer = stage.after.iter().any(answers);
            if let Some(ended) = stage.ended.filter(|_| is_new && !is_answer) {
                self.note(at, ended, None);
            }
        }
    }

    /// Does what the run waits for, which began to play and wrote last at these times.
    fn act(&mut self, awaited: &AwaitedEvent, began: Timestamp, wrote: Timestamp) -> bool {
        let mut origin = StageEnd::default();
        let (act, due) = match awaited {
            AwaitedEvent::Approval { request, .. } => {
                let asked = self.ask(request);
                origin.after_approval = Some(request.clone());
                let request = request.clone();
                (Intervention::Approve { request }, asked.max(Some(began)))
            }
            AwaitedEvent::Start if self.state.run.spec.wants() == RunState::Initialize => {
                origin.after_start = true;
                (Intervention::SetState(RunState::Run), None)
            }
            _ => return false,
        };
        let Ok(state) = after(&self.state, &act) else {
            return false;
        };
        // A timer runs while the approval is asked for.
        let due = due.filter(|_| self.at_once).unwrap_or(wrote);
        let waited = wrote.duration_since(due.min(wrote));
        self.from = state.now.checked_sub(waited).unwrap_or(state.now);
        self.state = state;
        self.origin = origin;
        true
    }

    /// When an approval is asked for. Where that is to come, a stage that it ends is over until then.
    fn ask(&mut self, request: &str) -> Option<Timestamp> {
        let names = |task: &TaskStatus| task.approval_request == request;
        let stages = self.state.run.status.stages.iter();
        let mut stages = stages.enumerate();
        let (at, task, ends) = stages.find_map(|(at, stage)| {
            let ends = stage.after.iter().any(names);
            let mut tasks = stage.tasks();
            Some((at, tasks.find(|task| names(task))?, ends))
        })?;
        let created = task.conditions.condition(reasons::APPROVAL_REQUEST_CREATED);
        let asked = created?.since?;
        if ends && asked >= self.from {
            self.note(at, asked, Some(request.to_owned()));
        }
        Some(asked)
    }

    /// Notes the end of a stage.
    fn note(&mut self, at: usize, time: Timestamp, approval: Option<String>) {
        let takes = time.duration_since(self.from);
        if let Some(end) = self.ends.get_mut(at).filter(|end| end.is_none()) {
            *end = Some(StageEnd {
                until_approval: approval,
                at_least: takes,
                at_most: takes,
                ..self.origin.clone()
            });
        }
    }
}

#[cfg(test)]
mod tests;
