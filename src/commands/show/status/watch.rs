//! `status --watch`: the same, until the runs end.

use super::{StatusArgs, StatusFormat, exit, look};
use crate::commands::open::following::{Following, RolloutNow, Rollouts};
use crate::commands::open::global::Global;
use crate::commands::open::hubs::{FollowCall, FollowNews, FollowedHubs, HubAnswer};
use crate::commands::open::names::label;
use crate::commands::open::session::Session;
use crate::commands::output;
use crate::commands::show::watching::WatchView;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::status::{beginning, changes};
use crate::render::{self, Look};
use crate::ui::Ui;

/// Follows rollouts to the end of their runs.
pub(super) fn run(args: &StatusArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let call = FollowCall {
        of: &args.hubs.contexts,
        input: Some(&args.input),
        limit: None,
        command: "status",
    };
    let (words, namespace) = (args.targets.clone(), session.global.namespace.clone());
    let mut place = None;
    let mut hubs = session.follow(&call, &mut place, move |reading, ui| {
        let targets = reading.targets(&words, namespace.as_deref(), ui)?;
        Ok(Box::new(Following::new(reading, targets)?))
    })?;
    let (global, ui) = (session.global, &mut *session.ui);
    let mut view = StatusView {
        view: WatchView::new(args.output == StatusFormat::Text, ui),
        args,
        global,
        rollouts: Vec::new(),
    };
    let ended = view.follow(&mut hubs, ui);
    view.end(ui);
    let exit = ended?;
    hubs.tell(ui);
    Ok(exit)
}

/// A rollout that is watched.
struct WatchedRollout {
    /// Its hub, where there are several.
    hub: Option<String>,
    /// Its state as it was shown last.
    last: Option<Status>,
    /// Why it is not seen any more.
    unseen: Option<Exit>,
    /// The place of its hub among the hubs, and its own among the rollouts there.
    place: (usize, usize),
}

/// Rollouts as they were shown so far.
struct StatusView<'a> {
    view: WatchView,
    args: &'a StatusArgs,
    global: &'a Global,
    rollouts: Vec<WatchedRollout>,
}

impl StatusView<'_> {
    /// Shows them until all have ended.
    fn follow(
        &mut self,
        hubs: &mut FollowedHubs<'_, Rollouts>,
        ui: &mut Ui,
    ) -> Result<Exit, Error> {
        loop {
            match hubs.next(hubs.tick(), ui)? {
                FollowNews::Now => {}
                // It has no time limit.
                FollowNews::Interrupted | FollowNews::Late => return Ok(Exit::Interrupted),
            }
            for shown in hubs.take_shown() {
                self.take(shown, hubs, ui)?;
            }
            self.rollouts.retain(|rollout| {
                let is_unknown = hubs.has_ended(rollout.hub.as_deref());
                // Of a hub that is not followed any more, nothing else is known.
                !is_unknown || rollout.is_over()
            });
            self.view.connection(hubs, ui);
            self.draw(hubs, ui);
            let is_over = hubs.is_known() && self.rollouts.iter().all(WatchedRollout::is_over);
            if is_over || ui.is_closed() {
                let exit_zero = self.args.exit_zero;
                let exits = self.rollouts.iter().map(|rollout| rollout.exit(exit_zero));
                return Ok(hubs.answers().exit(Exit::worst(exits)));
            }
        }
    }

    /// Takes in what a hub shows.
    fn take(
        &mut self,
        shown: HubAnswer<Rollouts>,
        hubs: &FollowedHubs<'_, Rollouts>,
        ui: &mut Ui,
    ) -> Result<(), Error> {
        let HubAnswer { hub, found } = shown;
        let objects: Vec<_> = found.iter().map(|(object, _)| object.clone()).collect();
        let is_one = objects.len() == 1 && !hubs.is_several();
        for (at, (object, now)) in found.into_iter().enumerate() {
            let label = label(hub.as_deref(), &object, objects.iter());
            let place = (hubs.place(hub.as_deref()), at);
            let rollout = self.rollout(place, hub.as_deref());
            if rollout.unseen.is_some() {
                continue;
            }
            match now {
                RolloutNow::State(status) => {
                    let last = rollout.last.replace(*status.clone());
                    if !self.view.is_redrawn() {
                        let label = (!is_one).then_some(label);
                        self.tell(label, last.as_ref(), &status, ui)?;
                    }
                }
                RolloutNow::Gone(error) | RolloutNow::Denied(error) if is_one => return Err(error),
                RolloutNow::Gone(error) | RolloutNow::Denied(error) => {
                    rollout.unseen = Some(error.exit);
                    rollout.last = None;
                    ui.warning(&error.message);
                }
            }
        }
        Ok(())
    }

    /// The rollout at a place.
    fn rollout(&mut self, place: (usize, usize), hub: Option<&str>) -> &mut WatchedRollout {
        let found = self.rollouts.binary_search_by_key(&place, |it| it.place);
        let at = found.unwrap_or_else(|at| {
            self.rollouts.insert(
                at,
                WatchedRollout {
                    hub: hub.map(str::to_owned),
                    last: None,
                    unseen: None,
                    place,
                },
            );
            at
        });
        &mut self.rollouts[at]
    }

    /// Prints what is different from the last state.
    fn tell(
        &self,
        label: Option<String>,
        last: Option<&Status>,
        status: &Status,
        ui: &mut Ui,
    ) -> Result<(), Error> {
        if self.args.output == StatusFormat::Text {
            let lines = match last {
                Some(last) => changes(last, status),
                None => beginning(status),
            };
            let label = label.map_or_else(String::new, |label| format!("{label}: "));
            for line in lines {
                ui.answer(&format!("{}  {label}{line}\n", status.as_of));
            }
        } else if last.is_none_or(|last| !last.is_same_state(status)) {
            ui.answer(&document(status, self.args.output)?);
        }
        Ok(())
    }

    fn draw(&self, hubs: &FollowedHubs<'_, Rollouts>, ui: &Ui) {
        if self.view.is_redrawn() {
            let look = self.look(ui);
            let states = self.rollouts.iter().filter_map(|it| it.last.as_ref());
            let texts = states.map(|status| render::status::watched(status, &look));
            self.view.draw(&texts.collect::<Vec<_>>(), hubs, ui);
        }
    }

    /// Leaves the terminal as it should be: with the last states, whole.
    fn end(&self, ui: &mut Ui) {
        let states = self.rollouts.iter().filter_map(|it| it.last.as_ref());
        let states: Vec<_> = states.collect();
        if !states.is_empty() {
            let look = self.look(ui);
            let texts = states.iter().map(|it| render::status::status(it, &look));
            self.view.end(|| texts.collect::<Vec<_>>().join("\n"), ui);
        }
    }

    /// How to draw on a terminal of the width that it has now.
    fn look(&self, ui: &Ui) -> Look {
        let mut look = look(ui, self.global);
        if let Some(columns) = self.view.columns() {
            look.width = columns.clamp(40, 160);
        }
        look
    }
}

impl WatchedRollout {
    /// Whether nothing is to be seen of it any more.
    fn is_over(&self) -> bool {
        self.unseen.is_some() || self.last.as_ref().is_some_and(Status::is_over)
    }

    fn exit(&self, exit_zero: bool) -> Exit {
        let own = self.last.as_ref().map(|status| exit(status, exit_zero));
        self.unseen.or(own).unwrap_or(Exit::Done)
    }
}

/// A document of a stream.
fn document(status: &Status, format: StatusFormat) -> Result<String, Error> {
    if format == StatusFormat::Yaml {
        let text = output::yaml(status)?;
        return Ok(format!("---\n{text}"));
    }
    let text = serde_json::to_string(status);
    Ok(text.map_err(anyhow::Error::from)? + "\n")
}
