//! The kinds that are read in a member cluster: one table for names, plurals, groups and versions.

use std::fmt;

use crate::kubefleet::kind::api_version;

macro_rules! kinds {
    ($( $variant:ident, $group:literal, $version:literal, $plural:literal, $namespaced:literal; )*) => {
        /// A kind that is read in a member cluster.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)] // the names are Kubernetes'
        pub enum MemberKind { $($variant),* }

        impl MemberKind {
            /// Every kind, in the order in which a bundle lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The kind's name in a manifest.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant)),* }
            }

            /// The API group; empty for the core group.
            pub const fn group(self) -> &'static str {
                match self { $(Self::$variant => $group),* }
            }

            /// The version that is read: every supported Kubernetes serves it.
            pub const fn version(self) -> &'static str {
                match self { $(Self::$variant => $version),* }
            }

            /// The plural under which the API serves it.
            pub const fn plural(self) -> &'static str {
                match self { $(Self::$variant => $plural),* }
            }

            /// Whether its objects live in a namespace.
            pub const fn is_namespaced(self) -> bool {
                match self { $(Self::$variant => $namespaced),* }
            }
        }
    };
}

kinds! {
    Deployment, "apps", "v1", "deployments", true;
    StatefulSet, "apps", "v1", "statefulsets", true;
    DaemonSet, "apps", "v1", "daemonsets", true;
    Service, "", "v1", "services", true;
    CustomResourceDefinition, "apiextensions.k8s.io", "v1", "customresourcedefinitions", false;
    PodDisruptionBudget, "policy", "v1", "poddisruptionbudgets", true;
    Job, "batch", "v1", "jobs", true;
    ReplicaSet, "apps", "v1", "replicasets", true;
    Pod, "", "v1", "pods", true;
    PersistentVolumeClaim, "", "v1", "persistentvolumeclaims", true;
    ResourceQuota, "", "v1", "resourcequotas", true;
    Event, "", "v1", "events", true;
    AppliedWork, "placement.kubernetes-fleet.io", "v1beta1", "appliedworks", false;
}

impl MemberKind {
    pub fn find(group: &str, name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == name && kind.group() == group)
    }

    /// Whether KubeFleet waits for objects of this kind to become available, so that one of them
    /// may hold up a rollout. Jobs, volumes and custom resources are not waited for.
    /// Source: workapplier/availability_tracker.go.
    pub const fn is_waited_for(self) -> bool {
        matches!(
            self,
            Self::Deployment
                | Self::StatefulSet
                | Self::DaemonSet
                | Self::Service
                | Self::CustomResourceDefinition
                | Self::PodDisruptionBudget
        )
    }

    /// What is done to it, as a role names it: one object is read, or a list.
    pub const fn verb(self) -> &'static str {
        if self.is_waited_for() || matches!(self, Self::AppliedWork | Self::Job) {
            "get"
        } else {
            "list"
        }
    }

    /// The `apiVersion` in a manifest.
    pub fn api_version(self) -> String {
        api_version(self.group(), self.version())
    }
}

impl fmt::Display for MemberKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
