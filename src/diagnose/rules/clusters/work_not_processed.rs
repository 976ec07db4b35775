//! A member agent has not processed what the hub wants it to apply.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects;
use crate::diagnose::subjects::ownership;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::work::Work;
use crate::kubefleet::{Conditions, names, reasons};
use crate::problems::steps;

/// `ApplyInProgress` and the like, which every rollout passes through, for longer than the
/// controller allows. Source: workgenerator/controller.go:setAllWorkAppliedCondition.
pub const RULE: Rule = Rule::error("FS515", "work-not-processed", Whole(check))
    .reads(&[Concept::Binding, Concept::Work, Concept::MemberCluster])
    .caused_by(&["FS516", "FS517", "FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    if cx.verdict == Verdict::Deleting {
        return Vec::new();
    }
    ownership::troubles(cx, rule.code)
        .filter(|failing| failing.blocking && failing.is_overdue())
        .map(|failing| finding_on(cx, rule, failing))
        .collect()
}

fn finding_on(cx: &DiagnosisContext<'_>, rule: &Rule, failing: &FailingCluster<'_>) -> Finding {
    let cluster = failing.cluster;
    let namespace = names::member_namespace(cluster);
    let named = failing
        .trouble
        .work
        .as_ref()
        .and_then(|problem| problem.work.as_deref());
    let all = cx.inventory.works_of(failing.binding);
    let (mut works, rest): (Vec<_>, Vec<_>) =
        all.partition(|work| is_behind(work) || named == Some(work.meta.name.as_str()));
    if works.is_empty() {
        works = rest;
    }
    let subject = match (works.first(), named) {
        (Some(work), _) => Subject::from(work.object()),
        (None, Some(name)) => Subject::new("Work", namespace.clone(), name),
        (None, None) => failing.binding.object().into(),
    };
    let lasting = crate::kubefleet::duration::lasting(failing.lasting);
    let silent = failing
        .member
        .is_some_and(|member| member.silent_for(cx.now()).is_some());
    // Only what covers the Work as it is now was said of the new content.
    let works_on_it = !silent && works.iter().any(|work| !is_behind(work));
    let what = if works_on_it {
        "has been working on the new content"
    } else {
        "has not reported on the new content"
    };
    let never = works.is_empty() && cx.inventory.works.is_complete();
    let why = if never {
        format!(": {namespace} on the hub has no Work of the placement for it")
    } else {
        String::new()
    };
    // The hub agent notes in the binding what the Works say, and looks at the binding as it is now.
    let is_noted_late = !works.is_empty() && works.iter().all(|work| is_through(work));
    let message = if is_noted_late {
        format!(
            "The member agent of {cluster} has reported the new content as applied and available, and \
             the hub agent has not noted that in the binding{lasting}."
        )
    } else {
        format!("The member agent of {cluster} {what}{lasting}{why}.")
    };
    let mut finding = objects::on_cluster(cx, rule, subject, message, failing);
    for work in works.iter().take(3) {
        finding = evidence(work, finding);
    }
    if never && named.is_some() {
        let work = finding.subject.clone();
        finding = finding.absent(work);
    }
    finding = match works.first() {
        Some(work) => finding.look_with(
            "Inspect the Work: its status has what the agent reported.",
            work.object().kubectl("get").flag("-o", "yaml"),
        ),
        None => finding.look_with(
            format!("List the placement's Works for {cluster}."),
            steps::works_for(&cx.placement_object(), cluster),
        ),
    };
    if never || is_noted_late {
        // The hub agent creates Works, creates again what somebody deleted, and follows their status.
        // Source: workgenerator/controller.go:SetupWithManager.
        return finding
            .look_with(
                "Check whether the hub agent runs: it creates and follows the Works.",
                steps::hub_agent(),
            )
            .fix("Restore the hub agent.")
            .then_continues(cx);
    }
    let member = failing.member.filter(|_| !silent);
    // A report of the future only shows that a clock is wrong.
    let heard = member.and_then(MemberCluster::heard);
    let heard = heard.filter(|it| *it <= cx.now());
    let (check, repair) = match heard {
        Some(heard) => (
            format!("Check the agent's pods on {cluster}: it runs, as it reported at {heard}."),
            format!("Restart the agent of {cluster}, if it does nothing about the Work."),
        ),
        None => (
            format!("Check whether the agent's pods run on {cluster}."),
            format!("Restore the agent of {cluster}, or its connection to the hub."),
        ),
    };
    finding
        .look_with(check, steps::member_agent(cluster))
        .fix(repair)
        .then_continues(cx)
}

/// Whether the agent has said of the Work as it is now that all of it is there.
fn is_through(work: &Work) -> bool {
    let is_true = |kind: &&str| {
        let condition = work.status.conditions.condition(kind);
        condition.is_some_and(|it| it.is_true() && it.observes(work.meta.generation))
    };
    let all = [reasons::APPLIED, reasons::AVAILABLE];
    all.iter().all(is_true)
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
        Some(condition) => finding.observed(&object, condition),
    }
}
