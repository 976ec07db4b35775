//! What shows that a member cluster is not heard, or goes.

use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::{Conditions, reasons};
use crate::report::ComposeText;

/// Adds when the agent of a cluster was heard last.
pub fn last_heard<B: ComposeText>(build: B, member: &MemberCluster) -> B {
    let path = "status.agentStatus[type=MemberAgent].lastReceivedHeartbeat";
    match member.agent().and_then(|agent| agent.heartbeat) {
        Some(heartbeat) => build.evidence(member.object(), path, heartbeat),
        None => build,
    }
}

/// Adds what shows that a cluster is leaving the fleet, or has left it.
pub fn leaving<B: ComposeText>(mut build: B, member: &MemberCluster) -> B {
    let object = member.object();
    build = build.known(&object, "metadata.deletionTimestamp", member.meta.deleted);
    match member.status.conditions.condition(reasons::JOINED) {
        Some(joined) => build.condition(&object, joined),
        None => build,
    }
}
