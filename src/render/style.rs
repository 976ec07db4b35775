//! Colour and lines, for those who see them: they never carry meaning that the words do not.

use anstyle::{AnsiColor, Style};

use crate::diagnose::report::{Severity, Verdict};

/// Paints text, or leaves it alone; draws lines, or only indents.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    coloured: bool,
    plain: bool,
}

impl Paint {
    /// Paints when `coloured`.
    pub const fn new(coloured: bool) -> Self {
        Self {
            coloured,
            plain: false,
        }
    }

    /// Without lines between things, for those to whom the text is read, when `plain`.
    #[must_use]
    pub const fn plainly(self, plain: bool) -> Self {
        Self { plain, ..self }
    }

    /// What a branch of a tree begins with, and what the lines below it begin with.
    pub const fn branch(self, is_last: bool) -> (&'static str, &'static str) {
        match (self.plain, is_last) {
            (true, _) => ("", "  "),
            (false, true) => ("`- ", "     "),
            (false, false) => ("|- ", "|    "),
        }
    }

    /// Whether there is colour.
    pub const fn is_coloured(self) -> bool {
        self.coloured
    }

    /// Paints text in a style.
    pub fn text(self, style: Style, text: &str) -> String {
        if self.coloured && !text.is_empty() {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_owned()
        }
    }

    /// Text that stands out.
    pub fn bold(self, text: &str) -> String {
        self.text(Style::new().bold(), text)
    }

    /// Text of minor interest.
    pub fn dim(self, text: &str) -> String {
        self.text(Style::new().dimmed(), text)
    }

    /// The word before an error.
    pub fn error(self, text: &str) -> String {
        self.text(AnsiColor::Red.on_default().bold(), text)
    }

    /// The word before a warning.
    pub fn warning(self, text: &str) -> String {
        self.text(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// The word before a hint.
    pub fn hint(self, text: &str) -> String {
        self.text(AnsiColor::Cyan.on_default().bold(), text)
    }

    /// What went well.
    pub fn good(self, text: &str) -> String {
        self.text(AnsiColor::Green.on_default(), text)
    }

    /// What is gone.
    pub fn bad(self, text: &str) -> String {
        self.text(AnsiColor::Red.on_default(), text)
    }

    /// A command.
    pub fn command(self, text: &str) -> String {
        self.text(AnsiColor::Cyan.on_default(), text)
    }

    /// The word of a severity.
    pub fn severity(self, severity: Severity) -> String {
        let style = match severity {
            Severity::Error => AnsiColor::Red.on_default().bold(),
            Severity::Warning => AnsiColor::Yellow.on_default().bold(),
            Severity::Info => AnsiColor::Blue.on_default().bold(),
        };
        self.text(style, severity.as_str())
    }

    /// What a person has to look at, or not.
    pub const fn attention(self, needed: bool) -> Style {
        if needed {
            AnsiColor::Yellow.on_default().bold()
        } else {
            Style::new()
        }
    }

    /// The word of a verdict.
    pub fn verdict(self, verdict: Verdict) -> String {
        self.text(self.verdict_style(verdict), verdict.as_str())
    }

    /// How the word of a verdict is painted.
    pub const fn verdict_style(self, verdict: Verdict) -> Style {
        let color = match verdict {
            Verdict::Succeeded => AnsiColor::Green,
            Verdict::Failed | Verdict::InitializationFailed | Verdict::Stuck => AnsiColor::Red,
            Verdict::WaitingForApproval
            | Verdict::Stopped
            | Verdict::NotStarted
            | Verdict::Unknown => AnsiColor::Yellow,
            _ => AnsiColor::Blue,
        };
        color.on_default().bold()
    }
}
