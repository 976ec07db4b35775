//! The scheduler has not found all the clusters that the placement asks for.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{Conditions, reasons};
use crate::problems::{scheduling, steps};

/// The controller does not wait for the scheduler, it fails: also when only a moment is
/// missing. Source: updaterun/initialization.go:determinePolicySnapshot.
pub const RULE: Rule = Rule::error("FS105", "placement-not-scheduled", Check::Whole(check))
    .reads(&[Concept::Placement, Concept::PolicySnapshot])
    .caused_by(&["FS202"]);

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    let named: Vec<_> = cx
        .causes()
        .filter_map(|cause| match cause {
            Cause::PolicyNotScheduled { snapshot } => Some(snapshot.name.as_str()),
            _ => None,
        })
        .map(|name| failed(cx, rule, name))
        .collect();
    if named.is_empty() {
        return before_any_run(cx, rule).into_iter().collect();
    }
    named
}

fn failed(cx: &Context<'_>, rule: &Rule, name: &str) -> Finding {
    let object = cx.placement_object();
    let policy = cx
        .inventory
        .policies
        .iter()
        .find(|policy| policy.meta.name == name);
    let lead = format!("{object} was not fully scheduled {}", failing::when(cx));
    let newer = cx
        .inventory
        .latest_policies()
        .find(|latest| latest.meta.name != name && latest.is_scheduled());
    let scheduled = newer.or_else(|| policy.filter(|policy| policy.is_scheduled()));
    if let Some(scheduled) = scheduled {
        let finding = failing::finding(
            cx,
            rule,
            &object,
            format!("{lead}, but it is scheduled now."),
        );
        return failing::just_new_run(cx, state(scheduled, finding));
    }
    let Some(policy) = policy else {
        let finding = failing::finding(cx, rule, &object, format!("{lead}."));
        return failing::then_new_run(cx, wait(cx, finding));
    };
    let finding = failing::finding(cx, rule, &object, explained(cx, &lead, policy));
    failing::then_new_run(cx, wait(cx, details(cx, policy, finding)))
}

/// A placement that no run has touched yet: its first run would fail.
fn before_any_run(cx: &Context<'_>, rule: &Rule) -> Option<Finding> {
    if cx.target().kind.concept() != Concept::Placement || cx.run().is_some() {
        return None;
    }
    let placement = cx.inventory.placement.present()?;
    let scheduled = placement.condition(reasons::SCHEDULED);
    if !placement.is_external()
        || placement.meta.is_deleting()
        || scheduled.is_some_and(|it| it.is_true() && it.observes(placement.meta.generation))
    {
        return None;
    }
    let object = placement.object();
    let lead = format!("{object} is not fully scheduled, so an update run of it would fail");
    let policy = cx.inventory.latest_policies().next();
    let message = policy.map_or_else(|| format!("{lead}."), |policy| explained(cx, &lead, policy));
    let mut finding = rule.finding(&object, message).root();
    finding = match scheduled {
        Some(condition) => finding.condition(&object, condition),
        None => finding.evidence(
            &object,
            format!("status.conditions[type={}Scheduled]", object.kind),
            "absent",
        ),
    };
    if let Some(policy) = policy {
        finding = details(cx, policy, finding);
    }
    Some(wait(cx, finding))
}

/// The lead, with the reasons of the clusters that were not picked.
fn explained(cx: &Context<'_>, lead: &str, policy: &PolicySnapshot) -> String {
    let groups = scheduling::not_picked(policy, cx.inventory);
    let behind = policy.status.conditions.condition(reasons::SCHEDULED);
    let behind = behind
        .filter(|scheduled| !scheduled.observes(policy.meta.generation))
        .map(|scheduled| {
            format!(
                "; the scheduler has processed generation {} of {}, which is at {}",
                scheduled.observed_generation.unwrap_or(0),
                policy.meta.name,
                policy.meta.generation.unwrap_or(0)
            )
        })
        .unwrap_or_default();
    let picked = policy.status.decisions.iter().filter(|it| it.selected);
    let picked = picked.count();
    match (policy.wanted_clusters(), scheduling::explain(&groups)) {
        (None, None) => format!("{lead}{behind}."),
        (None, Some(reasons)) => format!("{lead} ({reasons}){behind}."),
        (Some(wanted), None) => {
            format!("{lead}: {picked} of {wanted} clusters are picked now{behind}.")
        }
        (Some(wanted), Some(reasons)) => {
            format!("{lead}: {picked} of {wanted} clusters are picked now ({reasons}){behind}.")
        }
    }
}

fn details(cx: &Context<'_>, policy: &PolicySnapshot, finding: Finding) -> Finding {
    let left_out = scheduling::names_left_out(policy);
    scheduling::evidence(
        policy,
        cx.inventory,
        state(policy, finding.clusters(left_out)),
    )
}

/// The snapshot's own condition, and what it speaks of.
fn state(policy: &PolicySnapshot, finding: Finding) -> Finding {
    let object = policy.object();
    let Some(condition) = policy.status.conditions.condition(reasons::SCHEDULED) else {
        return finding.evidence(&object, "status.conditions[type=Scheduled]", "absent");
    };
    let finding = finding.condition(&object, condition);
    if condition.observes(policy.meta.generation) {
        return finding;
    }
    finding
        .evidence(
            &object,
            "status.conditions[type=Scheduled].observedGeneration",
            condition.observed_generation,
        )
        .evidence(&object, "metadata.generation", policy.meta.generation)
}

fn wait(cx: &Context<'_>, finding: Finding) -> Finding {
    let object = cx.placement_object();
    finding
        .fix(
            "Fix the labels, taints, or agents of the clusters that were not picked, join more \
             clusters, or ask for fewer.",
        )
        .look_with(
            "Wait until the placement is scheduled.",
            steps::wait_until_scheduled(&object),
        )
}
