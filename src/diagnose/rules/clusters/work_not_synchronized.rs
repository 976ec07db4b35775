//! The hub could not write what a member cluster should apply.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects::{clusters, per_binding_problem};
use crate::kubefleet::messages::BindingProblem;
use crate::kubefleet::{Kind, names};
use crate::problems::steps;
use crate::words::{CommandLine, after_colon};

/// `SyncWorkFailed`, or `OverriddenFailed` with a text that is not about overrides.
/// Source: workgenerator/controller.go:Reconcile.
pub const RULE: Rule = Rule::error("FS511", "work-not-synchronized", Whole(check))
    .reads(&[Concept::Binding])
    .caused_by(&["FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let subject = |failing: &FailingCluster<'_>, problem: &BindingProblem| {
        Some(match problem {
            BindingProblem::NamespaceTerminating { namespace } => {
                let own = names::member_namespace(failing.cluster);
                Subject::new("Namespace", "", namespace.clone().unwrap_or(own))
            }
            _ => failing.binding.object().into(),
        })
    };
    per_binding_problem(cx, rule, subject, |_, problem, on, finding| {
        describe(cx, problem, &clusters(on), finding)
    })
}

fn describe(
    cx: &DiagnosisContext<'_>,
    problem: &BindingProblem,
    clusters: &str,
    mut finding: Finding,
) -> Finding {
    let subject = finding.subject.name.clone();
    let first = finding.clusters.first().cloned().unwrap_or_default();
    match problem {
        BindingProblem::NamespaceTerminating { .. } => {
            finding.fault = Some(FaultOrigin::Person);
            finding.message = format!(
                "The namespace {subject} on the hub is being deleted, so {clusters} cannot receive \
                 new content."
            );
            finding
                .look_with(
                    format!("Check whether {clusters} is leaving the fleet."),
                    steps::member_clusters(),
                )
                .look_with(
                    "Check what delays the deletion of the namespace.",
                    steps::namespace(&subject),
                )
                .fix_with(
                    "Let the cluster leave for good, or leave and join again, then start a new run.",
                    cx.new_run_command(),
                )
        }
        BindingProblem::TooLarge => {
            finding.fault = Some(FaultOrigin::Content);
            finding.message = format!(
                "The content for {clusters} is too large to be stored in one Work on the hub."
            );
            let action = "Make the content smaller, or split it over several placements, then start a new \
                          run.";
            finding.new_run(cx, action)
        }
        BindingProblem::Forbidden { said } => {
            finding.message = format!(
                "The hub does not allow KubeFleet to write the Works for {clusters}: `{said}`."
            );
            finding
                .fix("Let the hub agent do that: by RBAC, or in the policy that forbids it.")
                .then_continues(cx)
        }
        BindingProblem::ApiServerUnavailable { .. } => {
            finding.message = format!(
                "The hub's API server did not accept the Works for {clusters}; KubeFleet retries."
            );
            finding
                .fix(
                    "Fix what the evidence names, if this persists: the hub's API server, or a webhook \
                     on the hub.",
                )
                .then_continues(cx)
        }
        // Source: workgenerator/controller.go:upsertWork.
        BindingProblem::Other { text } if text.ends_with(" already exists") => {
            finding.message = format!(
                "The hub could not write the Works for {clusters}{}: a Work of that name is not known as one of \
                 these bindings.",
                after_colon(text)
            );
            let works = CommandLine::kubectl("get").arg(Kind::Work.for_kubectl());
            let named = text.rsplit('"').nth(1);
            let work = named.map(|it| works.arg(it).namespace(names::member_namespace(&first)));
            finding
                .look_with(
                    "Check which binding that Work is of: its labels name it.",
                    work.map(|it| it.switch("--show-labels")),
                )
                .fix(
                    "Give one of the two placements another name, if it is of another one: `a.b` in no namespace \
                     and `b` in namespace a have Works of the same name.",
                )
                .disrupt(
                    "Or delete it, if that binding is gone: what it has brought goes from the cluster, and the hub \
                     agent writes a new one.",
                )
                .then_continues(cx)
        }
        _ => {
            let said = match problem {
                BindingProblem::Other { text } => after_colon(text),
                _ => String::new(),
            };
            finding.message = format!("The hub could not prepare the Works for {clusters}{said}.");
            finding
                .look_with(
                    "Read the evidence and the hub agent's log: they name what could not be \
                     written.",
                    cx.agent_log(),
                )
                .new_run(
                    cx,
                    "Fix the content or the override and start a new run, if one of them is wrong.",
                )
        }
    }
}
