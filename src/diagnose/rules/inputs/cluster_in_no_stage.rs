//! The placement selects clusters that no stage of the strategy takes.

use crate::diagnose::rules::prelude::*;
use std::collections::BTreeSet;

use crate::diagnose::failing;
use crate::diagnose::placing::{Placing, near_misses, selector_of};
use crate::problems::steps;

/// The controller prints ten names at most. A stage without a selector takes no cluster.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule = Rule::error("FS113", "cluster-in-no-stage", Check::Cause(check)).reads(&[
    Concept::Strategy,
    Concept::MemberCluster,
    Concept::Binding,
]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::ClustersInNoStage { total, shown } => Some(nowhere(cx, rule, *total, shown)),
        _ => None,
    }
}

fn nowhere(cx: &Context<'_>, rule: &Rule, total: Option<u64>, shown: &[String]) -> Finding {
    let recorded = Placing::recorded(cx);
    let shown: BTreeSet<&str> = shown.iter().map(String::as_str).collect();
    let computed: BTreeSet<&str> = recorded
        .iter()
        .flat_map(|placing| placing.nowhere())
        .map(|placed| placed.name)
        .collect();
    let number = total
        .and_then(|total| usize::try_from(total).ok())
        .unwrap_or(shown.len())
        .max(shown.len());
    // The same as the controller computed, names beyond the tenth included?
    let same = shown.is_subset(&computed) && (computed.len() == number || total.is_none());
    let all = if same { &computed } else { &shown };
    let number = if same { computed.len() } else { number };
    let when = failing::when(cx);
    let strategy = cx.run().map_or("", |run| run.spec.strategy.as_str());
    let strategy_object = cx.object(Concept::Strategy, strategy);
    let names = if number > all.len() && all.len() > 3 {
        let first: Vec<_> = all.iter().take(3).copied().collect();
        format!("{} and {} more", first.join(", "), number - 3)
    } else {
        enumerate(all.iter().copied())
    };
    let fixed = Placing::now(cx).filter(|placing| placing.is_sound());
    let tail = if fixed.is_some() {
        "; now every cluster is in one stage".to_owned()
    } else if same {
        let placing = recorded.as_ref();
        let members = placing.into_iter().flat_map(|placing| placing.nowhere());
        let stages: Vec<_> = placing
            .iter()
            .flat_map(|placing| &placing.strategy.stages)
            .collect();
        near_misses(members.filter_map(|placed| placed.member), &stages)
    } else if recorded.as_ref().is_none_or(|placing| !placing.complete) {
        String::new()
    } else {
        format!(
            "; with the current labels: {}",
            enumerate(computed.iter().copied())
        )
    };
    let lead = if number == 1 {
        format!("MemberCluster {names} was in no stage of {strategy_object} {when}")
    } else {
        format!(
            "{} were in no stage of {strategy_object} {when}: {names}",
            count(number, "cluster")
        )
    };
    let object = match all.first() {
        Some(only) if number == 1 => cx.object(Concept::MemberCluster, only),
        _ => strategy_object,
    };
    let mut finding =
        failing::finding(cx, rule, &object, format!("{lead}{tail}.")).clusters(all.iter().copied());
    if let Some(placing) = &recorded {
        let stages = placing.strategy.stages.iter();
        finding = placing.evidence(cx, finding, all.iter().copied(), stages);
    }
    if fixed.is_some() {
        return failing::just_new_run(cx, finding);
    }
    let selectors = recorded.as_ref().map_or_else(String::new, |placing| {
        let listed: Vec<_> = placing
            .strategy
            .stages
            .iter()
            .map(|stage| format!("{}: `{}`", stage.name, selector_of(stage)))
            .collect();
        format!(" ({})", listed.join("; "))
    });
    finding = finding
        .fix_with(
            format!(
                "Label {} until exactly one stage selects it{selectors}. Or extend the strategy, \
                 or narrow the placement's policy.",
                if number == 1 {
                    "the cluster"
                } else {
                    "each of the clusters"
                }
            ),
            steps::label("NAME", "KEY=VALUE"),
        )
        .look_with(
            "Check the stage of every cluster then.",
            cx.command("plan")
                .flag("--placement", &cx.inventory.placement_name)
                .flag("--strategy", strategy),
        );
    failing::then_new_run(cx, finding)
}
