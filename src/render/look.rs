//! How whatever is drawn looks.

use super::invocation::Invocation;
use super::style::Paint;

/// How to draw.
#[derive(Debug, Clone)]
pub struct Look {
    /// Columns to fill.
    pub width: usize,
    /// Color or not.
    pub paint: Paint,
    /// How commands are written.
    pub invocation: Invocation,
    /// Whether everything is shown, however long.
    pub verbose: bool,
}

impl Look {
    /// The same without colors and line breaks, to be compared.
    #[must_use]
    pub fn plain(&self) -> Self {
        Self {
            width: usize::from(u16::MAX),
            paint: Paint::new(false),
            invocation: self.invocation.clone(),
            verbose: self.verbose,
        }
    }
}
