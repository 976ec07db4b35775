//! A cluster was added to the placement after the last run, and has nothing.

use crate::diagnose::rules::prelude::*;

/// A binding without a snapshot beside bindings with one, while no run is under way.
pub const RULE: Rule = Rule::warning("FS803", "cluster-without-content", Search::One(check))
    .reads(&[Concept::Binding]);

fn check(cx: &Context<'_>, rule: &Rule) -> Option<Finding> {
    let inventory = cx.inventory;
    let without_run = cx.run().is_none();
    let asked = match cx.verdict {
        Verdict::Succeeded => !without_run,
        Verdict::NotStarted => without_run,
        _ => false,
    };
    let under_way = inventory.runs_under_way().next().is_some();
    let external = inventory
        .placement
        .present()
        .is_none_or(crate::kubefleet::placement::Placement::is_external);
    if !asked || under_way || !external {
        return None;
    }
    let live = || {
        inventory
            .bindings
            .iter()
            .filter(|binding| !binding.meta.is_deleting() && !binding.is_unscheduled())
    };
    let empty: Vec<_> = live()
        .filter(|binding| binding.spec.snapshot.is_empty())
        .collect();
    if empty.is_empty() || live().all(|binding| binding.spec.snapshot.is_empty()) {
        return None;
    }
    let (them, they_were) = if empty.len() == 1 {
        ("it", "it was")
    } else {
        ("them", "they were")
    };
    let mut finding = rule
        .finding(
            cx.placement_object(),
            format!(
                "{} of {} ({}) received no content: no run has reached {them} since {they_were} \
                 scheduled.",
                count(empty.len(), "cluster"),
                inventory.placement_name,
                enumerate(empty.iter().map(|binding| binding.spec.cluster.as_str())),
            ),
        )
        .root_if(without_run)
        .clusters(empty.iter().map(|binding| binding.spec.cluster.as_str()));
    for binding in empty.iter().take(3) {
        finding = finding.evidence(binding.object(), "spec.resourceSnapshotName", "");
        finding = finding.known(
            binding.object(),
            "metadata.creationTimestamp",
            binding.meta.created,
        );
    }
    let (plan, run) = (cx.plan_command(), cx.new_run_command());
    let named = |verb: &'static str| {
        let command = cx.command(verb);
        let command = if verb == "run" {
            command.arg("NEW")
        } else {
            command
        };
        let command = command.flag("--placement", &inventory.placement_name);
        command.flag("--strategy", "STRATEGY")
    };
    Some(
        finding
            .look_with(
                "Check what a new run would do: it needs a stage for every cluster.",
                plan.or_else(|| Some(named("plan"))),
            )
            .fix_with(
                "Roll out the placement with a new run: it includes all clusters that are scheduled \
                 at that time.",
                run.or_else(|| Some(named("run"))),
            ),
    )
}
