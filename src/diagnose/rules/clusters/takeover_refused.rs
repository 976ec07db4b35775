//! An object existed on a member cluster before the placement, and is not taken over.

use std::collections::{BTreeMap, BTreeSet};

use super::drift_found::{ALSO_DEFAULTS, CountedDefaults, counted_defaults, defaulted};
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::{AffectedObject, ComparedBinding};
use crate::diagnose::subjects::objects::per_subject;
use crate::diagnose::subjects::ownership;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::ManifestTrouble;

/// `FailedToTakeOver` with `whenToTakeOver: IfNoDiff`, `NotTakenOver` with `Never`.
/// Source: workapplier/process.go:takeOverInMemberClusterObjectIfApplicable.
pub const RULE: Rule = Rule::on_member("FS506", "takeover-refused", check).environment();

/// One setting keeps all objects of a placement that exist already: what is refused alike, on the
/// same clusters, is told once, under the first of the objects.
fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let mut clusters: BTreeMap<Subject, (_, BTreeSet<&str>)> = BTreeMap::new();
    for failing in &cx.troubles {
        for manifest in &failing.trouble.manifests {
            if ownership::of_manifest(manifest) == Some(rule.code) {
                let why = &manifest.problem;
                let known = clusters
                    .entry(manifest.into())
                    .or_insert((why, BTreeSet::new()));
                known.1.insert(failing.cluster);
            }
        }
    }
    let first = |manifest: &ManifestTrouble<'_>| {
        let own = clusters.get(&manifest.into())?;
        let refused = ownership::of_manifest(manifest) == Some(rule.code);
        let mut alike = clusters.iter().filter(|(_, other)| *other == own);
        alike
            .next()
            .filter(|_| refused)
            .map(|(subject, _)| subject.clone())
    };
    per_subject(cx, rule, first, describe)
}

fn describe(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let clusters = affected.clusters();
    let names: BTreeSet<_> = affected.all.iter().map(|(_, it)| it.describe()).collect();
    let (object, it, differs) = match names.len() {
        0 | 1 => (affected.object(), "it", "differs"),
        _ => (affected.objects(), "them", "differ"),
    };
    let why = match affected.manifest.problem {
        ManifestProblem::DiffFound { .. } => {
            let paths = affected.differing(ComparedBinding::Diff);
            let fields = match paths.as_slice() {
                [] => String::new(),
                paths => format!(" in {}", enumerate(paths)),
            };
            format!(
                "{differs} from the hub's version{fields}, so Fleet does not take {it} over \
                 (whenToTakeOver: IfNoDiff)"
            )
        }
        ManifestProblem::TakeoverNever => {
            format!("Fleet does not take {it} over (whenToTakeOver: Never)")
        }
        _ => format!("the attempt to take {it} over failed"),
    };
    finding.message = format!("{object} already existed on {clusters}, and {why}.");
    finding = affected.compared(finding, ComparedBinding::Diff);
    match affected.manifest.problem {
        ManifestProblem::DiffFound { degraded: true, .. } => {
            return finding.manifest_rejected(affected);
        }
        ManifestProblem::DiffFound { .. } => {
            match counted_defaults(affected, ComparedBinding::Diff) {
                CountedDefaults::Only => {
                    let kept =
                        "Because whenToTakeOver is IfNoDiff, Fleet does not take the object over.";
                    return defaulted(affected, finding, ("differences", kept));
                }
                CountedDefaults::Some => finding.add_sentence(ALSO_DEFAULTS),
                CountedDefaults::None => {}
            }
            finding = finding
                .fix(format!(
                    "Set {object} to the values of {} on {clusters}, if the hub is right: Fleet \
                     takes {it} over once nothing differs.",
                    affected.content()
                ))
                .then_continues(affected.cx);
        }
        ManifestProblem::TakeoverNever => {
            let action = format!(
                "Check what {} is on {}, and who wrote it.",
                affected.manifest.describe(),
                affected.cluster()
            );
            finding = finding.look_with(action, affected.kubectl("get").showing_field_managers());
        }
        _ => {
            finding = finding
                .fix(format!("Fix on {clusters} what the evidence names."))
                .then_continues(affected.cx);
        }
    }
    let joint = match affected.manifest.problem {
        ManifestProblem::TakeoverNever => "Set",
        _ => "Or set",
    };
    // Server-side apply does not take fields from other managers either.
    let placement = affected.cx.inventory.placement.present();
    let force = if placement.is_some_and(|it| it.apply_strategy().keeps_others_fields()) {
        " and serverSideApplyConfig.force: true"
    } else {
        ""
    };
    // Whether it has other owners, no text tells before it is to be taken over.
    // Source: workapplier/apply.go:validateOwnerReferences.
    let is_sole = placement.is_some_and(|it| !it.apply_strategy().allow_co_ownership);
    let is_never = matches!(affected.manifest.problem, ManifestProblem::TakeoverNever);
    let shared = if is_never && is_sole {
        " What has owner references there also needs allowCoOwnership: true."
    } else {
        ""
    };
    let owned = if is_never {
        " An object of another placement is never taken over: plan names it."
    } else {
        ""
    };
    finding = finding.same_content(
        affected.cx,
        format!(
            "{joint} whenToTakeOver: Always{force} in the placement's applyStrategy, if the hub's \
             content may overwrite {it} everywhere.{shared}{owned} This fails the current run, so start a \
             new one."
        ),
    );
    finding.replaced_there(affected)
}
