//! The terminal: answers on one stream, everything else on the other, and nobody else prints.

use std::io::{self, IsTerminal, Read, Write};

use crate::error::Error;
use crate::render::escape;
use crate::render::style::Paint;

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the environment says about the terminal.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set, not empty and not `0`.
    pub force_color: bool,
    /// `TERM` is `dumb`.
    pub dumb: bool,
    /// `COLUMNS`, when it is a number.
    pub columns: Option<usize>,
    /// The name under which the program was called.
    pub called_as: String,
}

impl Environment {
    /// Reads the process's environment and the first of its arguments.
    pub fn of_process() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            no_color: set("NO_COLOR").is_some(),
            force_color: set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            dumb: set("TERM").is_some_and(|value| value == "dumb"),
            columns: set("COLUMNS").and_then(|value| value.to_str()?.parse().ok()),
            called_as: std::env::args().next().unwrap_or_default(),
        }
    }
}

/// The streams of a command.
pub struct Ui {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    input: Option<Box<dyn Read>>,
    out_is_terminal: bool,
    width: usize,
    environment: Environment,
    color: Color,
    quiet: bool,
    closed: bool,
}

impl Ui {
    /// The process's own streams.
    pub fn of_process() -> Self {
        let environment = Environment::of_process();
        let out_is_terminal = io::stdout().is_terminal();
        let width = environment
            .columns
            .or_else(|| {
                let terminal = out_is_terminal.then(terminal_size::terminal_size).flatten();
                terminal.map(|(width, _)| usize::from(width.0))
            })
            .unwrap_or(80);
        Self {
            out: Box::new(io::BufWriter::new(io::stdout())),
            err: Box::new(io::stderr()),
            input: Some(Box::new(io::stdin())),
            out_is_terminal,
            width: width.clamp(40, 160),
            environment,
            color: Color::Auto,
            quiet: false,
            closed: false,
        }
    }

    /// Streams for a test: never a terminal.
    pub fn for_test(out: Box<dyn Write>, err: Box<dyn Write>, environment: Environment) -> Self {
        Self {
            out,
            err,
            input: None,
            out_is_terminal: false,
            width: environment.columns.unwrap_or(80),
            environment,
            color: Color::Auto,
            quiet: false,
            closed: false,
        }
    }

    /// Applies the flags that concern output.
    pub fn configure(&mut self, color: Color, quiet: bool) {
        self.color = color;
        self.quiet = quiet;
    }

    /// How to paint answers.
    pub fn paint(&self) -> Paint {
        let environment = &self.environment;
        let coloured = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if environment.no_color => false,
            Color::Auto if environment.force_color => true,
            Color::Auto => self.out_is_terminal && !environment.dumb,
        };
        Paint::new(coloured)
    }

    /// Columns of the terminal; 80 where there is none.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The name under which the program was called.
    pub fn called_as(&self) -> &str {
        &self.environment.called_as
    }

    /// Standard input, once.
    pub fn take_input(&mut self) -> Option<Box<dyn Read>> {
        self.input.take()
    }

    /// Writes the answer. A closed pipe is no error: whoever reads has read enough.
    pub fn answer(&mut self, text: &str) {
        if self.closed {
            return;
        }
        let written = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
        if let Err(error) = written {
            self.closed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.warning(&format!("the output could not be written: {error}"));
            }
        }
    }

    /// Says something that the user should know, beside the answer.
    pub fn warning(&mut self, text: &str) {
        self.note(&format!("warning: {}\n", escape::line(text)));
    }

    /// Says what happens, unless `--quiet`.
    pub fn status(&mut self, text: &str) {
        if !self.quiet {
            self.note(&format!("{}\n", escape::line(text)));
        }
    }

    /// Says why a command failed, and what to do.
    pub fn error(&mut self, error: &Error) {
        let mut text = format!("error: {}\n", escape::lines(&error.message));
        if let Some(hint) = &error.hint {
            text = format!(
                "{text}hint: {}
",
                escape::lines(hint)
            );
        }
        self.note(&text);
    }

    /// Writes to standard error as it is.
    pub fn note(&mut self, text: &str) {
        // Nobody is left to tell when standard error is gone too.
        let _ = self
            .err
            .write_all(text.as_bytes())
            .and_then(|()| self.err.flush());
    }
}
