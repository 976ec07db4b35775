//! An External placement that no update run has rolled out yet, or not with its newest snapshot.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::reasons;
use crate::kubefleet::run::UpdateRun;
use crate::rollout::rollback::TakenBack;
use crate::rollout::sent::sent_index;
use crate::words::CommandLine;

/// Judged by the strategy's type and the bindings, never by the condition's text, which has
/// changed with every version.
pub const RULE: Rule = Rule::info("FS801", "placement-awaits-run", One(check))
    .reads(&[Concept::Placement, Concept::Binding])
    .caused_by(&["FS105"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let inventory = cx.inventory;
    if let Some(newer) = newer_snapshot(cx, rule) {
        return Some(newer);
    }
    if cx.run().is_some() || cx.verdict != Verdict::NotStarted {
        return None;
    }
    let placement = inventory
        .placement
        .present()
        .filter(|placement| placement.is_external())?;
    let unseen = inventory.bindings.items.is_empty() && !inventory.bindings.is_complete();
    if unseen
        || inventory
            .bindings
            .iter()
            .any(|binding| !binding.spec.snapshot.is_empty())
    {
        return None;
    }
    let clusters: Vec<_> = inventory
        .staying()
        .map(|binding| binding.spec.cluster.as_str())
        .collect();
    let object = placement.object();
    let message = format!(
        "{} has strategy External and {}: {} received nothing yet.",
        object.name,
        if inventory.runs.is_complete() {
            "waits for its first update run"
        } else {
            "no update run has reached it"
        },
        match clusters.len() {
            0 => "its clusters have".to_owned(),
            1 => "its 1 cluster has".to_owned(),
            n => format!("its {} have", count(n, "cluster")),
        }
    );
    let mut finding = rule
        .finding(&object, message)
        .root()
        .clusters(clusters)
        .evidence(
            &object,
            "spec.strategy.type",
            placement.rollout_type().to_owned(),
        );
    finding = finding.condition(&object, placement.condition(reasons::ROLLOUT_STARTED));
    for binding in inventory.bindings.iter().take(3) {
        finding = finding.evidence(binding.object(), "spec.resourceSnapshotName", "");
    }
    let plan = cx.command("plan").flag("--placement", &object.name);
    let plan = plan.flag("--strategy", "STRATEGY");
    let finding = finding.look_with("Check what a run would do.", plan);
    Some(if placement.is_scheduled() {
        finding.fix_with("Start the first run.", first_run(cx))
    } else {
        finding.look("Resolve FS105 first: before that, a run fails.")
    })
}

/// A run that takes after no other one.
fn first_run(cx: &DiagnosisContext<'_>) -> CommandLine {
    let run = cx.command("run").arg("RUN");
    run.flag("--placement", &cx.inventory.placement_name)
        .flag("--strategy", "STRATEGY")
}

/// A placement whose clusters have content, and whose newest snapshot no run has used.
fn newer_snapshot(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let inventory = cx.inventory;
    if cx.target().kind.concept() != Concept::Placement || !cx.is_left_alone() {
        return None;
    }
    let latest = inventory.latest_snapshot()?;
    let index = latest.index()?;
    let is_used = |run: &UpdateRun| run.status.snapshot_index == index;
    if !inventory.runs.is_complete() || inventory.runs.iter().any(is_used) {
        return None;
    }
    let held = inventory
        .staying()
        .filter_map(|it| sent_index(inventory, it));
    let held: BTreeSet<_> = held.collect();
    if held.is_empty() || held.contains(index) || TakenBack::of(inventory, index).is_some() {
        return None;
    }
    let name = &inventory.placement_name;
    let since = latest.meta.created;
    let since = since.map_or_else(String::new, |since| format!(" since {since}"));
    let message = format!(
        "{name} has snapshot {index}{since}, and no update run has used it: its clusters have {}.",
        enumerate(&held)
    );
    let object = latest.object();
    let finding = rule
        .finding(&object, message)
        .created(&object, latest.meta.created);
    let finding = match held.first().filter(|_| held.len() == 1) {
        Some(had) => finding.look_with(
            "Compare the two versions.",
            cx.command("snapshots")
                .arg("diff")
                .arg(name)
                .arg(*had)
                .arg(index),
        ),
        None => finding,
    };
    Some(finding.fix_with(
        "Roll it out with a new run.",
        cx.new_content_command().unwrap_or_else(|| first_run(cx)),
    ))
}
