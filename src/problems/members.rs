//! What shows that a member cluster is not heard, or goes.

use std::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};

use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::{Conditions, duration, reasons};
use crate::report::ComposeText;
use crate::words::enumerate;

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

/// That clusters which a run is to reach are leaving the fleet.
pub fn leaving_words(leaving: &[&MemberCluster]) -> String {
    format!(
        "{} {} leaving the fleet: a run fails when a cluster in its stages is gone.",
        enumerate(leaving.iter().map(|member| &member.meta.name)),
        if leaving.len() == 1 { "is" } else { "are" }
    )
}

/// Whether a run stalls at a cluster: its agent is silent, or says that it is not healthy.
pub fn stalls(member: &MemberCluster, now: Timestamp) -> bool {
    member.silent_for(now).is_some() || member.unhealthy().is_some()
}

/// Those whose agent is silent, and for how long, the longest first.
pub fn silent<'m>(
    members: &[&'m MemberCluster],
    now: Timestamp,
) -> Vec<(&'m MemberCluster, SignedDuration)> {
    let mut silent: Vec<_> = members
        .iter()
        .filter_map(|member| Some((*member, member.silent_for(now)?)))
        .collect();
    silent.sort_by_key(|(_, silent)| Reverse(*silent));
    silent
}

/// Those whose agent reports, and says that its cluster is not healthy.
pub fn unhealthy<'m>(members: &[&'m MemberCluster], now: Timestamp) -> Vec<&'m MemberCluster> {
    let heard = members.iter().filter(|it| it.silent_for(now).is_none());
    let unhealthy = heard.filter(|it| it.unhealthy().is_some());
    unhealthy.copied().collect()
}

/// That the API servers of clusters do not answer their agents; `None` where there are none.
pub fn unhealthy_words(unhealthy: &[&MemberCluster]) -> Option<String> {
    (!unhealthy.is_empty()).then(|| {
        format!(
            "{} {} reported as unhealthy; the run will stall there.",
            enumerate(unhealthy.iter().map(|member| &member.meta.name)),
            if unhealthy.len() == 1 { "is" } else { "are" }
        )
    })
}

/// That their agents do not report; `None` where all do.
pub fn silence_words(silent: &[(&MemberCluster, SignedDuration)]) -> Option<String> {
    let (first, longest) = silent.first()?;
    let ago = duration::describe(*longest);
    Some(match silent.len() {
        1 => format!(
            "The agent of {} last reported {ago} ago; the run will stall there.",
            first.meta.name
        ),
        several => format!(
            "The agents of {several} member clusters do not report ({}), one of them for {ago}; the \
             run will stall there.",
            enumerate(silent.iter().map(|(member, _)| &member.meta.name))
        ),
    })
}
