//! The kinds that the controllers work with, and the one value that tells the two scopes apart.

macro_rules! kinds {
    ($($kind:ident $plural:literal)*) => {
        /// A kind of object, as the API server serves it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)] // the names are KubeFleet's own
        pub enum Kind {
            $($kind,)*
        }

        impl Kind {
            /// Every kind that the controllers watch.
            pub const ALL: [Self; [$($plural),*].len()] = [$(Self::$kind),*];

            /// Kind and plural.
            pub(crate) fn names(self) -> (&'static str, &'static str) {
                match self {
                    $(Self::$kind => (stringify!($kind), $plural),)*
                }
            }
        }
    };
}

kinds! {
    ClusterStagedUpdateRun "clusterstagedupdateruns"
    ClusterStagedUpdateStrategy "clusterstagedupdatestrategies"
    ClusterApprovalRequest "clusterapprovalrequests"
    ClusterResourcePlacement "clusterresourceplacements"
    ClusterResourceBinding "clusterresourcebindings"
    ClusterResourceSnapshot "clusterresourcesnapshots"
    ClusterSchedulingPolicySnapshot "clusterschedulingpolicysnapshots"
    StagedUpdateRun "stagedupdateruns"
    StagedUpdateStrategy "stagedupdatestrategies"
    ApprovalRequest "approvalrequests"
    ResourcePlacement "resourceplacements"
    ResourceBinding "resourcebindings"
    ResourceSnapshot "resourcesnapshots"
    SchedulingPolicySnapshot "schedulingpolicysnapshots"
    Work "works"
    MemberCluster "memberclusters"
    Namespace "namespaces"
}

impl Kind {
    /// `group/version`, or `v1`.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Namespace => "v1",
            Self::MemberCluster => "cluster.kubernetes-fleet.io/v1beta1",
            _ => "placement.kubernetes-fleet.io/v1beta1",
        }
    }

    /// The kind's name.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Whether it belongs to staged update runs, which old hubs serve at another version.
    pub(crate) fn is_staged(self) -> bool {
        self.name().contains("Staged") || self.name().ends_with("ApprovalRequest")
    }
}

/// Cluster-wide, or in one namespace. Which kinds take part follows from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// `ClusterStagedUpdateRun` and its relatives.
    Cluster,
    /// `StagedUpdateRun` and its relatives in this namespace.
    Namespace(String),
}

/// The kinds of one scope.
pub struct Kinds {
    pub(crate) run: Kind,
    pub(crate) strategy: Kind,
    pub(crate) approval: Kind,
    pub(crate) placement: Kind,
    pub(crate) binding: Kind,
    pub(crate) resource_snapshot: Kind,
    pub(crate) policy_snapshot: Kind,
}

const CLUSTER: Kinds = Kinds {
    run: Kind::ClusterStagedUpdateRun,
    strategy: Kind::ClusterStagedUpdateStrategy,
    approval: Kind::ClusterApprovalRequest,
    placement: Kind::ClusterResourcePlacement,
    binding: Kind::ClusterResourceBinding,
    resource_snapshot: Kind::ClusterResourceSnapshot,
    policy_snapshot: Kind::ClusterSchedulingPolicySnapshot,
};

const NAMESPACED: Kinds = Kinds {
    run: Kind::StagedUpdateRun,
    strategy: Kind::StagedUpdateStrategy,
    approval: Kind::ApprovalRequest,
    placement: Kind::ResourcePlacement,
    binding: Kind::ResourceBinding,
    resource_snapshot: Kind::ResourceSnapshot,
    policy_snapshot: Kind::SchedulingPolicySnapshot,
};

impl Scope {
    /// The scope of an object in `namespace`, which is empty for objects without one.
    pub fn of(namespace: &str) -> Self {
        if namespace.is_empty() {
            Self::Cluster
        } else {
            Self::Namespace(namespace.to_owned())
        }
    }

    /// The namespace, or nothing.
    pub fn namespace(&self) -> &str {
        match self {
            Self::Cluster => "",
            Self::Namespace(name) => name,
        }
    }

    pub(crate) fn kinds(&self) -> &'static Kinds {
        match self {
            Self::Cluster => &CLUSTER,
            Self::Namespace(_) => &NAMESPACED,
        }
    }

    /// `namespace/name` with a leading slash for cluster scope: how the controllers print the key
    /// of a placement or strategy.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.namespace())
    }

    /// `name`, or `namespace/name`: how the controllers print a reference to an object.
    pub(crate) fn reference(&self, name: &str) -> String {
        match self {
            Self::Cluster => name.to_owned(),
            Self::Namespace(namespace) => format!("{namespace}/{name}"),
        }
    }
}
