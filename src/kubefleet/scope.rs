//! Scope is one value: kind, namespace and words follow from it.

use std::fmt;

use super::kind::{Concept, Kind};
use crate::words::CommandLine;

/// Where a run and everything that belongs to it lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scope {
    /// ClusterStagedUpdateRun, ClusterResourcePlacement, …
    #[default]
    Cluster,
    /// StagedUpdateRun, ResourcePlacement, … in this namespace.
    Namespace(String),
}

impl Scope {
    /// The scope of an object with this namespace; empty means cluster scope.
    pub fn of_namespace(namespace: &str) -> Self {
        if namespace.is_empty() {
            Self::Cluster
        } else {
            Self::Namespace(namespace.to_owned())
        }
    }

    pub const fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster)
    }

    /// The namespace; empty in cluster scope.
    pub fn namespace(&self) -> &str {
        match self {
            Self::Cluster => "",
            Self::Namespace(namespace) => namespace,
        }
    }

    /// The kind of a concept in this scope. Works and MemberClusters are the same in both.
    pub fn kind(&self, concept: Concept) -> Kind {
        // Every concept but the two override snapshots has a kind in both scopes, and those two
        // are asked for by kind.
        self.find(concept).unwrap_or(match concept {
            Concept::ClusterOverrideSnapshot => Kind::ClusterResourceOverrideSnapshot,
            Concept::OverrideSnapshot => Kind::ResourceOverrideSnapshot,
            _ => Kind::MemberCluster,
        })
    }

    /// The kind of a concept in this scope; `None` where the concept exists in the other one only.
    pub fn find(&self, concept: Concept) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| {
            kind.concept() == concept
                && (kind.is_namespaced() != self.is_cluster()
                    || matches!(concept, Concept::Work | Concept::MemberCluster))
        })
    }

    /// Whether a kind is that of placements or bindings of the other scope: beside a namespaced placement, those
    /// bring its namespace.
    pub fn is_beside(&self, kind: Kind) -> bool {
        let concept = kind.concept();
        matches!(concept, Concept::Placement | Concept::Binding) && kind != self.kind(concept)
    }

    pub fn object(&self, concept: Concept, name: &str) -> ObjectRef {
        let kind = self.kind(concept);
        let namespace = if kind.is_namespaced() {
            self.namespace()
        } else {
            ""
        };
        ObjectRef::new(kind, namespace, name)
    }

    /// One of our commands about this scope: `kubectl fleet-stage VERB [-n NAMESPACE]`.
    pub fn fleet(&self, verb: &'static str) -> CommandLine {
        CommandLine::fleet(verb).namespace(self.namespace())
    }

    /// The flag that selects this scope: empty, or ` -n NAMESPACE` with its leading space.
    pub fn flag(&self) -> String {
        match self {
            Self::Cluster => String::new(),
            Self::Namespace(namespace) => format!(" -n {namespace}"),
        }
    }
}

/// The name of one object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    pub kind: Kind,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    pub name: String,
}

/// The commands that write in the version that kubectl prefers. The v1 of KubeFleet 0.1 and 0.2 does not
/// know a placement with the strategy External. Measured on a hub.
const WRITES: [&str; 2] = ["edit", "patch"];

impl ObjectRef {
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The scope that the object belongs to.
    pub fn scope(&self) -> Scope {
        Scope::of_namespace(&self.namespace)
    }

    /// One of our commands about it: `kubectl fleet-stage VERB NAME [-n NAMESPACE]`.
    pub fn fleet(&self, verb: &'static str) -> CommandLine {
        self.scope().fleet(verb).arg(&self.name)
    }

    /// One of kubectl's commands about it: `kubectl VERB KIND NAME [-n NAMESPACE]`.
    pub fn kubectl(&self, verb: &'static str) -> CommandLine {
        let command = CommandLine::kubectl(verb);
        let command = if self.kind.concept() == Concept::Placement && WRITES.contains(&verb) {
            let (kind, group) = (self.kind.plural(), self.kind.group());
            command.arg(format!("{kind}.v1beta1.{group}"))
        } else {
            command.arg(self.kind.for_kubectl())
        };
        command.arg(&self.name).namespace(&self.namespace)
    }

    /// Whether the hub allows something to be done to it: `kubectl auth can-i VERB KIND`.
    pub fn can_i(&self, verb: &str) -> CommandLine {
        self.kind.can_i(verb).namespace(&self.namespace)
    }

    /// With its kind, so that nothing else of that name is meant: `crp/NAME`.
    pub fn word(&self) -> String {
        format!("{}/{}", self.kind.short_word(), self.name)
    }

    /// Its name, with its namespace before it.
    pub fn qualified_name(&self) -> String {
        qualified_name(&self.namespace, &self.name)
    }

    /// The flag that selects its namespace: empty, or ` -n NAMESPACE` with its leading space.
    pub fn flag(&self) -> String {
        self.scope().flag()
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe_object(
            self.kind.name(),
            &self.namespace,
            &self.name,
        ))
    }
}

/// `GROUP/KIND NAMESPACE/NAME` in the reader's short form: `Deployment shop/web`.
pub fn describe_object(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind} {}", qualified_name(namespace, name))
}

/// `NAMESPACE/NAME`, or the name alone of what is in no namespace.
pub fn qualified_name(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}/{name}")
    }
}
