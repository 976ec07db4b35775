//! What is shown again and again: redrawn in place on a terminal, elsewhere only what changed.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use crate::commands::open::reading::Reading;
use crate::commands::open::runs;
use crate::commands::output::{self, Format, Output, names};
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::News;
use crate::kubefleet::ObjectRef;
use crate::render::table::{Sheet, Table};
use crate::render::wrap::{fit, hanging};
use crate::report::NotChecked;
use crate::ui::{ProgressBars, Ui};

/// After how long everything is judged anew, though nothing changed: a cluster becomes stuck by
/// time alone.
const TICK: Duration = Duration::from_secs(5);

/// Where something that changes is shown.
pub(super) struct WatchView {
    /// The terminal on which it is redrawn.
    screen: Option<ProgressBars>,
    away: Option<String>,
}

impl WatchView {
    /// Redraws what is meant for people, where the answer goes to a terminal.
    pub(super) fn new(is_text: bool, ui: &Ui) -> Self {
        let screen = Some(ui.screen()).filter(|screen| is_text && screen.is_visible());
        Self { screen, away: None }
    }

    /// Whether it is redrawn in place.
    pub(super) const fn is_redrawn(&self) -> bool {
        self.screen.is_some()
    }

    /// The columns of the terminal as it is now.
    pub(super) fn columns(&self) -> Option<usize> {
        let (columns, _) = self.screen.as_ref()?.size()?;
        Some(columns)
    }

    /// Draws a text in place of the last one.
    pub(super) fn draw(&self, text: String, ui: &Ui) {
        let Some((screen, (columns, rows))) = self
            .screen
            .as_ref()
            .and_then(|screen| Some((screen, screen.size()?)))
        else {
            return;
        };
        let mut text = text;
        if let Some(why) = &self.away {
            self.warning(&mut text, &format!("{why}; retrying"), ui);
        }
        screen.draw(&fit(&text, columns, rows));
    }

    /// Adds a warning below what is drawn.
    fn warning(&self, text: &mut String, sentence: &str, ui: &Ui) {
        let label = format!("{} ", ui.paint().warning("warning:"));
        hanging(text, &label, "  ", sentence, self.columns().unwrap_or(80));
    }

    /// Takes in why the hub does not answer, and says it where nothing is redrawn.
    pub(super) fn away(&mut self, away: Option<String>, ui: &mut Ui) {
        let was_away = std::mem::replace(&mut self.away, away);
        if self.is_redrawn() {
            return;
        }
        match (&was_away, &self.away) {
            (None, Some(why)) => ui.warning(&format!("{why}; retrying")),
            (Some(_), None) => ui.status("the hub answers again"),
            _ => {}
        }
    }

    /// Leaves the terminal as it should be: with the last state, whole.
    pub(super) fn end(&self, whole: impl FnOnce() -> String, ui: &mut Ui) {
        if let Some(screen) = &self.screen {
            screen.clear();
            ui.answer(&whole());
        }
    }
}

/// How a list is followed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(in crate::commands) struct WatchArgs {
    /// Follow changes: redraw the table on a terminal, else print each row that changes
    #[arg(short, long, conflicts_with = "files")]
    watch: bool,
    /// With --watch and -o json or yaml, print events: ADDED, MODIFIED, or DELETED, and the item
    #[arg(long)]
    output_watch_events: bool,
}

impl WatchArgs {
    /// Whether the list is to be followed.
    pub(super) fn is_on(&self, output: &Output) -> Result<bool, Error> {
        let has_events = matches!(output.format(), Format::Json | Format::Yaml);
        if self.output_watch_events && !(self.watch && has_events) {
            return Err(Error::usage(
                "--output-watch-events needs --watch, and -o json or yaml",
            ));
        }
        Ok(self.watch)
    }
}

/// A list at one moment. Each row of the table is one of its items.
pub(super) struct ListNow<T> {
    pub table: Table,
    pub items: Vec<ItemNow<T>>,
    /// What is said where there is no item.
    pub none: String,
    pub gaps: Vec<NotChecked>,
}

/// One item of a list.
pub(super) struct ItemNow<T> {
    /// What tells it from the others.
    key: String,
    /// The object that it is about, where it exists.
    object: Option<ObjectRef>,
    /// What programs get of it.
    item: T,
    /// The same as text: the item has changed when this has.
    text: String,
}

impl<T: Serialize> ItemNow<T> {
    pub(super) fn new(key: String, object: Option<ObjectRef>, item: T) -> Result<Self, Error> {
        let text = serde_json::to_string(&item).map_err(anyhow::Error::from)?;
        Ok(Self {
            key,
            object,
            item,
            text,
        })
    }
}

/// An event, as `kubectl get --output-watch-events` has it.
#[derive(Serialize)]
struct WatchedItem<'i, T> {
    #[serde(rename = "type")]
    what: &'static str,
    object: &'i T,
}

/// Shows a list until the user ends it.
pub(super) fn follow<T: Serialize>(
    args: &WatchArgs,
    output: &Output,
    reading: &mut Reading,
    ui: &mut Ui,
    look: impl Fn(&mut Reading, &Ui) -> Result<ListNow<T>, Error>,
) -> Result<Exit, Error> {
    reading.follow()?;
    let is_table = matches!(output.format(), Format::Table | Format::Wide);
    let mut told = FollowedList {
        view: WatchView::new(is_table, ui),
        output,
        events: args.output_watch_events,
        has_titles: false,
        last: None,
    };
    loop {
        let found = look(reading, ui);
        if reading.is_interrupted() {
            told.end(ui);
            return Ok(Exit::Interrupted);
        }
        let mut away = reading.away();
        match found {
            Ok(now) => told.show(now, away, ui)?,
            Err(error) => {
                away = away.or_else(|| reading.take_lost());
                if away.is_none() {
                    told.end(ui);
                    return Err(error);
                }
                told.away(away, ui);
            }
        }
        if ui.is_closed() {
            return Ok(Exit::Done);
        }
        if reading.wait(TICK) == News::Interrupted {
            told.end(ui);
            return Ok(Exit::Interrupted);
        }
    }
}

/// What was shown of a list so far.
struct FollowedList<'o, T> {
    view: WatchView,
    output: &'o Output,
    events: bool,
    has_titles: bool,
    last: Option<ListNow<T>>,
}

impl<T: Serialize> FollowedList<'_, T> {
    fn away(&mut self, away: Option<String>, ui: &mut Ui) {
        self.view.away(away, ui);
        if let Some(last) = self.last.as_ref().filter(|_| self.view.is_redrawn()) {
            self.view.draw(self.text(last, ui), ui);
        }
    }

    fn show(&mut self, now: ListNow<T>, away: Option<String>, ui: &mut Ui) -> Result<(), Error> {
        let was = self.last.as_ref().map(|last| &last.gaps);
        if was != Some(&now.gaps) && !self.view.is_redrawn() {
            runs::warn(&now.gaps, ui);
        }
        self.view.away(away, ui);
        if self.view.is_redrawn() {
            self.view.draw(self.text(&now, ui), ui);
        } else {
            self.changes(&now, ui)?;
        }
        self.last = Some(now);
        Ok(())
    }

    fn sheet(&self, ui: &Ui) -> Sheet {
        let sheet = self.output.sheet(ui);
        let columns = self.view.columns();
        Sheet {
            width: sheet.width.map(|width| columns.unwrap_or(width)),
            ..sheet
        }
    }

    /// The whole list, as it stands on a terminal.
    fn text(&self, now: &ListNow<T>, ui: &Ui) -> String {
        let mut text = if now.items.is_empty() {
            format!("{}\n", now.none)
        } else {
            now.table.draw(&self.sheet(ui))
        };
        for sentence in runs::unlisted(&now.gaps) {
            self.view.warning(&mut text, &sentence, ui);
        }
        text
    }

    /// Prints what is new, what changed, and what is gone.
    fn changes(&mut self, now: &ListNow<T>, ui: &mut Ui) -> Result<(), Error> {
        if self.last.is_none() && now.items.is_empty() {
            ui.status(&now.none);
        }
        let sheet = self.sheet(ui);
        let drawn = now.table.draw(&sheet);
        let mut lines = drawn.lines();
        let titles = sheet.headers.then(|| lines.next()).flatten();
        let mut titles = titles.filter(|_| !self.has_titles);
        let last = self.last.iter().flat_map(|last| &last.items);
        let mut known: BTreeMap<&str, _> = last.map(|item| (item.key.as_str(), item)).collect();
        for item in &now.items {
            let row = lines.next().unwrap_or_default();
            let what = match known.remove(item.key.as_str()) {
                None => "ADDED",
                Some(old) if old.text != item.text => "MODIFIED",
                Some(_) => continue,
            };
            let text = match self.output.format() {
                Format::Table | Format::Wide => {
                    self.has_titles = true;
                    let lines = titles.take().into_iter().chain([row]);
                    lines.fold(String::new(), |text, line| text + line + "\n")
                }
                Format::Name => names(&item.object),
                format => self.document(what, item, format)?,
            };
            ui.answer(&text);
        }
        let last = self.last.iter().flat_map(|last| &last.items);
        for item in last.filter(|item| known.contains_key(item.key.as_str())) {
            match self.output.format() {
                format @ (Format::Json | Format::Yaml) if self.events => {
                    ui.answer(&self.document("DELETED", item, format)?);
                }
                _ => ui.status(&format!("{} is not in the list any more", item.key)),
            }
        }
        Ok(())
    }

    fn document(
        &self,
        what: &'static str,
        item: &ItemNow<T>,
        format: Format,
    ) -> Result<String, Error> {
        let event = self.events.then_some(WatchedItem {
            what,
            object: &item.item,
        });
        Ok(match (format, event) {
            (Format::Yaml, Some(event)) => format!("---\n{}", output::yaml(&event)?),
            (Format::Yaml, None) => format!("---\n{}", output::yaml(&item.item)?),
            (_, Some(event)) => {
                let text = serde_json::to_string(&event).map_err(anyhow::Error::from)?;
                text + "\n"
            }
            (_, None) => format!("{}\n", item.text),
        })
    }

    /// Leaves the whole list on the terminal.
    fn end(&self, ui: &mut Ui) {
        if let Some(last) = &self.last {
            let text = self.text(last, ui);
            self.view.end(|| text, ui);
        }
    }
}
