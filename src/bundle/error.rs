//! Why a bundle could not be read.

use std::fmt;
use std::io;

use crate::mask;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePlace {
    /// The file as it was given, or `standard input`.
    pub file: String,
    /// The archive member, when the file is an archive.
    pub member: Option<String>,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.member {
            Some(member) => write!(f, "{}({member})", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// Why an input could not be read: where, what is wrong in one line, and perhaps what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", self.location())]
pub struct ReadError {
    /// The file or archive member; empty when the fault is in no single one.
    pub place: FilePlace,
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What the system said.
    #[source]
    pub source: Option<io::Error>,
}

impl ReadError {
    pub(super) fn new(place: &FilePlace, message: impl Into<String>) -> Self {
        Self {
            place: place.clone(),
            line: None,
            column: None,
            // A parser quotes what it does not understand.
            message: mask::prose(&one_line(&message.into())).into_owned(),
            hint: None,
            source: None,
        }
    }

    pub(super) fn io(place: &FilePlace, what: &str, error: io::Error) -> Self {
        let mut this = Self::new(place, format!("{what}: {error}"));
        this.source = Some(error);
        this
    }

    pub(super) fn at(mut self, line: usize, column: usize) -> Self {
        self.line = Some(u32::try_from(line).unwrap_or(u32::MAX));
        self.column = Some(u32::try_from(column).unwrap_or(u32::MAX));
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn location(&self) -> String {
        let place = self.place.to_string();
        match (self.line, self.column) {
            _ if place.is_empty() => String::new(),
            (Some(line), Some(column)) => format!("{place}:{line}:{column}: "),
            (Some(line), None) => format!("{place}:{line}: "),
            _ => format!("{place}: "),
        }
    }
}

/// A parser's words without line breaks.
pub(super) fn one_line(text: &str) -> String {
    if text.contains(['\n', '\r']) {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text.to_owned()
    }
}
