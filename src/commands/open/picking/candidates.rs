//! Rows of candidates, of which the user chooses.

use std::collections::HashSet;

use crate::commands::open::reading::Reading;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::render::style::Paint;
use crate::render::table::{Cell, Column, Sheet, Table};
use crate::ui::Ui;

/// Rows of candidates, and what each stands for.
pub(super) struct Candidates<T> {
    columns: Vec<Column>,
    rows: Vec<(String, Vec<Cell>)>,
    stand_for: Vec<T>,
}

impl<T> Candidates<T> {
    pub(super) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
            stand_for: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.stand_for.len()
    }

    /// Adds a row; its namespace is shown where that tells candidates apart.
    pub(super) fn add(&mut self, stands_for: T, namespace: &str, cells: impl Into<Vec<Cell>>) {
        self.stand_for.push(stands_for);
        self.rows.push((namespace.to_owned(), cells.into()));
    }

    /// The rows as lines of so many columns, no two of which are the same.
    fn lines(&self, width: usize) -> Vec<String> {
        let namespaces: HashSet<_> = self.rows.iter().map(|(namespace, _)| namespace).collect();
        let namespaced = namespaces.len() > 1;
        let first = namespaced.then(|| Column::shrinking("", 9));
        let columns: Vec<_> = first.iter().chain(&self.columns).copied().collect();
        let mut table = Table::new(columns);
        for (namespace, cells) in &self.rows {
            let first = namespaced.then(|| Cell::from(namespace));
            table.row(first.into_iter().chain(cells.iter().cloned()));
        }
        let text = table.draw(&Sheet {
            width: Some(width),
            paint: Paint::new(false),
            headers: false,
        });
        distinct(text.lines().map(str::to_owned), width)
    }

    /// Lets the user choose one; the first is the one at `at`.
    pub(super) fn one(
        mut self,
        what: &str,
        at: usize,
        reading: &mut Reading,
        ui: &mut Ui,
    ) -> Result<T, Error> {
        let prompt = prompt(what, "type to filter, Esc leaves", ui);
        let lines = self.lines(ui.candidate_width());
        let chosen = ui.choose(&prompt, lines, at, reading.hub().as_deref());
        let chosen = chosen.map_err(interrupted)?;
        reading.renew();
        let chosen = chosen.filter(|chosen| *chosen < self.stand_for.len());
        Ok(self.stand_for.swap_remove(chosen.ok_or_else(nothing)?))
    }

    /// Lets the user choose one or more.
    pub(super) fn several(
        self,
        what: &str,
        reading: &mut Reading,
        ui: &mut Ui,
    ) -> Result<Vec<T>, Error> {
        let prompt = prompt(what, "Space marks, a marks all, Esc leaves", ui);
        let lines = self.lines(ui.candidate_width());
        let chosen = ui.choose_several(&prompt, lines, reading.hub().as_deref());
        let chosen: HashSet<_> = chosen.map_err(interrupted)?.into_iter().collect();
        reading.renew();
        if chosen.is_empty() {
            return Err(nothing());
        }
        let all = self.stand_for.into_iter().enumerate();
        let marked = all.filter(|(at, _)| chosen.contains(at));
        Ok(marked.map(|(_, stands_for)| stands_for).collect())
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

pub(super) fn nothing() -> Error {
    Error::failed("nothing chosen")
}

fn interrupted(error: HubError) -> Error {
    match error {
        HubError::Interrupted => Error::new(Exit::Interrupted, "interrupted: nothing chosen"),
        error => error.into(),
    }
}

/// Lines that can be told from each other, of at most so many bytes more than columns as an ellipsis
/// in each of four columns takes.
fn distinct(lines: impl IntoIterator<Item = String>, width: usize) -> Vec<String> {
    let most = width.saturating_add(8);
    let mut seen = HashSet::new();
    let lines = lines.into_iter().map(|line| {
        let mut shown = first_bytes(&line, most).to_owned();
        let mut number = 1_u32;
        while !seen.insert(shown.clone()) {
            number = number.saturating_add(1);
            let mark = format!(" #{number}");
            shown = first_bytes(&line, most.saturating_sub(mark.len())).to_owned() + &mark;
        }
        shown
    });
    lines.collect()
}

/// As many whole characters as fit into so many bytes.
fn first_bytes(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{Candidates, Cell, Column, distinct};

    #[test]
    fn a_row_fits_and_keeps_what_is_unique() {
        let mut candidates = Candidates::new([
            Column::shrinking("", 12),
            Column::new(""),
            Column::shrinking("", 9),
        ]);
        for name in [
            "checkout-2026-11-22-rollback-a",
            "checkout-2026-11-22-rollback-b",
            "web",
        ] {
            let cells = [name, "WaitingForApproval", "checkout-placement"].map(Cell::from);
            candidates.add(name, "", cells);
        }
        let lines = candidates.lines(52);
        assert_eq!(
            lines,
            [
                "checkout-…ack-a  WaitingForApproval  checkout-…ement",
                "checkout-…ack-b  WaitingForApproval  checkout-…ement",
                "web              WaitingForApproval  checkout-…ement",
            ]
        );
    }

    #[test]
    fn rows_that_look_alike_are_told_apart() {
        let lines = ["one", "one", "two", "one"].map(str::to_owned);
        assert_eq!(distinct(lines, 20), ["one", "one #2", "two", "one #3"]);
        // Also where only the end differs, which does not fit.
        let lines = ["x".repeat(40) + "a", "x".repeat(40) + "b"];
        let shown = distinct(lines, 10);
        assert_eq!(shown[0].len(), 18);
        assert_eq!(shown[1].len(), 18);
        assert_ne!(shown[0], shown[1]);
        // A character is kept or left out as a whole.
        assert_eq!(distinct(["日本語日本語日本語".to_owned()], 3), ["日本語"]);
    }
}
