//! The clusters of a placement are on different versions, and no run is about to change that.

use crate::diagnose::rules::prelude::*;
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::names;
use crate::kubefleet::run::UpdateRun;
use crate::rollout::life;
use crate::rollout::sent::sent_index;
use crate::rollout::{rollback, rollout_started};
use crate::words::{CommandLine, by_key};

/// Bindings with different snapshots while no run on the placement is under way. Each run says
/// `Succeeded` of itself; only the bindings tell. See section "measured" of the decisions.
pub const RULE: Rule = Rule::warning("FS702", "versions-mixed", Whole(check))
    .reads(&[Concept::Binding, Concept::UpdateRun]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    if !cx.is_left_alone() {
        return Vec::new();
    }
    let (inventory, without_run) = (cx.inventory, cx.run().is_none());
    let has_content = |it: &&Binding| !it.spec.snapshot.is_empty();
    let versions = by_key(inventory.staying().filter(has_content).map(|binding| {
        let sent = sent_index(inventory, binding);
        (sent.unwrap_or(&binding.spec.snapshot), binding)
    }));
    if versions.len() < 2 {
        return Vec::new();
    }
    let present = cx
        .run()
        .is_some_and(|run| !life::is_of_earlier(inventory, run));
    let own = inventory.wanted_snapshot().filter(|_| present);
    let odd: Vec<_> = match own.as_deref().and_then(names::snapshot_index) {
        // Of a run that succeeded: the clusters that no longer have what it rolled out.
        Some(own) => versions
            .iter()
            .filter(|(index, _)| **index != own)
            .collect(),
        None => versions.iter().collect(),
    };
    let mut parts = Vec::new();
    let mut finding = rule.finding(cx.placement_object(), String::new());
    for (index, bindings) in &versions {
        let writers = distinct(bindings.iter().filter_map(|b| rollout_started(b).run));
        let by = if writers.is_empty() {
            String::new()
        } else {
            format!(" (last written by {})", enumerate(&writers))
        };
        parts.push(format!(
            "snapshot {index} on {}{by}",
            enumerate(bindings.iter().map(|binding| binding.spec.cluster.as_str()))
        ));
        for binding in bindings.iter().take(3) {
            finding = finding.written(binding);
        }
    }
    let seen = if inventory.runs.is_complete() {
        "no run is"
    } else {
        "no known run is"
    };
    finding.message = format!(
        "The clusters of {} are on different versions, and {seen} under way: {}.",
        inventory.placement_name,
        parts.join("; ")
    );
    let clusters = odd.into_iter().flat_map(|(_, bindings)| bindings);
    let clusters: Vec<_> = clusters.map(|b| b.spec.cluster.clone()).collect();
    let finding = cx.look_at_history(finding.root_if(without_run).clusters(clusters));
    let indexes = distinct(versions.keys().filter_map(|it| it.parse::<u64>().ok()));
    let Some(newest) = indexes.last() else {
        return vec![finding];
    };
    let action = format!(
        "Bring all clusters to snapshot {newest} with a new run, if it is the version to keep."
    );
    let finding = finding.fix_with(action, bring_to(cx, *newest));
    // A run would refuse to roll clusters back.
    let older = match indexes.as_slice() {
        [older, _] => Some(*older),
        _ => last_good(inventory).filter(|good| good < newest),
    };
    vec![match older {
        Some(older) => finding.fix_with(
            format!("Or roll them back to snapshot {older}."),
            back_to(cx, older),
        ),
        None => finding,
    }]
}

/// Brings all clusters to a snapshot: with the strategy of the run that brought it, where that run exists.
fn bring_to(cx: &DiagnosisContext<'_>, index: u64) -> CommandLine {
    let index = index.to_string();
    let is_its = |run: &&UpdateRun| run.status.snapshot_index == index;
    if cx.run().is_none_or(|run| is_its(&run)) {
        return cx.fresh_run_command(Some(&index));
    }
    let placement = &cx.inventory.placement_name;
    let its = cx.inventory.other_runs().filter(is_its).last();
    let strategy = its.map_or("STRATEGY", |run| run.spec.strategy.as_str());
    let command = cx.command("run").flag("--placement", placement);
    let command = command.flag("--strategy", strategy);
    command.flag("--snapshot", index)
}

/// The snapshot to which `rollback` goes of itself.
fn last_good(inventory: &Inventory) -> Option<u64> {
    let now = rollback::current(inventory)?;
    let held = rollback::held_of_deleted_run(inventory, now);
    let good = rollback::last_good_below(inventory, now, held).ok()?;
    good.index.parse().ok()
}

/// Rolls the placement back to a snapshot, with the strategy of its run.
fn back_to(cx: &DiagnosisContext<'_>, index: u64) -> CommandLine {
    let placement = cx.placement_object();
    let command = placement.scope().fleet("rollback");
    let command = command
        .arg(placement.word())
        .flag("--to", index.to_string());
    match cx.run() {
        Some(_) => command,
        None => command.flag("--strategy", "STRATEGY"),
    }
}
