//! Color and lines, for those who see them: they never carry meaning that the words do not.

use owo_colors::Style;
use owo_colors::colors::xterm::{
    BlueRibbon, GuardsmanRed, JapaneseLaurel, RoseofSharonOrange, Teal,
};

use super::tone::ColorTone;
use crate::report::{Severity, Verdict};

/// The palette: what is painted alike means the same. Of the 256 colors, which no theme changes, those
/// that can be read on white and on black.
pub const STRONG: Style = Style::new().bold();
const MINOR: Style = Style::new().dimmed();
const ERROR: Style = RED.bold();
const WARNING: Style = Style::new().fg::<RoseofSharonOrange>().bold();
const HINT: Style = COMMAND.bold();
const ONGOING: Style = Style::new().fg::<BlueRibbon>().bold();
const GOOD: Style = Style::new().fg::<JapaneseLaurel>();
const RED: Style = Style::new().fg::<GuardsmanRed>();
const COMMAND: Style = Style::new().fg::<Teal>();

/// Paints text, or leaves it alone; draws lines, or only indents.
#[derive(Debug, Clone, Copy)]
pub struct TextPaint {
    colored: bool,
    plain: bool,
}

impl TextPaint {
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

    pub fn error(self, text: &str) -> String {
        self.text(ERROR, text)
    }

    pub fn warning(self, text: &str) -> String {
        self.text(WARNING, text)
    }

    pub fn hint(self, text: &str) -> String {
        self.text(HINT, text)
    }

    /// What went well.
    pub fn good(self, text: &str) -> String {
        self.text(GOOD, text)
    }

    /// What is gone.
    pub fn bad(self, text: &str) -> String {
        self.text(RED, text)
    }

    pub fn command(self, text: &str) -> String {
        self.text(COMMAND, text)
    }

    pub fn tone(self, tone: ColorTone, text: &str) -> String {
        match tone {
            ColorTone::Quiet => text.to_owned(),
            ColorTone::Good => self.good(text),
            ColorTone::Moving => self.hint(text),
            ColorTone::Waiting => self.warning(text),
            ColorTone::Bad => self.error(text),
        }
    }

    pub fn severity(self, severity: Severity) -> String {
        let style = match severity {
            Severity::Error => ERROR,
            Severity::Warning => WARNING,
            Severity::Info => ONGOING,
        };
        self.text(style, severity.as_str())
    }

    pub fn verdict(self, verdict: Verdict) -> String {
        self.text(verdict_style(verdict), verdict.as_str())
    }
}

/// The style of what a person has to look at, or not.
pub const fn attention(needed: bool) -> Style {
    if needed { WARNING } else { Style::new() }
}

pub const fn verdict_style(verdict: Verdict) -> Style {
    match ColorTone::of(verdict) {
        ColorTone::Good => GOOD.bold(),
        ColorTone::Bad => ERROR,
        ColorTone::Waiting => WARNING,
        ColorTone::Moving | ColorTone::Quiet => ONGOING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How bright one of the 256 colors is, of its cube. Source: WCAG 2.2, relative luminance.
    fn luminance(color: u32) -> f64 {
        let cube = color - 16;
        let light = |level: u32| {
            let value = [0.0, 95.0, 135.0, 175.0, 215.0, 255.0][level as usize] / 255.0;
            f64::powf((value + 0.055) / 1.055, 2.4)
        };
        let light = |level: u32| if level == 0 { 0.0 } else { light(level) };
        0.2126 * light(cube / 36) + 0.7152 * light(cube / 6 % 6) + 0.0722 * light(cube % 6)
    }

    /// At least what is asked for bold text and signs is 3; for small text 4.5, which no color has on
    /// both.
    #[test]
    fn colors_can_be_read_on_white_and_on_black() {
        for style in [ERROR, WARNING, HINT, ONGOING, GOOD, RED, COMMAND] {
            let painted = TextPaint::new(true).text(style, "x");
            let color = painted.split("38;5;").nth(1).unwrap();
            let color = color.split([';', 'm']).next().unwrap();
            let light = luminance(color.parse().unwrap());
            let (white, black) = (1.05 / (light + 0.05), (light + 0.05) / 0.05);
            assert!(white > 3.9 && black > 3.8, "{color}: {white:.2} {black:.2}");
        }
    }
}
