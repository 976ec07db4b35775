//! What may be wrong with one manifest.

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
    Drift {
        /// All fields were compared, since the member rejects the manifest.
        degraded: bool,
    },
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
    /// A webhook could not be called.
    WebhookUnreachable {
        /// What it is, with its name.
        webhook: String,
    },
    /// Pod Security refused.
    PodSecurity {
        /// Level and version, such as `restricted:latest`.
        level: String,
    },
    /// The member agent may not do this, or is not known there any more.
    Forbidden {
        /// The API server's words.
        said: String,
    },
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
                | Self::Drift { .. }
                | Self::ApplyConflict { .. }
        )
    }

    /// Whether others own the object, so that no content is applied over it while they do.
    pub const fn is_owned_by_others(&self) -> bool {
        matches!(
            self,
            Self::AlreadyOwnedByOthers { .. } | Self::TakeoverNever
        )
    }

    /// Whether the object itself, or what others did to it, is at fault: nothing else that comes with the content helps.
    pub const fn is_of_object(&self) -> bool {
        matches!(
            self,
            Self::TakeoverNever
                | Self::Drift { .. }
                | Self::ImmutableField { .. }
                | Self::Invalid { .. }
                | Self::TooLarge
                | Self::DecodeFailed
                | Self::GenerateNameOnly
                | Self::Duplicate
        )
    }

    /// Whether the same manifest fails for it again, as long as nobody does anything there.
    pub const fn is_lasting(&self) -> bool {
        !matches!(
            self,
            Self::Fine
                | Self::Preparing
                | Self::NotAvailableYet
                | Self::AvailabilityTrackingFailed
                | Self::ApiServerUnavailable { .. }
                | Self::ObjectModified
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
                Self::Drift { .. } => is_new || ways.when_to_apply == "Always",
                Self::ApplyConflict { .. } => !apply.keeps_others_fields(),
                _ => false,
            }
    }
}
