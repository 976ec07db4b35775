//! What tests do with programs and hubs.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test may fail
#![allow(clippy::missing_panics_doc)]

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Error;

/// What a command did.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Its exit code; -1 when a signal ended it.
    pub code: i32,
    /// What it answered.
    pub out: String,
    /// What it said beside.
    pub err: String,
}

impl Ran {
    /// Runs a command to its end, where nobody can be asked.
    pub fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output();
        let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The answer as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error} in:\n{}\n{}", self.out, self.err))
    }
}

/// What a test needs; `None` when it is to be skipped, which is said.
pub fn or_skip<T>(found: Result<T, Error>) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(Error::Missing(why)) => {
            eprintln!("skipped: {why}");
            None
        }
        Err(error) => panic!("the test hub does not start: {error}"),
    }
}
