//! What a plan says, against what KubeFleet's controllers did, and each refusal with a near miss.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "laws/fixtures.rs"]
mod fixtures;
#[path = "plan/laws.rs"]
mod laws;
#[path = "plan/refusals.rs"]
mod refusals;
#[path = "plan/strategy_file.rs"]
mod strategy_file;
#[path = "plan/warnings.rs"]
mod warnings;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::rc::Rc;

use kubectl_fleet_stage::ui::{Environment, Ui};
use serde_json::Value;

/// A stream that remembers.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

/// One call of the program: exit code, answer, messages.
fn call(args: &[&str], input: &str) -> (u8, String, String) {
    let (out, err) = (Shared::default(), Shared::default());
    let stdin = io::Cursor::new(input.as_bytes().to_vec());
    let mut ui = Ui::new(
        Box::new(out.clone()),
        Box::new(err.clone()),
        Some(Box::new(stdin)),
        Environment::of_variables(|_| None),
    );
    let words = ["kubectl-fleet-stage", "plan"].iter().chain(args);
    let words: Vec<OsString> = words.map(Into::into).collect();
    let exit = kubectl_fleet_stage::run(words, &mut ui, || "2026-03-02T09:00:00Z".parse().unwrap());
    (exit.code(), out.text(), err.text())
}

/// The plan that a call prints, and its exit code.
fn plan(args: &[&str], input: &str) -> (u8, Value) {
    let all: Vec<_> = args.iter().chain(&["-o", "json"]).copied().collect();
    let (code, out, err) = call(&all, input);
    let plan = serde_json::from_str(&out);
    (
        code,
        plan.unwrap_or_else(|_| panic!("{args:?}: {code}\n{err}")),
    )
}

/// The kinds of points in a list of a plan.
fn kinds(plan: &Value, list: &str) -> Vec<String> {
    let points = plan[list].as_array().unwrap().iter();
    points
        .map(|point| point["kind"].as_str().unwrap().to_owned())
        .collect()
}
