//! Commands that people paste, and advice that holds them: built from words, quoted at one place;
//! and long texts made brief, at one place too.

mod brief;
mod class;
mod command;
mod hint;
mod quoting;

pub use brief::brief;
pub use class::Class;
pub use command::{Command, Spelling, as_next, line};
pub use hint::{Hint, Line};
pub use quoting::{is_harmful, quote};
