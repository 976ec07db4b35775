//! `status --watch`: the same, until the run ends.

use std::time::Duration;

use super::{StatusArgs, StatusFormat, exit, look};
use crate::commands::open::following::{self, Following};
use crate::commands::open::global::Global;
use crate::commands::open::reading::Reading;
use crate::commands::output;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::News;
use crate::kubefleet::ObjectRef;
use crate::render::status::{beginning, changes};
use crate::render::wrap::fit;
use crate::render::{self, Look};
use crate::ui::{ProgressBars, Ui};

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
    let mut view = WatchView::new(args.output, ui);
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

/// What is shown, and how.
struct WatchView {
    form: WatchForm,
    last: Option<Status>,
    away: Option<String>,
}

enum WatchForm {
    /// A terminal, on which the tree is drawn again.
    Screen(ProgressBars),
    /// A line per change.
    Lines,
    /// A document per change.
    Documents(StatusFormat),
}

impl WatchView {
    fn new(format: StatusFormat, ui: &Ui) -> Self {
        let screen = ui.screen();
        let form = match format {
            StatusFormat::Text if screen.is_visible() => WatchForm::Screen(screen),
            StatusFormat::Text => WatchForm::Lines,
            machine => WatchForm::Documents(machine),
        };
        Self {
            form,
            last: None,
            away: None,
        }
    }

    fn show(
        &mut self,
        status: Status,
        away: Option<String>,
        global: &Global,
        ui: &mut Ui,
    ) -> Result<(), Error> {
        let was_away = std::mem::replace(&mut self.away, away);
        let last = self.last.replace(status);
        let Some(status) = &self.last else {
            return Ok(());
        };
        match &self.form {
            WatchForm::Screen(screen) => {
                if let Some((columns, rows)) = screen.size() {
                    let look = now(screen, global, ui);
                    let text = frame(status, self.away.as_deref(), &look);
                    screen.draw(&fit(&text, columns, rows));
                }
                return Ok(());
            }
            WatchForm::Lines => {
                let lines = match &last {
                    Some(last) => changes(last, status),
                    None => beginning(status),
                };
                for line in lines {
                    ui.answer(&format!("{}  {line}\n", status.as_of));
                }
            }
            WatchForm::Documents(format) => {
                if last.is_none_or(|last| !last.is_same_state(status)) {
                    let text = document(status, *format)?;
                    ui.answer(&text);
                }
            }
        }
        match (&was_away, &self.away) {
            (None, Some(why)) => ui.warning(&format!("{why}; retrying")),
            (Some(_), None) => ui.status("the hub answers again"),
            _ => {}
        }
        Ok(())
    }

    /// Leaves the terminal as it should be: with the last state, whole.
    fn end(&mut self, global: &Global, ui: &mut Ui) {
        if let (WatchForm::Screen(screen), Some(status)) = (&self.form, &self.last) {
            screen.clear();
            let text = render::status::status(status, &now(screen, global, ui));
            ui.answer(&text);
        }
    }
}

/// How to draw on a terminal of the width that it has now.
fn now(screen: &ProgressBars, global: &Global, ui: &Ui) -> Look {
    let mut look = look(ui, global);
    if let Some((columns, _)) = screen.size() {
        look.width = columns.clamp(40, 160);
    }
    look
}

/// What stands on a terminal.
fn frame(status: &Status, away: Option<&str>, look: &Look) -> String {
    let mut text = render::status::watched(status, look);
    if let Some(why) = away {
        let label = format!("{} ", look.paint.warning("warning:"));
        let why = format!("{why}; retrying");
        render::wrap::hanging(&mut text, &label, "  ", &why, look.width);
    }
    text
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
