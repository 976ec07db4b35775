//! What is shown again and again: redrawn in place on a terminal, elsewhere only what changed.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;

use crate::commands::gather::hubs::{AllRows, FollowNews, FollowedHubs, HubRows};
use crate::commands::gather::runs;
use crate::commands::output::{self, Format, Output, names};
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::ObjectRef;
use crate::render::table::{Table, TableStyle};
use crate::render::wrap::{fit, fit_all, hanging};
use crate::report::NotChecked;
use crate::ui::{ProgressBars, Ui};
use crate::words::enumerate;

/// Where something that changes is shown.
pub(super) struct WatchView {
    /// The terminal on which it is redrawn.
    screen: Option<ProgressBars>,
}

impl WatchView {
    /// Redraws what is meant for people, where the answer goes to a terminal.
    pub(super) fn new(is_text: bool, ui: &Ui) -> Self {
        let screen = Some(ui.screen()).filter(|screen| is_text && screen.is_visible());
        Self { screen }
    }

    pub(super) const fn is_redrawn(&self) -> bool {
        self.screen.is_some()
    }

    /// The columns of the terminal as it is now.
    pub(super) fn columns(&self) -> Option<usize> {
        let (columns, _) = self.screen.as_ref()?.size()?;
        Some(columns)
    }

    /// Draws texts in place of the last ones, and below them what is missing.
    pub(super) fn draw<T>(&self, texts: &[String], hubs: &FollowedHubs<'_, T>, ui: &Ui) {
        let Some((screen, (columns, rows))) = self
            .screen
            .as_ref()
            .and_then(|screen| Some((screen, screen.size()?)))
        else {
            return;
        };
        let mut notes = String::new();
        for absent in hubs.answers().absent() {
            self.warning(&mut notes, &absent.message, ui);
        }
        for hub in &hubs.away() {
            let text = format!("{}; retrying", hub.says(&hub.found));
            self.warning(&mut notes, &text, ui);
        }
        for hub in &hubs.answers().not_reached {
            self.warning(&mut notes, &hub.says(), ui);
        }
        let pending = hubs.pending();
        if !pending.is_empty() {
            let text = format!("no answer yet: {}", enumerate(pending));
            hanging(&mut notes, "", "  ", &text, columns);
        }
        let notes = fit(&notes, columns, rows / 2);
        let mut lines = fit_all(texts, columns, rows.saturating_sub(notes.len()));
        lines.extend(notes);
        screen.draw(&lines);
    }

    /// Adds a warning below what is drawn.
    fn warning(&self, text: &mut String, sentence: &str, ui: &Ui) {
        let label = format!("{} ", ui.paint().warning("warning:"));
        hanging(text, &label, "  ", sentence, self.columns().unwrap_or(80));
    }

    /// Says which hubs do not answer or answer again, where nothing is redrawn.
    pub(super) fn connection<T>(&self, hubs: &mut FollowedHubs<'_, T>, ui: &mut Ui) {
        if self.is_redrawn() {
            return;
        }
        hubs.tell(ui);
        for hub in hubs.take_connections() {
            match &hub.found {
                Some(why) => ui.warning(&format!("{}; retrying", hub.says(why))),
                None => ui.status(&hub.says("the hub answers again")),
            }
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
}

pub(super) struct ItemNow<T> {
    hub: Option<String>,
    key: String,
    object: Option<ObjectRef>,
    item: T,
    /// The same as text: the item has changed when this has.
    text: String,
}

impl<T: Serialize> ItemNow<T> {
    pub(super) fn new(
        hub: Option<String>,
        key: String,
        object: Option<ObjectRef>,
        item: T,
    ) -> Result<Self, Error> {
        let text = serde_json::to_string(&item).map_err(anyhow::Error::from)?;
        Ok(Self {
            hub,
            key,
            object,
            item,
            text,
        })
    }

    /// What tells it from all others.
    fn place(&self) -> (Option<&str>, &str) {
        (self.hub.as_deref(), &self.key)
    }
}

/// An event, as `kubectl get --output-watch-events` has it.
#[derive(Serialize)]
struct WatchedItem<'i, T> {
    #[serde(rename = "type")]
    what: &'static str,
    object: &'i T,
}

/// Shows a list until the user ends it, or no hub is followed any more. `show` makes the list of rows.
pub(super) fn follow<R: Clone, T: Serialize>(
    args: &WatchArgs,
    output: &Output,
    mut hubs: FollowedHubs<'_, HubRows<R>>,
    ui: &mut Ui,
    show: impl Fn(AllRows<R>, &Ui) -> Result<ListNow<T>, Error>,
) -> Result<Exit, Error> {
    let is_table = matches!(output.format(), Format::Table | Format::Wide);
    let mut told = FollowedList {
        view: WatchView::new(is_table, ui),
        output,
        events: args.output_watch_events,
        has_titles: false,
        last: None,
        gaps: Vec::new(),
        empty: BTreeMap::new(),
    };
    let ended = told.until_end(&mut hubs, ui, &show);
    told.end(ui);
    let exit = ended?;
    hubs.tell(ui);
    Ok(exit)
}

/// What was shown of a list so far.
struct FollowedList<'o, T> {
    view: WatchView,
    output: &'o Output,
    events: bool,
    has_titles: bool,
    last: Option<ListNow<T>>,
    gaps: Vec<NotChecked>,
    /// What is said of hubs without any row; of others nothing.
    empty: BTreeMap<Option<String>, Option<String>>,
}

impl<T: Serialize> FollowedList<'_, T> {
    fn until_end<R: Clone>(
        &mut self,
        hubs: &mut FollowedHubs<'_, HubRows<R>>,
        ui: &mut Ui,
        show: &impl Fn(AllRows<R>, &Ui) -> Result<ListNow<T>, Error>,
    ) -> Result<Exit, Error> {
        loop {
            match hubs.next(hubs.tick(), ui)? {
                FollowNews::Now => {}
                FollowNews::Interrupted | FollowNews::Late => return Ok(Exit::Interrupted),
            }
            self.show(hubs, ui, show)?;
            if ui.is_closed() || hubs.is_over() {
                return Ok(hubs.answers().exit(Exit::Done));
            }
        }
    }

    fn show<R: Clone>(
        &mut self,
        hubs: &mut FollowedHubs<'_, HubRows<R>>,
        ui: &mut Ui,
        show: &impl Fn(AllRows<R>, &Ui) -> Result<ListNow<T>, Error>,
    ) -> Result<(), Error> {
        let shown = hubs.shown();
        for hub in &shown {
            let none = hub.says_none();
            let is_new = !self.empty.contains_key(&hub.hub);
            if let (Some(none), true, false) = (&none, is_new, self.view.is_redrawn()) {
                ui.status(none);
            }
            self.empty.insert(hub.hub.clone(), none);
        }
        self.empty.retain(|hub, _| !hubs.has_ended(hub.as_deref()));
        let rows = AllRows::of(shown);
        let gaps = rows.named_gaps();
        if self.gaps != gaps && !self.view.is_redrawn() {
            runs::warn(&gaps, ui);
        }
        self.gaps = gaps;
        let now = show(rows, ui)?;
        self.view.connection(hubs, ui);
        if self.view.is_redrawn() {
            self.view.draw(&[self.text(&now, ui)], hubs, ui);
        } else {
            self.changes(&now, hubs, ui)?;
        }
        self.last = Some(now);
        Ok(())
    }

    fn sheet(&self, ui: &Ui) -> TableStyle {
        let sheet = self.output.sheet(ui);
        let columns = self.view.columns();
        TableStyle {
            width: sheet.width.map(|width| columns.unwrap_or(width)),
            ..sheet
        }
    }

    /// The whole list, as it stands on a terminal.
    fn text(&self, now: &ListNow<T>, ui: &Ui) -> String {
        let mut text = if now.items.is_empty() {
            let none = self.empty.values().flatten();
            none.fold(String::new(), |text, none| text + none + "\n")
        } else {
            now.table.draw(&self.sheet(ui))
        };
        for sentence in runs::unlisted(&self.gaps) {
            self.view.warning(&mut text, &sentence, ui);
        }
        text
    }

    /// Prints what is new, what changed, and what is gone.
    fn changes<R>(
        &mut self,
        now: &ListNow<T>,
        hubs: &FollowedHubs<'_, R>,
        ui: &mut Ui,
    ) -> Result<(), Error> {
        let sheet = self.sheet(ui);
        let drawn = now.table.draw(&sheet);
        let mut lines = drawn.lines();
        let titles = sheet.headers.then(|| lines.next()).flatten();
        let mut titles = titles.filter(|_| !self.has_titles);
        let last = self.last.iter().flat_map(|last| &last.items);
        let mut known: BTreeMap<_, _> = last.map(|item| (item.place(), item)).collect();
        for item in &now.items {
            let row = lines.next().unwrap_or_default();
            let what = match known.remove(&item.place()) {
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
        for item in last.filter(|item| known.contains_key(&item.place())) {
            // What is not seen any more may still be there.
            if hubs.has_ended(item.hub.as_deref()) {
                continue;
            }
            match self.output.format() {
                format @ (Format::Json | Format::Yaml) if self.events => {
                    ui.answer(&self.document("DELETED", item, format)?);
                }
                _ => {
                    let hub = item.hub.as_ref().map(|hub| format!("{hub}: "));
                    let (hub, key) = (hub.unwrap_or_default(), &item.key);
                    ui.status(&format!("{hub}{key} is not in the list any more"));
                }
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
        let as_yaml = format == Format::Yaml;
        let object = &item.item;
        if self.events {
            output::streamed(&WatchedItem { what, object }, as_yaml)
        } else {
            output::streamed(object, as_yaml)
        }
    }

    fn end(&self, ui: &mut Ui) {
        if let Some(last) = &self.last {
            let text = self.text(last, ui);
            self.view.end(|| text, ui);
        }
    }
}
