//! Waiting for a rollout: what happens meanwhile is told on standard error.

use std::time::{Duration, Instant};

use super::following::{Following, Look};
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::hub::{self, News};
use crate::render::status::{beginning, changes, line};
use crate::ui::{Progress, Ui};

/// How often timers are looked at.
const TICK: Duration = Duration::from_secs(1);
/// How often something is said off a terminal.
const MINUTE: Duration = Duration::from_mins(1);

/// How a wait ended.
pub(super) enum End<D> {
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
/// the progress line says is waited for.
pub(super) fn until<D>(
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
            Ok(Look::State(status)) => status,
            Ok(Look::Gone) => {
                talk.end();
                return Ok(End::Gone);
            }
            Ok(Look::Interrupted) => {
                talk.end();
                return Ok(End::Interrupted);
            }
            Ok(Look::Late) => {
                talk.end();
                return Ok(End::TimedOut(last));
            }
            Err(error) => {
                talk.end();
                return Err(error);
            }
        };
        let away = following.away().map(ToString::to_string);
        talk.tell(last.as_deref(), &status, away.as_deref(), ui);
        if let Some(decision) = decide(&status) {
            talk.end();
            return Ok(End::Decided(decision, status));
        }
        let left = timeout.map(|limit| limit.saturating_sub(begun.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            talk.end();
            return Ok(End::TimedOut(Some(status)));
        }
        last = Some(status);
        if following.wait(left.map_or(TICK, |left| left.min(TICK))) == News::Interrupted {
            talk.end();
            return Ok(End::Interrupted);
        }
    }
}

/// What is said while it is waited.
struct Talk {
    wanted: String,
    progress: Progress,
    /// When something was said last.
    said: Instant,
    away: bool,
}

impl Talk {
    fn new(wanted: &str, ui: &Ui) -> Self {
        Self {
            wanted: wanted.to_owned(),
            progress: ui.progress(),
            said: Instant::now(),
            away: false,
        }
    }

    fn tell(&mut self, last: Option<&Status>, status: &Status, away: Option<&str>, ui: &mut Ui) {
        let mut lines = match last {
            Some(last) => changes(last, status),
            None => beginning(status),
        };
        let terminal = self.progress.is_visible();
        let short = format!("waiting for {}: {}", self.wanted, line(status));
        if lines.is_empty() && !terminal && self.said.elapsed() >= MINUTE {
            lines.push(short.clone());
        }
        if let Some(away) = away.filter(|_| !self.away) {
            lines.push(format!("{away}; trying again"));
        } else if self.away && away.is_none() {
            lines.push("the hub answers again".to_owned());
        }
        self.away = away.is_some();
        if !lines.is_empty() {
            self.progress.clear();
            self.said = Instant::now();
        }
        for line in lines {
            ui.event(status.as_of, &line);
        }
        self.progress.show(&short);
    }

    fn end(&mut self) {
        self.progress.clear();
    }
}
