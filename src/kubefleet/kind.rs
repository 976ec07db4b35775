//! The kinds that the walk reads: one table for names, plurals, groups and served versions.

use std::fmt;

use crate::words::CommandLine;

/// The group of placements, update runs and everything that belongs to them.
pub const PLACEMENT_GROUP: &str = "placement.kubernetes-fleet.io";
/// The group of member clusters.
pub const CLUSTER_GROUP: &str = "cluster.kubernetes-fleet.io";

/// What an object is, whatever its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Concept {
    /// ClusterStagedUpdateRun, StagedUpdateRun.
    UpdateRun,
    /// ClusterStagedUpdateStrategy, StagedUpdateStrategy.
    Strategy,
    /// ClusterApprovalRequest, ApprovalRequest.
    ApprovalRequest,
    /// ClusterResourcePlacement, ResourcePlacement.
    Placement,
    /// ClusterResourceBinding, ResourceBinding.
    Binding,
    /// ClusterResourceSnapshot, ResourceSnapshot.
    ResourceSnapshot,
    /// ClusterSchedulingPolicySnapshot, SchedulingPolicySnapshot.
    PolicySnapshot,
    /// ClusterResourceOverrideSnapshot: overrides cluster-scoped objects and whole namespaces.
    ClusterOverrideSnapshot,
    /// ResourceOverrideSnapshot: overrides objects of one namespace.
    OverrideSnapshot,
    /// Work, in the namespace `fleet-member-CLUSTER`.
    Work,
    MemberCluster,
}

impl Concept {
    /// The word for several of them.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::UpdateRun => "update runs",
            Self::Strategy => "strategies",
            Self::ApprovalRequest => "approval requests",
            Self::Placement => "placements",
            Self::Binding => "bindings",
            Self::ResourceSnapshot => "resource snapshots",
            Self::PolicySnapshot => "policy snapshots",
            Self::ClusterOverrideSnapshot | Self::OverrideSnapshot => "override snapshots",
            Self::Work => "works",
            Self::MemberCluster => "member clusters",
        }
    }
}

macro_rules! kinds {
    ($( $variant:ident, $plural:literal, [$($short:literal),*], $group:ident, $namespaced:literal, $concept:ident, $versions:expr; )*) => {
        /// A kind that the walk reads.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)] // the names are KubeFleet's
        pub enum Kind { $($variant),* }

        impl Kind {
            /// Every kind, in the order in which a bundle lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The kind's name in a manifest.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant)),* }
            }

            /// The plural under which the API serves it.
            pub const fn plural(self) -> &'static str {
                match self { $(Self::$variant => $plural),* }
            }

            pub const fn group(self) -> &'static str {
                match self { $(Self::$variant => $group),* }
            }

            /// The short names that the CRD declares; the first is the one for hints.
            pub const fn short_names(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($short),*]),* }
            }

            /// The word that is quickest to type.
            pub fn short_word(self) -> &'static str {
                self.short_names().first().copied().unwrap_or(self.plural())
            }

            /// Whether its objects live in a namespace.
            pub const fn is_namespaced(self) -> bool {
                match self { $(Self::$variant => $namespaced),* }
            }

            /// What it is, whatever its scope.
            pub const fn concept(self) -> Concept {
                match self { $(Self::$variant => Concept::$concept),* }
            }

            /// The versions that may be served, the one to read first. See `docs/decisions/`.
            pub const fn versions(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $versions),* }
            }
        }
    };
}

const B1_A1: &[&str] = &["v1beta1", "v1", "v1alpha1"];
const B1: &[&str] = &["v1beta1", "v1"];

kinds! {
    ClusterStagedUpdateRun, "clusterstagedupdateruns", ["csur"], PLACEMENT_GROUP, false, UpdateRun, B1_A1;
    StagedUpdateRun, "stagedupdateruns", ["sur"], PLACEMENT_GROUP, true, UpdateRun, B1_A1;
    ClusterStagedUpdateStrategy, "clusterstagedupdatestrategies", ["csus"], PLACEMENT_GROUP, false, Strategy, B1_A1;
    StagedUpdateStrategy, "stagedupdatestrategies", ["sus"], PLACEMENT_GROUP, true, Strategy, B1_A1;
    ClusterApprovalRequest, "clusterapprovalrequests", ["careq"], PLACEMENT_GROUP, false, ApprovalRequest, B1_A1;
    ApprovalRequest, "approvalrequests", ["areq"], PLACEMENT_GROUP, true, ApprovalRequest, B1_A1;
    ClusterResourcePlacement, "clusterresourceplacements", ["crp"], PLACEMENT_GROUP, false, Placement, B1;
    ResourcePlacement, "resourceplacements", ["rp"], PLACEMENT_GROUP, true, Placement, B1;
    ClusterResourceBinding, "clusterresourcebindings", ["crb"], PLACEMENT_GROUP, false, Binding, B1;
    ResourceBinding, "resourcebindings", ["rb"], PLACEMENT_GROUP, true, Binding, B1;
    ClusterResourceSnapshot, "clusterresourcesnapshots", ["crs"], PLACEMENT_GROUP, false, ResourceSnapshot, B1;
    ResourceSnapshot, "resourcesnapshots", ["rs"], PLACEMENT_GROUP, true, ResourceSnapshot, B1;
    ClusterSchedulingPolicySnapshot, "clusterschedulingpolicysnapshots", ["csps"], PLACEMENT_GROUP, false, PolicySnapshot, B1;
    SchedulingPolicySnapshot, "schedulingpolicysnapshots", ["sps"], PLACEMENT_GROUP, true, PolicySnapshot, B1;
    ClusterResourceOverrideSnapshot, "clusterresourceoverridesnapshots", [], PLACEMENT_GROUP, false, ClusterOverrideSnapshot, B1_A1;
    ResourceOverrideSnapshot, "resourceoverridesnapshots", [], PLACEMENT_GROUP, true, OverrideSnapshot, B1_A1;
    Work, "works", [], PLACEMENT_GROUP, true, Work, B1;
    MemberCluster, "memberclusters", ["cluster"], CLUSTER_GROUP, false, MemberCluster, B1;
}

impl Kind {
    /// The kind of override from which snapshots of this kind are made; the kind itself for others.
    pub const fn origin_kind(self) -> &'static str {
        match self {
            Self::ClusterResourceOverrideSnapshot => "ClusterResourceOverride",
            Self::ResourceOverrideSnapshot => "ResourceOverride",
            _ => self.name(),
        }
    }

    /// The same as kubectl takes it.
    pub const fn origin(self) -> &'static str {
        match self {
            Self::ClusterResourceOverrideSnapshot => {
                "clusterresourceoverrides.placement.kubernetes-fleet.io"
            }
            Self::ResourceOverrideSnapshot => "resourceoverrides.placement.kubernetes-fleet.io",
            _ => self.plural(),
        }
    }
}

impl Kind {
    /// Whether a hub holds many of them for one placement, or large ones.
    pub const fn is_large(self) -> bool {
        matches!(
            self.concept(),
            Concept::Binding | Concept::ResourceSnapshot | Concept::Work
        )
    }

    /// The kind of that name, in one of KubeFleet's groups.
    pub fn find(group: &str, name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == name && kind.group() == group)
    }

    /// The kind of that name: the names are unique among the kinds that the walk reads.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The kind that a user means by `word`: its name, plural, singular or short name, with or
    /// without the group, in any case, as kubectl takes them.
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let (word, group) = word
            .split_once('.')
            .map_or((word.as_str(), None), |(w, g)| (w, Some(g)));
        Self::ALL.iter().copied().find(|kind| {
            (word == kind.plural()
                || word == kind.name().to_ascii_lowercase()
                || kind.short_names().contains(&word))
                && group.is_none_or(|group| group.ends_with(kind.group()))
        })
    }

    /// Whether the hub allows something to be done to objects of the kind.
    pub fn can_i(self, verb: &str) -> CommandLine {
        let kind = format!("{}.{}", self.plural(), self.group());
        CommandLine::kubectl("auth can-i").arg(verb).arg(kind)
    }

    /// The name for a remedy's command: a plural with its group where another group serves the
    /// same plural (`works`), else the plural.
    pub const fn for_kubectl(self) -> &'static str {
        match self {
            Self::Work => "works.placement.kubernetes-fleet.io",
            _ => self.plural(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The group of an `apiVersion`; empty for the core group.
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The `apiVersion` of a group and a version.
pub fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}
