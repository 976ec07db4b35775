//! Tables: one row per object, as wide as they have to be.
//!
//! Where the width is known, columns that can be spared are left out, sentences wrap, and texts that
//! may be cut are shortened in their middle, so that their beginning and their unique end stay. The
//! name of what a row is about is never cut. Where the width is not known (a pipe, a file), nothing
//! is cut: what reads it wants the whole text.

use comfy_table::CellAlignment;
use owo_colors::Style;
use unicode_width::UnicodeWidthStr;

use super::escape;
use super::style::{STRONG, TextPaint};
use super::wrap::hanging;

/// Between two columns.
const GAP: u16 = 2;
/// The library counts a column's width in 16 bits.
const WIDEST: usize = 65_000;
/// What stands where there is nothing.
const NOTHING: &str = "-";

/// What becomes of a text that is too wide for its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnFit {
    /// It stays whole: whoever reads it types it.
    Whole,
    Rigid,
    Middle,
    End,
    Wrap,
}

#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    fit: ColumnFit,
    /// How narrow the column may become, where its texts can be made to fit.
    least: usize,
    /// Whether it is left out of a table that is too wide, the least number first.
    spare: Option<u8>,
    right: bool,
}

impl Column {
    /// A column that keeps its width.
    pub const fn new(title: &'static str) -> Self {
        Self {
            title,
            fit: ColumnFit::Rigid,
            least: 0,
            spare: None,
            right: false,
        }
    }

    /// A column with the name of what the row is about, which is never cut.
    pub const fn name(title: &'static str) -> Self {
        Self {
            fit: ColumnFit::Whole,
            ..Self::new(title)
        }
    }

    /// A column whose texts may be shortened to this width.
    pub const fn shrinking(title: &'static str, least: usize) -> Self {
        Self {
            fit: ColumnFit::Middle,
            least,
            ..Self::new(title)
        }
    }

    /// A column whose texts may be cut at their end: lists.
    pub const fn ending(title: &'static str, least: usize) -> Self {
        Self {
            fit: ColumnFit::End,
            ..Self::shrinking(title, least)
        }
    }

    /// A column whose texts wrap: sentences.
    pub const fn wrapping(title: &'static str, least: usize) -> Self {
        Self {
            fit: ColumnFit::Wrap,
            ..Self::shrinking(title, least)
        }
    }

    pub const fn number(title: &'static str) -> Self {
        Self {
            right: true,
            ..Self::new(title)
        }
    }

    /// This column, left out where the table is too wide: of several the one with the least number
    /// first.
    #[must_use]
    pub const fn spare(mut self, order: u8) -> Self {
        self.spare = Some(order);
        self
    }

    fn least(&self, natural: usize) -> usize {
        match self.fit {
            ColumnFit::Whole | ColumnFit::Rigid => natural,
            ColumnFit::Middle | ColumnFit::End | ColumnFit::Wrap => {
                natural.min(self.least.max(self.title.width()))
            }
        }
    }

    /// The lines of a text in so many columns.
    fn lines(&self, text: &str, most: usize) -> Vec<String> {
        match self.fit {
            ColumnFit::Whole => vec![text.to_owned()],
            ColumnFit::Middle => vec![cut_middle(text, most)],
            ColumnFit::Rigid | ColumnFit::End => vec![cut_end(text, most)],
            ColumnFit::Wrap => {
                let mut lines = String::new();
                hanging(&mut lines, "", "", text, most.max(1));
                lines.lines().map(|line| cut_middle(line, most)).collect()
            }
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

    fn drawn(&self, paint: TextPaint, most: usize, column: &Column) -> String {
        let lines = column.lines(self.shown(), most.saturating_sub(self.indent));
        let indent = " ".repeat(self.indent.min(most));
        let lines = lines.iter();
        let lines: Vec<_> = lines
            .map(|line| indent.clone() + &paint.text(self.style, line))
            .collect();
        lines.join("\n")
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

#[derive(Debug, Clone, Copy)]
pub struct TableStyle {
    /// The columns of the terminal; `None` where nothing may be cut.
    pub width: Option<usize>,
    pub paint: TextPaint,
    pub headers: bool,
}

#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Table {
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

    pub fn line(&mut self, cell: Cell) {
        self.rows.push(Row::Line(cell));
    }

    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Draws it; nothing at all without a row.
    pub fn draw(&self, sheet: &TableStyle) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let shown = self.shown(sheet);
        let (table, heights) = arranged(&shown, sheet);
        let mut lines = table.lines();
        let titles = sheet.headers.then(|| lines.next()).flatten();
        let mut out: Vec<_> = titles.into_iter().collect();
        let most = sheet.width.unwrap_or(usize::MAX);
        let mut heights = heights.into_iter();
        for row in &self.rows {
            match row {
                Row::Cells(_) => out.extend(lines.by_ref().take(heights.next().unwrap_or(1))),
                Row::Line(cell) => {
                    out.push(cell.drawn(sheet.paint, most, &Column::shrinking("", 0)));
                }
            }
        }
        let lines = out.iter();
        lines.fold(String::new(), |out, line| out + line.trim_end() + "\n")
    }

    /// The columns for which there is room, each with its width and cells. What does not fit even
    /// then is cut at the end of the row.
    fn shown(&self, sheet: &TableStyle) -> Vec<ShownColumn<'_>> {
        let mut shown: Vec<_> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let rows = self.rows.iter();
                let cells: Vec<_> = rows
                    .filter_map(|row| match row {
                        Row::Cells(cells) => cells.get(at),
                        Row::Line(_) => None,
                    })
                    .collect();
                let title = if sheet.headers {
                    column.title.width()
                } else {
                    0
                };
                let widths = cells.iter().map(|cell| cell.shown().width() + cell.indent);
                ShownColumn {
                    column,
                    width: widths.fold(title, usize::max),
                    cells,
                }
            })
            .collect();
        let limit = sheet.width.unwrap_or(usize::MAX);
        leave_out(&mut shown, limit);
        let mut excess = total(shown.iter().map(|it| it.width)).saturating_sub(limit);
        // The widest gives first, so that short names stay whole.
        while excess > 0 {
            let wide = shown.iter_mut();
            let wide = wide.filter(|it| it.width > it.column.least(it.width));
            let Some(widest) = wide.max_by_key(|it| it.width) else {
                break;
            };
            widest.width -= 1;
            excess -= 1;
        }
        let mut room = limit;
        for it in &mut shown {
            if it.column.fit != ColumnFit::Whole {
                it.width = it.width.min(room);
            }
            it.width = it.width.min(WIDEST);
            room = room.saturating_sub(it.width + usize::from(GAP));
        }
        while shown.last().is_some_and(|it| it.width == 0) {
            shown.pop();
        }
        shown
    }
}

struct ShownColumn<'t> {
    column: &'t Column,
    width: usize,
    cells: Vec<&'t Cell>,
}

/// The width of a row of such columns.
fn total(widths: impl Iterator<Item = usize>) -> usize {
    let gap = usize::from(GAP);
    widths
        .map(|width| width + gap)
        .sum::<usize>()
        .saturating_sub(gap)
}

/// Leaves out columns that can be spared until the others fit, and as few as that takes.
fn leave_out(shown: &mut Vec<ShownColumn<'_>>, limit: usize) {
    let needed = |it: &ShownColumn<'_>| match it.column.fit {
        ColumnFit::Wrap => it.column.least(it.width),
        _ => it.width,
    };
    let spares = |it: &ShownColumn<'_>| it.column.spare;
    let mut order: Vec<_> = shown.iter().filter_map(spares).collect();
    order.sort_unstable();
    let width_without = |gone: &[u8]| {
        let kept = shown
            .iter()
            .filter(|it| spares(it).is_none_or(|it| !gone.contains(&it)));
        total(kept.map(needed))
    };
    let mut gone = Vec::new();
    for spare in order {
        if width_without(&gone) <= limit {
            break;
        }
        gone.push(spare);
    }
    for spare in gone.clone() {
        let others: Vec<_> = gone.iter().copied().filter(|it| *it != spare).collect();
        if width_without(&others) <= limit {
            gone = others;
        }
    }
    shown.retain(|it| spares(it).is_none_or(|it| !gone.contains(&it)));
}

/// The rows as the library arranges them, and how many lines each takes. Its own ways to fit a table
/// into a width cut names too; texts that are made to fit beforehand leave it nothing to do.
fn arranged(shown: &[ShownColumn<'_>], sheet: &TableStyle) -> (comfy_table::Table, Vec<usize>) {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    if sheet.headers {
        let title = |it: &ShownColumn<'_>| {
            Cell::styled(it.column.title, STRONG).drawn(sheet.paint, it.width, &Column::new(""))
        };
        table.set_header(shown.iter().map(title));
    }
    let mut heights = Vec::new();
    let rows = shown.first().map_or(0, |first| first.cells.len());
    for row in 0..rows {
        let cells = shown.iter().filter_map(|it| Some((it, it.cells.get(row)?)));
        let cells: Vec<_> = cells
            .map(|(it, cell)| cell.drawn(sheet.paint, it.width, it.column))
            .collect();
        heights.push(cells.iter().map(|it| it.lines().count()).max().unwrap_or(1));
        table.add_row(cells);
    }
    for (it, drawn) in shown.iter().zip(table.column_iter_mut()) {
        drawn.set_padding((0, GAP));
        if it.column.right {
            drawn.set_cell_alignment(CellAlignment::Right);
        }
    }
    (table, heights)
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
