//! Commands that several rules suggest.

use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::{Concept, Kind, ObjectRef, names};
use crate::rollout::overrides::origin;
use crate::words::Command;

/// Lets update runs roll a placement out.
pub fn make_external(placement: &ObjectRef) -> Command {
    let patch = r#"{"spec":{"strategy":{"type":"External"}}}"#;
    let command = placement.kubectl("patch").flag("--type", "merge");
    command.flag("-p", patch)
}

/// How long kubectl waits; its default is half a minute.
const PATIENCE: &str = "10m";

/// Waits until the scheduler has picked a placement's clusters.
pub fn wait_until_scheduled(placement: &ObjectRef) -> Command {
    let condition = format!("condition={}Scheduled", placement.kind);
    let command = placement.kubectl("wait").joined("--for", condition);
    command.joined("--timeout", PATIENCE)
}

/// Lists what belongs to a placement.
pub fn of_placement(placement: &ObjectRef, concept: Concept) -> Command {
    let kind = placement.scope().kind(concept);
    let label = format!("{}={}", names::PARENT_PLACEMENT, placement.name);
    let command = Command::kubectl("get").arg(kind.for_kubectl());
    command.namespace(&placement.namespace).flag("-l", label)
}

/// Shows the override from which a snapshot was made.
pub fn see_override(snapshot: &OverrideSnapshot) -> Command {
    Command::kubectl("get")
        .arg(snapshot.object().kind.origin())
        .arg(origin(snapshot))
        .namespace(&snapshot.meta.namespace)
        .flag("-o", "yaml")
}

/// Lists the member clusters with their labels.
pub fn show_labels() -> Command {
    let command = Command::kubectl("get").arg(Kind::MemberCluster.for_kubectl());
    command.switch("--show-labels")
}

pub fn member_clusters() -> Command {
    Command::kubectl("get").arg(Kind::MemberCluster.for_kubectl())
}

pub fn label(cluster: &str, entry: impl Into<String>) -> Command {
    let command = Command::kubectl("label").arg(Kind::MemberCluster.for_kubectl());
    command.arg(cluster).arg(entry)
}

/// Lists the Works of all member clusters.
pub fn works() -> Command {
    let command = Command::kubectl("get").arg(Kind::Work.for_kubectl());
    command.switch("-A")
}

/// Lists the Works that are sent to a member cluster.
pub fn works_for(cluster: &str) -> Command {
    let command = Command::kubectl("get").arg(Kind::Work.for_kubectl());
    command.namespace(names::member_namespace(cluster))
}

/// Shows a namespace of the hub, with what keeps it.
pub fn namespace(name: &str) -> Command {
    let command = Command::kubectl("get").arg("namespace").arg(name);
    command.flag("-o", "yaml")
}

/// Shows the agent of a member cluster.
pub fn member_agent(cluster: &str) -> Command {
    let command = Command::member(cluster, "get").arg("pods");
    command.namespace(names::AGENT_NAMESPACE)
}

/// Shows the controllers on the hub.
pub fn hub_agent() -> Command {
    let command = Command::kubectl("get").arg("pods");
    command.namespace(names::AGENT_NAMESPACE)
}
