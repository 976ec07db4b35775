//! The scheduler has not found all the clusters that the placement asks for.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps;
use crate::diagnose::{failing, scheduling};
use crate::kubefleet::messages::Cause;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{Concept, Conditions, reasons};

/// The controller does not wait for the scheduler, it fails: also when only a moment is
/// missing. Source: updaterun/initialization.go:determinePolicySnapshot.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS105",
    name: "placement-not-scheduled",
    severity: Severity::Error,
    reads: &[Concept::Placement, Concept::PolicySnapshot],
    caused_by: &["FS202"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let named: Vec<_> = case
        .causes()
        .filter_map(|cause| match cause {
            Cause::PolicyNotScheduled { snapshot } => Some(snapshot.name.as_str()),
            _ => None,
        })
        .map(|name| failed(case, rule, name))
        .collect();
    if named.is_empty() {
        return before_any_run(case, rule).into_iter().collect();
    }
    named
}

fn failed(case: &Case<'_>, rule: &Rule, name: &str) -> Finding {
    let object = case.placement_object();
    let policy = case
        .inventory
        .policies
        .iter()
        .find(|policy| policy.meta.name == name);
    let lead = format!("{object} was not fully scheduled {}", failing::when(case));
    let newer = case
        .inventory
        .latest_policies()
        .find(|latest| latest.meta.name != name && latest.is_scheduled());
    let scheduled = newer.or_else(|| policy.filter(|policy| policy.is_scheduled()));
    if let Some(scheduled) = scheduled {
        let finding = failing::finding(
            case,
            rule,
            &object,
            format!("{lead}, but it is scheduled now."),
        );
        return failing::just_new_run(case, state(scheduled, finding));
    }
    let Some(policy) = policy else {
        let finding = failing::finding(case, rule, &object, format!("{lead}."));
        return failing::then_new_run(case, wait(case, finding));
    };
    let finding = failing::finding(case, rule, &object, explained(case, &lead, policy));
    failing::then_new_run(case, wait(case, details(case, policy, finding)))
}

/// A placement that no run has touched yet: its first run would fail.
fn before_any_run(case: &Case<'_>, rule: &Rule) -> Option<Finding> {
    if case.target().kind.concept() != Concept::Placement || case.run().is_some() {
        return None;
    }
    let placement = case.inventory.placement.present()?;
    let scheduled = placement.condition(reasons::SCHEDULED);
    if !placement.is_external()
        || placement.meta.is_deleting()
        || scheduled.is_some_and(|it| it.is_true() && it.observes(placement.meta.generation))
    {
        return None;
    }
    let object = placement.object();
    let lead = format!("{object} is not fully scheduled, so an update run of it would fail");
    let policy = case.inventory.latest_policies().next();
    let message = policy.map_or_else(
        || format!("{lead}."),
        |policy| explained(case, &lead, policy),
    );
    let mut finding = rule.finding(&object, message).root();
    finding = match scheduled {
        Some(condition) => finding.condition(&object, "status", condition),
        None => finding.evidence(
            &object,
            format!("status.conditions[type={}Scheduled]", object.kind),
            "absent",
        ),
    };
    if let Some(policy) = policy {
        finding = details(case, policy, finding);
    }
    Some(wait(case, finding))
}

/// The lead, with the reasons of the clusters that were not picked.
fn explained(case: &Case<'_>, lead: &str, policy: &PolicySnapshot) -> String {
    let groups = scheduling::not_picked(policy, case.inventory);
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

fn details(case: &Case<'_>, policy: &PolicySnapshot, finding: Finding) -> Finding {
    let left_out = scheduling::names_left_out(policy);
    scheduling::evidence(
        policy,
        case.inventory,
        state(policy, finding.clusters(left_out)),
    )
}

/// The snapshot's own condition, and what it speaks of.
fn state(policy: &PolicySnapshot, finding: Finding) -> Finding {
    let object = policy.object();
    let Some(condition) = policy.status.conditions.condition(reasons::SCHEDULED) else {
        return finding.evidence(&object, "status.conditions[type=Scheduled]", "absent");
    };
    let finding = finding.condition(&object, "status", condition);
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

fn wait(case: &Case<'_>, finding: Finding) -> Finding {
    let object = case.placement_object();
    finding
        .fix(
            "Fix the labels, taints, or agents of the clusters that were not picked, join more \
             clusters, or ask for fewer.",
            None,
        )
        .look(
            "Wait until the placement is scheduled.",
            Some(steps::wait_until_scheduled(&object)),
        )
}
