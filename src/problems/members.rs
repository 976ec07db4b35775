//! What shows that a member cluster is not heard, or goes.

use std::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};

use crate::inventory::Inventory;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::{Conditions, duration, reasons};
use crate::problems::steps;
use crate::report::{ComposeText, Remedy};
use crate::rollout::{ClusterState, ClusterView, Rollout};
use crate::words::{by_number, enumerate};

/// Adds when the agent of a cluster was heard last.
pub fn last_heard<B: ComposeText>(build: B, member: &MemberCluster) -> B {
    let path = "status.agentStatus[type=MemberAgent].lastReceivedHeartbeat";
    build.known(member.object(), path, member.heard())
}

/// When a silent agent reported last, as what is said of it.
pub fn last_report(member: &MemberCluster, silent: SignedDuration) -> String {
    match member.heard() {
        Some(_) => format!("last reported {} ago", duration::describe(silent)),
        None => "has never reported".to_owned(),
    }
}

/// Adds what shows that a cluster is leaving the fleet, or has left it.
pub fn leaving<B: ComposeText>(build: B, member: &MemberCluster) -> B {
    let object = member.object();
    build
        .deleted(&object, member.meta.deleted)
        .condition(&object, member.status.conditions.condition(reasons::JOINED))
}

/// The step that comes before a new run while a cluster is being deleted. Its agent lets it go; without
/// the agent, the hub agent does, later.
/// Source: membercluster/v1beta1/membercluster_controller.go:handleDelete.
pub fn wait_until_gone(members: &[&MemberCluster], now: Timestamp) -> Option<Remedy> {
    let first = members.first()?;
    let names = || members.iter().map(|member| member.meta.name.as_str());
    let (are, them) = by_number(members.len(), ("is", "it"), ("are", "them"));
    let action = format!(
        "Wait until {} {are} gone: a run that is created before contains {them}.",
        enumerate(names())
    );
    let is_silent = members.iter().any(|it| it.silent_for(now).is_some());
    let (silent, patience) = if is_silent {
        let agent = by_number(members.len(), "Its agent", "An agent");
        (
            format!(" {agent} is silent, so this takes up to 15 minutes."),
            "20m",
        )
    } else {
        (String::new(), steps::PATIENCE)
    };
    let command = steps::wait_until_gone(&first.object(), names().skip(1), patience);
    Some(Remedy::look(action + &silent, command))
}

/// The clusters that the placement stays on, as far as the scheduler has noticed, and that are being deleted: a
/// run that is created now would still contain them.
pub fn going(inventory: &Inventory) -> Vec<&MemberCluster> {
    let placed = inventory.bindings.iter().filter(|it| !it.is_unscheduled());
    let members = placed.filter_map(|it| inventory.member(&it.spec.cluster));
    let mut going: Vec<_> = members.filter(|it| it.meta.is_deleting()).collect();
    going.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    going.dedup_by(|a, b| a.meta.name == b.meta.name);
    going
}

/// Since when no agent at all is heard, where one counts as silent: then the fault is hardly theirs. They
/// count as silent one after the other, because each reports at a time of its own.
pub fn all_silent_since<'m>(
    fleet: impl Iterator<Item = &'m MemberCluster>,
    now: Timestamp,
) -> Option<Timestamp> {
    let heard = fleet.filter_map(|it| Some((it, it.heard()?)));
    let heard: Vec<_> = heard.collect();
    let is_so = heard.len() > 1
        && heard.iter().any(|(it, _)| it.silent_for(now).is_some())
        && heard.iter().all(|(it, _)| it.is_late(now));
    let newest = heard.iter().map(|(_, heard)| *heard).max();
    newest.filter(|_| is_so)
}

/// Whether a run stalls at a cluster: its agent is silent, or says that it is not healthy.
pub fn stalls(member: &MemberCluster, now: Timestamp) -> bool {
    member.silent_for(now).is_some() || member.unhealthy().is_some()
}

/// Member clusters at which a run would fail or stall, each in one of the lists.
#[derive(Default)]
pub struct TroubledMembers<'m> {
    pub leaving: Vec<&'m MemberCluster>,
    /// Those whose agents are silent, and for how long, the longest first.
    pub silent: Vec<(&'m MemberCluster, SignedDuration)>,
    /// Those whose agents report that their clusters are not healthy.
    pub unhealthy: Vec<&'m MemberCluster>,
    /// For how long no agent of the fleet is heard, where that is so.
    pub unheard: Option<SignedDuration>,
}

impl<'m> TroubledMembers<'m> {
    /// Sorts members, which are of a fleet.
    pub fn of<'f>(
        members: impl IntoIterator<Item = &'m MemberCluster>,
        fleet: impl Iterator<Item = &'f MemberCluster>,
        now: Timestamp,
    ) -> Self {
        let unheard = all_silent_since(fleet, now);
        let mut troubled = Self {
            unheard: unheard.map(|since| now.duration_since(since)),
            ..Self::default()
        };
        for member in members {
            if member.is_leaving() {
                troubled.leaving.push(member);
            } else if let Some(silent) = member.silent_for(now) {
                troubled.silent.push((member, silent));
            } else if member.unhealthy().is_some() {
                troubled.unhealthy.push(member);
            }
        }
        troubled.silent.sort_by_key(|(_, silent)| Reverse(*silent));
        troubled
    }

    /// Of the clusters that a run has still to finish, and that are meant, and of those that it is done with and that
    /// are being deleted. A cluster that is sent nothing needs no agent for it.
    pub fn ahead(rollout: &Rollout<'m>, is_meant: impl Fn(&str) -> bool) -> Self {
        let is_leaving = |it: &ClusterView<'_>| it.member.is_some_and(MemberCluster::is_leaving);
        let ahead = rollout.updated_clusters().filter(|it| match it.state {
            ClusterState::Done => it.member.is_some_and(|member| member.meta.is_deleting()),
            _ => is_meant(it.name),
        });
        let ahead = ahead.filter(|it| is_leaving(it) || !it.is_sent_nothing());
        // The hub itself removes the placement from a cluster that leaves.
        let removal = rollout.stages.iter().filter(|stage| stage.deletes);
        let removed = removal.flat_map(|stage| &stage.clusters);
        let removed = removed.filter(|it| it.state != ClusterState::Done);
        let removed = removed.filter(|it| is_meant(it.name) && !is_leaving(it));
        let members = ahead.chain(removed).filter_map(|it| it.member);
        Self::of(members, rollout.inventory.members.iter(), rollout.now)
    }

    /// That clusters are leaving the fleet; `None` where none is.
    pub fn leaving_words(&self) -> Option<String> {
        let names = is_or_are(&self.leaving)?;
        Some(format!(
            "{names} leaving the fleet: a run fails when a cluster in its stages is gone."
        ))
    }

    /// That the API servers of clusters do not answer their agents; `None` where all do.
    pub fn unhealthy_words(&self) -> Option<String> {
        let names = is_or_are(&self.unhealthy)?;
        Some(format!(
            "{names} reported as unhealthy; the run will stall there."
        ))
    }

    /// That agents do not report; `None` where all do. That no agent of the fleet is heard concerns every
    /// run, whichever clusters it is to reach.
    pub fn silence_words(&self) -> Option<String> {
        if let Some(unheard) = self.unheard {
            return Some(format!(
                "no member agent has reported for {}: the hub agent, which receives the reports, may \
                 be down.",
                duration::describe(unheard)
            ));
        }
        let (first, longest) = self.silent.first()?;
        Some(match self.silent.len() {
            1 => format!(
                "the agent of {} {}; the run will stall there.",
                first.meta.name,
                last_report(first, *longest)
            ),
            several => format!(
                "the agents of {several} member clusters do not report ({}), one of them for {}; \
                 the run will stall there.",
                enumerate(self.silent.iter().map(|(member, _)| &member.meta.name)),
                duration::describe(*longest)
            ),
        })
    }
}

/// The names of clusters, and the verb that follows them; `None` where there are none.
fn is_or_are(members: &[&MemberCluster]) -> Option<String> {
    let verb = match members.len() {
        0 => return None,
        1 => "is",
        _ => "are",
    };
    let names = enumerate(members.iter().map(|member| &member.meta.name));
    Some(format!("{names} {verb}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::TroubledMembers;
    use crate::rollout::Rollout;
    use crate::rollout::life::tests::{
        OWN, SINCE, at, binding, inventory, member, placement, run, snapshot,
    };

    #[test]
    fn a_cluster_that_is_sent_nothing_needs_no_agent() {
        let troubled = |available: &str, is_leaving: bool, ended: Option<i64>| {
            let mut has = binding("0", 1_500);
            has["status"]["conditions"] = json!([{"type": "Available", "status": available}]);
            let mut member = member("member-1", 0);
            if is_leaving {
                member["metadata"]["deletionTimestamp"] = json!(at(100).to_string());
            }
            let started = ended.map(|_| 8_902);
            let new = run("new", "0", [Some(8_900), Some(8_901), started, ended]);
            let inventory = inventory(&[
                placement(),
                snapshot("0", OWN, Some(SINCE)),
                new,
                has,
                member,
            ]);
            let rollout = Rollout::of(&inventory, inventory.run_on("new").unwrap());
            let troubled = TroubledMembers::ahead(&rollout, |_| true);
            (troubled.silent.len(), troubled.leaving.len())
        };
        assert_eq!(troubled("True", false, None), (0, 0));
        assert_eq!(troubled("Unknown", false, None), (1, 0));
        assert_eq!(troubled("True", true, None), (0, 1));
        // Of those that the run is done with, only one that is being deleted ends it.
        assert_eq!(troubled("Unknown", false, Some(8_903)), (0, 0));
        assert_eq!(troubled("Unknown", true, Some(8_903)), (0, 1));
    }
}
