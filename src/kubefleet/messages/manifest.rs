//! The texts of one manifest's conditions in a Work, repeated in `failedPlacements`.

use super::api_error::{self, UNNAMED_KIND};
use super::manifest_problem::{ManifestProblem, OwnerRef};
use super::pattern::{capture, capture_within, contains, normalise};

/// The wrappers around an error: the template, the placeholder of an inner reason, that of the error.
const WRAPPERS: [(&str, Option<usize>, usize); 4] = [
    ("Failed to apply the manifest (error: {}", None, 0),
    (
        "An unexpected apply result is yielded ({}, error: {}",
        Some(0),
        1,
    ),
    (
        "An error blocks the diff reporting process ({}, error: {}",
        Some(0),
        1,
    ),
    ("Failed to apply manifest: {}", None, 0),
];

type FromText = fn(&str) -> ManifestProblem;

/// KubeFleet's own wordings, found anywhere in the text; the longer of two comes first.
#[rustfmt::skip]
const OWN: &[(&str, FromText)] = &[
    ("already owned by some other sources", |text| ManifestProblem::AlreadyOwnedByOthers { owners: owners(text) }),
    ("the object is already owned by another Fleet AppliedWork object", |_| ManifestProblem::OwnedByAnotherAppliedWork),
    ("object is already owned by another AppliedWork object", |_| ManifestProblem::OwnedByAnotherAppliedWork),
    ("object is not owned by the expected AppliedWork object", |_| ManifestProblem::OwnerMissing),
    ("object is co-owned by multiple objects", |_| ManifestProblem::CoOwned),
    ("manifest is set to have owner references", |_| ManifestProblem::OwnerReferencesNotAllowed),
    ("AppliedWork object is unexpectedly added as an owner", |_| ManifestProblem::OwnerReferencesNotAllowed),
    ("cannot take over object: configuration differences are found", |text| ManifestProblem::DiffFound { degraded: contains(text, "in degraded mode"), report_only: false }),
    ("no ownership of the object in the member cluster", |_| ManifestProblem::TakeoverNever),
    ("cannot apply manifest: drifts are found", |text| ManifestProblem::Drift { degraded: contains(text, "in degraded mode") }),
    ("objects with only generate name are not supported", |_| ManifestProblem::GenerateNameOnly),
    ("a duplicate manifest has been found", |_| ManifestProblem::Duplicate),
    ("The manifest is being prepared for processing", |_| ManifestProblem::Preparing),
    ("Manifest is not yet available", |_| ManifestProblem::NotAvailableYet),
    ("Manifest is trackable but not available yet", |_| ManifestProblem::NotAvailableYet),
    ("No diff has been found", |_| ManifestProblem::Fine),
    ("Diff has been found", |text| ManifestProblem::DiffFound { degraded: contains(text, "in degraded mode"), report_only: true }),
];

/// KubeFleet's own wrappers of a technical error that tell what failed.
#[rustfmt::skip]
const STEPS: &[(&str, ManifestProblem)] = &[
    ("failed to calculate pre-apply drifts", ManifestProblem::DriftDetectionFailed),
    ("failed to calculate post-apply drifts", ManifestProblem::DriftDetectionFailed),
    ("failed to determine if pre-apply drift detection is needed", ManifestProblem::DriftDetectionFailed),
    ("failed to find GVR from member cluster client REST mapping", UNNAMED_KIND),
    ("failed to find group/version/resource from restmapping", UNNAMED_KIND),
    ("failed to decode manifest", ManifestProblem::DecodeFailed),
    ("failed to decode object", ManifestProblem::DecodeFailed),
    ("failed to find the corresponding object", ManifestProblem::LookupFailed),
    ("failed to take over", ManifestProblem::TakeoverFailed),
];

/// Reads reason and message of a manifest's Applied, Available or DiffReported.
///
/// The message decides where it is known, else the reason; reasons of the older work applier
/// (`controllers/work/apply_controller.go` at v0.0.1) are known too.
/// Source: workapplier/status.go, process.go, preprocess.go, apply.go, drift_detection_takeover.go.
pub fn parse_manifest_problem(reason: &str, text: &str) -> ManifestProblem {
    let folded = normalise(text);
    let reason = reason.trim();
    if capture(
        "Failed to track the availability of the applied manifest (error = ",
        &folded,
    )
    .is_some()
    {
        return ManifestProblem::AvailabilityTrackingFailed;
    }
    if let Some(found) = capture(
        "Failed to report the diff between the hub cluster and the member cluster (error = {}",
        &folded,
    ) {
        return from_text(unclosed(found.get(0))).unwrap_or(ManifestProblem::DiffReportFailed);
    }
    let wrapped = WRAPPERS.iter().find_map(|(template, reason_at, error_at)| {
        let found = capture(template, &folded)?;
        let inner_reason = reason_at.map_or(reason, |at| found.get(at));
        Some((inner_reason, unclosed(found.get(*error_at))))
    });
    let (reason, inner) = wrapped.unwrap_or((reason, folded.as_str()));
    from_text(inner).unwrap_or_else(|| from_reason(reason, inner))
}

fn from_text(text: &str) -> Option<ManifestProblem> {
    if let Some((_, build)) = OWN.iter().find(|(needle, _)| contains(text, needle)) {
        return Some(build(text));
    }
    api_error::parse(text).or_else(|| {
        let (_, problem) = STEPS.iter().find(|(needle, _)| contains(text, needle))?;
        Some(problem.clone())
    })
}

fn from_reason(reason: &str, text: &str) -> ManifestProblem {
    match reason {
        "Applied"
        | "Available"
        | "NotTrackable"
        | "NoDiffFound"
        | "ManifestCreated"
        | "ManifestThreeWayMergePatched"
        | "ManifestServerSideApplied"
        | "ManifestAlreadyUpToDate"
        | "ManifestAvailable"
        | "ManifestNotTrackable"
        | "WorkAppliedCompleted"
        | "WorkAvailable"
        | "WorkNotTrackable" => ManifestProblem::Fine,
        "AppliedWithFailedDriftDetection" | "FailedToRunDriftDetection" => {
            ManifestProblem::DriftDetectionFailed
        }
        "PreparingToProcess" | "ManifestNeedsUpdate" => ManifestProblem::Preparing,
        "DecodingErred" => ManifestProblem::DecodeFailed,
        "FoundGenerateName" => ManifestProblem::GenerateNameOnly,
        "Duplicated" => ManifestProblem::Duplicate,
        "FailedToFindObjInMemberCluster" => ManifestProblem::LookupFailed,
        "FailedToTakeOver" => ManifestProblem::TakeoverFailed,
        "NotTakenOver" => ManifestProblem::TakeoverNever,
        "FoundDrifts" => ManifestProblem::Drift { degraded: false },
        "FoundDriftsInDegradedMode" => ManifestProblem::Drift { degraded: true },
        "FoundDiff" => ManifestProblem::DiffFound {
            degraded: false,
            report_only: true,
        },
        "FoundDiffInDegradedMode" => ManifestProblem::DiffFound {
            degraded: true,
            report_only: true,
        },
        "FailedToReportDiff" => ManifestProblem::DiffReportFailed,
        "ManifestNotAvailableYet" | "WorkNotAvailableYet" => ManifestProblem::NotAvailableYet,
        "Failed" => ManifestProblem::AvailabilityTrackingFailed,
        "ManifestsAlreadyOwnedByOthers" | "ManifestAlreadyOwnedByOthers" => {
            ManifestProblem::AlreadyOwnedByOthers {
                owners: owners(text),
            }
        }
        "ApplyConflictBetweenPlacements" => ManifestProblem::OwnedByAnotherAppliedWork,
        _ => ManifestProblem::Other {
            text: text.to_owned(),
        },
    }
}

/// The error without the bracket that closes its wrapper.
fn unclosed(text: &str) -> &str {
    text.strip_suffix(')').unwrap_or(text)
}

/// The owners of `existingOwnerRefs: [{APIVersion:… Kind:… Name:… UID:…} …]`.
fn owners(text: &str) -> Vec<OwnerRef> {
    let Some(found) = capture_within("existingOwnerRefs: {}", text) else {
        return Vec::new();
    };
    found
        .get(0)
        .split('{')
        .filter_map(|entry| {
            let field = |name: &str| {
                entry
                    .split([' ', ',', '}'])
                    .find_map(|part| part.strip_prefix(name))
                    .filter(|value| !value.is_empty())
                    .map(str::to_owned)
            };
            Some(OwnerRef {
                kind: field("Kind:")?,
                name: field("Name:")?,
            })
        })
        .collect()
}
