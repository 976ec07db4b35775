//! What a run released is sent to a cluster only at the work generator's next try.

use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::{duration, reasons};
use crate::problems::content_sent_late;
use crate::problems::steps::try_at_once;
use crate::rollout::sent::{RunAwaited, awaited_since};
use crate::rollout::{ClusterState, ClusterView, LOOK_EVERY, Rollout, STUCK_AFTER};

/// The scheduler changes a binding, and the work generator waits for the next run to release it: each time for twice
/// as long. That the run does so is written to the binding's status, and wakes nobody.
/// Source: workgenerator/controller.go:Reconcile, SetupWithManagerForClusterResourceBinding.
pub const RULE: Rule = Rule::error("FS532", "content-sent-late", Live(check))
    .reads(&[
        Concept::Binding,
        Concept::PolicySnapshot,
        Concept::MemberCluster,
    ])
    .caused_by(&["FS516", "FS517", "FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    if cx.verdict.waits_for_person() {
        let ahead = rollout.still_to_reach().map(|it| it.name);
        let late = content_sent_late(cx.inventory, ahead).map(|it| rule.told(it));
        return late
            .into_iter()
            .map(|it| it.severity(Severity::Warning))
            .collect();
    }
    let mut groups: BTreeMap<_, Vec<(&ClusterView<'_>, RunAwaited)>> = BTreeMap::new();
    for cluster in rollout.in_flight() {
        if cluster.binding.is_none_or(Binding::awaits_run) {
            continue;
        }
        let Some(awaited) = awaited_since(cx.inventory, cluster.name) else {
            continue;
        };
        let is_stuck = cluster.state == ClusterState::Stuck && cx.verdict == Verdict::Stuck;
        if is_stuck || awaited.pause(cx.now()) > LOOK_EVERY {
            let key = (cluster.stage, awaited.came_back, is_stuck);
            groups.entry(key).or_default().push((cluster, awaited));
        }
    }
    let groups = groups.into_iter();
    let found = groups.filter_map(|((stage, _, is_stuck), on)| {
        let finding = describe(cx, rule, &on)?;
        Some(if is_stuck {
            finding.root().stage(stage)
        } else {
            finding.severity(Severity::Warning).stage(stage)
        })
    });
    found.collect()
}

fn describe(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    on: &[(&ClusterView<'_>, RunAwaited)],
) -> Option<Finding> {
    let (cluster, awaited) = on.iter().min_by_key(|(_, awaited)| awaited.since)?;
    let clusters = on.iter().map(|(it, _)| it.name);
    let index = &cx.run()?.status.snapshot_index;
    let names = enumerate(clusters.clone());
    let message = format!("Snapshot {index} is not sent to {names} yet: {awaited}.");
    let mut finding = rule
        .finding(cluster.binding?.object(), message)
        .clusters(clusters);
    for (cluster, awaited) in on.iter().take(3) {
        let Some(binding) = cluster.binding else {
            continue;
        };
        let object = binding.object();
        for kind in [reasons::ROLLOUT_STARTED, reasons::WORK_SYNCHRONIZED] {
            let observed = binding
                .condition(kind)
                .and_then(|it| it.observed_generation);
            let path = format!("status.conditions[type={kind}].observedGeneration");
            finding = finding.known(&object, path, observed);
        }
        if awaited.came_back {
            if let Some(member) = cluster.member {
                finding = finding.created(member.object(), member.meta.created);
            }
        } else {
            let policy = cx.object(Concept::PolicySnapshot, &binding.spec.policy_snapshot);
            finding = finding.created(policy, Some(awaited.since));
        }
    }
    let last = on.iter().max_by_key(|(_, awaited)| awaited.by)?.1;
    let pause = last.pause(cx.now());
    let when = match last.by.filter(|_| pause.is_positive()) {
        Some(by) => format!("tries again within {}, by {by}", duration::describe(pause)),
        None => "is about to try again".to_owned(),
    };
    let mut wait = format!("Wait: the hub agent {when}.");
    let stuck_at = cluster
        .since
        .and_then(|it| it.checked_add(STUCK_AFTER).ok());
    if cx.verdict != Verdict::Stuck && last.by > stuck_at {
        wait.push_str(
            " Before that, the run reports that it is stuck; it then continues by itself.",
        );
    }
    Some(finding.look(wait).fix(try_at_once()))
}
