//! Which rule speaks of a trouble. Every problem belongs to one rule, so that no cluster that does
//! not finish is left without a word, and none is spoken of twice.

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::kubefleet::messages::{BindingProblem, ManifestProblem, WorkState};
use crate::kubefleet::reasons;
use crate::rollout::ManifestTrouble;
use crate::words::distinct;

/// The rule that speaks of an object's problem; `None` when nothing is wrong with the object.
pub fn of_manifest(manifest: &ManifestTrouble<'_>) -> Option<&'static str> {
    use ManifestProblem as P;
    Some(match &manifest.problem {
        P::Fine
        | P::DiffFound {
            report_only: true,
            degraded: false,
        } => return None,
        P::NamespaceNotFound { .. } | P::NamespaceTerminating { .. } => "FS503",
        P::KindNotFound { .. } => "FS504",
        P::Drift { .. } => "FS505",
        P::DiffFound {
            report_only: false, ..
        }
        | P::TakeoverNever
        | P::TakeoverFailed => "FS506",
        P::AlreadyOwnedByOthers { owners }
            if owners.iter().any(|owner| owner.kind == "AppliedWork") =>
        {
            "FS508"
        }
        P::AlreadyOwnedByOthers { .. } | P::CoOwned => "FS507",
        P::OwnedByAnotherAppliedWork => "FS508",
        P::Duplicate | P::GenerateNameOnly | P::DecodeFailed | P::OwnerReferencesNotAllowed => {
            "FS513"
        }
        P::DiffReportFailed
        | P::DiffFound {
            report_only: true,
            degraded: true,
        } => "FS514",
        P::Preparing => "FS515",
        P::NotAvailableYet if manifest.kind == "Service" => "FS523",
        P::NotAvailableYet | P::AvailabilityTrackingFailed => "FS501",
        P::ApplyConflict { .. } => "FS524",
        P::Other { .. } => match manifest.condition.kind.as_str() {
            reasons::AVAILABLE => "FS501",
            reasons::DIFF_REPORTED => "FS514",
            _ => "FS502",
        },
        // Where nothing is applied, nothing was refused: the report of differences failed.
        _ if manifest.condition.kind == reasons::DIFF_REPORTED => "FS514",
        P::ApiServerUnavailable { .. } => "FS528",
        P::DriftDetectionFailed
        | P::ImmutableField { .. }
        | P::QuotaExceeded { .. }
        | P::AdmissionDenied { .. }
        | P::AdmissionPolicyDenied { .. }
        | P::WebhookUnreachable { .. }
        | P::PodSecurity { .. }
        | P::Forbidden { .. }
        | P::ObjectModified
        | P::Invalid { .. }
        | P::TooLarge
        | P::LookupFailed
        | P::OwnerMissing => "FS502",
    })
}

/// The rule that speaks of what keeps a binding's Works from being written.
pub const fn of_binding(problem: &BindingProblem) -> &'static str {
    use BindingProblem as P;
    match problem {
        P::OverrideFailed { .. }
        | P::OverrideSnapshotNotFound { .. }
        | P::OverridePolicyNil { .. }
        | P::LabelKeyMissing { .. }
        | P::UnclosedVariable { .. } => "FS509",
        P::MasterSnapshotNotFound | P::SnapshotGroupIncomplete { .. } => "FS510",
        P::Envelope { .. } => "FS512",
        P::NameTaken => "FS530",
        P::NamespaceTerminating { .. }
        | P::Forbidden { .. }
        | P::TooLarge
        | P::ApiServerUnavailable { .. }
        | P::Other { .. } => "FS511",
    }
}

/// The rules that speak of a troubled cluster; none when nothing that it reports explains it.
pub fn of_trouble(failing: &FailingCluster<'_>) -> Vec<&'static str> {
    if let Some(problem) = &failing.trouble.problem {
        return vec![of_binding(problem)];
    }
    let codes = failing.trouble.manifests.iter();
    let mut codes: Vec<_> = codes.filter_map(of_manifest).collect();
    if codes.iter().any(|code| *code != "FS515") {
        // An object that is only being prepared explains nothing beside one that failed.
        codes.retain(|code| *code != "FS515");
    }
    if codes.is_empty() {
        codes.extend(
            failing
                .trouble
                .work
                .as_ref()
                .and_then(|work| of_work(work.state)),
        );
    }
    distinct(codes)
}

const fn of_work(state: WorkState) -> Option<&'static str> {
    match state {
        WorkState::ApplyPending | WorkState::AvailabilityPending | WorkState::DiffPending => {
            Some("FS515")
        }
        WorkState::DiffFailed => Some("FS514"),
        // Some object failed, and none is named.
        WorkState::ApplyFailed | WorkState::NotAvailable | WorkState::NotTrackable => None,
    }
}

/// Whether a rule speaks of the cluster's trouble and explains the verdict with it.
pub fn is_explained(cx: &DiagnosisContext<'_>, failing: &FailingCluster<'_>) -> bool {
    failing.explains(cx.verdict) && !of_trouble(failing).is_empty()
}

/// The troubled clusters of which the rule speaks.
pub fn troubles<'a, 'i>(
    cx: &'a DiagnosisContext<'i>,
    code: &'static str,
) -> impl Iterator<Item = &'a FailingCluster<'i>> {
    cx.troubles
        .iter()
        .filter(move |failing| of_trouble(failing).contains(&code))
}
