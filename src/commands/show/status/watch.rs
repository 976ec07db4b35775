//! `status --watch`: the same, until the run ends.

use std::time::Duration;

use super::{StatusArgs, StatusFormat, exit, look};
use crate::commands::open::following::{self, Following};
use crate::commands::open::global::Global;
use crate::commands::open::reading::Reading;
use crate::commands::output;
use crate::commands::show::watching::WatchView;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::News;
use crate::kubefleet::ObjectRef;
use crate::render::status::{beginning, changes};
use crate::render::{self, Look};
use crate::ui::Ui;

/// How often timers are looked at.
const TICK: Duration = Duration::from_secs(1);

/// Follows a rollout to the end of its run.
pub(super) fn run(
    args: &StatusArgs,
    global: &Global,
    reading: &mut Reading,
    target: ObjectRef,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    let mut following = Following::new(reading, target)?;
    let mut view = StatusView::new(args.output, ui);
    loop {
        let status = match following.look() {
            Ok(following::Followed::State(status)) => *status,
            Ok(following::Followed::Gone) => {
                view.end(global, ui);
                return Err(following.gone());
            }
            // It has no time limit.
            Ok(following::Followed::Interrupted | following::Followed::Late) => {
                view.end(global, ui);
                return Ok(Exit::Interrupted);
            }
            Err(error) => {
                view.end(global, ui);
                return Err(error);
            }
        };
        let away = following.away().map(ToString::to_string);
        let (over, exit) = (status.is_over(), exit(&status, args.exit_zero));
        view.show(status, away, global, ui)?;
        if over || ui.is_closed() {
            view.end(global, ui);
            return Ok(exit);
        }
        if following.wait(TICK) == News::Interrupted {
            view.end(global, ui);
            return Ok(Exit::Interrupted);
        }
    }
}

/// A rollout as it was shown so far.
struct StatusView {
    view: WatchView,
    format: StatusFormat,
    last: Option<Status>,
}

impl StatusView {
    fn new(format: StatusFormat, ui: &Ui) -> Self {
        Self {
            view: WatchView::new(format == StatusFormat::Text, ui),
            format,
            last: None,
        }
    }

    fn show(
        &mut self,
        status: Status,
        away: Option<String>,
        global: &Global,
        ui: &mut Ui,
    ) -> Result<(), Error> {
        let last = self.last.as_ref();
        if self.view.is_redrawn() {
            self.view.away(away, ui);
            let look = self.now(global, ui);
            self.view.draw(render::status::watched(&status, &look), ui);
        } else if self.format == StatusFormat::Text {
            let lines = match last {
                Some(last) => changes(last, &status),
                None => beginning(&status),
            };
            for line in lines {
                ui.answer(&format!("{}  {line}\n", status.as_of));
            }
            self.view.away(away, ui);
        } else {
            if last.is_none_or(|last| !last.is_same_state(&status)) {
                let text = document(&status, self.format)?;
                ui.answer(&text);
            }
            self.view.away(away, ui);
        }
        self.last = Some(status);
        Ok(())
    }

    /// Leaves the terminal as it should be: with the last state, whole.
    fn end(&mut self, global: &Global, ui: &mut Ui) {
        if let Some(status) = &self.last {
            let look = self.now(global, ui);
            self.view.end(|| render::status::status(status, &look), ui);
        }
    }

    /// How to draw on a terminal of the width that it has now.
    fn now(&self, global: &Global, ui: &Ui) -> Look {
        let mut look = look(ui, global);
        if let Some(columns) = self.view.columns() {
            look.width = columns.clamp(40, 160);
        }
        look
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
