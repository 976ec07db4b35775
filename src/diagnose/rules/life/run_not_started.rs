//! The run is initialized and waits to be started.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::back::taken_back;
use crate::diagnose::subjects::gate::check_failing;
use crate::diagnose::subjects::resting;
use crate::kubefleet::reasons;
use crate::kubefleet::run::RunState;
use crate::rollout::content::{content_since, newer_snapshot, old_content};
use crate::rollout::rollback::TakenBack;
use crate::rollout::{Phase, Rollout};

/// `Initialize` is the default of `spec.state`: a run that is created without it computes its
/// stages and then does nothing. Source: updaterun/controller.go:Reconcile.
pub const RULE: Rule = Rule::info("FS601", "run-not-started", One(check)).person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let begun = rollout.progressing().is_some() || rollout.has_reached_any();
    if rollout.phase != Phase::Idle || (begun && cx.inventory.hub.run_states.is_some()) {
        return None;
    }
    let run = rollout.run;
    let message = format!("{} {}", run.object(), resting::not_started(rollout));
    let mut finding = rule.finding(run.object(), message).root().evidence(
        run.object(),
        "spec.state",
        run.spec.state.as_deref(),
    );
    finding = finding.condition(&run.object(), run.condition(reasons::INITIALIZED));
    let content = content_since(rollout).map_or_else(String::new, |since| {
        format!(" Its content is that of {since}, without later changes on the hub.")
    });
    let newer = newer_snapshot(rollout).map_or_else(String::new, |latest| {
        let own = &run.status.snapshot_index;
        format!(" Snapshot {latest} is newer than its snapshot {own}.")
    });
    // Without that a script does not start it.
    let start = cx.command("run").arg(&run.meta.name);
    let start = match old_content(cx.inventory, run) {
        Some(_) => start.switch("--allow-older"),
        None => start,
    };
    if let Some(back) = TakenBack::for_run(cx.inventory, run) {
        return Some(taken_back(cx, check_failing(cx, finding), &back));
    }
    let mut finding = check_failing(cx, finding);
    // It may be what an interrupted command left behind.
    let others = cx.inventory.runs_under_way();
    let mut others = others.filter(|it| it.meta.name != run.meta.name);
    if let Some(other) = others.find(|it| it.spec.wants() == RunState::Run) {
        let name = &other.meta.name;
        let action = format!("Check {name} first: it is under way on the same placement.");
        finding = finding.look_with(action, cx.command("status").arg(name));
    }
    let finding = finding.look_with(
        format!("Check which clusters each stage would update.{content}{newer}"),
        cx.command("status").arg(&run.meta.name),
    );
    let removed = cx.rollout.as_ref().map(Rollout::removed_next);
    Some(match removed.filter(|it| !it.is_empty()) {
        None => finding.fix_with("Start it when its stages are as you want them.", start),
        Some(removed) => finding.disrupt_with(resting::removes("Start it", &removed), start),
    })
}
