//! Waiting for rollouts: what happens meanwhile is told on standard error.

use std::time::{Duration, Instant};

use crate::commands::gather::followed_rollouts::{
    FollowedRollout, FollowedRollouts, FollowedStates, RolloutNow,
};
use crate::commands::gather::hubs::{FollowNews, FollowedHubs, HubAnswer};
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::hub;
use crate::render::status::bars::{BarFrame, BarRun, all_bars, bars};
use crate::render::status::{beginning, changes, gaps, line, verdict};
use crate::ui::{ProgressBars, Ui};

/// How often something is said off a terminal.
const MINUTE: Duration = Duration::from_mins(1);
/// After how long waiting is worth a drawing.
const PATIENCE: Duration = Duration::from_millis(400);

pub(in crate::commands) enum WaitResult<D> {
    /// With what the wait was for, and the state at that moment.
    Decided(D, Box<Status>),
    /// It took too long; the last state, where the hub has told one.
    TimedOut(Option<Box<Status>>),
    /// What was followed does not exist any more.
    Gone(Error),
    Interrupted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum WaitEnd {
    Over,
    TimedOut,
    Interrupted,
}

type EndedWait<D> = (WaitEnd, Vec<AwaitedRun<D>>);

pub(in crate::commands) type AwaitedRun<D> = FollowedRollout<RunEnd<D>>;

pub(in crate::commands) enum RunEnd<D> {
    Decided(D),
    Gone(Error),
    Denied(Error),
}

pub(in crate::commands) trait WaitDecider {
    type Decision;

    fn decide(&mut self, status: &Status) -> Option<Self::Decision>;

    /// What is told of a decision at once, where other runs are still waited for.
    fn says(&self, _decision: &Self::Decision) -> Option<String> {
        None
    }

    fn is_over(
        &self,
        runs: &[AwaitedRun<Self::Decision>],
        hubs: &FollowedHubs<'_, FollowedStates>,
    ) -> bool;
}

struct JudgeOfOne<'d, D>(&'d mut dyn FnMut(&Status) -> Option<D>);

impl<D> WaitDecider for JudgeOfOne<'_, D> {
    type Decision = D;

    fn decide(&mut self, status: &Status) -> Option<D> {
        (self.0)(status)
    }

    fn is_over(&self, runs: &[AwaitedRun<D>], _: &FollowedHubs<'_, FollowedStates>) -> bool {
        runs.iter().all(|run| run.end.is_some())
    }
}

/// Follows one rollout until `decide` has something to say, at most this long. `wanted` is what
/// the words for it.
pub(in crate::commands) fn until<D>(
    following: FollowedRollouts<'_>,
    wanted: &str,
    timeout: Option<Duration>,
    ui: &mut Ui,
    decide: &mut dyn FnMut(&Status) -> Option<D>,
) -> Result<WaitResult<D>, Error> {
    let mut hubs = FollowedHubs::one(Box::new(following));
    let mut judge = JudgeOfOne(decide);
    let (ended, runs) = until_all(&mut hubs, (wanted, timeout), ui, &mut judge)?;
    let run = runs.into_iter().next();
    let last = run.map(|run| (run.end, run.last));
    match (ended, last) {
        (WaitEnd::Interrupted, _) => Ok(WaitResult::Interrupted),
        (_, Some((Some(RunEnd::Decided(decision)), Some(status)))) => {
            Ok(WaitResult::Decided(decision, status))
        }
        (_, Some((Some(RunEnd::Gone(error)), _))) => Ok(WaitResult::Gone(error)),
        (_, Some((Some(RunEnd::Denied(error)), _))) => Err(error),
        (_, last) => Ok(WaitResult::TimedOut(last.and_then(|(_, status)| status))),
    }
}

/// Follows rollouts until the judge calls it over, at most this long. `wanted` is what the words for
/// it.
pub(in crate::commands) fn until_all<J: WaitDecider>(
    hubs: &mut FollowedHubs<'_, FollowedStates>,
    (wanted, timeout): (&str, Option<Duration>),
    ui: &mut Ui,
    judge: &mut J,
) -> Result<EndedWait<J::Decision>, Error> {
    // Without any time there is one look, which takes what its requests may take.
    let end = timeout.filter(|limit| !limit.is_zero());
    hubs.end_at(end.map(hub::TimeLimit::after));
    let mut runs = Vec::new();
    let mut talk = WaitProgress::new(wanted, ui);
    let ended = look_until(hubs, &mut runs, &mut talk, (timeout, ui), judge);
    hubs.end_at(None);
    talk.progress.clear();
    let ended = ended?;
    if runs.len() == 1 && !hubs.is_several() || ended == WaitEnd::Interrupted {
        talk.end(hubs, &runs, ui);
    }
    Ok((ended, runs))
}

fn look_until<J: WaitDecider>(
    hubs: &mut FollowedHubs<'_, FollowedStates>,
    runs: &mut Vec<AwaitedRun<J::Decision>>,
    talk: &mut WaitProgress<'_>,
    (timeout, ui): (Option<Duration>, &mut Ui),
    judge: &mut J,
) -> Result<WaitEnd, Error> {
    let begun = Instant::now();
    let left = || timeout.map(|limit| limit.saturating_sub(begun.elapsed()));
    loop {
        let tick = talk.tick().min(hubs.tick());
        // The first look has no less time than it takes.
        let patience = left().filter(|left| !left.is_zero());
        match hubs.next(patience.map_or(tick, |left| left.min(tick)), ui)? {
            FollowNews::Now => {}
            FollowNews::Interrupted => return Ok(WaitEnd::Interrupted),
            FollowNews::Late => return Ok(WaitEnd::TimedOut),
        }
        let is_known = hubs.is_known();
        for shown in hubs.take_shown() {
            take(shown, hubs, runs, (&mut *talk, &mut *ui), judge);
        }
        // Nothing is known any more of what waits on a hub that is not followed any more.
        runs.retain(|run| run.end.is_some() || !hubs.has_ended(run.hub.as_deref()));
        talk.connection(hubs, runs, ui);
        if judge.is_over(runs, hubs) {
            return Ok(WaitEnd::Over);
        }
        hubs.tell(ui);
        let is_first = timeout.is_some_and(|limit| limit.is_zero()) && !is_known;
        if left().is_some_and(|left| left.is_zero()) && !is_first {
            return Ok(WaitEnd::TimedOut);
        }
        talk.draw(hubs, runs, ui);
    }
}

fn take<J: WaitDecider>(
    shown: HubAnswer<FollowedStates>,
    hubs: &FollowedHubs<'_, FollowedStates>,
    runs: &mut Vec<AwaitedRun<J::Decision>>,
    (talk, ui): (&mut WaitProgress<'_>, &mut Ui),
    judge: &mut J,
) {
    for (run, label, now) in FollowedRollout::of_hub(runs, shown, hubs) {
        if run.end.is_some() {
            continue;
        }
        let label = label.as_deref();
        let end = match now {
            RolloutNow::State(status) => {
                talk.tell(label, run.last.as_deref(), &status, ui);
                let decision = judge.decide(&status);
                if let (Some(label), Some(decision)) = (label, &decision)
                    && let Some(words) = judge.says(decision)
                {
                    ui.event(status.as_of, &format!("{label}: {words}"));
                }
                run.last = Some(status);
                decision.map(RunEnd::Decided)
            }
            RolloutNow::Gone(error) => Some(RunEnd::Gone(error)),
            RolloutNow::Denied(error) => Some(RunEnd::Denied(error)),
        };
        if let (Some(RunEnd::Gone(error) | RunEnd::Denied(error)), Some(_)) = (&end, label) {
            run.last = None;
            ui.warning(&error.message);
        }
        run.end = end;
    }
}

/// What is said while it is waited: on a terminal the stages are drawn in place, elsewhere each
/// change is a line.
struct WaitProgress<'w> {
    wanted: &'w str,
    progress: ProgressBars,
    begun: Instant,
    said: Instant,
}

impl<'w> WaitProgress<'w> {
    fn new(wanted: &'w str, ui: &Ui) -> Self {
        Self {
            wanted,
            progress: ui.progress(),
            begun: Instant::now(),
            said: Instant::now(),
        }
    }

    /// Tells of a state, and of what is different from the last.
    fn tell(&mut self, label: Option<&str>, last: Option<&Status>, status: &Status, ui: &mut Ui) {
        let lines = match last {
            _ if self.progress.is_visible() => gaps(last, status),
            Some(last) => changes(last, status),
            None => beginning(status),
        };
        for line in lines {
            self.say(label, status, &line, ui);
        }
    }

    fn say(&mut self, label: Option<&str>, status: &Status, line: &str, ui: &mut Ui) {
        self.said = Instant::now();
        match label {
            Some(label) => ui.event(status.as_of, &format!("{label}: {line}")),
            None => ui.event(status.as_of, line),
        }
    }

    /// Tells which hubs do not answer or answer again, and once a minute that it is still waited.
    fn connection<D>(
        &mut self,
        hubs: &mut FollowedHubs<'_, FollowedStates>,
        runs: &[AwaitedRun<D>],
        ui: &mut Ui,
    ) {
        if self.progress.is_visible() {
            return;
        }
        if self.said.elapsed() >= MINUTE {
            for run in runs.iter().filter(|run| run.end.is_none()) {
                if let Some(status) = &run.last {
                    let label = run.label_in(runs, hubs);
                    let text = format!("waiting for {}: {}", self.wanted, line(status));
                    self.say(label.as_deref(), status, &text, ui);
                }
            }
        }
        for HubAnswer { hub, found } in hubs.take_connections() {
            let of_hub = runs.iter().filter(|run| run.hub == hub);
            if let Some(status) = of_hub.filter_map(|run| run.last.as_deref()).last() {
                let retrying = found.map(|why| format!("{why}; retrying"));
                let text = retrying.as_deref().unwrap_or("the hub answers again");
                self.say(hub.as_deref(), status, text, ui);
            }
        }
    }

    /// Draws states that are not the last ones. What is over at once is not drawn.
    fn draw<D>(&self, hubs: &FollowedHubs<'_, FollowedStates>, runs: &[AwaitedRun<D>], ui: &Ui) {
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        let away: Vec<_> = hubs.away().iter().map(|hub| hub.says(&hub.found)).collect();
        let lines = self.progress.size().map(|(columns, rows)| {
            let frame = BarFrame {
                wanted: self.wanted,
                away: &away,
                columns,
                rows,
                paint: ui.paint_err(),
            };
            if let ([run], false) = (runs, hubs.is_several()) {
                return run.last.as_ref().map(|status| bars(status, &frame));
            }
            let labels: Vec<_> = runs.iter().map(|run| run.label(runs)).collect();
            let runs = runs.iter().zip(&labels).map(|(run, label)| BarRun {
                label,
                status: run.last.as_deref(),
                is_over: run.end.is_some(),
            });
            Some(all_bars(&runs.collect::<Vec<_>>(), &hubs.pending(), &frame))
        });
        self.progress.draw(&lines.flatten().unwrap_or_default());
    }

    /// How long until something may be drawn anew.
    fn tick(&self) -> Duration {
        let patience = PATIENCE.saturating_sub(self.begun.elapsed());
        if patience.is_zero() {
            Duration::MAX
        } else {
            patience
        }
    }

    /// In place of what was drawn stands how far the runs have come.
    fn end<D>(
        &mut self,
        hubs: &FollowedHubs<'_, FollowedStates>,
        runs: &[AwaitedRun<D>],
        ui: &mut Ui,
    ) {
        let is_lost =
            |run: &AwaitedRun<D>| matches!(run.end, Some(RunEnd::Gone(_) | RunEnd::Denied(_)));
        for run in runs.iter().filter(|run| !is_lost(run)) {
            if let (Some(status), true) = (&run.last, self.progress.is_visible()) {
                let label = run.label_in(runs, hubs);
                self.say(label.as_deref(), status, &verdict(status), ui);
            }
        }
    }
}
