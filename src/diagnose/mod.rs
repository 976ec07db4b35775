//! Why a rollout is where it is: the engine, its rules and its report.

mod affected;
pub mod back;
mod causes;
pub mod context;
mod direction;
pub mod examples;
pub mod explanations;
pub mod failing_cluster;
mod gaps;
pub mod gate;
mod leftover;
mod member_findings;
mod members;
mod membership;
mod objects;
mod overrides;
mod ownership;
mod preemption;
mod rendered;
mod resting;
mod rule;
pub mod rules;
mod run_failure;
mod safety;
mod sent;
mod size;
mod state;
pub mod status;
mod summary;
mod texts;
pub mod tried;
mod unsent;
mod verdict;

use jiff::Timestamp;

use crate::controller;
use crate::inventory::source::{HubFacts, Source};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::{ObjectRef, duration};
use crate::member::Errand;
use crate::report::{Report, Subject, Verdict};
use crate::rollout::Rollout;
use context::Context;
pub use similar;
pub use texts::texts;

/// Where the long explanation of a code is published.
pub fn docs_url(code: &str) -> String {
    format!("https://kubectl-fleet-stage.github.io/kubectl-fleet-stage/findings/{code}.html")
}

/// Walks a source around an update run or a placement and explains it.
pub fn diagnose(
    source: &mut dyn Source,
    hub: &HubFacts,
    target: &ObjectRef,
    now: Timestamp,
) -> Report {
    let mut walk = Walk::new(target.clone());
    walk.drive(source);
    let mut inventory = Inventory::new(walk, now, hub.clone());
    inventory.looks = source.look(&errands(&inventory));
    inventory.texts = source.texts(&texts(&inventory));
    explain(&inventory)
}

/// What is worth a look in the member clusters themselves: for each cluster in trouble the objects
/// that do not become available there.
pub fn errands(inventory: &Inventory) -> Vec<Errand> {
    member_findings::errands(&Context::new(inventory))
}

/// The verdict about a run, as its report gives it.
pub fn verdict(rollout: &Rollout<'_>) -> Verdict {
    verdict::of_run(rollout)
}

pub fn explain(inventory: &Inventory) -> Report {
    let cx = Context::new(inventory);
    let findings = rules::ALL.iter().flat_map(|rule| rule.check(&cx)).collect();
    let mut findings = causes::merge(findings);
    causes::link(&mut findings);
    causes::overtaken(&mut findings);
    causes::ensure_root(&mut findings, cx.verdict);
    let mut findings = causes::group(findings);
    causes::order_steps(&mut findings);
    direction::steps(&cx, &mut findings);
    tried::steps(&cx, &mut findings);
    safety::steps(&cx, &mut findings);
    causes::sort(&mut findings);
    let summary = summary::summarize(&cx, &findings);
    let mut report = Report::new(Subject::from(&inventory.target), cx.verdict, summary);
    report.take(findings);
    report.not_checked = gaps::not_checked(&cx);
    report.as_of = Some(duration::whole_seconds(inventory.now));
    report.progress = cx.rollout.as_ref().map(Rollout::progress);
    report.expected = controller::expected(inventory);
    report
}
