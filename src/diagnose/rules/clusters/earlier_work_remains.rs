//! A cluster cannot receive new content, because the Work of an earlier rollout is still being deleted.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::leftover::{self, PlacementLeftover};
use crate::diagnose::subjects::objects::{clusters, per_binding_problem};
use crate::kubefleet::duration;
use crate::kubefleet::messages::BindingProblem;
use crate::problems::{problems_ahead, steps};

/// A Work is named after its placement, so that a cluster which left a placement and came back needs
/// the name again; KubeFleet tries until it is free. Source: workgenerator/controller.go:upsertWork.
pub const RULE: Rule = Rule::error("FS530", "earlier-work-remains", Whole(check))
    .reads(&[Concept::Binding, Concept::Work, Concept::MemberCluster])
    .caused_by(&["FS516", "FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let subject =
        |failing: &FailingCluster<'_>, _: &BindingProblem| Some(failing.binding.object().into());
    let met = per_binding_problem(cx, rule, subject, |first, _, on, mut finding| {
        let (names, one) = (clusters(on), first.cluster);
        if let Some(left) = PlacementLeftover::of(cx, one) {
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
        let works = steps::works_for(&cx.placement_object(), one).flag("-o", "yaml");
        let inspect = format!("Inspect the Works for {one} and their finalizers.");
        leftover::ask_agent(finding.look_with(inspect, works), one)
    });
    found_or(met, || to_come(cx, rule))
}

/// The same of clusters that a live run has still to reach.
fn to_come(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let problem = problems_ahead(cx.rollout.as_ref()?).earlier?;
    Some(rule.told(problem).severity(Severity::Warning))
}
