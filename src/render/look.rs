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
