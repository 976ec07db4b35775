//! How whatever is drawn looks.

use super::invocation::Invocation;
use super::style::TextPaint;
use super::wrap::hanging;

#[derive(Debug, Clone)]
pub struct RenderLook {
    pub width: usize,
    pub paint: TextPaint,
    pub invocation: Invocation,
    /// Whether everything is shown, however long.
    pub verbose: bool,
}

impl RenderLook {
    /// How many of something are shown where few are enough.
    pub const fn most(&self, few: usize) -> usize {
        if self.verbose { usize::MAX } else { few }
    }

    /// Appends a paragraph of a branch; where it goes on, it stands apart from the branch's trunk.
    pub fn twig(&self, out: &mut String, first: &str, trunk: &str, text: &str) {
        hanging(out, first, &format!("{trunk}  "), text, self.width);
    }

    /// The same without colors and line breaks, to be compared.
    #[must_use]
    pub fn plain(&self) -> Self {
        Self {
            width: usize::from(u16::MAX),
            paint: TextPaint::new(false),
            invocation: self.invocation.clone(),
            verbose: self.verbose,
        }
    }
}
