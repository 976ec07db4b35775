//! Waiting for a rollout: what happens meanwhile is told on standard error.

use std::time::{Duration, Instant};

use crate::commands::open::following::{Followed, Following};
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::hub::{self, News};
use crate::render::status::bars::{BarFrame, bars};
use crate::render::status::{beginning, changes, gaps, line, verdict};
use crate::ui::{ProgressBars, Ui};

/// How often timers are looked at.
const TICK: Duration = Duration::from_secs(1);
/// How often something is said off a terminal.
const MINUTE: Duration = Duration::from_mins(1);
/// After how long waiting is worth a drawing.
const PATIENCE: Duration = Duration::from_millis(400);

/// How a wait ended.
pub(in crate::commands) enum End<D> {
    /// With what the wait was for, and the state at that moment.
    Decided(D, Box<Status>),
    /// It took too long; the last state, where the hub has told one.
    TimedOut(Option<Box<Status>>),
    /// What was followed does not exist any more.
    Gone,
    /// The user wants it to end.
    Interrupted,
}

/// Follows a rollout until `decide` has something to say, at most this long. `wanted` is what
/// the words for it.
pub(in crate::commands) fn until<D>(
    following: &mut Following<'_>,
    wanted: &str,
    timeout: Option<Duration>,
    ui: &mut Ui,
    decide: &mut dyn FnMut(&Status) -> Option<D>,
) -> Result<End<D>, Error> {
    // Without any time there is one look, which takes what its requests may take.
    let end = timeout.filter(|limit| !limit.is_zero());
    following.end_at(end.map(hub::TimeLimit::after));
    let ended = look_until(following, wanted, timeout, ui, decide);
    following.end_at(None);
    ended
}

fn look_until<D>(
    following: &mut Following<'_>,
    wanted: &str,
    timeout: Option<Duration>,
    ui: &mut Ui,
    decide: &mut dyn FnMut(&Status) -> Option<D>,
) -> Result<End<D>, Error> {
    let begun = Instant::now();
    let mut talk = Talk::new(wanted, ui);
    let mut last: Option<Box<Status>> = None;
    loop {
        let status = match following.look() {
            Ok(Followed::State(status)) => status,
            Ok(Followed::Gone) => {
                talk.end(None, ui);
                return Ok(End::Gone);
            }
            Ok(Followed::Interrupted) => {
                talk.end(last.as_deref(), ui);
                return Ok(End::Interrupted);
            }
            Ok(Followed::Late) => {
                talk.end(last.as_deref(), ui);
                return Ok(End::TimedOut(last));
            }
            Err(error) => {
                talk.end(None, ui);
                return Err(error);
            }
        };
        let away = following.away().map(ToString::to_string);
        talk.tell(last.as_deref(), &status, away.as_deref(), ui);
        if let Some(decision) = decide(&status) {
            talk.end(Some(&status), ui);
            return Ok(End::Decided(decision, status));
        }
        let left = timeout.map(|limit| limit.saturating_sub(begun.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            talk.end(Some(&status), ui);
            return Ok(End::TimedOut(Some(status)));
        }
        talk.draw(&status, away.as_deref(), ui);
        last = Some(status);
        let tick = talk.tick();
        if following.wait(left.map_or(tick, |left| left.min(tick))) == News::Interrupted {
            talk.end(last.as_deref(), ui);
            return Ok(End::Interrupted);
        }
    }
}

/// What is said while it is waited: on a terminal the stages are drawn in place, elsewhere each
/// change is a line.
struct Talk<'w> {
    wanted: &'w str,
    progress: ProgressBars,
    begun: Instant,
    /// When something was said last.
    said: Instant,
    away: bool,
}

impl<'w> Talk<'w> {
    fn new(wanted: &'w str, ui: &Ui) -> Self {
        Self {
            wanted,
            progress: ui.progress(),
            begun: Instant::now(),
            said: Instant::now(),
            away: false,
        }
    }

    /// Tells of a state, and of what is different from the last.
    fn tell(&mut self, last: Option<&Status>, status: &Status, away: Option<&str>, ui: &mut Ui) {
        let mut lines = match last {
            _ if self.progress.is_visible() => gaps(last, status),
            Some(last) => changes(last, status),
            None => beginning(status),
        };
        if !self.progress.is_visible() {
            if lines.is_empty() && self.said.elapsed() >= MINUTE {
                lines.push(format!("waiting for {}: {}", self.wanted, line(status)));
            }
            if let Some(away) = away.filter(|_| !self.away) {
                lines.push(format!("{away}; retrying"));
            } else if self.away && away.is_none() {
                lines.push("the hub answers again".to_owned());
            }
            self.away = away.is_some();
        }
        if !lines.is_empty() {
            self.said = Instant::now();
        }
        for line in lines {
            ui.event(status.as_of, &line);
        }
    }

    /// Draws a state that is not the last one. What is over at once is not drawn.
    fn draw(&self, status: &Status, away: Option<&str>, ui: &Ui) {
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        let lines = self.progress.size().map(|(columns, rows)| {
            let frame = BarFrame {
                wanted: self.wanted,
                away,
                columns,
                rows,
                paint: ui.paint_err(),
            };
            bars(status, &frame)
        });
        self.progress.draw(&lines.unwrap_or_default());
    }

    /// How long until something may be drawn anew.
    fn tick(&self) -> Duration {
        let patience = PATIENCE.saturating_sub(self.begun.elapsed());
        if patience.is_zero() { TICK } else { patience }
    }

    /// Takes the drawing away, in place of which stands how far the run has come.
    fn end(&self, status: Option<&Status>, ui: &mut Ui) {
        self.progress.clear();
        if let Some(status) = status.filter(|_| self.progress.is_visible()) {
            ui.event(status.as_of, &verdict(status));
        }
    }
}
