//! The terminal: answers on one stream, everything else on the other, and nobody else prints.

mod choices;
mod progress;
mod questions;

use std::cell::OnceCell;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::Error;
use crate::render::RenderLook;
use crate::render::escape;
use crate::render::invocation::Invocation;
use crate::render::style::TextPaint;
use crate::render::wrap;
use crate::words::{self, Hint, HintLine};
pub use choices::ChoiceList;
pub use progress::{ProgressBars, TerminalSize};
pub use questions::QuestionSignals;

/// When output is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment says otherwise
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The narrowest and the widest text that is wrapped; beyond it lines are hard to read.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=160;

/// Asks for text without lines, colors and redrawing.
const PLAIN: &str = "FLEET_STAGE_PLAIN";

/// Set where standard output was closed when the process began: `src/closed.c` looks before Rust opens
/// something else in its place.
const CLOSED: &str = "FLEET_STAGE_CLOSED";

/// Takes nothing.
struct ClosedStream;

impl Write for ClosedStream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("standard output is closed"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the process is told about the terminal and how it was called.
#[derive(Debug, Clone, Default)]
pub struct UiEnvironment {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set, not empty and not `0`.
    pub force_color: bool,
    /// `CLICOLOR` is `0`.
    pub avoid_color: bool,
    /// `TERM` is `dumb`.
    pub dumb: bool,
    /// `FLEET_STAGE_PLAIN` is set, not empty and not `0`.
    pub plain: bool,
    /// `COLUMNS`, when it is a number above 0.
    pub columns: Option<usize>,
    /// The width of the terminal that answers go to.
    pub terminal_width: Option<usize>,
    /// The width of the terminal that everything else goes to.
    pub err_width: Option<usize>,
    /// Standard output is a terminal.
    pub out_is_terminal: bool,
    /// Standard error is a terminal.
    pub err_is_terminal: bool,
    /// Both streams lead to the same place, as with `2>&1`.
    pub is_one_stream: bool,
    /// Standard input is a terminal.
    pub in_is_terminal: bool,
    /// The name under which the program was called.
    pub called_as: String,
    /// The command that the shell ran, which may be kubectl: `_`.
    pub shell_ran: String,
}

impl UiEnvironment {
    /// Reads variables.
    pub fn of_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self {
            no_color: set("NO_COLOR").is_some(),
            force_color: set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            avoid_color: set("CLICOLOR").is_some_and(|value| value == "0"),
            dumb: set("TERM").is_some_and(|value| value == "dumb"),
            plain: set(PLAIN).is_some_and(|value| value != "0"),
            columns: set("COLUMNS")
                .and_then(|value| value.to_str()?.parse().ok())
                .filter(|columns| *columns > 0),
            shell_ran: set("_").map_or_else(String::new, |value| value.to_string_lossy().into()),
            ..Self::default()
        }
    }

    /// Reads the process's environment, its terminal and the first of its arguments.
    pub fn of_process() -> Self {
        let out_is_terminal = io::stdout().is_terminal();
        let called_as = std::env::args_os().next();
        let called_as = called_as.map_or_else(String::new, |name| name.to_string_lossy().into());
        let told = Self::of_variables(|name| std::env::var_os(name));
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&folders).collect();
        Self {
            out_is_terminal,
            err_is_terminal: io::stderr().is_terminal(),
            is_one_stream: is_one_stream(),
            in_is_terminal: io::stdin().is_terminal(),
            terminal_width: out_size().map(|(columns, _)| columns),
            err_width: err_size().map(|(columns, _)| columns),
            shell_ran: who_ran(&called_as, &told.shell_ran, &folders),
            called_as,
            ..told
        }
    }

    /// Whether answers are drawn with as little as can be: neither lines nor colors, and nothing
    /// is drawn over. A terminal that can do no more is served like that too.
    pub const fn is_plain(&self) -> bool {
        self.plain || self.dumb && self.out_is_terminal
    }

    /// The columns that a line may fill on a stream with a terminal of this width, or without one.
    fn fills(&self, terminal: Option<usize>) -> Option<usize> {
        let columns = self.columns.or(terminal);
        columns.map(|columns| columns.max(*WIDTHS.start()))
    }

    /// Whether to color a stream.
    pub const fn colours(&self, flag: Color, is_terminal: bool) -> bool {
        match flag {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if self.no_color || self.plain => false,
            Color::Auto if self.force_color => true,
            Color::Auto => is_terminal && !self.dumb && !self.avoid_color,
        }
    }

    /// The columns to fill; 80 where there is no terminal.
    pub fn width(&self) -> usize {
        self.columns
            .or(self.terminal_width)
            .unwrap_or(80)
            .clamp(*WIDTHS.start(), *WIDTHS.end())
    }
}

/// Whether standard output and standard error lead to the same place.
#[cfg(unix)]
fn is_one_stream() -> bool {
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    let place = |stream: io::Result<std::os::fd::OwnedFd>| {
        let data = File::from(stream.ok()?).metadata().ok()?;
        Some((data.dev(), data.ino()))
    };
    let out = place(io::stdout().as_fd().try_clone_to_owned());
    let err = place(io::stderr().as_fd().try_clone_to_owned());
    out.is_some() && out == err
}

#[cfg(not(unix))]
const fn is_one_stream() -> bool {
    false
}

/// A text without line breaks of its own, folded where it goes to a terminal of so many columns.
fn folded(width: Option<usize>, lead: &str, indent: &str, text: &str) -> String {
    let Some(width) = width else {
        return format!("{lead}{}\n", escape::line(text));
    };
    let mut out = String::new();
    wrap::hanging(&mut out, lead, indent, text.trim_start(), width);
    out
}

/// What ran the program, as far as it shows: what the shell says in `_`, when that is kubectl or the
/// program. Otherwise, of another shell's or a script's, the program's name tells: kubectl passes
/// the path at which it found the plugin, who types passes a word.
fn who_ran(called_as: &str, shell_ran: &str, folders: &[PathBuf]) -> String {
    let name = |path: &str| {
        let name = Path::new(path).file_stem();
        name.map(std::ffi::OsStr::to_owned)
    };
    let said = name(shell_ran);
    let is_known = said == name(called_as) || said.is_some_and(|said| said == "kubectl");
    let folder = Path::new(called_as).parent();
    let was_found = folder.is_some_and(|folder| folders.iter().any(|known| known == folder));
    if !is_known && was_found && Path::new(called_as).is_absolute() {
        "kubectl".to_owned()
    } else {
        shell_ran.to_owned()
    }
}

/// The streams of a command.
pub struct Ui {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    input: Option<Box<dyn Read + Send>>,
    environment: UiEnvironment,
    /// What is drawn on either terminal, once something is.
    progress: OnceCell<ProgressBars>,
    screen: OnceCell<ProgressBars>,
    /// Whether lines are drawn on either.
    drawn: Arc<AtomicBool>,
    invocation: Invocation,
    color: Color,
    quiet: bool,
    closed: bool,
    failed: bool,
    answered: bool,
    /// The last event that was told.
    told: Option<String>,
    /// What was asked of each hub.
    counts: Vec<Box<dyn Display>>,
}

impl Ui {
    /// Any streams, and what is known about them.
    pub fn new(
        out: Box<dyn Write>,
        err: Box<dyn Write>,
        input: Option<Box<dyn Read + Send>>,
        environment: UiEnvironment,
    ) -> Self {
        Self {
            out,
            err,
            input,
            progress: OnceCell::new(),
            screen: OnceCell::new(),
            drawn: Arc::default(),
            invocation: Invocation::new(&environment.called_as, &environment.shell_ran, &[]),
            environment,
            color: Color::Auto,
            quiet: false,
            closed: false,
            failed: false,
            answered: false,
            told: None,
            counts: Vec::new(),
        }
    }

    /// Nobody hears it, and nobody can be asked.
    pub fn silent() -> Self {
        let (out, err) = (Box::new(io::sink()), Box::new(io::sink()));
        Self::new(out, err, None, UiEnvironment::default())
    }

    /// The process's own streams.
    pub fn of_process() -> Self {
        let out: Box<dyn Write> = match std::env::var_os(CLOSED) {
            Some(_) => Box::new(ClosedStream),
            None => Box::new(io::BufWriter::new(io::stdout())),
        };
        Self::new(
            out,
            Box::new(io::stderr()),
            Some(Box::new(io::stdin())),
            UiEnvironment::of_process(),
        )
    }

    /// Applies the flags that concern output, and those that commands in texts repeat.
    pub fn configure(&mut self, color: Color, quiet: bool, repeated: &[(&str, Option<&str>)]) {
        self.color = color;
        self.quiet = quiet;
        let environment = &self.environment;
        self.invocation = Invocation::new(&environment.called_as, &environment.shell_ran, repeated);
    }

    /// How to paint answers.
    pub const fn paint(&self) -> TextPaint {
        let environment = &self.environment;
        TextPaint::new(environment.colours(self.color, environment.out_is_terminal))
            .plainly(environment.is_plain())
    }

    /// How to paint everything else.
    pub const fn paint_err(&self) -> TextPaint {
        let environment = &self.environment;
        TextPaint::new(environment.colours(self.color, environment.err_is_terminal))
            .plainly(environment.is_plain())
    }

    /// The columns to fill.
    pub fn width(&self) -> usize {
        self.environment.width()
    }

    /// The columns that a row may fill; `None` where whoever reads is no person: nothing is cut.
    pub fn row_width(&self) -> Option<usize> {
        self.environment.fills(self.environment.terminal_width)
    }

    /// How commands are written.
    pub const fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    /// How what is for standard output looks.
    pub fn look(&self, verbose: bool) -> RenderLook {
        RenderLook {
            width: self.width(),
            paint: self.paint(),
            invocation: self.invocation.clone(),
            verbose,
        }
    }

    /// Standard input, once.
    pub fn take_input(&mut self) -> Option<Box<dyn Read + Send>> {
        self.input.take()
    }

    /// Whether someone can be asked: standard input is a terminal.
    pub const fn has_terminal_input(&self) -> bool {
        self.environment.in_is_terminal
    }

    /// Whether the answer goes to a terminal.
    pub const fn answers_a_terminal(&self) -> bool {
        self.environment.out_is_terminal
    }

    /// What says on standard error what is waited for. It is seen on a terminal only.
    pub fn progress(&self) -> ProgressBars {
        let environment = &self.environment;
        let poor = environment.dumb || environment.plain;
        if !environment.err_is_terminal || poor || self.quiet {
            return ProgressBars::hidden();
        }
        let new = || ProgressBars::on(Box::new(io::stderr()), err_size, &self.drawn);
        self.progress.get_or_init(new).clone()
    }

    /// An answer that is drawn again and again, where it goes to a terminal.
    pub fn screen(&self) -> ProgressBars {
        if !self.answers_a_terminal() || self.environment.is_plain() {
            return ProgressBars::hidden();
        }
        let new = || ProgressBars::on(Box::new(io::stdout()), out_size, &self.drawn);
        self.screen.get_or_init(new).clone()
    }

    /// Takes away what is drawn: what is written next stays.
    fn clear(&self) {
        for drawn in [self.progress.get(), self.screen.get()] {
            drawn.into_iter().for_each(ProgressBars::clear);
        }
    }

    /// Writes an answer of one line, as people read it: folded on a terminal, and only what was not
    /// told in the same place already.
    pub fn answer_line(&mut self, line: &str) {
        let environment = &self.environment;
        let is_one_screen = environment.out_is_terminal && environment.err_is_terminal;
        if (is_one_screen || environment.is_one_stream) && self.was_told(line) {
            self.answered = true;
            return;
        }
        let width = self.environment.fills(self.environment.terminal_width);
        self.answer(&folded(width, "", "  ", line));
    }

    /// Writes the answer. A closed pipe is no error: whoever reads has read enough.
    pub fn answer(&mut self, text: &str) {
        self.write(&words::unobeyed(text));
    }

    /// Writes an answer that is for the agent of a pipeline: its lines are commands of ours.
    pub fn answer_agent(&mut self, text: &str) {
        self.write(&words::unmarked_text(text));
    }

    fn write(&mut self, text: &str) {
        if self.closed {
            return;
        }
        self.answered = true;
        self.clear();
        let written = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
        if let Err(error) = written {
            self.closed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.failed = true;
                self.error(&Error::failed(format!(
                    "the output could not be written: {error}"
                )));
            }
        }
    }

    /// Whether something was answered already.
    pub const fn has_answered(&self) -> bool {
        self.answered
    }

    /// Whether an answer was lost: the disk is full, say.
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether whoever reads the answer has gone.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Says something that the user should know, beside the answer.
    pub fn warning(&mut self, text: &str) {
        let label = self.paint_err().warning("warning:");
        let text = self.folded(&format!("{label} "), "  ", text);
        self.note(&text);
    }

    /// Says what could be done next, unless `--quiet`.
    pub fn hint(&mut self, hint: impl Into<Hint>) {
        if !self.quiet {
            let text = self.folded_hint(&hint.into());
            self.note(&text);
        }
    }

    /// Says what happened at a moment, unless `--quiet`. Who reads that does not read it again as the
    /// answer.
    pub fn event(&mut self, at: impl std::fmt::Display, what: &str) {
        self.status(&format!("{at}  {what}"));
        self.told = (!self.quiet).then(|| what.to_owned());
    }

    /// Whether the last event ends with a sentence.
    pub fn was_told(&self, sentence: &str) -> bool {
        let before = self
            .told
            .as_deref()
            .and_then(|told| told.strip_suffix(sentence));
        before.is_some_and(|before| before.is_empty() || before.ends_with(": "))
    }

    /// Says nothing of what happens from now on, as with `--quiet`; returns whether it did before.
    pub const fn hush(&mut self) -> bool {
        std::mem::replace(&mut self.quiet, true)
    }

    /// Says what happens again, unless it did not before.
    pub const fn unhush(&mut self, was_quiet: bool) {
        self.quiet = was_quiet;
    }

    /// Says what happens, unless `--quiet`.
    pub fn status(&mut self, text: &str) {
        if !self.quiet {
            let text = self.folded("", "  ", text);
            self.note(&text);
        }
    }

    /// Counts with [`Self::tell_counts`] what is asked of a hub.
    pub fn count(&mut self, count: impl Display + 'static) {
        self.counts.push(Box::new(count));
    }

    /// Says how much was asked of each hub.
    pub fn tell_counts(&mut self) {
        for count in std::mem::take(&mut self.counts) {
            self.status(&format!("read from the hub: {count}"));
        }
    }

    /// A line as a person reads it: in the width of the terminal. Nothing is folded for programs.
    fn folded(&self, lead: &str, indent: &str, text: &str) -> String {
        let width = self.environment.fills(self.environment.err_width);
        folded(width, lead, indent, text)
    }

    /// A hint: its sentences are folded, its commands are not, so that they can be copied.
    fn folded_hint(&self, hint: &Hint) -> String {
        let label = format!("{} ", self.paint_err().hint("hint:"));
        let mut out = String::new();
        for (at, line) in hint.lines().iter().enumerate() {
            let lead = if at == 0 { label.as_str() } else { "" };
            match line {
                HintLine::Text(text) => {
                    let text = self.invocation.prose(&escape::line(text));
                    out.push_str(&self.folded(lead, "  ", &text));
                }
                HintLine::Command(command) => {
                    out.push_str(lead);
                    out.push_str("  ");
                    out.push_str(&self.invocation.command(command));
                    out.push('\n');
                }
            }
        }
        out
    }

    /// Shows what a command is about to do, unless `--quiet`.
    pub fn preview(&mut self, line: &str) {
        if !self.quiet {
            let indent = line.len() - line.trim_start().len();
            let lead = " ".repeat(indent);
            let text = self.folded(&lead, &format!("{lead}  "), line);
            self.note(&text);
        }
    }

    /// Shows a drawn text beside the answer, unless `--quiet`.
    pub fn picture(&mut self, text: &str) {
        if !self.quiet {
            self.note(text);
        }
    }

    /// Says why a command failed, and what to do; also with `--quiet`.
    pub fn error(&mut self, error: &Error) {
        let label = format!("{} ", self.paint_err().error("error:"));
        let mut text = self.folded(&label, "  ", &error.message);
        if let Some(hint) = &error.hint {
            text.push_str(&self.folded_hint(hint));
        }
        self.note(&text);
    }

    /// Says what caused an error, from the outside in.
    pub fn causes(&mut self, error: &Error) {
        let label = format!("{} ", self.paint_err().dim("caused by:"));
        for cause in error.causes() {
            self.note(&self.folded(&label, "  ", &cause));
        }
    }

    /// Writes to standard error as it is.
    pub fn note(&mut self, text: &str) {
        self.clear();
        // Nobody is left to tell when standard error is gone too.
        let _ = self
            .err
            .write_all(words::unobeyed(text).as_bytes())
            .and_then(|()| self.err.flush());
    }
}

/// The size of the terminal that answers go to, as it is now.
fn out_size() -> Option<TerminalSize> {
    terminal_size::terminal_size_of(io::stdout()).and_then(size)
}

/// The size of the terminal that everything else goes to, as it is now.
fn err_size() -> Option<TerminalSize> {
    terminal_size::terminal_size_of(io::stderr()).and_then(size)
}

fn size((columns, rows): (terminal_size::Width, terminal_size::Height)) -> Option<TerminalSize> {
    let size = (usize::from(columns.0), usize::from(rows.0));
    Some(size).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

#[cfg(test)]
mod tests;
