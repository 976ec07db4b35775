//! What a plan says, against what KubeFleet's controllers did, and each refusal with a near miss.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "plan/ends.rs"]
mod ends;
#[path = "plan/gates.rs"]
mod gates;
#[path = "plan/laws.rs"]
mod laws;
#[path = "plan/refusals.rs"]
mod refusals;
#[path = "plan/strategy_file.rs"]
mod strategy_file;
#[path = "plan/warnings.rs"]
mod warnings;

use crate::{calls, fixtures};
use std::ffi::OsString;

use kubectl_fleet_stage::ui::UiEnvironment;
use serde_json::Value;

/// One call of the program: exit code, answer, messages.
fn call(args: &[&str], input: &str) -> (u8, String, String) {
    let words = ["kubectl-fleet-stage", "plan"].iter().chain(args);
    let words = words.map(OsString::from);
    let clock = || "2026-03-02T09:00:00Z".parse().unwrap();
    calls::call(
        words,
        Some(input),
        UiEnvironment::of_variables(|_| None),
        clock,
    )
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
