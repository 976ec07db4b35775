//! `status --watch`: the same, until the runs end.

use super::{StatusArgs, StatusFormat, exit};
use crate::commands::gather::followed_rollouts::{
    FollowedRollout, FollowedRollouts, FollowedStates, RolloutNow,
};
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::hubs::{FollowCall, FollowNews, FollowedHubs, HubAnswer};
use crate::commands::gather::session::Session;
use crate::commands::output;
use crate::commands::show::wait::is_borne;
use crate::commands::show::watch_view::WatchView;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::status::{beginning, changes};
use crate::render::{self, RenderLook};
use crate::report::Verdict;
use crate::ui::Ui;

pub(super) fn run(args: &StatusArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let call = FollowCall {
        of: &args.hubs.contexts,
        input: Some(&args.input),
        limit: None,
        command: "status",
    };
    let words = args.targets.clone();
    let mut place = None;
    let mut hubs = session.follow(&call, &mut place, move |reading, ui| {
        let targets = reading.targets(&words, ui)?;
        Ok(Box::new(
            FollowedRollouts::new(reading, targets)?.with_ends(true),
        ))
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

/// A rollout that is watched. It ends when it is not seen any more, with an exit code.
type WatchedRollout = FollowedRollout<Exit>;

struct StatusView<'a> {
    view: WatchView,
    args: &'a StatusArgs,
    global: &'a GlobalFlags,
    rollouts: Vec<WatchedRollout>,
}

impl StatusView<'_> {
    fn follow(
        &mut self,
        hubs: &mut FollowedHubs<'_, FollowedStates>,
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
                // Nothing is known any more of what goes on where a hub is not followed any more.
                has_ended(rollout) || !hubs.has_ended(rollout.hub.as_deref())
            });
            self.view.connection(hubs, ui);
            self.draw(hubs, ui);
            let is_over = hubs.is_known() && self.rollouts.iter().all(|it| self.is_over(it));
            if is_over || ui.is_closed() {
                let exit_zero = self.args.exit_zero;
                let exits = self.rollouts.iter().map(|rollout| {
                    let own = rollout.last.as_ref().map(|last| exit(last, exit_zero));
                    rollout.end.or(own).unwrap_or(Exit::Done)
                });
                return Ok(hubs.answers().exit(Exit::worst(exits)));
            }
        }
    }

    /// Whether nothing is to be seen of it any more, or it is stuck for longer than one is patient.
    fn is_over(&self, rollout: &WatchedRollout) -> bool {
        let patience = self.args.patience;
        let is_given_up = |last: &Status| {
            last.verdict == Verdict::Stuck && patience.is_some() && !is_borne(last, patience)
        };
        has_ended(rollout) || rollout.last.as_deref().is_some_and(is_given_up)
    }

    fn take(
        &mut self,
        shown: HubAnswer<FollowedStates>,
        hubs: &FollowedHubs<'_, FollowedStates>,
        ui: &mut Ui,
    ) -> Result<(), Error> {
        let is_redrawn = self.view.is_redrawn();
        let own = FollowedRollout::of_hub(&mut self.rollouts, shown, hubs);
        for (rollout, label, now) in own {
            if rollout.end.is_some() {
                continue;
            }
            match now {
                RolloutNow::State(status) => {
                    if !is_redrawn {
                        let last = rollout.last.as_deref();
                        tell(self.args.output, label, (last, &status), ui)?;
                    }
                    rollout.last = Some(status);
                }
                RolloutNow::Gone(error) | RolloutNow::Denied(error) => {
                    if label.is_none() {
                        return Err(error);
                    }
                    rollout.end = Some(error.exit);
                    rollout.last = None;
                    ui.warning(&error.message);
                }
            }
        }
        Ok(())
    }

    fn draw(&self, hubs: &FollowedHubs<'_, FollowedStates>, ui: &Ui) {
        if self.view.is_redrawn() {
            let look = self.look(ui);
            let states = self.rollouts.iter().filter_map(|it| it.last.as_deref());
            let texts = states.map(|status| render::status::watched(status, &look));
            self.view.draw(&texts.collect::<Vec<_>>(), hubs, ui);
        }
    }

    /// Leaves the terminal as it should be: with the last states, whole.
    fn end(&self, ui: &mut Ui) {
        let states = self.rollouts.iter().filter_map(|it| it.last.as_deref());
        let states: Vec<_> = states.collect();
        if !states.is_empty() {
            let look = self.look(ui);
            let texts = states.iter().map(|it| render::status::status(it, &look));
            self.view.end(|| texts.collect::<Vec<_>>().join("\n"), ui);
        }
    }

    /// How to draw on a terminal of the width that it has now.
    fn look(&self, ui: &Ui) -> RenderLook {
        let mut look = ui.look(self.global.verbose);
        if let Some(columns) = self.view.columns() {
            look.width = columns.clamp(40, 160);
        }
        look
    }
}

/// Whether nothing is to be seen of it any more.
fn has_ended(rollout: &WatchedRollout) -> bool {
    rollout.end.is_some() || rollout.last.as_ref().is_some_and(|last| last.is_over())
}

fn tell(
    format: StatusFormat,
    label: Option<String>,
    (last, status): (Option<&Status>, &Status),
    ui: &mut Ui,
) -> Result<(), Error> {
    if format == StatusFormat::Text {
        let lines = match last {
            Some(last) => changes(last, status),
            None => beginning(status),
        };
        let label = label.map_or_else(String::new, |label| format!("{label}: "));
        for line in lines {
            ui.answer(&format!("{}  {label}{line}\n", status.as_of));
        }
    } else if last.is_none_or(|last| !last.is_same_state(status)) {
        ui.answer(&output::streamed(status, format == StatusFormat::Yaml)?);
    }
    Ok(())
}
