//! An object was changed on a member cluster, and the placement does not apply over that.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::{AffectedObject, ComparedBinding};
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::sent::SentManifest;
use crate::kubefleet::describe_object;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::ManifestTrouble;

/// `FoundDrifts` with `whenToApply: IfNotDrifted`.
/// Source: workapplier/process.go:shouldPerformPreApplyDriftDetection.
pub const RULE: Rule = Rule::on_object("FS505", "drift-found", check).person();

fn check(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let (clusters, object) = (affected.clusters(), affected.manifest.describe());
    finding.message = format!(
        "{} was changed on {clusters}. Because whenToApply is IfNotDrifted, Fleet does not \
         overwrite the change, unless a run brings new content of this object.",
        affected.object()
    );
    finding = affected.compared(finding, ComparedBinding::Drift);
    let content = affected.content();
    let paths = affected.differing(ComparedBinding::Drift);
    let fields = match paths.as_slice() {
        [] => format!("the object matches {content} again; the changed fields were not reported"),
        [one] => format!("{one} has the value of {content} again"),
        several => format!("{} have the values of {content} again", enumerate(several)),
    };
    let drifted = |failing: &FailingCluster<'_>, manifest: &ManifestTrouble<'_>| {
        let fields = ComparedBinding::Drift.fields(affected.cx, failing, manifest);
        fields.is_some_and(|(.., fields)| fields.iter().any(|field| field.path == REPLICAS))
    };
    if let Some(sent) = scaler(affected, drifted) {
        finding.add_sentence(&format!(
            "The content also has {}, which sets its replicas, so that undoing the change does not last.",
            describe(&sent)
        ));
        return scaled(affected, &sent, finding);
    }
    if matches!(
        affected.manifest.problem,
        ManifestProblem::Drift { degraded: true }
    ) {
        return finding.manifest_rejected(affected);
    }
    match counted_defaults(affected, ComparedBinding::Drift) {
        CountedDefaults::Only => {
            let kept = "Because whenToApply is IfNotDrifted, Fleet does not overwrite them.";
            return defaulted(affected, finding, ("changes", kept));
        }
        CountedDefaults::Some => finding.add_sentence(ALSO_DEFAULTS),
        CountedDefaults::None => {}
    }
    finding
        .look_with(
            format!("Check who changed {object} on {}.", affected.cluster()),
            affected.kubectl("get").showing_field_managers(),
        )
        .repair_there_or_on_hub(
            affected,
            format!(
                "Undo the change on {clusters} until {fields}. A controller that made it will make \
                 it again."
            ),
            "Or copy the change into {} on the hub and roll it out with a new run, if the change \
             should stay.",
        )
        .same_content(
            affected.cx,
            "Or set whenToApply: Always in the placement's applyStrategy to overwrite changes \
             everywhere. This fails the current run, so start a new one.",
        )
}

/// How much of what differs is what the content does not set, where the placement compares that as well.
#[derive(PartialEq)]
pub(super) enum CountedDefaults {
    None,
    Some,
    Only,
}

/// What is to be known where some of it is.
pub(super) const ALSO_DEFAULTS: &str = "Because comparisonOption is FullComparison, fields that the manifest does not \
     set count as well: PartialComparison would leave them out.";

/// Source: workapplier/drift_detection_takeover.go:diffBetweenManifestAndInMemberClusterObjects.
pub(super) fn counted_defaults(
    affected: &AffectedObject<'_, '_>,
    what: ComparedBinding,
) -> CountedDefaults {
    let of = |(failing, manifest): &(&FailingCluster<'_>, &ManifestTrouble<'_>)| {
        let strategy = failing.binding.spec.apply_strategy.as_deref();
        let is_full = strategy.is_some_and(|it| it.comparison == "FullComparison");
        let fields = what.fields(affected.cx, failing, manifest);
        let fields = fields.map_or(&[][..], |(.., fields)| fields);
        let unset = fields.iter().filter(|field| field.hub.is_none()).count();
        match unset {
            _ if !is_full || unset == 0 => CountedDefaults::None,
            _ if unset == fields.len() => CountedDefaults::Only,
            _ => CountedDefaults::Some,
        }
    };
    let mut all = affected.all.iter().map(of);
    let first = all.next().unwrap_or(CountedDefaults::None);
    if all.all(|it| it == first) {
        first
    } else {
        CountedDefaults::Some
    }
}

/// What the API server fills in cannot be taken back. `kept` says what Fleet does not do because of such `changes`.
pub(super) fn defaulted(
    affected: &AffectedObject<'_, '_>,
    mut finding: Finding,
    (changes, kept): (&str, &str),
) -> Finding {
    let clusters = affected.clusters();
    finding.message = format!(
        "{} has fields on {clusters} that its manifest does not set. Because comparisonOption is \
         FullComparison, such fields count as {changes}, also where the API server filled them in. {kept}",
        affected.object()
    );
    finding
        .look_with(
            format!(
                "Check who set the fields on {}: no manager has those that the API server filled in.",
                affected.cluster()
            ),
            affected.kubectl("get").showing_field_managers(),
        )
        .same_content(
            affected.cx,
            "Set comparisonOption: PartialComparison in the placement's applyStrategy, if only what the \
             manifest sets should count. This fails the current run, so start a new one.",
        )
        .repair_on_hub(
            affected,
            "Or set these fields in {} on the hub as well, and roll it out with a new run.",
        )
}

/// The field that autoscalers write.
const REPLICAS: &str = "/spec/replicas";

/// The autoscaler in the content that writes the replicas of an object again after anybody has
/// changed them, where those are what it fails for.
pub(super) fn scaler<'i>(
    affected: &AffectedObject<'_, 'i>,
    fails_for_replicas: impl Fn(&FailingCluster<'_>, &ManifestTrouble<'_>) -> bool,
) -> Option<SentManifest<'i>> {
    let mut all = affected.all.iter();
    all.find_map(|(failing, manifest)| {
        if !fails_for_replicas(failing, manifest) {
            return None;
        }
        SentManifest::all(affected.cx, failing).find(|sent| {
            let scales = sent.settings().map(|it| &it.scales);
            scales.is_some_and(|it| {
                let kind = if it.kind.is_empty() {
                    "Deployment"
                } else {
                    &it.kind
                };
                kind == manifest.kind && it.name == manifest.name
            }) && sent.manifest.meta.namespace == manifest.namespace
        })
    })
}

/// The autoscaler in a sentence.
pub(super) fn describe(sent: &SentManifest<'_>) -> String {
    let scaler = sent.manifest;
    describe_object(&scaler.kind, &scaler.meta.namespace, &scaler.meta.name)
}

/// An autoscaler and the content both want to set the replicas: one of them lets go.
pub(super) fn scaled(
    affected: &AffectedObject<'_, '_>,
    sent: &SentManifest<'_>,
    mut finding: Finding,
) -> Finding {
    let (scaler, object) = (sent.manifest, affected.manifest.describe());
    let name = describe(sent);
    finding = finding
        .evidence(
            sent.work.object(),
            sent.path("spec.scaleTargetRef.name"),
            affected.manifest.name,
        )
        .look_with(
            format!("Check what {name} does on {}.", affected.cluster()),
            affected
                .on_member("describe")
                .namespace(&scaler.meta.namespace)
                .arg(scaler.kind.to_lowercase())
                .arg(&scaler.meta.name),
        );
    let strategy = affected
        .on
        .first()
        .and_then(|it| it.binding.spec.apply_strategy.as_deref());
    let by_server = strategy.is_some_and(|it| it.kind == "ServerSideApply");
    // Source: workapplier/apply.go:buildThreeWayMergePatch; a field that is gone falls to its default.
    let gap = if by_server {
        ""
    } else {
        " Client-side apply then sets 1 replica until the autoscaler acts."
    };
    finding
        .disrupt_with(
            format!(
                "Remove {REPLICAS} from {object} with an override (op: remove), and start a new \
                 run.{gap}"
            ),
            affected.cx.new_run_command(),
        )
        .new_run(
            affected.cx,
            format!(
                "Or remove {name} from the content and start a new run, if the hub should scale."
            ),
        )
}
