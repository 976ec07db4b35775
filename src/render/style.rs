//! Color and lines, for those who see them: they never carry meaning that the words do not.

use owo_colors::Style;

use crate::report::{Severity, Verdict};

/// The palette: what is painted alike means the same.
pub const STRONG: Style = Style::new().bold();
const MINOR: Style = Style::new().dimmed();
const ERROR: Style = Style::new().red().bold();
const WARNING: Style = Style::new().yellow().bold();
const HINT: Style = Style::new().cyan().bold();
const ONGOING: Style = Style::new().blue().bold();
const GOOD: Style = Style::new().green();
const BAD: Style = Style::new().red();
const COMMAND: Style = Style::new().cyan();

/// Paints text, or leaves it alone; draws lines, or only indents.
#[derive(Debug, Clone, Copy)]
pub struct TextPaint {
    colored: bool,
    plain: bool,
}

impl TextPaint {
    /// Paints when `colored`.
    pub const fn new(colored: bool) -> Self {
        Self {
            colored,
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

    pub const fn is_colored(self) -> bool {
        self.colored
    }

    /// Paints text in a style.
    pub fn text(self, style: Style, text: &str) -> String {
        if self.colored && !text.is_empty() {
            style.style(text).to_string()
        } else {
            text.to_owned()
        }
    }

    /// Text that stands out.
    pub fn bold(self, text: &str) -> String {
        self.text(STRONG, text)
    }

    /// Text of minor interest.
    pub fn dim(self, text: &str) -> String {
        self.text(MINOR, text)
    }

    /// The word before an error.
    pub fn error(self, text: &str) -> String {
        self.text(ERROR, text)
    }

    /// The word before a warning.
    pub fn warning(self, text: &str) -> String {
        self.text(WARNING, text)
    }

    /// The word before a hint.
    pub fn hint(self, text: &str) -> String {
        self.text(HINT, text)
    }

    /// What went well.
    pub fn good(self, text: &str) -> String {
        self.text(GOOD, text)
    }

    /// What is gone.
    pub fn bad(self, text: &str) -> String {
        self.text(BAD, text)
    }

    pub fn command(self, text: &str) -> String {
        self.text(COMMAND, text)
    }

    /// The word of a severity.
    pub fn severity(self, severity: Severity) -> String {
        let style = match severity {
            Severity::Error => ERROR,
            Severity::Warning => WARNING,
            Severity::Info => ONGOING,
        };
        self.text(style, severity.as_str())
    }

    /// The word of a verdict.
    pub fn verdict(self, verdict: Verdict) -> String {
        self.text(verdict_style(verdict), verdict.as_str())
    }
}

/// The style of what a person has to look at, or not.
pub const fn attention(needed: bool) -> Style {
    if needed { WARNING } else { Style::new() }
}

/// The style of the word of a verdict.
pub const fn verdict_style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Succeeded => GOOD.bold(),
        Verdict::Failed | Verdict::InitializationFailed | Verdict::Stuck => ERROR,
        Verdict::WaitingForApproval | Verdict::Stopped | Verdict::NotStarted | Verdict::Unknown => {
            WARNING
        }
        _ => ONGOING,
    }
}
