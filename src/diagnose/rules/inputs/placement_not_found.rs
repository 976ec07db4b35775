//! The placement that the run names does not exist.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::inventory::Sight;
use crate::kubefleet::placement::Placement;
use crate::words::Command;
use crate::words::closest;

/// A run finds a placement only in its own scope, and in a namespace only in its own one.
/// Source: updaterun/initialization.go:validatePlacement.
pub const RULE: Rule = Rule::error("FS101", "placement-not-found", Check::Cause(check))
    .reads(&[Concept::Placement])
    .caused_by(&["FS206"]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    matches!(cause, Cause::PlacementNotFound).then(|| missing(cx, rule))
}

fn missing(cx: &Context<'_>, rule: &Rule) -> Finding {
    let run = cx.run_object().name;
    let object = cx.placement_object();
    let initializing = failing::initializing(cx);
    let lead = if initializing {
        format!("{object} did not exist when {run} was initialized")
    } else {
        format!("{object} was deleted while {run} was under way")
    };
    let make = "Create the placement with `spec.strategy.type: External` and wait until it is \
                scheduled.";
    match &cx.inventory.placement {
        Sight::Present(placement) => {
            let again = if initializing {
                "exists now"
            } else {
                "exists again"
            };
            let finding = failing::finding(cx, rule, &object, format!("{lead}, but {again}."))
                .evidence(
                    &object,
                    "metadata.creationTimestamp",
                    placement.meta.created,
                );
            if placement.is_external() {
                return failing::just_new_run(cx, finding);
            }
            let finding = finding.fix(format!(
                "Set its `spec.strategy.type` to External, which is {} now.",
                placement.rollout_type()
            ));
            failing::then_new_run(cx, finding)
        }
        Sight::Unknown(_) => {
            let finding = failing::finding(cx, rule, &object, format!("{lead}."));
            failing::then_new_run(cx, finding.fix(make))
        }
        Sight::Absent if !initializing => {
            let finding = failing::finding(cx, rule, &object, format!("{lead}."))
                .evidence(&object, "metadata.name", "absent")
                .fix(
                    "Create the placement again with `spec.strategy.type: External` and wait \
                     until it is scheduled, if the deletion was a mistake. Otherwise delete the \
                     run: there is nothing to roll out.",
                );
            failing::then_new_run(cx, finding)
        }
        Sight::Absent => absent(cx, rule, &lead, make),
    }
}

/// The placement was never there: perhaps it is elsewhere, or has another name.
fn absent(cx: &Context<'_>, rule: &Rule, lead: &str, make: &str) -> Finding {
    let object = cx.placement_object();
    let listed = &cx.inventory.placements;
    let elsewhere: Vec<&Placement> = listed
        .iter()
        .filter(|placement| placement.meta.name == object.name && placement.object() != object)
        .collect();
    let here = listed
        .iter()
        .filter(|placement| placement.meta.namespace == object.namespace)
        .map(|placement| placement.meta.name.as_str());
    let similar = closest(&object.name, here);
    let tail = if !elsewhere.is_empty() {
        let names = enumerate(elsewhere.iter().map(|found| found.object().to_string()));
        format!("; {names} has that name, but a run uses only placements of its own scope")
    } else if let Some(similar) = similar {
        format!("; a similar name exists: {similar}")
    } else if listed.is_complete() {
        ", and no placement has a similar name".to_owned()
    } else {
        String::new()
    };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}.")).evidence(
        &object,
        "metadata.name",
        "absent",
    );
    let strategy = cx.run().map_or("", |run| run.spec.strategy.as_str());
    for found in elsewhere.iter().take(3) {
        let there = found.object();
        finding = finding
            .evidence(&there, "metadata.name", there.name.clone())
            .fix(format!(
                "Create the strategy in the scope of {there}, if you meant that placement, \
                     and set its `spec.strategy.type` to External."
            ))
            .fix_with(
                format!("Then create the run in the scope of {}.", there.name),
                there
                    .scope()
                    .fleet("run")
                    .arg("NEW")
                    .flag("--placement", &there.name)
                    .flag("--strategy", strategy),
            );
    }
    if elsewhere.is_empty()
        && let Some(similar) = similar
    {
        let of = |command: Command| {
            let command = command.flag("--placement", similar);
            Some(command.flag("--strategy", strategy))
        };
        finding = finding
            .look_with(
                format!("Check what a run of {similar} would do, if you meant that placement."),
                of(cx.command("plan")),
            )
            .fix_with(
                "Then start a new run that names it: the field is immutable.",
                of(cx.command("run").arg("NEW")),
            );
    }
    failing::then_new_run(cx, finding.fix(make))
}
