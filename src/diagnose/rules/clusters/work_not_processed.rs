//! A member agent has not processed what the hub wants it to apply.

use crate::diagnose::failing_cluster::FailingCluster;
use crate::diagnose::objects;
use crate::diagnose::ownership;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::work::Work;
use crate::kubefleet::{Conditions, names, reasons};
use crate::problems::steps;

/// `ApplyInProgress` and the like, which every rollout passes through, for longer than the
/// controller allows. Source: workgenerator/controller.go:setAllWorkAppliedCondition.
pub const RULE: Rule = Rule::error("FS515", "work-not-processed", Search::Whole(check))
    .reads(&[Concept::Binding, Concept::Work, Concept::MemberCluster])
    .caused_by(&["FS516", "FS517", "FS518"])
    .environment();

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    if cx.verdict == Verdict::Deleting {
        return Vec::new();
    }
    ownership::troubles(cx, rule.code)
        .filter(|failing| failing.blocking && failing.is_overdue())
        .map(|failing| one(cx, rule, failing))
        .collect()
}

fn one(cx: &Context<'_>, rule: &Rule, failing: &FailingCluster<'_>) -> Finding {
    let cluster = failing.cluster;
    let namespace = names::member_namespace(cluster);
    let named = failing
        .trouble
        .work
        .as_ref()
        .and_then(|problem| problem.work.as_deref());
    let works: Vec<_> = cx
        .inventory
        .works_of(failing.binding)
        .filter(|work| is_behind(work) || named == Some(work.meta.name.as_str()))
        .collect();
    let subject = match (works.first(), named) {
        (Some(work), _) => Subject::from(work.object()),
        (None, Some(name)) => Subject::new("Work", namespace.clone(), name),
        (None, None) => failing.binding.object().into(),
    };
    let lasting = crate::kubefleet::duration::lasting(failing.lasting);
    let nothing = works.iter().any(|work| work.status.conditions.is_empty());
    let what = if nothing {
        "has not reported on the new content"
    } else {
        "has been working on the new content"
    };
    let message = format!("The member agent of {cluster} {what}{lasting}.");
    let mut finding = objects::on_cluster(cx, rule, subject, message, failing);
    for work in works.iter().take(3) {
        finding = evidence(work, finding);
    }
    finding
        .look_with(
            "Read what the agent reported.",
            steps::works_for(cluster).flag("-o", "yaml"),
        )
        .look_with(
            format!("Check the agent on {cluster} and its log."),
            steps::member_agent(cluster),
        )
        .fix(format!(
            "Restore the agent of {cluster}, or its connection to the hub."
        ))
        .then_continues(cx)
}

/// Whether the agent has not spoken of the Work as it is now.
fn is_behind(work: &Work) -> bool {
    [reasons::APPLIED, reasons::DIFF_REPORTED]
        .iter()
        .filter_map(|kind| work.status.conditions.condition(kind))
        .all(|condition| !condition.observes(work.meta.generation))
}

fn evidence(work: &Work, finding: Finding) -> Finding {
    let object = work.object();
    let conditions = &work.status.conditions;
    let finding = finding.evidence(&object, "metadata.generation", work.meta.generation);
    match conditions
        .condition(reasons::APPLIED)
        .or_else(|| conditions.condition(reasons::DIFF_REPORTED))
    {
        None => finding.evidence(&object, "status.conditions", ABSENT),
        Some(condition) => finding.evidence(
            &object,
            format!(
                "status.conditions[type={}].observedGeneration",
                condition.kind
            ),
            condition.observed_generation,
        ),
    }
}
