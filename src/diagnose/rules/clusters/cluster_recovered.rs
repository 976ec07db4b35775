//! A cluster is done, and the controller has not checked it again yet.

use crate::controller;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::size;
use crate::kubefleet::{Condition, duration, reasons};
use crate::problems::steps;
use crate::rollout::{ClusterView, Health, LONGEST, LOOK_EVERY, Phase, Rollout, STUCK_AFTER};

/// A cluster that fails makes the controller look ever more rarely, up to every 1000 seconds.
/// Source: updaterun/controller.go:Reconcile, controller-runtime's default rate limiter.
pub const RULE: Rule = Rule::info("FS522", "cluster-recovered", Run(check))
    .reads(&[Concept::Binding])
    .caused_by(&["FS122"]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    // Of a run that rests or goes away there is no next check.
    if !matches!(rollout.phase, Phase::Executing | Phase::Stopping) {
        return Vec::new();
    }
    let found = rollout.in_flight().filter_map(|cluster| {
        let Health::Fine(condition) = &cluster.health else {
            return None;
        };
        finding_on(cx, rule, rollout, cluster, condition)
    });
    let found: Vec<_> = found.collect();
    found_or(found, || between_clusters(cx, rule, rollout))
}

/// The controller is done with a cluster that was in error, and what comes next waits for as long.
fn between_clusters(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    rollout: &Rollout<'_>,
) -> Option<Finding> {
    let slowed = controller::slowed_by_errors(cx.inventory, rollout.run)?;
    let run = rollout.run.object();
    let next = slowed.since.checked_add(slowed.pace).ok()?;
    let message = format!(
        "After the errors on {}, the controller may not check {} again before {next}; \
         nothing continues before that check.",
        enumerate(&slowed.clusters),
        run.name
    );
    let mut finding = rule.finding(&run, message).severity(Severity::Warning);
    let done = rollout.updated_clusters();
    for cluster in done.filter(|it| slowed.clusters.iter().any(|name| name == it.name)) {
        finding = finding.known(&run, cluster.ended_path(), cluster.ended);
    }
    Some(check_now(cx, rollout, finding))
}

/// Adds how to make the controller check now.
fn check_now(cx: &DiagnosisContext<'_>, rollout: &Rollout<'_>, finding: Finding) -> Finding {
    let run = &rollout.run.meta.name;
    // A run that is stopping is looked at every few seconds anyway, and cannot be stopped again.
    let says_to_wait = rollout.state_ignored && !finding.remedies.is_empty();
    if says_to_wait || rollout.phase == Phase::Stopping {
        return finding;
    }
    if let Some(code) = cx.outlook.fails() {
        return finding.look(format!(
            "Resolve {code} first: the run fails at that check."
        ));
    }
    // A run with a removal ahead does not come to a stop.
    if rollout.state_ignored || !rollout.removals_to_come().is_empty() {
        return finding.look("Wait for the next check: the run continues with it.");
    }
    finding
        .fix_with(
            "Stop the run to make the controller check now. It updates nothing new until it is \
             resumed.",
            cx.command("stop").arg(run),
        )
        .fix_with("Then resume it.", cx.command("resume").arg(run))
}

fn finding_on(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    rollout: &Rollout<'_>,
    cluster: &ClusterView<'_>,
    fine: &Condition,
) -> Option<Finding> {
    let binding = cluster.binding?;
    // Content of another run is not what this one waits for.
    if !rollout.has_recovered(cluster) {
        return None;
    }
    let says_stuck = rollout.reason() == reasons::RUN_STUCK;
    let lasting = fine.since.map(|since| cx.now().duration_since(since));
    // Nobody looked before it was the cluster's turn.
    let missed = fine.since.map(|since| {
        cx.now()
            .duration_since(cluster.since.max(Some(since)).unwrap_or(since))
    });
    // A healthy cluster is noticed at the next look; only one that was missed twice is news.
    let unnoticed = missed.is_some_and(|missed| missed > LOOK_EVERY * 2);
    let late = cluster.in_flight_for(cx.now());
    if !(unnoticed || says_stuck && late.is_none_or(|late| late > STUCK_AFTER)) {
        return None;
    }
    let name = cluster.name;
    let since = match (fine.since, lasting) {
        (Some(since), Some(lasting)) => {
            format!(" since {since} ({} ago)", duration::describe(lasting))
        }
        _ => String::new(),
    };
    let done = if fine.kind == reasons::DIFF_REPORTED {
        "has reported its differences"
    } else {
        "has been available"
    };
    let late = missed.is_some_and(|missed| missed > LONGEST + LOOK_EVERY);
    let next = cx.outlook.expected().and_then(|it| it.by);
    let next = match next.filter(|next| !late && *next > cx.now()) {
        Some(next) => format!("; its next check comes by {next}"),
        None => String::new(),
    };
    let message = format!("{name} {done}{since}, but the controller has not noticed it yet{next}.");
    let mut finding = rule
        .finding(binding.object(), message)
        .severity(Severity::warning_if(late))
        .stage(cluster.stage)
        .clusters([name])
        .condition(&binding.object(), fine);
    let path = format!("status.conditions[type={}].lastTransitionTime", fine.kind);
    finding = finding.known(binding.object(), path, fine.since);
    finding = finding.condition(&rollout.run.object(), rollout.progressing());
    let run = &rollout.run.meta.name;
    finding =
        if late {
            size::explain(cx, finding).look_with(
                format!(
                    "Check the hub agent: it has missed its check, which is due at least every {}.",
                    duration::describe(LONGEST)
                ),
                steps::hub_agent(),
            )
        } else {
            finding.look_with(format!(
                "Wait: after failures the controller checks at growing intervals, at least every \
                 {}.",
                duration::describe(LONGEST)
            ), cx.command("diagnose").arg(run))
        };
    Some(check_now(cx, rollout, finding))
}
