//! What tests do with programs and hubs.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test may fail
#![allow(clippy::missing_panics_doc)]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::{Error, waiting};

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
        let output = waiting::output(command);
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

/// A command that is under way, where nobody can be asked.
pub struct Running {
    child: Child,
    out: Stream,
    err: Stream,
}

/// What a command has written so far, and whoever reads it.
struct Stream {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Stream {
    fn of(mut from: impl Read + Send + 'static) -> Self {
        let text = Arc::<Mutex<Vec<u8>>>::default();
        let told = Arc::clone(&text);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                told.lock().unwrap().extend(&buffer[..length]);
            }
        });
        Self { text, reader }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    /// Everything, as soon as nobody writes any more.
    fn end(self) -> String {
        self.reader.join().unwrap();
        let text = self.text.lock().unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Running {
    /// Starts a command.
    pub fn of(command: &mut Command) -> Self {
        command.stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        Self {
            out: Stream::of(child.stdout.take().unwrap()),
            err: Stream::of(child.stderr.take().unwrap()),
            child,
        }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has answered this.
    pub fn until_answers(&self, words: &str) {
        let what = || format!("{words:?} in:\n{}{}", self.out.text(), self.err.text());
        waiting::until_so(what, || self.out.text().contains(words));
    }

    /// Waits until it has said this beside its answer.
    pub fn until_says(&self, words: &str) {
        let what = || format!("{words:?} in:\n{}{}", self.err.text(), self.out.text());
        waiting::until_so(what, || self.err.text().contains(words));
    }

    /// Waits until it has done all that it can do by itself.
    pub fn until_idle(&self) {
        waiting::until_idle(self.id());
    }

    /// How it ends, which it must do by itself.
    pub fn end(mut self) -> Ran {
        let (out, err) = (&self.out, &self.err);
        let what = || format!("{}{}", out.text(), err.text());
        let status = waiting::ended(&mut self.child, what);
        Ran {
            code: status.code().unwrap_or(-1),
            out: self.out.end(),
            err: self.err.end(),
        }
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
