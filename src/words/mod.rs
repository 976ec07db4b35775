//! Commands that people paste, and advice that holds them: built from words, quoted at one place;
//! and long texts made brief, at one place too.

mod brief;
mod class;
mod closest;
mod command;
mod hint;
mod lists;
mod quoting;
mod shown;
mod verb;
mod worded;

pub use brief::{after_colon, brief, without_place};
pub use class::CommandClass;
pub use closest::{closest, existing_names};
pub use command::{CommandLine, CommandSpelling, as_next, leading, line};
pub use hint::{Hint, HintLine};
pub use lists::{
    by_key, by_number, capital, count, distinct, enumerate, existing_indexes, list, said_if,
    together,
};
pub use quoting::{is_harmful, push_visible, quote};
pub use shown::{json, json_line, unmarked_text, unobeyed, yaml};
pub use verb::{FleetVerb, VERBS, VerbGroup};
pub(crate) use worded::worded;
