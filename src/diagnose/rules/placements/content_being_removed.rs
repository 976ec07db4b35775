//! Content is being removed from member clusters, and no run does it.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::leftover::ask_agent;
use crate::kubefleet::names;
use crate::problems::members::{last_heard, last_report};
use crate::problems::steps;
use crate::rollout::Rollout;

/// How many of the objects that go are shown.
const SHOWN: usize = 3;

/// A binding or a Work of the placement has a deletionTimestamp. KubeFleet deletes the Works with the
/// binding, and the member agent what is in them. What a run removes in its deletion stage, and what
/// a live run meets, is told with the run. Source: workgenerator/controller.go:handleDelete.
pub const RULE: Rule = Rule::warning("FS805", "content-being-removed", One(check))
    .reads(&[Concept::Binding, Concept::Work, Concept::MemberCluster])
    .caused_by(&["FS101", "FS206"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let inventory = cx.inventory;
    // Of the bindings of clusters in flight the run itself tells.
    let live = cx.rollout.as_ref().filter(|rollout| rollout.is_live());
    let in_flight = live.into_iter().flat_map(Rollout::in_flight);
    let in_flight: BTreeSet<_> = in_flight.map(|cluster| cluster.name).collect();
    let run_index = live.map(|rollout| rollout.run.status.snapshot_index.as_str());
    let removed = cx.rollout.iter().flat_map(Rollout::removals);
    let removed: BTreeSet<_> = removed.map(|cluster| cluster.name).collect();
    let bindings: Vec<_> = inventory
        .bindings
        .iter()
        .filter(|it| it.meta.is_deleting() && it.snapshot_index().is_some())
        .filter(|it| !removed.contains(it.spec.cluster.as_str()))
        .filter(|it| !in_flight.contains(it.spec.cluster.as_str()))
        .collect();
    let kept: BTreeSet<_> = inventory
        .bindings
        .iter()
        .filter(|it| !it.meta.is_deleting())
        .flat_map(|it| inventory.works_of(it))
        .map(crate::kubefleet::work::Work::object)
        .collect();
    let works: Vec<_> = inventory
        .works
        .iter()
        .filter(|work| work.meta.is_deleting() && inventory.is_of_placement(work))
        .filter_map(|work| {
            let cluster = work
                .meta
                .namespace
                .strip_prefix(names::MEMBER_NAMESPACE_PREFIX)?;
            // What an earlier binding left does not concern a run that is under way.
            let concerns = live.is_none() || kept.contains(&work.object());
            // A part that the run's snapshot no longer has goes by itself.
            let is_current = || work.meta.label(names::PARENT_SNAPSHOT_INDEX) == run_index;
            let counts = concerns
                && !removed.contains(cluster)
                && (!in_flight.contains(cluster) || kept.contains(&work.object()) && is_current());
            counts.then_some((cluster, work))
        })
        .collect();
    let of_bindings = bindings.iter().map(|it| it.spec.cluster.as_str());
    let clusters: BTreeSet<_> = of_bindings.chain(works.iter().map(|it| it.0)).collect();
    if clusters.is_empty() {
        return None;
    }
    let what = match (bindings.len(), works.len()) {
        (0, 1) => "its Work is being deleted",
        (0, _) => "its Works are being deleted",
        (1, _) => "its binding is being deleted",
        _ => "its bindings are being deleted",
    };
    let placement = cx.placement_object();
    let is_gone = inventory.is_placement_going();
    let message = format!(
        "The content of {} is being removed from {}: {what}.",
        placement.name,
        enumerate(&clusters)
    );
    let mut finding = rule
        .finding(&placement, message)
        .root_if(cx.run().is_none() && cx.verdict.wants_root_cause())
        .clusters(clusters);
    for binding in bindings.iter().take(SHOWN) {
        finding = finding.deleted(binding.object(), binding.meta.deleted);
    }
    for (_, work) in works.iter().take(SHOWN) {
        finding = finding.deleted(work.object(), work.meta.deleted);
    }
    if !bindings.is_empty() && !is_gone {
        finding = cx.look_for_eviction(finding);
    }
    let mut finding = match works.first() {
        Some((cluster, _)) if bindings.is_empty() => finding.look_with(
            "List the placement's Works: those that go have a deletionTimestamp.",
            steps::works_for(&placement, cluster).flag("-o", "yaml"),
        ),
        _ => finding.look_with(
            "List the placement's bindings: those that go have a deletionTimestamp.",
            cx.of_placement(Concept::Binding).flag("-o", "yaml"),
        ),
    };
    // Only the member agent removes the content.
    let going = finding.clusters.iter().filter(|_| is_gone);
    let mut members = going.filter_map(|name| inventory.member(name));
    let silent = members.find_map(|it| Some((it, it.silent_for(cx.now())?)));
    if let Some((member, silent)) = silent {
        let name = &member.meta.name;
        finding.add_sentence(&format!(
            "The agent of {name}, which must remove it there, {}.",
            last_report(member, silent)
        ));
        return Some(ask_agent(last_heard(finding, member), name));
    }
    Some(finding.look(
        if bindings.is_empty() && works.iter().all(|(_, work)| kept.contains(&work.object())) {
            // Source: workgenerator/controller.go:SetupWithManager.
            "Find out who deleted the Works: the hub agent creates them again, and until then the \
                 content is gone."
        } else if is_gone {
            "Save the manifests of the placement and of its content: nothing stops the removal."
        } else {
            "Find out who deleted them, or what took the clusters off the placement: nothing \
                 stops the removal."
        },
    ))
}
