//! A cluster was added to the placement after the last run, and has nothing.

use jiff::Timestamp;

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::reasons;
use crate::problems::steps;
use crate::rollout::Rollout;
use crate::rollout::content::{leaving_ahead, lost_for_now};
use crate::rollout::life;
use crate::rollout::sent::joined_again;
use crate::words::CommandLine;

/// A binding without a snapshot beside bindings with one, while no run is under way.
pub const RULE: Rule = Rule::warning("FS803", "cluster-without-content", One(check))
    .reads(&[Concept::Binding, Concept::MemberCluster])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    lost(cx, rule)
        .or_else(|| lost_ahead(cx, rule))
        .or_else(|| lost_with_cluster(cx, rule))
        .or_else(|| never_reached(cx, rule))
}

/// Clusters that the run is done with, whose bindings are newer and empty: the placement was deleted
/// and created again under the run, and the content went with the old bindings.
fn lost(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let run = rollout.run;
    let lost = lost_for_now(rollout);
    if lost.is_empty() || cx.verdict == Verdict::Deleting {
        return None;
    }
    let names: Vec<_> = lost.iter().map(|(cluster, _)| cluster.name).collect();
    let is_new = life::is_of_earlier(cx.inventory, run);
    let why = if is_new {
        "the placement was deleted and created again after that"
    } else {
        by_number(
            names.len(),
            "its binding was created again after that",
            "their bindings were created again after that",
        )
    };
    let index = &run.status.snapshot_index;
    let continues = rollout.is_live() && cx.outlook.fails().is_none();
    let then = if is_new && continues && cx.inventory.snapshot(index).is_some() {
        format!(" The run continues with the new placement's snapshot {index}.")
    } else {
        String::new()
    };
    let message = format!(
        "The content of {} is gone from {}: {} was done there, but {why}.{then}",
        cx.inventory.placement_name,
        enumerate(&names),
        run.meta.name
    );
    let mut finding = rule
        .finding(cx.placement_object(), message)
        .severity(Severity::Error)
        .root_if(cx.verdict.wants_root_cause() && !cx.is_resting())
        .clusters(names);
    if let Some(placement) = cx.inventory.placement.present().filter(|_| is_new) {
        finding = finding.created(placement.object(), placement.meta.created);
    }
    for (cluster, binding) in lost.iter().take(3) {
        finding = finding
            .snapshot_in(binding)
            .created(binding.object(), binding.meta.created)
            .known(run.object(), cluster.ended_path(), cluster.ended);
    }
    // The snapshots of a new placement are other ones.
    let used = Some(run.status.snapshot_index.as_str()).filter(|_| !is_new);
    let index = used.filter(|used| {
        let mut snapshots = cx.inventory.snapshots.iter();
        snapshots.any(|it| it.index() == Some(used))
    });
    let finding = cx.look_at_history(cx.look_for_eviction(finding));
    let again = "Roll the content out again with a new run.";
    Some(finding.fix_with(again, cx.fresh_run_command(index)))
}

/// Clusters that a run under way has still to reach, and that an earlier run was done with: the content
/// went with the binding that they had, and they have nothing until this run reaches them.
fn lost_ahead(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let inventory = cx.inventory;
    let rollout = cx.rollout.as_ref().filter(|rollout| rollout.is_live())?;
    let run = &rollout.run.meta.name;
    let empty: Vec<_> = rollout
        .still_to_reach()
        .filter_map(|cluster| {
            let binding = cluster.binding?;
            let is_empty = binding.spec.snapshot.is_empty() && !binding.meta.is_deleting();
            Some((
                cluster.name,
                binding,
                binding.meta.created.filter(|_| is_empty)?,
            ))
        })
        .collect();
    if empty.is_empty() {
        return None;
    }
    let others = inventory.other_runs();
    let others = others.filter(|it| !life::is_of_earlier(inventory, it));
    let others: Vec<_> = others.map(|it| Rollout::of(inventory, it)).collect();
    let was_done = |name: &str, created: Timestamp| {
        let mut done = others.iter().rev().flat_map(Rollout::done_clusters);
        done.any(|it| it.name == name && it.ended < Some(created))
    };
    let lost: Vec<_> = empty
        .into_iter()
        .filter(|(name, _, created)| was_done(name, *created))
        .collect();
    let names: Vec<_> = lost.iter().map(|(name, ..)| *name).collect();
    if names.is_empty() {
        return None;
    }
    let several = ("their bindings were", "have");
    let (its, has) = by_number(names.len(), ("its binding was", "has"), several);
    let names_told = enumerate(&names);
    // What a run was removing may still be there, and goes first.
    let removing = others.iter().rev().find(|it| {
        let stage = it.run.status.deletion_stage.as_deref();
        let mut removed = stage.into_iter().flat_map(|stage| &stage.clusters);
        removed.any(|it| names.contains(&it.name.as_str()))
    });
    let placement = &inventory.placement_name;
    let message = match removing {
        Some(by) => format!(
            "{} was removing {placement} from {names_told} when the placement selected it again: what is still \
             there goes before {run} brings its content.",
            by.run.meta.name
        ),
        None => format!(
            "{names_told} {has} no content of {placement} any more: {its} created again after an earlier \
             run was done there, and {run} has not come to it."
        ),
    };
    let first = names.first().copied().unwrap_or_default();
    let mut finding = rule
        .finding(cx.placement_object(), message)
        .clusters(names.clone());
    for (_, binding, created) in lost.iter().take(3) {
        finding = finding
            .snapshot_in(binding)
            .created(binding.object(), Some(*created));
    }
    let finding = match removing {
        Some(_) => finding.look_with(
            "Check whether an earlier Work is still there.",
            steps::works_for(&cx.placement_object(), first),
        ),
        None => cx.look_for_eviction(finding),
    };
    Some(if cx.outlook.fails().is_some() {
        cx.look_at_history(finding)
    } else {
        let leaving = leaving_ahead(rollout).into_iter().map(|(_, it)| it);
        let leaving: Vec<_> = leaving.collect();
        let when = match leaving.len() {
            0 => "",
            1 => " when the old binding is gone",
            _ => " when the old bindings are gone",
        };
        let action = format!("Let {run} continue{when}: it brings its content there.");
        finding.fix_with(action, steps::wait_until_bindings_gone(&leaving))
    })
}

/// Clusters that left the fleet and joined again after their binding was written.
fn lost_with_cluster(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let inventory = cx.inventory;
    let run = cx.run().map(|run| run.meta.name.as_str());
    let mut others = inventory.runs_under_way();
    let is_overtaken = others.any(|other| Some(other.meta.name.as_str()) != run);
    let is_done = |cluster: &str| {
        let mut done = cx.rollout.iter().flat_map(Rollout::done_clusters);
        done.any(|it| it.name == cluster)
    };
    let lost: Vec<_> = inventory
        .bindings
        .iter()
        .filter(|it| !it.meta.is_deleting())
        .filter(|it| cx.rollout.is_none() || is_done(&it.spec.cluster))
        .filter_map(|binding| Some((binding, joined_again(inventory, binding)?)))
        .collect();
    let (first, member) = lost.first()?;
    let joined = member.meta.created?;
    if is_overtaken || cx.verdict == Verdict::Deleting {
        return None;
    }
    let names = lost.iter();
    let names: Vec<_> = names.map(|(it, ..)| it.spec.cluster.as_str()).collect();
    let index = first
        .snapshot_index()
        .filter(|index| inventory.snapshot(index).is_some());
    let message = format!(
        "{} is no longer sent to {}: the MemberCluster was created again at {joined}, after a \
         run had written the binding. KubeFleet sends nothing until another run does, and \
         does not watch what is still there.",
        inventory.placement_name,
        enumerate(&names),
    );
    let mut finding = rule
        .finding(cx.placement_object(), message)
        .severity(Severity::Error)
        .root_if(cx.verdict.wants_root_cause() && !cx.is_resting())
        .clusters(names.iter().copied());
    for (binding, member) in lost.iter().take(3) {
        let written = binding.condition(reasons::ROLLOUT_STARTED);
        finding = finding
            .created(member.object(), member.meta.created)
            .condition(&binding.object(), written);
    }
    Some(look_ahead(cx, finding).fix_with(
        "Roll the content out again with a new run.",
        cx.fresh_run_command(index),
    ))
}

fn look_ahead(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let command = cx.plan_command().or_else(|| Some(named(cx, "plan")));
    let action = "Check what a new run would do: it needs a stage for every cluster.";
    finding.look_with(action, command)
}

/// A command on the placement, for a strategy that is to be chosen.
fn named(cx: &DiagnosisContext<'_>, verb: &'static str) -> CommandLine {
    cx.command(verb)
        .flag("--placement", &cx.inventory.placement_name)
        .flag("--strategy", "STRATEGY")
}

/// Clusters that were scheduled after the last run.
fn never_reached(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    if !cx.is_left_alone() {
        return None;
    }
    let (inventory, without_run) = (cx.inventory, cx.run().is_none());
    let is_empty = |it: &&Binding| it.spec.snapshot.is_empty();
    let empty: Vec<_> = inventory.staying().filter(is_empty).collect();
    if empty.is_empty() || inventory.staying().count() == empty.len() {
        return None;
    }
    let (them, they_were) = by_number(empty.len(), ("it", "it was"), ("them", "they were"));
    let message = format!(
        "{} of {} ({}) received no content: no run has reached {them} since {they_were} \
         scheduled.",
        count(empty.len(), "cluster"),
        inventory.placement_name,
        enumerate(empty.iter().map(|binding| binding.spec.cluster.as_str())),
    );
    let mut finding = rule
        .finding(cx.placement_object(), message)
        .root_if(without_run)
        .clusters(empty.iter().map(|binding| binding.spec.cluster.as_str()));
    for binding in empty.iter().take(3) {
        finding = finding
            .snapshot_in(binding)
            .created(binding.object(), binding.meta.created);
    }
    let run = cx.new_run_command().or_else(|| Some(named(cx, "run")));
    Some(look_ahead(cx, finding).fix_with(
        "Roll out the placement with a new run: it includes all clusters that are scheduled at that \
         time.",
        run,
    ))
}
