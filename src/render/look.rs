//! How whatever is drawn looks.

use super::invocation::Invocation;
use super::style::TextPaint;

/// How to draw.
#[derive(Debug, Clone)]
pub struct RenderLook {
    /// Columns to fill.
    pub width: usize,
    /// Color or not.
    pub paint: TextPaint,
    /// How commands are written.
    pub invocation: Invocation,
    /// Whether everything is shown, however long.
    pub verbose: bool,
}

impl RenderLook {
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
