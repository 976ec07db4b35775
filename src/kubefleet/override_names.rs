//! The override snapshots that a binding, or a run for one cluster, names.

use super::kind::Kind;
use super::scope::ObjectRef;
use super::tolerant::model;

model! {
    pub struct NamespacedName {
        pub name: String = "name",
        pub namespace: String = "namespace",
    }
}

/// The override snapshots of both lists: first those of the cluster scope, as KubeFleet applies them.
pub fn override_names<'o>(
    cluster: &'o [String],
    others: &'o [NamespacedName],
) -> impl Iterator<Item = ObjectRef> + 'o {
    let cluster = cluster.iter().map(|name| override_snapshot("", name));
    let others = others
        .iter()
        .map(|it| override_snapshot(&it.namespace, &it.name));
    cluster.chain(others)
}

/// An override snapshot; one without a namespace is of the cluster scope.
pub(super) fn override_snapshot(namespace: &str, name: &str) -> ObjectRef {
    let kind = if namespace.is_empty() {
        Kind::ClusterResourceOverrideSnapshot
    } else {
        Kind::ResourceOverrideSnapshot
    };
    ObjectRef::new(kind, namespace, name)
}
