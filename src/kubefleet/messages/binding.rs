//! The texts of a binding's conditions.

use super::api_error;
use super::cause::ObjectKey;
use super::failure::strip_classes;
use super::manifest_problem::ManifestProblem;
use super::pattern::{PatternCaptures, capture, capture_within, contains, normalise};

/// Who rolled a binding out, from the message of RolloutStarted=True.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RolloutStarted {
    /// The index in the run's spec; none where the run gave none.
    pub snapshot_index: Option<String>,
    /// The update run that wrote last; none where the rollout controller did.
    pub run: Option<String>,
}

/// Reads the message of a binding's RolloutStarted.
///
/// Source: updaterun/execution.go:updateBindingRolloutStarted, rollout/controller.go:updateBindingStatus.
pub fn parse_rollout_started(text: &str) -> RolloutStarted {
    let text = normalise(text);
    [
        "resourceSnapshotIndex: {}, updateRun: {}",
        "resourceSnapshotIndex: {}, clusterStagedUpdateRun: {}",
        "resourceSnapshotIndex: {}, stagedUpdateRun: {}",
    ]
    .iter()
    .find_map(|template| {
        // An empty index leaves `resourceSnapshotIndex: , …`, which is still the same template.
        let found = capture_within(template, &text)?;
        let filled = |index: usize| Some(found.word(index)).filter(|word| !word.is_empty());
        Some(RolloutStarted {
            snapshot_index: filled(0),
            run: filled(1),
        })
    })
    .unwrap_or_default()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverrideKind {
    /// `ClusterResourceOverrideSnapshot`
    Cluster,
    /// `ResourceOverrideSnapshot`
    Namespaced,
}

/// The object an override was applied to (workgenerator/override.go:formatOverrideTarget).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OverrideTarget {
    pub kind: String,
    pub name: String,
    pub namespace: Option<String>,
}

/// What is wrong with an envelope object (workgenerator/envelope.go).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EnvelopeProblem {
    NamespacedObjectInClusterEnvelope,
    ClusterObjectInNamespacedEnvelope,
    /// An object of another namespace than the envelope's.
    ObjectOfAnotherNamespace,
    /// More than one Work holds the same envelope.
    SeveralWorks,
    /// The wrapped data is not a Kubernetes object.
    NotAnObject,
}

/// Why a binding's Overridden or WorkSynchronized is False.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BindingProblem {
    /// A patch of an override does not fit its target (workgenerator/override.go:applyOverrides).
    ///
    /// Up to v0.3.1 only the patch error is printed.
    OverrideFailed {
        /// Name of the override snapshot.
        snapshot: Option<String>,
        kind: Option<OverrideKind>,
        /// The object it was applied to.
        on: Option<OverrideTarget>,
        /// The patch library's error.
        patch_error: String,
    },
    /// A pinned override snapshot is gone (override.go:fetch*OverrideSnapshots).
    OverrideSnapshotNotFound {
        kind: OverrideKind,
        snapshot: ObjectKey,
    },
    /// An override has no policy (override.go:applyOverrides; v0.1 to HEAD log it and go on).
    OverridePolicyNil {
        kind: Option<OverrideKind>,
        /// The snapshot, where it is named.
        snapshot: Option<ObjectKey>,
    },
    /// A `${MEMBER-CLUSTER-LABEL-KEY-…}` names a label the cluster lacks
    /// (override.go:replaceClusterLabelKeyVariables).
    LabelKeyMissing {
        key: String,
    },
    /// A variable without its closing bracket (override.go:replaceClusterLabelKeyVariables).
    UnclosedVariable {
        /// The value that holds the variable.
        input: String,
    },
    /// The resource snapshot of the binding is gone (workgenerator/controller.go:syncAllWork).
    MasterSnapshotNotFound,
    /// Parts of the resource snapshot are missing
    /// (resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster).
    SnapshotGroupIncomplete {
        snapshot: Option<String>,
    },
    /// The member cluster's namespace on the hub is being deleted.
    NamespaceTerminating {
        /// The namespace, where it is named.
        namespace: Option<String>,
    },
    /// An envelope cannot be unpacked.
    Envelope {
        /// What is wrong with it.
        problem: EnvelopeProblem,
        /// The envelope, as printed.
        envelope: Option<String>,
        /// The key of the manifest inside it.
        manifest: Option<String>,
    },
    /// The hub's API server refused the hub agent.
    Forbidden {
        /// Its words.
        said: String,
    },
    TooLarge,
    /// The Work of an earlier rollout is still being deleted, and the new one has its name.
    NameTaken,
    /// The hub's API server did not answer, or lost a race; it is tried again.
    ApiServerUnavailable {
        /// The text.
        detail: String,
    },
    /// No known wording.
    Other {
        /// The text without its known beginnings, white space folded.
        text: String,
    },
}

type BuildProblem = fn(&PatternCaptures<'_>) -> BindingProblem;

/// One line per wording, without the error class before it.
#[rustfmt::skip]
const PROBLEMS: &[(&str, BuildProblem)] = &[
    ("failed to apply overrides to {} from envelope {}: {}", override_in_envelope),
    ("ClusterResourceOverrideSnapshot \"{}\" failed to apply on {}: {}", |c| override_failed(c, OverrideKind::Cluster)),
    ("ResourceOverrideSnapshot \"{}\" failed to apply on {}: {}", |c| override_failed(c, OverrideKind::Namespaced)),
    ("clusterResourceOverrideSnapshot {} is not found", |c| BindingProblem::OverrideSnapshotNotFound { kind: OverrideKind::Cluster, snapshot: ObjectKey::parse(c.get(0)) }),
    ("resourceOverrideSnapshot {} is not found", |c| BindingProblem::OverrideSnapshotNotFound { kind: OverrideKind::Namespaced, snapshot: ObjectKey::parse(c.get(0)) }),
    ("invalid clusterResourceOverrideSnapshot {}: policy is nil", |c| BindingProblem::OverridePolicyNil { kind: Some(OverrideKind::Cluster), snapshot: Some(ObjectKey::parse(c.get(0))) }),
    ("invalid resourceOverrideSnapshot {}: policy is nil", |c| BindingProblem::OverridePolicyNil { kind: Some(OverrideKind::Namespaced), snapshot: Some(ObjectKey::parse(c.get(0))) }),
    ("policy is nil", |_| BindingProblem::OverridePolicyNil { kind: None, snapshot: None }),
    ("label key {} not found on cluster {}", |c| BindingProblem::LabelKeyMissing { key: c.word(0) }),
    ("input {} is missing the closing bracket", |c| BindingProblem::UnclosedVariable { input: c.text(0) }),
    ("the master resource snapshot is not found", |_| BindingProblem::MasterSnapshotNotFound),
    ("resource snapshots are still being created for the masterResourceSnapshot {}", |c| BindingProblem::SnapshotGroupIncomplete { snapshot: Some(c.word(0)) }),
    ("not all resource snapshot in the same index group are created: resource snapshots are still being created for the masterResourceSnapshot {}", |c| BindingProblem::SnapshotGroupIncomplete { snapshot: Some(c.word(0)) }),
    ("not all resource snapshot in the same index group are created", |_| BindingProblem::SnapshotGroupIncomplete { snapshot: None }),
    ("a namespaced object {} ({}) has been wrapped in a cluster resource envelope {}", |c| envelope(EnvelopeProblem::NamespacedObjectInClusterEnvelope, c.get(2), c.get(0))),
    ("a cluster scope object {} ({}) has been wrapped in a resource envelope {}", |c| envelope(EnvelopeProblem::ClusterObjectInNamespacedEnvelope, c.get(2), c.get(0))),
    ("a namespaced object {} ({}) in has been wrapped in a resource envelope from another namespace ({})", |c| envelope(EnvelopeProblem::ObjectOfAnotherNamespace, c.get(2), c.get(0))),
    ("a namespaced object {} ({}) has been wrapped in a resource envelope from another namespace ({})", |c| envelope(EnvelopeProblem::ObjectOfAnotherNamespace, c.get(2), c.get(0))),
    ("{} work objects found for the same envelope {}, only one expected", |c| envelope(EnvelopeProblem::SeveralWorks, c.get(1), "")),
    ("failed to parse the wrapped manifest data to a Kubernetes runtime object (manifestKey={},envelopeObjRef={}): {}", |c| envelope(EnvelopeProblem::NotAnObject, c.get(1), c.get(0))),
    ("failed to parse manifest from envelope {}: {}", |c| envelope(EnvelopeProblem::NotAnObject, c.get(0), "")),
];

/// Reads the message of Overridden=False/OverriddenFailed or WorkSynchronized=False/SyncWorkFailed.
///
/// Both conditions carry any of these: the work generator reports every error before the overrides
/// are applied under Overridden, a missing resource snapshot included.
/// Source: workgenerator/controller.go:Reconcile, syncAllWork; override.go; envelope.go.
pub fn parse_binding_problem(text: &str) -> BindingProblem {
    let folded = normalise(text);
    let outer = [
        "Failed to apply the override rules on the resources: {}",
        "Failed to synchronize the work to the latest: {}",
    ];
    let inner = outer
        .iter()
        .find_map(|template| capture(template, &folded).map(|found| found.get(0)));
    let inner = strip_classes(inner.unwrap_or(folded.as_str()));
    known(inner).unwrap_or_else(|| BindingProblem::Other {
        text: inner.to_owned(),
    })
}

fn known(text: &str) -> Option<BindingProblem> {
    let text = strip_classes(text);
    if let Some(problem) = PROBLEMS
        .iter()
        .find_map(|(template, build)| capture(template, text).map(|found| build(&found)))
    {
        return Some(problem);
    }
    if is_patch_error(text) {
        return Some(patch_failed(text.to_owned()));
    }
    match api_error::parse(text)? {
        ManifestProblem::NamespaceTerminating { namespace } => {
            Some(BindingProblem::NamespaceTerminating { namespace })
        }
        ManifestProblem::Forbidden { said } => Some(BindingProblem::Forbidden { said }),
        ManifestProblem::TooLarge => Some(BindingProblem::TooLarge),
        // Nothing else comes back as `Other`.
        ManifestProblem::Other { .. } => Some(BindingProblem::NameTaken),
        ManifestProblem::ApiServerUnavailable { .. }
        | ManifestProblem::ObjectModified
        | ManifestProblem::WebhookUnreachable { .. } => {
            Some(BindingProblem::ApiServerUnavailable {
                detail: text.to_owned(),
            })
        }
        _ => None,
    }
}

/// The wordings of the JSON patch library.
fn is_patch_error(text: &str) -> bool {
    [
        "operation does not apply",
        "doc is missing",
        "missing value",
        "nonexistent key",
        "invalid index referenced",
        "jsonpatch ",
        "testing value ",
    ]
    .iter()
    .any(|needle| contains(text, needle))
}

const fn patch_failed(patch_error: String) -> BindingProblem {
    BindingProblem::OverrideFailed {
        snapshot: None,
        kind: None,
        on: None,
        patch_error,
    }
}

fn override_in_envelope(found: &PatternCaptures<'_>) -> BindingProblem {
    let mut problem = known(found.get(2)).unwrap_or_else(|| patch_failed(found.text(2)));
    if let BindingProblem::OverrideFailed { on: on @ None, .. } = &mut problem {
        *on = target(found.get(0));
    }
    problem
}

fn override_failed(found: &PatternCaptures<'_>, kind: OverrideKind) -> BindingProblem {
    // A variable that cannot be resolved is reported through the same wrapper at HEAD.
    match known(found.get(2)) {
        Some(
            problem @ (BindingProblem::LabelKeyMissing { .. }
            | BindingProblem::UnclosedVariable { .. }),
        ) => problem,
        _ => BindingProblem::OverrideFailed {
            snapshot: Some(found.word(0)),
            kind: Some(kind),
            on: target(found.get(1)),
            patch_error: found.text(2),
        },
    }
}

fn target(text: &str) -> Option<OverrideTarget> {
    let found =
        capture("{} \"{}\" in namespace \"{}\"", text).or_else(|| capture("{} \"{}\"", text))?;
    let namespace = Some(found.text(2)).filter(|namespace| !namespace.is_empty());
    Some(OverrideTarget {
        kind: found.text(0),
        name: found.text(1),
        namespace,
    })
}

fn envelope(problem: EnvelopeProblem, envelope: &str, manifest: &str) -> BindingProblem {
    let filled = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    BindingProblem::Envelope {
        problem,
        envelope: filled(envelope),
        manifest: filled(manifest),
    }
}

/// What a binding says about one of its Works.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkProblem {
    /// The Work's name; none where the text speaks of all of them.
    pub work: Option<String>,
    /// What is said.
    pub state: WorkState,
}

/// How far a Work has come (workgenerator/controller.go:setAllWork*Condition).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkState {
    /// The member agent has not applied this generation yet.
    ApplyPending,
    /// Some of its manifests could not be applied.
    ApplyFailed,
    /// Its availability has not been checked yet.
    AvailabilityPending,
    /// Some of its manifests are not available.
    NotAvailable,
    /// Its availability cannot be tracked; this counts as available.
    NotTrackable,
    /// Its differences have not been reported yet.
    DiffPending,
    /// Its differences could not be reported.
    DiffFailed,
}

#[rustfmt::skip]
const WORKS: &[(&str, WorkState)] = &[
    ("Work object {} has not yet completed the apply op", WorkState::ApplyPending),
    ("Work object {} has failed to apply", WorkState::ApplyFailed),
    ("Work object {} is not applied", WorkState::ApplyFailed),
    ("Work object {} has not yet completed availability check", WorkState::AvailabilityPending),
    ("Work object {} is not yet available", WorkState::NotAvailable),
    ("Work object {} is not available", WorkState::NotAvailable),
    ("The availability of work object {} is not trackable", WorkState::NotTrackable),
    ("Work object {} has not yet completed diff reporting", WorkState::DiffPending),
    ("Work object {} has failed to report diff", WorkState::DiffFailed),
    ("Resources are being applied", WorkState::ApplyPending),
    ("Diff reporting on resources is in progress", WorkState::DiffPending),
];

/// Reads the message of a binding's Applied, Available or DiffReported.
///
/// Source: workgenerator/controller.go:Reconcile, setAllWorkAppliedCondition,
/// setAllWorkAvailableCondition, setAllWorkDiffReportedCondition.
pub fn parse_work_problem(text: &str) -> Option<WorkProblem> {
    let text = normalise(text);
    WORKS.iter().find_map(|(template, state)| {
        let found = capture(template, &text)?;
        Some(WorkProblem {
            work: Some(found.word(0)).filter(|work| !work.is_empty()),
            state: *state,
        })
    })
}
