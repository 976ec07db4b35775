//! An envelope wraps what it may not wrap, or what cannot be read.

use std::collections::BTreeMap;

use crate::contents::ManifestKey;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects::{clusters, list_works, per_binding_problem};
use crate::diagnose::subjects::overrides;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::{BindingProblem, EnvelopeProblem};
use crate::kubefleet::snapshot::{ManifestIdentity, ResourceSnapshot};
use crate::kubefleet::work::Work;
use crate::manifests::{FaultCause, RenderFault};

/// Content errors of envelopes; KubeFleet does not try again.
/// Source: workgenerator/envelope.go:extractManifestsFromEnvelopeCR.
pub const RULE: Rule = Rule::error("FS512", "envelope-content-invalid", Whole(check))
    .reads(&[Concept::Binding, Concept::ResourceSnapshot])
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let subject = |failing: &FailingCluster<'_>, problem: &BindingProblem| match problem {
        BindingProblem::Envelope {
            problem, envelope, ..
        } => {
            at_fault(problem, envelope.as_deref()).or_else(|| Some(failing.binding.object().into()))
        }
        _ => None,
    };
    let met = per_binding_problem(cx, rule, subject, |_, problem, on, mut finding| {
        let BindingProblem::Envelope {
            problem,
            envelope,
            manifest,
        } = problem
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
                format!("wraps {manifest}, which names no namespace, in a namespaced envelope"),
                "Give the object the envelope's namespace, or move it into a ClusterResourceEnvelope if its \
                 kind is cluster-scoped",
            ),
            EnvelopeProblem::ObjectOfAnotherNamespace => (
                format!("wraps {manifest}, which is in another namespace than the envelope"),
                "Move the object into a ResourceEnvelope in its own namespace",
            ),
            EnvelopeProblem::SeveralWorks => {
                // No other content comes past it either.
                finding.fault = Some(FaultOrigin::Environment);
                finding.message = format!(
                    "More than one Work carries the {envelope} for {clusters}, so KubeFleet updates \
                     none of them."
                );
                let listed = finding.look_with(
                    "List the placement's Works and their labels, which name the envelopes.",
                    list_works(cx, on).switch("--show-labels"),
                );
                let second = on.iter().flat_map(|it| newer_works(cx, it.binding));
                let second: Vec<_> = second.collect();
                if second.is_empty() {
                    return listed
                        .disrupt(format!("Delete all but the oldest of them{APPLIED_AGAIN}"));
                }
                return second.into_iter().fold(listed, |finding, (work, oldest)| {
                    let (work, cluster) = (work.object(), work.cluster().unwrap_or_default());
                    let delete = format!(
                        "Delete Work {} of {cluster}, and keep the older {oldest}{APPLIED_AGAIN}",
                        work.name
                    );
                    finding.disrupt_with(delete, work.kubectl("delete"))
                });
            }
            EnvelopeProblem::NotAnObject => (
                format!("wraps {manifest}, which cannot be read as a Kubernetes object"),
                "Correct the wrapped data",
            ),
        };
        finding.message = format!("The {envelope} {what}, so nothing is sent to {clusters}.");
        finding.new_run(cx, format!("{repair}, then start a new run."))
    });
    found_or(met, || to_come(cx, rule))
}

/// What may happen when one of two Works of an envelope is deleted.
const APPLIED_AGAIN: &str =
    ": its objects may be gone from the cluster until they are applied again.";

/// The Works of a binding that are newer than the first of their envelope, each with the name of the first.
fn newer_works<'i>(cx: &DiagnosisContext<'i>, binding: &Binding) -> Vec<(&'i Work, &'i str)> {
    let works = cx.inventory.works_of(binding);
    let mut works: Vec<_> = works.filter(|it| !it.meta.is_deleting()).collect();
    works.sort_by_key(|it| it.meta.created);
    let mut oldest = BTreeMap::new();
    let newer = works.into_iter().filter_map(|work| {
        let envelope = work.envelope()?;
        let envelope = (envelope.kind, envelope.namespace, envelope.name);
        let first = *oldest.entry(envelope).or_insert(work);
        (first.meta.created < work.meta.created).then_some((work, first.meta.name.as_str()))
    });
    newer.collect()
}

/// The same of clusters that a live run has still to reach.
fn to_come(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let faults = overrides::faults_ahead(cx).iter();
    let faults = faults.filter(|it| matches!(it.cause, FaultCause::Envelope(_)));
    let findings = faults.map(|fault| {
        let found = wrapping(cx, fault);
        let subject = found.map_or_else(|| cx.run_object().into(), |(.., it)| Subject::from(it));
        let finding = rule
            .finding(subject, overrides::describe_ahead(cx, fault))
            .severity(Severity::Warning)
            .clusters(fault.clusters.iter().map(String::as_str));
        let finding = match found {
            Some((part, at, it)) => finding.evidence(
                part.object(),
                format!("spec.selectedResources[{at}].metadata.name"),
                &it.meta.name,
            ),
            None => finding,
        };
        let action = "Correct what it wraps, then start a new run in this one's place.";
        finding.new_run(cx, action)
    });
    findings.collect()
}

/// The envelope of a fault, its place, and the part of the run's snapshot that has it.
fn wrapping<'i>(
    cx: &DiagnosisContext<'i>,
    fault: &RenderFault,
) -> Option<(&'i ResourceSnapshot, usize, &'i ManifestIdentity)> {
    let index = cx.run()?.status.snapshot_index.as_str();
    let parts = cx.inventory.snapshots.iter();
    let mut parts = parts.filter(|part| part.index() == Some(index));
    parts.find_map(|part| {
        let mut resources = part.spec.resources.iter().enumerate();
        let is_it = |it: &ManifestIdentity| {
            fault
                .objects
                .contains(&ManifestKey::of_manifest(it).describe())
        };
        let (at, resource) = resources.find(|(_, it)| is_it(it))?;
        Some((part, at, resource))
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
