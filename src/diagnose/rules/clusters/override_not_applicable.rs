//! An override does not fit the content, or the snapshot of it is gone.

use jiff::Timestamp;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects::{clusters, per_binding_problem};
use crate::diagnose::subjects::overrides::{self, SaidOfOperation};
use crate::kubefleet::messages::{BindingProblem, OverrideKind, OverrideTarget};
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::{Conditions, describe_object, reasons};
use crate::manifests::{FailingOperation, FaultCause, RenderFault};
use crate::problems::{overrides_of, steps};
use crate::rollout::content::missing_content;
use crate::rollout::overrides::successor;

/// `OverriddenFailed`. The run pins override snapshots by name when it is initialized, so a fixed
/// override reaches the clusters only with a new run.
/// Source: workgenerator/override.go, updaterun/initialization.go:recordOverrideSnapshots.
pub const RULE: Rule = Rule::error("FS509", "override-not-applicable", Whole(check))
    .reads(&[
        Concept::Binding,
        Concept::ClusterOverrideSnapshot,
        Concept::OverrideSnapshot,
    ])
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let faults = overrides::faults(cx);
    let subject = |failing: &FailingCluster<'_>, problem: &BindingProblem| {
        let subject = at_fault(failing, problem);
        Some(match problem {
            BindingProblem::OverrideFailed { .. } if !names_override(&subject) => {
                let found = found(&faults, failing, &subject, problem);
                found.map_or(subject, |(found, _)| (&found.over).into())
            }
            _ => subject,
        })
    };
    let met = per_binding_problem(cx, rule, subject, |first, problem, on, mut finding| {
        let clusters = clusters(on);
        let named = names_override(&finding.subject);
        let again = made_again(cx, first, &finding.subject);
        let which = if named {
            finding.subject.to_string()
        } else {
            "An override".to_owned()
        };
        finding.message = match problem {
            BindingProblem::OverrideSnapshotNotFound { .. } if again.is_some() => {
                format!("{which} was missing when the content for {clusters} was rendered.")
            }
            BindingProblem::OverrideSnapshotNotFound { .. } => {
                format!("{which} is gone, but the content for {clusters} needs it.")
            }
            BindingProblem::OverridePolicyNil { .. } => {
                format!("{which} has no policy, so the content for {clusters} cannot be rendered.")
            }
            BindingProblem::LabelKeyMissing { key } => format!(
                "{which} uses the member cluster label {key}, which {clusters} {}.",
                by_number(on.len(), "does not have", "do not have")
            ),
            BindingProblem::UnclosedVariable { input } => format!(
                "{which} has a variable without its closing bracket ({input}), so the content for \
                 {clusters} cannot be rendered."
            ),
            BindingProblem::OverrideFailed {
                on: target,
                patch_error,
                ..
            } => {
                let shown = found(&faults, first, &finding.subject, problem);
                let (objects, why) = match shown {
                    Some((shown, objects)) => {
                        let over = finding.subject.clone();
                        finding = finding.evidence(over, shown.field(), &shown.path);
                        (objects, shown.describe())
                    }
                    None => (Vec::new(), patch_error.clone()),
                };
                let target = match target {
                    Some(target) => described(target),
                    None if objects.is_empty() => "the content".to_owned(),
                    None => enumerate(&objects),
                };
                format!("{which} does not fit {target} for {clusters}: {why}.")
            }
            _ => format!("{which} could not be applied to the content for {clusters}."),
        };
        finding = overrides_of(finding, first.binding);
        let before = finding.message.len();
        let is_gone = matches!(problem, BindingProblem::OverrideSnapshotNotFound { .. });
        finding = changed_since(cx, first, is_gone, finding);
        let changed = finding.message.len() > before;
        if let Some((snapshot, created)) = again {
            finding.add_sentence(&format!(
                "The override was deleted and created again: {} exists since {created}.",
                snapshot.meta.name
            ));
            finding = finding.evidence(snapshot.object(), "metadata.creationTimestamp", created);
            return finding.fix_with(CHANGE_TOO, cx.new_run_command());
        }
        remedies(cx, (problem, on), (named, changed), finding)
    });
    found_or(met, || to_come(cx, rule))
}

/// The same of clusters that a live run has still to reach.
fn to_come(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let finding = |fault: &RenderFault| {
        let FaultCause::Operation(failing) = &fault.cause else {
            return None;
        };
        let finding = rule
            .finding(&failing.over, overrides::describe_ahead(cx, fault))
            .severity(Severity::Warning)
            .clusters(fault.clusters.iter().map(String::as_str))
            .evidence(&failing.over, failing.field(), &failing.path);
        let action = format!("Correct the override, then start a new run in its place: {PINNING}.");
        Some(finding.fix_with(action, cx.new_run_command()))
    };
    let faults = overrides::faults_ahead(cx);
    let faults = faults.iter().filter_map(finding);
    faults.chain(gone_ahead(cx, rule)).collect()
}

/// An override snapshot that the run recorded for them, and that does not exist any more.
fn gone_ahead(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let missing = missing_content(cx.rollout.as_ref()?)?;
    if missing.object.kind.concept() == Concept::ResourceSnapshot {
        return None;
    }
    let (object, run) = (missing.object, cx.run_object().name);
    let clusters = enumerate(&missing.clusters);
    let mut again = cx.inventory.overrides.iter();
    let again = again.find(|it| it.object() == object);
    let message = match again {
        Some(_) => format!(
            "{object} is another one than {run} recorded: it was deleted and created again since, and \
             {clusters} would get content that this run was not made for."
        ),
        None => format!("{object} is gone, but {run} needs it for {clusters}."),
    };
    let finding = rule
        .finding(&object, message)
        .severity(Severity::Warning)
        .clusters(missing.clusters);
    let finding = match again {
        Some(again) => {
            let finding = finding.created(&object, again.meta.created);
            finding.condition(&cx.run_object(), cx.run()?.condition(reasons::INITIALIZED)?)
        }
        None => finding.absent(&object),
    };
    let action = format!("Start a new run, which uses the current overrides: {PINNING}.");
    Some(finding.fix_with(action, cx.new_run_command()))
}

/// Why a corrected override does not reach the clusters of a run.
const PINNING: &str = "this run keeps the override snapshots of its initialization";

/// The operation that failed, and the objects that it does not fit, where the content tells.
fn found<'f>(
    faults: &'f [RenderFault],
    failing: &FailingCluster<'_>,
    subject: &Subject,
    problem: &BindingProblem,
) -> Option<(&'f FailingOperation, Vec<&'f str>)> {
    let BindingProblem::OverrideFailed {
        on, patch_error, ..
    } = problem
    else {
        return None;
    };
    let object = on.as_ref().map(described);
    let said = SaidOfOperation {
        over: names_override(subject).then_some(subject),
        object: object.as_deref(),
        error: patch_error,
    };
    overrides::operation(faults, failing.cluster, &said)
}

/// The step where a new run alone would find the same names in the bindings, and write nothing.
/// Source: workgenerator/controller.go:Reconcile; updaterun/execution.go:isBindingSyncedWithClusterStatus.
const CHANGE_TOO: &str = "Change the override as well, and start a new run. KubeFleet does not try again \
     after this error, and a run with the same override and content changes nothing.";

/// The snapshot of an override that was created again, under the same name, after it failed.
fn made_again<'i>(
    cx: &DiagnosisContext<'i>,
    failing: &FailingCluster<'_>,
    subject: &Subject,
) -> Option<(&'i OverrideSnapshot, Timestamp)> {
    let conditions = &failing.binding.status.conditions;
    let failed = conditions.condition(reasons::OVERRIDDEN)?.since?;
    let mut snapshots = cx.inventory.overrides.iter();
    let same = snapshots.find(|it| Subject::from(it.object()) == *subject)?;
    let created = same.meta.created.filter(|created| *created > failed)?;
    Some((same, created))
}

fn described(target: &OverrideTarget) -> String {
    let namespace = target.namespace.as_deref().unwrap_or_default();
    describe_object(&target.kind, namespace, &target.name)
}

fn names_override(subject: &Subject) -> bool {
    subject.kind.ends_with("OverrideSnapshot")
}

/// The override snapshot; where the text names none, the only one that is pinned; else the binding.
fn at_fault(failing: &FailingCluster<'_>, problem: &BindingProblem) -> Subject {
    let spec = &failing.binding.spec;
    let cluster = |name: &str| Subject::new("ClusterResourceOverrideSnapshot", "", name);
    let namespaced = |namespace: &str, name: &str| {
        let namespace = if namespace.is_empty() {
            let pinned = spec.overrides.iter().find(|pinned| pinned.name == name);
            pinned.map_or("", |pinned| pinned.namespace.as_str())
        } else {
            namespace
        };
        Subject::new("ResourceOverrideSnapshot", namespace, name)
    };
    let named = |kind: Option<OverrideKind>, namespace: &str, name: &str| match kind {
        Some(OverrideKind::Cluster) => cluster(name),
        None if spec.cluster_overrides.iter().any(|pinned| pinned == name) => cluster(name),
        Some(OverrideKind::Namespaced) | None => namespaced(namespace, name),
    };
    match problem {
        BindingProblem::OverrideFailed {
            snapshot: Some(name),
            kind,
            ..
        } => named(*kind, "", name),
        BindingProblem::OverrideSnapshotNotFound { kind, snapshot } => named(
            Some(*kind),
            snapshot.namespace.as_deref().unwrap_or_default(),
            &snapshot.name,
        ),
        BindingProblem::OverridePolicyNil {
            kind,
            snapshot: Some(snapshot),
        } => named(
            *kind,
            snapshot.namespace.as_deref().unwrap_or_default(),
            &snapshot.name,
        ),
        _ => match (spec.cluster_overrides.as_slice(), spec.overrides.as_slice()) {
            ([name], []) => cluster(name),
            ([], [only]) => namespaced(&only.namespace, &only.name),
            _ => failing.binding.object().into(),
        },
    }
}

/// The overrides of the binding that were changed after the run had recorded their snapshots, with
/// the snapshots that a new run takes.
fn changed_since(
    cx: &DiagnosisContext<'_>,
    failing: &FailingCluster<'_>,
    is_gone: bool,
    mut finding: Finding,
) -> Finding {
    let latest = &cx.inventory.overrides.items;
    let at_fault = finding.subject.clone();
    let newer = failing.binding.spec.override_names();
    let newer: Vec<_> = newer
        .filter(|it| !names_override(&at_fault) || at_fault.name == it.name)
        .filter_map(|it| Some((successor(latest, &it.namespace, &it.name)?, it.name)))
        .collect();
    for (snapshot, kept) in newer {
        finding.add_sentence(&format!(
            "The override was changed later: its snapshot is now {}, but {} keeps {kept}.",
            snapshot.meta.name,
            cx.run_object().name,
        ));
        finding = if is_gone {
            finding.created(snapshot.object(), snapshot.meta.created)
        } else {
            overrides::compared(finding, snapshot, &kept)
        };
    }
    finding
}

fn remedies(
    cx: &DiagnosisContext<'_>,
    (problem, on): (&BindingProblem, &[&FailingCluster<'_>]),
    (named, changed): (bool, bool),
    mut finding: Finding,
) -> Finding {
    if !named {
        finding = finding.look(
            "Find the override among those that the binding lists: its patches must fit every \
             object that it selects.",
        );
    }
    if let BindingProblem::LabelKeyMissing { key } = problem {
        let has = |name: &str| {
            let member = cx.inventory.member(name)?;
            Some(member).filter(|it| it.meta.labels.contains_key(key))
        };
        let names = on.iter().map(|failing| failing.cluster);
        let (labelled, without): (Vec<_>, Vec<_>) = names.partition(|it| has(it).is_some());
        for member in labelled.iter().take(3).filter_map(|it| has(it)) {
            let path = format!("metadata.labels[{key}]");
            finding = finding.known(member.object(), path, member.meta.labels.get(key));
        }
        if !labelled.is_empty() {
            let has = by_number(labelled.len(), "has", "have");
            let who = match (without.as_slice(), labelled.as_slice()) {
                ([], [_]) => "It".to_owned(),
                ([], _) => "They".to_owned(),
                _ => enumerate(&labelled),
            };
            finding.add_sentence(&format!("{who} {has} the label now."));
        }
        if !without.is_empty() {
            let action = format!(
                "Add the label {key} to {}, unless a stage or a policy selects by it.",
                enumerate(&without)
            );
            finding = finding.fix_with(action, steps::label(without, format!("{key}=VALUE")));
        }
        // Source: workgenerator/controller.go:Reconcile, SetupWithManagerForClusterResourceBinding;
        // updaterun/execution.go:isBindingSyncedWithClusterStatus.
        let step = if changed {
            "Start a new run, which uses the changed override: KubeFleet does not try again after this \
             error."
        } else {
            CHANGE_TOO
        };
        return finding.fix_with(step, cx.new_run_command());
    }
    if cx.rolls_out_by_itself() {
        return finding.fix("Correct the override: KubeFleet rolls its change out by itself.");
    }
    let repair = match problem {
        BindingProblem::OverrideSnapshotNotFound { .. } => {
            format!("Start a new run, which uses the current overrides: {PINNING}.")
        }
        BindingProblem::OverridePolicyNil { .. } => {
            format!("Add a policy to the override, or delete it, then start a new run: {PINNING}.")
        }
        BindingProblem::UnclosedVariable { .. } => {
            format!(
                "Close the variable with `}}` in the override, then start a new run: {PINNING}."
            )
        }
        _ if names_override(&finding.subject)
            && overrides::is_deleted(cx.inventory, &finding.subject) =>
        {
            finding.add_sentence("The override no longer exists.");
            "Start a new run, which goes without the override: this run keeps its snapshot."
                .to_owned()
        }
        _ => format!(
            "Correct the override's path, then start a new run: {PINNING}. The content must have the \
             path, for `add` its parent."
        ),
    };
    finding.fix_with(repair, cx.new_run_command())
}
