//! An envelope wraps what it may not wrap, or what cannot be read.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects::{clusters, per_trouble};
use crate::kubefleet::messages::{BindingProblem, EnvelopeProblem};
use crate::problems::steps;

/// Content errors of envelopes; KubeFleet does not try again.
/// Source: workgenerator/envelope.go:extractManifestsFromEnvelopeCR.
pub const RULE: Rule = Rule::error(
    "FS512",
    "envelope-content-invalid",
    RuleSearch::Whole(check),
)
.reads(&[Concept::Binding])
.caused_by(&["FS518"])
.content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let subject = |failing: &FailingCluster<'_>| match &failing.trouble.problem {
        Some(BindingProblem::Envelope {
            problem, envelope, ..
        }) => Some(
            at_fault(problem, envelope.as_deref())
                .unwrap_or_else(|| failing.binding.object().into()),
        ),
        _ => None,
    };
    per_trouble(cx, rule, subject, |on, mut finding| {
        let Some(BindingProblem::Envelope {
            problem,
            envelope,
            manifest,
        }) = on.first().and_then(|first| first.trouble.problem.as_ref())
        else {
            return finding;
        };
        let clusters = clusters(on);
        let envelope = match at_fault(problem, envelope.as_deref()) {
            Some(subject) => subject.to_string(),
            None => "envelope".to_owned(),
        };
        let manifest = manifest
            .as_deref()
            .map_or_else(|| "an object".to_owned(), |key| format!("the object {key}"));
        let (what, repair) = match problem {
            EnvelopeProblem::NamespacedObjectInClusterEnvelope => (
                format!("wraps {manifest}, which is namespaced, in a cluster envelope"),
                "Move the object into a ResourceEnvelope in its own namespace",
            ),
            EnvelopeProblem::ClusterObjectInNamespacedEnvelope => (
                format!("wraps {manifest}, which is cluster-scoped, in a namespaced envelope"),
                "Move the object into a ClusterResourceEnvelope",
            ),
            EnvelopeProblem::ObjectOfAnotherNamespace => (
                format!("wraps {manifest}, which is in another namespace than the envelope"),
                "Move the object into a ResourceEnvelope in its own namespace",
            ),
            EnvelopeProblem::SeveralWorks { .. } => {
                finding.message = format!(
                    "More than one Work carries the {envelope} for {clusters}, so KubeFleet updates \
                     none of them."
                );
                return finding
                    .look_with(
                        "List the placement's Works and their labels, which name the envelopes.",
                        match on {
                            [one] => steps::works_for(&cx.placement_object(), one.cluster),
                            _ => steps::works_of(&cx.placement_object()),
                        }
                        .switch("--show-labels"),
                    )
                    .disrupt(
                        "Find in the hub agent's log what created the second one, and delete that \
                         one: this removes its objects from the cluster.",
                    );
            }
            EnvelopeProblem::NotAnObject { .. } => (
                format!("wraps {manifest}, which cannot be read as a Kubernetes object"),
                "Correct the wrapped data",
            ),
        };
        finding.message = format!("The {envelope} {what}, so nothing is sent to {clusters}.");
        finding.new_run(cx, format!("{repair}, then start a new run."))
    })
}

/// The envelope: printed as `&{NAME NAMESPACE TYPE}`, `&{NAME TYPE}` or `NAMESPACE/NAME`.
fn at_fault(problem: &EnvelopeProblem, envelope: Option<&str>) -> Option<Subject> {
    let printed = envelope?.trim_start_matches("&{").trim_end_matches('}');
    let words: Vec<_> = printed.split_whitespace().collect();
    match words.as_slice() {
        [name, namespace, kind] => Some(Subject::new(*kind, *namespace, *name)),
        [name, kind] => Some(Subject::new(*kind, "", *name)),
        [name] => {
            let kind = match problem {
                EnvelopeProblem::NamespacedObjectInClusterEnvelope => "ClusterResourceEnvelope",
                _ => "ResourceEnvelope",
            };
            let (namespace, name) = name.split_once('/').unwrap_or(("", name));
            Some(Subject::new(kind, namespace, name))
        }
        _ => None,
    }
}
