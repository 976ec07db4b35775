//! What is drawn on a terminal and goes away again: what is being read, or the stages of a wait.

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle, TermLike};
use textwrap::core::display_width;

use crate::render::escape;
use crate::render::table::cut_middle;

/// The terminal's columns and rows.
pub type TerminalSize = (usize, usize);

/// What Ctrl-C echoes stays on the row of what is drawn.
const ECHO: usize = 3;

/// Below this many columns nothing is drawn.
const NARROWEST: usize = 12;

/// Lines at the end of a terminal, drawn in place. Nothing happens where they cannot be taken away.
#[derive(Clone)]
pub struct ProgressBars(Option<Arc<DrawnProgress>>);

struct DrawnProgress {
    bar: ProgressBar,
    size: fn() -> Option<TerminalSize>,
    /// Whether lines are drawn, here or on the other stream: what is being read does not replace them.
    lines: Arc<AtomicBool>,
}

impl ProgressBars {
    /// Draws on a stream that is a terminal of this size.
    pub(super) fn on(
        stream: Box<dyn Write + Send>,
        size: fn() -> Option<TerminalSize>,
        lines: &Arc<AtomicBool>,
    ) -> Self {
        let sheet = BarSheet {
            state: Mutex::new(BarState {
                stream,
                text: String::new(),
                fills: false,
                ended: false,
                above: 0,
                cleared: false,
                widths: Vec::new(),
                columns: 0,
            }),
            size,
        };
        let target = ProgressDrawTarget::term_like(Box::new(sheet));
        let bar = ProgressBar::with_draw_target(None, target).with_finish(ProgressFinish::AndClear);
        Self(Some(Arc::new(DrawnProgress {
            bar,
            size,
            lines: Arc::clone(lines),
        })))
    }

    pub(super) const fn hidden() -> Self {
        Self(None)
    }

    pub const fn is_visible(&self) -> bool {
        self.0.is_some()
    }

    /// The columns and rows to fill, as they are now; `None` where nothing is drawn.
    pub fn size(&self) -> Option<TerminalSize> {
        let drawn = self.0.as_ref()?;
        let (columns, rows) = (drawn.size)().unwrap_or((80, 24));
        Some((columns.saturating_sub(ECHO), rows.saturating_sub(1)))
            .filter(|_| columns >= NARROWEST)
    }

    /// Says what is waited for, on one line, unless lines are drawn.
    pub fn say(&self, text: &str) {
        let (Some(drawn), Some((columns, _))) = (&self.0, self.size()) else {
            return;
        };
        if drawn.lines.load(Ordering::SeqCst) {
            return;
        }
        let spinner = style("{spinner} {msg}").tick_chars("|/-\\ ");
        drawn.bar.set_style(spinner);
        let text = cut_middle(&escape::line(text), columns.saturating_sub(2));
        if drawn.bar.message() != text {
            drawn.bar.set_message(text);
        }
        drawn.bar.tick();
    }

    /// Takes away what was said. Lines stay.
    pub fn hush(&self) {
        if let Some(drawn) = &self.0
            && !drawn.lines.load(Ordering::SeqCst)
        {
            self.clear();
        }
    }

    /// Draws lines in place of what was drawn before. They fit [`Self::size`].
    pub fn draw(&self, lines: &[String]) {
        if let Some(drawn) = &self.0 {
            drawn.lines.store(!lines.is_empty(), Ordering::SeqCst);
            drawn.bar.set_style(style("{msg}"));
            drawn.bar.set_message(lines.join("\n"));
        }
    }

    pub fn clear(&self) {
        if let Some(drawn) = &self.0
            && !drawn.bar.message().is_empty()
        {
            self.draw(&[]);
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A terminal as [`indicatif`] draws on it. It writes lines without the spaces that would fill their
/// rows, so that what Ctrl-C echoes does not begin a row, and finds what was drawn before the
/// terminal became narrower.
struct BarSheet {
    state: Mutex<BarState>,
    size: fn() -> Option<TerminalSize>,
}

struct BarState {
    stream: Box<dyn Write + Send>,
    /// What is written at the next flush.
    text: String,
    /// Whether the next text fills the row of a line.
    fills: bool,
    /// Whether a line stands there, and the next one begins a row.
    ended: bool,
    /// The rows above that were drawn last.
    above: usize,
    cleared: bool,
    /// The widths of the lines that were drawn last, and the terminal's.
    widths: Vec<usize>,
    columns: usize,
}

impl BarSheet {
    fn state(&self) -> MutexGuard<'_, BarState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn columns(&self) -> usize {
        // A wide character needs two.
        (self.size)().map_or(80, |(columns, _)| columns).max(2)
    }
}

impl TermLike for BarSheet {
    fn width(&self) -> u16 {
        u16::try_from(self.columns()).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        let rows = (self.size)().map_or(24, |(_, rows)| rows).max(1);
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Is called with the rows above that were drawn last, then to come back from clearing them.
    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        let columns = self.columns();
        let mut state = self.state();
        let widths = std::mem::take(&mut state.widths);
        // A terminal whose width has changed has wrapped them anew.
        let up = if columns == state.columns {
            n
        } else {
            let rows = widths.iter().map(|width| width.div_ceil(columns).max(1));
            rows.sum::<usize>().saturating_sub(1)
        };
        if !widths.is_empty() && up > 0 {
            let _ = write!(state.text, "\u{1b}[{up}A");
            state.above = up;
        }
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)?;
        self.write_str("")
    }

    /// Is called for a line, then for the spaces that fill its last row.
    fn write_str(&self, text: &str) -> io::Result<()> {
        let columns = self.columns();
        let mut state = self.state();
        state.columns = columns;
        state.fills = !state.fills;
        if !state.fills {
            // The cursor stands on the last character of a full row.
            if !text.is_empty() {
                state.text.push_str("\u{1b}[K");
            }
            return Ok(());
        }
        if std::mem::replace(&mut state.ended, true) {
            state.text.push_str("\r\n");
        }
        state.text.push_str(text);
        state.widths.push(display_width(text));
        Ok(())
    }

    /// Clears all rows at once, from the first, and comes back to it. Each is cleared by itself: a
    /// terminal that is cleared from its first row on takes what was there into its history.
    fn clear_line(&self) -> io::Result<()> {
        let mut state = self.state();
        if std::mem::replace(&mut state.cleared, true) {
            return Ok(());
        }
        state.text.push('\r');
        let above = std::mem::take(&mut state.above);
        for _ in 0..above {
            state.text.push_str("\u{1b}[K\u{1b}[B");
        }
        if above > 0 {
            let _ = write!(state.text, "\u{1b}[J\u{1b}[{above}A");
        } else {
            state.text.push_str("\u{1b}[K");
        }
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let mut state = self.state();
        (state.fills, state.ended, state.cleared) = (false, false, false);
        let text = std::mem::take(&mut state.text);
        if text.is_empty() {
            return Ok(());
        }
        state.stream.write_all(text.as_bytes())?;
        state.stream.flush()
    }
}

impl fmt::Debug for BarSheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sheet").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
