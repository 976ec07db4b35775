//! The hub could not write what a member cluster should apply.

use crate::diagnose::case::Case;
use crate::diagnose::claims;
use crate::diagnose::objects::{clusters, goes_on, per_trouble};
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps;
use crate::diagnose::troubled::Troubled;
use crate::kubefleet::messages::BindingProblem;
use crate::kubefleet::{Concept, names};

/// `SyncWorkFailed`, or `OverriddenFailed` with a text that is not about overrides.
/// Source: workgenerator/controller.go:Reconcile.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS511",
    name: "work-not-synchronized",
    severity: Severity::Error,
    reads: &[Concept::Binding],
    caused_by: &["FS518"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let subject = |troubled: &Troubled<'_>| {
        let problem = troubled.trouble.problem.as_ref()?;
        (claims::of_binding(problem) == rule.code).then(|| match problem {
            BindingProblem::NamespaceTerminating { namespace } => {
                let own = names::member_namespace(troubled.cluster);
                Subject::new("Namespace", "", namespace.clone().unwrap_or(own))
            }
            _ => troubled.binding.object().into(),
        })
    };
    per_trouble(case, rule, subject, |on, finding| {
        match on.first().and_then(|first| first.trouble.problem.as_ref()) {
            Some(problem) => describe(case, problem, &clusters(on), finding),
            None => finding,
        }
    })
}

fn describe(
    case: &Case<'_>,
    problem: &BindingProblem,
    clusters: &str,
    mut finding: Finding,
) -> Finding {
    let subject = finding.subject.name.clone();
    match problem {
        BindingProblem::NamespaceTerminating { .. } => {
            finding.message = format!(
                "The namespace {subject} on the hub is being deleted, so {clusters} cannot \
                 receive new content."
            );
            finding
                .look(
                    format!("Check whether {clusters} is leaving the fleet."),
                    Some(steps::member_clusters()),
                )
                .look(
                    "Check what delays the deletion of the namespace.",
                    Some(steps::namespace(&subject)),
                )
                .fix(
                    "Let the cluster leave for good, or leave and join again, then start a new \
                     run.",
                    case.new_run_command(),
                )
        }
        BindingProblem::TooLarge => {
            finding.message = format!(
                "The content for {clusters} is too large to be stored in one Work on the hub."
            );
            finding.fix(
                "Make the content smaller, or split it over several placements, then start a new \
                 run.",
                case.new_run_command(),
            )
        }
        BindingProblem::Forbidden { .. } => {
            finding.message =
                format!("The hub does not allow KubeFleet to write the Works for {clusters}.");
            let finding = finding.fix(
                "Find in the evidence what forbids it on the hub (RBAC of the hub agent, a quota, \
                 an admission policy), and allow it.",
                None,
            );
            goes_on(case, finding)
        }
        BindingProblem::ApiServerUnavailable { .. } => {
            finding.message = format!(
                "The hub's API server did not accept the Works for {clusters}; KubeFleet retries."
            );
            let finding = finding.look(
                "Check the hub's API server, its webhooks, and the hub agent's log, if this \
                 persists.",
                None,
            );
            goes_on(case, finding)
        }
        _ => {
            finding.message = format!(
                "The hub could not prepare the Works for {clusters}; the binding's condition has \
                 the reason."
            );
            finding
                .look(
                    "Read the evidence and the hub agent's log: they name what could not be \
                     written.",
                    None,
                )
                .fix(
                    "Fix the content or the override and start a new run, if one of them is wrong.",
                    case.new_run_command(),
                )
        }
    }
}
