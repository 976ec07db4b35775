//! Tables: one row per object, as wide as they have to be, never wrapped.
//!
//! Where the width is known, names that may be cut are shortened in their middle, so that their
//! beginning and their unique end stay. Where it is not (a pipe, a file), nothing is cut: what
//! reads it wants the whole name.

use comfy_table::CellAlignment;
use owo_colors::Style;
use unicode_width::UnicodeWidthStr;

use super::escape;
use super::style::{Paint, STRONG};

/// Between two columns.
const GAP: u16 = 2;
/// The library counts a column's width in 16 bits.
const WIDEST: usize = 65_000;
/// What stands where there is nothing.
const NOTHING: &str = "-";

/// How a text is made to fit.
type Cut = fn(&str, usize) -> String;

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    /// How narrow the column may become; `None` when it keeps its width.
    least: Option<usize>,
    /// Whether what does not fit is cut at its end, not in its middle.
    at_end: bool,
    right: bool,
}

impl Column {
    /// A column that keeps its width.
    pub const fn new(title: &'static str) -> Self {
        Self {
            title,
            least: None,
            at_end: false,
            right: false,
        }
    }

    /// A column whose texts may be shortened to this width.
    pub const fn shrinking(title: &'static str, least: usize) -> Self {
        Self {
            title,
            least: Some(least),
            at_end: false,
            right: false,
        }
    }

    /// A column whose texts may be cut at their end: lists, sentences.
    pub const fn ending(title: &'static str, least: usize) -> Self {
        Self {
            at_end: true,
            ..Self::shrinking(title, least)
        }
    }

    /// A column of numbers.
    pub const fn number(title: &'static str) -> Self {
        Self {
            title,
            least: None,
            at_end: false,
            right: true,
        }
    }

    fn cut(&self) -> Cut {
        if self.least.is_some() && !self.at_end {
            cut_middle
        } else {
            cut_end
        }
    }
}

/// One cell: text from anywhere, and how it is painted.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    style: Style,
    indent: usize,
    blank: bool,
}

impl Cell {
    /// A cell in a style.
    pub fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self {
            style,
            ..Self::from(text.as_ref())
        }
    }

    /// A cell in which nothing belongs, not even a dash.
    pub fn blank() -> Self {
        Self {
            blank: true,
            ..Self::default()
        }
    }

    /// A cell that belongs below another row's.
    #[must_use]
    pub fn indented(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    const fn shown(&self) -> &str {
        if self.blank {
            ""
        } else if self.text.is_empty() {
            NOTHING
        } else {
            self.text.as_str()
        }
    }

    fn drawn(&self, paint: Paint, most: usize, cut: Cut) -> String {
        let text = cut(self.shown(), most.saturating_sub(self.indent));
        " ".repeat(self.indent.min(most)) + &paint.text(self.style, &text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self {
            text: escape::line(text),
            ..Self::default()
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::from(number.to_string())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or_else(Self::default, Into::into)
    }
}

#[derive(Debug, Clone)]
enum Row {
    Cells(Vec<Cell>),
    /// A line of text between the rows.
    Line(Cell),
}

/// How a table is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Sheet {
    /// The columns of the terminal; `None` where nothing may be cut.
    pub width: Option<usize>,
    /// Color or not.
    pub paint: Paint,
    /// Whether the titles are shown.
    pub headers: bool,
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
        }
    }

    /// A table with a row for each of some things, whose columns are still to be said.
    pub fn of<T>(things: &[T]) -> TableOf<'_, T> {
        TableOf {
            things,
            columns: Vec::new(),
            rows: things.iter().map(|_| Vec::new()).collect(),
        }
    }

    /// Adds a row: as many cells as there are columns.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut cells: Vec<_> = cells.into_iter().collect();
        cells.resize_with(self.columns.len(), Cell::default);
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a line of text between the rows.
    pub fn line(&mut self, cell: Cell) {
        self.rows.push(Row::Line(cell));
    }

    /// Whether there is no row.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Draws it; nothing at all without a row.
    pub fn draw(&self, sheet: &Sheet) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths = self.widths(sheet);
        let table = self.arranged(&widths, sheet);
        let mut rows = table.lines();
        let titles = sheet.headers.then(|| rows.next()).flatten();
        let most = sheet.width.unwrap_or(usize::MAX);
        let below = self.rows.iter().filter_map(|row| match row {
            Row::Cells(_) => rows.next(),
            Row::Line(cell) => Some(cell.drawn(sheet.paint, most, cut_middle)),
        });
        let lines = titles.into_iter().chain(below);
        lines.fold(String::new(), |out, line| out + line.trim_end() + "\n")
    }

    /// The rows as the library arranges them. Its own ways to fit a table into a width wrap texts,
    /// or cut them at their end; texts that are cut beforehand leave it nothing to fit.
    fn arranged(&self, widths: &[usize], sheet: &Sheet) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let cells = |cells: &[Cell]| -> Vec<String> {
            let cells = cells.iter().zip(&self.columns).zip(widths);
            cells
                .map(|((cell, column), width)| cell.drawn(sheet.paint, *width, column.cut()))
                .collect()
        };
        if sheet.headers {
            let titles = self.columns.iter();
            let titles: Vec<_> = titles.map(|c| Cell::styled(c.title, STRONG)).collect();
            table.set_header(cells(&titles));
        }
        for row in &self.rows {
            if let Row::Cells(row) = row {
                table.add_row(cells(row));
            }
        }
        for (column, drawn) in self.columns.iter().zip(table.column_iter_mut()) {
            drawn.set_padding((0, GAP));
            if column.right {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }

    /// The width of each column: what its texts need, less where the table would be too wide. What
    /// does not fit even then has no width, or no place.
    fn widths(&self, sheet: &Sheet) -> Vec<usize> {
        let titled = |column: &Column| {
            if sheet.headers {
                column.title.width()
            } else {
                0
            }
        };
        let mut widths: Vec<_> = self.columns.iter().map(titled).collect();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.shown().width() + cell.indent);
            }
        }
        let gap = usize::from(GAP);
        let limit = sheet.width.unwrap_or(usize::MAX);
        let gaps = gap * self.columns.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(limit);
        // The widest gives first, so that short names stay whole.
        while excess > 0 {
            let widest = self
                .columns
                .iter()
                .zip(widths.iter_mut())
                .filter_map(|(column, width)| {
                    let least = column.least?.max(column.title.width());
                    (*width > least).then_some(width)
                })
                .max_by_key(|width| **width);
            let Some(widest) = widest else { break };
            *widest -= 1;
            excess -= 1;
        }
        // A row never becomes two: what does not fit in the end is cut there.
        let mut room = limit;
        for width in &mut widths {
            *width = (*width).min(room).min(WIDEST);
            room = room.saturating_sub(*width + gap);
        }
        while widths.last() == Some(&0) {
            widths.pop();
        }
        widths
    }
}

/// A table of things, to which column after column is added.
pub struct TableOf<'t, T> {
    things: &'t [T],
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl<'t, T> TableOf<'t, T> {
    /// Adds a column, with what stands in it for a thing.
    #[must_use]
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&'t T) -> C) -> Self {
        self.columns.push(column);
        for (row, thing) in self.rows.iter_mut().zip(self.things) {
            row.push(cell(thing).into());
        }
        self
    }

    /// Adds a column where it is to be shown.
    #[must_use]
    pub fn column_if<C: Into<Cell>>(
        self,
        is_shown: bool,
        column: Column,
        cell: impl Fn(&'t T) -> C,
    ) -> Self {
        if is_shown {
            self.column(column, cell)
        } else {
            self
        }
    }

    pub fn table(self) -> Table {
        Table {
            columns: self.columns,
            rows: self.rows.into_iter().map(Row::Cells).collect(),
        }
    }
}

/// The first characters that fit, with an ellipsis where some do not.
fn cut_end(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut out = head(text, most.saturating_sub(1)).to_owned();
    if most > 0 {
        out.push('…');
    }
    out
}

/// Beginning and end, with an ellipsis between them where not all fits: a generated name has what
/// makes it unique at its end.
pub(crate) fn cut_middle(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    let end = room * 2 / 5;
    let tail_at = text
        .char_indices()
        .rev()
        .map(|(at, _)| at)
        .take_while(|at| text[*at..].width() <= end)
        .last()
        .unwrap_or(text.len());
    let tail = &text[tail_at..];
    let mut out = head(text, room.saturating_sub(tail.width())).to_owned();
    if most > 0 {
        out.push('…');
    }
    out.push_str(tail);
    out
}

/// As much of the beginning as fits. A character may change the width of the one before it.
fn head(text: &str, most: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| text[..*end].width() <= most).last();
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests;
