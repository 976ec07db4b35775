//! A cluster cannot receive new content, because the Work of an earlier rollout is still being deleted.

use crate::diagnose::case::Case;
use crate::diagnose::leftover::{self, Leftover};
use crate::diagnose::objects::{clusters, per_trouble};
use crate::diagnose::report::Finding;
use crate::diagnose::report::Severity;
use crate::diagnose::rules::Rule;
use crate::diagnose::troubled::Troubled;
use crate::diagnose::{claims, steps};
use crate::kubefleet::{Concept, duration};

/// A Work is named after its placement, so that a cluster which left a placement and came back needs
/// the name again; KubeFleet tries until it is free. Source: workgenerator/controller.go:upsertWork.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS530",
    name: "earlier-work-remains",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::Work, Concept::MemberCluster],
    caused_by: &["FS516"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let subject = |troubled: &Troubled<'_>| {
        let problem = troubled.trouble.problem.as_ref()?;
        (claims::of_binding(problem) == rule.code).then(|| troubled.binding.object().into())
    };
    per_trouble(case, rule, subject, |on, mut finding| {
        let left = on.first().and_then(|one| Leftover::of(case, one.cluster));
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
            "{names} cannot receive the new content: an earlier Work, whose name the new one \
             needs, is still being deleted."
        );
        match on.first() {
            Some(one) => leftover::ask_agent(
                finding.look(
                    format!("List the Works for {} and their finalizers.", one.cluster),
                    Some(steps::works_for(one.cluster)),
                ),
                one.cluster,
            ),
            None => finding,
        }
    })
}
