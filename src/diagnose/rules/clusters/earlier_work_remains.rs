//! A cluster cannot receive new content, because the Work of an earlier rollout is still being deleted.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::leftover::{self, PlacementLeftover};
use crate::diagnose::subjects::objects::{clusters, per_trouble};
use crate::diagnose::subjects::ownership;
use crate::kubefleet::duration;
use crate::problems::{problems_ahead, steps};

/// A Work is named after its placement, so that a cluster which left a placement and came back needs
/// the name again; KubeFleet tries until it is free. Source: workgenerator/controller.go:upsertWork.
pub const RULE: Rule = Rule::error("FS530", "earlier-work-remains", RuleSearch::Whole(check))
    .reads(&[Concept::Binding, Concept::Work, Concept::MemberCluster])
    .caused_by(&["FS516", "FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let subject = |failing: &FailingCluster<'_>| {
        let problem = failing.trouble.problem.as_ref()?;
        (ownership::of_binding(problem) == rule.code).then(|| failing.binding.object().into())
    };
    let met = per_trouble(cx, rule, subject, |on, mut finding| {
        let left = on
            .first()
            .and_then(|one| PlacementLeftover::of(cx, one.cluster));
        let names = clusters(on);
        if let Some(left) = left {
            finding.message = format!(
                "{names} cannot receive the new content: its earlier Work, whose name the new one \
                 needs, is still being deleted after {}: {}.",
                duration::describe(left.lasting),
                left.why()
            );
            return left.steps(left.shown(finding));
        }
        finding.message = format!(
            "{names} cannot receive the new content: an earlier Work, whose name the new one needs, \
             is still being deleted."
        );
        match on.first() {
            Some(one) => leftover::ask_agent(
                finding.look_with(
                    format!(
                        "Inspect the Works for {} and their finalizers.",
                        one.cluster
                    ),
                    steps::works_for(&cx.placement_object(), one.cluster).flag("-o", "yaml"),
                ),
                one.cluster,
            ),
            None => finding,
        }
    });
    if met.is_empty() {
        return to_come(cx, rule).into_iter().collect();
    }
    met
}

/// The same of clusters that a live run has still to reach.
fn to_come(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let problem = problems_ahead(cx.rollout.as_ref()?).earlier?;
    Some(rule.told(problem).severity(Severity::Warning))
}
