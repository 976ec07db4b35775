//! The permissions of the roles, as manifests that a hub takes.

use std::collections::BTreeSet;

use super::{Role, Verb, of_role};
use crate::kubefleet::kind::PLACEMENT_GROUP;
use crate::kubefleet::{Kind, Scope};
use crate::words::by_key;

/// What begins the name of every role.
const PREFIX: &str = "fleet-stage";

type RbacRules = BTreeSet<(&'static str, String, Verb)>;

/// A role as `doctor --rbac` prints it: a ClusterRole, and with a namespace a Role for it beside a
/// ClusterRole for what belongs to none of them.
pub fn role_manifest(role: Role, namespace: Option<&str>) -> String {
    let Some(namespace) = namespace else {
        return everywhere(role);
    };
    format!("{}---\n{}", beside(), in_namespace(role, Some(namespace)))
}

/// The ClusterRole of a role in cluster scope.
pub fn everywhere(role: Role) -> String {
    let metadata = format!("  name: {}\n", name(role));
    manifest("ClusterRole", &metadata, &rules(role, &Scope::Cluster).1)
}

/// The Role of a role in one namespace; without its name it goes where `kubectl apply -n` says.
pub fn in_namespace(role: Role, namespace: Option<&str>) -> String {
    let namespace = namespace.map_or_else(String::new, |name| format!("  namespace: {name}\n"));
    let metadata = format!("  name: {}\n{namespace}", name(role));
    manifest("Role", &metadata, &of_any_namespace(role))
}

/// The ClusterRole that goes with the Roles: the member clusters and what else lies outside of the
/// namespace. Without it a command says that it could not check these.
pub fn beside() -> String {
    let metadata = format!("  name: {PREFIX}-members\n");
    let scope = Scope::of_namespace("any");
    manifest("ClusterRole", &metadata, &rules(Role::Operator, &scope).1)
}

/// What the hub's own `view` and `edit` get, for those who own a namespace.
pub fn aggregated() -> String {
    let part = |role: Role, to: &str| {
        let metadata = format!(
            "  name: {PREFIX}-aggregate-to-{to}\n  labels:\n    \
             rbac.authorization.k8s.io/aggregate-to-{to}: \"true\"\n"
        );
        manifest("ClusterRole", &metadata, &of_any_namespace(role))
    };
    format!(
        "{}---\n{}",
        part(Role::Viewer, "view"),
        part(Role::Operator, "edit")
    )
}

fn name(role: Role) -> String {
    format!("{PREFIX}-{}", role.as_str())
}

fn of_any_namespace(role: Role) -> RbacRules {
    rules(role, &Scope::of_namespace("any")).0
}

fn rules(role: Role, scope: &Scope) -> (RbacRules, RbacRules) {
    let mut namespaced = RbacRules::new();
    let mut cluster = RbacRules::new();
    for (verb, concept) in of_role(role) {
        let kind = scope.kind(concept);
        let rule = (kind.group(), verb.resource(kind), verb);
        // Works live in the members' namespaces, never in the placement's own.
        if *scope != Scope::Cluster && kind.is_namespaced() && kind != Kind::Work {
            namespaced.insert(rule);
        } else {
            cluster.insert(rule);
        }
    }
    (namespaced, cluster)
}

fn manifest(kind: &str, metadata: &str, rules: &RbacRules) -> String {
    let mut text = format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n{metadata}rules:\n"
    );
    let rules = rules.iter();
    let verbs = by_key(rules.map(|(group, resource, verb)| ((*group, resource.as_str()), *verb)));
    // Resources with the same verbs share a rule.
    let rules = by_key(verbs.into_iter().map(|((group, resource), verbs)| {
        let rule = (group != PLACEMENT_GROUP, group, verbs);
        (rule, resource)
    }));
    for ((_, group, verbs), resources) in rules {
        let verbs: Vec<_> = verbs.iter().map(|verb| verb.as_str()).collect();
        let lines = [
            format!("- apiGroups: [{group}]\n  resources:\n  - "),
            resources.join("\n  - "),
            format!("\n  verbs: [{}]\n", verbs.join(", ")),
        ];
        text.push_str(&lines.concat());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{aggregated, everywhere, role_manifest};
    use crate::commands::about::permissions::Role;

    #[test]
    fn a_namespaced_viewer_sees_the_works_of_the_members() {
        let text = role_manifest(Role::Viewer, Some("team-a"));
        let (cluster, namespaced) = text.split_once("---\n").unwrap();
        assert!(cluster.contains("  - works\n"), "{cluster}");
        assert!(cluster.contains("  - memberclusters\n"), "{cluster}");
        assert!(!cluster.contains("stagedupdateruns"), "{cluster}");
        assert!(namespaced.contains("namespace: team-a\n"), "{namespaced}");
        assert!(
            namespaced.contains("  - stagedupdateruns\n"),
            "{namespaced}"
        );
        assert!(!namespaced.contains("  - works\n"), "{namespaced}");
    }

    #[test]
    fn a_viewer_only_reads() {
        let text = everywhere(Role::Viewer);
        let verbs: Vec<_> = text
            .lines()
            .filter(|line| line.contains("verbs:"))
            .collect();
        assert!(!verbs.is_empty());
        for line in verbs {
            for word in ["create", "update", "patch", "delete", "*"] {
                assert!(!line.contains(word), "{line}");
            }
        }
    }

    #[test]
    fn who_owns_a_namespace_gets_nothing_outside_of_it() {
        let text = aggregated();
        for word in ["memberclusters", "works", "clusterstagedupdateruns"] {
            assert!(!text.contains(word), "{word}");
        }
        assert_eq!(text.matches("aggregate-to-edit: \"true\"").count(), 1);
    }
}
