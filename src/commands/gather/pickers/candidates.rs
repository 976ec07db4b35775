//! Rows of candidates, of which the user chooses.

use std::collections::BTreeSet;

use crate::commands::gather::reading::SourceReading;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::render::style::TextPaint;
use crate::render::table::{Column, Table, TableOf, TableStyle};
use crate::ui::{ChoiceList, Ui};

pub struct CandidateRows<T> {
    table: Table,
    stand_for: Vec<T>,
}

/// A table of candidates; their namespace comes first where that tells them apart.
pub fn namespaced<'t, T>(things: &'t [T], namespace: impl Fn(&'t T) -> &'t str) -> TableOf<'t, T> {
    let namespaces: BTreeSet<_> = things.iter().map(&namespace).collect();
    Table::of(things).column_if(
        namespaces.len() > 1,
        Column::shrinking("NAMESPACE", 9),
        namespace,
    )
}

impl<T> CandidateRows<T> {
    /// Candidates, each with its row of a table; fails where there are none.
    pub fn new(
        table: Table,
        stand_for: Vec<T>,
        if_none: impl FnOnce() -> Error,
    ) -> Result<Self, Error> {
        if stand_for.is_empty() {
            return Err(if_none());
        }
        Ok(Self { table, stand_for })
    }

    /// Lets the user choose one; the first is the one at `at`.
    pub fn one(
        self,
        what: &str,
        at: usize,
        reading: &mut SourceReading,
        ui: &mut Ui,
    ) -> Result<T, Error> {
        let keys = "type to filter, Esc leaves";
        let prompt = prompt(what, keys, ui);
        let chosen = self.choose(prompt, (at, false), reading, ui)?;
        chosen.into_iter().next().ok_or_else(nothing)
    }

    pub fn several(
        self,
        (of_one, what): (&str, &str),
        reading: &mut SourceReading,
        ui: &mut Ui,
    ) -> Result<Vec<T>, Error> {
        if let [_] = self.stand_for.as_slice() {
            return Ok(vec![self.one(of_one, 0, reading, ui)?]);
        }
        let keys = "type to filter, Space marks, * marks all";
        let prompt = prompt(what, keys, ui);
        self.choose(prompt, (0, true), reading, ui)
    }

    fn choose(
        self,
        prompt: String,
        (first, takes_several): (usize, bool),
        reading: &mut SourceReading,
        ui: &mut Ui,
    ) -> Result<Vec<T>, Error> {
        let text = self.table.draw(&TableStyle {
            width: Some(ui.candidate_width()),
            paint: TextPaint::new(false),
            headers: true,
        });
        let mut lines = text.lines().map(str::to_owned);
        let list = ChoiceList {
            prompt,
            titles: lines.next().unwrap_or_default(),
            lines: lines.collect(),
            first,
            takes_several,
        };
        let chosen = ui.choose(list, reading.hub().as_deref());
        let chosen = chosen.map_err(|error| match error {
            HubError::Interrupted => Error::new(Exit::Interrupted, "interrupted: nothing chosen"),
            error => error.into(),
        })?;
        reading.renew();
        if chosen.is_empty() {
            return Err(nothing());
        }
        let all = self.stand_for.into_iter().enumerate();
        let taken = all.filter(|(at, _)| chosen.contains(at));
        Ok(taken.map(|(_, stands_for)| stands_for).collect())
    }
}

/// What is asked, and which keys serve where there is room to say so.
fn prompt(what: &str, keys: &str, ui: &Ui) -> String {
    let whole = format!("{what} ({keys}):");
    if whole.len() <= ui.candidate_width() {
        whole
    } else {
        format!("{what}:")
    }
}

fn nothing() -> Error {
    Error::failed("nothing chosen")
}
