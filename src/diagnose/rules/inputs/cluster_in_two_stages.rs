//! Two stages select the same cluster.

use crate::diagnose::failing;
use crate::diagnose::placing::Placing;
use crate::diagnose::rules::prelude::*;

/// The controller names the first such cluster only. A stage with an empty selector takes every
/// cluster. Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule = Rule::error("FS111", "cluster-in-two-stages", Check::Cause(check)).reads(&[
    Concept::Strategy,
    Concept::MemberCluster,
    Concept::Binding,
]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::ClusterInSeveralStages { cluster } => Some(twice(cx, rule, cluster)),
        _ => None,
    }
}

fn twice(cx: &Context<'_>, rule: &Rule, cluster: &str) -> Finding {
    let when = failing::when(cx);
    let strategy = cx.run().map_or("", |run| run.spec.strategy.as_str());
    let strategy_object = cx.object(Concept::Strategy, strategy);
    let recorded = Placing::recorded(cx);
    let found = recorded.as_ref().and_then(|placing| {
        let stages = placing.cluster(cluster)?.stages.as_deref()?;
        Some((placing, stages))
    });
    let Some((recorded, stages)) = found.filter(|(_, stages)| stages.len() > 1) else {
        // The labels have changed since, or cannot be read.
        let tail = match found {
            Some((_, [])) => ", but with its current labels it is in none",
            Some((_, [_])) => ", but with its current labels it is in one",
            _ => "",
        };
        let message = format!("MemberCluster {cluster} was in more than one stage {when}{tail}.");
        let object = cx.object(Concept::MemberCluster, cluster);
        let mut finding = failing::finding(cx, rule, &object, message).clusters([cluster]);
        if let Some((placing, stages)) = found {
            finding = placing.evidence(cx, finding, [cluster], stages.iter().copied());
        }
        if Placing::now(cx).is_some_and(|now| now.is_sound()) {
            return failing::just_new_run(cx, finding);
        }
        return repair(cx, finding, strategy);
    };
    let all: Vec<&str> = recorded.twice().map(|(placed, _)| placed.name).collect();
    let in_stages = enumerate(stages.iter().map(|stage| stage.name.as_str()));
    let (object, lead) = if let [only] = all.as_slice() {
        (
            cx.object(Concept::MemberCluster, only),
            format!("MemberCluster {only} was in stages {in_stages} of {strategy_object} {when}"),
        )
    } else {
        let listed = enumerate(recorded.twice().map(|(placed, stages)| {
            let stages: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
            format!("{} ({})", placed.name, stages.join(" + "))
        }));
        (
            strategy_object.clone(),
            format!(
                "{} clusters were in more than one stage of {strategy_object} {when}: {listed}",
                all.len()
            ),
        )
    };
    let mended = Placing::now(cx).is_some_and(|now| now.is_sound());
    let tail = if mended {
        "; with the current strategy each is in one"
    } else {
        ""
    };
    let message = format!("{lead}{tail}.");
    let finding = failing::finding(cx, rule, &object, message).clusters(all.iter().copied());
    let concerned = recorded.strategy.stages.iter().filter(|stage| {
        recorded
            .twice()
            .any(|(_, stages)| stages.iter().any(|other| other.name == stage.name))
    });
    let finding = recorded.evidence(cx, finding, all.iter().copied(), concerned);
    if mended {
        return failing::just_new_run(cx, finding);
    }
    repair(cx, finding, strategy)
}

fn repair(cx: &Context<'_>, finding: Finding, strategy: &str) -> Finding {
    let finding = finding
        .fix(
            "Make the stages' selectors exclude each other, or relabel the clusters. An empty \
             selector (`{}`) selects every cluster.",
        )
        .look_with(
            "Check the stage of every cluster then.",
            cx.command("plan")
                .flag("--placement", &cx.inventory.placement_name)
                .flag("--strategy", strategy),
        );
    failing::then_new_run(cx, finding)
}
