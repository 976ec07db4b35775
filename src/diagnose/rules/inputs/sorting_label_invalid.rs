//! A stage sorts its clusters by a label that is not a whole number on one of them.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::strategy::Stage;
use crate::problems::{RefusalTense, SortingLabel, StageMap, sorting_label, unsorted};
use crate::words::said_if;

/// The controller names the first such cluster only; a missing label prints as an empty value.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule = Rule::error("FS112", "sorting-label-invalid", NamedCause(check))
    .reads(&[Concept::Strategy, Concept::MemberCluster, Concept::Binding])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::SortingLabelInvalid {
        key,
        value,
        cluster,
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
    let past = cx.past(said_if(fixed, ", but it has a whole number now"));
    let label = SortingLabel {
        key,
        strategy: &cx.strategy_object(),
        stage,
        first: (cluster, value.as_deref()),
        members,
    };
    if cx.failure.is_none() {
        let problem = sorting_label(inventory, &label, RefusalTense::Now);
        let mut problem = run_failure::ahead(cx, problem);
        // A change of the strategy does not reach this run.
        if label.selects() {
            problem.remedies.clear();
            let back = "Give the label its value back that it had when the run was initialized.";
            return Some(rule.told(problem.fix(back)).severity(Severity::Warning));
        }
        let order = recorded_order(cx, cluster, key);
        for step in &mut problem.remedies {
            let label = step.action.split(" Or remove").next();
            step.action = format!("{}{order}", label.unwrap_or_default());
        }
        return Some(rule.told(problem).severity(Severity::Warning));
    }
    let problem = sorting_label(inventory, &label, past);
    Some(run_failure::refused(cx, rule, problem, fixed))
}

/// Which order the numbers have to give, as a sentence: a run under way fails for another one.
/// Source: updaterun/validation.go:validateUpdateStagesStatus.
fn recorded_order(cx: &DiagnosisContext<'_>, cluster: &str, key: &str) -> String {
    let stages = cx.run().into_iter().flat_map(|run| &run.status.stages);
    let mut stages = stages.filter(|stage| stage.clusters.iter().any(|it| it.name == cluster));
    let clusters = stages.next().map_or(&[][..], |stage| &stage.clusters);
    if clusters.len() < 2 {
        return String::new();
    }
    let order = clusters.iter().map(|it| {
        let member = cx.inventory.member(&it.name);
        match member.and_then(|member| member.meta.label(key)) {
            Some(number) if it.name != cluster => format!("{} ({number})", it.name),
            _ => it.name.clone(),
        }
    });
    format!(
        " Keep the order that the run recorded: {}.",
        order.collect::<Vec<_>>().join(", ")
    )
}
