//! The texts of one manifest's conditions in a Work, repeated in `failedPlacements`.

use super::api_error;
use super::pattern::{capture, capture_within, contains, normalise};
use crate::kubefleet::apply::ApplyStrategy;

/// An owner of an object on the member cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnerRef {
    /// Kind of the owner; `AppliedWork` is another placement's work.
    pub kind: String,
    pub name: String,
}

/// Why a manifest is not applied, not available or not compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ManifestProblem {
    /// Nothing is wrong: applied, available, not trackable or without differences.
    Fine,
    /// Its namespace is missing on the member.
    NamespaceNotFound {
        /// The missing namespace.
        namespace: String,
    },
    /// The namespace is being deleted.
    NamespaceTerminating {
        /// The namespace, where it is named.
        namespace: Option<String>,
    },
    /// The member does not serve the kind, usually because a CRD is missing
    /// (workapplier/preprocess.go:decodeManifest).
    KindNotFound {
        /// The kind, where it is named.
        kind: Option<String>,
        /// Its group and version, where they are named.
        version: Option<String>,
    },
    /// The object has owners outside and co-ownership is off
    /// (workapplier/drift_detection_takeover.go:takeOverPreExistingObject).
    AlreadyOwnedByOthers {
        /// The owners; empty before v0.2.2.
        owners: Vec<OwnerRef>,
    },
    /// Another placement placed the same object (takeOverPreExistingObject, apply.go:validateOwnerReferences).
    OwnedByAnotherAppliedWork,
    /// The object differs from the manifest (process.go:takeOverInMemberClusterObjectIfApplicable;
    /// status.go:setManifestDiffReportedCondition).
    DiffFound {
        /// All fields were compared, since the member rejects the manifest.
        degraded: bool,
        /// The difference is only reported (`ReportDiff`); it does not stop a takeover.
        report_only: bool,
    },
    /// The object exists and `whenToTakeOver` is `Never` (process.go:processOneManifest).
    TakeoverNever,
    /// The takeover failed for another reason (process.go:takeOverInMemberClusterObjectIfApplicable).
    TakeoverFailed,
    /// Someone edited the object and `whenToApply` is `IfNotDrifted`
    /// (process.go:performPreApplyDriftDetectionIfApplicable).
    Drift,
    /// Drifts could not be computed; the manifest may be applied all the same.
    DriftDetectionFailed,
    /// The change touches a field that cannot be changed.
    ImmutableField {
        /// Path of the field, where it is named.
        field: Option<String>,
    },
    /// A quota is used up.
    QuotaExceeded {
        /// Name of the ResourceQuota.
        quota: String,
    },
    /// An admission webhook refused.
    AdmissionDenied {
        /// Name of the webhook.
        webhook: String,
        /// Its own words; empty where it said nothing.
        said: String,
    },
    /// A ValidatingAdmissionPolicy refused.
    AdmissionPolicyDenied {
        /// Name of the policy.
        policy: String,
        /// Its own words; empty where it said nothing.
        said: String,
    },
    /// An admission webhook did not answer.
    WebhookUnreachable {
        /// Name of the webhook.
        webhook: String,
    },
    /// Pod Security refused.
    PodSecurity {
        /// Level and version, such as `restricted:latest`.
        level: String,
    },
    /// The member agent may not do this.
    Forbidden,
    /// Server-side apply found other field managers (apply.go:serverSideApply).
    ApplyConflict {
        /// Their names.
        managers: Vec<String>,
    },
    /// The object was changed at the same time; it is tried again.
    ObjectModified,
    /// The member's API server finds the object invalid.
    Invalid {
        /// Path of the first field, where it is named.
        field: Option<String>,
    },
    /// The object is too large to be stored.
    TooLarge,
    /// The member's API server did not answer.
    ApiServerUnavailable {
        /// The text.
        detail: String,
    },
    /// The object could not be read from the member (process.go:findInMemberClusterObjectFor).
    LookupFailed,
    /// Applied, but not available yet (availability_tracker.go).
    NotAvailableYet,
    /// Availability could not be determined (status.go:setManifestAvailableCondition).
    AvailabilityTrackingFailed,
    /// The member agent has begun and not finished (preprocess.go: write-ahead).
    Preparing,
    /// The same object twice in one Work (preprocess.go:checkForDuplicatedManifests).
    Duplicate,
    /// The manifest has only `generateName` (preprocess.go:preProcessManifests).
    GenerateNameOnly,
    /// The manifest is not a Kubernetes object (preprocess.go:decodeManifest).
    DecodeFailed,
    /// The manifest names owners and co-ownership is off (apply.go:validateOwnerReferences).
    OwnerReferencesNotAllowed,
    /// The object has several owners and co-ownership is off (apply.go:validateOwnerReferences).
    CoOwned,
    /// The object lost its AppliedWork owner (apply.go:validateOwnerReferences).
    OwnerMissing,
    /// Differences could not be reported (status.go:setManifestDiffReportedCondition).
    DiffReportFailed,
    /// No known reason or wording.
    Other {
        /// The text without its known beginnings, white space folded.
        text: String,
    },
}

impl ManifestProblem {
    /// Whether the object is not the placement's: whatever becomes of the content, it stays.
    pub const fn is_not_ours(&self) -> bool {
        matches!(
            self,
            Self::AlreadyOwnedByOthers { .. }
                | Self::OwnedByAnotherAppliedWork
                | Self::TakeoverNever
                | Self::TakeoverFailed
                | Self::DiffFound { .. }
        )
    }

    /// Whether what others did on the member cluster keeps the object as it is.
    pub const fn is_by_others(&self) -> bool {
        matches!(
            self,
            Self::AlreadyOwnedByOthers { .. }
                | Self::TakeoverNever
                | Self::DiffFound {
                    report_only: false,
                    ..
                }
                | Self::Drift
                | Self::ApplyConflict { .. }
        )
    }

    /// Whether the hub's content goes over what kept the object where it is applied like this. `is_new`
    /// is whether it differs from what was applied last: drifts are looked for only where it does not.
    /// Source: workapplier/process.go:shouldPerformPreApplyDriftDetection.
    pub fn is_overcome_by(&self, apply: &ApplyStrategy, is_new: bool) -> bool {
        let ways = apply.with_defaults();
        let takes_over = ways.when_to_take_over == "Always";
        !apply.is_report_diff()
            && match self {
                Self::TakeoverNever
                | Self::DiffFound {
                    report_only: false, ..
                } => takes_over,
                Self::AlreadyOwnedByOthers { .. } | Self::CoOwned => {
                    takes_over && ways.allow_co_ownership
                }
                Self::Drift => is_new || ways.when_to_apply == "Always",
                Self::ApplyConflict { .. } => !apply.keeps_others_fields(),
                _ => false,
            }
    }
}

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
const OWN: &[(&str, FromText)] = &[
    ("already owned by some other sources", |text| {
        ManifestProblem::AlreadyOwnedByOthers {
            owners: owners(text),
        }
    }),
    (
        "the object is already owned by another Fleet AppliedWork object",
        |_| ManifestProblem::OwnedByAnotherAppliedWork,
    ),
    (
        "object is already owned by another AppliedWork object",
        |_| ManifestProblem::OwnedByAnotherAppliedWork,
    ),
    (
        "object is not owned by the expected AppliedWork object",
        |_| ManifestProblem::OwnerMissing,
    ),
    ("object is co-owned by multiple objects", |_| {
        ManifestProblem::CoOwned
    }),
    ("manifest is set to have owner references", |_| {
        ManifestProblem::OwnerReferencesNotAllowed
    }),
    (
        "AppliedWork object is unexpectedly added as an owner",
        |_| ManifestProblem::OwnerReferencesNotAllowed,
    ),
    (
        "cannot take over object: configuration differences are found",
        |text| ManifestProblem::DiffFound {
            degraded: contains(text, "in degraded mode"),
            report_only: false,
        },
    ),
    ("no ownership of the object in the member cluster", |_| {
        ManifestProblem::TakeoverNever
    }),
    ("cannot apply manifest: drifts are found", |_| {
        ManifestProblem::Drift
    }),
    ("objects with only generate name are not supported", |_| {
        ManifestProblem::GenerateNameOnly
    }),
    ("a duplicate manifest has been found", |_| {
        ManifestProblem::Duplicate
    }),
    ("The manifest is being prepared for processing", |_| {
        ManifestProblem::Preparing
    }),
    ("Manifest is not yet available", |_| {
        ManifestProblem::NotAvailableYet
    }),
    ("Manifest is trackable but not available yet", |_| {
        ManifestProblem::NotAvailableYet
    }),
    ("No diff has been found", |_| ManifestProblem::Fine),
    ("Diff has been found", |text| ManifestProblem::DiffFound {
        degraded: contains(text, "in degraded mode"),
        report_only: true,
    }),
];

/// KubeFleet's own wrappers of a technical error that tell what failed.
const STEPS: &[(&str, ManifestProblem)] = &[
    (
        "failed to calculate pre-apply drifts",
        ManifestProblem::DriftDetectionFailed,
    ),
    (
        "failed to calculate post-apply drifts",
        ManifestProblem::DriftDetectionFailed,
    ),
    (
        "failed to determine if pre-apply drift detection is needed",
        ManifestProblem::DriftDetectionFailed,
    ),
    (
        "failed to find GVR from member cluster client REST mapping",
        UNNAMED_KIND,
    ),
    (
        "failed to find group/version/resource from restmapping",
        UNNAMED_KIND,
    ),
    ("failed to decode manifest", ManifestProblem::DecodeFailed),
    ("failed to decode object", ManifestProblem::DecodeFailed),
    (
        "failed to find the corresponding object",
        ManifestProblem::LookupFailed,
    ),
    ("failed to take over", ManifestProblem::TakeoverFailed),
];

const UNNAMED_KIND: ManifestProblem = ManifestProblem::KindNotFound {
    kind: None,
    version: None,
};

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
        "FoundDrifts" | "FoundDriftsInDegradedMode" => ManifestProblem::Drift,
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
