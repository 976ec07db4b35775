//! What speaks against a run, and what a person should know of it before it begins.

use crate::problems::Problem;
use crate::report::{Evidence, Remedy, Subject, composed};
use crate::words::worded;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

/// A reason for which the controller would refuse the run.
pub type Refusal = PlanPoint<RefusalKind>;

/// Something that a person should know before the run begins.
pub type Warning = PlanPoint<WarningKind>;

/// One point about a planned run.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{K}Point")]
pub struct PlanPoint<K> {
    /// What it is.
    pub kind: K,
    /// The finding that `explain` describes, if there is one.
    pub code: Option<String>,
    /// The object at fault.
    pub subject: Subject,
    /// The stage that it belongs to.
    pub stage: Option<String>,
    /// All clusters that it applies to; absent if it is not about clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
    /// One sentence.
    pub message: String,
    /// What was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// What to do, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
}

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $( $(#[$of:meta])* $kind:ident = $word:literal $(, $code:literal)?; )* }) => {
        worded! {
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
            pub enum $name { $( $(#[$of])* $kind = $word, )* }
        }

        impl PointKind for $name {
            fn code(self) -> Option<&'static str> {
                match self { $(Self::$kind => kinds!(@code $($code)?)),* }
            }
        }
    };
    (@code $code:literal) => { Some($code) };
    (@code) => { None };
}

/// A kind of point that findings may explain.
pub trait PointKind: Copy {
    /// The code of the finding about a run with which this happened.
    fn code(self) -> Option<&'static str>;
}

kinds! {
    /// Why the controller would refuse, in the order of its checks.
    RefusalKind {
        /// The placement does not exist in the run's scope.
        PlacementNotFound = "placement-not-found", "FS101";
        /// The placement is being deleted.
        PlacementBeingDeleted = "placement-being-deleted", "FS206";
        /// The placement rolls out itself.
        PlacementNotExternal = "placement-not-external", "FS102";
        /// The placement has no latest policy snapshot.
        PolicySnapshotNotFound = "policy-snapshot-not-found", "FS103";
        /// Several policy snapshots are marked as the latest.
        PolicySnapshotsSeveral = "policy-snapshots-several", "FS104";
        /// The latest policy snapshot has no index.
        PolicySnapshotWithoutIndex = "policy-snapshot-without-index", "FS104";
        /// The latest policy snapshot does not say how many clusters the placement needs.
        PolicySnapshotWithoutCount = "policy-snapshot-without-count", "FS104";
        /// The scheduler has not found all clusters.
        PlacementNotScheduled = "placement-not-scheduled", "FS105";
        /// The scheduler has not rewritten a binding yet: the controller would try again.
        BindingOutdated = "binding-outdated", "FS121";
        /// No cluster is selected, and none would be removed.
        NoClusterSelected = "no-cluster-selected", "FS106";
        /// There are more or fewer bindings than the policy asks for.
        BindingCountMismatch = "binding-count-mismatch", "FS107";
        /// The strategy does not exist in the run's scope.
        StrategyNotFound = "strategy-not-found", "FS108";
        /// The API server would refuse the strategy.
        StrategyRejected = "strategy-rejected";
        /// A stage has tasks that the controller refuses.
        StageTasksInvalid = "stage-tasks-invalid", "FS109";
        /// A stage's selector is not valid.
        StageSelectorInvalid = "stage-selector-invalid", "FS110";
        /// Clusters are in more than one stage.
        ClusterInTwoStages = "cluster-in-two-stages", "FS111";
        /// A stage cannot sort its clusters.
        SortingLabelInvalid = "sorting-label-invalid", "FS112";
        /// Clusters are in no stage.
        ClusterInNoStage = "cluster-in-no-stage", "FS113";
        /// The requested index is not a whole number.
        SnapshotIndexInvalid = "snapshot-index-invalid", "FS114";
        /// There is no snapshot with the requested index.
        SnapshotNotFound = "snapshot-not-found", "FS115";
        /// The snapshot with the requested index was deleted.
        SnapshotPruned = "snapshot-pruned", "FS116";
        /// The placement's resource selectors are invalid, so no snapshot can be created.
        ResourceSelectorInvalid = "resource-selector-invalid", "FS119";
        /// Parts of the snapshot are missing.
        SnapshotIncomplete = "snapshot-incomplete", "FS117";
        /// With overrides on the hub, the controller does not find the other parts of a namespaced
        /// placement's snapshot.
        SnapshotPartsNotFound = "snapshot-parts-not-found", "FS117";
        /// An override of the content cannot be used.
        OverrideInvalid = "override-invalid", "FS118";
        /// A stage's `maxConcurrency` is invalid: the run would fail midway.
        MaxConcurrencyInvalid = "max-concurrency-invalid", "FS208";
    }
}

kinds! {
    /// What a person should know.
    WarningKind {
        /// Clusters would get an older snapshot than they have.
        ClustersGoBack = "clusters-go-back";
        /// Another run on the placement is unfinished.
        OtherRunActive = "other-run-active", "FS705";
        /// The strategy asks for fewer approvals before a cluster than the run did that this one is made of, or in
        /// whose place it comes.
        GateDropped = "gate-dropped";
        /// The content has changed, and its snapshot is delayed: a run may get the old one.
        ChangeDelayed = "change-delayed", "FS701";
        /// Parts of the latest snapshot are missing.
        SnapshotIncomplete = "snapshot-incomplete", "FS117";
        /// None of the snapshots is the latest: up to KubeFleet 0.2.2, a run without an index waits for one.
        SnapshotAwaited = "snapshot-awaited", "FS121";
        /// The next new snapshot deletes the one that would be rolled out.
        SnapshotAboutToBePruned = "snapshot-about-to-be-pruned", "FS704";
        /// The current content is what the last run rolled back.
        SnapshotRolledBack = "snapshot-rolled-back";
        /// Clusters were sent another snapshot of the same name, and get nothing of this one.
        SnapshotNameReused = "snapshot-name-reused", "FS510";
        /// The snapshot has no objects: it would delete what clusters have of the placement.
        SnapshotEmpty = "snapshot-empty", "FS709";
        /// The placement selects an object that the hub does not have.
        SelectorMatchesNothing = "selector-matches-nothing";
        /// KubeFleet's own objects are part of the content: clusters do not serve their kinds.
        HubObjectPlaced = "hub-object-placed", "FS504";
        /// An override names the placement in a way that no run finds.
        OverrideNeverApplied = "override-never-applied", "FS707";
        /// An override that was written for the placement changes nothing there.
        OverrideMatchesNothing = "override-matches-nothing", "FS708";
        /// An override cannot be applied to an object of the snapshot.
        OverrideNotApplicable = "override-not-applicable", "FS509";
        /// An envelope of the snapshot cannot be opened.
        EnvelopeInvalid = "envelope-content-invalid", "FS512";
        /// An object changes in a field that Kubernetes does not let change.
        ImmutableFieldChanged = "immutable-field-changed", "FS712";
        /// An object is in the content plainly and in an envelope, or in several envelopes.
        ObjectTwice = "object-twice", "FS508";
        /// A workload's own settings keep its pods from getting the new template.
        WorkloadHeld = "workload-held", "FS501";
        /// The run deletes the definition or the namespace of an object that stays in the content.
        NeededObjectDeleted = "needed-object-deleted", "FS711";
        /// Clusters that keep the placement lose a namespace, or a definition of custom resources, and
        /// what is in it.
        CascadingDeletion = "cascading-deletion", "FS711";
        /// Clusters that lose the placement lose a namespace with it, and what others have brought into it.
        CascadingRemoval = "cascading-removal";
        /// Clusters that were only compared lose the placement, and the objects that were there before go with it.
        ComparedObjectsDeleted = "compared-objects-deleted";
        /// Objects move to another Work: KubeFleet may delete them and create them again.
        ObjectsMoved = "objects-moved";
        /// Objects are written in another API version: KubeFleet deletes them and creates them again.
        ObjectsRecreated = "objects-recreated";
        /// A stage has no clusters.
        StageEmpty = "stage-empty", "FS611";
        /// Several stages have the same name, and share their approval requests.
        StageNameTwice = "stage-name-twice";
        /// Another strategy keeps the hub agent from seeing new and changed ones.
        StrategyUnreadable = "strategy-unreadable", "FS125";
        /// The strategy has a field that this version does not know.
        FieldUnknown = "field-unknown";
        /// The strategy has tasks before the placement is removed from clusters.
        RemovalGate = "removal-gate";
        /// The hub ignores `spec.state`: every run starts at once.
        StateIgnoredByHub = "state-ignored-by-hub", "FS608";
        /// No placement delivers the namespace to clusters.
        NamespaceNotDelivered = "namespace-not-delivered", "FS503";
        /// Another placement has put an object into clusters that the run would bring there.
        ObjectOfAnotherPlacement = "object-owned-by-another-placement", "FS508";
        /// An earlier Work has the name that the next one needs, and is still being deleted.
        EarlierWorkRemains = "earlier-work-remains", "FS530";
        /// Clusters have what the run would bring, and it fails there.
        ClusterFailing = "cluster-failing";
        /// What others did on clusters keeps them from what they were sent, and may keep them from other content.
        ClusterHeld = "cluster-held";
        /// Server-side apply leaves fields that client-side apply has written and the hub has removed.
        FieldsRemain = "fields-remain";
        /// Bindings of clusters are being deleted: a run that writes one of them fails.
        BindingDeleted = "binding-deleted";
        /// The scheduler changed bindings: the hub agent sends to their clusters only at its next try.
        ContentSentLate = "content-sent-late", "FS532";
        /// Member agents have stopped reporting.
        MemberAgentSilent = "member-agent-silent", "FS516";
        /// Member agents report that their cluster is not healthy.
        MemberClusterUnhealthy = "member-cluster-unhealthy", "FS517";
        /// Member clusters are leaving the fleet.
        MemberClusterLeaving = "member-cluster-leaving", "FS518";
        /// The run may outgrow what etcd stores.
        RunTooLarge = "run-too-large";
        /// The placement's status may outgrow what etcd stores.
        PlacementStatusTooLarge = "placement-status-too-large";
        /// The policy snapshot cannot list all clusters.
        DecisionsCut = "policy-decisions-cut";
    }
}

impl<K: PointKind> PlanPoint<K> {
    /// A point about an object.
    pub fn new(kind: K, subject: impl Into<Subject>, message: impl Into<String>) -> Self {
        Self::of(kind, Problem::new(subject, message))
    }

    pub fn of(kind: K, problem: Problem) -> Self {
        Self {
            kind,
            code: kind.code().map(str::to_owned),
            subject: problem.subject,
            stage: problem.stage,
            clusters: problem.clusters,
            message: problem.message,
            evidence: problem.evidence,
            remedies: problem.remedies,
        }
    }
}

impl WarningKind {
    /// The content for which a run would be stuck on clusters that are well.
    pub const CONTENT_REFUSED: [Self; 5] = [
        Self::ImmutableFieldChanged,
        Self::ObjectTwice,
        Self::NeededObjectDeleted,
        Self::EnvelopeInvalid,
        Self::ObjectOfAnotherPlacement,
    ];
}

impl Warning {
    /// Whether a script is not let start the run, unless it takes the risk with a flag; `is_named` where it names
    /// the snapshot.
    pub fn stops_scripts(&self, is_named: bool) -> bool {
        match self.kind {
            WarningKind::ClustersGoBack
            | WarningKind::StrategyUnreadable
            | WarningKind::OverrideNotApplicable => true,
            WarningKind::CascadingDeletion
            | WarningKind::ComparedObjectsDeleted
            | WarningKind::SnapshotEmpty
            | WarningKind::SnapshotNameReused
            | WarningKind::SnapshotRolledBack => !is_named,
            WarningKind::BindingDeleted | WarningKind::MemberClusterLeaving => self.passes(),
            WarningKind::GateDropped => self.is_of_source(),
            kind => WarningKind::CONTENT_REFUSED.contains(&kind),
        }
    }

    /// Whether it is of the run that the planned one is made of, which is not over.
    pub fn is_of_source(&self) -> bool {
        !self.remedies.is_empty()
    }

    /// Whether a step waits until it is over.
    pub fn passes(&self) -> bool {
        self.remedies.iter().any(|step| step.command.is_some())
    }
}

composed!(PlanPoint<K>);
