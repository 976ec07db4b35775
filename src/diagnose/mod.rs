//! Why a rollout is where it is: the engine, its rules and its report.

mod engine;
pub mod examples;
pub mod rules;
pub mod status;
pub mod subjects;

use jiff::Timestamp;

use crate::inventory::source::{HubFacts, ObjectSource};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::{Kind, ObjectRef, duration};
use crate::member::MemberErrand;
use crate::report::{FaultOrigin, Finding, Report, Severity, Subject, Verdict};
use crate::rollout::Rollout;
use crate::words::enumerate;
use engine::{causes, direction, refusal, safety, summary, way_back};
pub use similar;
use subjects::context::DiagnosisContext;
pub use subjects::texts::texts;
use subjects::{gaps, gate, member_findings, verdict};

/// Where the long explanation of a code is published.
pub fn docs_url(code: &str) -> String {
    format!("https://kubectl-fleet-stage.github.io/kubectl-fleet-stage/findings/{code}.html")
}

/// Walks a source around an update run or a placement and explains it.
pub fn diagnose(
    source: &mut dyn ObjectSource,
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
pub fn errands(inventory: &Inventory) -> Vec<MemberErrand> {
    member_findings::errands(&DiagnosisContext::new(inventory))
}

/// The verdict about a run, as its report gives it.
pub fn verdict(rollout: &Rollout<'_>) -> Verdict {
    verdict::of_run(rollout)
}

/// What rules and sentences read, with the finding named for which the run will fail.
fn understand(inventory: &Inventory) -> DiagnosisContext<'_> {
    let mut cx = DiagnosisContext::new(inventory);
    if let Some(fails) = cx.outlook.fails() {
        let ends = rules::ALL
            .iter()
            .filter(|rule| causes::ENDS_RUN.contains(&rule.code) || fails == rule.code);
        let found = ends.filter(|rule| !rule.check(&cx).is_empty());
        let codes: Vec<_> = found.map(|rule| rule.code).collect();
        cx.outlook.explain(&codes);
    }
    cx
}

/// That the controller aborts the run when it looks next, whatever a person does about it, and the
/// name of the finding that says why; `None` also where that is unknown.
pub fn aborts(inventory: &Inventory) -> Option<String> {
    let cx = understand(inventory);
    let code = cx.outlook.aborts(cx.verdict)?;
    Some(format!(
        "the controller aborts {} {}: {}",
        cx.run_object(),
        cx.outlook.aborts_when(cx.verdict),
        rules::named(code)
    ))
}

/// Why a run that rests is not simply let continue, as a clause with its full stop; `None` also where
/// that is unknown.
pub fn obstacle(inventory: &Inventory) -> Option<String> {
    gate::obstacle(&understand(inventory))
}

/// The overrides and envelopes that will hold a live run on clusters which it has still to reach, a finding
/// for each.
pub fn held_ahead(inventory: &Inventory) -> Vec<Finding> {
    if !inventory.may_fail_ahead() {
        return Vec::new();
    }
    let cx = DiagnosisContext::new(inventory);
    let rules = ["FS509", "FS512"].into_iter().filter_map(rules::find);
    rules
        .flat_map(|rule| rule.check(&cx))
        .filter(|it| it.severity == Severity::Warning)
        .collect()
}

/// The overrides that were changed or added since a run recorded those of its clusters, a sentence for
/// each; none where the latest ones were not read.
pub fn overrides_changed(inventory: &Inventory) -> Vec<String> {
    messages(inventory, "FS710").collect()
}

/// That the strategy has been changed since a run copied its stages.
pub fn strategy_differs(inventory: &Inventory) -> Option<String> {
    messages(inventory, "FS609").next()
}

/// That the run may have an older copy of its strategy, because the hub agent does not see the strategies.
pub fn hidden_strategy(inventory: &Inventory) -> Option<String> {
    messages(inventory, "FS125").next()
}

/// That the controller owes the run a write, or the end of its deletion, for longer than its pace
/// explains.
pub fn silent_controller(inventory: &Inventory) -> Option<String> {
    let owes = messages(inventory, "FS122").next();
    owes.or_else(|| {
        let rollout = Rollout::new(inventory)?;
        let held = verdict::held_deletion(&rollout)?;
        Some(format!("{} {held}", rollout.run.object()))
    })
}

/// What one rule finds, a sentence for each finding.
fn messages(inventory: &Inventory, code: &str) -> impl Iterator<Item = String> {
    let cx = DiagnosisContext::new(inventory);
    let findings = rules::find(code).map(|rule| rule.check(&cx));
    let findings = findings.unwrap_or_default().into_iter();
    findings.map(|it| it.message)
}

/// Which clusters refuse objects for a reason that is not the content's, a sentence for each finding:
/// other content may be refused as well.
pub fn held_regardless(report: &Report) -> Vec<String> {
    let findings = report.findings.iter();
    findings
        .filter(|it| it.severity != Severity::Info && !it.clusters.is_empty())
        .filter(|it| it.fault.is_some_and(|fault| fault != FaultOrigin::Content))
        // An object of the content, and none of KubeFleet's own.
        .filter(|it| Kind::by_name(&it.subject.kind).is_none())
        .map(|it| {
            format!(
                "{} may not be the fault of the content: {} may hold the new run as well",
                rules::named(&it.code),
                enumerate(&it.clusters)
            )
        })
        .collect()
}

pub fn explain(inventory: &Inventory) -> Report {
    let cx = understand(inventory);
    let findings = rules::ALL.iter().flat_map(|rule| rule.check(&cx)).collect();
    let mut findings = causes::merge(findings);
    causes::link(&mut findings);
    causes::overtaken(&mut findings);
    causes::ensure_root(&mut findings, cx.verdict);
    let mut findings = causes::group(findings);
    causes::order_steps(&cx, &mut findings);
    way_back::offer(&cx, &mut findings);
    refusal::steps(&cx, &mut findings);
    direction::plans(inventory, &mut findings);
    direction::steps(&cx, &mut findings);
    safety::steps(&cx, &mut findings);
    causes::sort(&mut findings);
    let summary = summary::summarize(&cx, &findings);
    let mut report = Report::new(Subject::from(&inventory.target), cx.verdict, summary);
    report.take(findings);
    report.not_checked = gaps::not_checked(&cx);
    report.as_of = Some(duration::whole_seconds(inventory.now));
    report.run = cx.run_facts();
    report.expected = cx.outlook.expected();
    report
}
