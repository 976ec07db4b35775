//! A stage sorts its clusters by a label that is not a whole number on one of them.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::strategy::Stage;
use crate::problems::{RefusalTense, SortingLabel, StageMap, sorting_label, unsorted};

/// The controller names the first such cluster only; a missing label prints as an empty value.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule = Rule::error("FS112", "sorting-label-invalid", RuleSearch::Cause(check))
    .reads(&[Concept::Strategy, Concept::MemberCluster, Concept::Binding])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::SortingLabelInvalid {
        key,
        value,
        cluster,
        ..
    } = cause
    else {
        return None;
    };

    let inventory = cx.inventory;
    let recorded = StageMap::recorded(inventory);
    // The stage that the text speaks of: it sorts by the label and selects the cluster.
    let stage = recorded.as_ref().and_then(|map| {
        let stages = map.strategy.stages.iter();
        let sorting: Vec<_> = stages.filter(|stage| stage.sorting_label == *key).collect();
        let holds = |stage: &&&Stage| map.of_stage(stage).any(|it| it.name == *cluster);
        let of_cluster = sorting.iter().find(holds).copied();
        of_cluster.or_else(|| sorting.first().copied().filter(|_| sorting.len() == 1))
    });
    let mut members: Vec<&MemberCluster> = recorded
        .iter()
        .zip(stage)
        .flat_map(|(map, stage)| map.of_stage(stage))
        .filter_map(|placed| placed.member)
        .filter(|member| unsorted(member, key))
        .collect();
    let own = inventory.member(cluster);
    if let Some(own) = own.filter(|own| unsorted(own, key))
        && !members.iter().any(|member| member.meta.name == *cluster)
    {
        members.push(own);
    }
    let fixed = members.is_empty() && own.is_some_and(|own| !unsorted(own, key));
    let past = cx.past(if fixed {
        ", but it has a whole number now"
    } else {
        ""
    });
    let label = SortingLabel {
        key,
        strategy: &cx.strategy_object(),
        stage,
        first: (cluster, value.as_deref()),
        members,
    };
    if cx.failure.is_none() {
        let mut problem = sorting_label(inventory, &label, RefusalTense::Now);
        let lacks = problem.message.trim_end_matches('.');
        problem.message = format!("{lacks}, {}.", run_failure::will_fail(cx));
        // A change of the strategy does not reach this run.
        for step in &mut problem.remedies {
            let label = step.action.split(" Or remove").next();
            step.action = label.unwrap_or_default().to_owned();
        }
        return Some(rule.told(problem).severity(Severity::Warning));
    }
    let problem = sorting_label(inventory, &label, past);
    Some(run_failure::refused(cx, rule, problem, fixed))
}
