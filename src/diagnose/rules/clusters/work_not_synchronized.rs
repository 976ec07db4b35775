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
                "The namespace {subject} on the hub is being deleted, so nothing new can be sent \
                 to {clusters}."
            );
            finding
                .look(
                    format!("See whether {clusters} leaves the fleet."),
                    Some(steps::member_clusters()),
                )
                .look(
                    "See what keeps the namespace.",
                    Some(steps::namespace(&subject)),
                )
                .fix(
                    "Let the cluster leave for good, or let it leave and join again, then make a \
                     new run.",
                    case.new_run_command(),
                )
        }
        BindingProblem::TooLarge => {
            finding.message = format!(
                "The content for {clusters} is too large to be stored in one Work on the hub."
            );
            finding.fix(
                "Make the content smaller, or split it over several placements, then make a new \
                 run.",
                case.new_run_command(),
            )
        }
        BindingProblem::Forbidden { .. } => {
            finding.message =
                format!("The hub forbids KubeFleet to write the Works for {clusters}.");
            let finding = finding.fix(
                "Find out who forbids it on the hub (RBAC of the hub agent, a quota, an admission \
                 policy), from the text in the evidence, and let it pass.",
                None,
            );
            goes_on(case, finding)
        }
        BindingProblem::ApiServerUnavailable { .. } => {
            finding.message = format!(
                "The hub's API server did not take the Works for {clusters}; KubeFleet tries again."
            );
            let finding = finding.look(
                "If it stays so, look at the hub's API server and its webhooks, and at the log of \
                 the hub agent.",
                None,
            );
            goes_on(case, finding)
        }
        _ => {
            finding.message = format!(
                "The hub could not prepare the Works for {clusters}, for the reason in the \
                 binding's condition."
            );
            finding
                .look(
                    "Read the text in the evidence, and the log of the hub agent: it says what \
                     could not be written.",
                    None,
                )
                .fix(
                    "If the content or an override is at fault, mend it and make a new run.",
                    case.new_run_command(),
                )
        }
    }
}
